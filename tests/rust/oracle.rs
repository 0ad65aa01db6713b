//! The oracle itself, against the list of all trees: no memo, no sharing, no bound of any kind.

use crate::common::judge::ensure;
use crate::common::problems::Options;
use crate::common::{Case, for_seeds};
use certree::problem::Problem;
use certree::search::brute;

/// The leaves of every tree of at most this depth, as sets of points; some leaves may be empty.
fn all_trees(problem: &Problem, points: &[usize], depth: u32) -> Vec<Vec<Vec<usize>>> {
    let mut trees = vec![vec![points.to_vec()]];
    if depth == 0 {
        return trees;
    }
    for feature in problem.features.iter() {
        for cut in 0..feature.cuts {
            let (left, right): (Vec<usize>, Vec<usize>) =
                points.iter().partition(|&&p| feature.goes_left(&problem.points, p, cut));
            let rights = all_trees(problem, &right, depth - 1);
            for left in all_trees(problem, &left, depth - 1) {
                trees.extend(rights.iter().map(|right| [&left[..], &right[..]].concat()));
            }
        }
    }
    trees
}

/// What the leaves cost with the best label in each; `None` if the shape forbids them.
fn cost(problem: &Problem, leaves: &[Vec<usize>]) -> Option<i64> {
    let shape = problem.shape;
    if shape.max_leaves.is_some_and(|most| leaves.len() > most as usize) {
        return None;
    }
    let mut cost = problem.leaf_cost * leaves.len() as i64;
    for leaf in leaves {
        let rows: u64 = leaf.iter().map(|&p| problem.points.rows(p)).sum();
        if leaves.len() > 1 && rows < shape.min_leaf_rows {
            return None;
        }
        let leaf: Vec<u32> = leaf.iter().map(|&p| p as u32).collect();
        let labels = 0..problem.task.structure().n_labels().max(1) as u32;
        cost += labels.map(|label| problem.task.cost(&leaf, label)).min()?;
    }
    Some(cost)
}

fn agrees(case: &Case, depth: u32) -> Result<(), String> {
    let mut case = case.clone();
    case.shape.max_depth = Some(depth);
    let problem = case.problem().map_err(|e| e.to_string())?;
    let points: Vec<usize> = (0..case.n_points()).collect();
    let trees = all_trees(&problem, &points, depth);
    let best = trees.iter().filter_map(|leaves| cost(&problem, leaves)).min().unwrap();
    let found = brute::solve(&problem);
    ensure(found.upper == best, || format!("the oracle says {}, not {best}", found.upper))
}

/// The number of trees is about its cube at depth two, and its seventh power at depth three.
fn cuts(case: &Case) -> u32 {
    certree::data::Features::of(&case.columns).iter().map(|feature| feature.cuts).sum()
}

#[test]
fn the_best_of_all_trees_of_depth_two() {
    let few = Options { max_columns: 3, ..Options::default() };
    for_seeds(600, &few, |case| if cuts(case) > 8 { Ok(()) } else { agrees(case, 2) });
}

#[test]
fn the_best_of_all_trees_of_depth_three() {
    let few = Options { max_points: 9, max_columns: 3, ..Options::default() };
    for_seeds(600, &few, |case| if cuts(case) > 3 { Ok(()) } else { agrees(case, 3) });
}
