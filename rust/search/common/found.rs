//! The outcome of a search.

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
