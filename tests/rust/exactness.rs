//! Objectives and bounds in fractions: every tree is tried in the caller's own numbers, and no
//! rounding is left out.

use std::collections::{BTreeSet, HashMap};

use crate::common::additive_inputs::additive_input;
use crate::common::judge::agrees_with_oracle;
use crate::common::problems::{LossKind, Options};
use crate::common::{Case, Loss, Random, Squares, cases, for_all, for_seeds, sets};
use certree::answer::{exactly, solve};
use certree::cost::{INFINITE, Scale};
use certree::data::Points;
use certree::error::Error;
use certree::exact::Ratio;
use certree::problem::Problem;
use certree::run::{Limits, Run, Status};
use certree::task::{ADDITIVE, ClassInput, Losses, Routed, RowCosts};

/// The best trees of all sets of points.
struct Best<'a> {
    problem: &'a Problem,
    losses: &'a Losses,
    leaf: Ratio,
    known: HashMap<(u64, u32, u32), Ratio>,
}

impl Best<'_> {
    fn of(&mut self, set: u64, depth: u32, leaves: u32) -> Ratio {
        if let Some(known) = self.known.get(&(set, depth, leaves)) {
            return known.clone();
        }
        let n = self.losses.n_labels;
        let cost = |label: usize| {
            let of = |p: usize| &self.losses.of[p * n + label];
            sets::points(set).fold(self.leaf.clone(), |sum, p| &sum + of(p))
        };
        let mut best = (0..n).map(cost).min().expect("there is a label");
        if depth > 0 && leaves > 1 {
            for [a, b] in splits(self.problem, set) {
                for left in 1..leaves.min(set.count_ones()) {
                    let both = &self.of(a, depth - 1, left) + &self.of(b, depth - 1, leaves - left);
                    best = best.min(both);
                }
            }
        }
        self.known.insert((set, depth, leaves), best.clone());
        best
    }
}

/// The two sides of every question that a set may be asked.
fn splits(problem: &Problem, set: u64) -> Vec<[u64; 2]> {
    let least = problem.shape.min_leaf_rows.max(1);
    let enough = |&side: &u64| side != 0 && sets::rows(problem, side) >= least;
    let mut found = Vec::new();
    for index in 0..problem.features.len() {
        let feature = problem.features.get(index);
        for cut in 0..feature.cuts {
            let left = |&p: &usize| feature.goes_left(&problem.points, p, cut);
            let left = sets::points(set).filter(left).fold(0, |set, p| set | 1 << p);
            let sides = [left, set & !left];
            if sides.iter().all(enough) && !found.contains(&sides) {
                found.push(sides);
            }
        }
    }
    found
}

/// The leaves of every tree on a set.
fn partitions(problem: &Problem, set: u64, depth: u32) -> BTreeSet<Vec<u64>> {
    let mut found = BTreeSet::from([vec![set]]);
    for [a, b] in if depth > 0 { splits(problem, set) } else { Vec::new() } {
        let right = partitions(problem, b, depth - 1);
        for left in partitions(problem, a, depth - 1) {
            for right in &right {
                let mut leaves = [&left[..], right].concat();
                leaves.sort_unstable();
                found.insert(leaves);
            }
        }
    }
    found
}

/// The objective of the best tree, where that is a matter of its leaves alone.
fn optimum_of_leaves(problem: &Problem) -> Ratio {
    let stated = problem.stated.as_ref().expect("numbers are stated");
    let n = problem.points.len();
    let depth = problem.shape.max_depth.map_or(n, |depth| depth as usize).min(n);
    let most = problem.shape.max_leaves.unwrap_or(u32::MAX) as usize;
    (partitions(problem, sets::all(problem), depth as u32).into_iter())
        .filter(|leaves| leaves.len() <= most)
        .map(|sets| {
            let mut leaves = vec![0; n];
            for (leaf, &set) in sets.iter().enumerate() {
                sets::points(set).for_each(|point| leaves[point] = leaf);
            }
            let labels = vec![0; n];
            stated.objective(&Routed { leaves, labels, n_leaves: sets.len(), bought: Vec::new() })
        })
        .min()
        .expect("a leaf is a tree")
}

/// The objective of the best tree.
fn optimum(problem: &Problem) -> Ratio {
    let losses = problem.stated.as_ref().and_then(|stated| stated.losses());
    let Some(losses) = losses else { return optimum_of_leaves(problem) };
    let leaf = &losses.penalty * &losses.normalizer;
    let mut best = Best { problem, losses: &losses, leaf, known: HashMap::new() };
    let n = problem.points.len() as u32;
    let depth = problem.shape.max_depth.unwrap_or(n).min(n);
    let leaves = problem.shape.max_leaves.unwrap_or(n).min(n);
    best.of(sets::all(problem), depth, leaves).over(&losses.normalizer)
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

/// The answer's objective is that of its tree, its bound holds, and an optimum is one.
fn holds(problem: &Problem) -> Result<(), String> {
    let run = Run::new(Limits { threads: 1, ..Limits::default() }, problem.scale, None);
    let answer = solve(problem, &run).map_err(|e| e.to_string())?;
    let best = optimum(problem);
    let own = exactly::objective(problem, &answer.tree).expect("numbers are stated");
    ensure(own.nearest() == answer.objective, || {
        format!("the tree is worth {:e}, not {:e}", own.nearest(), answer.objective)
    })?;
    // Where nothing is rounded, both bounds are the optimum to the nearest float.
    let bound = Ratio::stored(answer.lower_bound);
    let same = problem.scale.slack == 0 && answer.lower_bound == best.nearest();
    ensure(same || bound <= best, || {
        format!("the bound {:e} is above {:e}", answer.lower_bound, best.nearest())
    })?;
    // Sums of targets are known to 61 binary digits, and nothing refines them.
    let is_coarse = problem.scale.slack > 0 && problem.task.structure().squares().is_some();
    if is_coarse && answer.status == Status::RoundingLimit {
        return Ok(());
    }
    let size = problem.scale.offset as f64 / problem.scale.units;
    let unavoidable = problem.stated.as_ref().map_or(0.0, |stated| stated.unavoidable_cost());
    let allowed = 1e-9 * best.nearest().abs().max(size.abs()).max(unavoidable);
    let gap = answer.objective - answer.lower_bound;
    let more = (&own - &best).nearest();
    ensure(answer.status == Status::Optimal, || {
        format!("{:?} at a gap of {gap:e}", answer.status)
    })?;
    ensure(gap <= allowed && more <= allowed, || {
        format!("called optimal at a gap of {gap:e}, and {more:e} above {:e}", best.nearest())
    })
}

/// Numbers of any kind and of any size.
fn number(rng: &mut Random, orders: f64) -> f64 {
    match rng.below(4) {
        0 => rng.range(1, 9) as f64,
        1 => rng.range(1, 99) as f64 / 7.0,
        2 => rng.range(1, 999) as f64 / 1000.0,
        _ => 10f64.powf((rng.unit() - 0.5) * orders),
    }
}

fn small() -> Options {
    Options { max_points: 8, max_columns: 3, ..Options::default() }
}

/// Costs, weights, class weights and penalties over 60 orders of magnitude. More:
/// `CERTREE_CASES=20000`.
#[test]
fn numbers_of_any_size() {
    for_all(0..cases(1_000), scattered);
}

fn scattered(seed: u64) -> Result<(), String> {
    let rng = &mut Random::new(seed);
    let rows = rng.chance(0.4);
    let loss = if rows { LossKind::Rows } else { LossKind::Weighted };
    let mut case = crate::common::random_problem(seed, &Options { loss, ..small() });
    let orders = rng.pick(&[2.0, 15.0, 30.0, 60.0]);
    scatter(rng, &mut case, orders);
    holds_or_is_refused(&case)
}

/// Numbers may be too far apart, such as the weights of all classes, and are refused then.
fn holds_or_is_refused(case: &Case) -> Result<(), String> {
    match case.problem() {
        Ok(problem) => holds(&problem),
        Err(error) if error.to_string().contains("too far apart") => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// A tree that misses values of sets may have the sides of a split the other way round than its
/// plan: the labels of a tree in finer units stay with their rows.
#[test]
fn labels_of_finer_units_stay_with_their_rows() {
    scattered(7_936).unwrap();
}

/// What trees differ by may be smaller by any factor than what they all pay, and beside both there
/// are costs so large that the first units tell neither.
#[test]
fn what_all_trees_pay_may_be_far_above_what_they_differ_by() {
    let options = Options { loss: LossKind::Rows, ..small() };
    for_seeds(1_000, &options, |case| {
        let mut case = case.clone();
        let rng = &mut Random::new(case.codes.iter().flatten().map(|&c| u64::from(c) + 3).sum());
        let Loss::Rows { n_labels, costs, leaf_penalty, .. } = &mut case.loss else {
            return Ok(());
        };
        let small = 10f64.powf(-60.0 * rng.unit());
        for own in costs.chunks_exact_mut(*n_labels) {
            let all = if rng.chance(0.5) { number(rng, 6.0) } else { 0.0 };
            own.iter_mut().for_each(|cost| *cost = all + small * rng.unit());
            if rng.chance(0.3) {
                own[rng.below(*n_labels)] = number(rng, 60.0);
            }
        }
        *leaf_penalty = small * rng.pick(&[0.0, 0.1, 1.0]);
        holds_or_is_refused(&case)
    });
}

/// Targets and penalties of any size, and small ones, of which many trees are as good as others.
#[test]
fn targets_of_any_size() {
    let options = Options { max_points: 7, loss: LossKind::Squares, ..small() };
    for_all(0..cases(400), |seed| {
        let rng = &mut Random::new(seed);
        let mut case = crate::common::random_problem(seed, &options);
        if rng.chance(0.5) {
            let orders = rng.pick(&[2.0, 15.0, 30.0, 60.0]);
            scatter(rng, &mut case, orders);
        }
        holds_or_is_refused(&case)
    });
}

/// Errors of several targets under weights of any size, which are rounded where they are no short
/// decimals.
#[test]
fn several_targets_of_any_weight() {
    let task = ADDITIVE.iter().position(|task| task.name == "targets").expect("there is one");
    for_all(0..cases(600), |seed| {
        let rng = &mut Random::new(seed);
        let case = crate::common::random_problem(seed, &Options { max_points: 7, ..small() });
        let any = 0.3 * rng.unit();
        let penalty = rng.pick(&[0.0, 0.01, 1.0 / 7.0, any, any]);
        let mut input = additive_input(rng, task, case.n_points(), penalty);
        let orders = rng.pick(&[1.0, 15.0, 30.0, 60.0]);
        let weights = input.columns.get_mut("weights").expect("targets have weights");
        let width = weights.len() / case.n_points();
        // Every target sees the row weight of its point.
        for own in weights.chunks_exact_mut(width) {
            if rng.chance(0.3) {
                continue;
            }
            let weight = number(rng, orders);
            own.iter_mut().filter(|weight| **weight > 0.0).for_each(|own| *own = weight);
        }
        let failed = |e: Error| e.to_string();
        let points = Points::new(&case.columns, case.codes.clone(), case.rows.clone());
        let (points, scaled) = (points.map_err(failed)?, input.build().map_err(failed)?);
        let problem = Problem::new(case.columns, points, scaled, case.shape).map_err(failed)?;
        let run = Run::new(Limits { threads: 1, ..Limits::default() }, problem.scale, None);
        let answer = solve(&problem, &run).map_err(failed)?;
        let best = optimum_of_leaves(&problem);
        let own = exactly::objective(&problem, &answer.tree).expect("numbers are stated");
        ensure(own.nearest() == answer.objective, || {
            format!("the tree is worth {:e}, not {:e}", own.nearest(), answer.objective)
        })?;
        // As everywhere, the optimum to the nearest float where nothing is rounded.
        let same = problem.scale.slack == 0 && answer.lower_bound == best.nearest();
        ensure(same || Ratio::stored(answer.lower_bound) <= best, || {
            format!("the bound {:e} is above {:e}", answer.lower_bound, best.nearest())
        })?;
        // Rates are at most 1.
        let gap = answer.objective - answer.lower_bound;
        ensure(answer.status == Status::Optimal && gap <= 1e-9, || {
            format!("{:?} at a gap of {gap:e}", answer.status)
        })
    });
}

fn scatter(rng: &mut Random, case: &mut Case, orders: f64) {
    let mut change = |x: &mut f64| {
        if *x != 0.0 && rng.chance(0.7) {
            *x = number(rng, orders).copysign(*x);
        }
    };
    match &mut case.loss {
        Loss::Classes(ClassInput { weights, costs, class_weights, leaf_penalty, .. }) => {
            let all = weights.iter_mut().chain(costs).chain(class_weights).chain([leaf_penalty]);
            all.for_each(&mut change);
        }
        Loss::Rows { costs, leaf_penalty, .. } => {
            costs.iter_mut().chain([leaf_penalty]).for_each(&mut change);
        }
        Loss::Squares(Squares { targets, leaf_penalty, .. }) => {
            targets.iter_mut().chain([leaf_penalty]).for_each(&mut change);
        }
    }
}

/// Rows are counted whatever the penalty and the factors of classes are, and in any unit of weight.
#[test]
fn counts_stay_counts() {
    let options = Options { loss: LossKind::Accuracy, ..small() };
    for_seeds(600, &options, |case| {
        let mut case = case.clone();
        let rng = &mut Random::new(case.codes.iter().flatten().map(|&c| u64::from(c) + 3).sum());
        let Loss::Classes(input) = &mut case.loss else { return Ok(()) };
        input.leaf_penalty = 10f64.powf(-4.0 * rng.unit());
        if rng.chance(0.5) {
            input.class_weights.iter_mut().for_each(|weight| *weight = 0.1 + rng.unit());
        }
        let unit = rng.pick(&[1.0, 1.0 / 7.0, 1.0 / 3.0, 1e-9 / 7.0]);
        input.weights.iter_mut().for_each(|weight| *weight *= unit);
        let problem = case.problem().map_err(|e| e.to_string())?;
        let Loss::Classes(input) = &case.loss else { return Ok(()) };
        ensure(problem.task.structure().classes().is_some(), || {
            format!("rows are not counted: {input:?}")
        })?;
        holds(&problem)?;
        agrees_with_oracle(&case, 1)
    });
}

/// A gap limit speaks of the caller's numbers, so that what rounding may hide counts, too.
#[test]
fn a_gap_limit_is_less_by_what_rounding_may_hide() {
    let scale = Scale::new(100.0, 0, 5);
    let run = || Run::new(Limits { gap: 0.1, ..Limits::default() }, scale, None);
    assert_eq!(run().report(10, 16), None);
    assert_eq!(run().report(10, 20), None);
    assert_eq!(run().report(10, 15), Some(Status::GapLimit));
}

/// Costs that are all rounded up add up to more than they are, by half a unit for each point at
/// most.
#[test]
fn every_point_may_be_rounded() {
    let mut tried = 0;
    for n in 1_000..1_400usize {
        let costs: Vec<f64> = (0..2 * n).map(|at| (at % 2) as f64).collect();
        let scaled = RowCosts::build(2, &costs, n as f64, 0.0, None).expect("costs");
        let labels = scaled.task.structure().labelled().expect("labels");
        let cost: i64 = (0..n).map(|point| labels.loss(point, 1)).sum();
        assert!(cost < INFINITE);
        tried += usize::from(cost as f64 > scaled.scale.units + 200.0);
        assert!(scaled.scale.lower(cost) <= 1.0, "{n} points: {cost} of {}", scaled.scale.units);
    }
    assert!(tried > 5, "only {tried} problems round up at all");
}
