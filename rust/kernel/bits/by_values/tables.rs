//! Sums over the rows of each cell, and over those of each pair of cells.

use std::ops::Range;

use super::partitions::{Partitions, Sizes, pieces};
use crate::kernel::bits::bit_kernel::Look;
use crate::kernel::look::{Unfinished, vec_bytes, zeros};
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

/// Of a view.
#[derive(Debug, Default)]
pub struct Table {
    n: usize,
    width: usize,
    /// How many numbers are summed by pair: those of the task, and rows, if leaves need some.
    pub n_pairs: usize,
    /// Of all rows.
    pub whole: Vec<i64>,
    /// By cell: all numbers.
    cells: Vec<i64>,
    /// By number and pair of cells.
    pairs: Vec<i64>,
}

impl Table {
    pub fn fill(
        &mut self,
        look: &Look,
        partitions: &Partitions,
        numbers: &Numbers,
    ) -> Result<(), Unfinished> {
        let n = partitions.n_cells();
        (self.n, self.width) = (n, numbers.width);
        self.n_pairs = numbers.n_summed + usize::from(look.ask.min_rows > 1);
        zeros(&mut self.whole, self.width, 0)?;
        zeros(&mut self.cells, n * self.width, 0)?;
        zeros(&mut self.pairs, n * n * self.n_pairs, 0)?;
        for (index, rows) in pieces(look.view) {
            if (look.halt)() {
                return Err(Unfinished::Stopped);
            }
            for row in rows {
                let (own, cells) = (numbers.of(index, row), partitions.of_row(row));
                add(&mut self.whole, own, 1);
                for &cell in cells {
                    add(&mut self.cells[cell as usize * self.width..][..self.width], own, 1);
                }
                for (&number, pairs) in own.iter().zip(self.pairs.chunks_exact_mut(n * n)) {
                    add_pairs(pairs, n, cells, number);
                }
            }
        }
        for pairs in self.pairs.chunks_exact_mut((n * n).max(1)) {
            mirror(pairs, n, n);
        }
        Ok(())
    }

    /// What the rows of a cell add up to.
    #[inline(always)]
    pub fn cell(&self, cell: usize) -> &[i64] {
        &self.cells[cell * self.width..][..self.width]
    }

    /// A number by cell: of the rows of this one.
    #[inline(always)]
    pub fn pairs(&self, number: usize, cell: usize) -> &[i64] {
        &self.pairs[(number * self.n + cell) * self.n..][..self.n]
    }

    /// What the rows on the 1 side of a column add up to, which has these cells of a partition.
    pub fn ones(&self, of: &Range<usize>, right: u32, out: &mut Vec<i64>) {
        out.clear();
        out.resize(self.width, 0);
        for (place, cell) in of.clone().enumerate() {
            if right >> place & 1 == 1 {
                add(out, self.cell(cell), 1);
            }
        }
    }

    pub fn bytes(&self) -> usize {
        vec_bytes(&self.whole) + vec_bytes(&self.cells) + vec_bytes(&self.pairs)
    }

    pub fn bytes_for(sizes: &Sizes, numbers: usize) -> usize {
        let n = sizes.n_cells();
        // Beside what is summed by pair are rows, the least and the worst cost, and one more.
        n.saturating_mul(n + 1).saturating_mul((numbers + 4) * size_of::<i64>())
    }
}

/// Add some numbers, or take them away.
#[inline(always)]
pub fn add(to: &mut [i64], more: &[i64], sign: i64) {
    for (to, more) in to.iter_mut().zip(more) {
        *to += sign * more;
    }
}

/// Add to all pairs of a row's cells, in tables of `stride` numbers by cell: to each pair once, the
/// smaller cell first. `mirror` ends it.
#[inline(always)]
pub fn add_pairs(to: &mut [i64], stride: usize, cells: &[u32], more: i64) {
    for (at, &first) in cells.iter().enumerate() {
        let to = &mut to[first as usize * stride..][..stride];
        for &then in &cells[at..] {
            to[then as usize] += more;
        }
    }
}

/// Take over what was added to each pair of so many cells, with the larger one first.
pub fn mirror(table: &mut [i64], stride: usize, cells: usize) {
    for first in 0..cells {
        for then in first + 1..cells {
            table[then * stride + first] = table[first * stride + then];
        }
    }
}
