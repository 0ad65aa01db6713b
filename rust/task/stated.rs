//! A problem in the numbers that the caller gave, to say exactly what a finished tree costs.
//!
//! Searches work on integers, some of which are rounded. What they find is a tree, and its
//! objective is computed again from here, in fractions of any size. **How floats are read.** Costs,
//! feature_costs, class weights and the leaf penalty stand for the shortest decimal that is this
//! float: 0.1 is 1/10. So do weights, where all of them are short decimals; other weights, and sums
//! of costs over rows, stand for the float exactly as it is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::feature_costs::FeatureCostList;
use super::row_prices::Price;
use super::whole_numbers::integers;
use crate::exact::{Ratio, Total, whole};

/// Where the points end in a tree, and what they pay on the way.
#[derive(Debug, Clone, Default)]
pub struct Routed {
    /// By point: the leaf, as a node of the tree.
    pub leaves: Vec<usize>,
    /// By point: the label of that leaf.
    pub labels: Vec<u32>,
    pub n_leaves: usize,
    /// By point: each test that is bought, and whether at its discounted cost. Empty where nothing
    /// costs anything.
    pub bought: Vec<Vec<(u32, bool)>>,
}

/// The objective that the caller stated, exactly.
pub trait Stated: Send + Sync {
    /// The objective of a tree.
    fn objective(&self, tree: &Routed) -> Ratio;

    /// The size of the costs that no tree avoids at any point, as a share of the objective: numbers
    /// that may cancel each other.
    fn unavoidable_cost(&self) -> f64 {
        0.0
    }

    /// The size of what a tree pays, as a share of the objective: costs below 0 may cancel others.
    fn paid(&self, _tree: &Routed) -> f64 {
        0.0
    }

    /// The most that any answers cost, about, as a share of the objective.
    fn most(&self) -> f64;

    /// Losses by point and label, for tasks that have them.
    fn losses(&self) -> Option<Losses> {
        None
    }
}

/// Σ over points of the loss of the label that each gets and of what it pays for tests, over
/// `normalizer`, and `penalty` for each leaf.
pub struct Losses {
    pub n_labels: usize,
    /// By point and label.
    pub of: Vec<Ratio>,
    pub normalizer: Ratio,
    pub penalty: Ratio,
    /// What points pay for tests, if those cost something.
    pub paying: Option<Paying>,
}

/// A point pays its mass times the cost of a test, or what its rows pay together of prices by row.
pub struct Paying {
    /// By point.
    pub masses: Vec<Ratio>,
    /// By point and list of prices.
    pub payments: Vec<Ratio>,
    pub feature_costs: FeatureCostList,
}

impl Paying {
    /// `None` where nothing costs anything. `factors`: of the classes of prices by row.
    fn new(
        feature_costs: &FeatureCostList,
        factors: &[Ratio],
        masses: impl Iterator<Item = Ratio>,
    ) -> Option<Paying> {
        let paying = || Paying {
            masses: masses.collect(),
            payments: feature_costs.by_row.ratios(factors),
            feature_costs: feature_costs.clone(),
        };
        (!feature_costs.is_free()).then(paying)
    }
}

/// Weights by point and class.
#[derive(Debug, Clone)]
pub(super) enum Weights {
    /// Whole numbers, so many in a weight of 1.
    Whole(Arc<[i64]>, i64),
    Stored(Arc<[f64]>),
}

/// Costs by class and label.
#[derive(Debug, Clone)]
pub(super) struct StatedClasses {
    pub n_classes: usize,
    pub n_labels: usize,
    pub weights: Weights,
    /// None where every error costs 1 and every right answer nothing.
    pub costs: Vec<f64>,
    /// By class: what its weight is multiplied by.
    pub factors: Vec<Ratio>,
    /// Σ over classes of factor · weight.
    pub normalizer: Ratio,
    pub penalty: f64,
    pub feature_costs: FeatureCostList,
}

impl StatedClasses {
    /// `balanced`: class weights are divided by the weight of all rows of the class.
    pub fn new(
        weights: Weights,
        costs: &[f64],
        (class_weights, balanced): (&[f64], bool),
        penalty: f64,
        feature_costs: &FeatureCostList,
    ) -> StatedClasses {
        let (k, n_labels) = (class_weights.len(), costs.len() / class_weights.len());
        let zero_one = |at: usize| f64::from(u8::from(at / n_labels != at % n_labels));
        let plain = (0..costs.len()).all(|at| costs[at] == zero_one(at));
        let mut stated = StatedClasses {
            n_classes: k,
            n_labels,
            weights,
            costs: if plain { Vec::new() } else { costs.to_vec() },
            factors: Vec::new(),
            normalizer: Ratio::zero(),
            penalty,
            feature_costs: feature_costs.clone(),
        };
        let totals = stated.sums(|_, class| Some(class));
        for (class, &weight) in class_weights.iter().enumerate() {
            let total = totals.get(&class).cloned().unwrap_or_else(Ratio::zero);
            let weight = Ratio::written(weight);
            let factor = match balanced && !total.is_zero() {
                true => weight.over(&total),
                false => weight,
            };
            stated.normalizer = &stated.normalizer + &(&factor * &total);
            stated.factors.push(factor);
        }
        stated
    }

    fn cost(&self, class: usize, label: usize) -> f64 {
        match self.costs.get(class * self.n_labels + label) {
            Some(&cost) => cost,
            None => f64::from(u8::from(class != label)),
        }
    }

    /// The weight that each place gets: that of which points in which classes is for `place` to
    /// say.
    fn sums(&self, place: impl Fn(usize, usize) -> Option<usize>) -> BTreeMap<usize, Ratio> {
        let k = self.n_classes;
        match &self.weights {
            Weights::Whole(weights, unit) => {
                let mut sums: BTreeMap<usize, i128> = BTreeMap::new();
                for (at, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight != 0)
                {
                    if let Some(place) = place(at / k, at % k) {
                        *sums.entry(place).or_default() += i128::from(weight);
                    }
                }
                let unit = Ratio::from(*unit);
                sums.into_iter().map(|(at, sum)| (at, Ratio::from(sum).over(&unit))).collect()
            }
            Weights::Stored(weights) => {
                let mut sums: BTreeMap<usize, Total> = BTreeMap::new();
                for (at, &weight) in
                    weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0)
                {
                    if let Some(place) = place(at / k, at % k) {
                        sums.entry(place).or_default().add(weight);
                    }
                }
                sums.into_iter().map(|(at, sum)| (at, sum.ratio())).collect()
            }
        }
    }

    fn weight(&self, at: usize) -> Ratio {
        match &self.weights {
            Weights::Whole(weights, unit) => Ratio::from(weights[at]).over(&Ratio::from(*unit)),
            Weights::Stored(weights) => Ratio::stored(weights[at]),
        }
    }

    /// The weight of a point, times the factors of its classes.
    fn mass(&self, point: usize) -> Ratio {
        let weights = (0..self.n_classes).map(|class| self.weight(point * self.n_classes + class));
        let parts = weights.zip(&self.factors);
        parts.fold(Ratio::zero(), |sum, (weight, factor)| &sum + &(&weight * factor))
    }
}

impl Stated for StatedClasses {
    fn objective(&self, tree: &Routed) -> Ratio {
        let paying = |point: usize, class: usize| {
            let label = tree.labels[point] as usize;
            Some(class * self.n_labels + label).filter(|_| self.cost(class, label) != 0.0)
        };
        let mut loss = Ratio::zero();
        for (at, weight) in self.sums(paying) {
            let (class, label) = (at / self.n_labels, at % self.n_labels);
            let cost = Ratio::written(self.cost(class, label));
            loss = &loss + &(&(&weight * &cost) * &self.factors[class]);
        }
        if !tree.bought.is_empty() {
            let mass = |buys: &dyn Fn(usize) -> bool| {
                let sums = self.sums(|point, class| buys(point).then_some(class));
                let parts = sums.into_iter().map(|(class, sum)| &sum * &self.factors[class]);
                parts.fold(Ratio::zero(), |all, part| &all + &part)
            };
            loss = &loss + &spent(tree, &self.feature_costs, &self.factors, mass);
        }
        shared(&loss, &self.normalizer, self.penalty, tree)
    }

    fn paid(&self, tree: &Routed) -> f64 {
        let label = |point: usize| tree.labels[point] as usize;
        let sums = self.sums(|point, class| Some(class * self.n_labels + label(point)));
        let paid = |(at, weight): (usize, Ratio)| {
            let (class, label) = (at / self.n_labels, at % self.n_labels);
            (&weight * &self.factors[class]).over(&self.normalizer).nearest()
                * self.cost(class, label).abs()
        };
        sums.into_iter().map(paid).sum()
    }

    fn most(&self) -> f64 {
        let costs = self.costs.iter().fold(1.0, |most: f64, cost| most.max(cost.abs()));
        let factors: Vec<f64> = self.factors.iter().map(Ratio::nearest).collect();
        let normalizer = self.normalizer.nearest();
        costs + self.feature_costs.by_point(&factors).everything(normalizer) / normalizer
    }

    fn losses(&self) -> Option<Losses> {
        let (k, n_labels) = (self.n_classes, self.n_labels);
        let rates: Vec<Ratio> = (0..k * n_labels)
            .map(|at| Ratio::written(self.cost(at / n_labels, at % n_labels)))
            .enumerate()
            .map(|(at, cost)| &cost * &self.factors[at / n_labels])
            .collect();
        let n_points = match &self.weights {
            Weights::Whole(weights, _) => weights.len() / k,
            Weights::Stored(weights) => weights.len() / k,
        };
        let mut of = vec![Ratio::zero(); n_points * n_labels];
        for (point, losses) in of.chunks_exact_mut(n_labels).enumerate() {
            for class in 0..k {
                let weight = self.weight(point * k + class);
                if weight.is_zero() {
                    continue;
                }
                for (label, loss) in losses.iter_mut().enumerate() {
                    *loss = &*loss + &(&weight * &rates[class * n_labels + label]);
                }
            }
        }
        let (normalizer, penalty) = (self.normalizer.clone(), Ratio::written(self.penalty));
        let masses = (0..n_points).map(|point| self.mass(point));
        let paying = Paying::new(&self.feature_costs, &self.factors, masses);
        Some(Losses { n_labels, of, normalizer, penalty, paying })
    }
}

/// Costs by point and label, each summed over the point's rows.
#[derive(Debug, Clone)]
pub(super) struct StatedRows {
    pub n_labels: usize,
    pub costs: Vec<f64>,
    pub normalizer: f64,
    pub penalty: f64,
    /// By point: what pays for tests.
    pub weights: Vec<f64>,
    pub feature_costs: FeatureCostList,
}

impl Stated for StatedRows {
    fn objective(&self, tree: &Routed) -> Ratio {
        let mut loss = Total::default();
        for (point, &label) in tree.labels.iter().enumerate() {
            loss.add(self.costs[point * self.n_labels + label as usize]);
        }
        let mut loss = loss.ratio();
        if !tree.bought.is_empty() {
            let mass = |buys: &dyn Fn(usize) -> bool| {
                let mut sum = Total::default();
                let weights = self.weights.iter().enumerate();
                weights.filter(|(point, _)| buys(*point)).for_each(|(_, weight)| sum.add(*weight));
                sum.ratio()
            };
            loss = &loss + &spent(tree, &self.feature_costs, &[Ratio::from(1)], mass);
        }
        let normalizer = Ratio::stored(self.normalizer);
        shared(&loss, &normalizer, self.penalty, tree)
    }

    fn paid(&self, tree: &Routed) -> f64 {
        let of = |(point, &label): (usize, &u32)| {
            self.costs[point * self.n_labels + label as usize].abs() / self.normalizer
        };
        tree.labels.iter().enumerate().map(of).sum()
    }

    fn unavoidable_cost(&self) -> f64 {
        let least = |own: &[f64]| own.iter().copied().fold(f64::INFINITY, f64::min).abs();
        self.costs.chunks_exact(self.n_labels).map(least).sum::<f64>() / self.normalizer
    }

    fn most(&self) -> f64 {
        let most = |own: &[f64]| own.iter().fold(0.0, |most: f64, cost| most.max(cost.abs()));
        let paid = self.feature_costs.everything(self.weights.iter().sum::<f64>());
        let costs = self.costs.chunks_exact(self.n_labels).map(most).sum::<f64>();
        (costs + paid) / self.normalizer
    }

    fn losses(&self) -> Option<Losses> {
        let masses = self.weights.iter().map(|&weight| Ratio::stored(weight));
        Some(Losses {
            n_labels: self.n_labels,
            of: self.costs.iter().map(|&cost| Ratio::stored(cost)).collect(),
            normalizer: Ratio::stored(self.normalizer),
            penalty: Ratio::written(self.penalty),
            paying: Paying::new(&self.feature_costs, &[Ratio::from(1)], masses),
        })
    }
}

/// loss / normalizer + penalty · leaves.
fn shared(loss: &Ratio, normalizer: &Ratio, penalty: f64, tree: &Routed) -> Ratio {
    let leaves = Ratio::from(tree.n_leaves as i64);
    &loss.over(normalizer) + &(&Ratio::written(penalty) * &leaves)
}

/// What all points pay for the tests on their way. `mass`: of all points of which this is true.
///
/// Each cost is multiplied once, because a sum of as many fractions as there are points would have
/// the product of their denominators. `factors`: of the classes of prices by row.
fn spent(
    tree: &Routed,
    feature_costs: &FeatureCostList,
    factors: &[Ratio],
    mass: impl Fn(&dyn Fn(usize) -> bool) -> Ratio,
) -> Ratio {
    let kinds: BTreeSet<(u32, bool)> = tree.bought.iter().flatten().copied().collect();
    let mut all = Ratio::zero();
    for kind in kinds {
        let test = &feature_costs.tests[kind.0 as usize];
        let buys = |point: usize| tree.bought[point].contains(&kind);
        let paid = match if kind.1 { test.discounted } else { test.full } {
            Price::Each(cost) => &Ratio::written(cost) * &mass(&buys),
            Price::ByRow(list) => feature_costs.by_row.paid(list, factors, &buys),
        };
        all = &all + &paid;
    }
    all
}

/// Any objective, and what points pay for tests beside it.
pub(super) struct StatedPayments {
    pub stated: Arc<dyn Stated>,
    /// By point: row weight.
    pub weights: Vec<Ratio>,
    pub costs: FeatureCostList,
}

impl Stated for StatedPayments {
    fn objective(&self, tree: &Routed) -> Ratio {
        let mass = |buys: &dyn Fn(usize) -> bool| {
            let bought = self.weights.iter().enumerate().filter(|(point, _)| buys(*point));
            bought.fold(Ratio::zero(), |sum, (_, weight)| &sum + weight)
        };
        let spent = spent(tree, &self.costs, &[Ratio::from(1)], mass);
        &self.stated.objective(tree) + &spent.over(&mass(&|_| true))
    }

    fn unavoidable_cost(&self) -> f64 {
        self.stated.unavoidable_cost()
    }

    fn paid(&self, tree: &Routed) -> f64 {
        self.stated.paid(tree)
    }

    fn most(&self) -> f64 {
        let weight: f64 = self.weights.iter().map(Ratio::nearest).sum();
        self.stated.most() + self.costs.everything(weight) / weight
    }
}

/// Squared errors, by row.
#[derive(Debug, Clone)]
pub(super) struct StatedSquares {
    pub n_outputs: usize,
    /// By row and output.
    pub targets: Vec<f64>,
    pub weights: Option<Vec<i64>>,
    /// The weights as they were given, where they are no whole numbers.
    pub given: Option<Vec<f64>>,
    /// By row.
    pub points: Vec<u32>,
    pub penalty: f64,
}

impl StatedSquares {
    /// The squared errors of groups of rows from their means, added up.
    fn errors(&self, n_groups: usize, group: impl Fn(usize) -> usize) -> Ratio {
        let m = self.n_outputs;
        let mut weights = vec![Total::default(); n_groups];
        let mut sums = vec![Total::default(); n_groups * m];
        let mut squares = Total::default();
        for (row, &point) in self.points.iter().enumerate() {
            let group = group(point as usize);
            // A float is a whole number of a power of two.
            let (weight, exponent) = match (&self.given, &self.weights) {
                (Some(given), _) => whole(given[row]),
                (None, Some(weights)) => (weights[row], 0),
                (None, None) => (1, 0),
            };
            weights[group].add_whole(weight, exponent);
            for (output, &y) in self.targets[row * m..(row + 1) * m].iter().enumerate() {
                sums[group * m + output].add_weighed((weight, exponent), y);
                squares.add_weighed_square((weight, exponent), y);
            }
        }
        let weights: Vec<Ratio> = weights.iter().map(Total::ratio).collect();
        let mut errors = squares.ratio();
        for (at, sum) in sums.iter().enumerate().filter(|(at, _)| weights[at / m].is_positive()) {
            let sum = sum.ratio();
            errors = &errors - &(&sum * &sum).over(&weights[at / m]);
        }
        errors
    }
}

impl Stated for StatedSquares {
    fn objective(&self, tree: &Routed) -> Ratio {
        let mut number = vec![usize::MAX; tree.leaves.iter().max().map_or(0, |most| most + 1)];
        let mut n_leaves = 0;
        for &leaf in &tree.leaves {
            if number[leaf] == usize::MAX {
                number[leaf] = n_leaves;
                n_leaves += 1;
            }
        }
        let errors = self.errors(n_leaves, |point| number[tree.leaves[point]]);
        let all = self.errors(1, |_| 0);
        let normalizer = if all.is_zero() { Ratio::from(1) } else { all };
        shared(&errors, &normalizer, self.penalty, tree)
    }

    fn unavoidable_cost(&self) -> f64 {
        1.0
    }

    fn most(&self) -> f64 {
        1.0
    }
}

/// Row weights by point, then target and class.
#[derive(Debug, Clone)]
pub(super) struct StatedTargets {
    pub n_classes: Vec<usize>,
    pub weights: Vec<f64>,
    pub penalty: f64,
}

impl Stated for StatedTargets {
    /// Each target gets the class that most weight of a leaf has.
    fn objective(&self, tree: &Routed) -> Ratio {
        let width: usize = self.n_classes.iter().sum();
        let all_short = integers(&self.weights).is_some();
        let read = |x: f64| if all_short { Ratio::written(x) } else { Ratio::stored(x) };
        let mut sums: BTreeMap<usize, Vec<Ratio>> = BTreeMap::new();
        for (own, &leaf) in self.weights.chunks_exact(width).zip(&tree.leaves) {
            let sums = sums.entry(leaf).or_insert_with(|| vec![Ratio::zero(); width]);
            for (sum, &weight) in sums.iter_mut().zip(own).filter(|(_, weight)| **weight > 0.0) {
                *sum = &*sum + &read(weight);
            }
        }
        let (mut errors, mut total) = (Ratio::zero(), Ratio::zero());
        for sums in sums.values() {
            let mut from = 0;
            for &n in &self.n_classes {
                let of = &sums[from..from + n];
                let all = of.iter().fold(Ratio::zero(), |sum, x| &sum + x);
                let most = of.iter().max().cloned().unwrap_or_else(Ratio::zero);
                errors = &errors + &(&all - &most);
                total = &total + &all;
                from += n;
            }
        }
        shared(&errors, &total, self.penalty, tree)
    }

    fn most(&self) -> f64 {
        1.0
    }
}
