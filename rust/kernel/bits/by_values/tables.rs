//! Sums over the rows of each cell, and over those of each pair of cells.

use std::ops::Range;

use super::partitions::{Partitions, Sizes, pieces};
use crate::cost::Cost;
use crate::kernel::bits::bit_kernel::Look;
use crate::kernel::look::{Side, Unfinished, vec_bytes, zeros};
use crate::task::ClassCosts;

/// What a row of a segment adds, and what rows add together.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums {
    /// What the second label costs more than the first.
    pub difference: Cost,
    /// What both labels cost together.
    pub total: Cost,
    pub least: Cost,
    pub worst: Cost,
    pub rows: i64,
}

impl Sums {
    /// By segment of a view.
    pub fn by_segment(look: &Look, classes: &ClassCosts, out: &mut Vec<Sums>) {
        out.clear();
        out.extend(look.bits.segments.iter().map(|segment| {
            let cost = |label| segment.weight * classes.cost(segment.class as usize, label);
            Sums {
                difference: cost(1) - cost(0),
                total: cost(1) + cost(0),
                least: segment.least,
                worst: segment.worst,
                rows: segment.rows,
            }
        }));
    }

    #[inline(always)]
    pub fn add(&mut self, more: &Sums) {
        self.difference += more.difference;
        self.total += more.total;
        self.least += more.least;
        self.worst += more.worst;
        self.rows += more.rows;
    }

    pub fn minus(mut self, other: &Sums) -> Sums {
        self.difference -= other.difference;
        self.total -= other.total;
        self.least -= other.least;
        self.worst -= other.worst;
        self.rows -= other.rows;
        self
    }

    pub fn side(&self) -> Side {
        Side {
            leaf: (self.total - self.difference.abs()) / 2,
            least: self.least,
            worst: self.worst,
            rows: self.rows,
        }
    }
}

/// Of a view.
#[derive(Debug, Default)]
pub struct Table {
    n: usize,
    pub whole: Sums,
    pub cells: Vec<Sums>,
    /// By pair of cells.
    differences: Vec<Cost>,
    /// Likewise, where leaves need some rows.
    rows: Vec<i64>,
}

impl Table {
    pub fn fill(
        &mut self,
        look: &Look,
        partitions: &Partitions,
        segments: &[Sums],
    ) -> Result<(), Unfinished> {
        let n = partitions.n_cells();
        let counts_rows = look.ask.min_rows > 1;
        self.n = n;
        self.whole = Sums::default();
        zeros(&mut self.cells, n, Sums::default())?;
        zeros(&mut self.differences, n * n, 0)?;
        zeros(&mut self.rows, if counts_rows { n * n } else { 0 }, 0)?;
        for (index, rows) in pieces(look.view) {
            if (look.halt)() {
                return Err(Unfinished::Stopped);
            }
            let sums = &segments[index];
            for row in rows {
                let cells = partitions.of_row(row);
                self.whole.add(sums);
                for &cell in cells {
                    self.cells[cell as usize].add(sums);
                }
                add_pairs(&mut self.differences, n, cells, sums.difference);
                if counts_rows {
                    add_pairs(&mut self.rows, n, cells, sums.rows);
                }
            }
        }
        mirror(&mut self.differences, n, n);
        if counts_rows {
            mirror(&mut self.rows, n, n);
        }
        Ok(())
    }

    /// By cell: of the rows of this one.
    #[inline(always)]
    pub fn differences(&self, cell: usize) -> &[Cost] {
        &self.differences[cell * self.n..][..self.n]
    }

    #[inline(always)]
    pub fn rows(&self, cell: usize) -> &[i64] {
        &self.rows[cell * self.n..][..self.n]
    }

    /// Both sides of a column with these cells of a partition on the 1 side.
    pub fn sides(&self, of: &Range<usize>, right: u32) -> [Sums; 2] {
        let mut ones = Sums::default();
        for (place, cell) in self.cells[of.clone()].iter().enumerate() {
            if right >> place & 1 == 1 {
                ones.add(cell);
            }
        }
        [self.whole.minus(&ones), ones]
    }

    pub fn bytes(&self) -> usize {
        vec_bytes(&self.cells) + vec_bytes(&self.differences) + vec_bytes(&self.rows)
    }

    pub fn bytes_for(sizes: &Sizes, counts_rows: bool) -> usize {
        let n = sizes.n_cells();
        n * size_of::<Sums>() + n * n * size_of::<Cost>() * (1 + usize::from(counts_rows))
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
