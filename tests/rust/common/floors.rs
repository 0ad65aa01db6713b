//! Guesses of what points cost at least.

use certree::problem::Problem;
use certree::task::Task;

use super::Random;

/// Units that a label costs the point beyond the least.
pub fn regret(problem: &Problem, point: usize, label: u32) -> i64 {
    problem.labelled().expect("labels").loss(point, label) - problem.task.least(point)
}

/// Regrets by point, in units: of good and bad references, one label for all, and no labels at all.
pub fn guesses(problem: &Problem, rng: &mut Random) -> Vec<Vec<i64>> {
    let (n, n_labels) = (problem.points.len(), problem.task.structure().n_labels());
    if n_labels == 0 {
        return floors(problem, rng);
    }
    let one = rng.below(n_labels) as u32;
    let most = |point| (0..n_labels as u32).map(|k| regret(problem, point, k)).max().unwrap_or(0);
    vec![
        (0..n).map(|p| if rng.chance(0.7) { 0 } else { most(p) }).collect(),
        (0..n).map(|p| regret(problem, p, rng.below(n_labels) as u32)).collect(),
        (0..n).map(|p| regret(problem, p, one)).collect(),
        (0..n).map(|p| (most(p) as f64 * 1.2 * rng.below(1000) as f64 / 1000.0) as i64).collect(),
    ]
}

/// By point, in units, of squared errors, which have no labels: as if predicted from another point,
/// a share of all rows' cost, nothing mostly, and far too much.
fn floors(problem: &Problem, rng: &mut Random) -> Vec<Vec<i64>> {
    let (n, task) = (problem.points.len(), problem.task.as_ref());
    let all = task.leaf(&problem.stats(0..n)).cost;
    let share = |rng: &mut Random, of: f64| {
        let parts: Vec<f64> = (0..n).map(|_| rng.unit()).collect();
        let sum = parts.iter().sum::<f64>().max(1e-9);
        parts.iter().map(|part| (part / sum * of * all as f64) as i64).collect::<Vec<i64>>()
    };
    let of = rng.unit() * 1.2;
    vec![
        (0..n).map(|p| together(task, p, rng.below(n))).collect(),
        share(rng, of),
        (0..n).map(|p| if rng.chance(0.8) { 0 } else { together(task, p, rng.below(n)) }).collect(),
        (0..n).map(|p| (task.worst(p).expect("known") as f64 * rng.unit() * 1.2) as i64).collect(),
    ]
}

/// What two points cost as one leaf.
fn together(task: &dyn Task, p: usize, q: usize) -> i64 {
    let stats: Vec<i64> = task.stats(p).iter().zip(task.stats(q)).map(|(a, b)| a + b).collect();
    if p == q { 0 } else { task.leaf(&stats).cost }
}
