//! Both sides of every column from all sets of columns: by rough losses where the task knows them,
//! else by what its leaves cost.

use super::bit_kernel::Look;
use super::column_sets::ColumnSets;
use super::pair_tables::SumsPairs;
use super::rough_sets::RoughSets;
use crate::kernel::look::{Ask, BothSides, Lookahead, Unfinished};
use crate::task::{Rough, Task};
use crate::view::View;

/// Scratch memory.
#[derive(Debug, Default)]
pub struct Sets {
    exact: ColumnSets,
    rough: RoughSets,
}

/// Rough losses do not know which leaves hold too few rows.
fn rough_of(task: &dyn Task, ask: Ask) -> Option<&Rough> {
    task.rough().filter(|_| ask.min_rows <= 1)
}

impl Sets {
    /// `seen` is the look at the same view.
    pub fn both_sides(
        &mut self,
        look: &Look,
        task: &dyn Task,
        sums: &mut dyn SumsPairs,
        levels: usize,
        seen: &Lookahead,
    ) -> Result<Option<BothSides>, Unfinished> {
        let (costs, are_exact) = match rough_of(task, look.ask) {
            Some(rough) => (self.rough.least(look, rough, sums, levels, seen)?, false),
            None => (self.exact.best(look, task, sums, levels, seen)?, true),
        };
        match task.failure() {
            None => Ok(Some(BothSides { costs, are_exact })),
            Some(_) => Err(Unfinished::TaskFailed),
        }
    }

    /// Bytes that this takes for so many levels; none where the view has too many columns.
    pub fn bytes_for(
        &self,
        view: &View,
        ask: Ask,
        levels: usize,
        task: &dyn Task,
    ) -> Option<usize> {
        let width = task.width() + 1;
        match rough_of(task, ask) {
            Some(rough) => RoughSets::bytes_for(view, levels, rough, width),
            None => ColumnSets::bytes_for(view, levels, width),
        }
    }

    pub fn bytes(&self) -> usize {
        self.exact.bytes() + self.rough.bytes()
    }
}
