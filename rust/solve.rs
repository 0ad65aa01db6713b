//! From a problem to an answer: choose the search, run it, check what it says.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use crate::check;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::run::{Moment, Run, Status, Work, on_threads};
use crate::search::best_first::{self, Options};
use crate::search::separate;
use crate::tree::Tree;

/// A tree and what is known about it.
#[derive(Debug, Clone)]
pub struct Answer {
    pub tree: Tree,
    pub objective: f64,
    /// No tree has a lower objective.
    pub lower_bound: f64,
    pub status: Status,
    pub seconds: f64,
    pub work: Work,
    pub curve: Vec<Moment>,
}

/// A panic anywhere below is an error here.
pub fn solve(problem: &Problem, run: &Run) -> Result<Answer> {
    catch_unwind(AssertUnwindSafe(|| answer(problem, run)))
        .unwrap_or_else(|panic| Err(Error::panicked(panic.as_ref())))
}

fn answer(problem: &Problem, run: &Run) -> Result<Answer> {
    let found = if separate::applies(problem) {
        separate::solve(problem, run)
    } else {
        best_first::solve(problem, run, &Options::default())?
    };
    let plan = Mutex::new(Some(found.plan));
    // Plans are walked, and dropped, by recursion: on a stack that is deep enough for any tree.
    let grow = || {
        let plan = plan.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        let (columns, features) = (&problem.columns, &problem.features);
        let (points, task) = (&problem.points, problem.task.as_ref());
        plan.map(|plan| Tree::grow(&plan, columns, features, points, task, problem.scale.units))
    };
    let mut trees = on_threads(1, grow, || {}, || {})?;
    let tree = trees.pop().flatten().expect("one thread grows the one plan");
    let (points, task) = (&problem.points, problem.task.as_ref());
    let cost = check::recompute(&tree, &problem.columns, points, task, problem.leaf_cost);
    check::confirm(found.upper, cost)?;

    let scale = &problem.scale;
    let objective = scale.objective(found.upper);
    let proved = found.lower == found.upper;
    let lower_bound = if proved && scale.slack == 0 {
        objective
    } else {
        scale.lower(found.lower).min(objective)
    };
    let status = match run.stopped() {
        _ if proved => Status::Optimal,
        Some(status) => status,
        None => Status::Interrupted,
    };
    Ok(Answer {
        tree,
        objective,
        lower_bound,
        status,
        seconds: run.seconds(),
        work: run.work(),
        curve: run.curve(found.lower, found.upper),
    })
}
