//! Impurity of leaves that answer with the shares of classes.
//!
//! With the weight w_c of class c in a leaf, and w = Σ w_c:
//!
//! - Gini: f = Σ w_c · (1 − w_c / w) = w − Σ w_c² / w, the squared error (Brier score) of the
//!   shares;
//! - entropy: f = Σ w_c · ln(w / w_c), the log loss of the shares.
//!
//! Both are concave and f(t·w) = t·f(w), so that f(A ∪ B) ≥ f(A) + f(B).

use super::Scaled;
use super::class_input::{ClassInput, integers};
use super::formula::{Formula, FormulaInput};
use crate::cost::sum;
use crate::error::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Impurity {
    Gini,
    Entropy,
}

/// Sums of more bits than this are added up: cutting them into powers of two would take as many
/// rows.
const MOST_COUNT: i64 = 1 << 6;

/// Units of weight in all rows, where weights are no short decimals.
const FINE: f64 = (1u64 << 52) as f64;

struct Impure {
    kind: Impurity,
    n_classes: usize,
    /// The factor of each class on its weight.
    factors: Vec<f64>,
    /// A unit of weight, in the user's.
    unit: f64,
    counts: bool,
}

impl ClassInput {
    /// The same rows by the impurity of their leaves, as a mean over row weight. Costs of labels do
    /// not matter.
    pub fn build_impurity(&self, kind: Impurity) -> Result<Scaled> {
        self.validate()?;
        let k = self.n_classes;
        let total = sum(self.weights.iter().copied());
        let (stats, unit, off) = match integers(&self.weights) {
            Some((whole, units)) => (whole, 1.0 / units as f64, 0.0),
            None => {
                let unit = total / FINE;
                let whole = self.weights.iter().map(|w| (w / unit).round() as i64).collect();
                // Each weight is off by half a unit, which changes no loss by more than its largest
                // logarithm.
                (whole, unit, self.weights.len() as f64 * unit * 64.0)
            }
        };
        let (factors, totals) = self.factors();
        let normalizer = sum(factors.iter().zip(&totals).map(|(factor, total)| factor * total));
        if normalizer <= 0.0 {
            return Err(Error::invalid("the total class weight of the rows must be positive"));
        }
        let most = factors.iter().copied().fold(0.0, f64::max);
        let counts = stats.iter().all(|&count| count <= MOST_COUNT);
        FormulaInput {
            formula: Box::new(Impure { kind, n_classes: k, factors, unit, counts }),
            stats,
            normalizer: Some(normalizer),
            leaf_penalty: self.leaf_penalty,
            slack: off * most,
        }
        .build()
    }
}

/// Leaves at a time.
const LANES: usize = 8;

impl Formula for Impure {
    fn width(&self) -> usize {
        self.n_classes
    }

    fn counts(&self) -> bool {
        self.counts
    }

    fn losses(&self, sums: &[i64], losses: &mut [f64]) {
        let n = losses.len();
        for from in (0..n).step_by(LANES) {
            let to = n.min(from + LANES);
            let (mut weight, mut part) = ([0.0; LANES], [0.0; LANES]);
            for (class, &factor) in self.factors.iter().enumerate() {
                for (l, &count) in sums[class * n..][from..to].iter().enumerate() {
                    let w = count as f64 * factor;
                    weight[l] += w;
                    part[l] += match self.kind {
                        Impurity::Gini => w * w,
                        Impurity::Entropy => w_ln_w(w),
                    };
                }
            }
            for (l, loss) in losses[from..to].iter_mut().enumerate() {
                let w = weight[l];
                *loss = self.unit
                    * match self.kind {
                        Impurity::Gini => w - part[l] / if w > 0.0 { w } else { 1.0 },
                        Impurity::Entropy => w_ln_w(w) - part[l],
                    };
            }
        }
    }

    fn error(&self, all: &[i64], _loss: f64) -> f64 {
        let weight: f64 = all.iter().zip(&self.factors).map(|(&w, f)| w as f64 * f).sum();
        // Sums of k terms, each within some roundings of numbers that are at most w, or w · ln w.
        let size = match self.kind {
            Impurity::Gini => weight,
            Impurity::Entropy => weight * weight.max(1.0 / weight).ln().max(1.0),
        };
        size * self.unit * (self.n_classes + 8) as f64 * f64::EPSILON
    }

    /// The weight of each class.
    fn answer(&self, sums: &[i64]) -> Vec<f64> {
        sums.iter().map(|&w| w as f64 * self.unit).collect()
    }
}

fn w_ln_w(w: f64) -> f64 {
    if w > 0.0 { w * w.ln() } else { 0.0 }
}
