//! Weights by class, and rows, counted in lanes and summed in 64 bits.

use super::bit_kernel::Look;
use super::lanes::Blocks;
use crate::bits::{LANES, Lanes, Level};
use crate::view::{BitView, Segment};

/// One statistic of 32 columns.
pub type Row = [i64; LANES];
/// One statistic of four columns against 32.
pub type Tile = [Row; 4];

/// Weights by class, and rows.
pub struct ClassTally<'a> {
    level: Level,
    pub blocks: &'a Blocks,
    pub bits: &'a BitView,
    n_classes: usize,
}

/// Groups that can be counted in 16 bits.
const CHUNK: usize = 4095;

impl<'a> ClassTally<'a> {
    pub fn new(look: &Look<'a>, n_classes: usize) -> Self {
        ClassTally { level: look.level, blocks: look.blocks, bits: look.bits, n_classes }
    }

    pub fn n_columns(&self) -> usize {
        self.blocks.n_columns
    }

    pub fn width(&self) -> usize {
        self.n_classes + 1
    }

    /// Statistics of all rows.
    pub fn totals(&self, out: &mut [i64]) {
        let rows = out.len() - 1;
        for &(index, ..) in &self.blocks.segments {
            let (segment, n) = (&self.bits.segments[index], self.blocks.rows(index));
            out[segment.class as usize] += n * segment.weight;
            out[rows] += n * segment.rows;
        }
    }

    /// Statistics of the rows that have each column of a block.
    #[inline(always)]
    pub fn singles(&self, block: usize, out: &mut [Row]) {
        self.count_block(block, |segment, l, n| {
            out[segment.class as usize][l] += n * segment.weight;
            out[self.n_classes][l] += n * segment.rows;
        });
    }

    /// Statistics of the rows that have both one of the columns from `first` on and one of a block.
    #[inline(always)]
    pub fn pairs(&self, first: usize, block: usize, out: &mut [Tile]) {
        out.fill([[0; LANES]; 4]);
        let rows = self.n_classes;
        for &(index, from, to) in &self.blocks.segments {
            let segment = &self.bits.segments[index];
            for from in (from..to).step_by(CHUNK) {
                let to = to.min(from + CHUNK);
                let left = self.blocks.block(first / LANES, from, to);
                let right = self.blocks.block(block, from, to);
                let mut counts = [Lanes::ZERO; 4];
                self.level.add_pairs(left, first % LANES, right, 1, &mut counts);
                for (t, counts) in counts.iter().enumerate() {
                    for l in 0..LANES {
                        let n = i64::from(counts.0[l]);
                        out[segment.class as usize][t][l] += n * segment.weight;
                        out[rows][t][l] += n * segment.rows;
                    }
                }
            }
        }
    }

    #[inline(always)]
    pub fn rows(&self, stats: &[Row]) -> Row {
        stats[self.n_classes]
    }

    /// Least cost of all rows, and of the rows with each column.
    #[inline(always)]
    pub fn least(&self, block: Option<usize>) -> Row {
        let mut least = [0; LANES];
        match block {
            Some(block) => self.count_block(block, |segment, l, n| least[l] += n * segment.least),
            None => {
                for &(index, ..) in &self.blocks.segments {
                    let n = self.blocks.rows(index);
                    least[0] += n * self.bits.segments[index].least;
                }
            }
        }
        least
    }
}

impl ClassTally<'_> {
    #[inline(always)]
    fn count_block(&self, block: usize, mut add: impl FnMut(&Segment, usize, i64)) {
        for &(index, from, to) in &self.blocks.segments {
            for from in (from..to).step_by(CHUNK) {
                let to = to.min(from + CHUNK);
                let counts = self.level.count_columns(self.blocks.block(block, from, to));
                for (l, &n) in counts.0.iter().enumerate() {
                    add(&self.bits.segments[index], l, i64::from(n));
                }
            }
        }
    }
}
