//! A tree from elsewhere, such as last year's, as a plan of a problem.

use super::fit::{Room, fitted};
use super::steps::is_whole;
use crate::error::Result;
use crate::problem::Problem;
use crate::run::on_deep_stack;
use crate::tree::{Plan, Tree, planned};

/// What is left of a tree within the limits of a problem. Its splits alone count: those that are no
/// cuts of the problem are left out, and where parts can be judged by themselves also what is too
/// deep, has too few rows, or does not pay.
pub fn fitted_plan(problem: &Problem, tree: &Tree) -> Result<Plan> {
    on_deep_stack(tree.nodes.len(), tree, |tree| {
        let plan = planned(tree, &problem.columns, &problem.features);
        if is_whole(problem) {
            return plan;
        }
        let all: Vec<u32> = (0..problem.points.len() as u32).collect();
        fitted(problem, &plan, &all, Room::of(problem)).1
    })
}
