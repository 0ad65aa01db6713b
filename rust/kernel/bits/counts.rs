//! How much of every class is on the 1 side of every column, and of pairs of columns.

use super::lanes::Blocks;
use crate::bits::{LANES, Lanes, Level};
use crate::kernel::look::{Unfinished, vec_bytes, zeros};
use crate::view::{BitView, View};

/// Groups of 16 rows that a 16-bit count surely holds.
const MOST_GROUPS: usize = 4095;

/// Class weights, then rows, of all rows and of each column's 1 side.
#[derive(Debug, Default)]
pub struct Counts {
    blocks: Blocks,
    width: usize,
    pub whole: Vec<i64>,
    ones: Vec<i64>,
}

impl Counts {
    /// Count a view of class weights.
    pub fn fill(
        &mut self,
        bits: &BitView,
        n_classes: usize,
        view: &View,
        level: Level,
    ) -> Result<(), Unfinished> {
        let n = view.columns.len();
        self.width = n_classes + 1;
        self.blocks.fill(view, level)?;
        zeros(&mut self.ones, n * self.width, 0)?;
        self.whole.clear();
        self.whole.resize(self.width, 0);
        for &(index, from, to) in &self.blocks.segments {
            let segment = &bits.segments[index];
            let rows = self.blocks.rows(index);
            let class = segment.class as usize;
            self.whole[class] += rows * segment.weight;
            self.whole[n_classes] += rows * segment.rows;
            for block in 0..self.blocks.n_blocks() {
                for start in (from..to).step_by(MOST_GROUPS) {
                    let words = self.blocks.block(block, start, to.min(start + MOST_GROUPS));
                    let counts = level.count_columns(words);
                    let columns = block * LANES..n.min(block * LANES + LANES);
                    for (&count, column) in counts.0.iter().zip(columns) {
                        let at = column * self.width;
                        self.ones[at + class] += i64::from(count) * segment.weight;
                        self.ones[at + n_classes] += i64::from(count) * segment.rows;
                    }
                }
            }
        }
        Ok(())
    }

    /// A column's 1 side: class weights, then rows.
    pub fn ones(&self, column: usize) -> &[i64] {
        &self.ones[column * self.width..(column + 1) * self.width]
    }

    /// Class weights, then rows if they are wanted, of the rows that have both one of the four
    /// columns from `first` on and any column: by place among the four, class and column. Columns
    /// are padded to [`Counts::padded`]. `first` is a multiple of four, and the view was filled in.
    pub fn pairs(
        &self,
        bits: &BitView,
        level: Level,
        first: usize,
        wants_rows: bool,
        out: &mut Vec<i64>,
    ) {
        let (padded, width) = (self.padded(), self.width);
        out.clear();
        out.resize(4 * width * padded, 0);
        level.run(
            #[inline(always)]
            || {
                for &(index, from, to) in &self.blocks.segments {
                    let segment = &bits.segments[index];
                    let class = segment.class as usize;
                    for block in 0..self.blocks.n_blocks() {
                        for from in (from..to).step_by(MOST_GROUPS) {
                            let to = to.min(from + MOST_GROUPS);
                            let left = self.blocks.block(first / LANES, from, to);
                            let right = self.blocks.block(block, from, to);
                            let mut counts = [Lanes::ZERO; 4];
                            level.add_pairs(left, first % LANES, right, 1, &mut counts);
                            for (place, counts) in counts.iter().enumerate() {
                                let mut add = |statistic: usize, each: i64| {
                                    let at = (place * width + statistic) * padded + block * LANES;
                                    for (sum, &n) in out[at..at + LANES].iter_mut().zip(&counts.0) {
                                        *sum += i64::from(n) * each;
                                    }
                                };
                                if segment.weight > 0 {
                                    add(class, segment.weight);
                                }
                                if wants_rows {
                                    add(width - 1, segment.rows);
                                }
                            }
                        }
                    }
                }
            },
        );
    }

    pub fn n_columns(&self) -> usize {
        self.blocks.n_columns
    }

    /// The number of columns, in whole blocks.
    pub fn padded(&self) -> usize {
        self.blocks.n_blocks() * LANES
    }

    pub fn bytes(&self) -> usize {
        self.blocks.bytes() + vec_bytes(&self.whole) + vec_bytes(&self.ones)
    }
}
