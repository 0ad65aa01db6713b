//! Several targets at once: the errors of each, added up.
//!
//! With the weight n(t, c) of class c of target t in a leaf, it costs Σ over t of (Σ_c n(t, c) −
//! max_c n(t, c)): each target gets the class that most weight has. Dividing a leaf never raises
//! that, since each part may answer alike. The loss is divided by the row weight and the number of
//! targets: the mean error rate.

use super::contract::{Structure, Task};
use super::leaf::Leaf;
use super::scaled::{Scaled, check_penalty};
use super::whole_numbers::integers;
use crate::cost::{Cost, MAX_TOTAL, Scale, decimal, gcd};
use crate::error::{Error, Result};

/// A problem of several targets, each with classes of its own.
#[derive(Debug, Clone)]
pub struct TargetsInput {
    /// By target: its number of classes.
    pub n_classes: Vec<usize>,
    /// By point, then target and class: row weight.
    pub weights: Vec<f64>,
    pub leaf_penalty: f64,
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

impl TargetsInput {
    pub fn build(&self) -> Result<Scaled> {
        let width = self.n_classes.iter().sum::<usize>();
        if width == 0 || self.n_classes.contains(&0) || !self.weights.len().is_multiple_of(width) {
            return Err(Error::invalid(format!(
                "{} weights do not make points of {width} classes",
                self.weights.len()
            )));
        }
        if self.weights.iter().any(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(Error::invalid("weights must be finite and not negative"));
        }
        let too_fine = || {
            Error::invalid(
                "weights or leaf_penalty have too many digits for several targets; round them",
            )
        };
        let (counts, weight_units) = integers(&self.weights).ok_or_else(too_fine)?;
        let total = counts.iter().try_fold(0i64, |sum, &w| sum.checked_add(w));
        let total = total.ok_or_else(too_fine)?;
        if total == 0 {
            return Err(Error::invalid("the total weight must be positive"));
        }
        check_penalty(self.leaf_penalty)?;
        let (unit, leaf_cost) = penalty_in_units(self.leaf_penalty, total).ok_or_else(too_fine)?;
        let units = total * unit;
        let small = counts.iter().all(|&count| count <= MOST_COUNT);
        let task = Targets {
            n_classes: self.n_classes.clone(),
            width,
            counts,
            unit,
            weight_units: weight_units as f64,
            small,
        };
        let scale = Scale { units: units as f64, offset: 0, slack: 0 };
        Ok(Scaled { task: Box::new(task), leaf_cost, scale, feature_costs: None, stated: None })
    }
}

/// All points as one leaf cost less than so many units, which leaves room for as many points as
/// there are.
const MOST_UNITS: Cost = MAX_TOTAL >> 24;

/// objective = cost / (total · unit) + λ · leaves: the unit, and λ in units. Exact if λ is a short
/// decimal, else rounded down, so that no tree costs more than it should.
fn penalty_in_units(leaf_penalty: f64, total: i64) -> Option<(Cost, Cost)> {
    let exact = decimal(leaf_penalty).and_then(|(p, q)| {
        let common = gcd(q, total);
        let unit = q / common;
        let units = total.checked_mul(unit)?;
        Some((unit, p.checked_mul(total / common)?)).filter(|_| units <= MOST_UNITS)
    });
    let (unit, leaf_cost) = exact.or_else(|| {
        let unit = 1 << (MOST_UNITS / total).checked_ilog2()?;
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
