//! Sums of numbers by row, over every column and every pair of columns.
//!
//! A row is added to every pair of the columns that it has, all of its statistics in one vector. So
//! that this is few pairs, a column that most rows have is *turned*: it stands for the rows that
//! lack it. What the other three cells of a pair of splits hold follows from the sums over single
//! columns.

use crate::bits::LANES;
use crate::kernel::look::{Halt, Unfinished, vec_bytes};
use crate::view::View;

/// One statistic of 32 columns.
pub type Row = [i64; LANES];

/// Rows between two questions whether to stop.
const ROWS: usize = 1 << 15;

/// Rows that tell which columns to turn.
const SAMPLE: usize = 32;

#[derive(Debug, Default)]
pub struct Scratch {
    pub totals: Vec<i64>,
    /// By block: the columns that are turned.
    pub turned: Vec<u32>,
    /// By block and statistic: sums over the rows with each column, turned or not.
    pub ones: Vec<Row>,
    /// By group of statistics, column, and column of the other block: sums over the rows with both,
    /// turned or not.
    cells: Vec<i64>,
    /// By statistic: the cells of one column.
    pub both: Vec<Row>,
}

impl Scratch {
    pub fn bytes(&self) -> usize {
        vec_bytes(&self.totals)
            + vec_bytes(&self.turned)
            + vec_bytes(&self.ones)
            + vec_bytes(&self.cells)
            + vec_bytes(&self.both)
    }
}

/// The sums of one view, whose entries have `width` statistics.
pub struct PairSums<'a> {
    pub view: &'a View,
    pub width: usize,
    pub scratch: &'a mut Scratch,
}

impl PairSums<'_> {
    pub fn n_blocks(&self) -> usize {
        self.view.columns.len().div_ceil(LANES)
    }

    /// The bits of a block's columns in a row.
    #[inline(always)]
    fn word(&self, row: usize, block: usize) -> u32 {
        (self.view.bits[row * self.view.stride + block / 2] >> (block % 2 * LANES)) as u32
    }

    pub fn turned(&self, column: usize) -> usize {
        (self.scratch.turned[column / LANES] >> (column % LANES) & 1) as usize
    }

    /// Turn the columns that most of some rows have.
    pub fn turn(&mut self) {
        self.scratch.turned.clear();
        let step = self.view.len().div_ceil(SAMPLE).max(1);
        for block in 0..self.n_blocks() {
            let (mut counts, mut n) = ([0u16; LANES], 0);
            for row in (0..self.view.len()).step_by(step) {
                let word = self.word(row, block);
                n += 1;
                for (l, count) in counts.iter_mut().enumerate() {
                    *count += (word >> l & 1) as u16;
                }
            }
            let most = |l: &usize| 2 * counts[*l] > n;
            let turned = (0..LANES).filter(most).map(|l| 1 << l).sum();
            self.scratch.turned.push(turned);
        }
    }

    #[inline(always)]
    pub fn add_singles<const W: usize>(&mut self) {
        let mut totals = std::mem::take(&mut self.scratch.totals);
        let mut ones = std::mem::take(&mut self.scratch.ones);
        totals.clear();
        totals.resize(self.width, 0);
        for costs in self.view.costs.chunks_exact(self.width) {
            totals.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
        }
        ones.clear();
        ones.resize(self.n_blocks() * self.width, [0; LANES]);
        for (block, ones) in ones.chunks_exact_mut(self.width).enumerate() {
            let turned = self.scratch.turned[block];
            for (group, ones) in ones.chunks_mut(W).enumerate() {
                let mut sums = [[0; W]; LANES];
                for row in 0..self.view.len() {
                    let costs = self.statistics::<W>(row, group * W);
                    let mut bits = self.word(row, block) ^ turned;
                    while bits != 0 {
                        let lane = bits.trailing_zeros() as usize;
                        bits &= bits - 1;
                        for (sum, cost) in sums[lane % LANES].iter_mut().zip(costs) {
                            *sum += cost;
                        }
                    }
                }
                for (s, ones) in ones.iter_mut().enumerate() {
                    *ones = std::array::from_fn(|l| sums[l][s]);
                }
            }
        }
        self.scratch.totals = totals;
        self.scratch.ones = ones;
    }

    /// Sums over the rows that have both a column of block i and one of block j. Within one block,
    /// only of columns j > i.
    #[inline(always)]
    pub fn sum<const W: usize>(
        &mut self,
        (i, j): (usize, usize),
        summed: usize,
        halt: Halt,
    ) -> Result<(), Unfinished> {
        let mut cells = std::mem::take(&mut self.scratch.cells);
        let groups = summed.div_ceil(W);
        cells.clear();
        cells.resize(groups * LANES * LANES * W, 0);
        let turned = [i, j].map(|block| self.scratch.turned[block]);
        for (group, cells) in cells.chunks_exact_mut(LANES * LANES * W).enumerate() {
            let cells: &mut [[i64; W]] = cells.as_chunks_mut().0;
            for from in (0..self.view.len()).step_by(ROWS) {
                if halt() {
                    return Err(Unfinished::Stopped);
                }
                for row in from..self.view.len().min(from + ROWS) {
                    let mut left = self.word(row, i) ^ turned[0];
                    let right = self.word(row, j) ^ turned[1];
                    let costs = self.statistics::<W>(row, group * W);
                    while left != 0 {
                        let a = left.trailing_zeros() as usize;
                        left &= left - 1;
                        let mut others = if i == j { left } else { right };
                        let cells = &mut cells[a * LANES..][..LANES];
                        while others != 0 {
                            let b = others.trailing_zeros() as usize;
                            others &= others - 1;
                            for (sum, cost) in cells[b % LANES].iter_mut().zip(costs) {
                                *sum += cost;
                            }
                        }
                    }
                }
            }
        }
        self.scratch.cells = cells;
        Ok(())
    }

    /// `W` statistics of a row. Beyond the last are those of the next row: they are summed, and
    /// never read.
    #[inline(always)]
    fn statistics<const W: usize>(&self, row: usize, from: usize) -> [i64; W] {
        let costs = &self.view.costs[row * self.width + from..];
        match costs.first_chunk() {
            Some(&costs) => costs,
            None => std::array::from_fn(|s| costs.get(s).copied().unwrap_or(0)),
        }
    }

    /// The cells of one column, by statistic.
    #[inline(always)]
    pub fn gather<const W: usize>(&mut self, lane: usize, summed: usize) {
        let Scratch { cells, both, .. } = &mut *self.scratch;
        both.resize(summed.next_multiple_of(W), [0; LANES]);
        for (group, both) in both.chunks_exact_mut(W).enumerate() {
            let cells: &[[i64; W]] = cells[group * LANES * LANES * W..].as_chunks().0;
            let cells: &[[i64; W]; LANES] =
                cells[lane * LANES..].first_chunk().expect("a column has a cell for each lane");
            for (s, both) in both.iter_mut().enumerate() {
                *both = std::array::from_fn(|l| cells[l][s]);
            }
        }
    }

    /// The sums of pairs without what is done with them, for benches.
    #[inline(always)]
    pub fn sum_all<const W: usize>(&mut self, summed: usize) {
        for i in 0..self.n_blocks() {
            for j in i..self.n_blocks() {
                let never = || false;
                self.sum::<W>((i, j), summed, &never).expect("nobody stops it");
                std::hint::black_box(&mut self.scratch.cells);
            }
        }
    }
}
