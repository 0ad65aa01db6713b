//! An oracle for more points and columns than `brute` takes, but few levels: it tries every tree of
//! a small depth and remembers nothing.

use certree::cost::{Cost, INFINITE};
use certree::problem::Problem;
use certree::search::Found;
use certree::tree::Plan;

use super::paths::PathRule;

/// The optimal cost; the plan is left open. The problem must limit the depth.
pub fn solve(problem: &Problem) -> Found {
    let depth = problem.shape.max_depth.expect("a limited depth");
    let points: Vec<usize> = (0..problem.points.len()).collect();
    let most = problem.shape.max_leaves.map_or(usize::MAX, |leaves| leaves as usize);
    let costs = by_leaves(problem, &points, depth);
    let best = costs.into_iter().take(most).min().expect("one leaf is a tree");
    Found { plan: Plan::Leaf, upper: best, lower: best }
}

/// The number of stumps that `solve` looks at, times their points.
pub fn work(problem: &Problem, depth: u32) -> f64 {
    let cuts: u32 = problem.features.iter().map(|feature| feature.cuts).sum();
    f64::from(cuts).powi(depth as i32) * problem.points.len() as f64
}

/// The least cost with 1, 2, 3, … leaves, of trees of at most this depth.
fn by_leaves(problem: &Problem, points: &[usize], depth: u32) -> Vec<Cost> {
    let stats = problem.stats(points.iter().copied());
    let mut best = vec![INFINITE; 1 << depth];
    best[0] = problem.task.leaf(&stats).cost + problem.leaf_cost;
    if depth == 0 {
        return best;
    }
    let allowed = |side: &[usize]| {
        let rows: u64 = side.iter().map(|&p| problem.points.rows(p)).sum();
        !side.is_empty() && rows >= problem.shape.min_leaf_rows
    };
    for feature in problem.features.iter() {
        for cut in 0..feature.cuts {
            let (left, right): (Vec<usize>, Vec<usize>) =
                points.iter().partition(|&&p| feature.goes_left(&problem.points, p, cut));
            if !allowed(&left) || !allowed(&right) {
                continue;
            }
            let lefts = by_leaves(problem, &left, depth - 1);
            let rights = by_leaves(problem, &right, depth - 1);
            for (a, left) in lefts.iter().enumerate() {
                for (b, right) in rights.iter().enumerate() {
                    best[a + b + 1] = best[a + b + 1].min(left + right);
                }
            }
        }
    }
    best
}

/// What rules look at: the columns of a path, each once, the first one first, the others in any
/// order. Empty where nothing depends on them.
pub type Path = Vec<usize>;

/// The two sides of every split of a set of points, a bit for each, that leaves enough rows on both
/// and that the rules allow below a path; and the path below it.
pub fn splits(
    problem: &Problem,
    set: u64,
    rules: &[PathRule],
    path: &[usize],
) -> Vec<(u64, u64, Path)> {
    splits_below(problem, set, rules, !rules.is_empty(), path)
}

/// As above. `keeps_path`: whether anything depends on the path.
pub fn splits_below(
    problem: &Problem,
    set: u64,
    rules: &[PathRule],
    keeps_path: bool,
    path: &[usize],
) -> Vec<(u64, u64, Path)> {
    let points = || (0..64).filter(move |point| set >> point & 1 == 1);
    let rows = |side: u64| -> u64 {
        points().filter(|point| side >> point & 1 == 1).map(|p| problem.points.rows(p)).sum()
    };
    let least = problem.shape.min_leaf_rows.max(1);
    let mut found = Vec::new();
    for feature in problem.features.iter() {
        let column = feature.column.index();
        if !rules.iter().all(|rule| rule.allows(path, column)) {
            continue;
        }
        let mut below = path.to_vec();
        if keeps_path && !path.contains(&column) {
            below.push(column);
            below[1..].sort_unstable();
        }
        for cut in 0..feature.cuts {
            let goes_left = |point: &usize| feature.goes_left(&problem.points, *point, cut);
            let left: u64 = points().filter(goes_left).map(|point| 1 << point).sum();
            let right = set & !left;
            if rows(left) >= least && rows(right) >= least {
                found.push((left, right, below.clone()));
            }
        }
    }
    found
}
