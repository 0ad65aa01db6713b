//! Fronts of more rows, columns and levels than an oracle takes: with and without good relaxations,
//! with any number of threads, and under limits, all say the same.

use std::time::Duration;

use crate::common::Random;
use certree::answer::Answer;
use certree::data::{Column, ColumnKind, Points};
use certree::pareto::{Constrained, LimitInput, Roc};
use certree::problem::Shape;
use certree::run::{Limits, Run, Status};
use certree::task::ClassInput;

struct Data {
    columns: Vec<Column>,
    points: Points,
    /// By point and class: the label, twice, by group.
    weights: Vec<f64>,
}

/// Noisy labels that some of the columns explain, in two groups that differ.
fn data(seed: u64, n: usize, n_columns: usize) -> Data {
    let rng = &mut Random::new(seed);
    let column =
        |index| Column { name: format!("c{index}"), kind: ColumnKind::Boolean, missing: false };
    let mut codes = vec![Vec::new(); n_columns];
    let mut weights = Vec::new();
    for _ in 0..n {
        let row: Vec<u32> = (0..n_columns).map(|_| u32::from(rng.chance(0.4))).collect();
        let group = usize::from(rng.chance(0.3 + 0.4 * f64::from(row[0])));
        let score = row[0] + row[1] * row[2] + u32::from(row[3] != row[4 % n_columns]);
        let label = usize::from(rng.chance(0.15 + 0.25 * f64::from(score)));
        let mut own = [0.0; 4];
        own[2 * label + group] = rng.range(1, 2) as f64;
        weights.extend(own);
        row.into_iter().zip(&mut codes).for_each(|(code, codes)| codes.push(code));
    }
    let columns: Vec<Column> = (0..n_columns).map(column).collect();
    let points = Points::new(&columns, codes, vec![1; n]).unwrap();
    Data { columns, points, weights }
}

fn shape(seed: u64) -> Shape {
    // Three limits take longer than one.
    let deepest = if seed.is_multiple_of(2) { 3 } else { 4 };
    Shape {
        max_depth: Some((2 + seed as u32 % 3).min(deepest)),
        max_leaves: seed.is_multiple_of(4).then_some(5),
        min_leaf_rows: 1 + seed % 2 * 3,
    }
}

fn constrained(data: &Data, seed: u64, penalty: f64) -> Constrained {
    let input = ClassInput {
        n_classes: 4,
        n_labels: 2,
        weights: data.weights.clone(),
        costs: vec![0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0],
        class_weights: vec![1.0; 4],
        balanced: false,
        leaf_penalty: penalty,
    };
    let limit = |among: &[u32], against: &[u32], most| {
        LimitInput::of_shares(format!("{among:?}"), 1, among, against, most)
    };
    let mut limits = vec![limit(&[1, 3], &[0, 2], 0.02)];
    if seed.is_multiple_of(2) {
        limits.push(limit(&[3], &[2], 0.05));
        limits.push(limit(&[0, 1, 2, 3], &[], 0.4));
    }
    let (columns, points) = (data.columns.clone(), data.points.clone());
    Constrained::new(columns, points, &input, vec![0, 0, 1, 1], &limits, shape(seed)).unwrap()
}

fn roc(data: &Data, seed: u64, penalty: f64) -> Roc {
    let weights = data.weights.chunks(4).flat_map(|w| [w[0] + w[1], w[2] + w[3]]).collect();
    let most = if seed.is_multiple_of(2) { 1.0 } else { 0.2 };
    let (columns, points) = (data.columns.clone(), data.points.clone());
    Roc::new(columns, points, weights, 1, most, penalty, shape(seed)).unwrap()
}

const PENALTIES: [f64; 3] = [0.0, 0.005, 0.02];

/// Each way to the answer: whether the relaxation is good, threads, and what is allowed.
fn agree(seed: u64, n: usize, solve: impl Fn(bool, &Limits) -> Answer) {
    let time = Some(Duration::from_secs(60));
    let limits = |threads| Limits { threads, time, ..Limits::default() };
    let expected = solve(true, &limits(1));
    assert_eq!(expected.status, Status::Optimal, "seed {seed} of {n} rows");
    for (good, threads) in [(true, 2), (true, 5), (false, 1), (false, 2)] {
        let found = solve(good, &limits(threads));
        assert_eq!(found.objective, expected.objective, "seed {seed}: {good} {threads}");
        assert_eq!(found.status, Status::Optimal);
    }
    for limits in [
        Limits { time: Some(Duration::from_micros(500)), ..limits(1) },
        Limits { memory: Some(400_000), ..limits(2) },
        Limits { gap: 0.02, ..limits(1) },
    ] {
        let found = solve(true, &limits);
        assert!(found.lower_bound <= expected.objective, "seed {seed}: {limits:?}");
        assert!(found.objective >= expected.objective, "seed {seed}: {limits:?}");
        let proved = found.status == Status::Optimal;
        assert!(!proved || found.objective == expected.objective, "seed {seed}: {limits:?}");
    }
}

#[test]
fn limits_on_sums() {
    for seed in 0..30u64 {
        // One limit takes more rows than three do.
        let n = if seed.is_multiple_of(2) { 30 } else { 60 + 3 * seed as usize };
        let data = data(seed, n, 6 + seed as usize % 3);
        agree(seed, n, |good, limits| {
            let mut problem = constrained(&data, seed, PENALTIES[seed as usize % 3]);
            problem.multipliers = good;
            let run = Run::new(limits.clone(), problem.scale(), None);
            problem.solve(&run).map_err(|e| format!("seed {seed}: {e}")).unwrap().0
        });
    }
}

#[test]
fn curves() {
    for seed in 0..24 {
        let n = 30 + 3 * seed as usize;
        let data = data(seed, n, 5 + seed as usize % 2);
        agree(seed, n, |good, limits| {
            let mut problem = roc(&data, seed, PENALTIES[seed as usize % 3]);
            problem.game = good;
            let run = Run::new(limits.clone(), problem.scale(), None);
            problem.solve(&run).unwrap()
        });
    }
}
