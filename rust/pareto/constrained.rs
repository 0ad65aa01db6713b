//! Losses under limits on sums: group fairness, capacities.
//!
//! For multipliers μ on the sums, scale·loss + Σ μ·sum is additive, and its optimum bounds the cost
//! of every allowed tree from below (`bounds::multipliers`).

use std::sync::Arc;

use super::limits::{Limit, LimitInput, dot, matrix};
use super::scalar;
use super::sums::{Relaxed, Sums};
use crate::bounds::multipliers;
use crate::check;
use crate::context::Context;
use crate::cost::{Cost, Scale, gcd, sum};
use crate::data::{Column, Points};
use crate::error::{Error, Result};
use crate::problem::{Problem, Shape};
use crate::task::{ClassCosts, ClassInput, CountedInput, Grouped, Scaled, Task};
use crate::tree::Tree;

/// More limits than this are refused.
pub(super) const MOST_LIMITS: usize = 8;

/// Data, losses and limits.
pub struct Constrained {
    pub problem: Problem,
    pub(super) limits: Vec<Limit>,
    pub(crate) classes: ClassCosts,
    /// By class: the weight of all rows.
    pub(super) totals: Vec<i64>,
    pub(super) costs: Vec<Cost>,
    pub(super) step: Cost,
    /// The most that a single leaf costs.
    pub(super) worst: Cost,
    /// A switch for tests: off, the front search has no multipliers and no first tree.
    pub multipliers: bool,
}

/// Each constraint's share, or difference of shares, in the tree.
pub type Attained = Vec<f64>;

impl Constrained {
    /// `class_of`: the user's class of each of the classes, which are cut by group.
    pub fn new(
        columns: Vec<Column>,
        points: Points,
        input: &ClassInput,
        class_of: Vec<u32>,
        limits: &[LimitInput],
        shape: Shape,
    ) -> Result<Self> {
        if input.n_classes != class_of.len() {
            return Err(Error::invalid("the user's class is not given for each class"));
        }
        let scaled = input.build()?;
        let exact = |_: &&ClassCosts| scaled.scale.slack == 0;
        let Some(classes) = scaled.task.structure().classes().filter(exact).cloned() else {
            // Costs by point, and shares of the rows that limits count.
            let (n, sums) = side_sums(limits, input.n_classes, &input.weights)?;
            let counted = CountedInput::of_classes(input, n, sums)?;
            let weights = input.weights.clone();
            let task = |classes| Box::new(Grouped::showing(classes, class_of, weights)) as _;
            return Self::of_shares(columns, points, &counted, limits, task, shape);
        };
        let task = Box::new(Grouped::new(classes.clone(), class_of));
        let scaled = Scaled { task, ..scaled };
        Self::of(columns, points, scaled, classes, limits, shape)
    }

    /// A problem with costs by row and label; limits count weight by group.
    pub fn by_rows(
        columns: Vec<Column>,
        points: Points,
        input: &CountedInput,
        limits: &[LimitInput],
        shape: Shape,
    ) -> Result<Self> {
        let labels: Vec<u32> = (0..input.n_labels as u32).collect();
        let task = |classes| Box::new(Grouped::new(classes, labels)) as Box<dyn Task>;
        let Some(weights) = input.exact()? else {
            let (n_groups, weights) = side_sums(limits, input.n_groups, &input.weights)?;
            let input = CountedInput { n_groups, weights, ..input.clone() };
            return Self::of_shares(columns, points, &input, limits, task, shape);
        };
        let (classes, leaf_cost, scale) = input.build(&weights)?;
        let stated = Some(input.stated());
        let task = task(classes.clone());
        let scaled = Scaled { task, leaf_cost, scale, feature_costs: None, stated };
        let places = |groups: &[u32]| groups.iter().map(|g| g + input.n_labels as u32).collect();
        let limits: Vec<LimitInput> = (limits.iter())
            .map(|limit| LimitInput {
                among: places(&limit.among),
                against: places(&limit.against),
                ..limit.clone()
            })
            .collect();
        Self::of(columns, points, scaled, classes, &limits, shape)
    }

    /// Weights that are no short decimals: `input` has a group for each side of each limit, in
    /// their order.
    fn of_shares(
        columns: Vec<Column>,
        points: Points,
        input: &CountedInput,
        limits: &[LimitInput],
        task: impl FnOnce(ClassCosts) -> Box<dyn Task>,
        shape: Shape,
    ) -> Result<Self> {
        let (shares, off) = input.shares();
        let (classes, leaf_cost, scale) = input.build(&shares)?;
        let stated = Some(input.stated());
        let task = task(classes.clone());
        let scaled = Scaled { task, leaf_cost, scale, feature_costs: None, stated };
        let problem = Problem::new(columns, points, scaled, shape)?;
        let totals = problem.stats(0..problem.points.len());
        let mut side = 0;
        let build = |limit: &LimitInput| {
            let (first, n) = (side, limit.sides().count());
            side += n;
            let class = input.n_labels + first;
            limit.build_shares(class, &off[first..side], &totals, input.n_labels)
        };
        let limits = limits.iter().map(build).collect::<Result<_>>()?;
        Ok(Self::ready(problem, limits, classes, totals))
    }

    fn of(
        columns: Vec<Column>,
        points: Points,
        scaled: Scaled,
        classes: ClassCosts,
        limits: &[LimitInput],
        shape: Shape,
    ) -> Result<Self> {
        check_number(limits)?;
        let problem = Problem::new(columns, points, scaled, shape)?;
        let totals = problem.stats(0..problem.points.len());
        let limits =
            limits.iter().map(|limit| limit.build(&classes, &totals)).collect::<Result<_>>()?;
        Ok(Self::ready(problem, limits, classes, totals))
    }

    fn ready(problem: Problem, limits: Vec<Limit>, classes: ClassCosts, totals: Vec<i64>) -> Self {
        let costs = matrix(&classes);
        let step = costs.iter().fold(problem.leaf_cost, |step, &cost| divisor(step, cost));
        let step = step.max(1);
        let most = costs.chunks_exact(classes.n_labels()).zip(&totals);
        let worst = most.map(|(row, total)| row.iter().max().unwrap_or(&0) * total).sum::<Cost>();
        let worst = worst + problem.leaf_cost;
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
            few_leaves: self.problem.shape.max_leaves.is_some(),
        }
    }

    pub(super) fn relaxed_problem(&self, relaxed: &Relaxed) -> Result<Problem> {
        let leaf_cost = self.problem.leaf_cost * relaxed.scale;
        let shape = self.problem.shape;
        scalar::problem(&self.problem, &self.classes, relaxed.costs.clone(), leaf_cost, shape)
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

fn check_number(limits: &[LimitInput]) -> Result<()> {
    if limits.len() <= MOST_LIMITS {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{} constraints are given, but at most {MOST_LIMITS} are possible",
        limits.len()
    )))
}

/// How many sides limits have, and by point what each side weighs there.
fn side_sums(limits: &[LimitInput], n: usize, weights: &[f64]) -> Result<(usize, Vec<f64>)> {
    check_number(limits)?;
    let sides: Vec<&[u32]> = limits.iter().flat_map(LimitInput::sides).collect();
    if sides.iter().copied().flatten().any(|&class| class as usize >= n) {
        return Err(Error::invalid("a constraint names unknown classes"));
    }
    let weigh = |point: &[f64], side: &[u32]| sum(side.iter().map(|&c| point[c as usize]));
    let points = weights.chunks_exact(n);
    let sums =
        points.flat_map(|point| sides.iter().map(|side| weigh(point, side)).collect::<Vec<_>>());
    Ok((sides.len(), sums.collect()))
}

fn divisor(a: Cost, b: Cost) -> Cost {
    match (a, b) {
        (0, x) | (x, 0) => x,
        (a, b) => gcd(a, b),
    }
}
