//! Classification: cost(S, k) = Σ over classes c of M[c][k] · weight of class c in S.
//!
//! M is 0/1 for accuracy; class weights and balanced accuracy scale its rows. The loss is divided
//! by the total (class-weighted) row weight.

use std::sync::Arc;

use super::leaf::Leaf;
use super::merging::Merging;
use crate::cost::Cost;

/// Class weights and costs in integer units.
#[derive(Debug, Clone)]
pub struct ClassCosts {
    n_classes: usize,
    n_labels: usize,
    weights: Arc<[i64]>,
    costs: Vec<Cost>,
    /// Integer weights in a weight of 1 of the user's.
    weight_units: f64,
    /// The cost of an error, if there is one.
    uniform: Option<Cost>,
    /// Whether weight counts even where all labels cost the same.
    counts_all: bool,
    /// By point: the label whose loss is its floor, if there are floors.
    served: Vec<u32>,
}

impl ClassCosts {
    /// Weights by point and class, `weight_units` of them in a weight of 1, and costs by class and
    /// label.
    pub(super) fn new(
        (n_classes, n_labels): (usize, usize),
        weights: Arc<[i64]>,
        weight_units: f64,
        costs: Vec<Cost>,
    ) -> ClassCosts {
        ClassCosts {
            n_classes,
            n_labels,
            weights,
            uniform: uniform(n_classes, n_labels, &costs),
            costs,
            weight_units,
            counts_all: false,
            served: Vec::new(),
        }
    }

    /// These weights under other costs, by class and label; none below zero. Views then keep all
    /// weight, for who sums it.
    pub fn with_costs(&self, n_labels: usize, costs: Vec<Cost>) -> ClassCosts {
        assert_eq!(costs.len(), self.n_classes * n_labels);
        let shape = (self.n_classes, n_labels);
        let costed = ClassCosts::new(shape, self.weights.clone(), self.weight_units, costs);
        ClassCosts { counts_all: true, ..costed }
    }

    /// Weights that are integers already, by point and class. Views keep all of them.
    pub fn of_integers(
        n_classes: usize,
        n_labels: usize,
        weights: Vec<i64>,
        costs: Vec<Cost>,
        weight_units: f64,
    ) -> ClassCosts {
        assert_eq!(costs.len(), n_classes * n_labels);
        let costed = ClassCosts::new((n_classes, n_labels), weights.into(), weight_units, costs);
        ClassCosts { counts_all: true, ..costed }
    }

    /// These costs on fewer points.
    pub(super) fn merged(&self, merging: &Merging) -> ClassCosts {
        let weights = merging.sums(self.n_classes, |point| self.weights(point));
        ClassCosts { weights: weights.into(), served: Vec::new(), ..self.clone() }
    }

    /// As above, with a floor for each point: the loss of the dearest label whose regret is no more
    /// than `regrets`. The search then takes for granted that no rows cost less than their floors
    /// (`guess.rs`).
    pub fn with_floors(&self, regrets: &[Cost]) -> ClassCosts {
        let served = |(point, &regret): (usize, &Cost)| {
            let least = self.least(point);
            let labels =
                (0..self.n_labels as u32).filter(|&k| self.loss(point, k) <= least + regret);
            labels
                .max_by_key(|&label| self.loss(point, label))
                .expect("the best label has no regret")
        };
        ClassCosts { served: regrets.iter().enumerate().map(served).collect(), ..self.clone() }
    }

    /// Whether lower bounds rest on floors, which are a guess.
    pub fn has_floors(&self) -> bool {
        !self.served.is_empty()
    }

    /// The label whose loss a point has at least, in bounds.
    pub fn served(&self, point: usize) -> u32 {
        (self.served.get(point).copied()).unwrap_or_else(|| self.leaf(self.weights(point)).label)
    }

    /// Integer weights in a weight of 1 of the user's.
    pub fn weight_units(&self) -> f64 {
        self.weight_units
    }

    pub fn counts_all(&self) -> bool {
        self.counts_all
    }

    pub fn n_points(&self) -> usize {
        self.weights.len() / self.n_classes
    }

    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// Integer weights of one point by class.
    pub fn weights(&self, point: usize) -> &[i64] {
        &self.weights[point * self.n_classes..(point + 1) * self.n_classes]
    }

    /// The label that costs least for these summed weights, and what it costs.
    pub fn leaf(&self, stats: &[i64]) -> Leaf {
        if let Some(unit) = self.uniform {
            // Everything but the largest class pays, and of the largest the first.
            let (mut label, mut most, mut total) = (0, i64::MIN, 0);
            for (class, &weight) in stats.iter().enumerate() {
                total += weight;
                if weight > most {
                    (label, most) = (class as u32, weight);
                }
            }
            return Leaf { cost: (total - most) * unit, label };
        }
        let mut best = Leaf { cost: Cost::MAX, label: 0 };
        for label in 0..self.n_labels {
            let cost = (0..self.n_classes).map(|c| stats[c] * self.cost(c, label)).sum();
            if cost < best.cost {
                best = Leaf { cost, label: label as u32 };
            }
        }
        best
    }

    /// The least that any tree pays for a point: what it costs as a leaf, or its floor.
    pub fn least(&self, point: usize) -> Cost {
        self.loss(point, self.served(point))
    }

    /// What a point costs under a label.
    pub fn loss(&self, point: usize, label: u32) -> Cost {
        (self.weights(point).iter().enumerate())
            .map(|(c, w)| w * self.cost(c, label as usize))
            .sum()
    }

    /// What a point costs under each label.
    pub fn losses(&self, point: usize, out: &mut [Cost]) {
        let weights = self.weights(point);
        if let Some(unit) = self.uniform {
            let total: i64 = weights.iter().sum();
            for (loss, weight) in out.iter_mut().zip(weights) {
                *loss = (total - weight) * unit;
            }
            return;
        }
        out.fill(0);
        for (class, &weight) in weights.iter().enumerate().filter(|&(_, &weight)| weight != 0) {
            let costs = &self.costs[class * self.n_labels..];
            for (loss, cost) in out.iter_mut().zip(costs) {
                *loss += weight * cost;
            }
        }
    }

    /// Units that label `label` costs for each unit of weight of `class`.
    pub fn cost(&self, class: usize, label: usize) -> Cost {
        self.costs[class * self.n_labels + label]
    }

    /// The most that any label costs for a unit of weight of `class`.
    pub fn worst_of(&self, class: usize) -> Cost {
        (0..self.n_labels).map(|label| self.cost(class, label)).max().unwrap_or(0)
    }

    /// The cost of an error, if every wrong label costs the same for every class, and right ones
    /// nothing.
    pub fn uniform(&self) -> Option<Cost> {
        self.uniform
    }
}

/// Weights whose regrets are those of a point, less what it is forgiven; never more, where units do
/// not divide it.
impl ClassCosts {
    /// `None` if what is left is not a cost for each class.
    pub fn forgiving(&self, forgiven: &[Cost]) -> Option<ClassCosts> {
        if self.uniform.is_none() && self.n_labels != 2 {
            return None;
        }
        let mut weights = vec![0; self.weights.len()];
        for (point, left) in weights.chunks_exact_mut(self.n_classes).enumerate() {
            match self.uniform {
                Some(unit) => self.forgive_errors(point, forgiven[point], unit, left),
                None => self.forgive_either(point, forgiven[point], left),
            }
        }
        Some(ClassCosts { weights: weights.into(), ..self.clone() })
    }

    /// Where all errors cost the same: a label's regret is what its class weighs less than the
    /// heaviest.
    fn forgive_errors(&self, point: usize, forgiven: Cost, unit: Cost, left: &mut [i64]) {
        let weights = self.weights(point);
        let most = weights.iter().max().map_or(0, |most| most - (forgiven + unit - 1) / unit);
        let least = weights.iter().min().map_or(0, |&least| least.min(most));
        for (left, &weight) in left.iter_mut().zip(weights) {
            *left = weight.min(most) - least;
        }
    }

    /// Of two labels only one has regret, and a class for which the other is right can stand for
    /// it.
    fn forgive_either(&self, point: usize, forgiven: Cost, left: &mut [i64]) {
        let [a, b] = [0, 1].map(|label| self.loss(point, label));
        let label = usize::from(b > a);
        let regret = (a - b).abs() - forgiven;
        let wrong = (0..self.n_classes).find(|&class| self.cost(class, label) > 0);
        if let Some(class) = wrong.filter(|_| regret > 0) {
            left[class] = regret / self.cost(class, label);
        }
    }
}

fn uniform(n_classes: usize, n_labels: usize, costs: &[Cost]) -> Option<Cost> {
    if n_labels != n_classes || n_classes == 1 {
        return None;
    }
    let unit = costs[1];
    let zero_one = (0..n_classes)
        .all(|c| (0..n_labels).all(|k| costs[c * n_labels + k] == if c == k { 0 } else { unit }));
    (zero_one && unit > 0).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::ClassInput;

    #[test]
    fn the_losses_of_a_point_are_those_of_each_label() {
        for costs in [
            [0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0],
            [3.0, 1.0, 2.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0],
        ] {
            let input = ClassInput {
                n_classes: 3,
                n_labels: 3,
                weights: vec![1.0, 2.0, 3.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0],
                costs: costs.to_vec(),
                class_weights: vec![1.0; 3],
                balanced: false,
                leaf_penalty: 0.0,
            };
            let task = input.build().unwrap().task;
            for point in 0..3 {
                let mut losses = [7; 3];
                let labelled = task.structure().labelled().unwrap();
                labelled.losses(point, &mut losses);
                assert_eq!(losses, [0, 1, 2].map(|label| labelled.loss(point, label)));
            }
        }
    }

    #[test]
    fn a_leaf_has_the_first_of_the_cheapest_labels() {
        // Errors that cost the same, and not.
        for costs in [
            [0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0],
            [0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0],
        ] {
            let input = ClassInput {
                n_classes: 3,
                n_labels: 3,
                weights: vec![1.0, 2.0, 3.0],
                costs: costs.to_vec(),
                class_weights: vec![1.0; 3],
                balanced: false,
                leaf_penalty: 0.0,
            };
            let scaled = input.build().unwrap();
            let classes = scaled.task.structure().classes().unwrap();
            assert_eq!(classes.uniform().is_some(), costs[2] == 1.0);
            for code in 0..64 {
                let stats = [code % 4, code / 4 % 4, code / 16];
                let cost = |k: usize| (0..3).map(|c| stats[c] * classes.cost(c, k)).sum::<Cost>();
                let best = (0..3).min_by_key(|&k| cost(k)).unwrap();
                let leaf = scaled.task.leaf(&stats);
                assert_eq!((leaf.label as usize, leaf.cost), (best, cost(best)));
            }
        }
    }
}
