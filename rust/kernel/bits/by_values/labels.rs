//! Leaves that answer with one of many labels.
//!
//! A stump answers with two of them, or is no better than a leaf. With labels a and b, each value
//! goes to the one that costs less: so the best stump on a free column costs the least, over pairs
//! of labels, of Σ min(A_v, B_v), where v goes through its values, and A_v and B_v are what the
//! rows of a value cost under each label. Where leaves must have some rows, that is a lower bound,
//! and exact if both labels have as many.

use super::answers::{Answers, Rows, Summed};
use super::both_sides::{Batch, InBatches, OfTwoLevels, Splits, TwoLevels, Unit};
use super::parted::Parted;
use super::partitions::{BATCH, Steps};
use super::tables::Numbers;
use crate::cost::{Cost, INFINITE};
use crate::kernel::bits::bit_kernel::Look;
use crate::kernel::look::{BothSides, Side, Unfinished, vec_bytes};
use crate::task::ClassCosts;

/// Where the costs by label are from.
#[derive(Clone, Copy)]
pub enum CostsFrom<'a> {
    Classes(&'a ClassCosts),
    /// They stand beside the rows, and some label costs each row nothing.
    Rows,
}

pub struct Labels<'a> {
    from: CostsFrom<'a>,
    n_labels: usize,
    /// For one stump: what the second of two labels costs more than the first, by value.
    differences: Vec<Cost>,
}

impl<'a> Labels<'a> {
    pub fn new(from: CostsFrom<'a>, n_labels: usize) -> Self {
        Labels { from, n_labels, differences: Vec::new() }
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let n_labels = self.n_labels;
        (0..n_labels).flat_map(move |a| (a + 1..n_labels).map(move |b| (a, b)))
    }

    /// Where leaves must have some rows: the least cost, if it is less than `leaf`.
    fn stump_of_large(&mut self, rows: &Rows, leaf: Cost) -> Cost {
        let mut best = leaf;
        // What each label likes best, where its rows are enough; and then what is better only
        // perhaps.
        for only_perhaps in [false, true] {
            for range in rows.ranges {
                let counts = rows.number(self.n_labels, range);
                for (a, b) in self.pairs() {
                    let (a, b) = (rows.number(a, range), rows.number(b, range));
                    self.differences.clear();
                    self.differences.extend(a.iter().zip(b).map(|(a, b)| b - a));
                    let total: Cost = a.iter().zip(b).map(|(a, b)| a + b).sum();
                    let of = &self.differences;
                    let parted = Parted { of, counts, min_rows: rows.min_rows };
                    best = (total - parted.best(only_perhaps, total - 2 * best)) / 2;
                }
            }
        }
        if best < leaf { best } else { INFINITE }
    }
}

impl Answers for Labels<'_> {
    fn steps(&self) -> Steps {
        let pairs = self.n_labels * (self.n_labels - 1) / 2;
        Steps { tables: self.n_labels, of_cell: self.n_labels + pairs, of_cell_in_batch: 3 * pairs }
    }

    fn fill(&self, look: &Look, out: &mut Numbers) {
        let n_labels = self.n_labels;
        let by_segment = matches!(self.from, CostsFrom::Classes(_));
        out.start(n_labels + 3, n_labels, by_segment);
        match self.from {
            CostsFrom::Classes(classes) => {
                for segment in &look.bits.segments {
                    let class = segment.class as usize;
                    let cost = |label| segment.weight * classes.cost(class, label);
                    out.values.extend((0..n_labels).map(cost));
                    out.values.extend([segment.rows, segment.least, segment.worst]);
                }
            }
            CostsFrom::Rows => {
                // Behind the costs by label stand the worst of them, and rows if they matter.
                for numbers in look.view.costs.chunks_exact(look.bits.width.max(1)) {
                    let rows = numbers.get(n_labels + 1).copied().unwrap_or(0);
                    out.values.extend_from_slice(&numbers[..n_labels]);
                    out.values.extend([rows, 0, numbers[n_labels]]);
                }
            }
        }
    }

    fn side(&self, sums: &[i64]) -> Side {
        let (costs, rest) = sums.split_at(self.n_labels);
        let leaf = costs.iter().copied().min().unwrap_or(0);
        Side { leaf, least: rest[1], worst: rest[2], rows: rest[0] }
    }

    #[inline(always)]
    fn stump(&mut self, rows: &Rows) -> Cost {
        let leaf = rows.all[..self.n_labels].iter().copied().min().unwrap_or(0);
        if rows.min_rows > 1 {
            return self.stump_of_large(rows, leaf);
        }
        let mut best = leaf;
        // Loops: what a closure does in `map` is not compiled for this CPU's vectors.
        for range in rows.ranges {
            for a in 0..self.n_labels {
                for b in a + 1..self.n_labels {
                    let mut sum = 0;
                    for (a, b) in rows.number(a, range).iter().zip(rows.number(b, range)) {
                        sum += *a.min(b);
                    }
                    best = best.min(sum);
                }
            }
        }
        best
    }

    fn bytes(&self) -> usize {
        vec_bytes(&self.differences)
    }
}

impl OfTwoLevels for Labels<'_> {
    fn sees_two_levels(&self) -> bool {
        self.n_labels > 1
    }

    #[inline(always)]
    fn two_levels(
        &mut self,
        levels: &mut TwoLevels,
        summed: Summed,
    ) -> Result<Option<BothSides>, Unfinished> {
        levels.find(self, summed).map(Some)
    }
}

impl InBatches for Labels<'_> {
    const TIMES: Cost = 1;

    fn most(&self, numbers: &[i64]) -> Cost {
        numbers[..self.n_labels].iter().copied().max().unwrap_or(0)
    }

    /// Pair by pair of labels, so that sums stay in registers.
    #[inline(always)]
    fn both(&mut self, splits: &Splits) -> Batch {
        let Splits { low, high, all, n, .. } = *splits;
        let number = |label: usize| label * (n + 1)..(label + 1) * (n + 1);
        let mut stumps = [[i32::MAX; BATCH]; 2];
        for a in 0..self.n_labels {
            let (low_a, high_a, all_a) = (&low[number(a)], &high[number(a)], &all[number(a)]);
            for b in a + 1..self.n_labels {
                let (low_b, high_b, all_b) = (&low[number(b)], &high[number(b)], &all[number(b)]);
                for range in splits.ranges {
                    let mut sums = [[0i32; BATCH]; 2];
                    for cell in range.clone() {
                        let (low_a, high_a, all_a) = (&low_a[cell], high_a[cell], all_a[cell]);
                        let (low_b, high_b, all_b) = (&low_b[cell], high_b[cell], all_b[cell]);
                        for lane in 0..BATCH {
                            let one_a = high_a + low_a[lane];
                            let one_b = high_b + low_b[lane];
                            sums[0][lane] += one_a.min(one_b);
                            sums[1][lane] += (all_a - one_a).min(all_b - one_b);
                        }
                    }
                    for side in 0..2 {
                        for lane in 0..BATCH {
                            stumps[side][lane] = stumps[side][lane].min(sums[side][lane]);
                        }
                    }
                }
            }
        }
        let mut leaves = [[i32::MAX; BATCH]; 2];
        for label in 0..self.n_labels {
            let at = label * (n + 1) + n;
            for lane in 0..BATCH {
                let one = high[at] + low[at][lane];
                leaves[0][lane] = leaves[0][lane].min(one);
                leaves[1][lane] = leaves[1][lane].min(all[at] - one);
            }
        }
        let mut out = [0; BATCH];
        for lane in 0..BATCH {
            let one = leaves[0][lane].min(stumps[0][lane] + splits.penalty);
            let other = leaves[1][lane].min(stumps[1][lane] + splits.penalty);
            out[lane] = one + other;
        }
        out
    }

    /// Sums have lost some of what they are, and none has more.
    fn cost(&self, sums: &[i64], least: Option<i32>, unit: Unit) -> Cost {
        let leaf = sums[..self.n_labels].iter().copied().min().unwrap_or(0);
        least.map_or(leaf, |least| leaf.min(unit.whole(least.into())))
    }
}
