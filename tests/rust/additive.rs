//! Tasks of which nothing is known but what leaves cost: every search against the oracle.
//!
//! More cases: `CERTREE_CASES=5000 cargo test --release --test all additive`.

use std::time::Duration;

use crate::common::judge::{ensure, proved_optimal, tree_is_sound};
use crate::common::paths::PathMix;
use crate::common::problems::Options;
use crate::common::{Case, Random, for_seeds};
use certree::cost::{Cost, Scale};
use certree::data::Points;
use certree::error::Result;
use certree::problem::Problem;
use certree::run::{Limits, Run};
use certree::search::{best_first, brute, intervals};
use certree::solve;
use certree::task::{
    ClassInput, Deviance, Impurity, Leaf, RateInput, Scaled, TargetsInput, Task, testing,
};

fn cases(few: u64) -> u64 {
    match std::env::var("CERTREE_CASES") {
        Ok(count) => count.parse().expect("CERTREE_CASES is a number"),
        Err(_) => few,
    }
}

/// What a made-up task does with its two sums.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// (Σ a)².
    Square,
    /// Σ a · Σ b.
    Product,
    /// Σ a · Σ b / (Σ a + Σ b), rounded down: rounding raises parts by less than one unit each.
    Harmonic,
    /// Σ |a| − |Σ a|: of numbers with signs.
    Cancelled,
}

struct MadeUp {
    kind: Kind,
    stats: Vec<i64>,
    knows_worst: bool,
}

impl MadeUp {
    fn new(rng: &mut Random, n: usize) -> MadeUp {
        let kind = rng.pick(&[Kind::Square, Kind::Product, Kind::Harmonic, Kind::Cancelled]);
        let large = rng.pick(&[1, 4, 1000]);
        let mut stats = Vec::new();
        for _ in 0..n {
            let (a, b) = (rng.below(large + 1) as i64, rng.below(large + 1) as i64);
            stats.extend(match kind {
                Kind::Cancelled => [a - b, (a - b).abs()],
                _ => [a, b],
            });
        }
        MadeUp { kind, stats, knows_worst: rng.chance(0.5) }
    }
}

impl Task for MadeUp {
    fn n_points(&self) -> usize {
        self.stats.len() / 2
    }

    fn width(&self) -> usize {
        2
    }

    fn stats(&self, point: usize) -> &[i64] {
        &self.stats[2 * point..][..2]
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
        let [a, b] = [stats[0], stats[1]];
        let cost = match self.kind {
            Kind::Square => a * a,
            Kind::Product => a * b,
            Kind::Harmonic => {
                if a + b > 0 {
                    a * b / (a + b)
                } else {
                    0
                }
            }
            Kind::Cancelled => b - a.abs(),
        };
        Leaf { cost, label: 0 }
    }

    fn rounding(&self) -> Cost {
        if matches!(self.kind, Kind::Harmonic) { 1 } else { 0 }
    }

    fn worst(&self, point: usize) -> Option<Cost> {
        // A number cancels no more than itself twice.
        let known = matches!(self.kind, Kind::Cancelled) && self.knows_worst;
        known.then(|| 2 * self.stats(point)[1])
    }

    fn shown(&self, _points: &[u32], stats: &[i64]) -> Vec<f64> {
        stats.iter().map(|&s| s as f64).collect()
    }
}

fn made_up(case: &Case, rng: &mut Random) -> Result<Scaled> {
    let task = MadeUp::new(rng, case.n_points());
    testing::obeys(&task)?;
    let all: Vec<u32> = (0..case.n_points() as u32).collect();
    let whole = task.leaf(&task.sum_of(&all)).cost;
    let leaf_cost = rng.pick(&[0, 1, whole / 20, whole / 5]);
    let scale = Scale { units: whole.max(1) as f64, offset: 0, slack: 0 };
    Ok(Scaled { task: Box::new(task), leaf_cost, scale, feature_costs: None, stated: None })
}

fn penalty(rng: &mut Random) -> f64 {
    rng.pick(&[0.0, 0.01, 0.05, 0.1, 0.013_722_191_3, 0.3])
}

fn impurity(case: &Case, rng: &mut Random) -> Result<Scaled> {
    let k = rng.range(1, 4);
    let weight = |rng: &mut Random| match rng.below(6) {
        0 => 0.5 * rng.below(9) as f64,
        1 => rng.unit(),
        _ => rng.below(3) as f64,
    };
    let simple = rng.chance(0.5);
    let mut weights: Vec<f64> = (0..case.n_points() * k).map(|_| weight(rng)).collect();
    if simple {
        weights.iter_mut().for_each(|w| *w = w.round());
    }
    weights[0] = 1.0;
    let factor = |rng: &mut Random| rng.pick(&[1.0, 1.0, 2.5, 1.0 / 3.0]);
    let input = ClassInput {
        n_classes: k,
        n_labels: k,
        weights,
        costs: vec![0.0; k * k],
        class_weights: (0..k).map(|_| factor(rng)).collect(),
        balanced: rng.chance(0.3),
        leaf_penalty: penalty(rng),
    };
    input.build_impurity(rng.pick(&[Impurity::Gini, Impurity::Entropy]))
}

fn rates(case: &Case, rng: &mut Random) -> Result<Scaled> {
    let deviance = rng.pick(&[Deviance::Poisson, Deviance::Gamma]);
    let n = 2 * case.n_points();
    let target = |rng: &mut Random| match deviance {
        Deviance::Poisson => rng.below(4) as f64,
        Deviance::Gamma => 0.25 + 3.0 * rng.unit(),
    };
    let mut targets: Vec<f64> = (0..n).map(|_| target(rng)).collect();
    targets[0] = 1.0;
    let some = |rng: &mut Random| {
        let any = rng.chance(0.5);
        any.then(|| (0..n).map(|_| 0.1 + rng.unit()).collect::<Vec<f64>>())
    };
    let input = RateInput {
        deviance,
        targets,
        exposures: some(rng),
        weights: some(rng),
        points: (0..n as u32).map(|row| row / 2).collect(),
        n_points: case.n_points(),
        leaf_penalty: penalty(rng),
    };
    input.build()
}

fn targets(case: &Case, rng: &mut Random) -> Result<Scaled> {
    let n_classes: Vec<usize> = (0..rng.range(1, 3)).map(|_| rng.range(1, 3)).collect();
    let whole = rng.chance(0.7);
    let mut weights = Vec::new();
    for _ in 0..case.n_points() {
        // Every target sees the same row weight.
        let weight = if whole { rng.below(4) as f64 } else { 0.25 * rng.below(400) as f64 };
        for &n in &n_classes {
            let class = rng.below(n);
            weights.extend((0..n).map(|c| if c == class { weight } else { 0.0 }));
        }
    }
    weights[0] += 1.0;
    TargetsInput { n_classes, weights, leaf_penalty: penalty(rng) }.build()
}

fn agrees(
    case: &Case,
    build: impl Fn(&Case, &mut Random) -> Result<Scaled>,
) -> std::result::Result<(), String> {
    let seed =
        case.rows.iter().sum::<u64>() * 977 + case.columns.len() as u64 + case.n_points() as u64;
    let rng = &mut Random::new(seed);
    let scaled = build(case, rng).map_err(|e| format!("does not build: {e}"))?;
    testing::obeys(scaled.task.as_ref()).map_err(|e| e.to_string())?;
    let points = Points::new(&case.columns, case.codes.clone(), case.rows.clone());
    let points = points.map_err(|e| e.to_string())?;
    let problem = Problem::new(case.columns.clone(), points, scaled, case.shape);
    let problem = problem.and_then(|problem| case.on_paths(problem)).map_err(|e| e.to_string())?;
    let oracle = brute::solve(&problem);
    for threads in [1, 3] {
        let limits = Limits { threads, time: Some(Duration::from_secs(30)), ..Limits::default() };
        let run = || Run::new(limits.clone(), problem.scale, None);
        let answer = solve(&problem, &run()).map_err(|e| e.to_string())?;
        proved_optimal(&problem, &oracle, &answer)?;
        tree_is_sound(case, &problem, &answer.tree)?;
        for switches in 0..8 {
            let on = |bit: u32| switches >> bit & 1 == 1;
            let options = best_first::Options {
                equivalent_points: on(0),
                child_support: on(1),
                similarity: on(2),
                ..best_first::Options::default()
            };
            let found = best_first::solve(&problem, &run(), &options).map_err(|e| e.to_string())?;
            ensure((found.lower, found.upper) == (oracle.upper, oracle.upper), || {
                format!("{options:?}: {} to {}, not {}", found.lower, found.upper, oracle.upper)
            })?;
        }
        for blocks in [None, Some(2), Some(3)] {
            // Deeper trees take this search long on columns of few cuts, which are not given to it.
            let shallow = case.shape.max_depth.is_some_and(|depth| depth <= 4);
            if shallow && intervals::applies(&problem) {
                let options = intervals::Options { blocks, ..intervals::Options::default() };
                let found =
                    intervals::solve(&problem, &run(), &options).map_err(|e| e.to_string())?;
                ensure((found.lower, found.upper) == (oracle.upper, oracle.upper), || {
                    format!(
                        "{blocks:?} blocks: {} to {}, not {}",
                        found.lower, found.upper, oracle.upper
                    )
                })?;
            }
        }
    }
    Ok(())
}

#[test]
fn made_up_tasks() {
    for_seeds(cases(1500), &Options::default(), |case| agrees(case, made_up));
}

#[test]
fn impurities() {
    for_seeds(cases(1500), &Options::default(), |case| agrees(case, impurity));
}

#[test]
fn deviances() {
    for_seeds(cases(1500), &Options::default(), |case| agrees(case, rates));
}

#[test]
fn several_targets() {
    for_seeds(cases(1500), &Options::default(), |case| agrees(case, targets));
}

/// Rules for paths with tasks that are sums, and with tasks that are counts.
#[test]
fn any_task_with_rules_for_paths() {
    let options = Options { paths: PathMix::Any, max_points: 10, ..Options::default() };
    for_seeds(cases(600), &options, |case| agrees(case, made_up));
    for_seeds(cases(300), &options, |case| agrees(case, impurity));
    for_seeds(cases(300), &options, |case| agrees(case, rates));
    for_seeds(cases(300), &options, |case| agrees(case, targets));
}
