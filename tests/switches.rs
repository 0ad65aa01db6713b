//! What must not change the answer: bounds switched off, instruction sets.

mod common;

use certree::bits::Level;
use certree::problem::Problem;
use certree::run::{Limits, Run};
use certree::search::best_first::{Options as Search, solve};
use certree::search::{Found, brute};
use common::judge::ensure;
use common::problems::{ColumnMix, Options};
use common::{Case, for_seeds};

fn found(problem: &Problem, options: &Search) -> Found {
    let run = Run::new(Limits::default(), problem.scale, None);
    solve(problem, &run, options)
}

fn all_searches_agree(case: &Case) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    let optimum = brute::solve(&problem).upper;
    for level in Level::all() {
        for switches in 0..8 {
            let on = |bit: u32| switches >> bit & 1 == 1;
            let options =
                Search { level, equivalent_points: on(0), child_support: on(1), similarity: on(2) };
            let found = found(&problem, &options);
            ensure(found.upper == optimum && found.lower == optimum, || {
                format!("{options:?}: {} to {}, not {optimum}", found.lower, found.upper)
            })?;
        }
    }
    Ok(())
}

#[test]
fn every_switch_and_instruction_set_finds_the_optimum() {
    for_seeds(1_000, &Options::default(), all_searches_agree);
    let boolean = Options {
        columns: ColumnMix::Boolean,
        min_points: 10,
        max_points: 20,
        ..Options::default()
    };
    for_seeds(500, &boolean, all_searches_agree);
}
