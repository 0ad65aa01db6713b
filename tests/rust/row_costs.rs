//! Costs by row over all cuts, against every tree: scores as policies have them, with ties, signs
//! and ranges so wide that small costs are lost where sums are rounded.

use crate::common::large::noise;
use crate::common::{Case, Loss, Random, cases, for_all};
use crate::many_labels::no_tree_is_better_than;

/// The costs of a row.
fn costs(rng: &mut Random, style: usize, n_labels: usize, known: usize) -> Vec<f64> {
    let sign = |rng: &mut Random| if rng.chance(0.5) { 1.0 } else { -1.0 };
    let score = |rng: &mut Random| match style {
        // Scores, mostly noise.
        0 => rng.unit() * 4.0 - 2.0,
        // Ties among numbers that are no short decimals.
        1 => rng.range(0, 4) as f64 / 3.0 + 0.1 * std::f64::consts::PI,
        // Most are large and tie, and what is small decides.
        2 if rng.chance(0.7) => 1e12 * rng.range(0, 2) as f64,
        2 => rng.unit() * 1e3,
        // One size after the other, with a sign.
        3 => sign(rng) * 10f64.powf(rng.unit() * 12.0 - 2.0),
        // Hardly any difference.
        _ => 1e6 + rng.unit() * 1e-6,
    };
    let mut costs: Vec<f64> = (0..n_labels).map(|_| score(rng)).collect();
    if rng.chance(0.4) {
        costs[known % n_labels] -= if style == 2 { 1e12 } else { 1.0 };
    }
    costs
}

fn scores(seed: u64) -> Case {
    let rng = &mut Random::new(seed ^ 0xd0b1e);
    let (n, columns) = (rng.range(6, 60), rng.range(1, 5));
    let (cuts, n_labels) = (rng.range(2, 14), rng.range(2, 5));
    let mut case = noise(n, columns, cuts, n_labels, seed);
    let style = rng.below(5);
    let costs = (0..n)
        .flat_map(|row| {
            let known = case.codes[0][row] as usize / 2 + case.codes[columns - 1][row] as usize / 3;
            costs(rng, style, n_labels, known)
        })
        .collect();
    let (normalizer, leaf_penalty) = (n as f64, rng.pick(&[0.0, 0.0, 0.01, 0.1]));
    case.loss = Loss::Rows { n_labels, costs, normalizer, leaf_penalty };
    case.shape.max_depth = Some(rng.pick(&[1, 2, 2, 2, 3]));
    case
}

#[test]
fn no_tree_is_better() {
    for_all(0..cases(600), |seed| no_tree_is_better_than(scores(seed), seed));
}
