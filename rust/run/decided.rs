//! How often each bound decided, over all workers of a run.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::bounds::{Bound, Decisions};

/// Workers count in [`Decisions`] of their own, and add them here when they end.
pub struct Decided([AtomicU64; Bound::ALL.len()]);

impl Default for Decided {
    fn default() -> Self {
        Decided(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Decided {
    pub fn add(&self, bound: Bound, times: u64) {
        if times > 0 {
            self.0[bound as usize].fetch_add(times, Ordering::Relaxed);
        }
    }

    pub fn so_far(&self) -> Decisions {
        let mut decisions = Decisions::default();
        for &bound in Bound::ALL {
            decisions.add(bound, self.0[bound as usize].load(Ordering::Relaxed));
        }
        decisions
    }
}
