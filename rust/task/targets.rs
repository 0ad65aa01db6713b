//! Several targets at once: the errors of each, added up.
//!
//! With the weight n(t, c) of class c of target t in a leaf, it costs Σ over t of (Σ_c n(t, c) −
//! max_c n(t, c)): each target gets the class that most weight has. Dividing a leaf never raises
//! that, since each part may answer alike. The loss is divided by the row weight and the number of
//! targets: the mean error rate.

use std::sync::Arc;

use super::additive::AdditiveTask;
use super::contract::{Structure, Task};
use super::leaf::Leaf;
use super::scaled::{Scaled, check_penalty};
use super::stated::StatedTargets;
use super::whole_numbers::integers;
use crate::cost::{Cost, MAX_TOTAL, Scale, decimal, gcd, sum};
use crate::error::{Error, Result};

pub(super) static TARGETS: AdditiveTask = AdditiveTask {
    name: "targets",
    words: "errors of several targets, each of which the leaf gives a class",
    columns: &["n_classes", "weights"],
    build: |input| {
        let n_classes = input.whole_numbers("n_classes")?.iter().map(|&n| n as usize).collect();
        let weights = input.column("weights")?;
        TargetsInput { n_classes, weights, leaf_penalty: input.leaf_penalty }.build()
    },
};

/// A problem of several targets, each with classes of its own.
struct TargetsInput<'a> {
    /// By target: its number of classes.
    n_classes: Vec<usize>,
    /// By point, then target and class: row weight.
    weights: &'a [f64],
    leaf_penalty: f64,
}

struct Targets {
    n_classes: Vec<usize>,
    width: usize,
    counts: Vec<i64>,
    /// Units of cost in a unit of weight.
    unit: Cost,
    /// Whole units of weight in a weight of 1.
    weight_units: f64,
    small: bool,
}

/// Larger weights are added up instead of being cut into powers of two.
const MOST_COUNT: i64 = 1 << 6;

impl TargetsInput<'_> {
    fn build(&self) -> Result<Scaled> {
        let width = self.n_classes.iter().fold(0usize, |sum, &n| sum.saturating_add(n));
        if width == 0 || self.n_classes.contains(&0) || !self.weights.len().is_multiple_of(width) {
            return Err(Error::invalid(format!(
                "{} weights do not make points of {width} classes",
                self.weights.len()
            )));
        }
        if self.weights.iter().any(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(Error::invalid("weights must be finite and not negative"));
        }
        check_penalty(self.leaf_penalty)?;
        let given = sum(self.weights.iter().copied());
        if !(given > 0.0 && given.is_finite()) {
            return Err(Error::invalid("the total weight must be positive and finite"));
        }
        let most = MAX_TOTAL / 8 / (self.weights.len() as Cost).max(16);
        let Counted { counts, weight_units, off } = counted(self.weights, given, most);
        let total = counts.iter().sum::<i64>();
        let (unit, leaf_cost) = penalty_in_units(self.leaf_penalty, total, most).ok_or_else(|| {
            Error::invalid(format!(
                "leaf_penalty={:e} is too large to be added to an error rate, which is at most 1: from a \
                 penalty of 1 on, a single leaf is best",
                self.leaf_penalty
            ))
        })?;
        let units = total * unit;
        let small = counts.iter().all(|&count| count <= MOST_COUNT);
        let task =
            Targets { n_classes: self.n_classes.clone(), width, counts, unit, weight_units, small };
        // A rate is a quotient of two sums that are off, of which the first is no larger.
        let slack = if off > 0.0 { (2.0 * off * unit as f64).ceil() as Cost + 1 } else { 0 };
        let stated = StatedTargets {
            n_classes: self.n_classes.clone(),
            weights: self.weights.to_vec(),
            penalty: self.leaf_penalty,
        };
        Ok(Scaled {
            task: Box::new(task),
            leaf_cost,
            scale: Scale::new(units as f64, 0, slack),
            feature_costs: None,
            stated: Some(Arc::new(stated)),
        })
    }
}

/// Weights in whole units.
struct Counted {
    counts: Vec<i64>,
    /// Units in a weight of 1.
    weight_units: f64,
    /// What all counts are off by, in units.
    off: f64,
}

/// Weights that are short decimals as they are, if they add up to at most `most` units, and others
/// in as many units as that.
fn counted(weights: &[f64], total: f64, most: Cost) -> Counted {
    if let Some((counts, units)) = integers(weights) {
        let all = counts.iter().try_fold(0i64, |sum, &count| sum.checked_add(count));
        if all.is_some_and(|all| all <= most) {
            return Counted { counts, weight_units: units as f64, off: 0.0 };
        }
    }
    // A power of two, so that only rounding to whole numbers rounds.
    let weight_units = (most as f64 / 2.0 / total).log2().floor().exp2();
    let whole = |weight: &f64| (weight * weight_units).round();
    let off = sum(weights.iter().map(|weight| (weight * weight_units - whole(weight)).abs()));
    let counts = weights.iter().map(|weight| whole(weight) as i64).collect();
    Counted { counts, weight_units, off: off * (1.0 + 1e-9) }
}

/// objective = cost / (total · unit) + λ · leaves: the unit, and λ in units. Exact if λ is a short
/// decimal, else rounded down, so that no tree costs more than it should. All points as one leaf
/// cost at most `most` units.
fn penalty_in_units(leaf_penalty: f64, total: i64, most: Cost) -> Option<(Cost, Cost)> {
    let exact = decimal(leaf_penalty).and_then(|(p, q)| {
        let common = gcd(q, total);
        let unit = q / common;
        let units = total.checked_mul(unit)?;
        Some((unit, p.checked_mul(total / common)?)).filter(|_| units <= most)
    });
    let (unit, leaf_cost) = exact.or_else(|| {
        let unit = 1 << (most / total).checked_ilog2()?;
        let penalty = leaf_penalty * (total * unit) as f64;
        Some((unit, penalty.next_down().max(0.0).floor() as Cost))
    })?;
    (leaf_cost < MAX_TOTAL).then_some((unit, leaf_cost))
}

impl Task for Targets {
    fn n_points(&self) -> usize {
        self.counts.len() / self.width
    }

    fn width(&self) -> usize {
        self.width
    }

    fn stats(&self, point: usize) -> &[i64] {
        &self.counts[point * self.width..][..self.width]
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
        let (mut errors, mut from) = (0, 0);
        for &n in &self.n_classes {
            let of = &stats[from..from + n];
            errors += of.iter().sum::<i64>() - of.iter().max().expect("a target has a class");
            from += n;
        }
        Leaf { cost: errors * self.unit, label: 0 }
    }

    fn leaf_costs(&self, sums: &[i64], costs: &mut [Cost]) {
        let n = costs.len();
        costs.fill(0);
        let (mut most, mut from) = (vec![0; n], 0);
        for &classes in &self.n_classes {
            most.fill(0);
            for sums in sums[from * n..].chunks_exact(n).take(classes) {
                for ((cost, most), &sum) in costs.iter_mut().zip(&mut most).zip(sums) {
                    *cost += sum;
                    *most = sum.max(*most);
                }
            }
            costs.iter_mut().zip(&most).for_each(|(cost, most)| *cost -= most);
            from += classes;
        }
        costs.iter_mut().for_each(|cost| *cost *= self.unit);
    }

    /// The weight of each class of each target.
    fn shown(&self, _points: &[u32], stats: &[i64]) -> Vec<f64> {
        stats.iter().map(|&s| s as f64 / self.weight_units).collect()
    }

    fn structure(&self) -> Structure<'_> {
        if self.small { Structure::Counts } else { Structure::Sums }
    }
}
