//! Bounds that a child proved of its splits, for the siblings that come after it.

use super::budget::Budget;
use crate::cost::Cost;

/// Lower bounds on the children of every split of one child of a node.
#[derive(Debug)]
pub struct Proved {
    /// Which child, and what it may spend: its bounds say nothing of larger budgets.
    pub column: usize,
    pub side: usize,
    pub budget: Budget,
    /// By question and leaves of the 0 side, in that order.
    pub(super) bounds: Vec<((u32, u32), [Cost; 2])>,
}

impl Proved {
    pub fn bytes(&self) -> usize {
        self.bounds.capacity() * size_of::<((u32, u32), [Cost; 2])>()
    }
}
