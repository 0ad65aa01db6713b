//! From a problem to an answer: choose the search, run it, check what it says.

use crate::check;
use crate::error::Result;
use crate::problem::Problem;
use crate::run::{Moment, Run, Status, Work};
use crate::search::best_first::{self, Options};
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

pub fn solve(problem: &Problem, run: &Run) -> Result<Answer> {
    let found = best_first::solve(problem, run, &Options::default());
    let tree = Tree::grow(
        &found.plan,
        &problem.columns,
        &problem.features,
        &problem.points,
        problem.task.as_ref(),
        problem.scale.units,
    );
    let cost = check::recompute(
        &tree,
        &problem.columns,
        &problem.points,
        problem.task.as_ref(),
        problem.leaf_cost,
    );
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
