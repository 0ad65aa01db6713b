//! A minimum of rows per leaf, or a limit of leaves, with many cuts: first without.
//!
//! Every tree within the limits is one of the problem without them, so that none costs less than
//! the best of those. The search over intervals finds it, and mostly it keeps to a small minimum,
//! or does once leaves that are too small are joined to their siblings, at no cost. Then it is the
//! answer. Otherwise it is a bound and a first tree, and the cuts are searched one by one.

use std::sync::Mutex;

use crate::check;
use crate::cost::{Cost, INFINITE};
use crate::error::{Error, Result};
use crate::finish::grow;
use crate::problem::Problem;
use crate::run::{Run, Status, on_deep_stack};
use crate::search::best_first::{self, Options, Table};
use crate::search::{Found, intervals};
use crate::tree::Plan;

/// Whether the best tree without limits may well be one within them: without a penalty it has all
/// the leaves that its depth allows.
pub fn applies(problem: &Problem) -> bool {
    let shape = &problem.shape;
    intervals::relaxes(problem) && (shape.max_leaves.is_none() || problem.has_penalty())
}

/// `table`: what an earlier search of the cuts one by one left behind, and leaves behind again.
pub fn solve(
    problem: &Problem,
    run: &Run,
    cutoff: Cost,
    table: Option<Table>,
) -> Result<(Found, Option<Table>)> {
    let known = relaxed(problem, run, cutoff)?;
    if known.lower >= known.upper.min(cutoff) || run.report(known.lower, known.upper).is_some() {
        return Ok((Found { lower: known.lower.min(known.upper), ..known }, table));
    }
    let options = Options { cutoff: cutoff.min(known.upper), ..Options::default() };
    let search = best_first::go_on(problem, run, &options, table.unwrap_or_default());
    let (found, table) = match search {
        // There is no room to look at cuts one by one; the tree and the bound are known all the
        // same.
        Err(Error::Invalid(_)) => {
            run.stop(Status::MemoryLimit);
            return Ok((Found { lower: known.lower.min(known.upper), ..known }, None));
        }
        found => found?,
    };
    let best = if found.upper < known.upper { found.clone() } else { known.clone() };
    let lower = found.lower.max(known.lower).min(best.upper);
    Ok((Found { lower, ..best }, table))
}

/// A tree within the limits, made of the best one without them, and what the latter proves.
///
/// With a gap limit the relaxation first stops within half of it, because the tree that is made of
/// what it has then may be as close as is asked for. If it is not, the relaxation goes on.
fn relaxed(problem: &Problem, run: &Run, cutoff: Cost) -> Result<Found> {
    let (mut best, mut lower) = (None::<Found>, Cost::MIN);
    let mut saved = intervals::SavedSearch::default();
    let (mut gap, mut cutoff) = (run.limits().gap / 2.0, cutoff);
    loop {
        let (found, left) = relaxation(problem, run, cutoff, (gap, saved))?;
        lower = lower.max(found.lower);
        let is_done = found.lower >= found.upper || gap == 0.0;
        cutoff = cutoff.min(found.upper);
        let kept = kept(problem, found.plan)?;
        if best.as_ref().is_none_or(|best| kept.upper < best.upper) {
            best = Some(kept);
        }
        let upper = best.as_ref().map_or(INFINITE, |best| best.upper);
        if is_done || lower >= upper || run.report(lower, upper).is_some() {
            let best = best.expect("each round gives a tree");
            return Ok(Found { lower, ..best });
        }
        (gap, saved) = (0.0, left);
    }
}

/// The plan within the limits: without leaves that are too small, and as a leaf if it has too many.
fn kept(problem: &Problem, plan: Plan) -> Result<Found> {
    let plan = on_deep_stack(plan, |plan| {
        let all = (0..problem.points.len() as u32).collect();
        let plan = joined(problem, plan, all);
        let few = problem.shape.max_leaves.is_none_or(|most| plan.leaves() <= most);
        few.then_some(plan)
    })?;
    let plan = plan.unwrap_or_default();
    Ok(Found { upper: cost(problem, &plan)?, plan, lower: Cost::MIN })
}

/// The best tree without the limits, or one within a gap of that, and what to go on from. It says
/// nothing of the best within them but that it costs no less.
fn relaxation(
    problem: &Problem,
    run: &Run,
    cutoff: Cost,
    (gap, saved): (f64, intervals::SavedSearch),
) -> Result<(Found, intervals::SavedSearch)> {
    let leaf = cost(problem, &Plan::Leaf)?;
    let run_of = Mutex::new(run);
    let pulse = move |progress: &crate::run::Progress| {
        let run = run_of.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        run.report(progress.lower_cost.min(leaf), leaf).is_none()
    };
    let inner = run.part_to_gap(problem.scale, gap, Box::new(pulse));
    let options = intervals::Options { cutoff, ..intervals::Options::default() };
    let found = intervals::go_on(problem, &inner, &options, saved);
    run.absorb(&inner);
    found
}

fn cost(problem: &Problem, plan: &Plan) -> Result<Cost> {
    let tree = grow(problem, plan.clone())?;
    let (points, task) = (&problem.points, problem.task.as_ref());
    Ok(check::recompute(&tree, &problem.columns, points, task, problem.leaf_cost))
}

/// The plan without splits that leave too few rows on a side: all go down the other one.
fn joined(problem: &Problem, plan: Plan, points: Vec<u32>) -> Plan {
    let Plan::Split { feature, cut, left, right } = plan else { return Plan::Leaf };
    let of = problem.features.get(feature.index());
    let (lefts, rights): (Vec<u32>, Vec<u32>) =
        points.iter().partition(|&&point| of.goes_left(&problem.points, point as usize, cut));
    let small = |points: &[u32]| {
        let rows = points.iter().map(|&point| problem.points.rows(point as usize));
        rows.sum::<u64>() < problem.shape.min_leaf_rows
    };
    match (small(&lefts), small(&rights)) {
        (false, false) => {
            let (left, right) = (joined(problem, *left, lefts), joined(problem, *right, rights));
            Plan::split(feature, cut, left, right)
        }
        (true, true) => Plan::Leaf,
        (true, false) => joined(problem, *right, points),
        (false, true) => joined(problem, *left, points),
    }
}
