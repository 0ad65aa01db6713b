//! The numbers of a part in single precision, and what that can matter.
//!
//! Statement: let A and B be disjoint sets of rows of a part. As leaves, they cost at least unit ·
//! (c(A) + c(B)) − margin, where c is q' − Σ over outputs of f·s'²/w' with sums of rounded
//! numbers, and w' at least 1, in single precision.
//!
//! Proof: A leaf costs q less what it gains, Σ over outputs of ⌈F·s²/w⌉, which is at most 1 more
//! for each than without rounding up. So much for integers. Each row's numbers are rounded down to
//! a multiple of e, which is 2^k where k bits are left out; n are the rows of the part.
//!
//! - q: that only lowers c.
//! - Sums: |s − e·s'| < e·n_A in a leaf of n_A rows. With R as the largest |s|/w of a row, |s| ≤
//!   R·w, so that s²/w is off by less than e·n_A·(2R + e·n_A/w), and w is n_A times the least
//!   weight at least.
//! - Weights: rounding them down only raises what is gained. Where w' is 0, w is less than e·n_A,
//!   and s²/w ≤ R²·w is less than R²·e·n_A.
//! - Floats: with u = 2^-24, sums become floats to u, a square and its factor take 5u, m outputs
//!   are added up to m·u, and the quotient, the difference and the sum of both leaves take 6u: c is
//!   too large by less than (16 + m)·u of what is gained, and of q, and the one is no more than the
//!   other.

use super::kernel::SquaresKernel;
use crate::cost::Cost;

/// Sums of magnitudes stay below this, with room for a unit of each row.
const MOST: u64 = 1 << 29;

/// Parts of more rows are looked at by block, where most rows need not be looked at one by one.
const MOST_ROWS: usize = 2000;

pub struct Units {
    /// By statistic (weight, sum by output, q): bits that are left out.
    bits: Vec<u32>,
    /// By output: its factor in what is gained.
    pub factors: Vec<f32>,
    /// What 1 is in units of cost.
    unit: f64,
    margin: f64,
}

impl Units {
    /// The units for a part with these statistics by row; none if rounding would matter too much.
    pub fn of(kernel: &SquaresKernel, stats: &[Vec<i64>]) -> Option<Units> {
        let (m, n) = (kernel.outputs(), stats[0].len());
        let least = *stats[0].iter().min()?;
        if least < 1 || n > MOST_ROWS {
            return None;
        }
        let total = |list: &Vec<i64>| list.iter().map(|x| x.unsigned_abs()).sum::<u64>();
        let bits = |total: u64| (total / MOST).checked_ilog2().map_or(0, |bits| bits + 1);
        let bits: Vec<u32> = stats[..m + 2].iter().map(|list| bits(total(list))).collect();
        let size = |s: usize| f64::from(bits[s]).exp2();
        let lost = |s: usize| if bits[s] > 0 { n as f64 * size(s) } else { 0.0 };
        let unit = size(m + 1);
        let (mut factors, mut margin) = (Vec::with_capacity(m), 0.0);
        for o in 0..m {
            let ratio = |(&s, &w): (&i64, &i64)| s.unsigned_abs() as f64 / w as f64;
            let most = stats[o + 1].iter().zip(&stats[0]).map(ratio).fold(0.0, f64::max);
            let of_sums = lost(o + 1) * (2.0 * most + size(o + 1) / least as f64);
            let factor = kernel.task.factor(o);
            margin += factor * (of_sums + most * most * lost(0));
            factors.push((factor * size(o + 1) * size(o + 1) / size(0) / unit) as f32);
        }
        let q: Cost = stats[m + 1].iter().sum();
        let floats = f64::from(f32::EPSILON) * (16 + m) as f64 * q as f64;
        // A little more for what these lines round.
        let margin = kernel.margin(q) + 1.01 * (margin + floats);
        (margin <= q as f64 * 1e-3).then_some(Units { bits, factors, unit, margin })
    }

    /// Statistics of a row.
    pub fn width(&self) -> usize {
        self.bits.len()
    }

    pub fn rounded(&self, s: usize, x: i64) -> i32 {
        (x >> self.bits[s]) as i32
    }

    /// What leaves cost at least whose rough costs add up to this.
    pub fn at_least(&self, rough: f32) -> f64 {
        self.unit * f64::from(rough) - self.margin
    }

    /// About what leaves cost together in these units.
    pub fn roughly(&self, cost: Cost) -> f32 {
        (cost as f64 / self.unit) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::Units;
    use crate::cost::Cost;
    use crate::kernel::ranks::squares::SquaresKernel;
    use crate::kernel::ranks::squares::together::{AT_ONCE, leaf};
    use crate::task::testing::Random;
    use crate::task::{SquaresInput, Structure};

    /// The sums of a row's rounded numbers over some rows, as one leaf.
    fn rough(units: &Units, sums: &[i32]) -> f64 {
        let cost = match *sums {
            [w, s, q] => leaf(units, &[w, s, q].map(|sum| [sum; AT_ONCE])),
            [w, s, t, q] => leaf(units, &[w, s, t, q].map(|sum| [sum; AT_ONCE])),
            _ => panic!("one output or two"),
        };
        f64::from(cost[0])
    }

    #[test]
    fn no_two_leaves_cost_less() {
        let mut random = Random(0x5eed);
        let mut below = |n: u64| (random.next() << 31 | random.next()) % n;
        let mut known = 0;
        for case in 0..4000 {
            let n = 1 + below(40) as usize;
            let most_weight = 1 << below(45);
            let size = 2f64.powi(below(60) as i32 - 30);
            let few = 1 + below(1000);
            let n_outputs = 1 + case % 2;
            let targets = (0..n * n_outputs).map(|_| below(few) as f64 * size).collect();
            let weights = (0..n).map(|_| 1 + below(most_weight) as i64).collect();
            let input = SquaresInput {
                n_outputs,
                targets,
                weights: Some(weights),
                given: None,
                points: (0..n as u32).collect(),
                n_points: n,
                leaf_penalty: 0.0,
            };
            let Ok(scaled) = input.build() else { continue };
            let Structure::Squares(squares) = scaled.task.structure() else { panic!("squares") };
            let kernel = SquaresKernel::new(squares, 0, None, (0, true));
            let stat = |s: usize| (0..n).map(|row| squares.stats(row)[s]).collect();
            let numbers: Vec<Vec<i64>> = (0..n_outputs + 2).map(stat).collect();
            let Some(units) = Units::of(&kernel, &numbers) else { continue };
            known += 1;
            for _ in 0..20 {
                // Each row is in one leaf, in the other, or in none.
                let of: Vec<u64> = (0..n).map(|_| below(3)).collect();
                let (mut exact, mut roughly): (Cost, f64) = (0, 0.0);
                for side in 0..2 {
                    let rows = || (0..n).filter(|&row| of[row] == side);
                    let sums: Vec<i64> =
                        numbers.iter().map(|x| rows().map(|row| x[row]).sum()).collect();
                    exact += squares.leaf(&sums).cost;
                    let rounded = |(s, x): (usize, &Vec<i64>)| {
                        rows().map(|row| units.rounded(s, x[row])).sum::<i32>()
                    };
                    let sums: Vec<i32> = numbers.iter().enumerate().map(rounded).collect();
                    roughly += rough(&units, &sums);
                }
                let (exact, bound) = (exact as f64, units.at_least(roughly as f32));
                assert!(bound <= exact, "case {case}: {bound} is more than {exact}");
                let slack = 2.1 * (units.margin + units.unit);
                assert!(most_weight > 1 || exact <= bound + slack, "case {case}: far too small");
            }
        }
        assert!(known > 2000, "{known} cases had units");
    }
}
