//! Every search on every case of `tests/rust/corpus/`, whose optima are known.

use crate::common::corpus::{self, Known};
use crate::common::judge;
use certree::problem::Problem;
use certree::search::brute;

#[test]
fn the_oracle_finds_the_known_optima() {
    for known in corpus::all() {
        let problem = known.case.problem().unwrap();
        let found = brute::solve(&problem);
        assert_eq!(found.lower, found.upper, "{}", known.name);
        expect(&known, &problem, problem.scale.objective(found.upper));
    }
}

#[test]
fn the_solver_agrees_with_the_oracle() {
    for known in corpus::all() {
        for threads in [1, 2] {
            if let Err(why) = judge::agrees_with_oracle(&known.case, threads) {
                panic!("{} with {threads} threads: {why}", known.name);
            }
        }
    }
}

#[test]
fn there_are_cases_of_every_kind() {
    assert!(corpus::all().len() >= 70, "the corpus is in tests/rust/corpus/");
}

fn expect(known: &Known, problem: &Problem, objective: f64) {
    let rounding = problem.scale.slack as f64 / problem.scale.units + 1e-15;
    assert!(
        (objective - known.optimum).abs() <= rounding,
        "{}: the optimum is {}, not {objective}",
        known.name,
        known.optimum
    );
}
