//! The judge: an answer is right if it costs what the oracle's costs, proves it, and keeps the
//! rules.

use std::time::Duration;

use certree::answer::{Answer, exactly, solve};
use certree::check;
use certree::error::Error;
use certree::finish::grow;
use certree::problem::Problem;
use certree::run::{Limits, Run, Status};
use certree::search::{Found, brute};
use certree::tree::Tree;

use super::{Case, naive, paths};

/// Solve without limits (but for a clock, so that a search that hangs fails) and judge the answer.
pub fn agrees_with_oracle(case: &Case, threads: usize) -> Result<(), String> {
    agrees_with(case, threads, brute::solve)
}

/// As above, by another oracle.
pub fn agrees_with(
    case: &Case,
    threads: usize,
    oracle: impl Fn(&Problem) -> Found,
) -> Result<(), String> {
    let problem = case.problem().map_err(|e| format!("the case does not build: {e}"))?;
    let oracle = oracle(&problem);
    let limits = Limits { time: Some(Duration::from_secs(20)), threads, ..Limits::default() };
    let run = Run::new(limits, problem.scale, None);
    let answer = solve(&problem, &run).map_err(|e| e.to_string())?;
    proved_optimal(&problem, &oracle, &answer)?;
    tree_is_sound(case, &problem, &answer.tree)?;
    objective_is_real(case, &problem, &answer)
}

/// Status, bounds and cost are those of a proved optimum.
pub fn proved_optimal(problem: &Problem, oracle: &Found, answer: &Answer) -> Result<(), String> {
    let gap = answer.objective - answer.lower_bound;
    // Sums of targets are known to 61 binary digits, and nothing refines them. Prices that are no
    // short decimals, times weights that are none, are refined to some eight digits.
    let coarse = problem.task.structure().squares().is_some() || problem.feature_costs.is_some();
    let rounded = coarse && problem.scale.slack > 0 && answer.status == Status::RoundingLimit;
    ensure(answer.status == Status::Optimal || (rounded && gap <= fuzz(problem)), || {
        format!("status is {:?} at a gap of {gap}", answer.status)
    })?;
    let (optimum, fuzz) = (worth_of(problem, oracle, &answer.tree), fuzz(problem));
    ensure((answer.objective - optimum).abs() <= fuzz, || {
        format!("objective is {}, the oracle's {optimum}: {:?}", answer.objective, oracle.plan)
    })?;
    ensure(answer.lower_bound <= optimum, || {
        format!("lower bound {} is above the optimum {optimum}", answer.lower_bound)
    })?;
    // Leaves of means are rounded down, so that their bound may be just below.
    let exact = problem.scale.slack == 0 && problem.task.structure().squares().is_none();
    ensure(!exact || answer.lower_bound == optimum, || {
        format!("lower bound {} has a gap to the optimum {optimum}", answer.lower_bound)
    })?;
    ensure(answer.lower_bound >= problem.scale.lower(oracle.upper), || {
        format!("lower bound {} is looser than rounding excuses", answer.lower_bound)
    })?;
    let cost = recompute(problem, &answer.tree);
    // Refining may prefer a tree that is better in the given numbers: it is then no dearer here
    // than rounding can make it.
    let dearer = cost - oracle.upper;
    ensure((0..=problem.scale.slack).contains(&dearer), || {
        format!("the tree costs {cost}, not {}", oracle.upper)
    })?;
    let curve = &answer.curve;
    ensure(curve.last().is_some_and(|m| m.upper == answer.objective), || {
        "the anytime curve does not end at the objective".into()
    })?;
    ensure(curve.windows(2).all(|m| m[0].upper >= m[1].upper && m[0].lower <= m[1].lower), || {
        format!("bounds loosen along the curve: {curve:?}")
    })
}

/// As `keeps_limits`, of these gaps, and of short times and little memory.
pub fn keeps_tight_limits(case: &Case, gaps: &[f64]) -> Result<(), String> {
    let none = Limits::default();
    for &gap in gaps {
        keeps_limits(case, Limits { gap, ..none.clone() })?;
    }
    for micros in [0, 5, 50] {
        let time = Some(Duration::from_micros(micros));
        keeps_limits(case, Limits { time, ..none.clone() })?;
    }
    for memory in [0, 1 << 12, 1 << 16] {
        keeps_limits(case, Limits { memory: Some(memory), ..none.clone() })?;
    }
    Ok(())
}

/// Solve within `limits` and judge whatever comes of it.
fn keeps_limits(case: &Case, limits: Limits) -> Result<(), String> {
    let problem = case.problem().map_err(|e| format!("the case does not build: {e}"))?;
    let oracle = brute::solve(&problem);
    let (gap, memory) = (limits.gap, limits.memory);
    let run = Run::new(limits, problem.scale, None);
    let answer = match solve(&problem, &run) {
        // Too little to begin with: refused.
        Err(Error::Invalid(text)) if memory.is_some() && text.contains("memory_limit allows") => {
            return Ok(());
        }
        answer => answer.map_err(|e| e.to_string())?,
    };
    bounds_optimum(case, &problem, &oracle, &answer)?;
    let left = answer.objective - answer.lower_bound;
    ensure(
        answer.status != Status::GapLimit || left <= gap + 1e-12 * naive::magnitude(case),
        || format!("stopped at a gap of {left}, with {gap} allowed"),
    )
}

/// A stopped search: the tree is sound and worth its objective, and the lower bound is one.
pub fn bounds_optimum(
    case: &Case,
    problem: &Problem,
    oracle: &Found,
    answer: &Answer,
) -> Result<(), String> {
    let (optimum, fuzz) = (worth_of(problem, oracle, &answer.tree), fuzz(problem));
    ensure(answer.lower_bound <= optimum && optimum <= answer.objective + fuzz, || {
        format!("{} <= {optimum} <= {} is false", answer.lower_bound, answer.objective)
    })?;
    let objective = worth(problem, &answer.tree);
    ensure(objective == answer.objective, || {
        format!("the tree is worth {objective}, not {}", answer.objective)
    })?;
    let proved = answer.status == Status::Optimal;
    ensure(!proved || (answer.objective - optimum).abs() <= fuzz, || {
        format!("{} is called optimal, but {optimum} is", answer.objective)
    })?;
    tree_is_sound(case, problem, &answer.tree)
}

/// The objective of a tree in the caller's own numbers.
pub fn worth(problem: &Problem, tree: &Tree) -> f64 {
    let exact = exactly::objective(problem, tree).map(|exact| exact.nearest());
    exact.unwrap_or_else(|| problem.scale.objective(recompute(problem, tree)))
}

/// As above, of the oracle's tree. Some oracles keep none: a tree of the same cost stands for it.
pub fn worth_of(problem: &Problem, oracle: &Found, tree: &Tree) -> f64 {
    let own = grow(problem, oracle.plan.clone()).expect("a plan grows");
    let stands = [&own, tree].into_iter().find(|tree| recompute(problem, tree) == oracle.upper);
    stands.map_or_else(|| problem.scale.objective(oracle.upper), |tree| worth(problem, tree))
}

/// How far an objective may be above the bound of its cost in units, or another tree of that cost.
///
/// A tree's true cost differs from its cost in units and the offset by no more than the slack. The
/// offset of squared errors is cut off at what all points apart cost, of which that holds, too: so
/// by another slack at most.
pub fn fuzz(problem: &Problem) -> f64 {
    // Of squared errors each leaf and each target is rounded by up to a unit.
    let squares = problem.task.structure().squares().is_some();
    let (slacks, leaves) = if squares { (3.0, 128.0) } else { (2.0, 0.0) };
    // Without labels, what each point pays for each test is rounded by up to a unit.
    let payments = match &problem.feature_costs {
        Some(costs) if problem.labelled().is_none() => costs.tests.len() * problem.points.len(),
        _ => 0,
    };
    (slacks * problem.scale.slack as f64 + leaves + payments as f64) / problem.scale.units
}

pub fn recompute(problem: &Problem, tree: &Tree) -> i64 {
    let (columns, points) = (&problem.columns, &problem.points);
    let cost = check::recompute(tree, columns, points, problem.task.as_ref(), problem.leaf_cost);
    let spent = |costs| check::spent(tree, columns, points, costs);
    cost + problem.feature_costs.as_ref().map_or(0, spent)
}

/// The tree keeps depth, leaves and rows within the shape, and its nodes hold what they say.
pub fn tree_is_sound(case: &Case, problem: &Problem, tree: &Tree) -> Result<(), String> {
    let n = case.n_points();
    let mut held: Vec<Vec<usize>> = vec![Vec::new(); tree.nodes.len()];
    for point in 0..n {
        held[naive::leaf_of(case, tree, point)].push(point);
    }
    let mut next = 1;
    let depth = walk(tree, 0, &mut next)?;
    ensure(next == tree.nodes.len(), || "some nodes are not in the tree".into())?;
    ensure(paths::keeps_rules(&case.paths, tree), || {
        format!("some path breaks the rules {:?}", case.paths)
    })?;
    let shape = case.shape;
    ensure(shape.max_depth.is_none_or(|most| depth <= most), || format!("depth is {depth}"))?;
    let leaves = tree.n_leaves();
    ensure(shape.max_leaves.is_none_or(|most| leaves <= most as usize), || {
        format!("there are {leaves} leaves")
    })?;
    for at in (0..tree.nodes.len()).rev() {
        let node = &tree.nodes[at];
        if let Some(split) = &node.split {
            let both = [&held[split.left.index()][..], &held[split.right.index()][..]].concat();
            held[at] = both;
        }
        let rows: u64 = held[at].iter().map(|&p| case.rows[p]).sum();
        ensure(node.rows == rows, || format!("node {at} says {} rows, not {rows}", node.rows))?;
        ensure(at == 0 || (rows >= shape.min_leaf_rows && !held[at].is_empty()), || {
            format!("node {at} has {rows} rows")
        })?;
        let leaf = problem.task.leaf(&problem.stats(held[at].iter().copied()));
        let points: Vec<u32> = held[at].iter().map(|&p| p as u32).collect();
        let label = problem.task.cost(&points, node.label);
        ensure(leaf.cost == label, || format!("node {at} has label {}", node.label))?;
    }
    Ok(())
}

/// Nodes are in preorder and each has one parent; returns the depth below `at`.
fn walk(tree: &Tree, at: usize, next: &mut usize) -> Result<u32, String> {
    let Some(split) = &tree.nodes[at].split else {
        return Ok(0);
    };
    let mut depth = 0;
    for child in [split.left, split.right] {
        ensure(child.index() == *next, || format!("node {} is out of order", child.index()))?;
        *next += 1;
        depth = depth.max(1 + walk(tree, child.index(), next)?);
    }
    Ok(depth)
}

/// The objective in integer units is the one that floats give, up to their rounding.
pub fn objective_is_real(case: &Case, problem: &Problem, answer: &Answer) -> Result<(), String> {
    let tree = &answer.tree;
    let leaves: Vec<usize> = (0..case.n_points()).map(|p| naive::leaf_of(case, tree, p)).collect();
    let real = naive::objective(case, tree, &leaves);
    let close = 1e-12 * naive::magnitude(case) + problem.scale.slack as f64 / problem.scale.units;
    ensure((real - answer.objective).abs() <= close, || {
        format!("in floats the objective is {real}, not {}", answer.objective)
    })?;
    ensure(answer.lower_bound <= real + close, || {
        format!("lower bound {} is above the real objective {real}", answer.lower_bound)
    })
}

/// What real weights say of an answer: its bounds are around the best objective, and meet there if
/// the search is complete.
pub fn bounds_the_best(answer: &Answer, best: f64, is_complete: bool) -> Result<(), String> {
    ensure(answer.objective > best - 1e-9 && answer.lower_bound < best + 1e-9, || {
        format!("{} to {}, but {best}", answer.lower_bound, answer.objective)
    })?;
    if is_complete {
        ensure(answer.status == Status::Optimal, || format!("{:?}", answer.status))?;
        ensure((answer.objective - best).abs() < 1e-9, || {
            format!("{}, not {best}", answer.objective)
        })?;
    }
    Ok(())
}

pub fn ensure(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}
