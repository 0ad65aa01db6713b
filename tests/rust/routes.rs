//! The way in which a problem is searched: every route is met, the answer shows it, and whichever
//! it is, the tree is the best.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::common::judge::ensure;
use crate::common::large::{built, noise};
use crate::common::paths::PathMix;
use crate::common::problems::Options;
use crate::common::{Case, Loss, for_seeds};
use certree::answer::{Answer, go_on};
use certree::context::MostColumns;
use certree::cost::INFINITE;
use certree::data::{Column, Points};
use certree::metric::{Metric, MetricInput, Scored};
use certree::pareto::{Constrained, LimitInput, Roc};
use certree::problem::{Problem, Shape};
use certree::route::Route;
use certree::run::{Limits, Run, Status};
use certree::search::brute;
use certree::solve;
use certree::task::ClassInput;

fn run(scale: certree::cost::Scale) -> Run<'static> {
    let time = Some(Duration::from_secs(60));
    Run::new(Limits { time, ..Limits::default() }, scale, None)
}

fn answer_of(problem: &Problem) -> Answer {
    solve(problem, &run(problem.scale)).expect("it has a tree")
}

/// A problem of so many cuts for each of two columns.
fn of_cuts(cuts: usize, penalty: f64, shape: Shape) -> Problem {
    let mut case = noise(400, 2, cuts, 2, 7);
    case.shape = shape;
    Problem { shape, ..built(case, penalty, shape.max_depth) }
}

/// The parts that problems other than additive ones are made of.
fn parts() -> (Vec<Column>, Points, ClassInput, Shape) {
    let Case { columns, codes, rows, loss, .. } = noise(60, 3, 1, 2, 3);
    let points = Points::new(&columns, codes, rows).expect("rows have values");
    let Loss::Classes(input) = loss else { unreachable!("noise is of classes") };
    let shape = Shape { max_depth: Some(2), ..Shape::default() };
    (columns, points, ClassInput { leaf_penalty: 0.01, ..input }, shape)
}

#[test]
fn every_route_is_met_and_shown() {
    let deep = Shape { max_depth: Some(2), ..Shape::default() };
    let mut met: BTreeSet<&str> = BTreeSet::new();
    let mut meet = |route: Route, answer: &Answer| {
        assert_eq!((answer.route, answer.status), (route, Status::Optimal));
        assert!(met.insert(route.name()), "two routes are called {}", route.name());
    };
    for (route, problem) in [
        (Route::Separation, of_cuts(5, 0.0, Shape::default())),
        (Route::OneSplit, of_cuts(5, 0.0, Shape { max_depth: Some(1), ..deep })),
        (Route::Intervals, of_cuts(300, 0.0, deep)),
        (Route::CutByCut, of_cuts(5, 0.0, deep)),
    ] {
        assert_eq!(Route::of(&problem), route);
        meet(route, &answer_of(&problem));
    }
    let (columns, points, input, shape) = parts();
    let limit = LimitInput::of_shares("capacity".into(), 1, &[0, 1], &[], 0.3);
    let (kinds, rows) = (columns.clone(), points.clone());
    let limited = Constrained::new(kinds, rows, &input, vec![0, 1], &[limit], shape).unwrap();
    meet(Route::Fronts, &limited.solve(&run(limited.scale())).unwrap().0);
    let metric = MetricInput { classes: input.clone(), metric: Metric::FBeta(1.0), positive: 1 };
    let scored = Scored::new(columns.clone(), points.clone(), &metric, shape).unwrap();
    meet(Route::WeightedErrors, &scored.solve(&run(scored.scale())).unwrap());
    assert_eq!(met, Route::ALL.map(Route::name).into());
    // Areas under curves are searched as constraints are.
    let roc = Roc::new(columns, points, input.weights, 1, 1.0, 0.01, shape).unwrap();
    assert_eq!(roc.solve(&run(roc.scale())).unwrap().route, Route::Fronts);
}

/// Many cuts alone do not make a route, because intervals know no contexts. They know limits of
/// leaves and of their rows.
#[test]
fn problems_that_intervals_cannot_take_are_searched_cut_by_cut() {
    let deep = Shape { max_depth: Some(3), ..Shape::default() };
    let context = Arc::new(MostColumns::new(1, 2));
    let on_paths = of_cuts(300, 0.0, deep).with_context(context).unwrap();
    assert_eq!(Route::of(&on_paths), Route::CutByCut);
    for shape in [
        deep,
        Shape { max_leaves: Some(3), ..deep },
        Shape { max_leaves: Some(3), ..Shape::default() },
        Shape { min_leaf_rows: 9, ..deep },
    ] {
        for penalty in [0.0, 0.01] {
            assert_eq!(Route::of(&of_cuts(300, penalty, shape)), Route::Intervals);
        }
    }
}

/// The route is that of the problem, and a search that goes on shows its own.
#[test]
fn answers_show_the_route_of_their_problem() {
    let options = Options { paths: PathMix::Any, ..Options::default() };
    for_seeds(300, &options, |case| {
        let problem = case.problem().map_err(|e| e.to_string())?;
        let route = Route::of(&problem);
        let (first, known) =
            go_on(&problem, None, &run(problem.scale)).map_err(|e| e.to_string())?;
        let (next, _) =
            go_on(&problem, Some(&known), &run(problem.scale)).map_err(|e| e.to_string())?;
        ensure([first.route, next.route] == [route; 2], || {
            format!("{route:?} is shown as {:?} and {:?}", first.route, next.route)
        })
    });
}

/// The search of cuts one by one takes every additive problem, also under the name of a route that
/// only poses such problems.
#[test]
fn additive_problems_take_the_routes_that_pose_them() {
    for_seeds(150, &Options::default(), |case| {
        let problem = case.problem().map_err(|e| e.to_string())?;
        let optimum = brute::solve(&problem).upper;
        for route in [Route::of(&problem), Route::CutByCut, Route::Fronts, Route::WeightedErrors] {
            for cutoff in [optimum / 2, INFINITE] {
                let (found, _) = route
                    .search(&problem, &run(problem.scale), cutoff, None)
                    .map_err(|e| e.to_string())?;
                ensure(found.lower >= optimum.min(cutoff) && found.lower <= optimum, || {
                    format!("{route:?}: {} is proved of {optimum}", found.lower)
                })?;
                ensure(cutoff < INFINITE || found.upper == optimum, || {
                    format!("{route:?}: {} is found of {optimum}", found.upper)
                })?;
            }
        }
        Ok(())
    });
}
