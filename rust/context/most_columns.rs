//! At most k different columns on a path from the root to a leaf.
//!
//! A column may be asked if it was asked before, or if fewer than k columns were. The state holds
//! how many columns were asked, and which of them may be asked again; columns with a single
//! question are counted and forgotten.

use super::bit_set::{has, insert, words_for};
use super::contract::Context;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::ids::ColumnId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MostColumns {
    most: u32,
    n_columns: usize,
}

impl MostColumns {
    /// At most `most` of the problem's `n_columns` columns.
    pub fn new(most: u32, n_columns: usize) -> MostColumns {
        MostColumns { most, n_columns }
    }

    /// How many columns that were not asked before may still be.
    fn left(&self, state: &[u64]) -> u64 {
        u64::from(self.most).saturating_sub(state[0])
    }
}

impl Context for MostColumns {
    fn cost_after(&self, path: &[ColumnId], column: ColumnId) -> Option<Cost> {
        (path.contains(&column) || path.len() < self.most as usize).then_some(0)
    }

    fn validate(&self, n_columns: usize) -> Result<()> {
        if self.n_columns == n_columns {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "a limit of columns per path is for {} columns, but there are {n_columns}",
            self.n_columns
        )))
    }

    fn words(&self) -> usize {
        1 + words_for(self.n_columns)
    }

    fn cost(&self, state: &[u64], column: ColumnId) -> Option<Cost> {
        (self.left(state) > 0 || has(&state[1..], column.index())).then_some(0)
    }

    fn enter(&self, state: &mut [u64], column: ColumnId, again: bool) {
        if has(&state[1..], column.index()) {
            return;
        }
        state[0] += 1;
        if again {
            insert(&mut state[1..], column.index());
        }
    }

    fn kind(&self, column: ColumnId) -> u32 {
        column.0
    }

    /// Fewer columns were asked further up, and those that may be asked again count as new there.
    fn sheds(&self, _state: &[u64]) -> bool {
        true
    }

    /// A tree below `other` has at most as many new columns as are left there. In `one` also those
    /// are new that only `other` has asked before.
    fn covers(&self, one: &[u64], other: &[u64]) -> bool {
        let unknown = one[1..].iter().zip(&other[1..]).map(|(one, other)| other & !one);
        let new = unknown.map(|word| u64::from(word.count_ones())).sum::<u64>();
        self.left(one) >= self.left(other) + new
    }

    fn is_open(&self, state: &[u64]) -> bool {
        self.left(state) >= 2
    }
}
