//! Lower bounds of nodes that were looked at before, by rows and depth.

use std::collections::HashMap;

use crate::cost::Cost;
use crate::run::Run;
use crate::view::{Fingerprint, SeenRows};

type MemoKey = (Fingerprint, u32);

#[derive(Default)]
pub struct Memo {
    bounds: HashMap<MemoKey, Cost>,
    /// For debug assertions alone.
    pub seen: SeenRows,
    /// Bytes that the run knows of.
    told: i64,
}

impl Memo {
    pub fn get(&self, key: MemoKey) -> Cost {
        self.bounds.get(&key).copied().unwrap_or(0)
    }

    pub fn keep(&mut self, key: MemoKey, lower: Cost, run: &Run) {
        let full = self.bounds.len() == self.bounds.capacity();
        if full && !run.fits(bytes(2 * self.bounds.capacity()) as u64) {
            // Without what was known the search takes longer.
            self.clear(run);
        }
        let known = self.bounds.entry(key).or_insert(lower);
        *known = lower.max(*known);
        self.tell(run);
    }

    pub fn clear(&mut self, run: &Run) {
        self.bounds = HashMap::new();
        self.tell(run);
    }

    /// Before the run ends that knows of it.
    pub fn forget(&mut self, run: &Run) {
        run.add_bytes(-self.told);
        self.told = 0;
    }

    /// Tell the run how much this has grown.
    pub fn tell(&mut self, run: &Run) {
        let now = bytes(self.bounds.capacity());
        run.add_bytes(now - self.told);
        self.told = now;
    }
}

/// A table is at most seven eighths full and has a byte of its own for each place.
fn bytes(capacity: usize) -> i64 {
    ((capacity * 8).div_ceil(7) * (size_of::<(MemoKey, Cost)>() + 1)) as i64
}
