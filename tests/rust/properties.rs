//! Every search against the oracle, on thousands of random small problems.

use crate::common::judge::{agrees_with_oracle, keeps_tight_limits};
use crate::common::problems::{ColumnMix, LossKind, Options, ShapeMix};
use crate::common::{Case, for_seeds};

fn agrees(case: &Case) -> Result<(), String> {
    agrees_with_oracle(case, 1)
}

#[test]
fn anything_at_all() {
    for_seeds(6_000, &Options::default(), agrees);
}

#[test]
fn accuracy_on_boolean_columns() {
    let options =
        Options { loss: LossKind::Accuracy, columns: ColumnMix::Boolean, ..Options::default() };
    for_seeds(3_000, &options, agrees);
}

#[test]
fn weights_and_balanced_classes() {
    let options = Options { loss: LossKind::Weighted, ..Options::default() };
    for_seeds(2_000, &options, agrees);
}

#[test]
fn cost_matrices() {
    let options = Options { loss: LossKind::CostMatrix, ..Options::default() };
    for_seeds(2_000, &options, agrees);
}

#[test]
fn costs_by_row() {
    let options = Options { loss: LossKind::Rows, ..Options::default() };
    for_seeds(2_000, &options, agrees);
}

#[test]
fn regression() {
    let options = Options { loss: LossKind::Squares, ..Options::default() };
    for_seeds(3_000, &options, agrees);
}

#[test]
fn ordered_columns() {
    let options = Options { columns: ColumnMix::Ordered, ..Options::default() };
    for_seeds(2_000, &options, agrees);
}

#[test]
fn categories() {
    let options = Options { columns: ColumnMix::Category, ..Options::default() };
    for_seeds(1_000, &options, agrees);
}

#[test]
fn limited_leaves() {
    let options = Options { limits: ShapeMix::Leaves, ..Options::default() };
    for_seeds(2_000, &options, agrees);
}

#[test]
fn minimum_rows_per_leaf() {
    let options = Options { limits: ShapeMix::MinRows, ..Options::default() };
    for_seeds(2_000, &options, agrees);
}

#[test]
fn nothing_limits_but_the_penalty() {
    let options = Options { min_points: 6, limits: ShapeMix::Unlimited, ..Options::default() };
    for_seeds(1_000, &options, agrees);
}

#[test]
fn any_number_of_threads() {
    for_seeds(1_000, &Options::default(), |case| {
        agrees_with_oracle(case, 2).and_then(|()| agrees_with_oracle(case, 4))
    });
}

#[test]
fn stopped_searches_bound_the_optimum() {
    for_seeds(1_000, &Options::default(), |case| keeps_tight_limits(case, &[0.001, 0.03, 0.2]));
}
