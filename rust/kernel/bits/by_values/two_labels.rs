//! Leaves that answer with one of two labels.
//!
//! Let d be what a row costs more under the second label than under the first, and t what both cost
//! together: rows whose sums are D and T cost (T − |D|) / 2 as a leaf. So they cost (T − Σ |D_v|) /
//! 2 as the best stump on a free column, where v goes through its values: each value goes to the
//! label that suits it. Where leaves must have some rows, that is a lower bound, and exact if both
//! labels have as many.

use super::answers::{Answers, Rows, Summed};
use super::both_sides::{Batch, InBatches, OfTwoLevels, Splits, TwoLevels, Unit};
use super::parted::Parted;
use super::partitions::{BATCH, Steps};
use super::tables::Numbers;
use crate::cost::{Cost, INFINITE};
use crate::kernel::bits::bit_kernel::Look;
use crate::kernel::look::{BothSides, Side, Unfinished};
use crate::task::ClassCosts;

/// The places of a row's numbers.
const DIFFERENCE: usize = 0;
const ROWS: usize = 1;
const LEAST: usize = 2;
const WORST: usize = 3;
const TOTAL: usize = 4;

pub struct TwoLabels<'a> {
    pub classes: &'a ClassCosts,
}

impl Answers for TwoLabels<'_> {
    fn steps(&self) -> Steps {
        Steps { tables: 1, of_cell: 1, of_cell_in_batch: 3 }
    }

    fn fill(&self, look: &Look, out: &mut Numbers) {
        out.start(TOTAL + 1, 1, true);
        for segment in &look.bits.segments {
            let cost = |label| segment.weight * self.classes.cost(segment.class as usize, label);
            let (first, second) = (cost(0), cost(1));
            let (least, worst) = (segment.least, segment.worst);
            out.values.extend([second - first, segment.rows, least, worst, second + first]);
        }
    }

    fn side(&self, sums: &[i64]) -> Side {
        Side {
            leaf: (sums[TOTAL] - sums[DIFFERENCE].abs()) / 2,
            least: sums[LEAST],
            worst: sums[WORST],
            rows: sums[ROWS],
        }
    }

    #[inline(always)]
    fn stump(&mut self, rows: &Rows) -> Cost {
        let gain = match rows.min_rows {
            ..=1 => best(rows),
            _ => match best_of_large(rows) {
                Some(gain) => gain,
                None => return INFINITE,
            },
        };
        (rows.all[TOTAL] - gain) / 2
    }

    fn bytes(&self) -> usize {
        0
    }
}

impl OfTwoLevels for TwoLabels<'_> {
    fn sees_two_levels(&self) -> bool {
        true
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

/// The most that Σ |D_v| is for any column.
#[inline(always)]
fn best(rows: &Rows) -> Cost {
    let mut best = 0;
    // Loops: what a closure does in `map` is not compiled for this CPU's vectors.
    for range in rows.ranges {
        let mut sum = 0;
        for difference in rows.number(DIFFERENCE, range) {
            sum += difference.abs();
        }
        best = best.max(sum);
    }
    best
}

/// As above, where both leaves need some rows; nothing unless that is more than a leaf gains.
fn best_of_large(rows: &Rows) -> Option<Cost> {
    let leaf = rows.all[DIFFERENCE].abs();
    let mut best = leaf;
    // What each label likes best, where its rows are enough; and then what is better only perhaps.
    for only_perhaps in [false, true] {
        for range in rows.ranges {
            let of = rows.number(DIFFERENCE, range);
            let parted = Parted { of, counts: rows.number(ROWS, range), min_rows: rows.min_rows };
            best = parted.best(only_perhaps, best);
        }
    }
    (best > leaf).then_some(best)
}

/// Costs are counted twice, without T, which no split changes: what is least is −Σ |D_v|.
impl InBatches for TwoLabels<'_> {
    const TIMES: Cost = 2;

    fn most(&self, numbers: &[i64]) -> Cost {
        numbers[DIFFERENCE].abs()
    }

    #[inline(always)]
    fn both(&mut self, splits: &Splits) -> Batch {
        let Splits { low, high, all, n, .. } = *splits;
        let mut stumps = [[0i32; BATCH]; 2];
        for range in splits.ranges {
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
            let one = leaf.abs().max(stumps[0][lane] - splits.penalty);
            let other = (all[n] - leaf).abs().max(stumps[1][lane] - splits.penalty);
            out[lane] = -(one + other);
        }
        out
    }

    /// A sum by pair of cells has lost less than one, and a tree of two levels adds up each pair of
    /// cells of two columns once at most: so much more it may gain.
    fn cost(&self, sums: &[i64], least: Option<i32>, unit: Unit) -> Cost {
        let gain = |least: i32| unit.whole(unit.lost - Cost::from(least));
        let leaf = sums[DIFFERENCE].abs();
        let gain = least.map_or(leaf, |least| leaf.max(gain(least)));
        (sums[TOTAL] - gain).max(0).div_euclid(2)
    }
}
