//! Lower bounds guessed from a reference model, and what the guess can cost.
//!
//! **Floors**, of squared errors, and of classes where cuts are searched one by one. The guess: no
//! leaf of the best tree costs less than the floor F of its rows, the sum over points of what the
//! reference loses there. With E, the sum of what points cost at least whatever is answered, Σ (F −
//! E) is the regret of the reference. Let R_F(t) = Σ over leaves of max(cost, F) + ℓ·leaves. The
//! search is that of the true costs, but for its lower bounds: they may be as high as the least
//! R_F, and F(S) + kℓ is one for the trees of at least k leaves. All that it makes of bounds is
//! true of R_F as of costs:
//!
//! - R_F never falls when rows are added to a tree, nor rises by more than what they can cost at
//!   most: a leaf's max(cost, F) rises by no more than the larger of the two rises, and no point's
//!   floor is above what it can cost. So the envelope, similarity and child support hold.
//! - A tree that is found costs what it truly costs, which is no more than its R_F: what is solved,
//!   is solved.
//! - That dividing a leaf never raises its cost is asked of true costs alone: of leaves, stumps,
//!   and what blocks of rows cost.
//!
//! So it ends with a tree t and a bound L ≤ min R_F, mostly R(t). R ≥ L − Σ (F − E) is proved
//! (`bounds::floors`), and the guarantee is at most the regret of the reference, which is what
//! "Guarantee on guessed model performance" (theorem 4.3 of McTavish et al.) allows. If no leaf of
//! t* is better than the reference, R(t) ≤ R_F(t*) = R(t*).
//!
//! **By point**, of costs by row and label, whose kernel counts no E, and of intervals of cuts,
//! which do not know of it. The guess: no tree is better at any point than the reference, which
//! loses r there. Then label k may as well cost the point c′(k) = max(c(k), r), where c(k) is what
//! it costs. The best tree t under c′ is searched exactly; if a best tree t* is nowhere better than
//! the reference, t is as good: R(t) ≤ R′(t) ≤ R′(t*) = R(t*). With e the least that any label
//! costs the point, c′(k) − r = max((c(k) − e) − (r − e), 0) is the regret of the label less that
//! of the reference, so never more than the regret of the label. What is proved of the best tree
//! under c′ − r, and E = Σ e, bound all trees: R ≥ E + L, where L ≤ min (R′ − Σ r). The guarantee
//! is no more than above.

use crate::answer::exactly::settle_finely;
use crate::answer::{self, Answer, Incumbent, conclude, confirm};
use crate::bounds::{Bound, floors};
use crate::check;
use crate::cost::{Cost, INFINITE};
use crate::error::{Error, Result};
use crate::finish::grow;
use crate::ids::FeatureId;
use crate::problem::Problem;
use crate::route::Route;
use crate::run::{Progress, Run, Status, on_deep_stack};
use crate::task::{RowCosts, Scaled, Task};
use crate::tree::Plan;

/// Guesses are about what a reference answers: labels or means.
const UNKNOWN: &str = "guessed lower bounds are for tasks that answer with labels or means";

/// Where a tree is taken not to be better than the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuessedBy {
    /// In no leaf: floors.
    Leaf,
    /// At no point, which is more, because a leaf may lose less than the reference on some of its
    /// points, and more on others.
    Point,
}

impl GuessedBy {
    /// The guess that a search of this problem makes.
    pub fn of(problem: &Problem) -> GuessedBy {
        let structure = problem.task.structure();
        let one_by_one = structure.classes().is_some() && Route::of(problem) == Route::CutByCut;
        if structure.squares().is_some() || one_by_one { GuessedBy::Leaf } else { GuessedBy::Point }
    }
}

/// A problem whose points have floors, or are forgiven what the reference does badly there.
struct Guess {
    problem: Problem,
    /// What trees cost more in the true problem than bounds on the guessed one say, at least. With
    /// floors it is below 0.
    more: Cost,
}

/// The best tree if the guess is right. `regrets`: by point, how much more the reference loses
/// there than the best label or mean, as a share of the objective.
pub fn solve(problem: &Problem, regrets: &[f64], run: &Run) -> Result<(Answer, Incumbent)> {
    // Where each cut is looked at once, a guess saves nothing.
    if Route::of(problem) == Route::OneSplit {
        return answer::go_on(problem, None, run);
    }
    Error::guard(|| {
        let guess = Guess::new(problem, regrets)?;
        let leaf = problem.as_one_leaf();
        let pulse = |p: &Progress| run.report(guess.proved(p.lower_cost, leaf), leaf).is_none();
        let part = run.part(problem.scale, Box::new(pulse));
        let route = Route::of(&guess.problem);
        let (found, _) = route.search(&guess.problem, &part, INFINITE, None)?;
        run.absorb(&part);
        let solved = found.lower == found.upper;
        let claimed = found.upper;
        let (plan, [upper, guessed]) = on_deep_stack(problem.longest_path(), found.plan, |plan| {
            let points = (0..problem.points.len() as u32).collect();
            cut_back(problem, &guess.problem, &plan, points)
        })?;
        check::confirm(claimed, guessed)?;
        let tree = grow(problem, plan)?;
        confirm(problem, &tree, upper)?;
        let lower = guess.proved(found.lower, upper);
        if solved {
            run.decided(Bound::Floors);
        }
        if solved && lower < upper {
            run.stop(Status::OptimalGivenGuess);
        }
        let answer = conclude(tree.clone(), route, (lower, upper), problem.scale, run);
        let answer = settle_finely(problem, answer, run)?;
        Ok((answer, Incumbent::new(tree, (lower, upper), None)))
    })
}

impl Guess {
    fn new(of: &Problem, regrets: &[f64]) -> Result<Guess> {
        if of.feature_costs.is_some() {
            return Err(Error::invalid("guessed lower bounds do not know what tests cost"));
        }
        let regrets = in_units(of, regrets)?;
        let structure = of.task.structure();
        let task: Box<dyn Task> = match (GuessedBy::of(of), structure.squares()) {
            (GuessedBy::Leaf, Some(squares)) => Box::new(squares.with_floors(&regrets)),
            (by, _) => match (by, structure.classes()) {
                (GuessedBy::Leaf, Some(classes)) => Box::new(classes.with_floors(&regrets)),
                (_, classes) => match classes.and_then(|classes| classes.forgiving(&regrets)) {
                    Some(left) => Box::new(left),
                    None => match of.labelled() {
                        Some(task) => Box::new(RowCosts::forgiving(task, &regrets)),
                        None => return Err(Error::invalid(UNKNOWN)),
                    },
                },
            },
        };
        let least = |task: &dyn Task| (0..of.points.len()).map(|p| task.least(p)).sum::<Cost>();
        let more = least(of.task.as_ref()) - least(task.as_ref());
        let scaled = Scaled {
            task,
            leaf_cost: of.leaf_cost,
            scale: of.scale,
            feature_costs: None,
            stated: None,
        };
        let problem = Problem::new(of.columns.clone(), of.points.clone(), scaled, of.shape)?;
        let problem = Problem { context: of.context.clone(), ..problem };
        Ok(Guess { problem, more })
    }

    /// What a lower bound on the guessed problem proves of the true one, where a tree costs
    /// `upper`.
    fn proved(&self, guessed: Cost, upper: Cost) -> Cost {
        floors::proved(guessed, self.more, (self.problem.leaf_cost, upper))
    }
}

/// Any number of units is a valid guess. Those that are within rounding of a label's regret, or of
/// none, stand for that.
fn in_units(problem: &Problem, regrets: &[f64]) -> Result<Vec<Cost>> {
    let n = problem.points.len();
    if regrets.len() != n || regrets.iter().any(|r| !(r.is_finite() && *r >= 0.0)) {
        return Err(Error::invalid(format!(
            "a reference has one regret of at least 0 for each of {n} points"
        )));
    }
    let task = problem.task.as_ref();
    let snapped = |(point, regret): (usize, &f64)| {
        let regret = problem.scale.units_of(*regret + 0.5 / problem.scale.units);
        let least = task.least(point);
        let worst = task.worst(point).unwrap_or(least);
        let near = |known: &Cost| (known - regret).abs() <= (worst - least) >> 30;
        let labels =
            task.structure().labelled().into_iter().flat_map(|task| {
                (0..task.n_labels() as u32).map(move |k| task.loss(point, k) - least)
            });
        std::iter::once(0).chain(labels).find(near).unwrap_or(regret)
    };
    Ok(regrets.iter().enumerate().map(snapped).collect())
}

/// The plan without splits that do not pay in the true problem, what it costs there, and what the
/// whole plan costs in the guessed one.
fn cut_back(
    problem: &Problem,
    guessed: &Problem,
    plan: &Plan,
    points: Vec<u32>,
) -> (Plan, [Cost; 2]) {
    let leaf = |of: &Problem| {
        let stats = of.stats(points.iter().map(|&point| point as usize));
        of.task.leaf(&stats).cost + of.leaf_cost
    };
    let here = leaf(problem);
    let Plan::Split { feature: feature @ FeatureId(at), cut, left, right } = plan else {
        return (Plan::Leaf, [here, leaf(guessed)]);
    };
    let of = problem.features.get(*at as usize);
    let goes_left = |&point: &u32| of.goes_left(&problem.points, point as usize, *cut);
    let (lefts, rights) = points.into_iter().partition(goes_left);
    let (left, a) = cut_back(problem, guessed, left, lefts);
    let (right, b) = cut_back(problem, guessed, right, rights);
    let [true_cost, guessed_cost] = [a[0] + b[0], a[1] + b[1]];
    if here <= true_cost {
        return (Plan::Leaf, [here, guessed_cost]);
    }
    (Plan::split(*feature, *cut, left, right), [true_cost, guessed_cost])
}
