//! The search over intervals against the oracles: any task that has labels, any penalty, depth and
//! threads, and blocks of every size, so that bounds between cuts matter in small cases too.

use std::cell::Cell;
use std::time::Duration;

use crate::common::judge::{ensure, recompute, tree_is_sound};
use crate::common::large::noise;
use crate::common::problems::{ColumnMix, LossKind, Options, ShapeMix};
use crate::common::{Case, Loss, Random, Squares, cases, exhaustive, for_all, for_seeds};
use certree::bits::Level;
use certree::bounds::Bound;
use certree::error::Error;
use certree::problem::{Problem, Shape};
use certree::run::{Limits, Run};
use certree::search::intervals::{Options as Search, SavedSearch, applies, go_on, solve};
use certree::search::{Found, best_first, brute};
use certree::tree::Tree;

/// The case with a limit of depth where nothing else limits the tree, which this search needs.
fn limited(case: &Case) -> Case {
    let mut case = case.clone();
    let Shape { max_depth, max_leaves, .. } = case.shape;
    if case.leaf_penalty() == 0.0 && max_depth.is_none() && max_leaves.is_none() {
        case.shape.max_depth = Some(4);
    }
    case
}

/// `at`: which of the machine's instruction sets, in turn.
fn search(
    problem: &Problem,
    threads: usize,
    blocks: Option<usize>,
    at: usize,
) -> Result<Found, String> {
    let levels = Level::all();
    let level = levels[(at + problem.points.len()) % levels.len()];
    let room_for_pairs = [None, Some(0), Some(1 << 12)][(at + problem.points.len()) % 3];
    let together = !(at + problem.points.len()).is_multiple_of(4);
    let options = Search { level, blocks, room_for_pairs, together, ..Search::default() };
    let limits = Limits { threads, time: Some(Duration::from_secs(30)), ..Limits::default() };
    let run = Run::new(limits, problem.scale, None);
    let found = solve(problem, &run, &options).map_err(|e| e.to_string())?;
    ensure(run.bytes() == 0, || format!("{} bytes are never given back", run.bytes()))?;
    Ok(found)
}

fn is_optimal(case: &Case, problem: &Problem, found: &Found, optimum: i64) -> Result<(), String> {
    ensure(found.lower == optimum && found.upper == optimum, || {
        format!("{} to {}, but the optimum is {optimum}", found.lower, found.upper)
    })?;
    is_sound(case, problem, found)
}

/// The plan makes a tree of its upper bound.
fn is_sound(case: &Case, problem: &Problem, found: &Found) -> Result<(), String> {
    let tree = Tree::grow(
        &found.plan,
        &problem.columns,
        &problem.features,
        &problem.points,
        problem.task.as_ref(),
        problem.scale.units,
    );
    tree_is_sound(case, problem, &tree)?;
    let cost = recompute(problem, &tree);
    ensure(cost == found.upper, || format!("the tree costs {cost}, not {}", found.upper))
}

fn agrees(case: &Case, oracle: impl Fn(&Problem) -> Found) -> Result<(), String> {
    let case = limited(case);
    let problem = case.problem().map_err(|e| e.to_string())?;
    if problem.task.structure().n_labels() == 0 {
        return Ok(());
    }
    ensure(applies(&problem), || "the search takes this".into())?;
    let optimum = oracle(&problem).upper;
    for (at, blocks) in [None, Some(1), Some(2), Some(5)].into_iter().enumerate() {
        let found = search(&problem, 1, blocks, at)?;
        is_optimal(&case, &problem, &found, optimum)
            .map_err(|why| format!("{blocks:?} blocks: {why}"))?;
    }
    let found = search(&problem, 3, Some(2), 0)?;
    is_optimal(&case, &problem, &found, optimum).map_err(|why| format!("3 threads: {why}"))
}

fn agrees_with_brute(case: &Case) -> Result<(), String> {
    agrees(case, brute::solve)
}

#[test]
fn anything_at_all() {
    for_seeds(1_500, &Options::default(), agrees_with_brute);
}

#[test]
fn ordered_columns() {
    let options = Options { columns: ColumnMix::Ordered, min_points: 6, ..Options::default() };
    for_seeds(1_500, &options, agrees_with_brute);
}

#[test]
fn every_loss() {
    use LossKind::{Accuracy, CostMatrix, Rows, Squares, Weighted};
    for loss in [Accuracy, Weighted, CostMatrix, Rows, Squares] {
        let options = Options { loss, columns: ColumnMix::Ordered, ..Options::default() };
        for_seeds(600, &options, agrees_with_brute);
    }
}

#[test]
fn regression() {
    let ordered = Options {
        loss: LossKind::Squares,
        columns: ColumnMix::Ordered,
        min_points: 8,
        max_points: 16,
        ..Options::default()
    };
    for_seeds(1_000, &ordered, agrees_with_brute);
}

#[test]
fn nothing_limits_but_the_penalty() {
    let options = Options { limits: ShapeMix::Unlimited, min_points: 8, ..Options::default() };
    for_seeds(1_000, &options, agrees_with_brute);
}

/// Few leaves, and leaves that must hold more than one row, together and each by itself.
#[test]
fn limits_of_leaves_and_their_rows() {
    for limits in [ShapeMix::Leaves, ShapeMix::MinRows] {
        let columns = ColumnMix::Ordered;
        let options = Options { limits, columns, min_points: 8, ..Options::default() };
        for_seeds(1_000, &options, agrees_with_brute);
    }
}

/// What an earlier search of the same problem with more leaves left behind misleads nobody.
#[test]
fn fewer_and_fewer_leaves() {
    let options = Options { columns: ColumnMix::Ordered, min_points: 8, ..Options::default() };
    for_seeds(200, &options, |case| {
        let mut case = limited(case);
        let mut saved = SavedSearch::default();
        for leaves in (1..=5).rev() {
            case.shape.max_leaves = Some(leaves);
            let problem = case.problem().map_err(|e| e.to_string())?;
            if problem.task.structure().n_labels() == 0 || !applies(&problem) {
                return Ok(());
            }
            let run = Run::new(Limits::default(), problem.scale, None);
            let options = Search { blocks: Some(2), ..Search::default() };
            let (found, left) =
                go_on(&problem, &run, &options, saved).map_err(|e| e.to_string())?;
            let optimum = brute::solve(&problem).upper;
            is_optimal(&case, &problem, &found, optimum)?;
            saved = left;
        }
        Ok(())
    });
}

/// At the largest depth that can be listed in a moment.
#[test]
fn larger_cases() {
    let columns = ColumnMix::Ordered;
    for (max_points, max_columns) in [(60, 12), (300, 5)] {
        let options =
            Options { min_points: 20, max_points, max_columns, columns, ..Options::default() };
        for_seeds(500, &options, |case| {
            let mut case = limited(case);
            let problem = case.problem().map_err(|e| e.to_string())?;
            let most = case.shape.max_depth.unwrap_or(u32::MAX).min(3);
            let depth =
                (0..=most).rev().find(|&d| exhaustive::work(&problem, d) < 3e6).unwrap_or(0);
            case.shape.max_depth = Some(depth);
            agrees(&case, exhaustive::solve)
        });
    }
}

/// Nodes of three levels and more take over what is known of the cuts of similar ones: held against
/// the search of single cuts, which knows of no intervals.
#[test]
fn similar_nodes() {
    let decided = Cell::new(0);
    for_all(0..cases(60), |seed| {
        let rng = &mut Random::new(seed);
        let (rows, classes) = (20 + rng.below(25), 2 + rng.below(3));
        let (columns, cuts) = (2 + rng.below(2), 4 + rng.below(10));
        let mut case = noise(rows, columns, cuts, classes, seed);
        // Rows of one class lie together along the first column, but for some.
        if let Loss::Classes(input) = &mut case.loss {
            for row in (0..rows).filter(|_| rng.chance(0.7)) {
                let class = case.codes[0][row] as usize * classes / (cuts + 1);
                let weights = &mut input.weights[row * classes..][..classes];
                weights.fill(0.0);
                weights[class] = 1.0;
            }
            input.leaf_penalty = [0.0, 0.01, 0.03][rng.below(3)];
        }
        if rng.chance(0.3) {
            let targets = (0..rows).map(|_| rng.unit()).collect();
            let (weights, leaf_penalty) = (vec![1; rows], [0.0, 0.02][rng.below(2)]);
            let squares = Squares { n_outputs: 1, per_point: 1, targets, weights, leaf_penalty };
            case.loss = Loss::Squares(squares);
        }
        if rng.chance(0.4) {
            let missing = cuts as u32 + 1;
            case.columns[0].missing = true;
            case.codes[0].iter_mut().filter(|_| rng.chance(0.2)).for_each(|code| *code = missing);
        }
        case.shape.max_depth = Some(4);
        let problem = case.problem().map_err(|e| e.to_string())?;
        let run = Run::new(Limits::default(), problem.scale, None);
        let options = best_first::Options::default();
        let oracle = best_first::solve(&problem, &run, &options).map_err(|e| e.to_string())?;
        for (threads, blocks) in [(1, None), (1, Some(3)), (2, Some(2))] {
            let limits = Limits { threads, ..Limits::default() };
            let run = Run::new(limits, problem.scale, None);
            let options = Search { blocks, ..Search::default() };
            let found = solve(&problem, &run, &options).map_err(|e| e.to_string())?;
            is_optimal(&case, &problem, &found, oracle.upper)?;
            decided.set(decided.get() + run.work().bounds.of(Bound::Similarity));
        }
        Ok(())
    });
    let tries_many = std::env::var("CERTREE_SEED").is_err();
    assert!(!tries_many || decided.get() > 0, "nothing was taken over");
}

/// Whatever ends a search, and whenever: its bounds hold, and its tree is worth what it says.
#[test]
fn stopped_searches_bound_the_optimum() {
    let options = Options { columns: ColumnMix::Ordered, min_points: 8, ..Options::default() };
    for_seeds(1_000, &options, |case| {
        let case = limited(case);
        let problem = case.problem().map_err(|e| e.to_string())?;
        if problem.task.structure().n_labels() == 0 {
            return Ok(());
        }
        let optimum = brute::solve(&problem).upper;
        let time = |micros| Some(Duration::from_micros(micros));
        let none = Limits::default();
        for limits in [
            Limits { time: time(0), ..none.clone() },
            Limits { time: time(30), ..none.clone() },
            Limits { time: time(100), threads: 2, ..none.clone() },
            Limits { memory: Some(3 << 10), ..none.clone() },
            Limits { memory: Some(1 << 14), ..none.clone() },
            Limits { gap: 0.05, ..none.clone() },
        ] {
            let run = Run::new(limits.clone(), problem.scale, None);
            let found =
                match solve(&problem, &run, &Search { blocks: Some(2), ..Search::default() }) {
                    Err(Error::Invalid(_)) if limits.memory.is_some() => continue,
                    found => found.map_err(|e| e.to_string())?,
                };
            ensure(found.lower <= optimum && optimum <= found.upper, || {
                format!("{} <= {optimum} <= {}: {limits:?}", found.lower, found.upper)
            })?;
            is_sound(&case, &problem, &found)?;
        }
        Ok(())
    });
}
