//! What a leaf answers: how its cost follows from sums over its rows, and that of the best stump
//! from sums by value.

use std::ops::Range;

use super::both_sides::{Batch, Splits, TwoLevels, Unit};
use super::partitions::{Partitions, Sizes};
use super::tables::Table;
use crate::cost::Cost;
use crate::kernel::bits::bit_kernel::Look;
use crate::kernel::look::{BothSides, Side, Unfinished, vec_bytes};
use crate::view::View;

/// What rows add. The first numbers are summed by pair of values, and the others by value alone.
#[derive(Debug, Default)]
pub struct Numbers {
    /// How many a row has.
    pub width: usize,
    /// How many are summed by pair of values.
    pub n_summed: usize,
    /// Whether all rows of a segment have the same, which stand here once.
    by_segment: bool,
    pub values: Vec<i64>,
}

impl Numbers {
    /// Begin with the numbers of no segments, or of no rows.
    pub fn start(&mut self, width: usize, n_summed: usize, by_segment: bool) {
        *self = Numbers { width, n_summed, by_segment, values: std::mem::take(&mut self.values) };
        self.values.clear();
    }

    /// Those of a row of a segment.
    #[inline(always)]
    pub fn of(&self, segment: usize, row: usize) -> &[i64] {
        let at = if self.by_segment { segment } else { row };
        &self.values[at * self.width..][..self.width]
    }

    /// All of them, and how many rows of the view have each.
    pub fn all<'a>(&'a self, view: &'a View) -> impl Iterator<Item = (&'a [i64], i64)> {
        let rows = |at: usize| if self.by_segment { view.segment(at).len() as i64 } else { 1 };
        self.values.chunks_exact(self.width).enumerate().map(move |(at, of)| (of, rows(at)))
    }

    pub fn bytes(&self) -> usize {
        vec_bytes(&self.values)
    }

    /// Bytes of the numbers of a view, if so many are summed by pair.
    pub fn bytes_for(sizes: &Sizes, n_summed: usize) -> usize {
        // Behind those stand rows, the least and the worst cost, and one more.
        sizes.rows() * (n_summed + 4) * size_of::<i64>()
    }
}

/// A look at a view whose rows were summed by value.
#[derive(Clone, Copy)]
pub struct Summed<'a> {
    pub look: &'a Look<'a>,
    pub numbers: &'a Numbers,
    pub partitions: &'a Partitions,
    pub table: &'a Table,
}

/// The rows of a set of a column's values.
pub struct Rows<'a> {
    /// What all of them add up to.
    pub all: &'a [i64],
    /// By number that is summed by pair of values, and cell.
    pub by_cell: &'a [i64],
    pub n_cells: usize,
    /// By partition: its cells.
    pub ranges: &'a [Range<usize>],
    /// Rows that each leaf must hold; 1 or less: leaves may be empty.
    pub min_rows: i64,
}

impl<'a> Rows<'a> {
    /// A number by cell of a partition.
    #[inline(always)]
    pub fn number(&self, number: usize, range: &Range<usize>) -> &'a [i64] {
        &self.by_cell[number * self.n_cells..][range.clone()]
    }
}

/// About how many steps sums by value take.
#[derive(Debug, Clone, Copy)]
pub struct Steps {
    /// Numbers of a row that are summed by pair of values.
    pub tables: usize,
    /// For each cell of a stump, in quarters.
    pub of_cell: usize,
    /// Likewise, where 16 stumps stand side by side, for all of them together.
    pub of_cell_in_batch: usize,
}

/// What leaves answer.
pub trait Answers {
    fn steps(&self) -> Steps;

    /// What rows add: the numbers of this task, and behind those that are summed by pair of values
    /// the rows that they stand for.
    fn fill(&self, look: &Look, out: &mut Numbers);

    /// Rows that add up to this, as a leaf.
    fn side(&self, sums: &[i64]) -> Side;

    /// The least cost of a stump on some rows, if that is less than as a leaf. Else this is the
    /// cost as a leaf where leaves may be empty, and `INFINITE` where they may not.
    fn stump(&mut self, rows: &Rows) -> Cost;

    /// Whether `two_levels` has something to say.
    fn sees_two_levels(&self) -> bool {
        false
    }

    /// What both sides of every column cost as the best trees of two levels.
    fn two_levels(
        &mut self,
        _levels: &mut TwoLevels,
        _summed: Summed,
    ) -> Result<Option<BothSides>, Unfinished> {
        Ok(None)
    }

    /// Bytes of scratch memory held.
    fn bytes(&self) -> usize;
}

/// Answers whose stumps are costed for many sets of rows at a time.
pub trait InBatches {
    /// How often costs are counted.
    const TIMES: Cost;

    /// The most that a row with these numbers adds to any sum, up or down.
    fn most(&self, numbers: &[i64]) -> Cost;

    /// What both sides of splits that stand side by side cost together, at best, but for a part
    /// that no split changes.
    fn both(&mut self, splits: &Splits) -> Batch;

    /// What rows that sum up to this cost at least as a tree of two levels, if `both` says `least`
    /// of the best split, if there is one.
    fn cost(&self, sums: &[i64], least: Option<i32>, unit: Unit) -> Cost;
}
