//! A view's rows turned into lanes: 16 rows of 32 columns at a time.

use crate::bits::{LANES, Lanes, Level, ROWS};
use crate::view::View;

/// Columns by blocks of 32; in each block, the groups of 16 rows of every segment.
#[derive(Debug, Default)]
pub struct Blocks {
    pub n_columns: usize,
    /// (segment, its first group, the end of its groups); segments without rows are left out.
    pub segments: Vec<(usize, usize, usize)>,
    rows: Vec<i64>,
    groups: usize,
    words: Vec<Lanes>,
}

impl Blocks {
    pub fn fill(&mut self, view: &View, level: Level) {
        self.n_columns = view.columns.len();
        self.segments.clear();
        self.rows.clear();
        self.groups = 0;
        for segment in 0..view.ends.len() {
            let rows = view.segment(segment).len();
            self.rows.push(rows as i64);
            if rows > 0 {
                let end = self.groups + rows.div_ceil(ROWS);
                self.segments.push((segment, self.groups, end));
                self.groups = end;
            }
        }
        let n_blocks = self.n_blocks();
        self.words.clear();
        self.words.resize(n_blocks * self.groups, Lanes::ZERO);
        for index in 0..self.segments.len() {
            let (segment, start, _) = self.segments[index];
            let rows = view.segment(segment);
            for (group, first) in (start..).zip(rows.clone().step_by(ROWS)) {
                let n = ROWS.min(rows.end - first);
                for word in 0..view.stride {
                    let mut bits = [0u64; ROWS];
                    for (r, bits) in bits.iter_mut().enumerate().take(n) {
                        *bits = view.bits[(first + r) * view.stride + word];
                    }
                    let [low, high] = level.transpose(&bits);
                    self.words[2 * word * self.groups + group] = low;
                    if 2 * word + 1 < n_blocks {
                        self.words[(2 * word + 1) * self.groups + group] = high;
                    }
                }
            }
        }
    }

    pub fn n_blocks(&self) -> usize {
        self.n_columns.div_ceil(LANES)
    }

    /// How many rows a segment has.
    pub fn rows(&self, segment: usize) -> i64 {
        self.rows[segment]
    }

    /// The groups `from..to` of a block.
    pub fn block(&self, block: usize, from: usize, to: usize) -> &[Lanes] {
        &self.words[block * self.groups + from..block * self.groups + to]
    }
}
