//! All cuts with many labels, against every tree: ties, weights up to the edge of what sums hold,
//! penalties, and blocks of every size.

use certree::bits::Level;
use certree::run::{Limits, Run};
use certree::search::intervals::{Options, solve};

use crate::common::judge::ensure;
use crate::common::large::noise;
use crate::common::{Case, Loss, Random, cases, exhaustive, for_all};

/// 2 to 12 labels, of which some know the columns.
fn many_labels(seed: u64) -> Case {
    let rng = &mut Random::new(seed ^ 0x5eed);
    let (n, columns) = (rng.range(8, 70), rng.range(1, 5));
    let (cuts, labels) = (rng.range(2, 12), rng.range(2, 12));
    let mut case = noise(n, columns, cuts, labels, seed);
    let Loss::Classes(input) = &mut case.loss else { unreachable!("noise has classes") };
    let few = rng.pick(&[1, 2, labels]).min(labels);
    let noisy = rng.pick(&[0.1, 0.5, 1.0]);
    input.weights.fill(0.0);
    for row in 0..n {
        let known = case.codes[0][row] as usize / 2 + case.codes[columns - 1][row] as usize / 3;
        let label = match rng.chance(noisy) {
            true => rng.below(few),
            false => known % labels,
        };
        input.weights[row * labels + label] = rng.pick(&[1.0, 1.0, 1.0, 2.0, 5.0]);
    }
    // At the edge of what fits in 16 bits.
    if rng.chance(0.2) {
        let rest = rng.pick(&[32766.0, 32767.0, 32768.0]) - input.weights.iter().sum::<f64>();
        let heavy = input.weights.iter().position(|&weight| weight > 0.0).expect("a row");
        input.weights[heavy] += rest;
    }
    if rng.chance(0.3) {
        input.costs = (0..labels * labels)
            .map(|at| if at / labels == at % labels { 0.0 } else { rng.range(0, 5) as f64 })
            .collect();
    }
    input.leaf_penalty = rng.pick(&[0.0, 0.0, 0.01, 0.1]);
    case.shape.max_depth = Some(rng.pick(&[1, 2, 2, 2, 3]));
    case
}

/// What the search finds with blocks of all sizes costs as much as the best of all trees, of as
/// many levels as can be gone through.
pub fn no_tree_is_better_than(mut case: Case, seed: u64) -> Result<(), String> {
    let most = case.shape.max_depth.expect("a depth");
    let problem = case.problem().map_err(|e| e.to_string())?;
    let fits = |&depth: &u32| exhaustive::work(&problem, depth) < 3e5;
    case.shape.max_depth = (1..=most).rev().find(fits).or(Some(1));
    let problem = case.problem().map_err(|e| e.to_string())?;
    let optimum = exhaustive::solve(&problem).upper;
    let levels = Level::all();
    for (at, blocks) in [None, Some(1), Some(2), Some(4)].into_iter().enumerate() {
        let level = levels[(at + seed as usize) % levels.len()];
        let options = Options { level, blocks, ..Options::default() };
        let run = Run::new(Limits::default(), problem.scale, None);
        let found = solve(&problem, &run, &options).map_err(|e| e.to_string())?;
        ensure((found.lower, found.upper) == (optimum, optimum), || {
            let (lower, upper) = (found.lower, found.upper);
            format!("{blocks:?} blocks: {lower} to {upper}, but the optimum is {optimum}")
        })?;
    }
    Ok(())
}

#[test]
fn no_tree_is_better() {
    for_all(0..cases(600), |seed| no_tree_is_better_than(many_labels(seed), seed));
}
