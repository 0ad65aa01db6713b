//! Trees: the plan a search finds, and the finished tree that users read and predict with.

mod cutoff;
mod finished;
mod plan;
mod planned;
mod predict;
mod saved;

pub use finished::{Node, Split, Test, Tree};
pub use plan::Plan;
pub use planned::planned;
pub use predict::{Router, Values};
