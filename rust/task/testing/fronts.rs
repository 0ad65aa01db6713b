//! Trials of a partly ordered task: does it keep its contract, and does a relaxation bound it?

use std::fmt::Display;

use super::random::Random;
use crate::cost::{Cost, MAX_TOTAL};
use crate::error::{Error, Result};
use crate::task::contract::Task;
use crate::task::front_task::FrontTask;

/// Sets of points that are tried.
const SETS: usize = 2_000;

/// Values of one set of points that are compared with each other.
const VALUES: usize = 8;

/// Points that an error lists.
const LISTED: usize = 20;

/// Try every clause of [`FrontTask`]'s contract on random sets of the task's points. The error
/// names the clause that is broken, and the points that break it.
pub fn obeys_front<T: FrontTask>(task: &T) -> Result<()> {
    check_statistics(task)?;
    let mut trial = Trial { task, random: Random(0x5eed), relaxation: None };
    (0..SETS).try_for_each(|_| trial.try_once())
}

/// Try on `sets` random sets of points, and on single ones, that a relaxation bounds a partly
/// ordered task from below. Both come with the penalty of a leaf, each in its own unit. The error
/// names the clause that is broken.
pub fn obeys_relaxation<T: FrontTask>(
    (task, leaf_cost): (&T, Cost),
    (relaxation, relaxed_leaf_cost): (&dyn Task, Cost),
    sets: usize,
) -> Result<()> {
    check_statistics(task)?;
    let relaxation = Some(Relaxation { leaf_cost, task: relaxation, relaxed_leaf_cost });
    let mut trial = Trial { task, random: Random(0xb0d), relaxation };
    let n = task.n_points();
    for point in (0..n).step_by(n.div_ceil(1_000).max(1)) {
        trial.leaves(&[point as u32])?;
    }
    (0..sets).try_for_each(|_| trial.try_once())
}

/// Every point has `width` statistics.
fn check_statistics<T: FrontTask>(task: &T) -> Result<()> {
    let wrong = (0..task.n_points()).find(|&point| task.stats(point).len() != task.width());
    wrong.map_or(Ok(()), |point| broken("a point has `width` statistics", &[point as u32]))
}

fn broken<T>(clause: impl Display, points: &[u32]) -> Result<T> {
    let clause = match points.len() {
        ..=LISTED => format!("{clause}, but not for the points {points:?}"),
        n => format!("{clause}, but not for {n} points, of which the first is {}", points[0]),
    };
    Err(Error::task(clause))
}

struct Relaxation<'a> {
    task: &'a dyn Task,
    /// The penalties of a leaf: in the unit of the cost, and in that of the relaxation.
    leaf_cost: Cost,
    relaxed_leaf_cost: Cost,
}

/// The value of some tree.
#[derive(Clone)]
struct Tried<V> {
    value: V,
    leaves: Cost,
    /// The cost in the relaxation without penalties.
    bound: Cost,
}

struct Trial<'a, T> {
    task: &'a T,
    random: Random,
    relaxation: Option<Relaxation<'a>>,
}

impl<T: FrontTask> Trial<'_, T> {
    /// Some points, and others beside them: in every other trial these are all points.
    fn try_once(&mut self) -> Result<()> {
        let share =
            if self.random.next().is_multiple_of(2) { 4 } else { self.random.next() % 4 + 1 };
        let all = 0..self.task.n_points() as u32;
        let set: Vec<u32> = all.filter(|_| self.random.next() % 4 < share).collect();
        let (own, rest) = self.halves(&set);
        if own.is_empty() || rest.is_empty() {
            return Ok(());
        }
        let values = self.trees(&own)?;
        let beside = self.trees(&rest)?;
        for c in beside.iter().take(2) {
            self.join_keeps_order(&values, c, &set)?;
        }
        self.order_of_joins(&own, &beside)?;
        if share == 4 {
            for (a, c) in values.iter().zip(&beside) {
                self.whole(&self.join(a, c), &set)?;
            }
        }
        Ok(())
    }

    fn halves(&mut self, set: &[u32]) -> (Vec<u32>, Vec<u32>) {
        set.iter().partition(|_| self.random.next().is_multiple_of(2))
    }

    /// The values of a leaf with these points.
    fn leaves(&self, points: &[u32]) -> Result<Vec<Tried<T::Value>>> {
        let sums = self.task.sum_of(points);
        let relaxed = match &self.relaxation {
            Some(relaxation) => relaxation.task.leaf(&relaxation.task.sum_of(points)).cost,
            None => 0,
        };
        let mut labels = Vec::new();
        let mut values = Vec::new();
        self.task.leaf(&sums, &mut |label, value| {
            labels.push(label);
            let bound = match self.relaxation {
                Some(_) => self.task.bound(&sums, label, &value).unwrap_or(relaxed),
                None => 0,
            };
            values.push(Tried { value, leaves: 1, bound });
        });
        labels.sort_unstable();
        if labels.windows(2).any(|pair| pair[0] == pair[1]) {
            return broken("the values of a leaf have different labels", points);
        }
        if values.iter().any(|tried| tried.bound < relaxed) {
            return broken(
                "a leaf's bound is at least what the relaxation's best answer costs there",
                points,
            );
        }
        Ok(values)
    }

    /// Values of a leaf with these points and of two random stumps, in a random order.
    fn trees(&mut self, points: &[u32]) -> Result<Vec<Tried<T::Value>>> {
        let mut found = self.leaves(points)?;
        for _ in 0..2 {
            let (left, right) = self.halves(points);
            if left.is_empty() || right.is_empty() {
                continue;
            }
            let (left, right) = (self.leaves(&left)?, self.leaves(&right)?);
            let joined = |a| right.iter().map(move |b| (a, b));
            found.extend(left.iter().flat_map(joined).map(|(a, b)| self.join(a, b)));
        }
        for at in (1..found.len()).rev() {
            found.swap(at, self.random.next() as usize % (at + 1));
        }
        found.truncate(VALUES);
        Ok(found)
    }

    fn join(&self, a: &Tried<T::Value>, b: &Tried<T::Value>) -> Tried<T::Value> {
        let value = self.task.join(&a.value, &b.value);
        Tried { value, leaves: a.leaves + b.leaves, bound: a.bound + b.bound }
    }

    /// Dominance and feasibility before and after a join.
    fn join_keeps_order(
        &self,
        values: &[Tried<T::Value>],
        c: &Tried<T::Value>,
        set: &[u32],
    ) -> Result<()> {
        let task = self.task;
        for a in values {
            if !task.no_worse(&a.value, &a.value) {
                return broken("a value is no worse than itself", set);
            }
            let with_a = task.join(&a.value, &c.value);
            if !task.feasible(&a.value) && task.feasible(&with_a) {
                return broken("a value that is not feasible stays so when it is joined", set);
            }
            for b in values.iter().filter(|b| task.no_worse(&a.value, &b.value)) {
                let with_b = task.join(&b.value, &c.value);
                if task.feasible(&b.value) && !task.feasible(&a.value) {
                    return broken("what is no worse than a feasible value is feasible", set);
                }
                if !task.no_worse(&with_a, &with_b) {
                    return broken("joining preserves dominance", set);
                }
                let is_whole = set.len() == task.n_points();
                if is_whole && self.dearer(&with_a, &with_b) {
                    return broken("a value that is no worse costs no more", set);
                }
            }
        }
        Ok(())
    }

    /// True if a whole tree of value a costs more than one of value b, or is not allowed though
    /// that one is.
    fn dearer(&self, a: &T::Value, b: &T::Value) -> bool {
        let cost = |value| match self.task.feasible(value) {
            true => self.task.cost(value).unwrap_or(Cost::MAX),
            false => Cost::MAX,
        };
        cost(a) > cost(b)
    }

    /// Three parts of some points joined in any order give values that are no worse than each
    /// other.
    fn order_of_joins(&mut self, points: &[u32], beside: &[Tried<T::Value>]) -> Result<()> {
        let (left, right) = self.halves(points);
        if left.is_empty() || right.is_empty() {
            return Ok(());
        }
        let (left, right) = (self.leaves(&left)?, self.leaves(&right)?);
        let task = self.task;
        let join = |a: &T::Value, b: &T::Value| task.join(a, b);
        let alike = |x: &T::Value, y: &T::Value| task.no_worse(x, y) && task.no_worse(y, x);
        for ((a, b), c) in left.iter().zip(&right).zip(beside) {
            let (a, b, c) = (&a.value, &b.value, &c.value);
            if !alike(&join(a, b), &join(b, a)) {
                return broken("joining is commutative", points);
            }
            if !alike(&join(&join(a, b), c), &join(a, &join(b, c))) {
                return broken("joining is associative", points);
            }
        }
        Ok(())
    }

    /// The clauses of a whole tree.
    fn whole(&self, tried: &Tried<T::Value>, all: &[u32]) -> Result<()> {
        let task = self.task;
        let Some(cost) = task.cost(&tried.value).filter(|_| task.feasible(&tried.value)) else {
            return Ok(());
        };
        if !(0..=MAX_TOTAL).contains(&cost) {
            return broken("a whole tree costs at least 0 and at most 2^58", all);
        }
        let Some(relaxation) = &self.relaxation else { return Ok(()) };
        let cost = cost + relaxation.leaf_cost * tried.leaves;
        let bound = tried.bound + relaxation.relaxed_leaf_cost * tried.leaves;
        if bound > task.budget(cost + 1) {
            return broken(
                format!(
                    "a tree that costs less than `upper` is within `budget(upper)` in the \
                     relaxation (a tree costs {cost}, and {bound} in the relaxation, more than {})",
                    task.budget(cost + 1)
                ),
                all,
            );
        }
        if task.at_least(bound) > cost {
            return broken(
                format!(
                    "a tree that costs `bound` in the relaxation costs at least `at_least(bound)` \
                     (a tree costs {cost}, and {bound} in the relaxation, for which {} is claimed)",
                    task.at_least(bound)
                ),
                all,
            );
        }
        Ok(())
    }
}
