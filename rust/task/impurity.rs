//! Impurity of leaves that answer with the shares of classes.
//!
//! With the weight w_c of class c in a leaf, and w = Σ w_c:
//!
//! - Gini: f = Σ w_c · (1 − w_c / w) = w − Σ w_c² / w, the squared error (Brier score) of the
//!   shares;
//! - entropy: f = Σ w_c · ln(w / w_c), the log loss of the shares.
//!
//! Both are concave and f(t·w) = t·f(w), so that f(A ∪ B) ≥ f(A) + f(B).

use std::ops::RangeInclusive;

use super::additive::{AdditiveInput, AdditiveTask};
use super::class_input::ClassInput;
use super::formula::{Formula, FormulaInput};
use super::logarithm::ln;
use super::rough::Rough;
use super::scaled::Scaled;
use super::whole_numbers::integers;
use crate::bits::Level;
use crate::cost::sum;
use crate::error::{Error, Result};

pub(super) static GINI: AdditiveTask = AdditiveTask {
    name: "gini",
    words: "Gini impurity: squared error of the leaf's shares of classes",
    columns: CLASSES,
    build: |input| classes(input)?.build_impurity(Impurity::Gini),
};

pub(super) static ENTROPY: AdditiveTask = AdditiveTask {
    name: "entropy",
    words: "entropy: log loss of the leaf's shares of classes",
    columns: CLASSES,
    build: |input| classes(input)?.build_impurity(Impurity::Entropy),
};

/// Row weight by point and class, a factor for each class, and whether (1) the factors are also
/// divided by the weight of their class, or not (0).
const CLASSES: &[&str] = &["weights", "class_weights", "balanced"];

/// The rows of such a task.
pub(super) fn classes(input: &AdditiveInput) -> Result<ClassInput> {
    let class_weights = input.column("class_weights")?.to_vec();
    let n_classes = class_weights.len();
    Ok(ClassInput {
        n_classes,
        n_labels: 1,
        weights: input.column("weights")?.to_vec(),
        costs: vec![0.0; n_classes],
        class_weights,
        balanced: input.flag("balanced")?,
        leaf_penalty: input.leaf_penalty,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Impurity {
    Gini,
    Entropy,
}

/// Sums of more bits than this are added up: cutting them into powers of two would take as many
/// rows.
const MOST_COUNT: i64 = 1 << 6;

/// Units of weight in all rows, where weights are no short decimals.
const FINE: f64 = (1u64 << 52) as f64;

/// Squares of sums within these are finite, and so are products with their logarithms.
const SIZES: RangeInclusive<f64> = 1e-100..=1e100;

struct Impure {
    kind: Impurity,
    n_classes: usize,
    /// The factor of each class on its weight.
    factors: Vec<f64>,
    /// A unit of weight, in the user's.
    unit: f64,
    counts: bool,
    /// By count: w · ln w of so many units, if all classes have one factor and there are few units.
    logarithms: Vec<f64>,
}

/// Logarithms of no more counts than these are kept.
const MOST_LOGARITHMS: i64 = 1 << 16;

/// w · ln w for every count of units up to the sum of all, if these are few and all classes have
/// one factor.
fn logarithms(kind: Impurity, factors: &[f64], stats: &[i64]) -> Vec<f64> {
    let all = stats.iter().try_fold(0i64, |sum, &count| sum.checked_add(count));
    let one = factors.iter().all(|&factor| factor == factors[0]);
    match all {
        Some(all) if kind == Impurity::Entropy && one && all <= MOST_LOGARITHMS => {
            (0..=all).map(|count| w_ln_w(count as f64 * factors[0])).collect()
        }
        _ => Vec::new(),
    }
}

impl ClassInput {
    /// These rows by the impurity of their leaves, as a mean over row weight. Costs of labels do
    /// not matter.
    pub(super) fn build_impurity(&self, kind: Impurity) -> Result<Scaled> {
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
        if ![total, normalizer, most].iter().all(|size| SIZES.contains(size)) {
            return Err(Error::invalid(format!(
                "row weights, or class weights, are too large or too small for the shares of classes: scale them \
                 so that each of the two adds up to between {:e} and {:e}",
                SIZES.start(),
                SIZES.end()
            )));
        }
        let counts = stats.iter().all(|&count| count <= MOST_COUNT);
        let logarithms = logarithms(kind, &factors, &stats);
        FormulaInput {
            formula: Box::new(Impure { kind, n_classes: k, factors, unit, counts, logarithms }),
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
        Level::detect().run(
            #[inline(always)]
            || match (self.kind, self.logarithms.is_empty()) {
                (Impurity::Gini, _) => self.gini(sums, losses),
                (Impurity::Entropy, true) => self.entropy(sums, losses),
                (Impurity::Entropy, false) => self.known_entropy(sums, losses),
            },
        );
    }

    fn takes_empty_leaves(&self) -> bool {
        true
    }

    fn rough(&self, points: &[i64]) -> Option<Rough> {
        let of = |class: usize| points.iter().skip(class).step_by(self.n_classes).sum();
        let all: Vec<i64> = (0..self.n_classes).map(of).collect();
        let entropy = self.kind == Impurity::Entropy;
        Rough::of_classes(entropy, &self.factors, &all, self.unit)
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

impl Impure {
    #[inline(always)]
    fn gini(&self, sums: &[i64], losses: &mut [f64]) {
        let n = losses.len();
        for from in (0..n).step_by(LANES) {
            let to = n.min(from + LANES);
            let (mut weight, mut squares) = ([0.0; LANES], [0.0; LANES]);
            for (class, &factor) in self.factors.iter().enumerate() {
                for (l, &count) in sums[class * n..][from..to].iter().enumerate() {
                    let w = count as f64 * factor;
                    weight[l] += w;
                    squares[l] += w * w;
                }
            }
            for (l, loss) in losses[from..to].iter_mut().enumerate() {
                let w = weight[l];
                *loss = self.unit * (w - squares[l] / if w > 0.0 { w } else { 1.0 });
            }
        }
    }

    #[inline(always)]
    fn entropy(&self, sums: &[i64], losses: &mut [f64]) {
        let n = losses.len();
        for from in (0..n).step_by(LANES) {
            let to = n.min(from + LANES);
            let (mut weight, mut part) = ([0.0; LANES], [0.0; LANES]);
            for (class, &factor) in self.factors.iter().enumerate() {
                for (l, &count) in sums[class * n..][from..to].iter().enumerate() {
                    let w = count as f64 * factor;
                    weight[l] += w;
                    part[l] += w_ln_w(w);
                }
            }
            for (l, loss) in losses[from..to].iter_mut().enumerate() {
                *loss = self.unit * (w_ln_w(weight[l]) - part[l]);
            }
        }
    }

    /// The entropy of counts whose logarithms are known: all classes have one factor.
    #[inline(always)]
    fn known_entropy(&self, sums: &[i64], losses: &mut [f64]) {
        let n = losses.len();
        for from in (0..n).step_by(LANES) {
            let to = n.min(from + LANES);
            let (mut all, mut part) = ([0; LANES], [0.0; LANES]);
            for class in 0..self.n_classes {
                for (l, &count) in sums[class * n..][from..to].iter().enumerate() {
                    all[l] += count;
                    part[l] += self.logarithms[count as usize];
                }
            }
            for (l, loss) in losses[from..to].iter_mut().enumerate() {
                *loss = self.unit * (self.logarithms[all[l] as usize] - part[l]);
            }
        }
    }
}

#[inline(always)]
fn w_ln_w(w: f64) -> f64 {
    w * ln(if w >= f64::MIN_POSITIVE { w } else { 1.0 })
}
