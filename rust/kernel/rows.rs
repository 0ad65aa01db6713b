//! Costs by row and label: sums instead of counts.

use super::wide::{Row, Tally, Tile};
use crate::bits::LANES;
use crate::cost::{Cost, INFINITE};
use crate::view::View;

/// The numbers that `View::costs` holds: costs by label, the worst cost, and rows if they matter.
pub struct CostTally<'a> {
    pub view: &'a View,
    pub n_labels: usize,
    pub width: usize,
}

impl CostTally<'_> {
    fn costs(&self, row: usize) -> &[Cost] {
        &self.view.costs[row * self.width..(row + 1) * self.width]
    }

    /// The bits of a block's columns in a row.
    fn word(&self, row: usize, block: usize) -> u32 {
        (self.view.bits[row * self.view.stride + block / 2] >> (block % 2 * LANES)) as u32
    }
}

impl Tally for CostTally<'_> {
    fn n_columns(&self) -> usize {
        self.view.columns.len()
    }

    fn width(&self) -> usize {
        self.width
    }

    fn totals(&self, out: &mut [i64]) {
        for costs in self.view.costs.chunks_exact(self.width) {
            for (sum, cost) in out.iter_mut().zip(costs) {
                *sum += cost;
            }
        }
    }

    #[inline(always)]
    fn singles(&mut self, block: usize, out: &mut [Row]) {
        for row in 0..self.view.len() {
            let word = self.word(row, block);
            for (sums, &cost) in out.iter_mut().zip(self.costs(row)) {
                add_where(sums, word, cost);
            }
        }
    }

    #[inline(always)]
    fn pairs(&mut self, first: usize, block: usize, out: &mut [Tile]) {
        out.fill([[0; LANES]; 4]);
        for row in 0..self.view.len() {
            let word = self.word(row, block);
            let four = self.word(row, first / LANES) >> (first % LANES);
            for t in 0..4 {
                if four >> t & 1 == 1 {
                    for (tile, &cost) in out.iter_mut().zip(self.costs(row)) {
                        add_where(&mut tile[t], word, cost);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn leaf(&self, stats: &[Row]) -> Row {
        let mut best = [INFINITE; LANES];
        for costs in &stats[..self.n_labels] {
            for l in 0..LANES {
                best[l] = best[l].min(costs[l]);
            }
        }
        best
    }

    #[inline(always)]
    fn worst(&self, stats: &[Row]) -> Row {
        stats[self.n_labels]
    }

    #[inline(always)]
    fn rows(&self, stats: &[Row]) -> Row {
        stats.get(self.n_labels + 1).copied().unwrap_or([0; LANES])
    }

    /// Costs are regrets: every row has a label that costs nothing.
    fn least(&mut self, _block: Option<usize>) -> Row {
        [0; LANES]
    }
}

#[inline(always)]
fn add_where(sums: &mut Row, word: u32, cost: Cost) {
    for (l, sum) in sums.iter_mut().enumerate() {
        *sum += if word >> l & 1 == 1 { cost } else { 0 };
    }
}
