//! Tasks whose values are only partly ordered: constraints on sums, and ROC curves.
//!
//! Each begins with additive relaxations, solved by the best-first search: what they cost is a lower
//! bound, and their trees are good ones. Where the two do not meet, the front search closes the gap,
//! with the best relaxation as its bound.

mod area;
pub mod constrained;
mod curves;
mod limits;
mod prices;
pub mod roc;
pub(crate) mod scalar;
mod sums;

pub use constrained::{Attained, Constrained};
pub use limits::{Limit, LimitInput};
pub use roc::Roc;
