//! Interaction constraints: the columns of a path must all be in one of the given sets.
//!
//! That is what XGBoost and LightGBM call so. Sets may overlap. A column that is in no set is never
//! asked: a set of its own lets it be asked alone. The state holds which sets have all columns of
//! the path.

use super::bit_set::{contains, has, insert, words_for};
use super::contract::{Context, known, numbered};
use crate::cost::Cost;
use crate::error::Result;
use crate::ids::ColumnId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Together {
    sets: Vec<Vec<ColumnId>>,
    /// By column: the sets that it is in, as bits.
    sets_of: Vec<Vec<u64>>,
    kinds: Vec<u32>,
}

impl Together {
    pub fn new(sets: &[Vec<ColumnId>], n_columns: usize) -> Together {
        let mut sets_of = vec![vec![0; words_for(sets.len())]; n_columns];
        for (at, set) in sets.iter().enumerate() {
            for column in set.iter().filter(|column| column.index() < n_columns) {
                insert(&mut sets_of[column.index()], at);
            }
        }
        let kinds = numbered(&sets_of);
        Together { sets: sets.to_vec(), sets_of, kinds }
    }
}

impl Context for Together {
    fn cost_after(&self, path: &[ColumnId], column: ColumnId) -> Option<Cost> {
        let fits = |set: &Vec<ColumnId>| {
            set.contains(&column) && path.iter().all(|other| set.contains(other))
        };
        self.sets.iter().any(fits).then_some(0)
    }

    fn validate(&self, n_columns: usize) -> Result<()> {
        self.sets
            .iter()
            .flatten()
            .try_for_each(|&column| known(column, n_columns, "an interaction constraint"))
    }

    fn words(&self) -> usize {
        words_for(self.sets.len())
    }

    fn begin(&self, state: &mut [u64]) {
        (0..self.sets.len()).for_each(|set| insert(state, set));
    }

    fn cost(&self, state: &[u64], column: ColumnId) -> Option<Cost> {
        let sets = &self.sets_of[column.index()];
        state.iter().zip(sets).any(|(state, sets)| state & sets != 0).then_some(0)
    }

    fn enter(&self, state: &mut [u64], column: ColumnId, _again: bool) {
        let sets = &self.sets_of[column.index()];
        state.iter_mut().zip(sets).for_each(|(state, sets)| *state &= sets);
    }

    fn kind(&self, column: ColumnId) -> u32 {
        self.kinds[column.index()]
    }

    /// What fits into a set with more columns fits into it with fewer.
    fn sheds(&self, _state: &[u64]) -> bool {
        true
    }

    /// The more sets are left, the more is allowed.
    fn covers(&self, one: &[u64], other: &[u64]) -> bool {
        contains(one, other)
    }

    /// A set that is left and has all columns allows everything.
    fn is_open(&self, state: &[u64]) -> bool {
        let in_all = |set: usize| self.sets_of.iter().all(|sets| has(sets, set));
        (0..self.sets.len()).any(|set| has(state, set) && in_all(set))
    }
}
