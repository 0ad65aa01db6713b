//! The best stump on every set of a column's values, from sums by pair of values.

use std::ops::Range;

use super::answers::{Answers, Rows, Summed};
use super::partitions::{Sizes, changes};
use super::tables::add;
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::{Unfinished, vec_bytes};

/// Sets between two questions whether to go on.
const SETS_AT_ONCE: usize = 1 << 8;

/// Scratch memory.
#[derive(Debug, Default)]
pub struct Stumps {
    /// What the rows of the set add up to.
    all: Vec<i64>,
    /// By number that is summed by pair of cells, and cell: of the rows of the set.
    by_cell: Vec<i64>,
    /// By set: what `Answers::stump` says.
    pub costs: Vec<Cost>,
}

impl Stumps {
    /// Go through all sets of the cells of a partition.
    #[inline(always)]
    pub fn find(
        &mut self,
        answers: &mut impl Answers,
        summed: Summed,
        of: &Range<usize>,
    ) -> Result<(), Unfinished> {
        let Summed { look, partitions, table, numbers } = summed;
        let Stumps { all, by_cell, costs } = self;
        let (n, min_rows) = (partitions.n_cells(), look.ask.min_rows);
        all.clear();
        all.resize(numbers.width, 0);
        by_cell.clear();
        by_cell.resize(n * table.n_pairs, 0);
        costs.clear();
        // No rows: any split of them costs nothing.
        costs.resize(1 << of.len(), if min_rows > 1 { INFINITE } else { 0 });
        let mut set = 0usize;
        for (at, (cell, has)) in changes(of.len()).enumerate() {
            if at % SETS_AT_ONCE == 0 && (look.halt)() {
                return Err(Unfinished::Stopped);
            }
            set ^= 1 << cell;
            let cell = of.start + cell;
            let sign = if has { 1 } else { -1 };
            add(all, table.cell(cell), sign);
            for (number, by_cell) in by_cell.chunks_exact_mut(n).enumerate() {
                add(by_cell, table.pairs(number, cell), sign);
            }
            let ranges = &partitions.ranges;
            costs[set] = answers.stump(&Rows { all, by_cell, n_cells: n, ranges, min_rows });
        }
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        vec_bytes(&self.all) + vec_bytes(&self.by_cell) + vec_bytes(&self.costs)
    }

    pub fn bytes_for(sizes: &Sizes, numbers: usize) -> usize {
        ((numbers + 1) * sizes.n_cells() + (1 << sizes.most_cells())) * size_of::<Cost>()
    }
}
