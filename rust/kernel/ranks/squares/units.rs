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
    use crate::kernel::ranks::squares::SquaresKernel;
    use crate::kernel::ranks::squares::together::{AT_ONCE, leaf};
    use crate::task::{SquaresInput, Structure};

    /// Numbers that look random, from the one before.
    fn next(seed: &mut u64) -> u64 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed
    }

    #[test]
    fn no_two_leaves_cost_less() {
        let seed = &mut 0x9E37_79B9_7F4A_7C15;
        let mut known = 0;
        for case in 0..4000 {
            let n = 1 + next(seed) as usize % 40;
            let most_weight = 1 << (next(seed) % 45);
            let size = 2f64.powi((next(seed) % 60) as i32 - 30);
            let few = 1 + next(seed) % 1000;
            let n_outputs = 1 + case % 2;
            let mut number = || (next(seed) % few) as f64 * size;
            let targets = (0..n * n_outputs).map(|_| number()).collect();
            let weights = (0..n).map(|_| 1 + (next(seed) % most_weight) as i64).collect();
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
            let width = n_outputs + 2;
            let numbers: Vec<Vec<i64>> =
                (0..width).map(|s| (0..n).map(|row| squares.stats(row)[s]).collect()).collect();
            let Some(units) = Units::of(&kernel, &numbers) else { continue };
            known += 1;
            for _ in 0..20 {
                // Each row is in one leaf, in the other, or in none.
                let of: Vec<u64> = (0..n).map(|_| next(seed) % 3).collect();
                let [exact, rough]: [f64; 2] = [0, 1].map(|what| {
                    (0..2)
                        .map(|side| {
                            let rows = || (0..n).filter(|&row| of[row] == side);
                            if what == 0 {
                                let sums: Vec<i64> = numbers
                                    .iter()
                                    .map(|x| rows().map(|row| x[row]).sum())
                                    .collect();
                                return if sums[0] == 0 {
                                    0.0
                                } else {
                                    squares.leaf(&sums).cost as f64
                                };
                            }
                            let sum =
                                |s: usize| rows().map(|r| units.rounded(s, numbers[s][r])).sum();
                            let cost = match n_outputs {
                                1 => leaf::<3>(&units, &[0, 1, 2].map(|s| [sum(s); AT_ONCE])),
                                _ => leaf::<4>(&units, &[0, 1, 2, 3].map(|s| [sum(s); AT_ONCE])),
                            };
                            f64::from(cost[0])
                        })
                        .sum()
                });
                let bound = units.at_least(rough as f32);
                assert!(bound <= exact, "case {case}: {bound} is more than {exact}");
                let slack = 2.1 * (units.margin + units.unit);
                assert!(most_weight > 1 || exact <= bound + slack, "case {case}: far too small");
            }
        }
        assert!(known > 2000, "{known} cases had units");
    }
}
