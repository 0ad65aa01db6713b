//! A context walked with states of its own: what searches and views use.

use super::contract::Context;
use super::state::State;
use crate::cost::Cost;
use crate::ids::ColumnId;

/// A context, and which columns have several questions.
#[derive(Debug, Clone)]
pub struct Walk<C> {
    context: C,
    /// By column: whether it can be asked again below one of its questions.
    again: Vec<bool>,
}

impl<C: Context> Walk<C> {
    /// `questions`: by column, how many different ones there are.
    pub fn new(context: C, questions: &[u32]) -> Walk<C> {
        let again = questions.iter().map(|&questions| questions > 1).collect();
        Walk { context, again }
    }

    /// The state of the root.
    pub fn start(&self) -> State {
        let mut words = vec![0; self.context.words()];
        self.context.begin(&mut words);
        State { words }
    }

    /// The state below a split by a column.
    pub fn enter(&self, state: &State, column: ColumnId) -> State {
        let mut below = state.clone();
        self.context.enter(&mut below.words, column, self.again[column.index()]);
        below
    }

    pub fn cost(&self, state: &State, column: ColumnId) -> Option<Cost> {
        self.context.cost(&state.words, column)
    }

    pub fn allows(&self, state: &State, column: ColumnId) -> bool {
        self.cost(state, column).is_some()
    }

    pub fn kind(&self, column: ColumnId) -> u32 {
        self.context.kind(column)
    }

    pub fn sheds(&self, state: &State) -> bool {
        self.context.sheds(&state.words)
    }

    pub fn covers(&self, one: &State, other: &State) -> bool {
        self.context.covers(&one.words, &other.words)
    }

    pub fn is_open(&self, state: &State) -> bool {
        self.context.is_open(&state.words)
    }
}
