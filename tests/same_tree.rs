//! A finished search answers with the same tree, however many threads took part and however they met.

mod common;

use certree::problem::Problem;
use certree::run::{Limits, Run};
use certree::search::best_first::{Options as Search, solve};
use certree::tree::Plan;
use common::judge::ensure;
use common::problems::{ColumnMix, LossKind, Options, ShapeMix};
use common::{Case, for_seeds};

fn plan(problem: &Problem, threads: usize) -> Plan {
    let run = Run::new(Limits { threads, ..Limits::default() }, problem.scale, None);
    let found = solve(problem, &run, &Search::default()).expect("nothing limits it");
    assert_eq!(found.lower, found.upper, "nothing stops it");
    found.plan
}

fn same(case: &Case, times: usize) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    let expected = plan(&problem, 1);
    for threads in [1, 2, 3, 8] {
        for time in 0..times {
            let plan = plan(&problem, threads);
            ensure(plan == expected, || {
                format!("{threads} threads, time {time}: {plan:?}, not {expected:?}")
            })?;
        }
    }
    Ok(())
}

#[test]
fn of_small_problems() {
    for_seeds(1_500, &Options::default(), |case| same(case, 1));
}

#[test]
fn of_larger_problems() {
    let larger = Options { min_points: 40, max_points: 120, max_columns: 14, ..Options::default() };
    let boolean = Options { columns: ColumnMix::Boolean, ..larger.clone() };
    for_seeds(60, &larger, |case| same(&limited(case), 2));
    for_seeds(60, &boolean, |case| same(&limited(case), 2));
}

/// Few rows and many columns: many trees are best.
#[test]
fn where_many_trees_are_best() {
    let options = Options {
        min_points: 20,
        max_points: 30,
        max_columns: 40,
        loss: LossKind::Accuracy,
        columns: ColumnMix::Boolean,
        limits: ShapeMix::Any,
    };
    for_seeds(80, &options, |case| same(&limited(case), 3));
}

/// Deep enough for threads to meet, and soon done.
fn limited(case: &Case) -> Case {
    let mut case = case.clone();
    case.shape.max_depth = Some(case.shape.max_depth.unwrap_or(4).min(4));
    case.shape.max_leaves = case.shape.max_leaves.map(|leaves| leaves.min(7));
    case
}
