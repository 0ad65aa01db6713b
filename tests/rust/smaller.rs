//! Smaller and smaller trees from one search: each is the best of its size, and nodes are searched
//! once for all of them. More cases: `CERTREE_CASES=5000 cargo test --release --test smaller`.

use std::time::Duration;

use crate::common::judge::{bounds_optimum, ensure, proved_optimal, tree_is_sound};
use crate::common::large::{built, noise};
use crate::common::problems::Options;
use crate::common::{Case, for_seeds};
use certree::answer::{Incumbent, go_on, solve, with_most_leaves};
use certree::problem::Problem;
use certree::run::{Limits, Run, Status};
use certree::search::brute;

fn limits(threads: usize) -> Limits {
    Limits { threads, time: Some(Duration::from_secs(30)), ..Limits::default() }
}

fn leaves(known: &Incumbent) -> u32 {
    known.tree.nodes.iter().filter(|node| node.split.is_none()).count() as u32
}

/// `stopped`: the first search is stopped before it has looked at anything.
fn all_sizes_agree(case: &Case, stopped: bool) -> Result<(), String> {
    let mut case = case.clone();
    let mut problem = case.problem().map_err(|e| e.to_string())?;
    let first = Limits { time: Some(Duration::ZERO), ..limits(1) };
    let run = Run::new(if stopped { first } else { limits(1) }, problem.scale, None);
    let (answer, mut known) = go_on(&problem, None, &run).map_err(|e| e.to_string())?;
    bounds_optimum(&case, &problem, &brute::solve(&problem), &answer)?;
    let largest = if stopped { 5 } else { leaves(&known) };
    for most in (1..largest).rev() {
        let run = Run::new(limits(1 + most as usize % 3), problem.scale, None);
        let (smaller, answer, more) =
            with_most_leaves(&problem, most, &known, &run).map_err(|e| e.to_string())?;
        case.shape.max_leaves = Some(most);
        let with = |why| format!("at most {most} leaves: {why}");
        ensure(leaves(&more) <= most, || with("more leaves".into()))?;
        tree_is_sound(&case, &smaller, &answer.tree).map_err(with)?;
        proved_optimal(&smaller, &brute::solve(&smaller), &answer).map_err(with)?;
        (problem, known) = (smaller, more);
    }
    Ok(())
}

fn cases(few: u64) -> u64 {
    match std::env::var("CERTREE_CASES") {
        Ok(count) => count.parse().expect("CERTREE_CASES is a number"),
        Err(_) => few,
    }
}

#[test]
fn every_size_is_the_best() {
    for prices in [false, true] {
        let options = Options { prices, ..Options::default() };
        for_seeds(cases(150), &options, |case| all_sizes_agree(case, false));
        for_seeds(cases(150) / 3, &options, |case| all_sizes_agree(case, true));
    }
}

/// All sizes together take a fraction of what each takes by itself.
#[test]
fn nodes_are_searched_once_for_all_sizes() {
    let problem = built(noise(200, 12, 1, 2, 7), 0.0, Some(4));
    let whole = Run::new(limits(1), problem.scale, None);
    let (_, known) = go_on(&problem, None, &whole).unwrap();
    let (mut together, mut alone) = (whole.work().kernel_calls, whole.work().kernel_calls);
    let (mut last, mut known): (Problem, Incumbent) = (problem, known);
    for most in (1..leaves(&known)).rev() {
        let run = Run::new(limits(1), last.scale, None);
        let (smaller, answer, more) = with_most_leaves(&last, most, &known, &run).unwrap();
        together += run.work().kernel_calls;
        let run = Run::new(limits(1), smaller.scale, None);
        let fresh = solve(&smaller, &run).unwrap();
        alone += run.work().kernel_calls;
        assert_eq!((answer.status, answer.objective), (Status::Optimal, fresh.objective));
        (last, known) = (smaller, more);
    }
    assert!(together * 3 < alone, "{together} looks, alone {alone}");
}
