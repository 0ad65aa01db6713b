//! Smaller and smaller trees from one search: each is the best of its size, and nodes are searched
//! once for all of them. More cases: `CERTREE_CASES=5000 cargo test --release --test smaller`.

use std::time::Duration;

use crate::common::judge::{bounds_optimum, ensure, proved_optimal, tree_is_sound};
use crate::common::large::{built, noise};
use crate::common::problems::Options;
use crate::common::{Case, cases, for_seeds};
use certree::answer::{Incumbent, go_on, solve, with_most_leaves};
use certree::problem::Problem;
use certree::run::{Limits, Run, Status};
use certree::search::brute;

fn limits(threads: usize) -> Limits {
    Limits { threads, time: Some(Duration::from_secs(30)), ..Limits::default() }
}

/// One thread that searches all sizes at once.
fn together() -> Limits {
    Limits { all_sizes: true, ..limits(1) }
}

fn leaves(known: &Incumbent) -> u32 {
    known.tree.nodes.iter().filter(|node| node.split.is_none()).count() as u32
}

/// How the first search goes.
#[derive(Clone, Copy, PartialEq)]
enum First {
    /// It finds the largest tree.
    Alone,
    /// It bounds trees of all sizes.
    Together,
    /// It is stopped before it has looked at anything.
    Stopped,
}

fn all_sizes_agree(case: &Case, first: First) -> Result<(), String> {
    let stopped = first == First::Stopped;
    let mut case = case.clone();
    let mut problem = case.problem().map_err(|e| e.to_string())?;
    let begin = match first {
        First::Alone => limits(1),
        First::Together => together(),
        First::Stopped => Limits { time: Some(Duration::ZERO), ..limits(1) },
    };
    let run = Run::new(begin, problem.scale, None);
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

#[test]
fn every_size_is_the_best() {
    for prices in [false, true] {
        let options = Options { prices, ..Options::default() };
        for_seeds(150, &options, |case| all_sizes_agree(case, First::Alone));
        for_seeds(cases(150) / 3, &options, |case| all_sizes_agree(case, First::Stopped));
    }
}

#[test]
fn every_size_of_one_search_is_the_best() {
    let options = Options { min_points: 6, ..Options::default() };
    for_seeds(cases(300), &options, |case| {
        // Less than three levels are seen by one look.
        let mut case = case.clone();
        case.shape.max_depth = Some(3 + case.rows.len() as u32 % 3);
        all_sizes_agree(&case, First::Together)
    });
}

/// The sizes after the first one find all nodes solved, also of problems that are not tiny.
#[test]
fn one_search_knows_all_sizes() {
    for (depth, classes, cuts) in [(3, 3, 2), (4, 2, 1)] {
        let problem = built(noise(120, 9, cuts, classes, 11), 0.0, Some(depth));
        let run = Run::new(together(), problem.scale, None);
        let (answer, mut known) = go_on(&problem, None, &run).unwrap();
        let fresh = solve(&problem, &Run::new(limits(1), problem.scale, None)).unwrap();
        assert_eq!((answer.status, answer.objective), (Status::Optimal, fresh.objective));
        let mut last = problem;
        for most in (1..leaves(&known)).rev() {
            let run = Run::new(together(), last.scale, None);
            let (smaller, answer, more) = with_most_leaves(&last, most, &known, &run).unwrap();
            let looks = run.work().kernel_calls;
            assert!(looks <= 2 * u64::from(most) + 18, "{looks} looks for {most} leaves");
            let fresh = solve(&smaller, &Run::new(limits(1), smaller.scale, None)).unwrap();
            assert_eq!((answer.status, answer.objective), (Status::Optimal, fresh.objective));
            (last, known) = (smaller, more);
        }
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
