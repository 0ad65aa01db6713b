//! The contract of a path context.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

use crate::cost::Cost;
use crate::error::Result;
use crate::ids::ColumnId;

/// What the splits above a node mean for the splits below it: which columns may be asked there, and
/// at what cost.
///
/// A context is stated twice. [`cost_after`](Context::cost_after) is the statement itself, from
/// the columns of a path alone; the oracle and the checker use nothing else. The other methods say
/// the same of a *state*, a few words that are carried down a path, because nodes with the same
/// rows and the same state are one node of the search. So a state should forget what can make no
/// difference any more. [`testing::obeys`](super::testing::obeys) holds one to the other.
///
/// A leaf is always allowed, wherever it is.
pub trait Context: Debug + Send + Sync {
    /// What each row pays, for a unit of its mass, for the question about `column` after questions
    /// about `path`: each column of the path once, in the order in which they were first asked.
    /// `None` if the question is forbidden.
    fn cost_after(&self, path: &[ColumnId], column: ColumnId) -> Option<Cost>;

    /// Complaints about columns that are not there, and about contexts that contradict themselves.
    fn validate(&self, n_columns: usize) -> Result<()>;

    /// How many words a state has.
    fn words(&self) -> usize;

    /// The state of the root; given as zeros.
    fn begin(&self, _state: &mut [u64]) {}

    /// The cost of a question about this column in this state, or `None` if it is forbidden.
    fn cost(&self, state: &[u64], column: ColumnId) -> Option<Cost>;

    /// The state below a split by this column, which is allowed. `again`: whether the column has
    /// other questions that may be asked below; the one that was asked has one answer there.
    fn enter(&self, state: &mut [u64], column: ColumnId, again: bool);

    /// Columns of the same kind are exchangeable: they cost the same in every state, and lead to
    /// the same states.
    fn kind(&self, column: ColumnId) -> u32;

    /// Whether a question that is allowed below a split is allowed in place of the split too, at no
    /// higher cost, here and everywhere below. Bounds that cut a split off and move rows up rest
    /// on this.
    fn sheds(&self, _state: &[u64]) -> bool {
        false
    }

    /// Whether every tree that is allowed in the state `other` is allowed in the state `one`, at no
    /// higher cost. Similarity rests on this: it sends rows down the tree of others.
    fn covers(&self, one: &[u64], other: &[u64]) -> bool {
        one == other
    }

    /// Whether no question is forbidden here or below the next split, whichever that is: then nodes
    /// are looked at as if there were no context.
    fn is_open(&self, _state: &[u64]) -> bool {
        false
    }

    /// Whether questions cost something. Only feature costs may, because only they say what the
    /// mass of a row is.
    fn has_costs(&self) -> bool {
        false
    }
}

/// An error if there is no such column.
pub(super) fn known(column: ColumnId, n_columns: usize, what: &str) -> Result<()> {
    if column.index() < n_columns {
        return Ok(());
    }
    Err(crate::error::Error::invalid(format!(
        "{what} names column {}, but there are {n_columns} columns",
        column.0
    )))
}

/// Numbers for what is told apart, from 0 in the order of first appearance.
pub(super) fn numbered<T: Eq + Hash>(things: impl IntoIterator<Item = T>) -> Vec<u32> {
    let mut seen: HashMap<T, u32> = HashMap::new();
    let mut number = |thing: T| {
        let next = seen.len() as u32;
        *seen.entry(thing).or_insert(next)
    };
    things.into_iter().map(&mut number).collect()
}
