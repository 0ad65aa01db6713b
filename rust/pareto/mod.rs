//! Tasks whose values are only partly ordered: constraints on sums, ROC curves, and tasks of your
//! own.
//!
//! [`FrontProblem`] takes any [`FrontTask`](crate::task::FrontTask); [`solve_front`] finds its best
//! tree, and [`whole_front`] all values that no other one dominates.
//!
//! Constraints and curves begin with additive relaxations, solved by the best-first search: the
//! cost of a relaxation's best tree is a lower bound, and the tree itself is a good one. Where the
//! two do not meet, the front search closes the gap, with the best relaxation as its bound.
//!
//! [`SumFrontProblem`] is the whole front of sums of a classifier, and has a search of its own.

mod area;
mod carried;
pub mod constrained;
mod curves;
mod first_labels;
mod front_answer;
mod front_problem;
mod least_loss;
mod limit_input;
mod limits;
mod multipliers;
mod refined_area;
pub mod roc;
pub(crate) mod scalar;
mod segments;
mod sum_front;
mod sums;

pub use constrained::{Attained, Constrained};
pub use front_answer::{FrontAnswer, FrontTree, WholeFront, solve_front, whole_front};
pub use front_problem::FrontProblem;
pub use limit_input::{LimitInput, Term};
pub use limits::Limit;
pub(crate) use limits::dot;
pub use roc::Roc;
pub use sum_front::{Axis, SumFront, SumFrontProblem, SumTree};
