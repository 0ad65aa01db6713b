//! Costs by row and label, beside weights that constraints count: cost(S, k) = Σ over points of cost[p][k].
//!
//! As classes: each label's regret is the weight of a class of its own, which costs one unit under that label and
//! nothing under any other. The weight of each group of rows is a class that costs nothing.

use super::rows::Parts;
use super::{ClassCosts, ClassInput, PriceList, RowCosts, Scaled, Task, Weighed};
use crate::cost::Cost;
use crate::error::{Error, Result};

/// Total regret is scaled to about this many units: a relaxation multiplies them, and adds prices.
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
}

impl CountedInput {
    /// Classes: one for each label, then one for each group.
    pub fn build(&self) -> Result<Scaled> {
        let weighed = Weighed {
            costs: &self.costs,
            error: self.error,
            normalizer: self.normalizer,
            weights: &[],
            prices: &PriceList::default(),
        };
        let parts = RowCosts::scaled_to(TARGET, self.n_labels, weighed, self.leaf_penalty, None)?;
        let Parts { rows, leaf_cost, scale, test_costs } = parts;
        let groups = ClassInput {
            n_classes: self.n_groups,
            n_labels: 1,
            weights: self.weights.clone(),
            costs: vec![0.0; self.n_groups],
            class_weights: vec![1.0; self.n_groups],
            balanced: false,
            leaf_penalty: 0.0,
        };
        let groups = groups.build()?.task;
        let Some(groups) = groups.classes() else {
            return Err(Error::invalid(
                "with constraints, weights are counted exactly: round sample weights to a few decimals",
            ));
        };
        if groups.n_points() != rows.n_points() {
            return Err(Error::invalid(format!(
                "there are weights of {} points, but costs of {}",
                groups.n_points(),
                rows.n_points()
            )));
        }
        let n_classes = self.n_labels + self.n_groups;
        let mut weights: Vec<Cost> = Vec::with_capacity(rows.n_points() * n_classes);
        for point in 0..rows.n_points() {
            weights.extend(rows.stats(point));
            weights.extend(groups.weights(point));
        }
        let costs = (0..n_classes * self.n_labels)
            .map(|at| Cost::from(at / self.n_labels == at % self.n_labels))
            .collect();
        let units = scale.units / self.normalizer;
        let task = ClassCosts::of_integers(n_classes, self.n_labels, weights, costs, units);
        Ok(Scaled { task: Box::new(task), leaf_cost, scale, test_costs })
    }
}
