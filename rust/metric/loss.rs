//! The metrics as losses of two sums: x, the weight of positives that are missed, and y, of false
//! alarms. P and N are the weights of all positives and negatives.
//!
//! - F_β: 1 − F = (β²x + y) / ((1 + β²)P − x + y), and Jaccard: 1 − J = (x + y) / (P + y). Both are
//!   a *ratio* of linear functions, so that its level sets are lines.
//! - Matthews: 1 − (PN − Py − Nx) / √(PN(P + t)(N − t)) with t = y − x; the correlation of a tree
//!   that answers all rows alike is 0. Where it is at least m ≥ 0, a linear function is at least a
//!   concave one, so where it is below m is convex: no point of a polygon is better than its best
//!   corner.
//!
//! All three get worse as x or y grows.

pub use crate::bounds::ratio_line::Ratio;
use crate::cost::{decimal, gcd};
use crate::error::{Error, Result};
use crate::exact;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// β > 0.
    FBeta(f64),
    Jaccard,
    Matthews,
}

/// Missed positives and false alarms, in whole units of weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errors {
    pub missed: i64,
    pub alarms: i64,
}

impl From<Errors> for [i64; 2] {
    fn from(errors: Errors) -> [i64; 2] {
        [errors.missed, errors.alarms]
    }
}

/// A loss of [`Errors`], for data with these totals.
#[derive(Debug, Clone, Copy)]
pub struct Loss {
    pub kind: Kind,
    pub positives: i64,
    pub negatives: i64,
}

#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Ratio(Ratio),
    Matthews,
}

/// Numbers beyond this are refused: products of three of them fit into 128 bits.
const MOST: i64 = 1 << 40;

impl Loss {
    pub fn new(metric: Metric, positives: i64, negatives: i64) -> Result<Self> {
        let kind = match metric {
            Metric::Matthews => Kind::Matthews,
            Metric::Jaccard => Kind::Ratio(Ratio { top: [1, 1], base: positives, under: [0, 1] }),
            Metric::FBeta(beta) => {
                let (p, q) = (decimal(beta).filter(|&(p, _)| p > 0))
                    .ok_or_else(|| Error::invalid("beta must be positive, with few decimals"))?;
                let (p, q) = (p.checked_mul(p), q.checked_mul(q));
                let of = |p: i64, q: i64| {
                    let base = p.checked_add(q)?.checked_mul(positives)?;
                    Some(Ratio { top: [p, q], base, under: [-q, q] })
                };
                let ratio = p.zip(q).and_then(|(p, q)| of(p, q));
                Kind::Ratio(ratio.ok_or_else(|| Error::invalid(TOO_FINE))?)
            }
        };
        let fits = match kind {
            Kind::Matthews => positives.max(negatives) < MOST >> 10,
            Kind::Ratio(ratio) => {
                let under = ratio.under[1].checked_mul(negatives);
                under.is_some_and(|under| under < MOST) && ratio.base < MOST
            }
        };
        if !fits {
            return Err(Error::invalid(TOO_FINE));
        }
        Ok(Loss { kind, positives, negatives })
    }

    /// The largest sums.
    pub fn totals(&self) -> [i64; 2] {
        [self.positives, self.negatives]
    }

    /// Between 0 and 2, to a few roundings.
    pub fn value(&self, [x, y]: [f64; 2]) -> f64 {
        match self.kind {
            Kind::Ratio(ratio) => {
                let dot = |w: [i64; 2]| w[0] as f64 * x + w[1] as f64 * y;
                dot(ratio.top) / (ratio.base as f64 + dot(ratio.under))
            }
            Kind::Matthews => {
                let (p, n, t) = (self.positives as f64, self.negatives as f64, y - x);
                let under = (p + t).max(0.0) * (n - t).max(0.0);
                if under == 0.0 {
                    return 1.0;
                }
                1.0 - (p * n - p * y - n * x) / ((p * n).sqrt() * under.sqrt())
            }
        }
    }

    pub fn of(&self, errors: Errors) -> f64 {
        match self.kind {
            Kind::Ratio(ratio) => {
                let (top, under) = ratio.parts(errors);
                top as f64 / under as f64
            }
            Kind::Matthews => self.value([errors.missed as f64, errors.alarms as f64]),
        }
    }

    /// The loss without any rounding but that of a root, which is far below the last digit of a
    /// float.
    pub fn exactly(&self, errors: Errors) -> exact::Ratio {
        let (x, y) = (i128::from(errors.missed), i128::from(errors.alarms));
        match self.kind {
            Kind::Ratio(ratio) => {
                let (top, under) = ratio.parts(errors);
                exact::Ratio::from(top).over(&exact::Ratio::from(under))
            }
            Kind::Matthews => {
                let (p, n) = (i128::from(self.positives), i128::from(self.negatives));
                let (found, left) = (p + y - x, n - y + x);
                if found == 0 || left == 0 {
                    return exact::Ratio::from(1);
                }
                let top = exact::Ratio::from(p * n - p * y - n * x);
                let square = |x: &exact::Ratio| x * x;
                let under = &exact::Ratio::from(p * n) * &exact::Ratio::from(found * left);
                let root = square(&top).over(&under).root();
                let correlation = if top.is_positive() { root } else { -&root };
                &exact::Ratio::from(1) - &correlation
            }
        }
    }

    /// How the loss grows with each of the sums.
    pub fn slope(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        match self.kind {
            Kind::Ratio(ratio) => {
                let value = self.value([x, y]);
                [0, 1].map(|i| ratio.top[i] as f64 - value * ratio.under[i] as f64)
            }
            Kind::Matthews => {
                let (p, n, t) = (self.positives as f64, self.negatives as f64, y - x);
                let (a, b) = ((p + t).max(0.5), (n - t).max(0.5));
                let top = p * n - p * y - n * x;
                // Of −top / √(ab), with a growing by −1 along x and by 1 along y, and b the other
                // way.
                let bend = top / 2.0 * (1.0 / a - 1.0 / b);
                let unit = (p * n * a * b).sqrt();
                [(n - bend) / unit, (p + bend) / unit]
            }
        }
    }
}

/// Weights with nothing in common.
pub fn reduced([a, b]: [i64; 2]) -> [i64; 2] {
    let shared = gcd(a, b);
    [a / shared, b / shared]
}

pub const TOO_FINE: &str = "this objective counts weights exactly, and these are too fine or too large: round \
                            sample weights, class weights, beta and leaf_penalty to fewer decimals";

#[cfg(test)]
mod tests {
    use super::*;

    fn losses() -> Vec<Loss> {
        [Metric::FBeta(1.0), Metric::FBeta(0.5), Metric::FBeta(2.0), Metric::Jaccard]
            .into_iter()
            .chain([Metric::Matthews])
            .map(|metric| Loss::new(metric, 7, 11).unwrap())
            .collect()
    }

    #[test]
    fn losses_are_those_of_the_definitions() {
        for missed in 0..=7 {
            for alarms in 0..=11 {
                let (tp, tn) = ((7 - missed) as f64, (11 - alarms) as f64);
                let (r#fn, fp) = (missed as f64, alarms as f64);
                let f = |b: f64| (1.0 + b * b) * tp / ((1.0 + b * b) * tp + b * b * r#fn + fp);
                let under = (tp + fp) * (tp + r#fn) * (tn + fp) * (tn + r#fn);
                let mcc = if under == 0.0 { 0.0 } else { (tp * tn - fp * r#fn) / under.sqrt() };
                let wanted = [f(1.0), f(0.5), f(2.0), tp / (tp + r#fn + fp), mcc];
                for (loss, wanted) in losses().iter().zip(wanted) {
                    let found = loss.of(Errors { missed, alarms });
                    assert!((found - (1.0 - wanted)).abs() < 1e-14, "{loss:?} {missed} {alarms}");
                }
            }
        }
    }

    #[test]
    fn slopes_are_those_of_small_steps() {
        for loss in losses() {
            for at in [[1.0, 2.0], [3.0, 1.0], [2.5, 6.0]] {
                let slope = loss.slope(at);
                let step = 1e-6;
                let x = (loss.value([at[0] + step, at[1]]) - loss.value(at)) / step;
                let y = (loss.value([at[0], at[1] + step]) - loss.value(at)) / step;
                // Only the direction matters.
                assert!((x * slope[1] - y * slope[0]).abs() < 1e-4 * slope[0].hypot(slope[1]));
            }
        }
    }
}
