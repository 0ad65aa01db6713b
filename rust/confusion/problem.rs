//! Data and a loss of the confusion matrix, in whole units.

use std::sync::Arc;

use super::input::{MatrixInput, MatrixMetric};
use super::loss::MatrixLoss;
use super::values::Units;
use crate::context::Context;
use crate::cost::{Cost, Scale, sum};
use crate::data::{Column, Points};
use crate::error::{Error, Result};
use crate::pareto::scalar;
use crate::problem::{Problem, Shape};
use crate::task::{
    ClassCosts, ClassInput, FeatureCostList, FeatureCosts, Grouped, Scaled, ShortCosts,
};

/// Data and a loss of the confusion matrix.
pub struct MatrixProblem {
    pub(super) problem: Problem,
    pub(super) classes: ClassCosts,
    /// By class: what a whole unit of its weight is, in units that are the same for all classes.
    pub(super) by_class: Vec<i64>,
    pub(super) loss: MatrixLoss,
    pub(super) units: Units,
    pub(super) leaf_penalty: f64,
    pub(super) leaf_cost: Cost,
    /// A switch for tests: off, the front search has no plane.
    pub plane: bool,
    /// Another one: off, two classes are searched as more are.
    pub whole_front: bool,
}

/// The finest units, and the most that all rows cost in them.
const FINEST: f64 = (1u64 << 48) as f64;
const MOST: f64 = (1u64 << 55) as f64;

/// Losses and penalties are rounded down, so that no cost is above the true one but for what floats
/// are off.
const SLACK: Cost = 8;

impl MatrixProblem {
    pub fn new(
        columns: Vec<Column>,
        points: Points,
        input: &MatrixInput,
        shape: Shape,
    ) -> Result<Self> {
        Self::paying(columns, points, (input, &FeatureCostList::default()), shape)
    }

    /// As above, where rows pay for the columns that they are asked for.
    pub fn paying(
        columns: Vec<Column>,
        points: Points,
        (input, feature_costs): (&MatrixInput, &FeatureCostList),
        shape: Shape,
    ) -> Result<Self> {
        let k = input.classes.n_classes;
        if k < 2 || input.classes.n_labels != k {
            return Err(Error::invalid("this objective is for two classes or more"));
        }
        let leaf_penalty = input.classes.leaf_penalty;
        if !(leaf_penalty.is_finite() && leaf_penalty >= 0.0) {
            return Err(Error::invalid(format!(
                "leaf_penalty must be finite and not negative, but it is {leaf_penalty}"
            )));
        }
        let costs = (0..k * k).map(|at| f64::from(u8::from(at / k != at % k))).collect();
        let scaled = ClassInput { leaf_penalty: 0.0, costs, ..input.classes.clone() }.build()?;
        let exact = |_: &&ClassCosts| scaled.scale.slack == 0;
        let Some(mut classes) = scaled.task.structure().classes().filter(exact).cloned() else {
            return Err(Error::invalid(
                "this objective adds up weights exactly, but these row weights and class weights \
                 are no short decimals together: round them, say to six digits in all",
            ));
        };
        let by_class: Vec<i64> = (0..k).map(|class| classes.cost(class, (class + 1) % k)).collect();
        let task = Box::new(Grouped::new(classes.clone(), (0..k as u32).collect()));
        let mut problem = Problem::new(columns, points, Scaled { task, ..scaled }, shape)?;
        let weights = problem.stats(0..problem.points.len());
        let totals = weights.iter().zip(&by_class).map(|(weight, unit)| weight.checked_mul(*unit));
        let fits = |total: &i64| *total < 1 << 40;
        let totals: Option<Vec<i64>> = totals.collect();
        let Some(totals) = totals.filter(|totals| totals.iter().all(fits)) else {
            return Err(Error::invalid(
                "the weights of this objective have too many digits to be added up exactly: round \
                 row weights and class weights",
            ));
        };
        if let Some(empty) = totals.iter().position(|&total| total == 0) {
            return Err(Error::invalid(format!(
                "no row of class number {empty} weighs anything, so this objective is not defined: \
                 leave that class out"
            )));
        }
        let given = given_totals(&input.classes);
        let per_unit = given.iter().zip(&totals).map(|(given, &total)| given / total as f64);
        let per_unit = per_unit.collect();
        let loss = MatrixLoss::new(input, totals, &by_class, per_unit)?;
        loss.check_own()?;
        let (factors, _) = input.classes.factors();
        let everything = feature_costs.by_point(&factors).everything(sum(given.iter().copied()));
        let most_paid = everything / sum(given.iter().copied());
        let mut units = units(&loss, leaf_penalty, most_paid, problem.points.len())?;
        if !feature_costs.is_free() {
            let (costs, paying) =
                paid(&classes, &by_class, &loss.totals, feature_costs, &mut units)?;
            problem.feature_costs = Some(costs);
            if let Some(paying) = paying {
                let task = Grouped::new(paying.clone(), (0..k as u32).collect());
                (problem.task, classes) = (Arc::new(task), paying);
            }
        }
        let leaf_cost = (leaf_penalty * units.per_one) as Cost;
        Ok(MatrixProblem {
            problem,
            classes,
            by_class,
            loss,
            units,
            leaf_penalty,
            leaf_cost,
            plane: true,
            whole_front: true,
        })
    }

    /// Costs by class and label, with those of the classes that stand for prices by row: nothing.
    pub(super) fn of_all_classes(&self, mut costs: Vec<Cost>) -> Vec<Cost> {
        costs.resize(self.classes.n_classes() * self.by_class.len(), 0);
        costs
    }

    /// The search for trees that cost least, where labels cost so much by class, and leaves and
    /// columns what they cost here.
    pub(super) fn with_costs(&self, costs: &[Cost]) -> Result<Problem> {
        let costs = self.of_all_classes(costs.to_vec());
        let shape = self.problem.shape;
        let mut problem =
            scalar::problem(&self.problem, &self.classes, costs, self.leaf_cost, shape)?;
        problem.feature_costs.clone_from(&self.problem.feature_costs);
        Ok(problem)
    }

    /// This problem, with trees that keep to a context too.
    pub fn with_context(mut self, context: Arc<dyn Context>) -> Result<Self> {
        self.problem = self.problem.with_context(context)?;
        Ok(self)
    }

    pub fn scale(&self) -> Scale {
        let offset = (self.units.least * self.units.per_one).floor() as i128;
        Scale::new(self.units.per_one, offset, SLACK)
    }
}

/// The user's weight of each class, factors applied.
fn given_totals(classes: &ClassInput) -> Vec<f64> {
    let k = classes.n_classes;
    let (factors, _) = classes.factors();
    let total = |class: usize| sum(classes.weights.iter().skip(class).step_by(k).copied());
    (0..k).map(|class| total(class) * factors[class]).collect()
}

/// What tests cost, in units of the loss, which are changed so that each class pays a whole number
/// of them for a unit of its weight. Where prices differ by row, further classes come with them,
/// which cost nothing: of each list one, whose weight is what rows pay.
fn paid(
    classes: &ClassCosts,
    by_class: &[i64],
    totals: &[i64],
    given: &FeatureCostList,
    units: &mut Units,
) -> Result<(FeatureCosts, Option<ClassCosts>)> {
    if given.of_column.iter().flatten().any(|&test| test as usize >= given.tests.len()) {
        return Err(Error::invalid("a column has a test that is not there"));
    }
    let (k, n_points) = (by_class.len(), classes.n_points());
    let Some(ShortCosts { costs, denominator, sums }) = ShortCosts::of(given, (n_points, k))?
    else {
        return Err(Error::invalid(
            "this objective adds up feature_costs exactly, but they are no short decimals together: \
             round them, say to six digits in all",
        ));
    };
    let whole = totals.iter().map(|&total| total as f64).sum::<f64>() * denominator as f64;
    let times = (units.per_one / whole).floor();
    if times < 1.0 {
        return Err(Error::invalid(
            "the weights and feature_costs of this objective have too many digits to be added up \
             exactly together: round them",
        ));
    }
    units.per_one = times * whole;
    let n_lists = given.by_row.n_lists;
    let n_own = costs.n_masses - n_lists;
    // A class of the goal has the first mass, if there is one, and a list the one of its own.
    let mut of_class = Vec::with_capacity((k + n_lists) * costs.n_masses);
    for unit in by_class {
        of_class.extend((0..n_own).map(|_| times as Cost * unit));
        of_class.extend((0..n_lists).map(|_| 0));
    }
    if n_lists == 0 {
        return Ok((costs.of_classes(classes, of_class), None));
    }
    let per_weight = classes.weight_units() as Cost;
    for list in 0..n_lists {
        let own = (0..costs.n_masses).map(|at| Cost::from(at == n_own + list));
        of_class.extend(own.map(|is_own| is_own * times as Cost * per_weight));
    }
    let mut weights = Vec::with_capacity(n_points * (k + n_lists));
    for (point, own) in sums.chunks_exact(k * n_lists).enumerate() {
        weights.extend(classes.weights(point));
        weights.extend((0..n_lists).map(|list| {
            let of_list = own.iter().skip(list).step_by(n_lists);
            of_list.zip(by_class).map(|(sum, unit)| sum * unit).sum::<Cost>()
        }));
    }
    let matrix: Vec<Cost> = (0..(k + n_lists) * k)
        .map(|at| if at < k * k { classes.cost(at / k, at % k) } else { 0 })
        .collect();
    let units = classes.weight_units();
    let paying = ClassCosts::of_integers(k + n_lists, k, weights, matrix, units);
    Ok((costs.of_classes(&paying, of_class), Some(paying)))
}

/// Units that are fine enough, where a row pays `most_paid` at most on average, and not so fine
/// that sums overflow.
fn units(loss: &MatrixLoss, leaf_penalty: f64, most_paid: f64, n_points: usize) -> Result<Units> {
    let k = loss.n_classes();
    let total = |class: usize| loss.totals[class] as f64;
    let all: f64 = (0..k).map(total).sum();
    let least = loss.least();
    // What all rows cost at most on any plane.
    let most = match loss.metric() {
        MatrixMetric::MacroF1 | MatrixMetric::WeightedF1 => {
            let own = |class: usize| loss.shares[class] / (2.0 * total(class));
            let dearest = (0..k).map(own).fold(0.0, f64::max);
            (0..k).map(|class| total(class) * (own(class) + dearest)).sum()
        }
        MatrixMetric::Matthews => {
            let spread = all * all - (0..k).map(|class| total(class).powi(2)).sum::<f64>();
            2000.0 * all / spread.sqrt()
        }
        MatrixMetric::OfOne(one) => {
            let base = one.b * one.c * total(one.class) / (one.b + one.d);
            all * (1.0 + one.b + one.d) / base
        }
        // No tree that is of use loses more than all rows as one leaf.
        MatrixMetric::Own(_) => {
            let leaf = |label: usize| {
                let cell = |at: &usize| at / k != at % k;
                let missed = |at: usize| if at % k == label { loss.totals[at / k] } else { 0 };
                loss.of(&(0..k * k).filter(cell).map(missed).collect::<Vec<_>>()) - least
            };
            // Where that is nothing, units of the least loss do.
            (0..k).map(leaf).fold(f64::INFINITY, f64::min).max(least.abs() * 1e-6).max(1e-100)
        }
    };
    if let Some(error) = loss.failure() {
        return Err(error);
    }
    let most = most + leaf_penalty * n_points as f64 + most_paid;
    let per_one = FINEST.min(MOST / most).log2().floor().exp2();
    let finest = match loss.metric() {
        // Their losses have a size of their own.
        MatrixMetric::Own(_) => (MOST / (128.0 * most)).log2(),
        _ => per_one.log2(),
    };
    Ok(Units { per_one: finest.floor().exp2(), least })
}
