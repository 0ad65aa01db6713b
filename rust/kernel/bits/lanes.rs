//! A view's rows turned into lanes: 16 rows of 32 columns at a time.

use crate::bits::{LANES, Lanes, Level, ROWS};
use crate::kernel::look::{Unfinished, vec_bytes};
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
    pub fn fill(&mut self, view: &View, level: Level) -> Result<(), Unfinished> {
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
        // Every word is written below: what the last view left need not be wiped.
        let n = self.n_blocks() * self.groups;
        let more = n.saturating_sub(self.words.len());
        self.words.try_reserve_exact(more).map_err(|_| Unfinished::NoMemory)?;
        self.words.resize(n, Lanes::ZERO);
        level.run(
            #[inline(always)]
            || match view.stride {
                0 => {}
                1 => self.turn::<1>(view, level),
                2 => self.turn::<2>(view, level),
                3 => self.turn::<3>(view, level),
                4 => self.turn::<4>(view, level),
                5 => self.turn::<5>(view, level),
                _ => self.turn::<0>(view, level),
            },
        );
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        vec_bytes(&self.words) + vec_bytes(&self.rows) + vec_bytes(&self.segments)
    }

    /// `STRIDE`: the view's stride if it is known to the compiler, else 0.
    #[inline(always)]
    fn turn<const STRIDE: usize>(&mut self, view: &View, level: Level) {
        let stride = if STRIDE > 0 { STRIDE } else { view.stride };
        let n_blocks = self.n_blocks();
        for &(segment, start, _) in &self.segments {
            let rows = view.segment(segment);
            let bits = &view.bits[rows.start * stride..rows.end * stride];
            for (group, rows) in (start..).zip(bits.chunks(ROWS * stride)) {
                for word in 0..stride {
                    let mut column = [0u64; ROWS];
                    if rows.len() == ROWS * stride {
                        for r in 0..ROWS {
                            column[r] = rows[r * stride + word];
                        }
                    } else {
                        for (r, row) in rows.chunks_exact(stride).enumerate() {
                            column[r] = row[word];
                        }
                    }
                    let [low, high] = level.transpose(&column);
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

/// Bytes that the lanes of a view take, at least.
pub fn lanes_of(view: &View) -> usize {
    if view.costs.is_empty() { view.bits.len() * 8 } else { 0 }
}
