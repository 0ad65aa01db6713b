//! Make a failing case smaller, one point, column or number at a time, while it still fails.

use super::{Case, Loss};

pub fn shrink(mut case: Case, fails: impl Fn(&Case) -> bool) -> Case {
    // Quiet the panics of all the cases tried; the caller reports the last one.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    while let Some(smaller) = smaller(&case).into_iter().find(|case| fails(case)) {
        case = smaller;
    }
    std::panic::set_hook(hook);
    case
}

/// Cases with a little less in them. Each is smaller in something, so that shrinking ends.
fn smaller(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    for column in 0..case.columns.len() {
        let mut less = case.clone();
        less.columns.remove(column);
        less.codes.remove(column);
        if !less.prices.of_column.is_empty() {
            less.prices.of_column.remove(column);
        }
        less.paths = if less.columns.is_empty() {
            Vec::new()
        } else {
            case.paths.iter().map(|rule| rule.without(column)).collect()
        };
        all.push(less);
    }
    for rule in 0..case.paths.len() {
        let mut less = case.clone();
        less.paths.remove(rule);
        all.push(less);
    }
    if case.n_points() > 1 {
        all.extend((0..case.n_points()).map(|point| without_point(case, point)));
    }
    all.extend(simpler_numbers(case));
    if case.shape.min_leaf_rows > 1 {
        let mut less = case.clone();
        less.shape.min_leaf_rows = 1;
        all.push(less);
    }
    for point in 0..case.n_points() {
        if case.rows[point] > 1 {
            let mut less = case.clone();
            less.rows[point] = 1;
            all.push(less);
        }
    }
    all
}

fn without_point(case: &Case, point: usize) -> Case {
    let mut less = case.clone();
    less.rows.remove(point);
    for codes in &mut less.codes {
        codes.remove(point);
    }
    let (numbers, width) = match &mut less.loss {
        Loss::Classes(input) => (&mut input.weights, input.n_classes),
        Loss::Rows { costs, n_labels, .. } => (costs, *n_labels),
        Loss::Squares(squares) => {
            squares.weights.drain(squares.rows(point));
            (&mut squares.targets, squares.per_point * squares.n_outputs)
        }
    };
    numbers.drain(point * width..(point + 1) * width);
    let by_row = &mut less.prices.by_row;
    let width = by_row.n_lists * by_row.n_classes;
    by_row.sums.drain(point * width..(point + 1) * width);
    less
}

fn simpler_numbers(case: &Case) -> Vec<Case> {
    let count = match &case.loss {
        Loss::Classes(input) => input.weights.len(),
        Loss::Rows { costs, .. } => costs.len(),
        Loss::Squares(squares) => squares.targets.len(),
    };
    let mut all = Vec::new();
    for index in 0..count {
        for simple in [0.0, 1.0] {
            let mut less = case.clone();
            let number = match &mut less.loss {
                Loss::Classes(input) => &mut input.weights[index],
                Loss::Rows { costs, .. } => &mut costs[index],
                Loss::Squares(squares) => &mut squares.targets[index],
            };
            if *number == 0.0 || *number == simple {
                continue;
            }
            *number = simple;
            all.push(less);
        }
    }
    for column in 0..case.prices.of_column.len() {
        let mut less = case.clone();
        if less.prices.of_column[column].take().is_some() {
            all.push(less);
        }
    }
    let mut less = case.clone();
    if let Loss::Classes(input) = &mut less.loss
        && input.balanced
    {
        input.balanced = false;
        all.push(less);
    }
    all
}
