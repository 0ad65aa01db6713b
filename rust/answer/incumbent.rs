//! The best tree that is known, from which a search goes on.

use std::sync::Mutex;

use super::conclude::confirm_paths;
use crate::check;
use crate::cost::{Cost, INFINITE};
use crate::error::{Error, Result};
use crate::finish::{cost_of, grow};
use crate::improve::fitted_plan;
use crate::problem::{Problem, Shape};
use crate::route::SavedSearch;
use crate::tree::{Split, Tree};

/// A tree and what is proved of the best one, for a search that goes on.
pub struct Incumbent {
    pub tree: Tree,
    pub upper: Cost,
    /// No tree costs less.
    pub lower: Cost,
    /// The first search that goes on takes it.
    pub(super) saved: Mutex<Option<SavedSearch>>,
}

impl Incumbent {
    pub fn new(tree: Tree, (lower, upper): (Cost, Cost), saved: Option<SavedSearch>) -> Incumbent {
        Incumbent { tree, upper, lower: lower.min(upper), saved: Mutex::new(saved) }
    }

    /// A tree of this very problem that was found elsewhere, and a number that no tree's objective
    /// is below.
    pub fn of_tree(problem: &Problem, tree: Tree, lower_bound: f64) -> Result<Incumbent> {
        if !has_columns(problem, &tree) || !is_allowed(problem, &tree) {
            return Err(Error::invalid("the tree to go on from is none of this problem"));
        }
        let upper = cost_of(problem, &tree);
        Ok(Incumbent::new(tree, (problem.scale.cost_above(lower_bound), upper), None))
    }

    /// What is left of a tree from elsewhere within the limits of this problem. `None` if that is
    /// none of its trees.
    pub fn from_elsewhere(problem: &Problem, tree: &Tree) -> Result<Option<Incumbent>> {
        if !has_columns(problem, tree) {
            return Ok(None);
        }
        let tree = grow(problem, fitted_plan(problem, tree)?)?;
        if !is_allowed(problem, &tree) {
            return Ok(None);
        }
        let upper = cost_of(problem, &tree);
        problem.task.failure().map_or(Ok(()), Err)?;
        Ok(Some(Incumbent::new(tree, (0, upper), None)))
    }

    /// The knowledge of smaller trees: that none costs less, and all of the nodes.
    pub(super) fn of_smaller_trees(&self) -> Incumbent {
        Incumbent::new(self.tree.clone(), (self.lower, INFINITE), self.take())
    }

    pub(super) fn take(&self) -> Option<SavedSearch> {
        self.saved.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }
}

/// True if the problem has the columns that the tree asks.
fn has_columns(problem: &Problem, tree: &Tree) -> bool {
    let fits = |split: &Split| split.column.index() < problem.columns.len();
    tree.nodes.iter().filter_map(|node| node.split.as_ref()).all(fits)
}

/// True if the problem allows the tree: its depth, its leaves, the rows in each leaf of a split,
/// and what its paths ask.
pub(super) fn is_allowed(problem: &Problem, tree: &Tree) -> bool {
    let Shape { max_depth, max_leaves, min_leaf_rows } = problem.shape;
    let mut depths = vec![0u32; tree.nodes.len()];
    for (at, node) in tree.nodes.iter().enumerate() {
        if let Some(split) = &node.split {
            depths[split.left.index()] = depths[at] + 1;
            depths[split.right.index()] = depths[at] + 1;
        }
    }
    let mut rows = vec![0; tree.nodes.len()];
    for (point, leaf) in
        check::leaves(tree, &problem.columns, &problem.points).into_iter().enumerate()
    {
        rows[leaf] += problem.points.rows(point);
    }
    let is_full = |at: usize| tree.nodes[at].split.is_some() || rows[at] >= min_leaf_rows;
    confirm_paths(problem, tree).is_ok()
        && max_depth.is_none_or(|most| depths.iter().all(|&depth| depth <= most))
        && max_leaves.is_none_or(|most| tree.n_leaves() <= most as usize)
        && (tree.nodes.len() == 1 || (0..tree.nodes.len()).all(is_full))
}
