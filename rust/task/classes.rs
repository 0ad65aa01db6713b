//! Classification: cost(S, k) = Σ over classes c of M[c][k] · weight of class c in S.
//!
//! M is 0/1 for accuracy; class weights and balanced accuracy scale its rows. The loss is divided by
//! the total (class-weighted) row weight.

use std::sync::Arc;

use super::rows::Weighed;
use super::test_costs::{self, TestCosts};
use super::{CountedInput, Labelled, Leaf, PriceList, RowCosts, Scaled, Structure, Task};
use crate::cost::{Cost, MAX_TOTAL, Scale, decimal, gcd, lcm, sum};
use crate::error::{Error, Result};

/// A classification problem as the user states it.
#[derive(Debug, Clone)]
pub struct ClassInput {
    pub n_classes: usize,
    pub n_labels: usize,
    /// Row weight by point and class, point-major.
    pub weights: Vec<f64>,
    /// Cost of answering label k for class c, class-major.
    pub costs: Vec<f64>,
    /// A factor on each class: on its costs and on its share of the total weight.
    pub class_weights: Vec<f64>,
    /// Also divide each class's factor by the class's total weight, so that all classes count the same.
    pub balanced: bool,
    pub leaf_penalty: f64,
}

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

impl ClassInput {
    /// Exact integers where the numbers allow it, else costs by point, each rounded once.
    pub fn build(&self) -> Result<Scaled> {
        self.build_with(&PriceList::default())
    }

    /// The same where rows pay for the columns that they are asked for, in the unit of costs. A class's factor
    /// is on what its rows pay, too.
    pub fn build_with(&self, prices: &PriceList) -> Result<Scaled> {
        self.validate()?;
        prices.validate()?;
        let free = PriceList::default();
        let prices = if prices.is_free() { &free } else { prices };
        match self.exact(prices) {
            Some(scaled) => Ok(scaled),
            None => self.rounded(prices),
        }
    }

    pub(super) fn validate(&self) -> Result<()> {
        let bad = |v: &f64| !v.is_finite();
        if self.n_classes == 0 || self.n_labels == 0 {
            return Err(Error::invalid("there must be at least one class and one label"));
        }
        let (k, l) = (self.n_classes, self.n_labels);
        if self.costs.len() != k * l
            || self.class_weights.len() != k
            || !self.weights.len().is_multiple_of(k)
        {
            return Err(Error::invalid(format!(
                "{} costs, {} class weights and {} weights do not make {k} classes and {l} labels",
                self.costs.len(),
                self.class_weights.len(),
                self.weights.len()
            )));
        }
        if self.weights.iter().any(|w| bad(w) || *w < 0.0) {
            return Err(Error::invalid("weights must be finite and not negative"));
        }
        if self.class_weights.iter().any(|w| bad(w) || *w < 0.0) {
            return Err(Error::invalid("class weights must be finite and not negative"));
        }
        if self.costs.iter().any(bad) {
            return Err(Error::invalid("costs must be finite"));
        }
        if !(self.leaf_penalty.is_finite() && self.leaf_penalty >= 0.0) {
            return Err(Error::invalid("leaf_penalty must be finite and not negative"));
        }
        if !self.weights.iter().any(|&w| w > 0.0) {
            return Err(Error::invalid("the total weight must be positive"));
        }
        Ok(())
    }

    fn exact(&self, prices: &PriceList) -> Option<Scaled> {
        let (k, l) = (self.n_classes, self.n_labels);
        let (weights, weight_denominator) = integers(&self.weights)?;
        // Costs and prices are added: one denominator for both.
        let added = [&self.costs[..], &test_costs::numbers(&prices.tests)].concat();
        let (mut costs, cost_denominator) = integers(&added)?;
        let tests = test_costs::from_numbers(&prices.tests, &costs.split_off(k * l));
        let mut totals = vec![0i64; k];
        for point in weights.chunks_exact(k) {
            for (total, w) in totals.iter_mut().zip(point) {
                *total = total.checked_add(*w)?;
            }
        }
        // Class factors a/b over one denominator.
        let mut factors = Vec::with_capacity(k);
        for (c, &weight) in self.class_weights.iter().enumerate() {
            let (a, mut b) = decimal(weight)?;
            if self.balanced {
                b = b.checked_mul(totals[c].max(1))?;
            }
            factors.push((a, b));
        }
        let common = factors.iter().try_fold(1, |m, &(_, b)| lcm(m, b))?;
        let factors: Vec<i64> =
            factors.iter().map(|&(a, b)| a.checked_mul(common / b)).collect::<Option<_>>()?;
        let share = factors.iter().fold(0, |g, &f| {
            if f == 0 {
                g
            } else if g == 0 {
                f
            } else {
                gcd(g, f)
            }
        });
        let factors: Vec<i64> = factors.iter().map(|f| f / share.max(1)).collect();

        // objective = cost / (cost_denominator · total) + λ · leaves, before λ's own denominator.
        let mut total = 0i64;
        for (f, t) in factors.iter().zip(&totals) {
            total = total.checked_add(f.checked_mul(*t)?)?;
        }
        let base = cost_denominator.checked_mul(total)?;
        if base == 0 {
            return None;
        }
        let (p, q) = decimal(self.leaf_penalty)?;
        let common = gcd(q, base);
        let up = q / common;
        let leaf_cost = p.checked_mul(base / common)?;

        let mut matrix = Vec::with_capacity(k * l);
        let mut of_class = Vec::with_capacity(k);
        let most_spent = TestCosts::most(&tests)?;
        let mut offset = 0i64;
        let mut worst = 0i64;
        for c in 0..k {
            let row = &costs[c * l..(c + 1) * l];
            let least = *row.iter().min()?;
            let unit = factors[c].checked_mul(up)?;
            for &cost in row {
                matrix.push(cost.checked_sub(least)?.checked_mul(unit)?);
            }
            offset = offset.checked_add(least.checked_mul(unit)?.checked_mul(totals[c])?)?;
            let most = *matrix[c * l..].iter().max()?;
            let spent = most_spent.checked_mul(unit)?;
            worst = worst.checked_add(most.checked_add(spent)?.checked_mul(totals[c])?)?;
            of_class.push(unit);
        }
        let units = base.checked_mul(up)?;
        if worst > MAX_TOTAL || leaf_cost > MAX_TOTAL || units > MAX_TOTAL {
            return None;
        }
        let uniform = uniform(k, l, &matrix);
        let mass = |point: &[i64]| point.iter().zip(&of_class).map(|(w, unit)| w * unit).sum();
        let masses = || weights.chunks_exact(k).map(mass).collect();
        let test_costs = (!prices.is_free()).then(|| TestCosts {
            masses: masses(),
            tests,
            of_column: prices.of_column.clone(),
            of_class: of_class.clone(),
        });
        Some(Scaled {
            task: Box::new(ClassCosts {
                n_classes: k,
                n_labels: l,
                weights: weights.into(),
                costs: matrix,
                weight_units: weight_denominator as f64,
                uniform,
                counts_all: false,
                served: Vec::new(),
            }),
            leaf_cost,
            scale: Scale { units: units as f64, offset: i128::from(offset), slack: 0 },
            test_costs,
        })
    }

    /// By class: the factor on its rows, which is divided by their weight if classes are balanced,
    /// and that weight.
    pub fn factors(&self) -> (Vec<f64>, Vec<f64>) {
        let of = |class| self.weights.iter().skip(class).step_by(self.n_classes).copied();
        let totals: Vec<f64> = (0..self.n_classes).map(|class| sum(of(class))).collect();
        let mut factors = self.class_weights.clone();
        if self.balanced {
            for (factor, &total) in factors.iter_mut().zip(&totals) {
                *factor /= if total > 0.0 { total } else { 1.0 };
            }
        }
        (factors, totals)
    }

    /// Costs by point in real numbers: label k costs a point Σ_c weight · factor · M[c][k].
    pub(super) fn real(&self) -> Result<Real> {
        let (k, l) = (self.n_classes, self.n_labels);
        let (factors, totals) = self.factors();
        let normalizer = sum(factors.iter().zip(&totals).map(|(f, t)| f * t));
        if normalizer <= 0.0 {
            return Err(Error::invalid("the total class weight of the rows must be positive"));
        }
        let mut costs = Vec::with_capacity(self.weights.len() / k * l);
        for point in self.weights.chunks_exact(k) {
            for label in 0..l {
                costs.push((0..k).map(|c| point[c] * factors[c] * self.costs[c * l + label]).sum());
            }
        }
        // Each product and sum above rounds, and so do the factors and the normalizer.
        let largest =
            |c: usize| self.costs[c * l..(c + 1) * l].iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let size: f64 = (0..k).map(|c| totals[c] * factors[c] * largest(c)).sum();
        Ok(Real { costs, factors, normalizer, size, rounding: (k + 12) as f64 * f64::EPSILON })
    }

    fn rounded(&self, prices: &PriceList) -> Result<Scaled> {
        let (k, l) = (self.n_classes, self.n_labels);
        let Real { costs, factors, normalizer, size, rounding } = self.real()?;
        let spent = normalizer * prices.everything();
        let error = (size + spent) * rounding;
        let shown = Some((k, self.weights.as_slice()));
        let weigh = |point: &[f64]| point.iter().zip(&factors).map(|(w, f)| w * f).sum();
        let weights: Vec<f64> = self.weights.chunks_exact(k).map(weigh).collect();
        let weighed = Weighed { costs: &costs, error, normalizer, weights: &weights, prices };
        RowCosts::build_weighed(l, weighed, self.leaf_penalty, shown)
    }

    /// The same costs beside weights that limits count: `sums[p * n + i]` of point p.
    pub fn counting(&self, n: usize, sums: Vec<f64>) -> Result<CountedInput> {
        let Real { costs, normalizer, size, rounding, .. } = self.real()?;
        Ok(CountedInput {
            n_labels: self.n_labels,
            costs,
            error: size * rounding,
            normalizer,
            leaf_penalty: self.leaf_penalty,
            n_groups: n,
            weights: sums,
        })
    }
}

/// Costs in real numbers.
pub(super) struct Real {
    /// By point and label.
    costs: Vec<f64>,
    /// By class.
    factors: Vec<f64>,
    normalizer: f64,
    /// What all costs add up to at most, and what part of it roundings do.
    size: f64,
    rounding: f64,
}

/// Larger numbers are not told apart from their neighbours' decimals.
const MOST_WHOLE: f64 = 1e15;

/// The numbers over one denominator, if all are short decimals.
pub(super) fn integers(values: &[f64]) -> Option<(Vec<i64>, i64)> {
    if values.iter().all(|&v| v as i64 as f64 == v && v.abs() <= MOST_WHOLE) {
        return Some((values.iter().map(|&v| v as i64).collect(), 1));
    }
    let mut denominator = 1i64;
    for &v in values {
        if v.fract() != 0.0 {
            denominator = lcm(denominator, decimal(v)?.1)?;
            if denominator > 1_000_000 {
                return None;
            }
        }
    }
    let mut out = Vec::with_capacity(values.len());
    for &v in values {
        if v.abs() > MOST_WHOLE {
            return None;
        }
        let (p, q) = if v.fract() == 0.0 { (v as i64, 1) } else { decimal(v)? };
        out.push(p.checked_mul(denominator / q)?);
    }
    Some((out, denominator))
}

impl ClassCosts {
    /// The same weights under other costs, by class and label; none below zero. Views then keep all
    /// weight, for who sums it.
    pub fn with_costs(&self, n_labels: usize, costs: Vec<Cost>) -> ClassCosts {
        assert_eq!(costs.len(), self.n_classes * n_labels);
        ClassCosts {
            n_classes: self.n_classes,
            n_labels,
            weights: self.weights.clone(),
            uniform: uniform(self.n_classes, n_labels, &costs),
            costs,
            weight_units: self.weight_units,
            counts_all: true,
            served: Vec::new(),
        }
    }

    /// Weights that are integers already, by point and class. Views keep all of them.
    pub(super) fn of_integers(
        n_classes: usize,
        n_labels: usize,
        weights: Vec<i64>,
        costs: Vec<Cost>,
        weight_units: f64,
    ) -> ClassCosts {
        assert_eq!(costs.len(), n_classes * n_labels);
        ClassCosts {
            n_classes,
            n_labels,
            weights: weights.into(),
            uniform: uniform(n_classes, n_labels, &costs),
            costs,
            weight_units,
            counts_all: true,
            served: Vec::new(),
        }
    }

    /// The same with a floor for each point: the loss of the dearest label whose regret is no more than `regrets`. The search
    /// then takes for granted that no rows cost less than their floors (`guess.rs`).
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

    /// Units that label `label` costs for each unit of weight of `class`.
    pub fn cost(&self, class: usize, label: usize) -> Cost {
        self.costs[class * self.n_labels + label]
    }

    /// The most that any label costs for a unit of weight of `class`.
    pub fn worst_of(&self, class: usize) -> Cost {
        (0..self.n_labels).map(|label| self.cost(class, label)).max().unwrap_or(0)
    }

    /// The cost of an error, if every wrong label costs the same for every class, and right ones nothing.
    pub fn uniform(&self) -> Option<Cost> {
        self.uniform
    }
}

/// Weights whose regrets are those of a point, less what it is forgiven; never more, where units do not divide it.
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

    /// Where all errors cost the same: a label's regret is what its class weighs less than the heaviest.
    fn forgive_errors(&self, point: usize, forgiven: Cost, unit: Cost, left: &mut [i64]) {
        let weights = self.weights(point);
        let most = weights.iter().max().map_or(0, |most| most - (forgiven + unit - 1) / unit);
        let least = weights.iter().min().map_or(0, |&least| least.min(most));
        for (left, &weight) in left.iter_mut().zip(weights) {
            *left = weight.min(most) - least;
        }
    }

    /// Of two labels only one has regret, and a class for which the other is right can stand for it.
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

impl Task for ClassCosts {
    fn n_points(&self) -> usize {
        self.weights.len() / self.n_classes
    }

    fn width(&self) -> usize {
        self.n_classes
    }

    fn stats(&self, point: usize) -> &[i64] {
        self.weights(point)
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
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

    fn least(&self, point: usize) -> Cost {
        self.loss(point, self.served(point))
    }

    fn worst(&self, point: usize) -> Option<Cost> {
        (0..self.n_labels as u32).map(|label| self.loss(point, label)).max()
    }

    fn cost(&self, points: &[u32], label: u32) -> Cost {
        points.iter().map(|&point| self.loss(point as usize, label)).sum()
    }

    fn shown(&self, _points: &[u32], stats: &[i64]) -> Vec<f64> {
        stats.iter().map(|&s| s as f64 / self.weight_units).collect()
    }

    fn structure(&self) -> Structure<'_> {
        Structure::Classes(self)
    }
}

impl Labelled for ClassCosts {
    fn n_labels(&self) -> usize {
        self.n_labels
    }

    fn loss(&self, point: usize, label: u32) -> Cost {
        (self.weights(point).iter().enumerate())
            .map(|(c, w)| w * self.cost(c, label as usize))
            .sum()
    }

    fn losses(&self, point: usize, out: &mut [Cost]) {
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
