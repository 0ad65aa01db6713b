//! A search that goes on from a tree alone, such as one that was saved: it ends with the best tree,
//! and what was proved before stays proved. More cases: `CERTREE_CASES=20000 cargo test --release
//! --test all incumbents`.

use std::time::Duration;

use crate::common::judge::{bounds_optimum, ensure, proved_optimal, tree_is_sound};
use crate::common::problems::{LossKind, Options};
use crate::common::{Case, for_seeds};
use certree::answer::{Incumbent, go_on, solve};
use certree::ids::ColumnId;
use certree::problem::{Problem, Shape};
use certree::run::{Limits, Run};
use certree::search::brute;
use certree::tree::Tree;

fn run(problem: &Problem, time: u64) -> Run<'static> {
    let time = Some(Duration::from_secs(time));
    Run::new(Limits { time, threads: 1, ..Limits::default() }, problem.scale, None)
}

/// The best tree of less depth, and what was proved of it that holds of all.
fn shallower(case: &Case, problem: &Problem) -> Result<Tree, String> {
    let mut case = case.clone();
    case.shape.max_depth = Some(problem.shape.max_depth.unwrap_or(2).min(1));
    let smaller = case.problem().map_err(|e| e.to_string())?;
    Ok(solve(&smaller, &run(&smaller, 30)).map_err(|e| e.to_string())?.tree)
}

fn goes_on(case: &Case) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    let best = brute::solve(&problem);
    let stopped = solve(&problem, &run(&problem, 0)).map_err(|e| e.to_string())?;
    let proved = solve(&problem, &run(&problem, 30)).map_err(|e| e.to_string())?;
    let starts = [
        (stopped.tree, stopped.lower_bound),
        (shallower(case, &problem)?, f64::NEG_INFINITY),
        (shallower(case, &problem)?, proved.lower_bound),
        (proved.tree, proved.lower_bound),
    ];
    for (at, (tree, lower_bound)) in starts.into_iter().enumerate() {
        let with = |why| format!("start {at}: {why}");
        let known =
            Incumbent::of_tree(&problem, tree, lower_bound).map_err(|e| with(e.to_string()))?;
        let (first, known) =
            go_on(&problem, Some(&known), &run(&problem, 0)).map_err(|e| with(e.to_string()))?;
        bounds_optimum(case, &problem, &best, &first).map_err(with)?;
        let (answer, _) =
            go_on(&problem, Some(&known), &run(&problem, 30)).map_err(|e| with(e.to_string()))?;
        tree_is_sound(case, &problem, &answer.tree).map_err(with)?;
        proved_optimal(&problem, &best, &answer).map_err(with)?;
        ensure(answer.objective <= first.objective, || with("a worse tree".into()))?;
    }
    Ok(())
}

#[test]
fn every_start_ends_with_the_best_tree() {
    for prices in [false, true] {
        let options = Options { prices, ..Options::default() };
        for_seeds(150, &options, goes_on);
    }
}

#[test]
fn trees_that_the_problem_does_not_allow_are_refused() {
    let options = Options { loss: LossKind::Accuracy, ..Options::default() };
    for_seeds(60, &options, |case| {
        let problem = case.problem().map_err(|e| e.to_string())?;
        let tree = solve(&problem, &run(&problem, 30)).map_err(|e| e.to_string())?.tree;
        if tree.nodes.len() == 1 {
            return Ok(());
        }
        let too_strict = [
            Shape { max_depth: Some(0), ..problem.shape },
            Shape { max_leaves: Some(1), ..problem.shape },
            Shape { min_leaf_rows: u64::MAX, ..problem.shape },
        ];
        for shape in too_strict {
            let stricter = Problem { shape, ..problem.clone() };
            let known = Incumbent::of_tree(&stricter, tree.clone(), 0.0).map(|_| ());
            ensure(known.is_err(), || format!("{shape:?} allows it"))?;
        }
        let mut strange = tree.clone();
        if let Some(split) = strange.nodes[0].split.as_mut() {
            split.column = ColumnId(1000);
        }
        let known = Incumbent::of_tree(&problem, strange, 0.0).map(|_| ());
        ensure(known.is_err(), || "a column that is not there".into())?;
        Ok(())
    });
}
