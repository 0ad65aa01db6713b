//! One additive relaxation, solved within the limits of the run that it is a part of.

use crate::check;
use crate::cost::{Cost, INFINITE, Scale};
use crate::error::Result;
use crate::finish::grow;
use crate::ids::FeatureId;
use crate::problem::{Problem, Shape};
use crate::route::Route;
use crate::run::Run;
use crate::search::Found;
use crate::search::best_first::{self, ErrorCosts, Hints, Learned, Options};
use crate::task::{ClassCosts, Scaled};
use crate::tree::Plan;

/// The points of a problem with other costs, `costs` by class and label and `leaf_cost`, in units
/// of their own. Its trees keep to the same context. Columns cost nothing.
pub fn problem(
    of: &Problem,
    classes: &ClassCosts,
    costs: Vec<Cost>,
    leaf_cost: Cost,
    shape: Shape,
) -> Result<Problem> {
    let task = classes.with_costs(costs.len() / classes.n_classes(), costs);
    let scaled = Scaled {
        task: Box::new(task),
        leaf_cost,
        scale: Scale::new(1.0, 0, 0),
        feature_costs: None,
        stated: None,
    };
    Problem::new(of.columns.clone(), of.points.clone(), scaled, shape)?.with_context_of(of)
}

/// What the points of a plan pay on their way, where columns cost something.
pub fn spent(problem: &Problem, plan: &Plan) -> Result<Cost> {
    let Some(costs) = problem.feature_costs.as_ref().filter(|_| *plan != Plan::Leaf) else {
        return Ok(0);
    };
    let tree = grow(problem, plan.clone())?;
    Ok(check::spent(&tree, &problem.columns, &problem.points, costs))
}

/// The relaxation's optimum; less than that once the run is stopped. `lower` and `upper` are what
/// is known of the true problem, for its progress.
pub fn solve(problem: &Problem, run: &Run, lower: i64, upper: i64) -> Result<Found> {
    solve_below(problem, run, (lower, upper), INFINITE)
}

/// The optimum as `solve` finds it, if trees that cost `cutoff` or more are of no use: where there
/// is no other, they are not told apart, and the lower bound need not exceed `cutoff`.
pub fn solve_below(
    problem: &Problem,
    run: &Run,
    known: (Cost, Cost),
    cutoff: Cost,
) -> Result<Found> {
    Ok(solve_learning(problem, run, known, cutoff, Hints::default(), None)?.0)
}

/// The optimum as `solve_below` finds it, with all that was learned under other costs of errors.
/// With `error_costs`, which are those of this problem, it learns too.
pub fn solve_learning(
    problem: &Problem,
    run: &Run,
    (lower, upper): (Cost, Cost),
    cutoff: Cost,
    hints: Hints<'_>,
    error_costs: Option<ErrorCosts>,
) -> Result<(Found, Option<Learned>)> {
    let pulse = |_: &_| run.report(lower, upper).is_none();
    let inner = run.part(problem.scale, Box::new(pulse));
    let found = match Route::of(problem) {
        Route::CutByCut => {
            let options = Options { cutoff, ..Options::default() };
            best_first::solve_with(problem, &inner, &options, hints, error_costs)?
        }
        // The other searches do not learn.
        route => (route.search(problem, &inner, cutoff, None)?.0, None),
    };
    run.absorb(&inner);
    Ok(found)
}

/// The class weights of each leaf of a plan, from left to right.
pub fn leaves(problem: &Problem, plan: &Plan) -> Vec<Vec<i64>> {
    fn walk(problem: &Problem, plan: &Plan, points: Vec<u32>, out: &mut Vec<Vec<i64>>) {
        match plan {
            Plan::Leaf => out.push(problem.stats(points.into_iter().map(|p| p as usize))),
            Plan::Split { feature: FeatureId(feature), cut, left, right } => {
                let feature = problem.features.get(*feature as usize);
                let goes_left = |&p: &u32| feature.goes_left(&problem.points, p as usize, *cut);
                let (lefts, rights): (Vec<u32>, Vec<u32>) =
                    points.iter().partition(|p| goes_left(p));
                drop(points);
                walk(problem, left, lefts, out);
                walk(problem, right, rights, out);
            }
        }
    }
    let mut out = Vec::new();
    walk(problem, plan, (0..problem.points.len() as u32).collect(), &mut out);
    out
}
