//! Searches. Each takes a problem and a run; none knows its siblings.

pub mod best_first;
pub mod brute;
pub mod separate;

use crate::cost::Cost;
use crate::tree::Plan;

/// What a search found and proved.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub plan: Plan,
    /// The plan's cost, leaf penalties included.
    pub upper: Cost,
    /// No tree costs less.
    pub lower: Cost,
}
