//! B only after A: a column may be asked only below a split on another one.
//!
//! A column that needs several others may be asked once all of them were. The state holds which of
//! the columns that others need were asked.

use super::bit_set::{contains, has, insert, words_for};
use super::contract::{Context, known, numbered};
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::ids::ColumnId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct After {
    /// A column, and one that must be asked above it.
    pairs: Vec<(ColumnId, ColumnId)>,
    /// The columns that others need.
    needed: Vec<ColumnId>,
    /// By column: what it needs, as bits of `needed`.
    needs: Vec<Vec<u64>>,
    kinds: Vec<u32>,
}

impl After {
    /// `pairs`: a column, and one that must be asked above it; any number of pairs for a column.
    pub fn new(pairs: &[(ColumnId, ColumnId)], n_columns: usize) -> After {
        let mut needed: Vec<ColumnId> = pairs.iter().map(|&(_, above)| above).collect();
        needed.sort_unstable();
        needed.dedup();
        let mut needs = vec![vec![0; words_for(needed.len())]; n_columns];
        for (column, above) in pairs.iter().filter(|(column, _)| column.index() < n_columns) {
            let bit = needed.binary_search(above).expect("it is one of the needed columns");
            insert(&mut needs[column.index()], bit);
        }
        let place = |column| needed.binary_search(&ColumnId::from(column)).ok();
        let kinds = numbered((0..n_columns).map(|column| (needs[column].clone(), place(column))));
        After { pairs: pairs.to_vec(), needed, needs, kinds }
    }

    /// A column that needs itself, directly or through others.
    fn circle(&self) -> Option<ColumnId> {
        // What a column needs that may be asked is taken away until nothing changes; the rest are
        // circles, and columns that need one.
        let mut left = self.pairs.clone();
        loop {
            let blocked = |above: &ColumnId| left.iter().any(|(column, _)| column == above);
            let rest: Vec<_> = left.iter().filter(|(_, above)| blocked(above)).copied().collect();
            if rest.len() == left.len() {
                return left.first().map(|&(column, _)| column);
            }
            left = rest;
        }
    }

    fn all_asked(&self, state: &[u64]) -> bool {
        (0..self.needed.len()).all(|bit| has(state, bit))
    }
}

impl Context for After {
    fn cost_after(&self, path: &[ColumnId], column: ColumnId) -> Option<Cost> {
        let mut needs = self.pairs.iter().filter(|(below, _)| *below == column);
        needs.all(|(_, above)| path.contains(above)).then_some(0)
    }

    fn validate(&self, n_columns: usize) -> Result<()> {
        for &(column, above) in &self.pairs {
            known(column, n_columns, "an order of columns")?;
            known(above, n_columns, "an order of columns")?;
        }
        match self.circle() {
            None => Ok(()),
            Some(column) => Err(Error::invalid(format!(
                "column {} may be asked only after itself, through the others that it needs: it \
                 never can be",
                column.0
            ))),
        }
    }

    fn words(&self) -> usize {
        words_for(self.needed.len())
    }

    fn cost(&self, state: &[u64], column: ColumnId) -> Option<Cost> {
        contains(state, &self.needs[column.index()]).then_some(0)
    }

    fn enter(&self, state: &mut [u64], column: ColumnId, _again: bool) {
        if let Ok(bit) = self.needed.binary_search(&column) {
            insert(state, bit);
        }
    }

    fn kind(&self, column: ColumnId) -> u32 {
        self.kinds[column.index()]
    }

    /// A column that is allowed below a split may need the split, unless all that are needed were
    /// asked.
    fn sheds(&self, state: &[u64]) -> bool {
        self.all_asked(state)
    }

    /// The more was asked, the more is allowed.
    fn covers(&self, one: &[u64], other: &[u64]) -> bool {
        contains(one, other)
    }

    fn is_open(&self, state: &[u64]) -> bool {
        self.all_asked(state)
    }
}
