//! Lower bounds of nodes that were looked at before, by rows, cuts and budget.

use std::collections::HashMap;

use super::budget::Budget;
use super::similar::{SearchedNode, SearchedNodes};
use crate::cost::Cost;
use crate::run::{HeapBytes, Run};
use crate::view::{Fingerprint, SeenRows};

pub type MemoKey = (Fingerprint, Budget);

/// The name of a node with these rows. `cuts_of`: as the node's. Nodes that miss other cuts have
/// other bounds, so that both are mixed into one.
pub fn key(rows: Fingerprint, cuts_of: Fingerprint, budget: Budget) -> MemoKey {
    (rows ^ cuts_of.rotate_left(64), budget)
}

#[derive(Default)]
pub struct Memo {
    pub(super) bounds: HashMap<MemoKey, Cost>,
    /// The nodes that were searched last; not saved with a search.
    pub searched: Box<SearchedNodes>,
    /// For debug assertions alone.
    pub seen: SeenRows,
}

impl Memo {
    pub fn get(&self, key: MemoKey) -> Cost {
        self.bounds.get(&key).copied().unwrap_or(0)
    }

    pub fn keep(&mut self, key: MemoKey, lower: Cost, run: &Run) {
        let full = self.bounds.len() == self.bounds.capacity();
        if full && !run.fits(bytes(2 * self.bounds.capacity()) as u64) {
            // Without what was known the search takes longer.
            self.clear();
        }
        let known = self.bounds.entry(key).or_insert(lower);
        *known = lower.max(*known);
    }

    /// Hold what is known of a node's cuts, if there is room.
    pub fn keep_node(&mut self, node: SearchedNode, run: &Run) {
        if run.fits(node.bytes() as u64) {
            self.searched.keep(node);
        }
    }

    pub fn clear(&mut self) {
        self.bounds = HashMap::new();
        *self.searched = SearchedNodes::default();
    }
}

impl HeapBytes for Memo {
    fn heap_bytes(&self) -> usize {
        bytes(self.bounds.capacity()) + self.searched.bytes()
    }
}

/// A table is at most seven eighths full and has a byte of its own for each place.
fn bytes(capacity: usize) -> usize {
    (capacity * 8).div_ceil(7) * (size_of::<(MemoKey, Cost)>() + 1)
}
