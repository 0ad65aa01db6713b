//! The judge of answers: what a finished tree costs, from the points alone.
//!
//! It knows nothing of searches, bounds or kernels, so that a mistake in them cannot hide here.

use crate::cost::Cost;
use crate::data::{Column, ColumnKind, Points};
use crate::error::{Error, Result};
use crate::task::Task;
use crate::tree::{Test, Tree};

/// The tree's cost with `leaf_cost` for each leaf: every point is sent through the tree's own tests,
/// and pays the loss of the label it arrives at.
pub fn recompute(
    tree: &Tree,
    columns: &[Column],
    points: &Points,
    task: &dyn Task,
    leaf_cost: Cost,
) -> Cost {
    let mut cost = leaf_cost * tree.n_leaves() as Cost;
    for point in 0..points.len() {
        let label = tree.nodes[leaf_of(tree, columns, points, point)].label;
        cost += task.loss(point, label);
    }
    cost
}

/// An error unless the tree costs what the search said.
pub fn confirm(claimed: Cost, recomputed: Cost) -> Result<()> {
    if claimed == recomputed {
        return Ok(());
    }
    Err(Error::Mismatch { searched: claimed.to_string(), recomputed: recomputed.to_string() })
}

fn leaf_of(tree: &Tree, columns: &[Column], points: &Points, point: usize) -> usize {
    let mut at = 0;
    while let Some(split) = &tree.nodes[at].split {
        let column = split.column.index();
        let code = points.codes(column)[point];
        let left = match (&split.test, &columns[column].kind) {
            (Test::AtMost(threshold), ColumnKind::Ordered(cuts)) => {
                let cut = cuts.iter().position(|cut| cut == threshold);
                cut.is_some_and(|cut| code as usize <= cut)
            }
            (Test::IsTrue, _) => code == 0,
            (Test::Is(value), ColumnKind::Category(values)) => values[code as usize] != *value,
            _ => false,
        };
        at = if left { split.left } else { split.right }.index();
    }
    at
}
