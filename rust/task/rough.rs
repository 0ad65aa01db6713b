//! Losses in single precision: where a search only wants to know which of many trees may be best,
//! their leaves are costed 16 at a time, and what the numbers round is taken off the sum once.
//!
//! Statement: let a tree of at most `LEAVES` leaves divide rows S, and r(A) be the rough loss of a
//! leaf A, all of them added up in any order. The tree costs at least `bound(sums of S, Σ r)`.
//!
//! Proof: a task's loss is f(A) = b(A) + p · r*(A), where b adds up over leaves, so that Σ f = b(S)
//! + p · Σ r*. By the lines below, |Σ r − Σ r*| ≤ M(S). A cost is at least f(A) in units, less
//!   twice what its floats are off by, less 1 (`formula.rs`).
//!
//! With u = 2^-24, to which one operation rounds, and x_c = the share of class c in all weight, off
//! by 3u of itself after two conversions and a product; terms in u² are covered by rounding up:
//!
//! - Gini: r* = x − Σ x_c² / x for k classes. Squares and quotient are off by (3k + 14)·u·x, sums of
//!   leaves by at most 4u of all. As Σ x = x(S): M ≤ (4k + 32)·u·x(S).
//! - Entropy: r* = x·ln x − Σ x_c·ln x_c. The logarithm is off by 8u·max(|ln|, 1), so that a term is
//!   off by less than (k + 20)·u·x·(1 + |ln x|), and sums by 4 + k times u of all. Of m terms that add
//!   up to X, Σ x·|ln x| ≤ X·ln(m / X), because that sum is largest for equal ones: M ≤
//!   (4k + 80)·u·X·(1 + ln(m / X)) with X = x(S) and m = 16k, for x and for all x_c together.
//! - Ratio: r* = y·ln(e / y), with shares y and e of all. y and e are off by 3u, the logarithm of the
//!   ratio by 7u + 8u·max(|ln|, 1), sums of leaves by 4u: M ≤ 32u·y(S)·(2 + L), if no |ln| is larger
//!   than L. As r* grows with e, an e that is too small only lowers r.
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

/// By how many units a sum may be too large of which bits are left out: a cell of four columns is 8
/// sums of rounded numbers less 8 others.
const TOO_LARGE: i32 = 8;

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
    pub(super) fn of_classes(entropy: bool, factors: &[f64], all: &[i64], unit: f64) -> Option<Rough> {
        let k = factors.len();
        let weight: f64 = all.iter().zip(factors).map(|(&n, factor)| n as f64 * factor).sum();
        let fits = all.iter().try_fold(0i64, |sum, &n| sum.checked_add(n)).is_some_and(|n| n < MOST);
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
            let few = (e[l] - TOO_LARGE) as f32;
            let e = if few > self.least { few } else { self.least } * self.factors[1];
            let share = y[l] as f32 * self.factors[0];
            losses[l] = share * ln_f32(if share > 0.0 { e / share } else { 1.0 });
        }
        losses
    }
}
