//! A partly ordered task with its data, as it is given to the front search.

use std::sync::{Arc, OnceLock};

use super::carried::{Beside, FreeStatistics, has_statistics_of};
use crate::bounds::{Bound, Decisions, dominance};
use crate::context::Context;
use crate::cost::{Cost, INFINITE, MAX_TOTAL, Scale};
use crate::data::{Column, Points};
use crate::error::{Error, Result};
use crate::problem::{Problem, Shape};
use crate::run::Pace;
use crate::search::fronts::{Candidate, Front};
use crate::task::{FrontTask, Scaled, testing};

/// Statistics that are summed at most to try whether a relaxation bounds its task.
const MOST_SUMMED: usize = 4_000_000;

/// Data, a partly ordered task, and what a tree may be.
///
/// `docs/own-task.md` has an example.
pub struct FrontProblem<T> {
    pub(super) task: Arc<T>,
    /// The statistics, which cost nothing but the leaf penalty.
    pub(super) free: Problem,
    pub(super) relaxed: Option<Relaxed>,
    pub(super) leaf_cost: Cost,
}

/// A relaxation as it is searched.
pub(super) struct Relaxed {
    pub problem: Problem,
    /// The relaxation's rounding ε. A leaf of m points costs ε · (m − 1) more in the search than
    /// the relaxation says, because that makes costs divide exactly; see `task/summed.rs`.
    rounding: Cost,
    /// The cost that every tree has beyond the relaxation's for that reason.
    shift: Cost,
}

impl<T: FrontTask + 'static> FrontProblem<T> {
    /// A problem without leaf penalty and relaxation. `scale` says what unit costs are in.
    pub fn new(
        columns: Vec<Column>,
        points: Points,
        task: T,
        scale: Scale,
        shape: Shape,
    ) -> Result<Self> {
        let task = Arc::new(task);
        if let Some(point) =
            (0..task.n_points()).find(|&point| task.stats(point).len() != task.width())
        {
            return Err(Error::task(format!("point {point} has not `width` statistics")));
        }
        let free = Box::new(FreeStatistics::new(task.clone()));
        let scaled = Scaled { task: free, leaf_cost: 0, scale, feature_costs: None, stated: None };
        let free = Problem::new(columns, points, scaled, shape)?;
        Ok(FrontProblem { task, free, relaxed: None, leaf_cost: 0 })
    }

    /// Let each leaf cost so much more, in the unit of `scale`.
    pub fn with_leaf_cost(mut self, leaf_cost: Cost) -> Result<Self> {
        let most = MAX_TOTAL / (self.free.points.len() as Cost).max(1);
        if !(0..=most).contains(&leaf_cost) {
            return Err(Error::invalid(format!(
                "a leaf costs at least 0 and at most {most}, and not {leaf_cost}"
            )));
        }
        self.leaf_cost = leaf_cost;
        self.free.leaf_cost = leaf_cost;
        Ok(self)
    }

    /// Add a relaxation: an additive task that bounds the cost from below; see [`FrontTask`]. The
    /// leaf penalty of the relaxation is a part of it, in its own unit. That it bounds the task is
    /// tried on random sets of points, and seen to wherever the search looks: a relaxation that
    /// does not is refused with an error that names the clause.
    pub fn with_relaxation(mut self, relaxation: Scaled) -> Result<Self> {
        let Scaled { task: relaxation, leaf_cost, scale, feature_costs, .. } = relaxation;
        let (n, task) = (self.free.points.len(), &self.task);
        if feature_costs.is_some() {
            return Err(Error::invalid("a relaxation has no feature costs"));
        }
        if relaxation.n_points() != n {
            return Err(Error::invalid(format!(
                "the relaxation knows {} points, but there are {n}",
                relaxation.n_points()
            )));
        }
        let summed = n * (task.width() + relaxation.width()) + 1;
        let sets = (MOST_SUMMED / summed).clamp(8, 200);
        let own = (task.as_ref(), self.leaf_cost);
        testing::obeys_relaxation(own, (relaxation.as_ref(), leaf_cost), sets)?;
        let rounding = relaxation.rounding();
        let carried = match has_statistics_of(relaxation.as_ref(), task.as_ref()) {
            true => relaxation,
            false => Box::new(Beside::new(task.clone(), relaxation)),
        };
        let (columns, points) = (self.free.columns.clone(), self.free.points.clone());
        let scaled = Scaled { task: carried, leaf_cost, scale, feature_costs: None, stated: None };
        let problem = Problem::new(columns, points, scaled, self.free.shape)?;
        let problem = problem.with_context_of(&self.free)?;
        // `Problem::new` has refused a rounding for which this overflows.
        self.relaxed = Some(Relaxed { problem, rounding, shift: rounding * n as Cost });
        Ok(self)
    }

    /// This problem, with trees that keep to a context too.
    pub fn with_context(mut self, context: Arc<dyn Context>) -> Result<Self> {
        self.free = self.free.with_context(context.clone())?;
        if let Some(Relaxed { problem, rounding, shift }) = self.relaxed {
            let problem = problem.with_context(context)?;
            self.relaxed = Some(Relaxed { problem, rounding, shift });
        }
        Ok(self)
    }

    pub fn task(&self) -> &T {
        &self.task
    }

    pub fn scale(&self) -> Scale {
        self.free.scale
    }

    /// The problem that is searched: the relaxation, if there is one.
    pub(super) fn searched(&self) -> &Problem {
        self.relaxed.as_ref().map_or(&self.free, |relaxed| &relaxed.problem)
    }

    /// The task for the front search, under its relaxation.
    pub(super) fn front(&self) -> ByDominance<'_, T> {
        ByDominance { relaxed: self.relaxed.as_ref(), ..self.free_front() }
    }

    /// The task for the front search without its relaxation.
    pub(super) fn free_front(&self) -> ByDominance<'_, T> {
        ByDominance {
            task: &self.task,
            width: self.task.width(),
            leaf_cost: self.leaf_cost,
            relaxed: None,
            counts_leaves: self.leaf_cost > 0 || self.free.shape.max_leaves.is_some(),
            broken: OnceLock::new(),
        }
    }
}

/// A partly ordered task for the front search: every value that another one dominates is needless.
pub(super) struct ByDominance<'a, T> {
    task: &'a T,
    width: usize,
    leaf_cost: Cost,
    relaxed: Option<&'a Relaxed>,
    /// True if a value of fewer leaves can be needed though it is worse.
    counts_leaves: bool,
    broken: OnceLock<Error>,
}

impl<T: FrontTask> ByDominance<'_, T> {
    fn dominates(&self, a: &Candidate<T::Value>, b: &Candidate<T::Value>) -> bool {
        (!self.counts_leaves || a.leaves <= b.leaves) && self.task.no_worse(&a.value, &b.value)
    }
}

impl<T: FrontTask> Front for ByDominance<'_, T> {
    type Value = T::Value;

    fn leaf(&self, sums: &[i64], push: &mut dyn FnMut(u32, Cost, T::Value)) {
        let own = &sums[..self.width];
        let least = self.leaf_bound(sums);
        let charge = |relaxed: &Relaxed| match relaxed.rounding {
            0 => 0,
            // Sums that are rounded have the number of points behind them.
            rounding => rounding * (sums[relaxed.problem.task.width() - 1] - 1),
        };
        self.task.leaf(own, &mut |label, value| {
            if !self.task.feasible(&value) {
                return;
            }
            let known = self.relaxed.and_then(|relaxed| {
                let bound = self.task.bound(own, label, &value)?;
                Some(bound.saturating_add(charge(relaxed)).min(INFINITE))
            });
            push(label, known.unwrap_or(least), value);
        });
    }

    fn leaf_bound(&self, sums: &[i64]) -> Cost {
        self.relaxed.map_or(0, |relaxed| relaxed.problem.task.leaf(sums).cost)
    }

    fn join(&self, a: &T::Value, b: &T::Value) -> T::Value {
        self.task.join(a, b)
    }

    fn drop_needless(
        &self,
        _sums: &[i64],
        list: &mut Vec<Candidate<T::Value>>,
        decided: &mut Decisions,
        pace: &mut Pace,
    ) {
        list.retain(|c| self.task.feasible(&c.value));
        let feasible = list.len();
        let dominates = |a: &_, b: &_| self.dominates(a, b);
        dominance::keep_undominated(list, dominates, |kept| pace.is_over(1 + kept));
        decided.add(Bound::Dominance, (feasible - list.len()) as u64);
    }

    fn cost(&self, value: &T::Value, leaves: u32) -> Option<Cost> {
        let cost = self.task.cost(value).filter(|_| self.task.feasible(value))?;
        if !(0..=MAX_TOTAL).contains(&cost) {
            let _ = self.broken.set(Error::task(format!(
                "a whole tree costs at least 0 and at most 2^58, but one costs {cost}"
            )));
            return None;
        }
        Some(cost + self.leaf_cost * Cost::from(leaves))
    }

    fn budget(&self, upper: Cost) -> Cost {
        match self.relaxed {
            _ if upper >= INFINITE => INFINITE,
            // Without a relaxation a bound has the penalties alone, and no cost is below 0.
            None => upper - 1,
            Some(relaxed) => {
                self.task.budget(upper).saturating_add(relaxed.shift).clamp(-1, INFINITE)
            }
        }
    }

    fn at_least(&self, bound: Cost) -> Cost {
        match self.relaxed {
            _ if bound >= INFINITE => INFINITE,
            None => bound,
            Some(relaxed) => self.task.at_least(bound - relaxed.shift).clamp(0, INFINITE),
        }
    }

    fn has_relaxation(&self) -> bool {
        self.relaxed.is_some()
    }

    fn value_bytes(&self, value: &T::Value) -> usize {
        self.task.value_bytes(value)
    }

    fn failure(&self) -> Option<Error> {
        self.broken.get().cloned()
    }
}
