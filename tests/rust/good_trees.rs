//! Trees that are found beside a search are trees of the problem, cost what is said of them, and
//! are no better than the best one. More cases: `CERTREE_CASES=20000 cargo test --release --test
//! all good_trees`.

use std::time::Duration;

use crate::common::judge::{ensure, recompute, tree_is_sound};
use crate::common::problems::{ColumnMix, LossKind, Options, ShapeMix};
use crate::common::{Case, for_seeds};
use certree::answer::Incumbent;
use certree::finish::grow;
use certree::improve::good_tree;
use certree::run::{Limits, Run};
use certree::search::brute;

fn is_good(case: &Case) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    let run = Run::new(Limits { threads: 1, ..Limits::default() }, problem.scale, None);
    let found = good_tree(&problem, &run, Duration::from_secs(20));
    let (plan, cost) = found.ok_or_else(|| "no tree".to_owned())?;
    let tree = grow(&problem, plan).map_err(|e| e.to_string())?;
    tree_is_sound(case, &problem, &tree)?;
    ensure(recompute(&problem, &tree) == cost, || format!("the tree does not cost {cost}"))?;
    let best = brute::solve(&problem).upper;
    ensure(best <= cost, || format!("{cost} is better than the best, {best}"))?;
    // It is also one to go on from.
    let known = Incumbent::of_tree(&problem, tree, f64::NEG_INFINITY).map_err(|e| e.to_string())?;
    ensure(known.upper == cost, || format!("going on begins with {}", known.upper))
}

#[test]
fn they_are_trees_of_the_problem() {
    for loss in [LossKind::Any, LossKind::Rows, LossKind::Squares] {
        for columns in [ColumnMix::Any, ColumnMix::Ordered] {
            let options = Options { loss, columns, ..Options::default() };
            for_seeds(60, &options, is_good);
        }
    }
}

#[test]
fn nothing_limits_but_the_penalty() {
    let options = Options { limits: ShapeMix::Unlimited, ..Options::default() };
    for_seeds(60, &options, is_good);
}

#[test]
fn whole_trees_are_judged_where_columns_cost_something() {
    let options = Options { prices: true, ..Options::default() };
    for_seeds(60, &options, is_good);
}
