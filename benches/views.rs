//! Problems by both views: `cargo bench --bench views`.
//!
//! Cuts as questions (`search/best_first` on bits) against intervals of cuts (`search/intervals` on
//! ranks), with so many cuts of each feature. A tree of depth three with noise is to be found.
//! `solve.rs` chooses by such figures. A search that takes more than the limit counts as the limit.

use std::time::{Duration, Instant};

use certree::data::{Column, ColumnKind, Points, Threshold};
use certree::problem::{Problem, Shape};
use certree::run::{Limits, Run};
use certree::search::{best_first, intervals};
use certree::task::{ClassInput, SquaresInput};

const ROWS: usize = 3000;
const FEATURES: usize = 8;
const LIMIT: Duration = Duration::from_secs(10);

fn main() {
    println!(
        "{:>8} {:>5} {:>5} {:>8} {:>8} {:>6}",
        "labels", "depth", "cuts", "bits", "ranks", "ratio"
    );
    for (labels, depth) in [(2, 2), (2, 3), (8, 3), (0, 2), (0, 3)] {
        for cuts in [4, 8, 16, 32, 64, 128] {
            let problem = problem(labels, depth, cuts);
            let bits = seconds(&problem, |problem, run| {
                best_first::solve(problem, run, &best_first::Options::default())
            });
            let ranks = seconds(&problem, |problem, run| {
                intervals::solve(problem, run, &intervals::Options::default())
            });
            let name = if labels == 0 { "means".into() } else { labels.to_string() };
            println!(
                "{name:>8} {depth:>5} {cuts:>5} {bits:>8.4} {ranks:>8.4} {:>6.2}",
                bits / ranks
            );
        }
    }
}

fn seconds<T>(problem: &Problem, solve: impl Fn(&Problem, &Run) -> T) -> f64 {
    let start = Instant::now();
    let mut runs = 0;
    // Short ones several times.
    while runs == 0 || (start.elapsed() < LIMIT / 20 && runs < 20) {
        let limits = Limits { threads: 1, time: Some(LIMIT), ..Limits::default() };
        solve(problem, &Run::new(limits, problem.scale, None));
        runs += 1;
    }
    start.elapsed().as_secs_f64() / f64::from(runs)
}

/// `labels`: none for regression.
fn problem(labels: usize, depth: u32, cuts: u32) -> Problem {
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let values: Vec<Vec<f64>> =
        (0..FEATURES).map(|_| (0..ROWS).map(|_| random()).collect()).collect();
    // Three questions, and noise.
    let target: Vec<f64> = (0..ROWS)
        .map(|row| {
            let right =
                |feature: usize| f64::from(values[feature][row] > 0.3 + 0.1 * feature as f64);
            (4.0 * right(0) + 2.0 * right(1) + right(2)) / 8.0 + 0.6 * random()
        })
        .collect();
    let thresholds: Vec<Threshold> =
        (1..=cuts).map(|cut| Threshold::Float(f64::from(cut) / f64::from(cuts + 1))).collect();
    let columns: Vec<Column> = (0..FEATURES)
        .map(|feature| Column {
            name: format!("x{feature}"),
            kind: ColumnKind::Ordered(thresholds.clone()),
            missing: false,
        })
        .collect();
    let code = |value: &f64| ((value * f64::from(cuts + 1)) as u32).min(cuts);
    let codes = values.iter().map(|values| values.iter().map(code).collect()).collect();
    let points = Points::new(&columns, codes, vec![1; ROWS]).expect("codes of these columns");
    let scaled = if labels == 0 {
        SquaresInput {
            n_outputs: 1,
            targets: target,
            weights: None,
            given: None,
            points: (0..ROWS as u32).collect(),
            n_points: ROWS,
            leaf_penalty: 0.0,
        }
        .build()
    } else {
        let mut weights = vec![0.0; ROWS * labels];
        for (row, target) in target.iter().enumerate() {
            weights[row * labels + ((target / 1.5 * labels as f64) as usize).min(labels - 1)] = 1.0;
        }
        ClassInput {
            n_classes: labels,
            n_labels: labels,
            weights,
            costs: (0..labels * labels).map(|at| f64::from(at / labels != at % labels)).collect(),
            class_weights: vec![1.0; labels],
            balanced: false,
            leaf_penalty: 0.0,
        }
        .build()
    };
    let shape = Shape { max_depth: Some(depth), ..Shape::default() };
    Problem::new(columns, points, scaled.expect("a task"), shape).expect("a problem")
}
