//! A finished tree with what was proved of its cost.

use crate::check;
use crate::cost::{Cost, Scale};
use crate::error::Result;
use crate::finish::cost_of;
use crate::problem::Problem;
use crate::route::Route;
use crate::run::{Moment, Run, Status, Work};
use crate::tree::Tree;

/// A tree and what is known about it.
#[derive(Debug, Clone)]
pub struct Answer {
    pub tree: Tree,
    /// How the problem was searched.
    pub route: Route,
    /// The cost of the tree in the numbers that the caller gave, to the nearest float.
    pub objective: f64,
    /// No tree has a lower objective.
    pub lower_bound: f64,
    pub status: Status,
    pub seconds: f64,
    pub work: Work,
    pub curve: Vec<Moment>,
}

/// By point of the problem: the node of the tree that it ends in.
pub fn leaves(problem: &Problem, tree: &Tree) -> Vec<u32> {
    let leaves = check::leaves(tree, &problem.columns, &problem.points);
    leaves.into_iter().map(|leaf| leaf as u32).collect()
}

/// An error unless the tree costs as much as the search said, and keeps to the problem's context.
pub fn confirm(problem: &Problem, tree: &Tree, claimed: Cost) -> Result<()> {
    check::confirm(claimed, cost_of(problem, tree))?;
    confirm_paths(problem, tree)
}

/// An error unless the tree keeps to the problem's context.
pub fn confirm_paths(problem: &Problem, tree: &Tree) -> Result<()> {
    problem.context.as_ref().map_or(Ok(()), |context| check::allowed(tree, context.as_ref()))
}

/// A tree with what was proved of its cost.
pub fn conclude(
    tree: Tree,
    route: Route,
    (lower, upper): (Cost, Cost),
    scale: Scale,
    run: &Run,
) -> Answer {
    // A bound that was told on the way holds, though the phase that proved it is over.
    let lower = lower.max(run.known_lower()).min(upper);
    let objective = scale.objective(upper);
    let proved = lower == upper;
    let lower_bound =
        if proved && scale.slack == 0 { objective } else { scale.lower(lower).min(objective) };
    let status = match run.stopped() {
        _ if proved => Status::Optimal,
        Some(status) => status,
        None => Status::Interrupted,
    };
    Answer {
        tree,
        route,
        objective,
        lower_bound,
        status,
        seconds: run.seconds(),
        work: run.work(),
        curve: run.curve(lower, upper),
    }
}
