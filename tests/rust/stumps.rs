//! Trees of one split, against all trees.

use crate::common::judge::ensure;
use crate::common::problems::Options;
use crate::common::{Case, for_seeds};
use certree::answer::confirm;
use certree::finish::grow;
use certree::run::{Limits, Run};
use certree::search::{brute, stumps};

fn agrees(case: &Case) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    if !stumps::applies(&problem) {
        return Ok(());
    }
    let run = Run::new(Limits::default(), problem.scale, None);
    let found = stumps::solve(&problem, &run).map_err(|e| e.to_string())?;
    let best = brute::solve(&problem);
    ensure(found.upper == best.upper && found.lower == best.upper, || {
        format!("{} to {}, and not {}", found.lower, found.upper, best.upper)
    })?;
    ensure(run.bytes() == 0, || format!("{} bytes are held at the end", run.bytes()))?;
    // The finished tree costs what the search says.
    grow(&problem, found.plan)
        .and_then(|tree| confirm(&problem, &tree, found.upper))
        .map_err(|e| e.to_string())
}

#[test]
fn the_best_of_all_trees_of_depth_one() {
    for depth in [0, 1] {
        for_seeds(600, &Options::default(), |case| {
            let mut case = case.clone();
            case.shape.max_depth = Some(depth);
            agrees(&case)
        });
    }
}

#[test]
fn the_best_of_all_trees_of_two_leaves() {
    for_seeds(600, &Options::default(), |case| {
        let mut case = case.clone();
        (case.shape.max_depth, case.shape.max_leaves) = (None, Some(2));
        agrees(&case)
    });
}
