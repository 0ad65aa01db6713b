//! Feature costs: the oracle against all trees, the search against the oracle, alone and with
//! everything else.

use std::collections::BTreeSet;

use crate::common::judge::{agrees_with_oracle, ensure, keeps_tight_limits};
use crate::common::paths::PathMix;
use crate::common::problems::{ColumnMix, LossKind, Options, ShapeMix};
use crate::common::{Case, for_seeds};
use certree::answer::solve;
use certree::cost::Cost;
use certree::ids::ColumnId;
use certree::problem::Problem;
use certree::run::{Limits, Run};
use certree::search::brute::{self, Above, Brute};
use certree::task::{Price, RowPrices};

fn priced() -> Options {
    Options { prices: true, ..Options::default() }
}

/// Prices that differ by row, beside some that do not.
fn priced_by_row() -> Options {
    Options { row_prices: true, ..priced() }
}

fn agrees(case: &Case) -> Result<(), String> {
    agrees_with_oracle(case, 1)
}

/// What every tree of at most this depth costs, from the list of all: no memo, no bound. `path`:
/// the columns that were asked for above.
fn all_costs(
    (case, problem): (&Case, &Problem),
    points: u64,
    depth: u32,
    path: &[usize],
) -> Vec<(u32, Cost)> {
    let of = |set: u64| (0..64).filter(move |p| set >> p & 1 == 1);
    let rows: u64 = of(points).map(|p| problem.points.rows(p)).sum();
    if points == 0
        || (points != crate::common::sets::all(problem) && rows < problem.shape.min_leaf_rows)
    {
        return Vec::new();
    }
    let leaf = problem.task.leaf(&problem.stats(of(points))).cost + problem.leaf_cost;
    let mut all = vec![(1, leaf)];
    if depth == 0 {
        return all;
    }
    for feature in problem.features.iter() {
        let column = feature.column.index();
        if !case.paths.iter().all(|rule| rule.allows(path, column)) {
            continue;
        }
        let (mut price, below) = (0, [path, &[column]].concat());
        if let Some(costs) = &problem.feature_costs
            && let Some(test) = costs.of_column[column]
            && !path.iter().any(|&other| costs.of_column[other] == Some(test))
        {
            let cost = costs.tests[test as usize];
            let bought = path.iter().filter_map(|&other| costs.of_column[other]);
            let mut groups = bought.map(|other| costs.tests[other as usize].group);
            let known = cost.group.is_some() && groups.any(|group| group == cost.group);
            let each = if known { cost.discounted } else { cost.full };
            price = of(points).map(|p| costs.paid(p, each)).sum();
        }
        for cut in 0..feature.cuts {
            let left = of(points)
                .filter(|&p| feature.goes_left(&problem.points, p, cut))
                .fold(0, |set, p| set | 1 << p);
            let rights = all_costs((case, problem), points & !left, depth - 1, &below);
            for (n, cost) in all_costs((case, problem), left, depth - 1, &below) {
                all.extend(rights.iter().map(|(m, other)| (n + m, cost + other + price)));
            }
        }
    }
    all
}

pub fn oracle_agrees(case: &Case, depth: u32) -> Result<(), String> {
    let mut case = case.clone();
    case.shape.max_depth = Some(depth);
    let problem = case.problem().map_err(|e| e.to_string())?;
    let most = problem.shape.max_leaves.unwrap_or(u32::MAX);
    let trees = all_costs((&case, &problem), crate::common::sets::all(&problem), depth, &[]);
    let best = trees.iter().filter(|(n, _)| *n <= most).map(|(_, cost)| *cost).min().unwrap();
    let found = brute::solve(&problem);
    ensure(found.upper == best, || format!("the oracle says {}, not {best}", found.upper))
}

pub fn cuts(case: &Case) -> u32 {
    certree::data::Features::of(&case.columns).iter().map(|feature| feature.cuts).sum()
}

#[test]
fn the_oracle_finds_the_best_of_all_trees() {
    let few = Options { max_points: 9, max_columns: 4, ..priced() };
    for_seeds(400, &few, |case| if cuts(case) > 6 { Ok(()) } else { oracle_agrees(case, 2) });
    for_seeds(400, &few, |case| if cuts(case) > 3 { Ok(()) } else { oracle_agrees(case, 3) });
    let few = Options { row_prices: true, ..few };
    for_seeds(400, &few, |case| if cuts(case) > 6 { Ok(()) } else { oracle_agrees(case, 2) });
}

#[test]
fn anything_with_prices_by_row() {
    for_seeds(2_000, &priced_by_row(), agrees);
    for_seeds(500, &Options { min_points: 10, max_points: 20, ..priced_by_row() }, agrees);
}

#[test]
fn every_loss_with_prices_by_row() {
    use LossKind::{Accuracy, CostMatrix, Rows, Squares, Weighted};
    for loss in [Accuracy, CostMatrix, Rows, Squares, Weighted] {
        for_seeds(500, &Options { loss, ..priced_by_row() }, agrees);
    }
}

#[test]
fn prices_by_row_with_everything_else() {
    for limits in [ShapeMix::Leaves, ShapeMix::MinRows, ShapeMix::Unlimited] {
        for_seeds(300, &Options { limits, ..priced_by_row() }, agrees);
    }
    for columns in [ColumnMix::Category, ColumnMix::Ordered, ColumnMix::Sets] {
        for_seeds(300, &Options { columns, ..priced_by_row() }, agrees);
    }
    for_seeds(400, &Options { paths: PathMix::Any, ..priced_by_row() }, agrees);
    for_seeds(200, &priced_by_row(), |case| agrees_with_oracle(case, 4));
}

/// Prices by row that are the same for all rows are no other problem.
#[test]
fn equal_prices_by_row_are_prices_for_all() {
    for_seeds(600, &priced(), |case| {
        let masses = case.loss.masses(&case.rows);
        let n_classes = masses.len() / case.n_points();
        let mut listed = case.clone();
        let mut costs = Vec::new();
        for test in &mut listed.prices.tests {
            for price in [&mut test.full, &mut test.discounted] {
                costs.push(price.each());
                *price = Price::ByRow(costs.len() as u32 - 1);
            }
        }
        let sums = masses.iter().flat_map(|mass| costs.iter().map(move |cost| mass * cost));
        listed.prices.by_row = RowPrices { n_lists: costs.len(), n_classes, sums: sums.collect() };
        let objective = |case: &Case| -> Result<f64, String> {
            let problem = case.problem().map_err(|e| e.to_string())?;
            let run = Run::new(Limits::default(), problem.scale, None);
            Ok(solve(&problem, &run).map_err(|e| e.to_string())?.objective)
        };
        let (one, other) = (objective(case)?, objective(&listed)?);
        ensure((one - other).abs() <= 1e-8 * (1.0 + one.abs()), || format!("{one} and {other}"))
    });
}

#[test]
fn anything_with_prices() {
    for_seeds(1_000, &priced(), agrees);
}

#[test]
fn cost_matrices_with_prices() {
    for_seeds(600, &Options { loss: LossKind::CostMatrix, ..priced() }, agrees);
}

#[test]
fn costs_by_row_with_prices() {
    for_seeds(500, &Options { loss: LossKind::Rows, ..priced() }, agrees);
}

#[test]
fn weights_with_prices() {
    for_seeds(500, &Options { loss: LossKind::Weighted, ..priced() }, agrees);
}

#[test]
fn squared_errors_with_prices() {
    for_seeds(1_000, &Options { loss: LossKind::Squares, ..priced() }, agrees);
    for paths in [PathMix::None, PathMix::Any] {
        let more = Options { min_points: 9, max_points: 20, paths, ..priced() };
        for_seeds(300, &Options { loss: LossKind::Squares, ..more }, agrees);
    }
}

#[test]
fn several_questions_of_one_column() {
    for_seeds(600, &Options { columns: ColumnMix::Category, ..priced() }, agrees);
    for_seeds(600, &Options { columns: ColumnMix::Ordered, ..priced() }, agrees);
}

#[test]
fn limits_on_the_shape() {
    for limits in [ShapeMix::Leaves, ShapeMix::MinRows, ShapeMix::Unlimited] {
        for_seeds(500, &Options { limits, ..priced() }, agrees);
    }
}

#[test]
fn any_number_of_threads() {
    for_seeds(300, &priced(), |case| {
        agrees_with_oracle(case, 2).and_then(|()| agrees_with_oracle(case, 4))
    });
}

#[test]
fn stopped_searches_bound_the_optimum() {
    for_seeds(300, &priced(), |case| keeps_tight_limits(case, &[0.03]));
    for_seeds(200, &priced_by_row(), |case| keeps_tight_limits(case, &[0.03]));
}

/// What was bought makes the rest cheaper or dearer by no more than what it cost itself.
#[test]
fn what_was_bought_is_worth_at_most_its_price() {
    for_seeds(300, &priced(), is_worth_it);
    for_seeds(300, &priced_by_row(), is_worth_it);
}

fn is_worth_it(case: &Case) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    let mut oracle = Brute::new(&problem);
    let all = crate::common::sets::all(&problem);
    let none = Above::default();
    let without = oracle.best(all, 3, None).0;
    for column in 0..case.columns.len() {
        let Some(test) = case.prices.of_column[column] else { continue };
        let column = ColumnId::from(column);
        let bought = Above { bought: BTreeSet::from([test]), ..Above::default() };
        let with = oracle.best_after(all, 3, None, &bought).0;
        ensure(with <= without, || format!("{column:?} bought costs {with}, else {without}"))?;
        let groups = problem.feature_costs.iter().flat_map(|costs| &costs.tests);
        if groups.into_iter().all(|price| price.group.is_none()) {
            let price = oracle.price(all, column, &none);
            ensure(without <= with + price, || format!("{without} > {with} + {price}"))?;
        }
    }
    Ok(())
}
