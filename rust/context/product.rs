//! Several contexts at once: a question is allowed if all of them allow it, and costs what they say
//! together.
//!
//! The state holds the states of all, one after the other. Whatever each of them promises of bounds
//! holds of all, since a tree is allowed if every one of them allows it.

use std::ops::Range;
use std::sync::Arc;

use super::contract::{Context, numbered};
use crate::cost::Cost;
use crate::error::Result;
use crate::ids::ColumnId;

#[derive(Debug, Clone, Default)]
pub struct Product {
    parts: Vec<Arc<dyn Context>>,
    n_columns: usize,
    kinds: Vec<u32>,
}

impl Product {
    pub fn new(parts: Vec<Arc<dyn Context>>, n_columns: usize) -> Product {
        let kind = |column| -> Vec<u32> {
            parts.iter().map(|part| part.kind(ColumnId::from(column))).collect()
        };
        let kinds = numbered((0..n_columns).map(kind));
        Product { parts, n_columns, kinds }
    }

    /// Each part, and which words of a state are its own.
    fn parts(&self) -> impl Iterator<Item = (&dyn Context, Range<usize>)> {
        let mut from = 0;
        self.parts.iter().map(move |part| {
            let own = from..from + part.words();
            from = own.end;
            (part.as_ref(), own)
        })
    }
}

impl Context for Product {
    fn cost_after(&self, path: &[ColumnId], column: ColumnId) -> Option<Cost> {
        self.parts.iter().map(|part| part.cost_after(path, column)).sum()
    }

    fn validate(&self, n_columns: usize) -> Result<()> {
        debug_assert_eq!(self.n_columns, n_columns, "kinds are for all columns");
        self.parts.iter().try_for_each(|part| part.validate(n_columns))
    }

    fn words(&self) -> usize {
        self.parts.iter().map(|part| part.words()).sum()
    }

    fn begin(&self, state: &mut [u64]) {
        self.parts().for_each(|(part, own)| part.begin(&mut state[own]));
    }

    fn cost(&self, state: &[u64], column: ColumnId) -> Option<Cost> {
        self.parts().map(|(part, own)| part.cost(&state[own], column)).sum()
    }

    fn enter(&self, state: &mut [u64], column: ColumnId, again: bool) {
        self.parts().for_each(|(part, own)| part.enter(&mut state[own], column, again));
    }

    fn kind(&self, column: ColumnId) -> u32 {
        self.kinds[column.index()]
    }

    fn sheds(&self, state: &[u64]) -> bool {
        self.parts().all(|(part, own)| part.sheds(&state[own]))
    }

    fn covers(&self, one: &[u64], other: &[u64]) -> bool {
        self.parts().all(|(part, own)| part.covers(&one[own.clone()], &other[own]))
    }

    fn is_open(&self, state: &[u64]) -> bool {
        self.parts().all(|(part, own)| part.is_open(&state[own]))
    }

    fn has_costs(&self) -> bool {
        self.parts.iter().any(|part| part.has_costs())
    }
}
