//! A problem as plain data, the problem that it makes, and the search that this takes.
//!
//! A [`Problem`](crate::problem::Problem) holds a task, which is code. [`ProblemInput`] holds what
//! the task is built from instead, so that it can be [saved](ProblemInput::to_bytes), sent to
//! another process, and [built](ProblemInput::build) there to the same problem. Python poses all
//! its problems this way.

pub mod combinations;
mod front;
mod goal;
mod input;
pub mod path_rules;
mod problem;

pub use goal::{Goal, OwnGoal, RankingAreaInput, RowCostInput};
pub use input::{ConstraintInput, Counted, ProblemInput};
pub use path_rules::PathRule;
pub use problem::Posed;
