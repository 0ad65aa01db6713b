//! Costs by row and label, beside weights that constraints count: cost(S, k) = Σ over points of
//! cost[p][k].
//!
//! As classes: each label's regret is the weight of a class of its own, which costs one unit under
//! that label and nothing under any other. The weight of each group of rows is a class that costs
//! nothing.

use std::sync::Arc;

use super::class_costs::ClassCosts;
use super::class_input::{ClassInput, Real};
use super::contract::Task;
use super::feature_costs::{FeatureCostList, FeatureCosts};
use super::rows::{Parts, RowCosts, Weighed};
use super::stated::Stated;
use super::stated::StatedRows;
use crate::cost::{Cost, Scale};
use crate::error::{Error, Result};

/// Total regret is scaled to about this many units: a relaxation multiplies them, and adds
/// multipliers of limits.
const TARGET: f64 = (1u64 << 44) as f64;

/// The problem as the user states it.
#[derive(Debug, Clone)]
pub struct CountedInput {
    pub n_labels: usize,
    /// By point and label, summed over the point's rows.
    pub costs: Vec<f64>,
    /// How far all costs together are at most from what they stand for.
    pub error: f64,
    pub normalizer: f64,
    pub leaf_penalty: f64,
    pub n_groups: usize,
    /// By point and group.
    pub weights: Vec<f64>,
    /// Row weight by point, which pays for tests; it may be empty where all of them are free.
    pub row_weights: Vec<f64>,
    pub feature_costs: FeatureCostList,
}

/// The problem as classes, in units.
pub struct CountedClasses {
    pub classes: ClassCosts,
    pub leaf_cost: Cost,
    pub scale: Scale,
    pub feature_costs: Option<FeatureCosts>,
}

/// About as many units has the weight of a group that is rounded.
pub const SHARES: i64 = 1 << 40;

impl CountedInput {
    /// The costs of a classification problem beside weights that limits count: `weights[p *
    /// n_groups + i]` of point p.
    pub fn of_classes(
        input: &ClassInput,
        n_groups: usize,
        weights: Vec<f64>,
        feature_costs: &FeatureCostList,
    ) -> Result<CountedInput> {
        let Real { costs, factors, normalizer, size, rounding } = input.real()?;
        let weigh = |point: &[f64]| point.iter().zip(&factors).map(|(w, f)| w * f).sum();
        let row_weights = input.weights.chunks_exact(input.n_classes).map(weigh).collect();
        let feature_costs = feature_costs.by_point(&factors);
        let spent = feature_costs.everything(normalizer);
        Ok(CountedInput {
            n_labels: input.n_labels,
            costs,
            error: (size + spent) * rounding,
            row_weights,
            feature_costs,
            normalizer,
            leaf_penalty: input.leaf_penalty,
            n_groups,
            weights,
        })
    }

    /// The weights as integers of one unit, if they are short decimals, and how many units are in a
    /// weight of 1.
    pub fn exact(&self) -> Result<Option<(Vec<i64>, f64)>> {
        let groups = ClassInput {
            n_classes: self.n_groups,
            n_labels: 1,
            weights: self.weights.clone(),
            costs: vec![0.0; self.n_groups],
            class_weights: vec![1.0; self.n_groups],
            balanced: false,
            leaf_penalty: 0.0,
        };
        let scaled = groups.build()?;
        let exact = |_: &&ClassCosts| scaled.scale.slack == 0;
        let Some(classes) = scaled.task.structure().classes().filter(exact) else {
            return Ok(None);
        };
        let weights = (0..classes.n_points()).flat_map(|point| classes.weights(point).to_vec());
        Ok(Some((weights.collect(), classes.weight_units())))
    }

    /// As above, in the caller's own numbers.
    pub fn stated(&self) -> Arc<dyn Stated> {
        Arc::new(StatedRows {
            n_labels: self.n_labels,
            costs: self.costs.clone(),
            normalizer: self.normalizer,
            penalty: self.leaf_penalty,
            weights: self.paying().to_vec(),
            feature_costs: self.feature_costs.clone(),
        })
    }

    /// The weights of rows that pay, of which there are none where all is free.
    fn paying(&self) -> &[f64] {
        if self.feature_costs.is_free() { &[] } else { &self.row_weights }
    }

    /// The weights in units, `per_weight` of them in a weight of 1 by group, each rounded to half a
    /// unit; and by group by how many units the sum of any rows is off at most. By group at most
    /// about `SHARES` units.
    pub fn rounded(&self, per_weight: &[f64]) -> (Vec<i64>, Vec<i64>) {
        let of = |group: usize| self.weights.iter().skip(group).step_by(self.n_groups).copied();
        let round =
            |(at, weight): (usize, &f64)| (weight * per_weight[at % self.n_groups]).round() as i64;
        let rounded = self.weights.iter().enumerate().map(round).collect();
        // Half a unit for each point. What floats round, each weight, the total and the quotient by
        // a part in 2⁵², is far less than a unit in all.
        let off = |group: usize| of(group).filter(|&w| w > 0.0).count() as i64 / 2 + 2;
        (rounded, (0..self.n_groups).map(off).collect())
    }

    /// Classes: one for each label, then one for each group, with these weights. Where tests cost
    /// something, what a row pays for a unit of them is the weight of a last class; of several
    /// masses, each is one.
    pub fn build(&self, weights: &[i64]) -> Result<CountedClasses> {
        let weighed = Weighed {
            costs: &self.costs,
            error: self.error,
            normalizer: self.normalizer,
            weights: self.paying(),
            feature_costs: &self.feature_costs,
        };
        let parts = RowCosts::scaled_to(TARGET, self.n_labels, weighed, self.leaf_penalty, None)?;
        let Parts { rows, leaf_cost, scale, mut feature_costs } = parts;
        if weights.len() != rows.n_points() * self.n_groups {
            return Err(Error::invalid(format!(
                "there are {} weights for {} points and {} groups",
                weights.len(),
                rows.n_points(),
                self.n_groups
            )));
        }
        let n_masses = feature_costs.as_ref().map_or(0, |costs| costs.n_masses);
        let n_counted = self.n_labels + self.n_groups;
        let n_classes = n_counted + n_masses;
        let mut all: Vec<Cost> = Vec::with_capacity(rows.n_points() * n_classes);
        for (point, own) in weights.chunks_exact(self.n_groups).enumerate() {
            all.extend(rows.stats(point));
            all.extend(own);
            all.extend(feature_costs.iter().flat_map(|costs| costs.of_point(point)));
        }
        if let Some(costs) = &mut feature_costs {
            let mass = |at: usize| Cost::from(at / n_masses == n_counted + at % n_masses);
            costs.of_class = (0..n_classes * n_masses).map(mass).collect();
        }
        let costs = (0..n_classes * self.n_labels)
            .map(|at| Cost::from(at / self.n_labels == at % self.n_labels))
            .collect();
        let units = scale.units / self.normalizer;
        let classes = ClassCosts::of_integers(n_classes, self.n_labels, all, costs, units);
        Ok(CountedClasses { classes, leaf_cost, scale, feature_costs })
    }
}
