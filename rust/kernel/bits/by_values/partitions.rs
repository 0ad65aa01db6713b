//! A view's rows by value: every free column parts them by its values, and every other question by
//! its two sides. So a column of 12 values is 12 cells in place of 2,047 questions.

use std::ops::Range;

use crate::kernel::bits::bit_kernel::Look;
use crate::kernel::look::vec_bytes;
use crate::view::{BitView, ValueSet, View};

/// Splits that stand side by side: all sets of four cells, with one set of the others.
pub const BATCH: usize = 16;

/// About how many steps sums by value take.
#[derive(Debug, Clone, Copy)]
pub struct Steps {
    /// Numbers of a row that are summed by pair of values.
    pub tables: usize,
    /// For each cell of a stump, in quarters.
    pub of_cell: usize,
    /// Likewise, where 16 stumps stand side by side, for all of them together.
    pub of_cell_in_batch: usize,
}

/// How large the tables of a view are.
#[derive(Debug, Clone, Default)]
pub struct Sizes {
    rows: usize,
    questions: usize,
    /// Rows of a pair of questions that a look by question takes in a step.
    rows_at_once: usize,
    /// By partition: how many cells it has.
    cells: Vec<usize>,
}

impl Sizes {
    /// Of the values that there are among the rows.
    pub fn of(bits: &BitView, view: &View) -> Sizes {
        let present = present(bits, view);
        Sizes::with(bits, view, present.iter().map(|present| present.count_ones() as usize))
    }

    /// Of all values, whether there are such rows or not.
    pub fn most(bits: &BitView, view: &View) -> Sizes {
        Sizes::with(bits, view, (0..bits.free.len()).map(|column| bits.free.n_values(column)))
    }

    fn with(bits: &BitView, view: &View, values: impl Iterator<Item = usize>) -> Sizes {
        let mut cells: Vec<usize> = values.collect();
        let others = view.columns.iter().filter(|&&question| bits.free.set_of(question).is_none());
        cells.extend(others.map(|_| 2));
        let rows_at_once = view.rows_at_once();
        Sizes { rows: view.len(), questions: view.columns.len(), rows_at_once, cells }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn n_cells(&self) -> usize {
        self.cells.iter().sum()
    }

    pub fn most_cells(&self) -> usize {
        self.cells.iter().copied().max().unwrap_or(0)
    }

    fn n_partitions(&self) -> usize {
        self.cells.len()
    }

    /// Sets of cells of one partition each, over all partitions.
    fn n_sets(&self) -> usize {
        self.cells.iter().map(|cells| 1 << cells).sum()
    }

    /// Additions to one cell of each pair of partitions, for each row and number.
    fn steps_of_tables(&self, steps: Steps) -> usize {
        self.rows.saturating_mul(self.n_partitions().pow(2)).saturating_mul(steps.tables) / 2
    }

    /// Whether sums alone take longer than a look by question: that shows without the rows.
    pub fn are_too_many(bits: &BitView, view: &View) -> bool {
        view.columns.len() < view.rows_at_once().isqrt() * bits.free.len() / 2
    }

    /// As above, where some questions are of columns that are not free.
    pub fn have_too_many_partitions(&self, steps: Steps) -> bool {
        self.steps_of_tables(steps) > self.steps_by_question(1)
    }

    /// About how many steps a look by value takes.
    pub fn steps_of_look(&self, steps: Steps) -> usize {
        let of_sets = self.n_sets().saturating_mul(self.n_cells() * steps.of_cell) / 4;
        self.steps_of_tables(steps).saturating_add(of_sets)
    }

    /// About how many steps a look at each pair of questions takes, of this share of the rows.
    pub fn steps_by_question(&self, share: usize) -> usize {
        (self.rows / share).saturating_mul(self.questions.saturating_mul(self.questions))
            / self.rows_at_once
    }

    /// About how many steps both sides of every question take.
    pub fn steps_of_both_sides(&self, steps: Steps) -> usize {
        let n = self.n_cells();
        let batches = self.cells.iter().map(|cells| (1usize << cells).div_ceil(2 * BATCH));
        let stumps = batches.sum::<usize>().saturating_mul(n * steps.of_cell_in_batch);
        let each = stumps.saturating_add(steps.tables * n * n / 4);
        // Half of the rows follow by subtraction.
        let tables = self.steps_of_tables(steps).saturating_mul(self.n_partitions() / 2);
        self.n_sets().saturating_mul(each).saturating_add(tables)
    }

    /// About how many steps it takes to look at both sides of every question.
    pub fn steps_of_looks(&self, steps: Steps) -> usize {
        // Each is looked at by question, or by value.
        let one = self.steps_by_question(2).min(self.steps_of_look(steps));
        2usize.saturating_mul(self.questions).saturating_mul(one)
    }
}

/// The partitions of a view, and where its rows and columns are in them.
#[derive(Debug, Default)]
pub struct Partitions {
    /// By partition: its cells, among those of all.
    pub ranges: Vec<Range<usize>>,
    /// By row and partition: the cell.
    cells: Vec<u32>,
    /// By cell: how many rows of the view it has.
    pub counts: Vec<u32>,
    /// By column of the view: its partition, and the cells of it on the 1 side, as bits.
    pub columns: Vec<(u32, u32)>,
}

impl Partitions {
    pub fn fill(&mut self, look: &Look) {
        let (bits, view) = (look.bits, look.view);
        let (n_free, present) = (bits.free.len(), present(bits, view));
        self.ranges.clear();
        self.columns.clear();
        let mut end = 0;
        let mut add = |cells: usize| {
            end += cells;
            end - cells..end
        };
        self.ranges.extend(present.iter().map(|present| add(present.count_ones() as usize)));
        let mut others = Vec::new();
        for (column, &question) in view.columns.iter().enumerate() {
            match bits.free.set_of(question) {
                Some(ValueSet { column, right }) => {
                    let right = squeezed(right, present[column as usize]);
                    self.columns.push((column, right));
                }
                None => {
                    others.push(column);
                    self.columns.push((self.ranges.len() as u32, 0b10));
                    self.ranges.push(add(2));
                }
            }
        }
        self.cells.clear();
        self.cells.reserve_exact(view.len() * self.ranges.len());
        for row in 0..view.len() {
            for (free, &value) in view.values[row * n_free..][..n_free].iter().enumerate() {
                let before = present[free] & ((1 << value) - 1);
                self.cells.push(self.ranges[free].start as u32 + before.count_ones());
            }
            let bits = &view.bits[row * view.stride..][..view.stride];
            for (range, &column) in self.ranges[n_free..].iter().zip(&others) {
                let side = bits[column / 64] >> (column % 64) & 1;
                self.cells.push(range.start as u32 + side as u32);
            }
        }
        self.counts.clear();
        self.counts.resize(end, 0);
        for &cell in &self.cells {
            self.counts[cell as usize] += 1;
        }
    }

    #[inline(always)]
    pub fn n_cells(&self) -> usize {
        self.ranges.last().map_or(0, |range| range.end)
    }

    /// A row's cell of each partition.
    #[inline(always)]
    pub fn of_row(&self, row: usize) -> &[u32] {
        &self.cells[row * self.ranges.len()..][..self.ranges.len()]
    }

    pub fn bytes(&self) -> usize {
        vec_bytes(&self.ranges)
            + vec_bytes(&self.cells)
            + vec_bytes(&self.counts)
            + vec_bytes(&self.columns)
    }

    /// Bytes that the partitions of a view take.
    pub fn bytes_for(sizes: &Sizes) -> usize {
        let own = sizes.n_partitions() * size_of::<Range<usize>>();
        own + (sizes.rows * sizes.n_partitions() + sizes.n_cells()) * 4 + sizes.questions * 8
    }
}

/// Rows between two questions whether to go on.
const ROWS_AT_A_TIME: usize = 1 << 15;

/// A view's rows in pieces, each of one segment.
pub fn pieces(view: &View) -> impl Iterator<Item = (usize, Range<usize>)> {
    (0..view.ends.len()).flat_map(|index| {
        let Range { start, end } = view.segment(index);
        let from = (start..end).step_by(ROWS_AT_A_TIME);
        from.map(move |from| (index, from..end.min(from + ROWS_AT_A_TIME)))
    })
}

/// By free column: the values that rows of the view have, as bits.
fn present(bits: &BitView, view: &View) -> Vec<u32> {
    let mut present = vec![0u32; bits.free.len()];
    for values in view.values.chunks_exact(bits.free.len().max(1)) {
        for (present, &value) in present.iter_mut().zip(values) {
            *present |= 1 << value;
        }
    }
    present
}

/// The bits of a set at the places of `present`, side by side.
fn squeezed(set: u32, present: u32) -> u32 {
    let mut out = 0;
    let mut rest = present;
    for place in 0..present.count_ones() {
        out |= (set >> rest.trailing_zeros() & 1) << place;
        rest &= rest - 1;
    }
    out
}

/// The sets of so many cells in an order in which each differs from the one before in one cell:
/// that cell, and whether the set has it now. The first set is empty and comes before all of these.
pub fn changes(cells: usize) -> impl Iterator<Item = (usize, bool)> {
    (1..1u64 << cells).map(|step| {
        let cell = step.trailing_zeros() as usize;
        (cell, (step ^ step >> 1) >> cell & 1 == 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sets_come_once() {
        for cells in 0..6 {
            let mut set = 0u32;
            let mut seen = vec![0];
            for (cell, has) in changes(cells) {
                assert_ne!(set >> cell & 1 == 1, has);
                set ^= 1 << cell;
                seen.push(set);
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..1 << cells).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn sets_are_squeezed_to_the_values_that_there_are() {
        assert_eq!(squeezed(0b1010, 0b1111), 0b1010);
        assert_eq!(squeezed(0b1010, 0b1011), 0b110);
        assert_eq!(squeezed(0b1010, 0), 0);
    }
}
