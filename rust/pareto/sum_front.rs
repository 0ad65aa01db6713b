//! The whole front of two or three sums of a classifier, each tree of it finished and recounted.

use std::sync::Arc;
use std::time::Duration;

use crate::answer::confirm_paths;
use crate::check;
use crate::context::Context;
use crate::cost::{Scale, sum};
use crate::data::{Column, Points};
use crate::error::{Error, Result};
use crate::finish::labelled;
use crate::problem::{Problem, Shape};
use crate::run::{Run, Status};
use crate::search::sum_fronts::{self, Attained, Axes, Entry};
use crate::task::{ClassCosts, ClassInput, Grouped, Scaled, Task};
use crate::tree::Tree;

/// What a tree is better by if it has less of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Axis {
    /// The objective without the leaf penalty.
    Loss,
    /// The number of leaves.
    Leaves,
    /// Row weight, so many times for each class under each label; class-major.
    Sum(Vec<i64>),
}

/// Data, what is summed, and what trees may be.
pub struct SumFrontProblem {
    problem: Problem,
    /// The points with all weight, and no costs.
    searched: Problem,
    classes: ClassCosts,
    /// Row weight as it was given, where `classes` has it rounded.
    given: Option<Vec<f64>>,
    axes: Vec<Axis>,
    sums: Axes,
    /// By sum: the axis that it is of.
    axis_of: Vec<usize>,
}

/// Trees of which no one is better than another one.
#[derive(Debug, Clone)]
pub struct SumFront {
    /// The least of the first axis first.
    pub trees: Vec<SumTree>,
    /// By axis: where trees may be that were not found. Every tree is no better than one of `trees`
    /// or one of these, in any axis. None if the search was complete.
    pub open: Vec<Vec<f64>>,
    pub status: Status,
}

#[derive(Debug, Clone)]
pub struct SumTree {
    pub tree: Tree,
    /// By axis, from the points alone.
    pub values: Vec<f64>,
    /// No tree at all is better.
    pub is_proved: bool,
}

/// Rounded weights are shares of all weight in this unit.
const SHARES: f64 = (1u64 << 40) as f64;

/// What it takes to find a tree again, check it at each point, and hand it out, as measured: fronts
/// have thousands of trees.
const EACH_TREE: Duration = Duration::from_micros(400);
const EACH_POINT: Duration = Duration::from_nanos(120);

impl SumFrontProblem {
    /// `class_of`: the user's class of each of the classes, which can be cut by group.
    pub fn new(
        columns: Vec<Column>,
        points: Points,
        input: &ClassInput,
        class_of: Vec<u32>,
        axes: Vec<Axis>,
        shape: Shape,
    ) -> Result<Self> {
        if class_of.len() != input.n_classes {
            return Err(Error::invalid("the user's class is not given for each class"));
        }
        if shape.max_depth.is_none() && shape.max_leaves.is_none() {
            return Err(Error::invalid(
                "a front needs a limit on the size of trees: set max_depth or max_leaf_nodes",
            ));
        }
        let input = ClassInput { leaf_penalty: 0.0, ..input.clone() };
        let scaled = input.build()?;
        let exact = |_: &&ClassCosts| scaled.scale.slack == 0;
        let built = scaled.task.structure().classes().filter(exact).cloned();
        let (classes, given, scale) = match built {
            Some(classes) => (classes, None, scaled.scale),
            None => rounded(&input, &axes)?,
        };
        let n = classes.n_classes();
        let n_labels = classes.n_labels();
        let task: Box<dyn Task> = match &given {
            None => Box::new(Grouped::new(classes.clone(), class_of)),
            Some(weights) => Box::new(Grouped::showing(classes.clone(), class_of, weights.clone())),
        };
        let of = |task| Scaled { task, leaf_cost: 0, scale, feature_costs: None, stated: None };
        let problem = Problem::new(columns.clone(), points.clone(), of(task), shape)?;
        let free = classes.with_costs(n_labels, vec![0; n * n_labels]);
        let searched = Problem::new(columns, points, of(Box::new(free)), shape)?;
        let totals = problem.stats(0..problem.points.len());
        let (sums, axis_of) = sums(&axes, &classes, &totals)?;
        Ok(SumFrontProblem { problem, searched, classes, given, axes, sums, axis_of })
    }

    /// This problem, with trees that keep to a context too.
    pub fn with_context(mut self, context: Arc<dyn Context>) -> Result<Self> {
        self.problem = self.problem.with_context(context.clone())?;
        self.searched = self.searched.with_context(context)?;
        Ok(self)
    }

    pub fn scale(&self) -> Scale {
        self.problem.scale
    }

    /// The front. More than `most` trees are an error, and so is a panic anywhere below.
    pub fn solve(&self, most: usize, run: &Run) -> Result<SumFront> {
        Error::guard(|| {
            let finishing = EACH_TREE + EACH_POINT * self.problem.points.len() as u32;
            let found = sum_fronts::solve(&self.searched, &self.sums, most, finishing, run)?;
            let open = &found.open;
            let mut trees = Vec::with_capacity(found.trees.len());
            for tree in found.trees {
                trees.push(self.finished(tree, open)?);
            }
            trees.sort_by(|a, b| a.values.partial_cmp(&b.values).expect("no value is NaN"));
            let trees = self.without_alike(trees);
            let open: Vec<Vec<f64>> = open.iter().map(|entry| self.values_of(entry)).collect();
            let status = match run.stopped() {
                _ if open.is_empty() => Status::Optimal,
                status => status.unwrap_or(Status::Interrupted),
            };
            Ok(SumFront { trees, open, status })
        })
    }

    /// Without trees that others dominate but for what rounded weights are off. Of those that
    /// dominate each other so, the first one stays.
    fn without_alike(&self, mut trees: Vec<SumTree>) -> Vec<SumTree> {
        let Some(given) = &self.given else { return trees };
        let share = self.problem.points.len() as f64 / SHARES;
        let total = sum(given.iter().copied());
        let off = |axis: &Axis| match axis {
            Axis::Leaves => 0.0,
            Axis::Loss => share,
            Axis::Sum(costs) => share * total * costs.iter().max().map_or(0.0, |&most| most as f64),
        };
        let off: Vec<f64> = self.axes.iter().map(off).collect();
        let values: Vec<Vec<f64>> = trees.iter().map(|tree| tree.values.clone()).collect();
        let is_no_worse =
            |a: &[f64], b: &[f64]| a.iter().zip(b).zip(&off).all(|((a, b), off)| *a <= b + off);
        let mut at = 0;
        trees.retain(|_| {
            let own = at;
            at += 1;
            !values.iter().enumerate().any(|(other, of)| {
                let dominates = other != own && is_no_worse(of, &values[own]);
                dominates && (other < own || !is_no_worse(&values[own], of))
            })
        });
        trees
    }

    /// The finished tree, if it sums up to what the search said: each point is sent through its own
    /// tests.
    fn finished(&self, found: Attained, open: &[Entry]) -> Result<SumTree> {
        let Attained { entry, plan, labels } = found;
        let tree = labelled(&self.problem, plan, &labels)?;
        confirm_paths(&self.problem, &tree)?;
        let answers = check::labels(&tree, &self.problem.columns, &self.problem.points);
        let mut counted = Entry { sums: [0; sum_fronts::MOST_SUMS], leaves: 0, ..entry };
        for (point, &label) in answers.iter().enumerate() {
            let own = self.sums.leaf(self.classes.weights(point), label as usize);
            counted.sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        if counted.sums != entry.sums || self.sums.leaves && tree.n_leaves() as u32 != entry.leaves
        {
            return Err(Error::Mismatch {
                searched: format!("{:?} with {} leaves", entry.sums, entry.leaves),
                recomputed: format!("{:?} with {} leaves", counted.sums, tree.n_leaves()),
            });
        }
        let counted = Entry { leaves: if self.sums.leaves { entry.leaves } else { 0 }, ..counted };
        let is_better = |bound: &Entry| bound.dominates(&counted) && !bound.equals(&counted);
        let mut values = self.values_of(&counted);
        if let Some(given) = &self.given {
            for (axis, value) in self.axes.iter().zip(&mut values) {
                self.recount(axis, given, &answers, value);
            }
        }
        Ok(SumTree { tree, values, is_proved: !open.iter().any(is_better) })
    }

    /// A sum in the weights that were given, where the search has rounded them.
    fn recount(&self, axis: &Axis, given: &[f64], answers: &[u32], value: &mut f64) {
        let (n, n_labels) = (self.classes.n_classes(), self.classes.n_labels());
        let cost = |class: usize, label: usize| match axis {
            Axis::Sum(costs) => costs[class * n_labels + label] as f64,
            _ => f64::from(u8::from(class != label)),
        };
        if *axis == Axis::Leaves {
            return;
        }
        let points = given.chunks_exact(n).zip(answers);
        let own = points.flat_map(|(weights, &label)| {
            let each = weights.iter().enumerate();
            each.map(move |(class, weight)| weight * cost(class, label as usize))
        });
        let total = if *axis == Axis::Loss { sum(given.iter().copied()) } else { 1.0 };
        *value = sum(own) / total;
    }

    fn values_of(&self, entry: &Entry) -> Vec<f64> {
        let value = |(at, axis): (usize, &Axis)| {
            let of = |sum: usize| entry.sums[sum];
            let sum = self.axis_of.iter().position(|&axis| axis == at);
            match axis {
                Axis::Leaves => f64::from(entry.leaves),
                Axis::Loss => self.problem.scale.objective(sum.map_or(0, of)),
                Axis::Sum(_) => sum.map_or(0, of) as f64 / self.classes.weight_units(),
            }
        };
        self.axes.iter().enumerate().map(value).collect()
    }
}

/// Sums in the order in which they are searched, the least one first, and the axis of each.
fn sums(axes: &[Axis], classes: &ClassCosts, totals: &[i64]) -> Result<(Axes, Vec<usize>)> {
    let (n, n_labels) = (classes.n_classes(), classes.n_labels());
    let mut costs: Vec<(usize, Vec<i64>)> = Vec::new();
    for (at, axis) in axes.iter().enumerate() {
        match axis {
            Axis::Leaves => {}
            Axis::Loss => {
                let cost = |at: usize| classes.cost(at / n_labels, at % n_labels);
                costs.push((at, (0..n * n_labels).map(cost).collect()));
            }
            Axis::Sum(sum) => costs.push((at, sum.clone())),
        }
    }
    let n_leaves = axes.iter().filter(|axis| **axis == Axis::Leaves).count();
    if !(2..=3).contains(&axes.len()) || n_leaves > 1 {
        return Err(Error::invalid("a front has two or three different axes"));
    }
    let most = |costs: &[i64]| -> i128 {
        let rows = costs.chunks_exact(n_labels).zip(totals);
        rows.map(|(row, &total)| {
            i128::from(row.iter().max().copied().unwrap_or(0)) * i128::from(total)
        })
        .sum()
    };
    costs.sort_by_key(|(_, costs)| most(costs));
    let (axis_of, costs) = costs.into_iter().unzip();
    Ok((Axes::new((n, n_labels), costs, n_leaves == 1, totals)?, axis_of))
}

/// Weights that are no short decimals, as shares of all weight.
fn rounded(input: &ClassInput, axes: &[Axis]) -> Result<(ClassCosts, Option<Vec<f64>>, Scale)> {
    let (k, l) = (input.n_classes, input.n_labels);
    let is_error = |at: usize| input.costs[at] == f64::from(u8::from(at / l != at % l));
    let counts_errors = (0..k * l).all(is_error)
        && input.class_weights.iter().all(|&factor| factor == 1.0)
        && !input.balanced;
    if axes.contains(&Axis::Loss) && !counts_errors {
        return Err(Error::invalid(
            "a front against the loss adds up whole numbers, but these costs, class weights and \
             row weights are no short decimals together: round them, or ask for errors instead",
        ));
    }
    let total = sum(input.weights.iter().copied());
    let weights: Vec<i64> =
        input.weights.iter().map(|weight| (weight / total * SHARES).round() as i64).collect();
    let costs = (0..k * l).map(|at| i64::from(at / l != at % l)).collect();
    let classes = ClassCosts::of_integers(k, l, weights, costs, SHARES / total);
    let scale = Scale::new(SHARES, 0, 0);
    Ok((classes, Some(input.weights.clone()), scale))
}
