//! What paths may ask: the contexts against their statements, the oracle against all trees, the
//! search against the oracle, for each context alone, several together, and with everything else
//! that limits a tree.
//!
//! More cases: `CERTREE_CASES=5000 cargo test --release --test all contexts`.

use std::sync::Arc;

use crate::common::judge::{agrees_with_oracle, ensure, keeps_tight_limits, recompute};
use crate::common::large::{built, noise};
use crate::common::paths::{PathMix, PathRule, product, random_rules};
use crate::common::problems::{ColumnMix, LossKind, Options, ShapeMix};
use crate::common::{Case, Loss, Random, cases, for_all, for_seeds, random_problem};
use crate::feature_costs::{cuts, oracle_agrees};
use certree::answer::Incumbent;
use certree::check;
use certree::context::{Context, FeatureCostContext, testing};
use certree::cost::Cost;
use certree::data::{Column, ColumnKind};
use certree::error::Error;
use certree::ids::ColumnId;
use certree::problem::{Problem, Shape};
use certree::route::Route;
use certree::run::{Limits, Run};
use certree::solve;
use certree::task::{ClassInput, FeatureCostList, FeatureCosts};

fn ruled(paths: PathMix) -> Options {
    Options { paths, ..Options::default() }
}

fn agrees(case: &Case) -> Result<(), String> {
    agrees_with_oracle(case, 1)
}

/// A context of somebody's own, with no more than what must be said: no column twice on a path.
#[derive(Debug, Clone)]
struct Once {
    n_columns: usize,
}

impl Context for Once {
    fn cost_after(&self, path: &[ColumnId], column: ColumnId) -> Option<Cost> {
        (!path.contains(&column)).then_some(0)
    }

    fn validate(&self, n_columns: usize) -> certree::error::Result<()> {
        assert_eq!(self.n_columns, n_columns);
        Ok(())
    }

    fn words(&self) -> usize {
        self.n_columns
    }

    fn cost(&self, state: &[u64], column: ColumnId) -> Option<Cost> {
        (state[column.index()] == 0).then_some(0)
    }

    fn enter(&self, state: &mut [u64], column: ColumnId, _again: bool) {
        state[column.index()] = 1;
    }

    fn kind(&self, column: ColumnId) -> u32 {
        column.0
    }
}

#[test]
fn a_context_of_ones_own() {
    for_seeds(1_000, &Options::default(), |case| {
        let context = Once { n_columns: case.columns.len() };
        let questions = vec![2; case.columns.len()];
        testing::obeys(&context, &questions, case.n_points() as u64)?;
        let problem = case.problem().and_then(|problem| problem.with_context(Arc::new(context)));
        let problem = problem.map_err(|e| e.to_string())?;
        let run = Run::new(Limits::default(), problem.scale, None);
        let answer = solve(&problem, &run).map_err(|e| e.to_string())?;
        let known = certree::search::brute::solve(&problem).upper;
        let found = recompute(&problem, &answer.tree);
        ensure(found == known, || format!("{found}, not {known}"))
    });
}

#[test]
fn states_say_what_statements_say() {
    for_all(0..cases(5_000), |seed| {
        let rng = &mut Random::new(seed);
        let n = rng.below(7);
        let questions: Vec<u32> = (0..n).map(|_| rng.pick(&[0, 1, 1, 2, 5])).collect();
        let rules = random_rules(rng, PathMix::Any, n);
        let context = product(&rules, n);
        context.validate(n).map_err(|e| e.to_string())?;
        testing::obeys(&context, &questions, seed).map_err(|why| format!("{rules:?}: {why}"))?;
        // Rules told one by one on the columns of a path, with all their repetitions.
        let mut path = Vec::new();
        for _ in 0..rng.below(6).min(6 * n) {
            let column = rng.below(n);
            let mut columns: Vec<ColumnId> = Vec::new();
            for &column in &path {
                let column = ColumnId::from(column);
                if !columns.contains(&column) {
                    columns.push(column);
                }
            }
            let allowed = rules.iter().all(|rule| rule.allows(&path, column));
            let told = context.cost_after(&columns, ColumnId::from(column)).is_some();
            ensure(allowed == told, || format!("{rules:?} after {path:?}: {column} is {told}"))?;
            if allowed {
                path.push(column);
            }
        }
        Ok(())
    });
}

#[test]
fn prices_are_a_context() {
    let options = Options { prices: true, ..Options::default() };
    for_seeds(1_000, &options, |case| {
        let problem = case.problem().map_err(|e| e.to_string())?;
        let Some(costs) = &problem.feature_costs else { return Ok(()) };
        let rng = &mut Random::new(case.n_points() as u64 + 31 * case.columns.len() as u64);
        let questions: Vec<u32> = case.columns.iter().map(|_| rng.pick(&[0, 1, 1, 2])).collect();
        let prices = FeatureCostContext::new(costs, &questions);
        prices.validate(case.columns.len()).map_err(|e| e.to_string())?;
        testing::obeys(&prices, &questions, rng.next())
    });
}

#[test]
fn the_oracle_finds_the_best_of_all_trees() {
    for paths in PathMix::ALL {
        for prices in [false, true] {
            let few = Options { max_points: 9, max_columns: 4, prices, ..ruled(paths) };
            for_seeds(150, &few, |case| match cuts(case) {
                0..=3 => oracle_agrees(case, 3),
                4..=6 => oracle_agrees(case, 2),
                _ => Ok(()),
            });
        }
    }
}

#[test]
fn at_most_some_columns_on_a_path() {
    for_seeds(1_000, &ruled(PathMix::Most), agrees);
}

#[test]
fn one_column_after_another() {
    for_seeds(1_000, &ruled(PathMix::After), agrees);
}

#[test]
fn columns_that_may_meet() {
    for_seeds(1_000, &ruled(PathMix::Together), agrees);
}

#[test]
fn a_forced_root() {
    for_seeds(1_000, &ruled(PathMix::First), agrees);
}

#[test]
fn several_rules_together() {
    for_seeds(1_000, &ruled(PathMix::Any), agrees);
}

#[test]
fn rules_and_prices() {
    for paths in PathMix::ALL {
        for_seeds(500, &Options { prices: true, ..ruled(paths) }, agrees);
    }
}

#[test]
fn every_loss() {
    use LossKind::{Accuracy, CostMatrix, Rows, Squares, Weighted};
    for loss in [Accuracy, Weighted, CostMatrix, Rows, Squares] {
        for_seeds(500, &Options { loss, ..ruled(PathMix::Any) }, agrees);
    }
}

#[test]
fn several_questions_of_one_column() {
    for columns in [ColumnMix::Category, ColumnMix::Ordered, ColumnMix::Boolean] {
        for_seeds(500, &Options { columns, ..ruled(PathMix::Any) }, agrees);
    }
}

#[test]
fn limits_on_the_shape() {
    for limits in [ShapeMix::Leaves, ShapeMix::MinRows, ShapeMix::Unlimited] {
        for paths in PathMix::ALL {
            for_seeds(300, &Options { limits, ..ruled(paths) }, agrees);
        }
    }
}

#[test]
fn any_number_of_threads() {
    for_seeds(500, &ruled(PathMix::Any), |case| {
        agrees_with_oracle(case, 2).and_then(|()| agrees_with_oracle(case, 4))
    });
}

#[test]
fn stopped_searches_bound_the_optimum() {
    for_seeds(300, &ruled(PathMix::Any), |case| keeps_tight_limits(case, &[0.03]));
}

/// Whatever is forbidden, a leaf is allowed, and it is the best one.
#[test]
fn where_everything_is_forbidden_the_answer_is_the_best_leaf() {
    for_seeds(300, &Options::default(), |case| {
        for rule in [PathRule::Together(Vec::new()), PathRule::Most(0)] {
            let forbidden = Case { paths: vec![rule], ..case.clone() };
            agrees(&forbidden)?;
            let mut leaf = case.clone();
            leaf.shape.max_depth = Some(0);
            let [one, other] = [&forbidden, &leaf].map(|case| {
                let problem = case.problem().expect("it builds");
                let run = Run::new(Limits::default(), problem.scale, None);
                solve(&problem, &run).expect("a leaf is allowed")
            });
            ensure(one.objective == other.objective && one.tree == other.tree, || {
                format!("{} is no leaf of {}", one.objective, other.objective)
            })?;
        }
        Ok(())
    });
}

/// A case of its own for each rule that makes a difference, so that no test passes because nothing
/// was forbidden.
#[test]
fn rules_make_a_difference() {
    for paths in PathMix::ALL {
        let differs = |seed: &u64| {
            let case = random_problem(*seed, &Options { min_points: 8, ..ruled(paths) });
            let free = Case { paths: Vec::new(), ..case.clone() };
            let [ruled, free] = [case, free].map(|case| {
                let problem = case.problem().expect("it builds");
                certree::search::brute::solve(&problem).upper
            });
            assert!(free <= ruled);
            free < ruled
        };
        let n = (0..200).filter(differs).count();
        assert!(n >= 10, "{paths:?}: {n} of 200");
    }
}

/// A split that sets nothing apart but rows that no label is wrong for is worth making if it allows
/// another one.
#[test]
fn a_split_may_be_worth_what_it_allows() {
    let column =
        |name: &str| Column { name: name.into(), kind: ColumnKind::Boolean, missing: false };
    let both = [1.0, 1.0];
    for equal in [both, [0.0, 0.0]] {
        let weights = [[1.0, 0.0], [0.0, 1.0], equal].concat();
        let classes = ClassInput {
            n_classes: 2,
            n_labels: 2,
            weights,
            costs: vec![0.0, 1.0, 1.0, 0.0],
            class_weights: vec![1.0; 2],
            balanced: false,
            leaf_penalty: 0.01,
        };
        // The first column sets the third point apart, whose classes weigh the same; the second one
        // tells the others.
        let mut case = Case {
            columns: vec![column("a"), column("b")],
            codes: vec![vec![0, 0, 1], vec![0, 1, 0]],
            rows: vec![1, 1, 2],
            loss: Loss::Classes(classes),
            shape: Shape::default(),
            prices: FeatureCostList::default(),
            paths: vec![PathRule::After(vec![(1, 0)])],
        };
        for max_depth in [None, Some(1), Some(2), Some(3)] {
            case.shape.max_depth = max_depth;
            agrees(&case).unwrap();
            let problem = case.problem().unwrap();
            let run = Run::new(Limits::default(), problem.scale, None);
            let leaves = solve(&problem, &run).unwrap().tree.n_leaves();
            assert_eq!(leaves, if max_depth == Some(1) { 1 } else { 3 });
        }
    }
}

#[test]
fn a_tree_that_breaks_a_rule_is_found_out() {
    let mut found = 0;
    for seed in 0..300 {
        let case = random_problem(seed, &Options::default());
        let problem = case.problem().expect("it builds");
        let run = Run::new(Limits::default(), problem.scale, None);
        let tree = solve(&problem, &run).expect("it is solved").tree;
        for rule in random_rules(&mut Random::new(seed), PathMix::Any, case.columns.len()) {
            let context = rule.context(case.columns.len());
            let keeps = crate::common::paths::keeps_rules(&[rule], &tree);
            let checked = check::allowed(&tree, context.as_ref());
            assert_eq!(keeps, checked.is_ok());
            if let Err(error) = checked {
                assert!(matches!(error, Error::Forbidden { .. }));
                assert!(error.to_string().contains("which is not allowed there"));
                found += 1;
            }
        }
    }
    assert!(found > 50, "{found}");
}

/// A tree that somebody hands in to go on from is judged, too.
#[test]
fn a_search_goes_on_from_no_tree_that_breaks_a_rule() {
    let mut refused = 0;
    for seed in 0..200 {
        let case = random_problem(seed, &ruled(PathMix::Any));
        let free = Case { paths: Vec::new(), ..case.clone() }.problem().expect("it builds");
        let tree =
            solve(&free, &Run::new(Limits::default(), free.scale, None)).expect("it is solved");
        let keeps = crate::common::paths::keeps_rules(&case.paths, &tree.tree);
        let problem = case.problem().expect("it builds");
        let known = Incumbent::of_tree(&problem, tree.tree, tree.lower_bound);
        assert_eq!(known.is_ok(), keeps);
        if let Err(error) = known {
            assert!(error.to_string().contains("none of this problem"), "{error}");
            refused += 1;
        }
    }
    assert!(refused > 20, "{refused}");
}

/// Searches that know of no rules are never asked: of as many cuts as there are, each is looked at
/// by itself.
#[test]
fn rules_are_searched_cut_by_cut() {
    let free = built(noise(60, 4, 200, 2, 5), 0.01, Some(2));
    assert_eq!(Route::of(&free), Route::Intervals);
    for shape in [
        free.shape,
        Shape { max_depth: Some(1), ..free.shape },
        Shape { max_leaves: Some(3), ..free.shape },
        Shape { min_leaf_rows: 5, ..free.shape },
        Shape::default(),
    ] {
        let problem = Problem { shape, ..free.clone() };
        let rule = PathRule::Most(1).context(4);
        let ruled = problem.with_context(rule).expect("it is a context");
        assert_eq!(Route::of(&ruled), Route::CutByCut);
    }
}

#[test]
fn contexts_that_are_none() {
    let case = random_problem(3, &Options { min_points: 3, ..Options::default() });
    let n = case.columns.len();
    assert!(n > 1, "the case has columns");
    let rejects = |context: Arc<dyn Context>, text: &str| {
        let problem = case.problem().expect("it builds");
        let error = problem.with_context(context).err().expect(text).to_string();
        assert!(error.contains(text), "{error}");
    };
    let there = format!("names column {n}, but there are {n} columns");
    rejects(PathRule::First(n).context(n), &there);
    rejects(PathRule::After(vec![(0, n)]).context(n), &there);
    rejects(PathRule::After(vec![(n, 0)]).context(n), &there);
    rejects(PathRule::Together(vec![vec![0], vec![n]]).context(n), &there);
    rejects(PathRule::Most(1).context(n + 1), "columns per path");
    rejects(PathRule::After(vec![(0, 0)]).context(n), "column 0 may be asked only after itself");
    let of_column = vec![None; n];
    let costs = FeatureCosts {
        tests: vec![],
        of_column,
        masses: vec![],
        n_masses: 1,
        is_ordered: true,
        of_class: vec![],
    };
    let prices = FeatureCostContext::new(&costs, &vec![1; n]);
    rejects(Arc::new(prices), "feature costs belong to the task");
    let circle = PathRule::After(vec![(0, 1), (1, 0)]);
    rejects(circle.context(n), "may be asked only after itself");
}
