//! What a leaf answers: how its cost follows from sums over its rows, and that of the best stump
//! from sums by value.

use std::ops::Range;

use super::partitions::{Partitions, Steps};
use super::tables::{Numbers, Table};
use crate::cost::Cost;
use crate::kernel::bits::bit_kernel::Look;
use crate::kernel::look::Side;

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

    /// Bytes of scratch memory held.
    fn bytes(&self) -> usize;
}
