//! A search that is told what is of no use, and what others proved under other costs, against the
//! oracle.

use crate::common::judge::ensure;
use crate::common::problems::{LossKind, Options, ShapeMix};
use crate::common::{Case, Random, for_seeds};
use certree::data::Points;
use certree::problem::Problem;
use certree::run::{Limits, Run};
use certree::search::best_first::{self, Hints, Learned, Options as Search};
use certree::search::brute;
use certree::task::ClassInput;

fn run(problem: &Problem, threads: usize) -> Run<'static> {
    Run::new(Limits { threads, ..Limits::default() }, problem.scale, None)
}

#[test]
fn nothing_is_missed_below_a_cost_that_is_of_use() {
    for_seeds(1_500, &Options::default(), |case| {
        let problem = case.problem().map_err(|e| e.to_string())?;
        let optimum = brute::solve(&problem).upper;
        for cutoff in [0, optimum / 2, optimum, optimum + 1, optimum + optimum / 3 + 1] {
            let options = Search { cutoff, ..Search::default() };
            let found = best_first::solve(&problem, &run(&problem, 1), &options)
                .map_err(|e| e.to_string())?;
            ensure(found.lower <= optimum && found.lower >= optimum.min(cutoff), || {
                format!("{} is proved of {optimum}, at a cutoff of {cutoff}", found.lower)
            })?;
            ensure(found.upper == optimum || (optimum >= cutoff && found.upper > optimum), || {
                format!("{} is found of {optimum}, at a cutoff of {cutoff}", found.upper)
            })?;
        }
        Ok(())
    });
}

/// Two classes and these costs of errors and leaves, whole numbers of one unit.
fn costed(case: &Case, weights: &[f64], [a, b, leaf]: [i64; 3]) -> Result<Problem, String> {
    let points = Points::new(&case.columns, case.codes.clone(), case.rows.clone())
        .map_err(|e| e.to_string())?;
    let total: f64 = weights.iter().sum();
    let input = ClassInput {
        n_classes: 2,
        n_labels: 2,
        weights: weights.to_vec(),
        costs: vec![0.0, a as f64, b as f64, 0.0],
        class_weights: vec![1.0; 2],
        balanced: false,
        leaf_penalty: 0.0,
    };
    let mut scaled = input.build().map_err(|e| e.to_string())?;
    assert_eq!(scaled.scale.units, total);
    scaled.leaf_cost = leaf;
    Problem::new(case.columns.clone(), points, scaled, case.shape).map_err(|e| e.to_string())
}

#[test]
fn hints_from_other_costs_change_no_optimum() {
    let options = Options {
        min_points: 6,
        max_points: 14,
        loss: LossKind::Accuracy,
        limits: ShapeMix::Any,
        ..Options::default()
    };
    for_seeds(1_000, &options, |case| {
        let rng = &mut Random::new(case.rows.iter().sum::<u64>() + case.n_points() as u64);
        let weights: Vec<f64> = case
            .rows
            .iter()
            .flat_map(|&rows| {
                let first = rng.below(rows as usize + 1) as f64;
                [first, rows as f64 - first]
            })
            .collect();
        let mut case = case.clone();
        case.shape.max_depth = Some(rng.range(1, 4) as u32);
        let mut learned: Vec<Learned> = Vec::new();
        for _ in 0..4 {
            let leaf = if rng.chance(0.5) { 0 } else { rng.range(1, 4) as i64 };
            let costs = [rng.range(1, 9) as i64, rng.range(1, 9) as i64, leaf];
            let problem = costed(&case, &weights, costs)?;
            let optimum = brute::solve(&problem).upper;
            let hints = Hints::new(costs, &learned);
            let (found, new) = best_first::solve_with(
                &problem,
                &run(&problem, 1 + rng.below(2)),
                &Search::default(),
                hints,
                Some(costs),
            )
            .map_err(|e| e.to_string())?;
            ensure((found.lower, found.upper) == (optimum, optimum), || {
                format!("{costs:?}: {} to {}, not {optimum}", found.lower, found.upper)
            })?;
            learned.extend(new);
        }
        Ok(())
    });
}
