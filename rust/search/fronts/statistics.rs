//! Sums of statistics over a node's rows, and over the rows on one side of each of its columns.
//!
//! Class weights and other counts stand in segments, and are counted as bits. All other statistics
//! stand beside their row, and are added row by row.

use crate::bits::Level;
use crate::kernel::{Counts, Unfinished};
use crate::problem::Problem;
use crate::task::Structure;
use crate::view::{BitView, View};

/// How many statistics of a problem there are to sum.
pub fn n_statistics(problem: &Problem, bits: &BitView) -> usize {
    match problem.task.structure() {
        Structure::Classes(classes) => classes.n_classes(),
        Structure::Counts => problem.task.width(),
        Structure::Labels(_) | Structure::Squares(_) | Structure::Sums => bits.n_stats,
    }
}

/// The sums of all rows of a view.
pub fn sums_of(bits: &BitView, n_statistics: usize, view: &View) -> Vec<i64> {
    let mut sums = vec![0; n_statistics];
    if bits.width == 0 {
        for (index, segment) in bits.segments.iter().enumerate() {
            sums[segment.class as usize] += view.segment(index).len() as i64 * segment.weight;
        }
    } else {
        for row in view.costs.chunks_exact(bits.width) {
            sums.iter_mut().zip(row).for_each(|(sum, s)| *sum += s);
        }
    }
    sums
}

/// The sums of the 1 side of every column. Memory is kept from call to call.
#[derive(Debug, Default)]
pub struct ColumnSums {
    counts: Counts,
    /// Where statistics are added, by column: the sums of its 1 side, then its rows.
    added: Vec<i64>,
    /// The sums of all rows, then the rows.
    whole: Vec<i64>,
    n_statistics: usize,
    is_counted: bool,
}

impl ColumnSums {
    /// `count_rows`: true if the view says how many rows of the data each of its rows stands for.
    pub fn fill(
        &mut self,
        bits: &BitView,
        n_statistics: usize,
        count_rows: bool,
        view: &View,
        level: Level,
    ) -> Result<(), Unfinished> {
        self.n_statistics = n_statistics;
        self.is_counted = bits.width == 0;
        if self.is_counted {
            self.counts.fill(bits, n_statistics, view, level)?;
            self.whole.clone_from(&self.counts.whole);
            return Ok(());
        }
        let width = n_statistics + 1;
        let needed = view.columns.len() * width;
        self.added.clear();
        self.added.try_reserve_exact(needed).map_err(|_| Unfinished::NoMemory)?;
        self.added.resize(needed, 0);
        self.whole.clear();
        self.whole.resize(width, 0);
        let rows = view.bits.chunks_exact(view.stride.max(1));
        for (words, numbers) in rows.zip(view.costs.chunks_exact(bits.width)) {
            // Rows are the last number of a view that has them: a front asks for no prices of
            // columns.
            let rows = if count_rows { numbers[bits.width - 1] } else { 0 };
            let add = |sums: &mut [i64]| {
                sums[..n_statistics].iter_mut().zip(numbers).for_each(|(sum, s)| *sum += s);
                sums[n_statistics] += rows;
            };
            add(&mut self.whole);
            for (at, &word) in words.iter().enumerate() {
                let mut left = word;
                while left != 0 {
                    let column = at * 64 + left.trailing_zeros() as usize;
                    left &= left - 1;
                    add(&mut self.added[column * width..][..width]);
                }
            }
        }
        Ok(())
    }

    /// The sums of all rows, then how many rows there are.
    pub fn whole(&self) -> &[i64] {
        &self.whole
    }

    /// The sums of a column's 1 side, then how many rows it has.
    pub fn ones(&self, column: usize) -> &[i64] {
        let width = self.n_statistics + 1;
        match self.is_counted {
            true => self.counts.ones(column),
            false => &self.added[column * width..][..width],
        }
    }

    pub fn bytes(&self) -> usize {
        self.counts.bytes() + (self.added.capacity() + self.whole.capacity()) * size_of::<i64>()
    }
}
