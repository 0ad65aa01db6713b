//! What a search tells while it works.

use crate::cost::Cost;

/// Work done so far, for benches: counts tell a change in pruning from a change in speed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    pub nodes: u64,
    pub kernel_calls: u64,
    pub peak_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    pub seconds: f64,
    pub objective: f64,
    pub lower_bound: f64,
    pub work: Work,
}

/// One point of the anytime curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    pub seconds: f64,
    pub upper: f64,
    pub lower: f64,
    pub(super) upper_cost: Cost,
    pub(super) lower_cost: Cost,
}
