//! Whole fronts of sums against the list of all trees and labellings.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::common::exhaustive::{Path, splits};
use crate::common::judge::ensure;
use crate::common::limited::{Limited, limited};
use crate::common::paths::PathMix;
use crate::common::{Case, Random, cases, for_all};
use certree::check;
use certree::cost::Scale;
use certree::data::Points;
use certree::pareto::{Axis, SumFront, SumFrontProblem};
use certree::problem::Problem;
use certree::run::{Limits, Run, Status};
use certree::task::ClassInput;
use certree::tree::Tree;

/// By tree and labelling: what it adds up to for each axis.
struct Oracle<'a> {
    limited: &'a Limited,
    problem: &'a Problem,
    axes: &'a [Axis],
    memo: HashMap<(u64, u32, Path), HashSet<Vec<i64>>>,
}

/// What one row of a class adds to an axis under a label.
fn adds(input: &ClassInput, axis: &Axis, class: usize, label: usize) -> i64 {
    let at = class * input.n_labels + label;
    match axis {
        Axis::Leaves => 0,
        Axis::Loss => input.costs[at] as i64,
        Axis::Sum(costs) => costs[at],
    }
}

impl Oracle<'_> {
    /// Leaves first, then the axes.
    fn below(&mut self, set: u64, depth: u32, path: &[usize]) -> HashSet<Vec<i64>> {
        let key = (set, depth, path.to_vec());
        if let Some(known) = self.memo.get(&key) {
            return known.clone();
        }
        let input = &self.limited.input;
        let k = input.n_classes;
        let leaf = |label: usize| {
            let value = |axis: &Axis| {
                let points = (0..64usize).filter(|p| set >> p & 1 == 1);
                let each = points.flat_map(|p| (0..k).map(move |c| (p * k + c, c)));
                each.map(|(at, c)| input.weights[at] as i64 * adds(input, axis, c, label))
                    .sum::<i64>()
            };
            let is_leaves = |axis: &Axis| i64::from(*axis == Axis::Leaves);
            let values = self.axes.iter().map(|axis| value(axis) + is_leaves(axis));
            std::iter::once(1).chain(values).collect::<Vec<i64>>()
        };
        let mut found: HashSet<Vec<i64>> = (0..input.n_labels).map(leaf).collect();
        let rules = &self.limited.case.paths;
        let here = if depth > 0 { splits(self.problem, set, rules, path) } else { Vec::new() };
        for (lefts, rights, path) in here {
            let a = self.below(lefts, depth - 1, &path);
            let b = self.below(rights, depth - 1, &path);
            for a in &a {
                found.extend(b.iter().map(|b| a.iter().zip(b).map(|(x, y)| x + y).collect()));
            }
        }
        self.memo.insert(key, found.clone());
        found
    }
}

/// Two or three axes, no two of which are alike.
fn random_axes(seed: u64, input: &ClassInput, class_of: &[u32]) -> Vec<Axis> {
    let rng = &mut Random::new(seed ^ 0xa0e5);
    let (k, l) = (input.n_classes, input.n_labels);
    let mut axes: Vec<Axis> = Vec::new();
    let n = rng.range(2, 3);
    while axes.len() < n {
        let label = rng.below(l);
        let group = rng.below(2);
        let sum = |add: &dyn Fn(usize, usize) -> i64| {
            Axis::Sum((0..k * l).map(|at| add(at / l, at % l)).collect())
        };
        let wrong = |class: usize, k: usize| i64::from(class_of[class] as usize != k);
        let axis = match rng.below(6) {
            0 => Axis::Leaves,
            1 => Axis::Loss,
            // Errors of a label, errors of a group, rows that get a label, any numbers.
            2 | 3 => sum(&|c, k| if class_of[c] as usize == label { wrong(c, k) } else { 0 }),
            4 if rng.chance(0.5) => sum(&|c, k| if c % 2 == group { wrong(c, k) } else { 0 }),
            4 => sum(&|_, k| i64::from(k == label)),
            _ => Axis::Sum((0..k * l).map(|_| rng.below(4) as i64).collect()),
        };
        if !axes.contains(&axis) {
            axes.push(axis);
        }
    }
    axes
}

/// Those that no other one is at least as good as.
fn front(all: HashSet<Vec<i64>>) -> HashSet<Vec<i64>> {
    let is_no_worse = |a: &[i64], b: &[i64]| a.iter().zip(b).all(|(a, b)| a <= b);
    let kept = |one: &&Vec<i64>| !all.iter().any(|other| other != *one && is_no_worse(other, one));
    all.iter().filter(kept).cloned().collect()
}

/// What a tree adds up to, from the rows of its own tests.
fn recount(limited: &Limited, axes: &[Axis], tree: &Tree, unit: f64) -> Vec<f64> {
    let Case { columns, codes, rows, .. } = &limited.case;
    let points = Points::new(columns, codes.clone(), rows.clone()).unwrap();
    let input = &limited.input;
    let total: f64 = input.weights.iter().sum::<f64>();
    let labels = check::labels(tree, columns, &points);
    let value = |axis: &Axis| {
        let each = labels.iter().enumerate().flat_map(|(point, &label)| {
            (0..input.n_classes).map(move |class| {
                let weight = input.weights[point * input.n_classes + class];
                weight * adds(input, axis, class, label as usize) as f64
            })
        });
        match axis {
            Axis::Leaves => tree.n_leaves() as f64,
            Axis::Loss => each.sum::<f64>() / total,
            Axis::Sum(_) => each.sum::<f64>() * unit,
        }
    };
    axes.iter().map(value).collect()
}

struct Asked {
    threads: usize,
    time: Option<Duration>,
    /// Weights are this many times as large.
    unit: f64,
}

fn check(seed: u64, paths: PathMix, asked: &Asked) -> Result<(), String> {
    let mut limited = limited(seed, 1, paths);
    if asked.time.is_some() {
        limited.case.shape.max_depth = Some(3);
    }
    let axes = random_axes(seed, &limited.input, &limited.class_of);
    let Case { columns, codes, rows, shape, .. } = &limited.case;
    let points = Points::new(columns, codes.clone(), rows.clone()).unwrap();
    let unit = asked.unit;
    let input = ClassInput {
        weights: limited.input.weights.iter().map(|w| w * unit).collect(),
        ..limited.input.clone()
    };
    let class_of = limited.class_of.clone();
    let built = SumFrontProblem::new(
        columns.clone(),
        points.clone(),
        &input,
        class_of,
        axes.clone(),
        *shape,
    );
    let mut problem = match built {
        Err(e) if axes.contains(&Axis::Loss) && e.to_string().contains("short decimals") => {
            return Ok(());
        }
        built => built.map_err(|e| e.to_string())?,
    };
    let plain = limited.input.build().map_err(|e| e.to_string())?;
    let mut all =
        Problem::new(columns.clone(), points, plain, *shape).map_err(|e| e.to_string())?;
    if let Some(context) = limited.case.context() {
        problem = problem.with_context(context.clone()).map_err(|e| e.to_string())?;
        all = all.with_context(context).map_err(|e| e.to_string())?;
    }
    let limits = Limits { threads: asked.threads, time: asked.time, ..Limits::default() };
    let run = Run::new(limits, Scale::new(1.0, 0, 0), None);
    let found = problem.solve(1000, &run).map_err(|e| e.to_string())?;
    let mut oracle = Oracle { limited: &limited, problem: &all, axes: &axes, memo: HashMap::new() };
    let n = limited.case.n_points();
    let most = shape.max_leaves.map_or(i64::MAX, i64::from);
    let attained: HashSet<Vec<i64>> = oracle
        .below((1 << n) - 1, shape.max_depth.unwrap(), &[])
        .into_iter()
        .filter(|sums| sums[0] <= most)
        .map(|sums| sums[1..].to_vec())
        .collect();
    let total: f64 = limited.input.weights.iter().sum::<f64>();
    let shown = |sums: &Vec<i64>| -> Vec<f64> {
        let each = axes.iter().zip(sums).map(|(axis, &sum)| match axis {
            Axis::Leaves => sum as f64,
            Axis::Loss => sum as f64 / total,
            Axis::Sum(_) => sum as f64 * unit,
        });
        each.collect()
    };
    judge(&limited, &axes, &found, unit)?;
    let near = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + a.abs()))
    };
    let wanted: Vec<Vec<f64>> = front(attained.clone()).iter().map(shown).collect();
    if asked.time.is_none() {
        ensure(found.status == Status::Optimal && found.open.is_empty(), || "not done".into())?;
        ensure(found.trees.len() == wanted.len(), || {
            let own: Vec<_> = found.trees.iter().map(|tree| &tree.values).collect();
            format!("{own:?} but {wanted:?}")
        })?;
        for tree in &found.trees {
            let is_there = wanted.iter().any(|values| near(values, &tree.values));
            ensure(is_there && tree.is_proved, || format!("{:?} of {wanted:?}", tree.values))?;
        }
        return Ok(());
    }
    // Of a search that was stopped: what is proved is in the front, and nothing is below it all.
    for tree in found.trees.iter().filter(|tree| tree.is_proved) {
        let is_there = wanted.iter().any(|values| near(values, &tree.values));
        ensure(is_there, || format!("{:?} is not in {wanted:?}", tree.values))?;
    }
    let known: Vec<&Vec<f64>> = found.trees.iter().map(|t| &t.values).chain(&found.open).collect();
    for values in attained.iter().map(shown) {
        let below = |known: &&Vec<f64>| known.iter().zip(&values).all(|(a, b)| *a <= b + 1e-9);
        ensure(known.iter().any(below), || format!("{values:?} is below {known:?}"))?;
    }
    Ok(())
}

/// Values are those of the trees, in their order, and trees are as large as they may be.
fn judge(limited: &Limited, axes: &[Axis], found: &SumFront, unit: f64) -> Result<(), String> {
    let shape = &limited.case.shape;
    for tree in &found.trees {
        let own = recount(limited, axes, &tree.tree, unit);
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
        let is_near = own.iter().zip(&tree.values).all(near);
        ensure(is_near, || format!("{:?}, recounted {own:?}", tree.values))?;
        let leaves = tree.tree.nodes.iter().filter(|node| node.split.is_none());
        let least = leaves.map(|leaf| leaf.rows).min().unwrap_or(0);
        let is_allowed = tree.tree.n_leaves() == 1 || least >= shape.min_leaf_rows.max(1);
        ensure(is_allowed, || format!("a leaf of {least} rows"))?;
        let most = shape.max_leaves.unwrap_or(u32::MAX);
        ensure(tree.tree.n_leaves() <= most as usize, || "too many leaves".into())?;
    }
    let values: Vec<&Vec<f64>> = found.trees.iter().map(|tree| &tree.values).collect();
    ensure(values.is_sorted(), || format!("{values:?} is not sorted"))
}

#[test]
fn fronts_are_complete_and_attained() {
    for_all(0..cases(600), |seed| {
        let asked = Asked { threads: 1 + 2 * (seed as usize % 2), time: None, unit: 1.0 };
        check(seed, PathMix::None, &asked)
    });
}

#[test]
fn fronts_keep_rules_for_paths() {
    for mix in PathMix::ALL {
        for_all(100_000..100_000 + cases(300), |seed| {
            check(seed, mix, &Asked { threads: 1, time: None, unit: 1.0 })
        });
    }
}

#[test]
fn fronts_of_other_weights() {
    // A short decimal, and numbers that are none.
    for unit in [0.125, 0.1, 1.0 / 3.0, std::f64::consts::PI * 1e-7] {
        for_all(200_000..200_000 + cases(300), |seed| {
            check(seed, PathMix::None, &Asked { threads: 1, time: None, unit })
        });
    }
}

#[test]
fn searches_that_are_stopped_prove_what_they_say() {
    for_all(300_000..300_000 + cases(500), |seed| {
        let time = Some(Duration::from_micros(seed % 250));
        check(seed, PathMix::None, &Asked { threads: 1 + seed as usize % 3, time, unit: 1.0 })
    });
}
