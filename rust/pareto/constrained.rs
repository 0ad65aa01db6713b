//! Losses under limits on sums: group fairness, capacities.
//!
//! For multipliers μ on the sums, scale·loss + Σ μ·sum is additive, and its optimum bounds the cost
//! of every allowed tree from below (`bounds::multipliers`).

use std::sync::Arc;

use super::limit_input::{LimitInput, Sides};
use super::limits::{Limit, dot, matrix};
use super::scalar;
use super::sums::{Relaxed, Sums, packing};
use crate::bounds::multipliers;
use crate::check;
use crate::context::Context;
use crate::cost::{Cost, Scale, gcd};
use crate::data::{Column, Points};
use crate::error::{Error, Result};
use crate::problem::{Problem, Shape};
use crate::task::{
    ClassCosts, ClassInput, CountedClasses, CountedInput, FeatureCostList, FeatureCosts, Grouped,
    Scaled, Task, paid,
};
use crate::tree::Tree;

/// More limits than this are refused.
pub(super) const MOST_LIMITS: usize = 24;

/// Data, losses and limits.
pub struct Constrained {
    pub problem: Problem,
    pub(super) limits: Vec<Limit>,
    pub(crate) classes: ClassCosts,
    /// By class: the weight of all rows.
    pub(super) totals: Vec<i64>,
    pub(super) costs: Vec<Cost>,
    pub(super) step: Cost,
    /// The most that a single leaf costs, and all tests.
    pub(super) worst: Cost,
    /// A switch for tests: off, the front search has no multipliers and no first tree.
    pub multipliers: bool,
}

/// Each constraint's share, or difference of shares, in the tree.
pub type Attained = Vec<f64>;

impl Constrained {
    /// `class_of`: the user's class of each of the classes, which are cut by group. Further classes
    /// cost nothing and are not shown: the weights of sums that are limited.
    pub fn new(
        columns: Vec<Column>,
        points: Points,
        input: &ClassInput,
        class_of: Vec<u32>,
        limits: &[LimitInput],
        shape: Shape,
    ) -> Result<Self> {
        let free = FeatureCostList::default();
        Self::paying(columns, points, (input, &free), class_of, limits, shape)
    }

    /// As above, where rows pay for the columns that they are asked for.
    pub fn paying(
        columns: Vec<Column>,
        points: Points,
        (input, feature_costs): (&ClassInput, &FeatureCostList),
        class_of: Vec<u32>,
        limits: &[LimitInput],
        shape: Shape,
    ) -> Result<Self> {
        if input.n_classes < class_of.len() {
            return Err(Error::invalid("there are more of the user's classes than classes"));
        }
        let scaled = input.build_with(feature_costs)?;
        let exact = |_: &&ClassCosts| scaled.scale.slack == 0;
        let Some(classes) = scaled.task.structure().classes().filter(exact).cloned() else {
            // Costs by point, and shares of the rows that limits count.
            check_number(limits)?;
            let (n, n_shown) = (input.n_classes, class_of.len());
            let sides = Sides::of(limits, n, input.n_labels, &input.weights)?;
            let weights = sides.weights.clone();
            let counted = CountedInput::of_classes(input, sides.n, weights, feature_costs)?;
            let shown = |point: &[f64]| point[..n_shown].to_vec();
            let weights = input.weights.chunks_exact(n).flat_map(shown).collect();
            let task = |classes| Box::new(Grouped::showing(classes, class_of, weights)) as _;
            return Self::of_sides(columns, points, &counted, (limits, sides), task, shape);
        };
        let task = Box::new(Grouped::new(classes.clone(), class_of));
        let scaled = Scaled { task, ..scaled };
        let per_weight = classes.weight_units();
        Self::of(columns, points, scaled, (classes, per_weight), limits, shape)
    }

    /// A problem with costs by row and label; limits count weight by group.
    pub fn by_rows(
        columns: Vec<Column>,
        points: Points,
        input: &CountedInput,
        limits: &[LimitInput],
        shape: Shape,
    ) -> Result<Self> {
        let n_labels = input.n_labels;
        let labels: Vec<u32> = (0..n_labels as u32).collect();
        let task = |classes| Box::new(Grouped::new(classes, labels)) as Box<dyn Task>;
        let Some((weights, per_weight)) = input.exact()? else {
            check_number(limits)?;
            let sides = Sides::of(limits, input.n_groups, n_labels, &input.weights)?;
            let (n_groups, weights) = (sides.n, sides.weights.clone());
            let input = CountedInput { n_groups, weights, ..input.clone() };
            return Self::of_sides(columns, points, &input, (limits, sides), task, shape);
        };
        let (classes, scaled) = scaled(input, &weights, task)?;
        limits.iter().try_for_each(|limit| limit.check(input.n_groups, n_labels))?;
        let limits: Vec<_> = limits.iter().map(|limit| limit.shifted(n_labels as u32)).collect();
        Self::of(columns, points, scaled, (classes, per_weight), &limits, shape)
    }

    /// Weights that are no short decimals: `input` has a group for each side of each limit, in
    /// their order.
    fn of_sides(
        columns: Vec<Column>,
        points: Points,
        input: &CountedInput,
        (limits, sides): (&[LimitInput], Sides),
        task: impl FnOnce(ClassCosts) -> Box<dyn Task>,
        shape: Shape,
    ) -> Result<Self> {
        let (weights, off) = input.rounded(&sides.per_weight);
        let (classes, scaled) = scaled(input, &weights, task)?;
        let problem = Problem::new(columns, points, scaled, shape)?;
        let totals = problem.stats(0..problem.points.len());
        let limits = sides.limits(limits, &off, (totals.len(), input.n_labels));
        Ok(Self::ready(problem, limits, classes, totals))
    }

    fn of(
        columns: Vec<Column>,
        points: Points,
        scaled: Scaled,
        (classes, per_weight): (ClassCosts, f64),
        limits: &[LimitInput],
        shape: Shape,
    ) -> Result<Self> {
        check_number(limits)?;
        let problem = Problem::new(columns, points, scaled, shape)?;
        let totals = problem.stats(0..problem.points.len());
        let build = |limit: &LimitInput| limit.build(&totals, classes.n_labels(), per_weight);
        let limits = limits.iter().map(build).collect::<Result<_>>()?;
        Ok(Self::ready(problem, limits, classes, totals))
    }

    fn ready(problem: Problem, limits: Vec<Limit>, classes: ClassCosts, totals: Vec<i64>) -> Self {
        let costs = matrix(&classes);
        let paid = problem.feature_costs.iter().flat_map(all_paid);
        let all = costs.iter().copied().chain(paid);
        let step = all.fold(problem.leaf_cost, divisor).max(1);
        let spent = problem.feature_costs.as_ref().map_or(0, FeatureCosts::everything);
        let most = costs.chunks_exact(classes.n_labels()).zip(&totals);
        let worst = most.map(|(row, total)| row.iter().max().unwrap_or(&0) * total).sum::<Cost>();
        let worst = worst + spent + problem.leaf_cost;
        Constrained { problem, limits, classes, totals, costs, step, worst, multipliers: true }
    }

    /// These points and limits under other costs, by class and label, with one limit `more`.
    pub(crate) fn under(
        &self,
        costs: Vec<Cost>,
        leaf_cost: Cost,
        shape: Shape,
        more: Option<Limit>,
    ) -> Result<Self> {
        let classes = self.classes.with_costs(self.classes.n_labels(), costs.clone());
        let problem = scalar::problem(&self.problem, &classes, costs, leaf_cost, shape)?;
        let limits = self.limits.iter().cloned().chain(more).collect();
        let multipliers = self.multipliers;
        Ok(Constrained {
            multipliers,
            ..Self::ready(problem, limits, classes, self.totals.clone())
        })
    }

    /// This problem, with trees that keep to a context too.
    pub fn with_context(mut self, context: Arc<dyn Context>) -> Result<Self> {
        self.problem = self.problem.with_context(context)?;
        Ok(self)
    }

    pub fn scale(&self) -> Scale {
        self.problem.scale
    }

    /// Each limit's share, or difference of shares, in the finished tree, from the points
    /// alone. It is an error if one is not kept.
    pub(crate) fn attained(&self, tree: &Tree) -> Result<Attained> {
        let value = |(limit, sum): (&Limit, i64)| {
            if limit.excess(sum) == 0 {
                return Ok(limit.value(sum));
            }
            Err(Error::Mismatch {
                searched: format!("{} is met", limit.name),
                recomputed: format!("{}, and {} is not met", limit.value(sum), limit.name),
            })
        };
        self.limits.iter().zip(self.sums(tree)).map(value).collect()
    }

    /// True if a tree that gives all rows this label keeps the limits.
    pub(crate) fn allows(&self, label: usize) -> bool {
        let n_labels = self.classes.n_labels();
        let sum = |limit: &Limit| dot(&self.totals, &limit.adds, n_labels, label);
        self.limits.iter().all(|limit| limit.excess(sum(limit)) == 0)
    }

    /// The finished tree's sums, from the points alone.
    fn sums(&self, tree: &Tree) -> Vec<i64> {
        let labels = check::labels(tree, &self.problem.columns, &self.problem.points);
        let n_labels = self.classes.n_labels();
        let sum = |limit: &Limit| {
            let point = |(point, &label): (usize, &u32)| {
                dot(self.classes.weights(point), &limit.adds, n_labels, label as usize)
            };
            labels.iter().enumerate().map(point).sum()
        };
        self.limits.iter().map(sum).collect()
    }

    pub(super) fn front<'a, const N: usize>(
        &'a self,
        limits: &'a [Limit],
        relaxed: &'a Relaxed,
    ) -> Sums<'a, N> {
        Sums {
            n_labels: self.classes.n_labels(),
            totals: &self.totals,
            costs: &self.costs,
            leaf_cost: self.problem.leaf_cost,
            limits,
            relaxed,
            step: self.step,
            packing: packing(limits, self.classes.n_labels(), &self.totals),
            few_leaves: self.problem.shape.max_leaves.is_some(),
        }
    }

    pub(super) fn relaxed_problem(&self, relaxed: &Relaxed) -> Result<Problem> {
        let leaf_cost = self.problem.leaf_cost * relaxed.scale;
        let shape = self.problem.shape;
        let costs = relaxed.costs.clone();
        let mut problem = scalar::problem(&self.problem, &self.classes, costs, leaf_cost, shape)?;
        let finer = |costs: &FeatureCosts| costs.times(relaxed.scale);
        problem.feature_costs = self.problem.feature_costs.as_ref().map(finer);
        Ok(problem)
    }

    /// The relaxation at these multipliers.
    pub(super) fn relax(&self, scale: Cost, by_limit: &[i64]) -> Relaxed {
        let n_labels = self.classes.n_labels();
        let mut costs: Vec<Cost> = self.costs.iter().map(|cost| cost * scale).collect();
        let mut most = 0i128;
        for (limit, &multiplier) in self.limits.iter().zip(by_limit) {
            for (cost, add) in costs.iter_mut().zip(&limit.adds) {
                *cost += multiplier * add;
            }
            most += multipliers::most(multiplier, (limit.low, limit.high));
        }
        let mut offset = 0;
        for (row, &total) in costs.chunks_exact_mut(n_labels).zip(&self.totals) {
            let least = row.iter().min().copied().unwrap_or(0);
            offset += i128::from(least) * i128::from(total);
            row.iter_mut().for_each(|cost| *cost -= least);
        }
        Relaxed { scale, costs, offset, most }
    }
}

/// Costs by row as classes, and the task that they make.
fn scaled(
    input: &CountedInput,
    weights: &[i64],
    task: impl FnOnce(ClassCosts) -> Box<dyn Task>,
) -> Result<(ClassCosts, Scaled)> {
    let CountedClasses { classes, leaf_cost, scale, feature_costs } = input.build(weights)?;
    let (stated, task) = (Some(input.stated()), task(classes.clone()));
    Ok((classes, Scaled { task, leaf_cost, scale, feature_costs, stated }))
}

/// Numbers that all that is paid is a sum of multiples of.
fn all_paid(costs: &FeatureCosts) -> impl Iterator<Item = Cost> + '_ {
    let each = costs.tests.iter().flat_map(|test| [test.full, test.discounted]);
    let of_class = || costs.of_class.chunks_exact(costs.n_masses.max(1));
    each.flat_map(move |cost| {
        of_class().map(move |masses| paid(costs.n_masses, cost, |at| masses[at]))
    })
}

fn check_number(limits: &[LimitInput]) -> Result<()> {
    if limits.len() <= MOST_LIMITS {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{} constraints are given, but at most {MOST_LIMITS} are possible",
        limits.len()
    )))
}

fn divisor(a: Cost, b: Cost) -> Cost {
    match (a, b) {
        (0, x) | (x, 0) => x,
        (a, b) => gcd(a, b),
    }
}
