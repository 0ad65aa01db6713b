//! What a tree does and costs, computed the slow and obvious way in floats from the case itself.

use certree::data::ColumnKind;
use certree::tree::{Test, Tree};

use super::{Case, Loss};

/// The leaf that a point of the case ends in.
pub fn leaf_of(case: &Case, tree: &Tree, point: usize) -> usize {
    let mut at = 0;
    while let Some(split) = &tree.nodes[at].split {
        let column = split.column.index();
        let code = case.codes[column][point] as usize;
        let left = match (&split.test, &case.columns[column].kind) {
            (Test::AtMost(threshold), ColumnKind::Ordered(cuts)) => {
                let cut = cuts.iter().position(|cut| cut == threshold);
                code <= cut.expect("a tree splits at a cut of the column")
            }
            (Test::IsTrue, ColumnKind::Boolean) => code == 0,
            (Test::Is(value), ColumnKind::Category(values)) => {
                assert!(values.contains(value), "a tree asks for a value of the column");
                values.get(code) != Some(value)
            }
            (test, kind) => panic!("a tree asks {test:?} of {kind:?}"),
        };
        at = if left { split.left } else { split.right }.index();
    }
    at
}

/// loss + leaf penalty · leaves, if point p gets label `labels[p]`.
pub fn objective(case: &Case, labels: &[u32], leaves: usize) -> f64 {
    let loss = match &case.loss {
        Loss::Classes(input) => {
            let k = input.n_classes;
            let mut factors = input.class_weights.clone();
            let total = |class: usize| input.weights.iter().skip(class).step_by(k).sum::<f64>();
            if input.balanced {
                for (class, factor) in factors.iter_mut().enumerate() {
                    if total(class) > 0.0 {
                        *factor /= total(class);
                    }
                }
            }
            let everything: f64 = (0..k).map(|class| factors[class] * total(class)).sum();
            let mut cost = 0.0;
            for (point, &label) in labels.iter().enumerate() {
                for (class, factor) in factors.iter().enumerate() {
                    let each = input.costs[class * input.n_labels + label as usize];
                    cost += input.weights[point * k + class] * factor * each;
                }
            }
            cost / everything
        }
        Loss::Rows { n_labels, costs, normalizer, .. } => {
            let paid = labels.iter().enumerate().map(|(p, &k)| costs[p * n_labels + k as usize]);
            paid.sum::<f64>() / normalizer
        }
    };
    loss + case.leaf_penalty() * leaves as f64
}

/// A bound on the absolute values that `objective` sums: what its rounding errors are relative to.
pub fn magnitude(case: &Case) -> f64 {
    let costs = match &case.loss {
        Loss::Classes(input) => input.costs.iter().fold(1.0, |m: f64, c| m.max(c.abs())),
        Loss::Rows { costs, normalizer, .. } => {
            costs.iter().map(|c| c.abs()).sum::<f64>() / normalizer
        }
    };
    costs + case.leaf_penalty() * case.n_points() as f64
}
