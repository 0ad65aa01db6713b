//! Problems that take a while: noise, in which there is nothing to find and much to search.

use certree::data::{Column, ColumnKind, Threshold};
use certree::problem::{Problem, Shape};
use certree::task::{ClassInput, FeatureCostList};

use super::{Case, Loss, Random};

/// `n` rows of classes that know nothing of the columns, each with `cuts` cuts.
pub fn noise(n: usize, columns: usize, cuts: usize, n_classes: usize, seed: u64) -> Case {
    let rng = &mut Random::new(seed);
    let thresholds = (0..cuts).map(|cut| Threshold::Float(cut as f64)).collect();
    let kind = if cuts == 1 { ColumnKind::Boolean } else { ColumnKind::Ordered(thresholds) };
    let codes: Vec<Vec<u32>> =
        (0..columns).map(|_| (0..n).map(|_| rng.below(cuts + 1) as u32).collect()).collect();
    let columns = (0..columns)
        .map(|index| Column { name: format!("c{index}"), kind: kind.clone(), missing: false })
        .collect();
    let mut weights = vec![0.0; n * n_classes];
    for row in 0..n {
        weights[row * n_classes + rng.below(n_classes)] = 1.0;
    }
    let costs =
        (0..n_classes * n_classes).map(|at| f64::from(at / n_classes != at % n_classes)).collect();
    let input = ClassInput {
        n_classes,
        n_labels: n_classes,
        weights,
        costs,
        class_weights: vec![1.0; n_classes],
        balanced: false,
        leaf_penalty: 0.0,
    };
    Case {
        columns,
        codes,
        rows: vec![1; n],
        loss: Loss::Classes(input),
        shape: Shape::default(),
        prices: FeatureCostList::default(),
        paths: Vec::new(),
    }
}

/// As above, built, with a penalty and a depth.
pub fn built(mut case: Case, penalty: f64, max_depth: Option<u32>) -> Problem {
    if let Loss::Classes(input) = &mut case.loss {
        input.leaf_penalty = penalty;
    }
    case.shape.max_depth = max_depth;
    case.problem().expect("noise makes a problem")
}
