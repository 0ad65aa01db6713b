//! Random inputs of every additive task in the registry.

use std::collections::BTreeMap;

use super::Random;
use certree::task::{ADDITIVE, AdditiveInput};

type Columns = Vec<(&'static str, Vec<f64>)>;

/// Makes the columns of a task for so many points.
type Make = fn(&mut Random, usize) -> Columns;

/// By task: how its columns are made. A task of the registry that is not here fails every test that
/// takes these.
const MAKES: &[(&str, Make)] = &[
    ("poisson", |rng, n| rates(rng, n, |rng| rng.below(4) as f64)),
    ("gamma", |rng, n| rates(rng, n, |rng| 0.25 + 3.0 * rng.unit())),
    ("mdl", |rng, n| {
        let mut columns = classes(rng, n);
        columns.push(("n_cuts", vec![rng.range(1, 30) as f64]));
        columns
    }),
    ("gini", classes),
    ("entropy", classes),
    ("targets", targets),
];

/// How many rows of each point tasks are given that take columns by row.
const ROWS: usize = 2;

/// A random input of the task with this number, for so many points.
pub fn additive_input(rng: &mut Random, task: usize, n: usize, leaf_penalty: f64) -> AdditiveInput {
    let task = ADDITIVE[task];
    let make = MAKES.iter().find(|(name, _)| *name == task.name);
    let (_, make) = make.unwrap_or_else(|| panic!("{} has no random inputs here", task.name));
    let columns: BTreeMap<String, Vec<f64>> =
        make(rng, n).into_iter().map(|(name, column)| (name.to_owned(), column)).collect();
    // A description says what its leaves cost.
    let leaf_penalty = if task.name == "mdl" { 0.0 } else { leaf_penalty };
    let points = (0..(ROWS * n) as u32).map(|row| row / ROWS as u32).collect();
    let row_weights = (0..n).map(|_| 0.5 * rng.range(1, 4) as f64).collect();
    AdditiveInput { task, columns, points, n_points: n, leaf_penalty, row_weights }
}

/// As above, of any task.
pub fn any_additive_input(rng: &mut Random, n: usize, leaf_penalty: f64) -> AdditiveInput {
    let task = rng.below(ADDITIVE.len());
    additive_input(rng, task, n, leaf_penalty)
}

fn classes(rng: &mut Random, n: usize) -> Columns {
    let k = rng.range(1, 4);
    let weight = |rng: &mut Random| match rng.below(6) {
        0 => 0.5 * rng.below(9) as f64,
        1 => rng.unit(),
        _ => rng.below(3) as f64,
    };
    let simple = rng.chance(0.5);
    let mut weights: Vec<f64> = (0..n * k).map(|_| weight(rng)).collect();
    if simple {
        weights.iter_mut().for_each(|w| *w = w.round());
    }
    weights[0] = 1.0;
    let factors = (0..k).map(|_| rng.pick(&[1.0, 1.0, 2.5, 1.0 / 3.0])).collect();
    let balanced = f64::from(u8::from(rng.chance(0.3)));
    vec![("weights", weights), ("class_weights", factors), ("balanced", vec![balanced])]
}

fn rates(rng: &mut Random, n: usize, target: fn(&mut Random) -> f64) -> Columns {
    let n = ROWS * n;
    let mut targets: Vec<f64> = (0..n).map(|_| target(rng)).collect();
    targets[0] = 1.0;
    let mut columns = vec![("targets", targets)];
    for name in ["exposures", "weights"] {
        if rng.chance(0.5) {
            columns.push((name, (0..n).map(|_| 0.1 + rng.unit()).collect()));
        }
    }
    columns
}

fn targets(rng: &mut Random, n: usize) -> Columns {
    let n_classes: Vec<usize> = (0..rng.range(1, 3)).map(|_| rng.range(1, 3)).collect();
    let whole = rng.chance(0.7);
    let mut weights = Vec::new();
    for _ in 0..n {
        // Every target sees the same row weight.
        let weight = if whole { rng.below(4) as f64 } else { 0.25 * rng.below(400) as f64 };
        for &n in &n_classes {
            let class = rng.below(n);
            weights.extend((0..n).map(|c| if c == class { weight } else { 0.0 }));
        }
    }
    weights[0] += 1.0;
    let n_classes = n_classes.iter().map(|&n| n as f64).collect();
    vec![("n_classes", n_classes), ("weights", weights)]
}
