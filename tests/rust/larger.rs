//! More points and columns than the oracle of `properties.rs` takes, to fill the words, lanes and
//! blocks that kernels work in; depth two or three, every tree of which is tried.

use crate::common::judge::agrees_with;
use crate::common::problems::{ColumnMix, LossKind, Options, ShapeMix};
use crate::common::{Case, exhaustive, for_seeds};

/// At the largest depth that can be listed in a moment.
fn agrees(case: &Case) -> Result<(), String> {
    let mut case = case.clone();
    let problem = match case.problem() {
        Ok(problem) => problem,
        // Few problems are drawn with weights and targets of which nothing can be said.
        Err(error) if error.to_string().contains("too far apart") => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let most = case.shape.max_depth.unwrap_or(u32::MAX).min(3);
    let depth = (0..=most).rev().find(|&d| exhaustive::work(&problem, d) < 3e6).unwrap_or(0);
    case.shape.max_depth = Some(depth);
    agrees_with(&case, 1, exhaustive::solve)
}

fn larger(max_points: usize, max_columns: usize) -> Options {
    Options { min_points: 10, max_points, max_columns, ..Options::default() }
}

#[test]
fn the_two_oracles_agree() {
    for_seeds(600, &Options { max_columns: 3, ..Options::default() }, |case| {
        let mut case = case.clone();
        case.shape.max_depth = Some(case.shape.max_depth.unwrap_or(2).min(2));
        let problem = case.problem().map_err(|e| e.to_string())?;
        let found = certree::search::brute::solve(&problem);
        assert_eq!(exhaustive::solve(&problem).upper, found.upper);
        Ok(())
    });
}

#[test]
fn many_points() {
    for_seeds(500, &larger(300, 8), agrees);
}

#[test]
fn many_boolean_columns() {
    for_seeds(500, &Options { columns: ColumnMix::Boolean, ..larger(60, 80) }, agrees);
}

/// Where sums by value pay.
#[test]
fn sets() {
    use LossKind::{Accuracy, CostMatrix, Rows, Squares, Weighted};
    for loss in [Accuracy, Weighted, CostMatrix, Rows, Squares] {
        let options = Options { loss, columns: ColumnMix::LargeSets, ..larger(400, 5) };
        for_seeds(150, &options, agrees);
        for_seeds(50, &Options { limits: ShapeMix::MinRows, ..options }, agrees);
    }
}

#[test]
fn many_cuts() {
    for_seeds(500, &Options { columns: ColumnMix::Ordered, ..larger(60, 20) }, agrees);
}

#[test]
fn many_points_and_columns_of_one_loss() {
    use LossKind::{Accuracy, CostMatrix, Rows, Squares, Weighted};
    for loss in [Accuracy, Weighted, CostMatrix, Rows, Squares] {
        for_seeds(300, &Options { loss, ..larger(150, 30) }, agrees);
    }
}
