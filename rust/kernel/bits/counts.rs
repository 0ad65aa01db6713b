//! Depth one: how much of every class is on the 1 side of every column.

use super::lanes::Blocks;
use crate::bits::{LANES, Level};
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

    pub fn bytes(&self) -> usize {
        self.blocks.bytes() + vec_bytes(&self.whole) + vec_bytes(&self.ones)
    }
}
