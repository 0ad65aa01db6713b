//! A minimum of rows that leaves meet exactly, and one more: by every kernel and search. Labels are
//! the parity of all columns, so that nothing but the whole tree is worth a split.

use crate::common::large::built;
use crate::common::{Case, Loss, Squares};
use certree::data::{Column, ColumnKind, Points, Threshold};
use certree::pareto::Roc;
use certree::problem::Shape;
use certree::run::{Limits, Run, Status};
use certree::solve;
use certree::task::{ClassInput, FeatureCostList};

const PENALTY: f64 = 0.001;

/// What labels cost: the right one nothing.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Uniform,
    TwoCosts,
    ThreeLabels,
    Rows,
    Squares,
}

/// A point for each combination of answers, with `rows` rows each.
fn parity(levels: usize, rows: usize, kind: Kind) -> Case {
    let n = 1 << levels;
    let codes: Vec<Vec<u32>> =
        (0..levels).map(|level| (0..n).map(|point| point >> level & 1).collect()).collect();
    let labels: Vec<usize> = (0..n as usize).map(|p| p.count_ones() as usize % 2).collect();
    let weigh = |point: usize, class: usize| f64::from(u8::from(labels[point] == class));
    let weights = |n_classes: usize| -> Vec<f64> {
        let of = |at: usize| weigh(at / n_classes, at % n_classes) * rows as f64;
        (0..labels.len() * n_classes).map(of).collect()
    };
    let classes = |n_classes: usize, costs: &[f64]| {
        Loss::Classes(ClassInput {
            n_classes,
            n_labels: n_classes,
            weights: weights(n_classes),
            costs: costs.to_vec(),
            class_weights: vec![1.0; n_classes],
            balanced: false,
            leaf_penalty: PENALTY,
        })
    };
    let loss = match kind {
        Kind::Uniform => classes(2, &[0.0, 1.0, 1.0, 0.0]),
        Kind::TwoCosts => classes(2, &[0.0, 2.0, 1.0, 0.0]),
        Kind::ThreeLabels => classes(3, &[0.0, 2.0, 5.0, 1.0, 0.0, 3.0, 1.0, 1.0, 0.0]),
        Kind::Rows => Loss::Rows {
            n_labels: 2,
            costs: weights(2).iter().map(|weight| (rows as f64 - weight) * 0.7).collect(),
            normalizer: (n as usize * rows) as f64,
            leaf_penalty: PENALTY,
        },
        Kind::Squares => Loss::Squares(Squares {
            n_outputs: 1,
            per_point: rows,
            targets: (0..labels.len() * rows).map(|row| labels[row / rows] as f64).collect(),
            weights: vec![1; labels.len() * rows],
            leaf_penalty: PENALTY,
        }),
    };
    let column = |level: usize| Column {
        name: format!("c{level}"),
        kind: ColumnKind::Boolean,
        missing: false,
    };
    Case {
        columns: (0..levels).map(column).collect(),
        codes,
        rows: vec![rows as u64; labels.len()],
        loss,
        shape: Shape::default(),
        prices: FeatureCostList::default(),
        paths: Vec::new(),
    }
}

fn leaves_of(case: &Case) -> usize {
    let problem = case.problem().unwrap();
    let answer = solve(&problem, &Run::new(Limits::default(), problem.scale, None)).unwrap();
    assert_eq!(answer.status, Status::Optimal);
    answer.tree.n_leaves()
}

#[test]
fn leaves_may_have_as_few_rows_as_that_and_no_fewer() {
    use Kind::{Rows, Squares, ThreeLabels, TwoCosts, Uniform};
    for kind in [Uniform, TwoCosts, ThreeLabels, Rows, Squares] {
        for levels in 1..=4 {
            for rows in [2, 3, 7] {
                let mut case = parity(levels, rows, kind);
                let whole = 1usize << levels;
                let depths = [Some(levels as u32), None];
                let limits = [None, Some(whole as u32)];
                for (max_depth, max_leaves) in
                    depths.into_iter().flat_map(|d| limits.map(|l| (d, l)))
                {
                    for (min_leaf_rows, leaves) in [(rows as u64, whole), (rows as u64 + 1, 1)] {
                        case.shape = Shape { max_depth, max_leaves, min_leaf_rows };
                        let found = leaves_of(&case);
                        assert_eq!(found, leaves, "{kind:?}, {levels} levels, {:?}", case.shape);
                    }
                }
            }
        }
    }
}

/// A column with many cuts is searched without the minimum first.
#[test]
fn halves_may_be_as_small_as_that_and_no_smaller() {
    let n = 1200;
    let thresholds = (0..n - 1).map(|cut| Threshold::Float(cut as f64)).collect();
    let mut case = parity(1, 2, Kind::Uniform);
    case.columns =
        vec![Column { name: "c".into(), kind: ColumnKind::Ordered(thresholds), missing: false }];
    case.codes = vec![(0..n as u32).collect()];
    case.rows = vec![2; n];
    if let Loss::Classes(input) = &mut case.loss {
        let of = |at: usize| 2.0 * f64::from(u8::from((at / 2 >= n / 2) == (at % 2 == 1)));
        input.weights = (0..2 * n).map(of).collect();
    }
    for (min_leaf_rows, leaves) in [(n as u64, 2), (n as u64 + 1, 1)] {
        case.shape = Shape { max_depth: None, max_leaves: None, min_leaf_rows };
        let problem = built(case.clone(), PENALTY, Some(2));
        let answer = solve(&problem, &Run::new(Limits::default(), problem.scale, None)).unwrap();
        assert_eq!((answer.status, answer.tree.n_leaves()), (Status::Optimal, leaves));
    }
}

#[test]
fn leaves_of_curves_may_have_as_few_rows_as_that_and_no_fewer() {
    for levels in 1..=3 {
        for rows in [2, 5] {
            let case = parity(levels, rows, Kind::Uniform);
            let Loss::Classes(input) = &case.loss else { unreachable!() };
            let whole = 1usize << levels;
            for (min_leaf_rows, leaves) in [(rows as u64, whole), (rows as u64 + 1, 1)] {
                let max_depth = Some(levels as u32);
                let shape = Shape { max_depth, max_leaves: None, min_leaf_rows };
                for game in [true, false] {
                    let points =
                        Points::new(&case.columns, case.codes.clone(), case.rows.clone()).unwrap();
                    let (columns, weights) = (case.columns.clone(), input.weights.clone());
                    let mut roc =
                        Roc::new(columns, points, weights, 1, 1.0, PENALTY, shape).unwrap();
                    roc.game = game;
                    let run = Run::new(Limits::default(), roc.scale(), None);
                    assert_eq!(roc.solve(&run).unwrap().tree.n_leaves(), leaves);
                }
            }
        }
    }
}
