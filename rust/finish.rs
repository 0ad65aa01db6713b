//! From the plan that a search found to the finished tree of its problem, and what that costs.

use crate::check;
use crate::cost::Cost;
use crate::error::Result;
use crate::problem::Problem;
use crate::run::on_deep_stack;
use crate::tree::{Plan, Split, Tree};

/// The plan as a tree.
pub fn grow(problem: &Problem, plan: Plan) -> Result<Tree> {
    let (columns, features) = (&problem.columns, &problem.features);
    let (points, task) = (&problem.points, problem.task.as_ref());
    let units = problem.scale.units;
    let tree = on_deep_stack(problem.longest_path(), plan, |plan| {
        Tree::grow(&plan, columns, features, points, task, units)
    })?;
    debug_assert!(adds_up(&tree), "both sides of a split have its rows together");
    Ok(tree)
}

fn adds_up(tree: &Tree) -> bool {
    let sides = |split: &Split| [split.left, split.right].map(|side| tree.nodes[side.index()].rows);
    let splits = tree.nodes.iter().filter_map(|node| Some((node.rows, node.split.as_ref()?)));
    splits.into_iter().all(|(all, split)| sides(split).into_iter().sum::<u64>() == all)
}

/// The plan as a tree whose leaves answer these labels, which are those of the plan's leaves from
/// left to right.
pub fn labelled(problem: &Problem, plan: Plan, labels: &[u32]) -> Result<Tree> {
    let mut label_of = vec![0; problem.points.len()];
    let points = (0..problem.points.len() as u32).collect();
    let rest = spread(problem, &plan, points, labels, &mut label_of);
    debug_assert!(rest.is_empty(), "a plan has as many leaves as labels");
    answering(problem, plan, &label_of)
}

/// The plan as a tree whose leaves answer what their points are to get. Labels of a grown tree are
/// handed on by point, because its leaves need not be in the order of the plan's.
pub fn answering(problem: &Problem, plan: Plan, label_of: &[u32]) -> Result<Tree> {
    let mut tree = grow(problem, plan)?;
    let task = problem.task.as_ref();
    let mut losses = vec![0; tree.nodes.len()];
    let leaves: Vec<usize> =
        (0..tree.nodes.len()).filter(|&node| tree.nodes[node].split.is_none()).collect();
    // A tree may have the sides of a split of its plan the other way round: rows that miss sets.
    for (point, leaf) in
        check::leaves(&tree, &problem.columns, &problem.points).into_iter().enumerate()
    {
        tree.nodes[leaf].label = label_of[point];
        losses[leaf] += task.cost(&[point as u32], label_of[point]);
    }
    for node in leaves {
        tree.nodes[node].loss = losses[node] as f64 / problem.scale.units;
    }
    Ok(tree)
}

/// Give each point the label of its leaf. Returns the labels that are left for other leaves.
fn spread<'l>(
    problem: &Problem,
    plan: &Plan,
    points: Vec<u32>,
    labels: &'l [u32],
    label_of: &mut [u32],
) -> &'l [u32] {
    let Plan::Split { feature, cut, left, right } = plan else {
        points.iter().for_each(|&point| label_of[point as usize] = labels[0]);
        return &labels[1..];
    };
    let feature = problem.features.get(feature.index());
    let goes_left = |&point: &u32| feature.goes_left(&problem.points, point as usize, *cut);
    let (lefts, rights) = points.into_iter().partition(goes_left);
    let labels = spread(problem, left, lefts, labels, label_of);
    spread(problem, right, rights, labels, label_of)
}

/// The cost of the tree by its own tests and labels.
pub fn cost_of(problem: &Problem, tree: &Tree) -> Cost {
    let (points, task) = (&problem.points, problem.task.as_ref());
    let cost = check::recompute(tree, &problem.columns, points, task, problem.leaf_cost);
    let spent = |costs| check::spent(tree, &problem.columns, points, costs);
    cost + problem.feature_costs.as_ref().map_or(0, spent)
}
