//! What both sides of every column cost as the best trees of two levels.
//!
//! Below a set of values of one column, sums by pair of cells say what every tree of two levels
//! costs: each value of the second column adds its cells, and the third is a stump
//! (`super::stumps`). Sets of a column follow each other so that each differs from the one before
//! in one value, whose pairs are added or taken away; and a set of the second column is looked at
//! together with its complement, which is the other side of the same split. 16 such splits stand
//! side by side.

use std::ops::Range;

use super::partitions::{Partitions, Sizes, changes, pieces};
use super::tables::{Sums, Table, add_pairs, mirror};
use crate::cost::{Cost, INFINITE};
use crate::kernel::bits::bit_kernel::Look;
use crate::kernel::look::{BothSides, Unfinished, vec_bytes, zeros};

/// Splits that stand side by side: all sets of four cells, with one set of the others.
pub const BATCH: usize = 16;
const CELLS_OF_BATCH: usize = BATCH.ilog2() as usize;
type Batch = [i32; BATCH];

/// Differences are counted in units that all of them, and the leaf penalty, are multiples of.
#[derive(Debug, Clone, Copy)]
struct Unit {
    /// The greatest common divisor, which sums are divided by before they are added up.
    divisor: Cost,
    /// Further, sums lose so many bits before they are compared, if 32 bits do not hold them.
    bits: u32,
    /// What one more leaf costs, twice; no more than makes it never worth it.
    penalty: i32,
}

impl Unit {
    fn of(segments: &[Sums], sum: Cost, leaf_cost: Cost) -> Unit {
        let differences = segments.iter().map(|sums| sums.difference);
        let divisor = differences.fold(2 * leaf_cost, gcd).max(1);
        let sum = sum / divisor;
        let bits = (Cost::BITS - sum.leading_zeros()).saturating_sub(i32::BITS - 2);
        let penalty = ((2 * leaf_cost / divisor) >> bits).min((sum >> bits) + 1) as i32;
        Unit { divisor, bits, penalty }
    }

    /// How much more than it says a gain may be, in its units: a sum by pair of cells loses less
    /// than one, and a tree of two levels adds up each pair of cells of two columns once at most.
    fn lost(self, most_cells: usize) -> Cost {
        if self.bits == 0 { 0 } else { (most_cells * most_cells) as Cost + 1 }
    }
}

fn gcd(a: Cost, b: Cost) -> Cost {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Scratch memory.
#[derive(Debug, Default)]
pub struct TwoLevels {
    /// By value of a column: differences by pair of cells of its rows, and by cell at the end of
    /// each list.
    by_value: Vec<Vec<i64>>,
    /// Likewise of all rows.
    of_all: Vec<i64>,
    /// Likewise of the rows of a set of its values.
    of_set: Vec<i64>,
    /// As `of_set`, in fewer bits.
    small: Vec<i32>,
    /// By set of its values: what the rows cost.
    costs: Vec<Cost>,
    best: Best,
}

/// What the sets of a second column take, by cell.
#[derive(Debug, Default)]
struct Best {
    /// Of the sets of the first few cells.
    low: Vec<Batch>,
    /// Of a set of the others.
    high: Vec<i32>,
    all: Vec<i32>,
    present: Vec<usize>,
}

impl TwoLevels {
    /// Of the view that `partitions` and `table` were filled from.
    #[inline(always)]
    pub fn find(
        &mut self,
        look: &Look,
        partitions: &Partitions,
        table: &Table,
        segments: &[Sums],
    ) -> Result<BothSides, Unfinished> {
        let sizes = (0..segments.len()).map(|index| look.view.segment(index).len() as Cost);
        let sum = sizes.zip(segments).map(|(n, sums)| n * sums.difference.abs()).sum();
        let unit = Unit::of(segments, sum, look.ask.leaf_cost);
        let mut costs = vec![[INFINITE; 2]; partitions.columns.len()];
        let mut of_partition: Vec<Vec<usize>> = vec![Vec::new(); partitions.ranges.len()];
        for (column, &(partition, _)) in partitions.columns.iter().enumerate() {
            of_partition[partition as usize].push(column);
        }
        zeros(&mut self.of_all, partitions.n_cells() * (partitions.n_cells() + 1), 0)?;
        for (index, rows) in pieces(look.view) {
            if (look.halt)() {
                return Err(Unfinished::Stopped);
            }
            let difference = segments[index].difference / unit.divisor;
            for row in rows {
                add(&mut self.of_all, partitions, partitions.of_row(row), difference);
            }
        }
        mirror(&mut self.of_all, partitions.n_cells() + 1, partitions.n_cells());
        for (first, columns) in of_partition.iter().enumerate() {
            if columns.is_empty() {
                continue;
            }
            let of = &partitions.ranges[first];
            self.sum_by_value(look, partitions, segments, (first, unit))?;
            self.cost_sets(look, partitions, (table, of), unit)?;
            for &column in columns {
                let (right, all) = (partitions.columns[column].1 as usize, (1 << of.len()) - 1);
                costs[column] = [self.costs[all & !right], self.costs[right]];
            }
        }
        // Leaves may have too few rows in what was found here.
        Ok(BothSides { costs, are_exact: unit.bits == 0 && look.ask.min_rows <= 1 })
    }

    /// Fill in the differences by value of one column.
    #[inline(always)]
    fn sum_by_value(
        &mut self,
        look: &Look,
        partitions: &Partitions,
        segments: &[Sums],
        (first, unit): (usize, Unit),
    ) -> Result<(), Unfinished> {
        let n = partitions.n_cells();
        let of = &partitions.ranges[first];
        if self.by_value.len() < of.len() {
            self.by_value.resize_with(of.len(), Vec::new);
        }
        for table in &mut self.by_value[..of.len()] {
            zeros(table, n * (n + 1), 0)?;
        }
        // The rows of the value that most have follow by subtraction.
        let counts = &partitions.counts[of.clone()];
        let Some((most, _)) = counts.iter().enumerate().max_by_key(|(_, count)| **count) else {
            return Ok(());
        };
        for (index, rows) in pieces(look.view) {
            if (look.halt)() {
                return Err(Unfinished::Stopped);
            }
            let difference = segments[index].difference / unit.divisor;
            for row in rows {
                let cells = partitions.of_row(row);
                let value = cells[first] as usize - of.start;
                if value != most {
                    add(&mut self.by_value[value], partitions, cells, difference);
                }
            }
        }
        let mut rest = std::mem::take(&mut self.by_value[most]);
        rest.copy_from_slice(&self.of_all);
        for (value, table) in self.by_value[..of.len()].iter_mut().enumerate() {
            if value != most {
                mirror(table, n + 1, n);
                for (rest, sum) in rest.iter_mut().zip(table.iter()) {
                    *rest -= sum;
                }
            }
        }
        self.by_value[most] = rest;
        Ok(())
    }

    /// What the rows of every set of a column's values cost.
    #[inline(always)]
    fn cost_sets(
        &mut self,
        look: &Look,
        partitions: &Partitions,
        (table, of): (&Table, &Range<usize>),
        unit: Unit,
    ) -> Result<(), Unfinished> {
        let n = partitions.n_cells();
        let most_cells = partitions.ranges.iter().map(Range::len).max().unwrap_or(0);
        zeros(&mut self.of_set, n * (n + 1), 0)?;
        zeros(&mut self.small, n * (n + 1), 0)?;
        // Rows that the view leaves out cost nothing but their leaf.
        zeros(&mut self.costs, 1 << of.len(), look.ask.leaf_cost)?;
        let (mut set, mut sums) = (0usize, Sums::default());
        for (cell, has) in changes(of.len()) {
            if (look.halt)() {
                return Err(Unfinished::Stopped);
            }
            set ^= 1 << cell;
            let (sign, own) = (if has { 1 } else { -1 }, &table.cells[of.start + cell]);
            if has {
                sums.add(own);
            } else {
                sums = sums.minus(own);
            }
            let change = self.of_set.iter_mut().zip(&mut self.small).zip(&self.by_value[cell]);
            for ((sum, small), more) in change {
                *sum += sign * more;
                *small = (*sum >> unit.bits) as i32;
            }
            let gain = self.best.gain(&partitions.ranges, &self.small, unit.penalty);
            let gain = ((Cost::from(gain) + unit.lost(most_cells)) << unit.bits) * unit.divisor;
            let leaf = sums.difference.abs();
            let twice = sums.total + 2 * look.ask.leaf_cost - gain.max(leaf);
            self.costs[set] = twice.max(0).div_euclid(2);
        }
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        self.by_value.iter().map(vec_bytes).sum::<usize>()
            + vec_bytes(&self.by_value)
            + vec_bytes(&self.of_all)
            + vec_bytes(&self.of_set)
            + vec_bytes(&self.small)
            + vec_bytes(&self.costs)
            + vec_bytes(&self.best.low)
            + vec_bytes(&self.best.high)
            + vec_bytes(&self.best.all)
            + vec_bytes(&self.best.present)
    }

    /// Bytes that this takes, with what it gives back.
    pub fn bytes_for(sizes: &Sizes, questions: usize) -> usize {
        let (n, most) = (sizes.n_cells(), sizes.most_cells());
        let tables = (most + 2) * size_of::<i64>() + size_of::<i32>();
        let by_cell = (n + 1) * (size_of::<Batch>() + 2 * size_of::<i32>()) + n * 8;
        let of_columns = questions * (2 * size_of::<Cost>() + 2 * size_of::<usize>());
        n * (n + 1) * tables + (size_of::<Cost>() << most) + by_cell + of_columns
    }
}

/// Add a row to sums by pair of cells, and by cell.
#[inline(always)]
fn add(table: &mut [i64], partitions: &Partitions, cells: &[u32], difference: i64) {
    let n = partitions.n_cells();
    add_pairs(table, n + 1, cells, difference);
    for &cell in cells {
        table[cell as usize * (n + 1) + n] += difference;
    }
}

impl Best {
    /// How much less than T a tree of two levels costs, twice, penalties of more than one leaf
    /// taken off: `pairs` are differences by pair of cells.
    #[inline(always)]
    fn gain(&mut self, ranges: &[Range<usize>], pairs: &[i32], penalty: i32) -> i32 {
        let n = ranges.last().map_or(0, |range| range.end);
        let mut best = 0;
        for of in ranges {
            best = best.max(self.gain_of(ranges, (of, n), pairs, penalty) - penalty);
        }
        best
    }

    /// As above, with a split of this column at the root.
    #[inline(always)]
    fn gain_of(
        &mut self,
        ranges: &[Range<usize>],
        (of, n): (&Range<usize>, usize),
        pairs: &[i32],
        penalty: i32,
    ) -> i32 {
        let row = |cell: usize| &pairs[cell * (n + 1)..][..n + 1];
        // Cells that add nothing may be on either side.
        self.present.clear();
        self.present.extend(of.clone().filter(|&cell| row(cell).iter().any(|&sum| sum != 0)));
        self.all.clear();
        self.all.resize(n + 1, 0);
        for &cell in &self.present {
            for (all, sum) in self.all.iter_mut().zip(row(cell)) {
                *all += sum;
            }
        }
        // The last one is on the other side than the set.
        let Some((_, others)) = self.present.split_last() else { return 0 };
        let (low, high) = others.split_at(others.len().min(CELLS_OF_BATCH));
        self.low.clear();
        self.low.resize(n + 1, [0; BATCH]);
        for (bit, &cell) in low.iter().enumerate() {
            for (low, sum) in self.low.iter_mut().zip(row(cell)) {
                for (lane, low) in low.iter_mut().enumerate() {
                    *low += if lane >> bit & 1 == 1 { *sum } else { 0 };
                }
            }
        }
        self.high.clear();
        self.high.resize(n + 1, 0);
        let mut best = self.batch(ranges, n, penalty);
        for (cell, has) in changes(high.len()) {
            let sign = if has { 1 } else { -1 };
            for (high, sum) in self.high.iter_mut().zip(row(high[cell])) {
                *high += sign * sum;
            }
            let more = self.batch(ranges, n, penalty);
            for (best, more) in best.iter_mut().zip(&more) {
                *best = (*best).max(*more);
            }
        }
        best.into_iter().max().unwrap_or(0)
    }

    /// Of the splits that stand side by side, both sides together.
    #[inline(always)]
    fn batch(&self, ranges: &[Range<usize>], n: usize, penalty: i32) -> Batch {
        let (low, high, all) = (&self.low[..n + 1], &self.high[..n + 1], &self.all[..n + 1]);
        let mut stumps = [[0i32; BATCH]; 2];
        for range in ranges {
            let mut sums = [[0i32; BATCH]; 2];
            for cell in range.clone() {
                let (low, high, all) = (&low[cell], high[cell], all[cell]);
                for lane in 0..BATCH {
                    let one = high + low[lane];
                    sums[0][lane] += one.abs();
                    sums[1][lane] += (all - one).abs();
                }
            }
            for side in 0..2 {
                for lane in 0..BATCH {
                    stumps[side][lane] = stumps[side][lane].max(sums[side][lane]);
                }
            }
        }
        let mut out = [0; BATCH];
        for lane in 0..BATCH {
            let leaf = high[n] + low[n][lane];
            let one = leaf.abs().max(stumps[0][lane] - penalty);
            let other = (all[n] - leaf).abs().max(stumps[1][lane] - penalty);
            out[lane] = one + other;
        }
        out
    }
}
