//! Losses in single precision: where a search only wants to know which of many trees may be best,
//! their leaves are costed 16 at a time, and what the numbers round is taken off the sum once.
//!
//! Statement: let a tree of at most `LEAVES` leaves divide rows S, and r(A) be the rough loss of a
//! leaf A, all of them added up pair by pair. The tree costs at least `bound(sums of S, Σ r)`.
//!
//! Proof: a task's loss is f(A) = b(A) + p · r*(A) where b adds up over leaves, so that Σ f is b(S)
//! plus p · Σ r*. By the lines below, |Σ r − Σ r*| ≤ M(S). A cost is at least f(A) in units, less
//! twice what its floats are off by, less 1 (`formula.rs`).
//!
//! One operation rounds by u = 2^-24 of its result; terms in u² are covered by rounding up. The
//! share x_c of class c in all weight is off by 3u of itself, after two conversions and a product.
//! Sums of up to 16 leaves are off by 4u of what is added.
//!
//! - Gini of k classes: r* = x − Σ x_c² / x. Squares and quotient are off by (3k + 14)·u·x. As Σ x
//!   = x(S): M ≤ (4k + 32)·u·x(S).
//! - Entropy: r* = x·ln x − Σ x_c·ln x_c. The logarithm is off by 8u·max(|ln|, 1), so that a term
//!   is off by less than (k + 20)·u·x·(1 + |ln x|), and sums within a leaf by k·u. Of m terms that
//!   add up to X, Σ x·|ln x| ≤ X·ln(m / X), because equal ones have the most. With X = x(S) and m =
//!   16k, for x and for all x_c together: M ≤ (4k + 80)·u·X·(1 + ln(m / X)).
//! - Ratio: r* = y·ln(e / y), with shares y and e of all, both off by 3u. The ratio's logarithm is
//!   off by 7u + 8u·max(|ln|, 1). If no |ln| is larger than L: M ≤ 32u·y(S)·(2 + L). As r* grows
//!   with e, an e that is too small only lowers r.
//!
//! Invalid where sums do not fit 31 bits, but for e: of that the lowest bits are left out.

use super::logarithm::ln_f32;
use crate::cost::Cost;

/// Leaves that are costed together.
pub const AT_ONCE: usize = 16;

/// A tree has no more leaves than these.
pub const LEAVES: usize = 16;

/// Tasks of more statistics are costed exactly.
pub const MOST_STATISTICS: usize = 4;

/// Sums stay below this.
const MOST: i64 = 1 << 30;

/// By how many units a sum may be too large of which bits are left out: a cell of five columns is
/// 16 sums of rounded numbers less 16 others.
const TOO_LARGE: i32 = 16;

/// One statistic of some leaves.
pub type Sums = [i32; AT_ONCE];

/// 2^-24.
const U: f64 = f32::EPSILON as f64 / 2.0;

/// What leaves lose, by their sums.
pub trait RoughLeaves<const W: usize>: Copy {
    fn losses(&self, sums: &[Sums; W]) -> [f32; AT_ONCE];
}

#[derive(Debug, Clone, Copy)]
pub struct Gini<const W: usize>([f32; W]);

#[derive(Debug, Clone, Copy)]
pub struct Entropy<const W: usize>([f32; W]);

/// y·ln(e / y).
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    factors: [f32; 2],
    /// No leaf has less of e, unless it is empty.
    least: f32,
}

/// The formula, for so many statistics; of three classes, a fourth has no weight.
#[derive(Debug, Clone, Copy)]
pub enum RoughFormula {
    GiniOfTwo(Gini<2>),
    GiniOfFour(Gini<4>),
    EntropyOfTwo(Entropy<2>),
    EntropyOfFour(Entropy<4>),
    Ratio(Ratio),
}

/// The rough losses of a task.
#[derive(Debug, Clone, Copy)]
pub struct Rough {
    pub(crate) formula: RoughFormula,
    /// Of how many statistics, the first ones, leaves are costed.
    pub(crate) width: usize,
    /// By statistic: how many of its bits are left out.
    pub(crate) shifts: [u32; MOST_STATISTICS],
    /// By statistic: what it adds to x(S) or y(S).
    shares: [f64; MOST_STATISTICS],
    /// By statistic: what it adds to b(S).
    bases: [f64; MOST_STATISTICS],
    /// L.
    largest: f64,
    /// p.
    per: f64,
    /// Units of cost in a loss of 1, and what a leaf's cost may be below its loss.
    units: f64,
    below: f64,
}

impl Rough {
    /// Classes of a factor each, of which all rows have `all`; `unit` is the loss of a weight of 1.
    pub(super) fn of_classes(
        entropy: bool,
        factors: &[f64],
        all: &[i64],
        unit: f64,
    ) -> Option<Rough> {
        let k = factors.len();
        let weight: f64 = all.iter().zip(factors).map(|(&n, factor)| n as f64 * factor).sum();
        let fits =
            all.iter().try_fold(0i64, |sum, &n| sum.checked_add(n)).is_some_and(|n| n < MOST);
        let mut shares = [0.0; MOST_STATISTICS];
        if !(2..=MOST_STATISTICS).contains(&k) || !fits {
            return None;
        }
        for (share, factor) in shares.iter_mut().zip(factors) {
            *share = factor / weight;
        }
        // Squares of the least share are normal numbers.
        if !shares[..k].iter().all(|&share| share == 0.0 || (1e-18..=1.0).contains(&share)) {
            return None;
        }
        let four = shares.map(|share| share as f32);
        let two = [four[0], four[1]];
        let formula = match (entropy, k) {
            (false, 2) => RoughFormula::GiniOfTwo(Gini(two)),
            (false, _) => RoughFormula::GiniOfFour(Gini(four)),
            (true, 2) => RoughFormula::EntropyOfTwo(Entropy(two)),
            (true, _) => RoughFormula::EntropyOfFour(Entropy(four)),
        };
        Some(Rough {
            formula,
            width: k,
            shifts: [0; MOST_STATISTICS],
            shares,
            bases: [0.0; MOST_STATISTICS],
            largest: 0.0,
            per: weight * unit,
            units: 1.0,
            below: 0.0,
        })
    }

    /// A loss of 2·y·ln(e / y), with y and e the first two of three statistics in their `units`,
    /// of points, and `third` times the last one. The first one counts something: it has few
    /// digits.
    pub(super) fn of_ratio(points: &[i64], units: [f64; 2], third: f64) -> Option<Rough> {
        let of = |s: usize| points.iter().skip(s).step_by(3).copied();
        let [y, e] = [0, 1].map(|s| of(s).try_fold(0i64, i64::checked_add));
        let (y, e) = (y.filter(|&y| y > 0)?, e.filter(|&e| e > 0)?);
        let bits_above = |sum: i64| (sum / MOST + 1).ilog2() + 1;
        let shift_of_y = if y < MOST { 0 } else { bits_above(y) };
        let exact = |y: i64| y >= 0 && y & ((1 << shift_of_y) - 1) == 0;
        if !of(0).all(exact) {
            return None;
        }
        let shift_of_e = if e < MOST { 0 } else { bits_above(e) };
        let least = of(1).filter(|&e| e > 0).min()? as f64 / (1u64 << shift_of_e) as f64;
        let factors = [shift_of_y, shift_of_e].map(|shift| (1u64 << shift) as f64);
        // A ratio of y and e in their own units, of which that of all is `rate`.
        let rate = y as f64 * units[0] / (e as f64 * units[1]);
        let [share_of_y, share_of_e] = [1.0 / y as f64, 1.0 / e as f64];
        // No cell with some y has less of it than a point, nor a larger share than 1.
        let least_y = of(0).filter(|&y| y > 0).min()? as f64 * share_of_y;
        let least_e = least * factors[1] * share_of_e;
        if !(1e-30..=1.0).contains(&least_e) || !(1e-30..=1e30).contains(&rate) {
            return None;
        }
        let formula = RoughFormula::Ratio(Ratio {
            factors: [(share_of_y * factors[0]) as f32, (share_of_e * factors[1]) as f32],
            least: (least as f32).next_down(),
        });
        // y·u·ln(e·v / (y·u)) of real sums is T·(y'·ln(e' / y') − y'·ln(rate)) with T = y·u of all.
        let t = y as f64 * units[0];
        let largest = 1.0 - least_y.ln().min(least_e.ln());
        Some(Rough {
            formula,
            width: 2,
            shifts: [shift_of_y, shift_of_e, 0, 0],
            shares: [share_of_y, 0.0, 0.0, 0.0],
            bases: [-2.0 * t * rate.ln() * share_of_y, 0.0, third, 0.0],
            largest,
            per: 2.0 * t,
            units: 1.0,
            below: 0.0,
        })
    }

    /// The cost of a loss, in units: a leaf's cost is at least its loss in units, less `below`.
    pub(super) fn in_units(self, units: f64, below: f64) -> Rough {
        Rough { units, below, ..self }
    }

    /// What a leaf penalty is, as a rough loss, and not more.
    pub(crate) fn penalty(&self, leaf_cost: Cost) -> f32 {
        let exact = leaf_cost as f64 / (self.per * self.units);
        if exact > 0.0 { (exact as f32).next_down().max(0.0) } else { 0.0 }
    }

    /// What a tree for rows with these sums costs at least, penalties and all, if its rough losses
    /// and penalties add up to `value`.
    pub(crate) fn bound(&self, sums: &[i64], value: f32, leaf_cost: Cost) -> Cost {
        if value == f32::INFINITY {
            return crate::cost::INFINITE;
        }
        let sum = |by: &[f64; MOST_STATISTICS]| {
            let terms = sums.iter().zip(by).map(|(&sum, by)| sum as f64 * by);
            terms.fold((0.0, 0.0), |(all, sizes), term| (all + term, sizes + term.abs()))
        };
        let (base, size) = sum(&self.bases);
        let (share, _) = sum(&self.shares);
        let k = self.width as f64;
        let off = match self.formula {
            RoughFormula::GiniOfTwo(_) | RoughFormula::GiniOfFour(_) => (4.0 * k + 32.0) * share,
            RoughFormula::EntropyOfTwo(_) | RoughFormula::EntropyOfFour(_) => {
                let many = if share > 0.0 { (LEAVES as f64 * k / share).ln() } else { 0.0 };
                (4.0 * k + 80.0) * share * (1.0 + many)
            }
            RoughFormula::Ratio(_) => 32.0 * share * (2.0 + self.largest),
        };
        // Adding penalties rounds them, too.
        let off = (off + 8.0 * LEAVES as f64 * f64::from(self.penalty(leaf_cost))) * U;
        let loss = self.units * (base + self.per * (f64::from(value) - off));
        // Of floats with 53 bits.
        let sizes = self.units * (size + self.per * f64::from(value.abs()));
        let cost = loss - sizes * (-48f64).exp2() - LEAVES as f64 * self.below;
        cost.max(0.0) as Cost
    }
}

impl<const W: usize> RoughLeaves<W> for Gini<W> {
    #[inline(always)]
    fn losses(&self, sums: &[Sums; W]) -> [f32; AT_ONCE] {
        let mut losses = [0.0; AT_ONCE];
        for l in 0..AT_ONCE {
            let (mut all, mut squares) = (0.0, 0.0);
            for s in 0..W {
                let x = sums[s][l] as f32 * self.0[s];
                all += x;
                squares += x * x;
            }
            losses[l] = all - squares / if all > 0.0 { all } else { 1.0 };
        }
        losses
    }
}

impl<const W: usize> RoughLeaves<W> for Entropy<W> {
    #[inline(always)]
    fn losses(&self, sums: &[Sums; W]) -> [f32; AT_ONCE] {
        let mut losses = [0.0; AT_ONCE];
        for l in 0..AT_ONCE {
            let (mut all, mut part) = (0.0, 0.0);
            for s in 0..W {
                let x = sums[s][l] as f32 * self.0[s];
                all += x;
                part += x_ln_x(x);
            }
            losses[l] = x_ln_x(all) - part;
        }
        losses
    }
}

#[inline(always)]
fn x_ln_x(x: f32) -> f32 {
    x * ln_f32(if x > 0.0 { x } else { 1.0 })
}

impl RoughLeaves<2> for Ratio {
    #[inline(always)]
    fn losses(&self, [y, e]: &[Sums; 2]) -> [f32; AT_ONCE] {
        let mut losses = [0.0; AT_ONCE];
        for l in 0..AT_ONCE {
            // Whoever has fewer leaves than lanes leaves any numbers in the others.
            let few = e[l].wrapping_sub(TOO_LARGE) as f32;
            let e = if few > self.least { few } else { self.least } * self.factors[1];
            let share = y[l] as f32 * self.factors[0];
            losses[l] = share * ln_f32(if share > 0.0 { e / share } else { 1.0 });
        }
        losses
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::task::{AdditiveInput, Task, additive};

    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (self.0 >> 33) % n
        }

        fn pick<T: Copy>(&mut self, from: &[T]) -> T {
            from[self.below(from.len() as u64) as usize]
        }
    }

    fn classes(numbers: &mut Numbers, n: usize) -> BTreeMap<String, Vec<f64>> {
        let k = 2 + numbers.below(3) as usize;
        let most = numbers.pick(&[2, 5, 300, 20_000]);
        let mut weights: Vec<f64> = (0..n * k).map(|_| numbers.below(most) as f64).collect();
        weights[0] += 1.0;
        let factors = (0..k).map(|_| numbers.pick(&[1.0, 1.0, 0.3, 7.5])).collect();
        let balanced = vec![numbers.below(2) as f64];
        let columns = [("weights", weights), ("class_weights", factors), ("balanced", balanced)];
        columns.map(|(name, column)| (name.to_string(), column)).into()
    }

    fn rates(numbers: &mut Numbers, n: usize, gamma: bool) -> BTreeMap<String, Vec<f64>> {
        let least = u64::from(gamma);
        let most = numbers.pick(&[1, 2, 50]);
        let mut targets: Vec<f64> =
            (0..n).map(|_| (least + numbers.below(most + 1)) as f64).collect();
        targets[0] += 1.0;
        let spread = numbers.pick(&[1.0, 1e-3, 1e-6]);
        let exposure = |numbers: &mut Numbers| {
            (1 + numbers.below(1000)) as f64 / if numbers.below(3) > 0 { 1e3 } else { 1e3 / spread }
        };
        let exposures = (0..n).map(|_| exposure(numbers)).collect();
        [("targets".to_string(), targets), ("exposures".to_string(), exposures)].into()
    }

    fn losses(rough: &Rough, leaf: [i32; MOST_STATISTICS]) -> f32 {
        let [a, b, c, d] = leaf.map(|sum| [sum; AT_ONCE]);
        let all = match rough.formula {
            RoughFormula::GiniOfTwo(gini) => gini.losses(&[a, b]),
            RoughFormula::GiniOfFour(gini) => gini.losses(&[a, b, c, d]),
            RoughFormula::EntropyOfTwo(entropy) => entropy.losses(&[a, b]),
            RoughFormula::EntropyOfFour(entropy) => entropy.losses(&[a, b, c, d]),
            RoughFormula::Ratio(ratio) => ratio.losses(&[a, b]),
        };
        assert_eq!(all, [all[0]; AT_ONCE]);
        all[0]
    }

    /// Points at random, in leaves at random: bounds are below their costs, and close to them.
    #[test]
    fn bounds_are_below_and_close() {
        let numbers = &mut Numbers(3);
        let mut known = 0;
        for case in 0..5_000 {
            let name = ["gini", "entropy", "poisson", "gamma"][case % 4];
            let n = 1 + numbers.below(200) as usize;
            let columns = match name {
                "gini" | "entropy" => classes(numbers, n),
                _ => rates(numbers, n, name == "gamma"),
            };
            let (points, n_points) = ((0..n as u32).collect(), n);
            let task = additive(name).unwrap();
            let leaf_penalty = numbers.pick(&[0.0, 0.001, 0.1]);
            let row_weights = Vec::new();
            let input =
                AdditiveInput { task, columns, points, n_points, leaf_penalty, row_weights };
            let scaled = input.build().unwrap();
            let task: &dyn Task = scaled.task.as_ref();
            let Some(rough) = task.rough() else { continue };
            known += 1;
            let (leaves, some) = (1 + numbers.below(16), 1 + numbers.below(n as u64));
            let mut sums = vec![vec![0i64; task.width()]; leaves as usize];
            for point in 0..some as usize {
                let leaf = &mut sums[numbers.below(leaves) as usize];
                leaf.iter_mut().zip(task.stats(point)).for_each(|(sum, s)| *sum += s);
            }
            sums.retain(|leaf| leaf.iter().any(|&sum| sum != 0));
            let all: Vec<i64> =
                (0..task.width()).map(|s| sums.iter().map(|leaf| leaf[s]).sum()).collect();
            // Numbers round in proportion to p, whatever all rows lose.
            let (mut cost, mut value, mut coarse) = (0, 0.0, rough.units * rough.per / 4096.0);
            for leaf in &sums {
                let mut own = [0; MOST_STATISTICS];
                for s in 0..rough.width {
                    // What the lowest bits of other sums may have made of it.
                    let more =
                        if rough.shifts[s] > 0 && s == 1 { numbers.below(16) as i32 } else { 0 };
                    own[s] = (leaf[s] >> rough.shifts[s]) as i32 + more;
                }
                // An e of few units may be off by many parts of itself.
                if rough.width == 2 && rough.shifts[1] > 0 {
                    let few = own[1] <= 40;
                    let off = if few { 2.0 * rough.largest } else { 40.0 / f64::from(own[1]) };
                    coarse += rough.units * rough.per * leaf[0] as f64 * rough.shares[0] * off;
                }
                cost += task.leaf(leaf).cost + scaled.leaf_cost;
                value += losses(rough, own) + rough.penalty(scaled.leaf_cost);
            }
            let bound = rough.bound(&all, value, scaled.leaf_cost);
            assert!(bound <= cost, "{name}: {bound} is above {cost}");
            let whole = task.leaf(&task.sum_of(&(0..n as u32).collect::<Vec<_>>())).cost;
            let close = (scaled.leaf_cost >> 11) + coarse as Cost;
            assert!(cost - bound <= close, "{name}: {bound} is far below {cost} of {whole}");
        }
        assert!(known > 3_000, "{known}");
    }
}
