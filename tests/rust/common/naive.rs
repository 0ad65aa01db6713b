//! What a tree does and costs, computed the slow and obvious way in floats from the case itself.

use std::collections::HashSet;

use certree::data::ColumnKind;
use certree::ids::Side;
use certree::task::{ClassInput, FeatureCostList, Price};
use certree::tree::{Test, Tree};

use super::{Case, Loss, Squares};

/// The leaf that a point of the case ends in.
pub fn leaf_of(case: &Case, tree: &Tree, point: usize) -> usize {
    way_of(case, tree, point).0
}

fn columns_on_path(case: &Case, tree: &Tree, point: usize) -> Vec<usize> {
    way_of(case, tree, point).1
}

/// The leaf, and the columns that are asked for before it.
fn way_of(case: &Case, tree: &Tree, point: usize) -> (usize, Vec<usize>) {
    let (mut at, mut path) = (0, Vec::new());
    while let Some(split) = &tree.nodes[at].split {
        path.push(split.column.index());
        let column = split.column.index();
        let code = case.codes[column][point] as usize;
        if case.columns[column].missing_code() == Some(code as u32) {
            let side = split.missing.expect("a tree says where missing values go");
            at = if side == Side::Left { split.left } else { split.right }.index();
            continue;
        }
        let left = match (&split.test, &case.columns[column].kind) {
            (Test::IsMissing, _) => true,
            (Test::AtMost(threshold), ColumnKind::Ordered(cuts)) => {
                let cut = cuts.iter().position(|cut| cut == threshold);
                code <= cut.expect("a tree splits at a cut of the column")
            }
            (Test::IsTrue, ColumnKind::Boolean) => code == 0,
            (Test::Is(value), ColumnKind::Category(values)) => {
                assert!(values.contains(value), "a tree asks for a value of the column");
                values.get(code) != Some(value)
            }
            (Test::In { left, right }, ColumnKind::Sets(values)) => {
                let value = &values[code];
                let is_left = left.contains(value);
                assert!(is_left != right.contains(value), "a value is on one side");
                is_left
            }
            (test, kind) => panic!("a tree asks {test:?} of {kind:?}"),
        };
        at = if left { split.left } else { split.right }.index();
    }
    (at, path)
}

/// loss + leaf penalty · leaves, if point p ends in node `leaves[p]`.
pub fn objective(case: &Case, tree: &Tree, leaves: &[usize]) -> f64 {
    let labels: Vec<u32> = leaves.iter().map(|&leaf| tree.nodes[leaf].label).collect();
    let loss = match &case.loss {
        Loss::Classes(input) => {
            let k = input.n_classes;
            let factors = class_factors(input);
            let mut cost = 0.0;
            for (point, &label) in labels.iter().enumerate() {
                for (class, factor) in factors.iter().enumerate() {
                    let each = input.costs[class * input.n_labels + label as usize];
                    cost += input.weights[point * k + class] * factor * each;
                }
            }
            cost / normalizer(case)
        }
        Loss::Rows { n_labels, costs, normalizer, .. } => {
            let paid = labels.iter().enumerate().map(|(p, &k)| costs[p * n_labels + k as usize]);
            paid.sum::<f64>() / normalizer
        }
        Loss::Squares(squares) => {
            let root = squared_errors(squares, &vec![0; leaves.len()]);
            if root > 0.0 { squared_errors(squares, leaves) / root } else { 0.0 }
        }
    };
    loss + feature_costs(case, tree) + case.leaf_penalty() * tree.n_leaves() as f64
}

/// What each class's weight counts.
pub fn class_factors(input: &ClassInput) -> Vec<f64> {
    let total =
        |class: usize| input.weights.iter().skip(class).step_by(input.n_classes).sum::<f64>();
    let mut factors = input.class_weights.clone();
    if input.balanced {
        for (class, factor) in factors.iter_mut().enumerate() {
            if total(class) > 0.0 {
                *factor /= total(class);
            }
        }
    }
    factors
}

/// What costs are divided by.
fn normalizer(case: &Case) -> f64 {
    match &case.loss {
        Loss::Classes(_) | Loss::Squares(_) => case.row_weights().iter().sum(),
        Loss::Rows { normalizer, .. } => *normalizer,
    }
}

/// The mean of what points pay for the columns on their way.
fn feature_costs(case: &Case, tree: &Tree) -> f64 {
    paid_by(case, tree, &case.row_weights(), &case.paying_factors()) / normalizer(case)
}

/// What points of these weights pay for the columns on their way, all together. `factors`: of the
/// classes of prices by row.
pub fn paid_by(case: &Case, tree: &Tree, weights: &[f64], factors: &[f64]) -> f64 {
    let FeatureCostList { tests, of_column, by_row } = &case.prices;
    let listed = |point: usize, list: u32| -> f64 {
        let at = |class: usize| (point * by_row.n_classes + class) * by_row.n_lists;
        let classes = factors.iter().enumerate().take(by_row.n_classes);
        classes.map(|(class, factor)| by_row.sums[at(class) + list as usize] * factor).sum()
    };
    if of_column.is_empty() {
        return 0.0;
    }
    let mut sum = 0.0;
    for (point, weight) in weights.iter().enumerate() {
        let mut bought: Vec<usize> = Vec::new();
        for test in columns_on_path(case, tree, point).into_iter().filter_map(|c| of_column[c]) {
            let test = test as usize;
            if bought.contains(&test) {
                continue;
            }
            let price = tests[test];
            let known = bought.iter().any(|&other| tests[other].group == price.group);
            let known = known && price.group.is_some();
            sum += match if known { price.discounted } else { price.full } {
                Price::Each(cost) => weight * cost,
                Price::ByRow(list) => listed(point, list),
            };
            bought.push(test);
        }
    }
    sum
}

/// Σ w·(y − mean of its leaf)² over all outputs.
fn squared_errors(squares: &Squares, leaves: &[usize]) -> f64 {
    let mut sum = 0.0;
    for leaf in leaves.iter().collect::<HashSet<_>>() {
        for output in 0..squares.n_outputs {
            let rows: Vec<(f64, f64)> = (0..leaves.len())
                .filter(|&point| leaves[point] == *leaf)
                .flat_map(|point| squares.rows(point))
                .map(|row| {
                    let target = squares.targets[row * squares.n_outputs + output];
                    (squares.weights[row] as f64, target)
                })
                .collect();
            // Differences from some row lose little; their mean is taken off twice.
            let start = rows[0].1;
            let weight: f64 = rows.iter().map(|(w, _)| w).sum();
            let mean = rows.iter().map(|(w, y)| w * (y - start)).sum::<f64>() / weight;
            sum += rows.iter().map(|(w, y)| w * (y - start - mean).powi(2)).sum::<f64>();
        }
    }
    sum
}

/// A bound on the absolute values that `objective` sums: what its rounding errors are relative to.
pub fn magnitude(case: &Case) -> f64 {
    let costs = match &case.loss {
        Loss::Classes(input) => input.costs.iter().fold(1.0, |m: f64, c| m.max(c.abs())),
        Loss::Rows { costs, normalizer, .. } => {
            costs.iter().map(|c| c.abs()).sum::<f64>() / normalizer
        }
        // Near the mean: `squared_errors` centres.
        Loss::Squares(_) => 1.0,
    };
    let listed = |list: u32| {
        let of_list = case.prices.by_row.sums.iter().skip(list as usize);
        let most = case.paying_factors().into_iter().fold(0.0, f64::max);
        of_list.step_by(case.prices.by_row.n_lists).sum::<f64>() * most
    };
    let weight: f64 = case.row_weights().iter().sum();
    let paid = case.prices.tests.iter().map(|price| match price.full {
        Price::Each(cost) => cost * weight,
        Price::ByRow(list) => listed(list),
    });
    let spent = match paid.sum::<f64>() {
        0.0 => 0.0,
        paid => paid / normalizer(case),
    };
    costs + spent + case.leaf_penalty() * case.n_points() as f64
}
