//! A forced root: the first split must be on this column.
//!
//! A tree without splits is allowed, as any leaf is. The state holds whether the first split was
//! made.

use super::contract::{Context, known};
use crate::cost::Cost;
use crate::error::Result;
use crate::ids::ColumnId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstColumn {
    first: ColumnId,
}

impl FirstColumn {
    pub fn new(first: ColumnId) -> FirstColumn {
        FirstColumn { first }
    }
}

impl Context for FirstColumn {
    fn cost_after(&self, path: &[ColumnId], column: ColumnId) -> Option<Cost> {
        (!path.is_empty() || column == self.first).then_some(0)
    }

    fn validate(&self, n_columns: usize) -> Result<()> {
        known(self.first, n_columns, "the column of the first split")
    }

    fn words(&self) -> usize {
        1
    }

    fn cost(&self, state: &[u64], column: ColumnId) -> Option<Cost> {
        (state[0] == 1 || column == self.first).then_some(0)
    }

    fn enter(&self, state: &mut [u64], _column: ColumnId, _again: bool) {
        state[0] = 1;
    }

    fn kind(&self, column: ColumnId) -> u32 {
        u32::from(column == self.first)
    }

    /// Below the first split nothing is forbidden; in its place all but one column are.
    fn sheds(&self, state: &[u64]) -> bool {
        state[0] == 1
    }

    fn covers(&self, one: &[u64], other: &[u64]) -> bool {
        one[0] >= other[0]
    }

    fn is_open(&self, state: &[u64]) -> bool {
        state[0] == 1
    }
}
