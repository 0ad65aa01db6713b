//! What both sides of every column cost as the best trees of two levels.
//!
//! Below a set of values of one column, sums by pair of cells say what every tree of two levels
//! costs: each value of the second column adds its cells, and the third is a stump (`InBatches`).
//! Sets of a column follow each other so that each differs from the one before in one value, whose
//! pairs are added or taken away; and a set of the second column is looked at together with its
//! complement, which is the other side of the same split. 16 such splits stand side by side.

use std::ops::Range;

use super::answers::{Answers, Summed};
use super::partitions::{BATCH, Partitions, Sizes, changes, pieces};
use super::tables::{add, add_pairs, mirror};
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::{BothSides, Unfinished, vec_bytes, zeros};

const CELLS_OF_BATCH: usize = BATCH.ilog2() as usize;
pub type Batch = [i32; BATCH];

/// Bits of a number that stand free, because the sums of both sides are added, and penalties.
const FREE_BITS: u32 = 3;

/// Answers that may say what both sides of every column cost.
pub trait OfTwoLevels: Answers {
    /// Whether `two_levels` has something to say.
    fn sees_two_levels(&self) -> bool {
        false
    }

    /// What both sides of every column cost as the best trees of two levels.
    fn two_levels(
        &mut self,
        _levels: &mut TwoLevels,
        _summed: Summed,
    ) -> Result<Option<BothSides>, Unfinished> {
        Ok(None)
    }
}

/// Answers whose stumps are costed for many sets of rows at a time.
pub trait InBatches {
    /// How often costs are counted.
    const TIMES: Cost;

    /// The most that a row with these numbers adds to any sum, up or down.
    fn most(&self, numbers: &[i64]) -> Cost;

    /// What both sides of splits that stand side by side cost together, at best, but for a part
    /// that no split changes.
    fn both(&mut self, splits: &Splits) -> Batch;

    /// What rows that sum up to this cost at least as a tree of two levels, if `both` says `least`
    /// of the best split, if there is one.
    fn cost(&self, sums: &[i64], least: Option<i32>, unit: Unit) -> Cost;
}

/// Numbers are counted in units that all of them, and the leaf penalty, are multiples of.
#[derive(Debug, Clone, Copy)]
pub struct Unit {
    /// The greatest common divisor, which sums are divided by before they are added up.
    divisor: Cost,
    /// Further, sums lose so many bits before they are compared, if 32 bits do not hold them.
    bits: u32,
    /// What one more leaf costs; no more than makes it never worth it.
    penalty: i32,
    /// How many sums by pair of cells a tree of two levels adds up at most, if each has lost
    /// something: less than one.
    pub lost: Cost,
}

impl Unit {
    fn of<A: InBatches>(answers: &A, summed: Summed) -> Unit {
        let Summed { look, numbers, partitions, .. } = summed;
        let leaf_cost = A::TIMES * look.ask.leaf_cost;
        let (mut divisor, mut sum) = (leaf_cost, 0);
        for (own, rows) in numbers.all(look.view).filter(|(_, rows)| *rows > 0) {
            divisor = own[..numbers.n_summed].iter().copied().fold(divisor, gcd);
            sum += rows * answers.most(own);
        }
        let divisor = divisor.max(1);
        let sum = sum / divisor;
        let bits = (Cost::BITS - sum.leading_zeros()).saturating_sub(i32::BITS - FREE_BITS);
        let penalty = ((leaf_cost / divisor) >> bits).min((sum >> bits) + 1) as i32;
        let most_cells = partitions.ranges.iter().map(Range::len).max().unwrap_or(0) as Cost;
        let lost = if bits == 0 { 0 } else { most_cells * most_cells + 1 };
        Unit { divisor, bits, penalty, lost }
    }

    /// So many of these units.
    pub fn whole(self, units: Cost) -> Cost {
        (units << self.bits) * self.divisor
    }
}

fn gcd(a: Cost, b: Cost) -> Cost {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Sums of rows by pair of cells, and by cell at the end of each list, for each summed number.
type Pairs = Vec<i64>;

/// Scratch memory.
#[derive(Debug, Default)]
pub struct TwoLevels {
    /// Of the rows of each value of a column.
    by_value: Vec<Pairs>,
    /// Of all rows.
    of_all: Pairs,
    /// Of the rows of a set of values.
    of_set: Pairs,
    /// As `of_set`, in fewer bits.
    small: Vec<i32>,
    /// All numbers of the rows of a set.
    sums: Vec<i64>,
    /// By set of its values: what the rows cost.
    costs: Vec<Cost>,
    best: Best,
}

/// What the sets of a second column take, by summed number and cell.
#[derive(Debug, Default)]
struct Best {
    /// Of the sets of the first few cells.
    low: Vec<Batch>,
    /// Of a set of the others.
    high: Vec<i32>,
    all: Vec<i32>,
    present: Vec<usize>,
}

/// Splits of one column that stand side by side: those with all sets of its first few cells, and
/// one set of the others.
#[derive(Clone, Copy)]
pub struct Splits<'a> {
    /// Of the first few cells of the column, by summed number and cell of all partitions; of all
    /// rows at the end of each list.
    pub low: &'a [Batch],
    /// Of the other cells of the column.
    pub high: &'a [i32],
    /// Of both sides together.
    pub all: &'a [i32],
    /// By partition: its cells.
    pub ranges: &'a [Range<usize>],
    /// How many cells there are.
    pub n: usize,
    /// What one more leaf costs.
    pub penalty: i32,
}

impl TwoLevels {
    /// Of a view that was summed by value.
    #[inline(always)]
    pub fn find<A: Answers + InBatches>(
        &mut self,
        answers: &mut A,
        summed: Summed,
    ) -> Result<BothSides, Unfinished> {
        let Summed { look, partitions, numbers, .. } = summed;
        let unit = Unit::of(answers, summed);
        let mut costs = vec![[INFINITE; 2]; partitions.columns.len()];
        let mut of_partition: Vec<Vec<usize>> = vec![Vec::new(); partitions.ranges.len()];
        for (column, &(partition, _)) in partitions.columns.iter().enumerate() {
            of_partition[partition as usize].push(column);
        }
        let n = partitions.n_cells();
        let size = n * (n + 1);
        zeros(&mut self.of_all, size * numbers.n_summed, 0)?;
        for (index, rows) in pieces(look.view) {
            if (look.halt)() {
                return Err(Unfinished::Stopped);
            }
            for row in rows {
                let cells = partitions.of_row(row);
                add_row(&mut self.of_all, (n, cells), numbers.of(index, row), unit);
            }
        }
        mirror_all(&mut self.of_all, n);
        for (first, columns) in of_partition.iter().enumerate() {
            if columns.is_empty() {
                continue;
            }
            let of = &partitions.ranges[first];
            self.sum_by_value(summed, (first, unit))?;
            self.cost_sets(answers, summed, of, unit)?;
            for &column in columns {
                let (right, all) = (partitions.columns[column].1 as usize, (1 << of.len()) - 1);
                costs[column] = [self.costs[all & !right], self.costs[right]];
            }
        }
        // Leaves may have too few rows in what was found here.
        Ok(BothSides { costs, are_exact: unit.bits == 0 && look.ask.min_rows <= 1 })
    }

    /// Fill in the sums by value of one column.
    #[inline(always)]
    fn sum_by_value(
        &mut self,
        summed: Summed,
        (first, unit): (usize, Unit),
    ) -> Result<(), Unfinished> {
        let Summed { look, partitions, numbers, .. } = summed;
        let n = partitions.n_cells();
        let of = &partitions.ranges[first];
        if self.by_value.len() < of.len() {
            self.by_value.resize_with(of.len(), Vec::new);
        }
        for table in &mut self.by_value[..of.len()] {
            zeros(table, self.of_all.len(), 0)?;
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
            for row in rows {
                let cells = partitions.of_row(row);
                let value = cells[first] as usize - of.start;
                if value != most {
                    add_row(&mut self.by_value[value], (n, cells), numbers.of(index, row), unit);
                }
            }
        }
        let mut rest = std::mem::take(&mut self.by_value[most]);
        rest.copy_from_slice(&self.of_all);
        for (value, table) in self.by_value[..of.len()].iter_mut().enumerate() {
            if value != most {
                mirror_all(table, n);
                add(&mut rest, table, -1);
            }
        }
        self.by_value[most] = rest;
        Ok(())
    }

    /// What the rows of every set of a column's values cost.
    #[inline(always)]
    fn cost_sets<A: Answers + InBatches>(
        &mut self,
        answers: &mut A,
        summed: Summed,
        of: &Range<usize>,
        unit: Unit,
    ) -> Result<(), Unfinished> {
        let Summed { look, partitions, table, numbers } = summed;
        zeros(&mut self.of_set, self.of_all.len(), 0)?;
        zeros(&mut self.small, self.of_all.len(), 0)?;
        zeros(&mut self.sums, numbers.width, 0)?;
        // Rows that the view leaves out cost nothing but their leaf.
        zeros(&mut self.costs, 1 << of.len(), look.ask.leaf_cost)?;
        let mut set = 0usize;
        for (cell, has) in changes(of.len()) {
            if (look.halt)() {
                return Err(Unfinished::Stopped);
            }
            set ^= 1 << cell;
            let sign = if has { 1 } else { -1 };
            add(&mut self.sums, table.cell(of.start + cell), sign);
            let change = self.of_set.iter_mut().zip(&mut self.small).zip(&self.by_value[cell]);
            for ((sum, small), more) in change {
                *sum += sign * more;
                *small = (*sum >> unit.bits) as i32;
            }
            let least = self.best.of_all_splits(answers, partitions, &self.small, unit.penalty);
            self.costs[set] = answers.cost(&self.sums, least, unit) + look.ask.leaf_cost;
        }
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        self.by_value.iter().map(vec_bytes).sum::<usize>()
            + vec_bytes(&self.by_value)
            + vec_bytes(&self.of_all)
            + vec_bytes(&self.of_set)
            + vec_bytes(&self.small)
            + vec_bytes(&self.sums)
            + vec_bytes(&self.costs)
            + vec_bytes(&self.best.low)
            + vec_bytes(&self.best.high)
            + vec_bytes(&self.best.all)
            + vec_bytes(&self.best.present)
    }

    /// Bytes that this takes for so many summed numbers, with what it gives back.
    pub fn bytes_for(sizes: &Sizes, numbers: usize, questions: usize) -> usize {
        let (n, most) = (sizes.n_cells(), sizes.most_cells());
        let tables = (most + 2) * size_of::<i64>() + size_of::<i32>();
        let by_cell = (n + 1) * (size_of::<Batch>() + 2 * size_of::<i32>());
        let of_columns = questions * (2 * size_of::<Cost>() + 2 * size_of::<usize>());
        let by_number = n.saturating_mul(n + 1).saturating_mul(tables) + by_cell;
        by_number.saturating_mul(numbers) + n * 8 + (size_of::<Cost>() << most) + of_columns
    }
}

/// Add a row's summed numbers to sums by pair of cells, and by cell.
#[inline(always)]
fn add_row(sums: &mut [i64], (n, cells): (usize, &[u32]), numbers: &[i64], unit: Unit) {
    for (sums, &number) in sums.chunks_exact_mut((n * (n + 1)).max(1)).zip(numbers) {
        let number = number / unit.divisor;
        add_pairs(sums, n + 1, cells, number);
        for &cell in cells {
            sums[cell as usize * (n + 1) + n] += number;
        }
    }
}

fn mirror_all(sums: &mut [i64], n: usize) {
    for sums in sums.chunks_exact_mut((n * (n + 1)).max(1)) {
        mirror(sums, n + 1, n);
    }
}

impl Best {
    /// What the best split of some rows costs as a tree of two levels, in units, with penalties for
    /// more than one leaf, if there is a split: `pairs` are sums by pair of cells.
    #[inline(always)]
    fn of_all_splits(
        &mut self,
        answers: &mut impl InBatches,
        partitions: &Partitions,
        pairs: &[i32],
        penalty: i32,
    ) -> Option<i32> {
        let ranges = &partitions.ranges;
        let mut best: Option<i32> = None;
        // A loop: what a closure does in `map` is not compiled for this CPU's vectors.
        for of in 0..ranges.len() {
            if let Some(least) = self.of_splits(answers, (ranges, of), pairs, penalty) {
                let least = least + penalty;
                best = Some(best.map_or(least, |best| best.min(least)));
            }
        }
        best
    }

    /// As above, with a split of this partition at the root, whose penalty is not yet in it.
    #[inline(always)]
    fn of_splits(
        &mut self,
        answers: &mut impl InBatches,
        (ranges, of): (&[Range<usize>], usize),
        pairs: &[i32],
        penalty: i32,
    ) -> Option<i32> {
        let n = ranges.last().map_or(0, |range| range.end);
        let size = n + 1;
        // Each number has `size` sums for each of n cells.
        let numbers = pairs.len() / (n * size);
        let row = |number: usize, cell: usize| &pairs[(number * n + cell) * size..][..size];
        let adds = |&cell: &usize| {
            (0..numbers).any(|number| row(number, cell).iter().any(|&sum| sum != 0))
        };
        // Cells that add nothing may be on either side.
        self.present.clear();
        self.present.extend(ranges[of].clone().filter(adds));
        self.all.clear();
        self.all.resize(numbers * size, 0);
        for (number, all) in self.all.chunks_exact_mut(size).enumerate() {
            for &cell in &self.present {
                for (all, sum) in all.iter_mut().zip(row(number, cell)) {
                    *all += sum;
                }
            }
        }
        // The last one is on the other side than the set.
        let (_, others) = self.present.split_last()?;
        let (low, high) = others.split_at(others.len().min(CELLS_OF_BATCH));
        self.low.clear();
        self.low.resize(numbers * size, [0; BATCH]);
        for (number, lows) in self.low.chunks_exact_mut(size).enumerate() {
            for (bit, &cell) in low.iter().enumerate() {
                for (low, sum) in lows.iter_mut().zip(row(number, cell)) {
                    for (lane, low) in low.iter_mut().enumerate() {
                        *low += if lane >> bit & 1 == 1 { *sum } else { 0 };
                    }
                }
            }
        }
        self.high.clear();
        self.high.resize(numbers * size, 0);
        let Best { low, high: sums, all, .. } = self;
        let mut best = answers.both(&Splits { low, high: sums, all, ranges, n, penalty });
        for (cell, has) in changes(high.len()) {
            let sign = if has { 1 } else { -1 };
            for (number, sums) in sums.chunks_exact_mut(size).enumerate() {
                for (high, sum) in sums.iter_mut().zip(row(number, high[cell])) {
                    *high += sign * sum;
                }
            }
            let more = answers.both(&Splits { low, high: sums, all, ranges, n, penalty });
            for (best, more) in best.iter_mut().zip(&more) {
                *best = (*best).min(*more);
            }
        }
        best.into_iter().min()
    }
}
