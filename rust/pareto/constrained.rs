//! The least loss + λ · leaves under limits on sums: group fairness, capacities.
//!
//! For prices μ on the sums, scale·loss + Σ μ·sum is additive, and a tree that keeps the limits costs there
//! at most scale·cost + max over allowed sums of Σ μ·sum (Lagrange). So its optimum bounds the cost of every
//! allowed tree from below; the best prices make the bound as large as possible, and are found one
//! limit at a time: the bound is concave in each price, and each solve tells its slope.

use super::limits::{Limit, LimitInput, dot, matrix};
use super::prices::{Dual, upper_of};
use super::scalar;
use super::sums::{Relaxed, Sums};
use crate::check;
use crate::cost::{Cost, INFINITE, Scale, gcd};
use crate::data::{Column, Points};
use crate::error::{Error, Result};
use crate::problem::{Problem, Shape};
use crate::run::Run;
use crate::search::fronts::{self, Start};
use crate::solve::{Answer, conclude, labelled};
use crate::task::{ClassCosts, ClassInput, CountedInput, Grouped, Scaled, Task};
use crate::tree::Tree;

/// More limits than this are refused.
const MOST_LIMITS: usize = 8;

/// Data, losses and limits.
pub struct Constrained {
    pub problem: Problem,
    pub(super) limits: Vec<Limit>,
    pub(super) classes: ClassCosts,
    /// By class: the weight of all rows.
    pub(super) totals: Vec<i64>,
    pub(super) costs: Vec<Cost>,
    step: Cost,
    /// What a single leaf costs at most.
    pub(super) worst: Cost,
    /// A switch for tests: off, the front search has no prices and no first tree.
    pub prices: bool,
}

/// What a constraint's share, or difference of shares, is in the tree.
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
        let scaled = input.build()?;
        if scaled.task.classes().is_some_and(|classes| classes.n_classes() != class_of.len()) {
            return Err(Error::invalid("the user's class is not given for each class"));
        }
        Self::of(columns, points, scaled, class_of, limits, shape)
    }

    /// The same with costs by row and label; limits count weight by group.
    pub fn by_rows(
        columns: Vec<Column>,
        points: Points,
        input: &CountedInput,
        limits: &[LimitInput],
        shape: Shape,
    ) -> Result<Self> {
        let classes = |groups: &[u32]| groups.iter().map(|g| g + input.n_labels as u32).collect();
        let limits: Vec<LimitInput> = (limits.iter())
            .map(|limit| LimitInput {
                among: classes(&limit.among),
                against: classes(&limit.against),
                ..limit.clone()
            })
            .collect();
        let shown = (0..input.n_labels as u32).collect();
        Self::of(columns, points, input.build()?, shown, &limits, shape)
    }

    fn of(
        columns: Vec<Column>,
        points: Points,
        scaled: Scaled,
        class_of: Vec<u32>,
        limits: &[LimitInput],
        shape: Shape,
    ) -> Result<Self> {
        let Some(classes) = scaled.task.classes().cloned() else {
            return Err(Error::invalid(
                "with constraints, weights and costs are counted exactly: round sample weights, class \
                 weights and costs to a few decimals",
            ));
        };
        if limits.len() > MOST_LIMITS {
            return Err(Error::invalid(format!(
                "{} constraints are given, but at most {MOST_LIMITS} are possible",
                limits.len()
            )));
        }
        let task = Box::new(Grouped::new(classes.clone(), class_of));
        let scaled =
            Scaled { task, leaf_cost: scaled.leaf_cost, scale: scaled.scale, test_costs: None };
        let problem = Problem::new(columns, points, scaled, shape)?;
        let totals = problem.stats(0..problem.points.len());
        let limits =
            limits.iter().map(|limit| limit.build(&classes, &totals)).collect::<Result<_>>()?;
        let costs = matrix(&classes);
        let step = costs.iter().fold(problem.leaf_cost, |step, &cost| divisor(step, cost));
        let step = step.max(1);
        let most = costs.chunks_exact(classes.n_labels()).zip(&totals);
        let worst = most.map(|(row, total)| row.iter().max().unwrap_or(&0) * total).sum::<Cost>();
        let worst = worst + problem.leaf_cost;
        Ok(Constrained { problem, limits, classes, totals, costs, step, worst, prices: true })
    }

    pub fn scale(&self) -> Scale {
        self.problem.scale
    }

    /// The best tree that keeps the limits, and what it attains. It is an error if there is none, and a panic
    /// anywhere below is one, too.
    pub fn solve(&self, run: &Run) -> Result<(Answer, Attained)> {
        Error::guard(|| match self.limits.len() {
            0 | 1 => self.solve_with::<1>(run),
            2 => self.solve_with::<2>(run),
            3 | 4 => self.solve_with::<4>(run),
            _ => self.solve_with::<8>(run),
        })
    }

    fn solve_with<const N: usize>(&self, run: &Run) -> Result<(Answer, Attained)> {
        let mut dual = Dual::<N>::new(self, run);
        if self.prices {
            dual.climb()?;
        } else {
            dual.best = None;
        }
        let (mut lower, mut best, relaxed) = (dual.lower, dual.best, dual.relaxed);
        if lower < upper_of(&best) && run.stopped().is_none() {
            let front = self.front::<N>(&self.limits, &relaxed);
            let problem = self.relaxed_problem(&relaxed)?;
            let start = Start { upper: upper_of(&best), lower, shown: self.worst };
            let (found, proved) = fronts::solve(&problem, &front, start, run)?;
            lower = proved;
            best = found.or(best);
        }
        let Some(best) = best else {
            return Err(match run.stopped() {
                None => self.infeasible::<N>(run)?,
                Some(status) => Error::invalid(format!(
                    "the search was stopped ({}) before it found a tree that meets the constraints: {}; \
                     allow more time, or loosen them",
                    status.name(),
                    self.names()
                )),
            });
        };
        lower = lower.min(best.cost);
        let tree = labelled(&self.problem, best.plan, &best.labels)?;
        let (columns, points) = (&self.problem.columns, &self.problem.points);
        let task = self.problem.task.as_ref();
        check::confirm(
            best.cost,
            check::recompute(&tree, columns, points, task, self.problem.leaf_cost),
        )?;
        let sums = self.sums(&tree);
        for (limit, &sum) in self.limits.iter().zip(&sums) {
            if limit.excess(sum) > 0 {
                return Err(Error::Mismatch {
                    searched: format!("{} is met", limit.name),
                    recomputed: format!("{}, and {} is not met", limit.value(sum), limit.name),
                });
            }
        }
        let attained = self.limits.iter().zip(&sums).map(|(l, &sum)| l.value(sum)).collect();
        Ok((conclude(tree, (lower, best.cost), self.problem.scale, run), attained))
    }

    /// What the finished tree adds up to, from the points alone.
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

    /// The relaxation at these prices.
    pub(super) fn relax(&self, scale: Cost, prices: &[i64]) -> Relaxed {
        let n_labels = self.classes.n_labels();
        let mut costs: Vec<Cost> = self.costs.iter().map(|cost| cost * scale).collect();
        let mut most = 0i128;
        for (limit, &price) in self.limits.iter().zip(prices) {
            for (cost, add) in costs.iter_mut().zip(&limit.adds) {
                *cost += price * add;
            }
            let end = if price > 0 { limit.high } else { limit.low };
            most += i128::from(price) * i128::from(end);
        }
        let mut offset = 0;
        for (row, &total) in costs.chunks_exact_mut(n_labels).zip(&self.totals) {
            let least = row.iter().min().copied().unwrap_or(0);
            offset += i128::from(least) * i128::from(total);
            row.iter_mut().for_each(|cost| *cost -= least);
        }
        Relaxed { scale, costs, offset, most }
    }

    fn names(&self) -> String {
        self.limits.iter().map(|limit| limit.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// No tree keeps the limits: by how much must they be broken? Each round looks for a tree that breaks
    /// them less than the last one did, until there is none.
    fn infeasible<const N: usize>(&self, run: &Run) -> Result<Error> {
        let zero = Relaxed { scale: 1, costs: vec![0; self.costs.len()], offset: 0, most: 0 };
        let costs = vec![0; self.costs.len()];
        let mut problem = self.relaxed_problem(&zero)?;
        problem.leaf_cost = 0;
        // The labels of the best single leaf to begin with.
        let n_labels = self.classes.n_labels();
        let leaf_sums = |label| -> Vec<i64> {
            self.limits.iter().map(|l| dot(&self.totals, &l.adds, n_labels, label)).collect()
        };
        let mut least = (0..n_labels)
            .map(|label| self.violation(&leaf_sums(label)))
            .fold(f64::INFINITY, f64::min);
        loop {
            let limits: Vec<Limit> = self.limits.iter().map(|l| l.violated_below(least)).collect();
            let front =
                Sums::<N> { costs: &costs, leaf_cost: 0, step: 1, ..self.front(&limits, &zero) };
            let (found, _) = fronts::solve(
                &problem,
                &front,
                Start { upper: INFINITE, lower: 0, shown: 0 },
                run,
            )?;
            let Some(found) = found else { break };
            let mut plan_sums = vec![0; self.limits.len()];
            for (weights, &label) in scalar::leaves(&problem, &found.plan).iter().zip(&found.labels)
            {
                for (sum, limit) in plan_sums.iter_mut().zip(&self.limits) {
                    *sum += dot(weights, &limit.adds, n_labels, label as usize);
                }
            }
            least = self.violation(&plan_sums);
        }
        let reach = if run.stopped().is_some() { "found so far" } else { "reachable" };
        Ok(Error::invalid(format!(
            "no tree within these limits meets the constraints: the least violation {reach} is {:.6} \
             (beyond {}); loosen the constraints by that much, or allow larger trees",
            least,
            self.names()
        )))
    }

    fn violation(&self, sums: &[i64]) -> f64 {
        let each = self.limits.iter().zip(sums).map(|(limit, &sum)| limit.violation(sum));
        each.fold(0.0, f64::max)
    }
}

fn divisor(a: Cost, b: Cost) -> Cost {
    match (a, b) {
        (0, x) | (x, 0) => x,
        (a, b) => gcd(a, b),
    }
}
