//! What a search tells while it works.

use crate::bounds::Decisions;
use crate::cost::Cost;

/// Work done so far, for benches: counts tell a change in pruning from a change in speed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    pub nodes: u64,
    pub kernel_calls: u64,
    pub peak_bytes: u64,
    /// Workers that have not ended yet have not told theirs.
    pub bounds: Decisions,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    pub seconds: f64,
    pub objective: f64,
    pub lower_bound: f64,
    /// The lower bound in units.
    pub lower_cost: Cost,
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

impl Moment {
    /// `later`, with what this moment knows better.
    pub(super) fn and(&self, later: &Moment) -> Moment {
        let mut both = *later;
        if self.upper_cost < later.upper_cost {
            (both.upper, both.upper_cost) = (self.upper, self.upper_cost);
        }
        if self.lower_cost > later.lower_cost {
            (both.lower, both.lower_cost) = (self.lower, self.lower_cost);
        }
        both
    }
}
