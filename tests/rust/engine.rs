//! What must not change the answer of the best-first search: bounds switched off, instruction sets,
//! the number of threads. Small cases against the oracle, larger ones against each other.

use std::time::Duration;

use crate::common::judge::{ensure, recompute, tree_is_sound};
use crate::common::paths::{PathMix, PathRule, random_rules};
use crate::common::problems::{ColumnMix, LossKind, Options, ShapeMix};
use crate::common::{Case, Loss, Random, for_seeds};
use certree::bits::Level;
use certree::cost::Cost;
use certree::kernel::ByValues;
use certree::problem::Problem;
use certree::run::{Limits, Run};
use certree::search::best_first::{Options as Search, solve};
use certree::search::brute;
use certree::tree::Tree;

const THREADS: [usize; 3] = [1, 2, 7];

/// Every setting of the switches, on every instruction set of this machine.
fn searches() -> Vec<Search> {
    let mut all = Vec::new();
    for level in Level::all() {
        for switches in 0..16 {
            let on = |bit: u32| switches >> bit & 1 == 1;
            all.push(Search {
                level,
                equivalent_points: on(0),
                child_support: on(1),
                similarity: on(2),
                parts: on(1) != on(3),
                three_leaves: on(3),
                k_means: on(0) == on(1),
                by_values: [ByValues::Always, ByValues::WherePaid, ByValues::Never][switches % 3],
                ..Search::default()
            });
        }
    }
    all
}

/// The optimum that a search proves, once its plan has been grown into a tree, judged and added up.
fn optimum(
    case: &Case,
    problem: &Problem,
    search: &Search,
    threads: usize,
) -> Result<Cost, String> {
    let limits = Limits { threads, time: Some(Duration::from_secs(30)), ..Limits::default() };
    let run = Run::new(limits, problem.scale, None);
    let found = solve(problem, &run, search).map_err(|e| e.to_string())?;
    let with = || format!("{search:?} with {threads} threads");
    ensure(found.lower == found.upper, || {
        format!("{}: {} to {}", with(), found.lower, found.upper)
    })?;
    let tree = Tree::grow(
        &found.plan,
        &problem.columns,
        &problem.features,
        &problem.points,
        problem.task.as_ref(),
        problem.scale.units,
    );
    tree_is_sound(case, problem, &tree).map_err(|why| format!("{}: {why}", with()))?;
    let cost = recompute(problem, &tree);
    ensure(cost == found.upper, || format!("{}: {cost}, not {}", with(), found.upper))?;
    Ok(cost)
}

fn agree(case: &Case, problem: &Problem, expected: Cost, all: bool) -> Result<(), String> {
    let rng = &mut Random::new(expected as u64);
    for search in searches() {
        // All numbers of threads with all bounds; else a random one does.
        let default = search.equivalent_points && search.child_support && search.similarity;
        let random = [THREADS[rng.below(3)]];
        let threads = if all || default { &THREADS[..] } else { &random[..] };
        for &threads in threads {
            let found = optimum(case, problem, &search, threads)?;
            ensure(found == expected, || {
                format!("{search:?} with {threads} threads: {found}, not {expected}")
            })?;
        }
    }
    Ok(())
}

fn agrees_with_oracle(case: &Case) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    agree(case, &problem, brute::solve(&problem).upper, false)
}

#[test]
fn small_cases_agree_with_the_oracle() {
    for_seeds(300, &Options::default(), agrees_with_oracle);
    let boolean = Options {
        columns: ColumnMix::Boolean,
        min_points: 10,
        max_points: 20,
        ..Options::default()
    };
    for_seeds(150, &boolean, agrees_with_oracle);
    for_seeds(100, &Options { prices: true, ..Options::default() }, agrees_with_oracle);
    for_seeds(150, &Options { paths: PathMix::Any, ..Options::default() }, agrees_with_oracle);
}

/// Columns of so many values that sums by value are kept.
#[test]
fn columns_that_offer_all_sets() {
    let options = Options {
        columns: ColumnMix::LargeSets,
        min_points: 6,
        max_columns: 4,
        ..Options::default()
    };
    for limits in [ShapeMix::Any, ShapeMix::MinRows, ShapeMix::Leaves] {
        for loss in LOSSES {
            let options = Options { limits, loss, ..options.clone() };
            for_seeds(25, &options, |case| {
                let mut case = case.clone();
                // Both sides are asked for below the root of three levels, and of four.
                case.shape.max_depth = Some(3 + (case.n_points() % 2) as u32);
                agrees_with_oracle(&case)
            });
        }
    }
}

#[test]
fn all_settings_and_threads_together() {
    for_seeds(60, &Options { min_points: 8, ..Options::default() }, |case| {
        let problem = case.problem().map_err(|e| e.to_string())?;
        agree(case, &problem, brute::solve(&problem).upper, true)
    });
}

fn set_penalty(case: &mut Case, penalty: f64) {
    match &mut case.loss {
        Loss::Classes(input) => input.leaf_penalty = penalty,
        Loss::Rows { leaf_penalty, .. } => *leaf_penalty = penalty,
        Loss::Squares(squares) => squares.leaf_penalty = penalty,
    }
}

/// The default search with one thread says what is expected. `shape` narrows the case first.
fn agree_with_themselves(
    seeds: u64,
    max_points: usize,
    loss: LossKind,
    shape: impl Fn(&mut Case) + Copy,
) {
    // Larger: nodes with more than one word of rows and columns, and paths that meet again.
    let options = Options {
        min_points: 40,
        max_points,
        max_columns: 20,
        loss,
        columns: ColumnMix::Boolean,
        ..Options::default()
    };
    for_seeds(seeds, &options, |case| {
        if case.codes.len() < 8 {
            return Ok(());
        }
        let mut case = case.clone();
        shape(&mut case);
        let problem = case.problem().map_err(|e| e.to_string())?;
        let expected = optimum(&case, &problem, &Search::default(), 1)?;
        agree(&case, &problem, expected, false)
    });
}

const LOSSES: [LossKind; 5] = [
    LossKind::Accuracy,
    LossKind::Weighted,
    LossKind::CostMatrix,
    LossKind::Rows,
    LossKind::Squares,
];

#[test]
fn larger_cases_of_limited_depth() {
    for loss in LOSSES {
        agree_with_themselves(20, 200, loss, |case| {
            let n = case.n_points();
            case.shape.max_depth = Some(4 + u32::from(n % 2 == 0 && n < 100));
            case.shape.max_leaves = (n % 3 == 0).then_some(7);
        });
    }
}

#[test]
fn larger_cases_of_any_depth() {
    for loss in LOSSES {
        agree_with_themselves(14, 100, loss, |case| {
            let n = case.n_points();
            case.shape.max_depth = None;
            case.shape.max_leaves = (n % 5 == 0).then_some(6);
            set_penalty(case, [0.04, 0.06, 0.08][n % 3]);
        });
    }
}

/// Leaves that are scarce below the look-ahead too: the same split then stands for several budgets.
fn with_few_leaves(case: &Case) -> Case {
    let mut case = case.clone();
    case.shape.max_depth = None;
    case.shape.max_leaves = Some(6 + case.n_points() as u32 % 3);
    case.shape.min_leaf_rows = 1;
    case
}

#[test]
fn limited_leaves_agree_with_the_oracle() {
    let options = Options {
        columns: ColumnMix::Boolean,
        min_points: 14,
        max_points: 22,
        max_columns: 7,
        ..Options::default()
    };
    for_seeds(400, &options, |case| {
        let case = with_few_leaves(case);
        let problem = case.problem().map_err(|e| e.to_string())?;
        let expected = brute::solve(&problem).upper;
        for threads in [1, 2] {
            let found = optimum(&case, &problem, &Search::default(), threads)?;
            ensure(found == expected, || format!("{found}, not {expected}"))?;
        }
        Ok(())
    });
}

#[test]
fn larger_cases_of_limited_leaves() {
    for loss in LOSSES {
        agree_with_themselves(8, 80, loss, |case| *case = with_few_leaves(case));
    }
}

/// Rules for paths: bounds that move rows hold in some nodes, between some children, or nowhere.
#[test]
fn larger_cases_with_rules_for_paths() {
    for loss in LOSSES {
        for paths in [PathMix::Most, PathMix::After, PathMix::Together, PathMix::First] {
            agree_with_themselves(6, 150, loss, |case| {
                let rng = &mut Random::new(case.n_points() as u64);
                case.paths = random_rules(rng, paths, case.columns.len());
                if let [PathRule::Most(most)] = &mut case.paths[..] {
                    *most += 2;
                }
                let n = case.n_points();
                case.shape.max_depth = [Some(4), Some(5), None][n % 3];
                case.shape.max_leaves = (n % 7 == 0).then_some(6);
                if case.shape.max_depth.is_none() {
                    set_penalty(case, 0.06);
                }
            });
        }
    }
}

/// Columns and near copies of them, which may meet other columns: children have nearly the same
/// rows, but may not ask the same questions.
#[test]
fn near_copies_that_lead_to_other_states() {
    let options = Options {
        min_points: 30,
        max_points: 90,
        max_columns: 12,
        columns: ColumnMix::Boolean,
        ..Options::default()
    };
    for paths in [PathMix::Together, PathMix::After, PathMix::Most] {
        for loss in [LossKind::Accuracy, LossKind::Rows, LossKind::Squares] {
            for_seeds(150, &Options { loss, ..options.clone() }, |case| {
                let (mut case, n) = (case.clone(), case.n_points());
                let rng = &mut Random::new(n as u64);
                for column in 0..case.codes.len() {
                    // Noise, so that every question is worth something, and then a copy of it with
                    // a point changed.
                    case.codes[column] = match column % 2 {
                        0 => (0..n).map(|_| rng.below(2) as u32).collect(),
                        _ => case.codes[column - 1].clone(),
                    };
                    let point = rng.below(n);
                    case.codes[column][point] ^= 1;
                }
                case.paths = random_rules(rng, paths, case.columns.len());
                case.shape.max_depth = Some(4 + u32::from(n % 4 == 0));
                (case.shape.max_leaves, case.shape.min_leaf_rows) = (None, 1);
                set_penalty(&mut case, 0.0);
                let problem = case.problem().map_err(|e| e.to_string())?;
                let without = Search { similarity: false, ..Search::default() };
                let [one, other] =
                    [Search::default(), without].map(|search| optimum(&case, &problem, &search, 1));
                let (one, other) = (one?, other?);
                ensure(one == other, || format!("{one} with similarity, {other} without"))
            });
        }
    }
}

/// Few columns, so that a tree that is deep enough asks all of them.
#[test]
fn deep_trees() {
    for loss in LOSSES {
        agree_with_themselves(20, 200, loss, |case| {
            case.codes.truncate(8);
            case.columns.truncate(8);
            case.shape.max_depth = Some(5 + case.n_points() as u32 % 2);
            case.shape.max_leaves = None;
        });
    }
}
