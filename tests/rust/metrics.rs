//! F_β, Jaccard and Matthews' correlation against the list of all trees and labellings.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::common::exhaustive::{Path, splits};
use crate::common::judge::ensure;
use crate::common::metrics::{any, loss, ratio};
use crate::common::paths::{PathMix, PathRule};
use crate::common::problems::{ColumnMix, Options, ShapeMix, random_problem};
use crate::common::{Case, Loss, Random, cases, for_all};
use certree::data::Points;
use certree::metric::{Metric, MetricInput, Scored};
use certree::problem::Problem;
use certree::run::{Limits, Run, Status};
use certree::task::ClassInput;

struct Judged {
    case: Case,
    input: MetricInput,
}

/// Leaves, and the weight of class 0 and of class 1 that is answered wrongly.
type Sums = (u32, i64, i64);

fn judged(seed: u64, metric: impl Fn(&mut Random) -> Metric, penalties: &[f64]) -> Judged {
    judged_on(seed, metric, penalties, PathMix::None)
}

fn judged_on(
    seed: u64,
    metric: impl Fn(&mut Random) -> Metric,
    penalties: &[f64],
    paths: PathMix,
) -> Judged {
    let rng = &mut Random::new(seed ^ 0xf1);
    let limits = rng.pick(&[ShapeMix::Any, ShapeMix::Any, ShapeMix::Leaves, ShapeMix::MinRows]);
    let columns = rng.pick(&[ColumnMix::Any, ColumnMix::Boolean]);
    let options = Options {
        min_points: 2,
        max_points: 9,
        max_columns: 5,
        limits,
        columns,
        paths,
        ..Options::default()
    };
    let mut case = random_problem(seed, &options);
    // `None` where the list of all trees is short enough.
    let deep = rng.chance(0.1) && case.n_points() <= 5;
    case.shape.max_depth = (!deep).then(|| rng.range(0, 3) as u32);
    let mut weights = Vec::new();
    for rows in &mut case.rows {
        let both = rng.chance(0.3);
        let class = rng.below(2);
        let own = [0, 1].map(|c| if both || c == class { rng.range(1, 4) } else { 0 });
        *rows = own.iter().sum::<usize>() as u64;
        weights.extend(own.map(|w| w as f64));
    }
    for class in 0..2 {
        if weights.iter().skip(class).step_by(2).all(|&w| w == 0.0) {
            weights[class] = 1.0;
            case.rows[0] += 1;
        }
    }
    let classes = ClassInput {
        n_classes: 2,
        n_labels: 2,
        weights,
        costs: vec![0.0, 1.0, 1.0, 0.0],
        class_weights: if rng.chance(0.3) {
            vec![1.0, rng.pick(&[0.5, 2.5, 3.0])]
        } else {
            vec![1.0; 2]
        },
        balanced: rng.chance(0.1),
        leaf_penalty: rng.pick(penalties),
    };
    let metric = metric(rng);
    Judged { case, input: MetricInput { classes, metric, positive: rng.below(2) } }
}

/// Every tree and labelling of a set of points, by what it adds up to.
fn all(
    input: &ClassInput,
    (problem, rules): (&Problem, &[PathRule]),
    memo: &mut HashMap<(u64, u32, Path), HashSet<Sums>>,
    (set, depth): (u64, u32),
    path: &[usize],
) -> HashSet<Sums> {
    let depth = depth.min(set.count_ones() - 1);
    let key = (set, depth, path.to_vec());
    if let Some(known) = memo.get(&key) {
        return known.clone();
    }
    let points: Vec<usize> = (0..64).filter(|p| set >> p & 1 == 1).collect();
    let weight = |c: usize| points.iter().map(|p| input.weights[p * 2 + c] as i64).sum::<i64>();
    let mut found = HashSet::from([(1, 0, weight(1)), (1, weight(0), 0)]);
    let here = if depth > 0 { splits(problem, set, rules, path) } else { Vec::new() };
    for (lefts, rights, path) in here {
        let a = all(input, (problem, rules), memo, (lefts, depth - 1), &path);
        let b = all(input, (problem, rules), memo, (rights, depth - 1), &path);
        for a in &a {
            found.extend(b.iter().map(|b| (a.0 + b.0, a.1 + b.1, a.2 + b.2)));
        }
    }
    memo.insert(key, found.clone());
    found
}

fn check(judged: &Judged, limits: Limits) -> Result<(), String> {
    check_with(judged, limits, true)
}

fn check_with(judged: &Judged, limits: Limits, cuts: bool) -> Result<(), String> {
    check_in(1.0, judged, limits, cuts)
}

/// With weights in another unit: nothing changes but what is exact.
fn check_in(unit: f64, judged: &Judged, limits: Limits, cuts: bool) -> Result<(), String> {
    let Case { columns, codes, rows, shape, .. } = &judged.case;
    let points = Points::new(columns, codes.clone(), rows.clone()).unwrap();
    let input = &judged.input.classes;
    let given =
        ClassInput { weights: input.weights.iter().map(|w| w * unit).collect(), ..input.clone() };
    let given = MetricInput { classes: given, ..judged.input };
    let mut scored =
        Scored::new(columns.clone(), points.clone(), &given, *shape).map_err(|e| e.to_string())?;
    if let Some(context) = judged.case.context() {
        scored = scored.with_context(context).map_err(|e| e.to_string())?;
    }
    scored.cuts = cuts;
    let problem = Problem::new(columns.clone(), points, input.build().unwrap(), *shape).unwrap();
    let n = judged.case.n_points();
    let depth = shape.max_depth.unwrap_or(u32::MAX);
    let rules = &judged.case.paths;
    let everything = ((1 << n) - 1, depth);
    let trees = all(input, (&problem, rules), &mut HashMap::new(), everything, &[]);

    let total = |c: usize| input.weights.iter().skip(c).step_by(2).sum::<f64>();
    let factor = |c: usize| input.class_weights[c] / if input.balanced { total(c) } else { 1.0 };
    let (p, q) = (judged.input.positive, 1 - judged.input.positive);
    let objective = |&(leaves, wrong0, wrong1): &Sums| {
        let wrong = [wrong0 as f64, wrong1 as f64];
        let of = |c: usize, weight: f64| factor(c) * weight;
        let loss = loss(
            judged.input.metric,
            of(p, total(p)),
            of(q, total(q)),
            of(p, wrong[p]),
            of(q, wrong[q]),
        );
        loss + input.leaf_penalty * f64::from(leaves)
    };
    let allowed = |t: &&Sums| shape.max_leaves.is_none_or(|most| t.0 <= most);
    let best = trees.iter().filter(allowed).map(objective).fold(f64::INFINITY, f64::min);

    let stopped = limits.gap > 0.0 || limits.time.is_some_and(|t| t < Duration::from_secs(1));
    let gap = limits.gap;
    let run = Run::new(limits, scored.scale(), None);
    let answer = scored.solve(&run).map_err(|e| e.to_string())?;
    // What rounding can do to the tree that was found, and to the best one. A search that comes to
    // its end is refined.
    let scale = scored.scale();
    let rounding = 2.0 * scale.slack as f64 / scale.units;
    let off = 1e-11 + if stopped { rounding } else { rounding.min(1e-9) };
    ensure(unit != 1.0 || scale.slack == 0, || "whole numbers are rounded".into())?;
    let close = |a: f64, b: f64| (a - b).abs() < off;
    if !stopped {
        ensure(answer.status == Status::Optimal, || format!("{:?}", answer.status))?;
        ensure(close(answer.lower_bound, best), || format!("{} < {best}", answer.lower_bound))?;
        ensure(close(answer.objective, best), || format!("{}, not {best}", answer.objective))?;
    }
    if answer.status == Status::GapLimit {
        let left = answer.objective - answer.lower_bound;
        ensure(left <= gap + off, || format!("stopped at a gap of {left}"))?;
    }
    ensure(answer.objective > best - 1e-11 && answer.lower_bound < best + 1e-11, || {
        format!("{} to {}, but {best}", answer.lower_bound, answer.objective)
    })?;
    ensure(answer.status != Status::Optimal || close(answer.objective, best), || {
        format!("{} is called optimal, but {best} is", answer.objective)
    })?;
    let bounds = answer.curve.windows(2);
    ensure(bounds.clone().all(|m| m[0].upper >= m[1].upper && m[0].lower <= m[1].lower), || {
        format!("bounds loosen along the curve: {:?}", answer.curve)
    })?;
    // The judge expects the best label of each leaf.
    let case = Case { loss: Loss::Classes(given.classes), ..judged.case.clone() };
    crate::common::judge::tree_is_sound(&case, &problem, &answer.tree).or_else(|why| {
        if why.contains("label") || why.contains("loss") { Ok(()) } else { Err(why) }
    })
}

fn unlimited(threads: usize) -> Limits {
    Limits { threads, time: Some(Duration::from_secs(20)), ..Limits::default() }
}

const PENALTIES: [f64; 6] = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25];

#[test]
fn ratios() {
    for_all(0..cases(1_500), |seed| check(&judged(seed, ratio, &[0.0]), unlimited(1)));
}

#[test]
fn ratios_with_a_leaf_penalty() {
    for_all(10_000..10_000 + cases(2_000), |seed| {
        check(&judged(seed, ratio, &PENALTIES), unlimited(1))
    });
}

#[test]
fn matthews() {
    let matthews = |_: &mut Random| Metric::Matthews;
    for_all(20_000..20_000 + cases(1_500), |seed| {
        check(&judged(seed, matthews, &[0.0]), unlimited(1))
    });
}

#[test]
fn matthews_by_chords() {
    let matthews = |_: &mut Random| Metric::Matthews;
    for_all(60_000..60_000 + cases(1_000), |seed| {
        check_with(&judged(seed, matthews, &[0.0, 0.05]), unlimited(1), false)
    });
}

#[test]
fn matthews_with_a_leaf_penalty() {
    let matthews = |_: &mut Random| Metric::Matthews;
    for_all(30_000..30_000 + cases(1_500), |seed| {
        check(&judged(seed, matthews, &PENALTIES), unlimited(1))
    });
}

#[test]
fn any_number_of_threads() {
    for_all(40_000..40_000 + cases(600), |seed| {
        let judged = judged(seed, any, &[0.0, 0.01, 0.05]);
        check(&judged, unlimited(2)).and_then(|()| check(&judged, unlimited(4)))
    });
}

#[test]
fn stopped_searches_bound_the_optimum() {
    for_all(50_000..50_000 + cases(1_000), |seed| {
        let judged = judged(seed, any, &[0.0, 0.01, 0.05]);
        for micros in [0, 30, 200] {
            let time = Some(Duration::from_micros(micros));
            check(&judged, Limits { time, ..Limits::default() })?;
        }
        for gap in [0.001, 0.05, 0.3] {
            check(&judged, Limits { gap, ..Limits::default() })?;
        }
        Ok(())
    });
}

/// Rules for paths. `CERTREE_CASES` asks for more.
#[test]
fn with_rules_for_paths() {
    for (at, paths) in PathMix::ALL.into_iter().enumerate() {
        let first = 100_000 + 100_000 * at as u64;
        for_all(first..first + cases(500), |seed| {
            let judged = judged_on(seed, any, &[0.0, 0.01, 0.05], paths);
            let unit = [1.0, 1.0, 1.0 / 3.0][seed as usize % 3];
            let unit = if matches!(judged.input.metric, Metric::Matthews) { 1.0 } else { unit };
            check_in(unit, &judged, unlimited(1 + seed as usize % 2), !seed.is_multiple_of(5))
        });
    }
}

/// Of these the objective is the tree's own, and the lower bound is one. `CERTREE_CASES` is for
/// long runs by hand.
#[test]
fn ratios_of_long_decimals() {
    for_all(70_000..70_000 + cases(600), |seed| {
        let unit = [1.0 / 3.0, 0.123456789, 1e9 / 7.0][seed as usize % 3];
        let judged = judged(seed, ratio, &[0.0, 0.01, 0.05]);
        check_in(unit, &judged, unlimited(1), true)?;
        let time = Some(Duration::from_micros(seed % 5 * 60));
        check_in(unit, &judged, Limits { time, ..Limits::default() }, true)
    });
}
