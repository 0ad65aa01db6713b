//! A finished search without a depth limit answers with the same tree, however many threads took
//! part and however they met.

use crate::common::judge::ensure;
use crate::common::problems::{ColumnMix, LossKind, Options, ShapeMix};
use crate::common::{Case, for_seeds};
use certree::problem::Problem;
use certree::run::{Limits, Run};
use certree::search::best_first::{Options as Search, solve};
use certree::tree::Plan;

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

fn unlimited() -> Options {
    Options { limits: ShapeMix::Unlimited, ..Options::default() }
}

#[test]
fn of_small_problems() {
    for_seeds(600, &unlimited(), |case| same(case, 1));
}

/// Few rows and many columns: many trees are best.
#[test]
fn where_many_trees_are_best() {
    let boolean = Options { columns: ColumnMix::Boolean, loss: LossKind::Accuracy, ..unlimited() };
    for_seeds(300, &Options { max_columns: 20, ..boolean }, |case| same(case, 2));
}
