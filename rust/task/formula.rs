//! Tasks whose loss is a real-valued formula of integer sums, such as impurities and deviances.
//!
//! A formula f is given in floats that are off by at most δ. A leaf costs c(S) = max(0, ⌊f(S) − δ⌋)
//! in units, which is never above the true loss. Where f itself obeys f(A ∪ B) ≥ f(A) + f(B), the
//! computed f̃ obeys f̃(A ∪ B) ≥ f̃(A) + f̃(B) − 3δ, and rounding down thrice, with the bound of 0,
//! takes at most 3 more: so **c(A ∪ B) ≥ c(A) + c(B) − ⌈4δ⌉ − 3**, which is the task's `rounding`.

use std::sync::OnceLock;

use super::contract::{Structure, Task};
use super::leaf::Leaf;
use super::rough::Rough;
use super::scaled::{Scaled, check_penalty};
use crate::bits::Level;
use crate::cost::{Cost, Scale};
use crate::error::{Error, Result};

/// A loss of summed integers, that dividing a leaf never raises.
pub trait Formula: Send + Sync {
    /// How many statistics there are.
    fn width(&self) -> usize;

    /// Whether statistics count rows: whole numbers of at least 0 that are mostly small.
    fn counts(&self) -> bool {
        false
    }

    /// The losses of leaves that hold something; statistic s of leaf k stands at `sums[s *
    /// losses.len() + k]`.
    fn losses(&self, sums: &[i64], losses: &mut [f64]);

    /// About how many leaves to ask about at once.
    fn leaves_at_once(&self) -> usize {
        1 << 10
    }

    /// Whether leaves that hold nothing have a loss of 0, too.
    fn takes_empty_leaves(&self) -> bool {
        false
    }

    /// By how much a loss of any rows may be off. `all`: the statistics of all rows, and `loss` as
    /// one leaf.
    fn error(&self, all: &[i64], loss: f64) -> f64;

    /// What a leaf with these sums answers, to be shown.
    fn answer(&self, sums: &[i64]) -> Vec<f64>;

    /// The losses in single precision, if they are known so; `points` has the statistics of each.
    fn rough(&self, _points: &[i64]) -> Option<Rough> {
        None
    }

    /// Why the formula could not be computed, if so.
    fn failure(&self) -> Option<Error> {
        None
    }
}

/// A problem whose loss is a formula.
pub struct FormulaInput {
    pub formula: Box<dyn Formula>,
    /// By point, then statistic.
    pub stats: Vec<i64>,
    /// The loss is divided by this; without it, by that of all points as one leaf.
    pub normalizer: Option<f64>,
    pub leaf_penalty: f64,
    /// By how much the loss of any tree may be above its true value because statistics were
    /// rounded.
    pub slack: f64,
}

/// All points as one leaf cost about so many units.
const TARGET: f64 = (1u64 << 44) as f64;

/// The cost of all points as one leaf, times their number, and leaf penalties stay below this.
const MOST: f64 = (1u64 << 55) as f64;

/// What rounding may do to a loss is less than this share of it, or nothing is known.
const MOST_UNKNOWN: f64 = 0.5;

struct FormulaTask {
    formula: Box<dyn Formula>,
    n_points: usize,
    stats: Vec<i64>,
    /// Units in a loss of 1.
    units: f64,
    /// What a loss may be off by, in units.
    error: f64,
    rough: Option<Rough>,
    rounding: Cost,
    broken: OnceLock<Error>,
}

impl FormulaInput {
    pub fn build(self) -> Result<Scaled> {
        let FormulaInput { formula, stats, normalizer, leaf_penalty, slack } = self;
        let width = formula.width();
        if width == 0 || stats.is_empty() || !stats.len().is_multiple_of(width) {
            return Err(Error::invalid(format!(
                "{} statistics do not make points of {width} each",
                stats.len()
            )));
        }
        check_penalty(leaf_penalty)?;
        let n_points = stats.len() / width;
        let mut all = vec![0i64; width];
        for point in stats.chunks_exact(width) {
            for (sum, s) in all.iter_mut().zip(point) {
                *sum = sum.checked_add(*s).ok_or_else(|| {
                    Error::invalid("the statistics of all rows add up to more than 2^63")
                })?;
            }
        }
        let mut loss = [0.0];
        formula.losses(&all, &mut loss);
        formula.failure().map_or(Ok(()), Err)?;
        let [loss] = loss;
        if !loss.is_finite() || loss < -formula.error(&all, loss) {
            return Err(Error::task(format!(
                "the loss of all rows as one leaf is a number of at least 0, and not {loss}"
            )));
        }
        let error = formula.error(&all, loss.max(0.0));
        // A problem without loss still needs a unit.
        let normalizer = match normalizer {
            Some(normalizer) => normalizer,
            None if loss > error => loss,
            None => 1.0,
        };
        if !(normalizer.is_finite() && normalizer > 0.0) {
            return Err(Error::invalid("the total weight must be positive and finite"));
        }
        if loss > error && slack > MOST_UNKNOWN * normalizer {
            return Err(Error::invalid(
                "weights, or targets, are too far apart: rounding them may move the loss by more than half of it; \
                 scale the small ones up, or leave their rows out",
            ));
        }
        let size = loss.max(error).max(normalizer * 1e-3);
        let units = (TARGET / size)
            .min(MOST / size / n_points as f64)
            .min(MOST / (normalizer * leaf_penalty).max(f64::MIN_POSITIVE));
        // A power of two, so that only rounding to whole numbers rounds.
        let units = units.log2().floor().exp2();
        let scale = Scale::new(units * normalizer, 0, (slack * units).ceil() as Cost);
        let error = error * units;
        if !scale.units.is_normal() || error.is_nan() || error >= MOST / 16.0 {
            return Err(Error::invalid(
                "these losses, their total weight and leaf_penalty are too far apart to be added",
            ));
        }
        let leaf_cost = (leaf_penalty * normalizer * units).next_down().floor().max(0.0) as Cost;
        let rounding = (4.0 * error).ceil() as Cost + 3;
        let broken = OnceLock::new();
        // A loss is off by `error`, and as much is taken off it; then it is rounded down.
        let rough = formula.rough(&stats).map(|rough| rough.in_units(units, 2.0 * error + 1.0));
        let task = FormulaTask { formula, n_points, stats, units, error, rough, rounding, broken };
        Ok(Scaled { task: Box::new(task), leaf_cost, scale, feature_costs: None, stated: None })
    }
}

impl FormulaTask {
    fn units_of(&self, loss: f64) -> Cost {
        let units = loss * self.units - self.error;
        if !(units >= -3.0 * self.error - 1.0 && units < 2.0 * MOST) {
            let _ = self.broken.set(Error::task(format!(
                "the loss of a leaf is a number of at least 0 and at most that of all rows, and not {loss}"
            )));
        }
        units.max(0.0).floor() as Cost
    }
}

impl Task for FormulaTask {
    fn n_points(&self) -> usize {
        self.n_points
    }

    fn width(&self) -> usize {
        self.formula.width()
    }

    fn stats(&self, point: usize) -> &[i64] {
        &self.stats[point * self.width()..][..self.width()]
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
        let mut loss = [0.0];
        self.formula.losses(stats, &mut loss);
        Leaf { cost: self.units_of(loss[0]), label: 0 }
    }

    fn leaf_costs(&self, sums: &[i64], costs: &mut [Cost]) {
        let mut losses = vec![0.0; costs.len()];
        self.formula.losses(sums, &mut losses);
        let (units, error) = (self.units, self.error);
        let within = Level::detect().run(
            #[inline(always)]
            || {
                let (least, most, mut within) = (-3.0 * error - 1.0, 2.0 * MOST, true);
                for (cost, &loss) in costs.iter_mut().zip(&losses) {
                    let units = loss * units - error;
                    // What is not a number is not within.
                    within &= (units >= least) & (units < most);
                    *cost = units.max(0.0) as Cost;
                }
                within
            },
        );
        if !within {
            losses.iter().for_each(|&loss| _ = self.units_of(loss));
        }
    }

    fn leaves_at_once(&self) -> usize {
        self.formula.leaves_at_once()
    }

    fn takes_empty_leaves(&self) -> bool {
        self.formula.takes_empty_leaves()
    }

    fn rounding(&self) -> Cost {
        self.rounding
    }

    fn shown(&self, _points: &[u32], stats: &[i64]) -> Vec<f64> {
        self.formula.answer(stats)
    }

    fn rough(&self) -> Option<&Rough> {
        self.rough.as_ref()
    }

    fn structure(&self) -> Structure<'_> {
        if self.formula.counts() { Structure::Counts } else { Structure::Sums }
    }

    fn failure(&self) -> Option<Error> {
        self.formula.failure().or_else(|| self.broken.get().cloned())
    }
}
