//! The cost of a finished tree in the caller's own numbers, and the gap that rounding leaves
//! between the bounds.
//!
//! A search proves its optimum in integer units, some of which are rounded; `Scale::slack` is the
//! one place where all of that is charged. The objective of the tree that is handed out is computed
//! again without any rounding. If that leaves more between it and the lower bound than rounding
//! should, the problem is *refined*, and searched once more.
//!
//! **Refining.** A tree whose objective is U pays, beyond what every tree pays at each point, no
//! more than U allows for at any point. So a loss above that may as well be that: trees that are at
//! least as good cost what they did, and no other becomes better. What is left is of one size, so
//! that units are as fine as the answer needs: costs of 10¹⁷ that nobody pays no longer hide costs
//! of 0.25. Losses and the penalty are rounded down there, so that all bounds hold.

use std::sync::Arc;

use super::conclude::{Answer, confirm_paths};
use crate::bounds::{Bound, loss_caps};
use crate::check;
use crate::cost::{Cost, INFINITE, MAX_TOTAL, Scale};
use crate::error::Result;
use crate::exact::Ratio;
use crate::finish::{answering, cost_of, grow};
use crate::problem::Problem;
use crate::route::search;
use crate::run::{Run, Status};
use crate::task::{
    FeatureCostInput, FeatureCosts, Losses, Paying, Routed, RowCosts, Stated, Structure,
};
use crate::tree::Tree;

/// The gap that rounding may leave between the bounds of an optimal tree, as a share of the
/// objective's scale.
pub const TOLERANCE: f64 = 1e-9;

/// Each round begins with a better tree than the last one, and ends far below the losses that were
/// cut.
const ROUNDS: usize = 8;

/// The largest offset of a scale. Sums with a cost stay within its type.
const MOST_OFFSET: f64 = (1u128 << 120) as f64;

/// The most units in 1, as a power of two. A normalizer of ordinary size times that is a float.
const MOST_PLACES: f64 = 960.0;

/// The objective of a tree to the nearest float, from the caller's own numbers if the problem has
/// them.
pub fn objective(problem: &Problem, tree: &Tree) -> Option<Ratio> {
    let stated = problem.stated.as_deref()?;
    Some(stated.objective(&routed(problem, tree)))
}

fn routed(problem: &Problem, tree: &Tree) -> Routed {
    let (columns, points) = (&problem.columns, &problem.points);
    let leaves = check::leaves(tree, columns, points);
    let labels = leaves.iter().map(|&leaf| tree.nodes[leaf].label).collect();
    let bought = |costs| check::bought(tree, columns, points, costs);
    let bought = problem.feature_costs.as_ref().map_or(Vec::new(), bought);
    Routed { leaves, labels, n_leaves: tree.n_leaves(), bought }
}

/// The answer with the objective of its tree in the caller's own numbers.
pub fn settle(problem: &Problem, answer: Answer, run: &Run) -> Answer {
    let (Some(stated), Some(exact)) = (&problem.stated, objective(problem, &answer.tree)) else {
        return answer;
    };
    let paid = stated.paid(&routed(problem, &answer.tree));
    let answer = with_objective(problem, answer, &exact);
    let most = tolerance(stated.as_ref(), &exact, paid).max(TOLERANCE * stated.most());
    ended(answer, most, run)
}

/// The answer as [`settle`] gives it, and a better tree or bound where the answer is as good as
/// units can tell, and that is not good enough.
pub fn settle_finely(problem: &Problem, answer: Answer, run: &Run) -> Result<Answer> {
    let (Some(stated), Some(mut exact)) = (&problem.stated, objective(problem, &answer.tree))
    else {
        return Ok(answer);
    };
    let proved = answer.status == Status::Optimal;
    let mut answer = with_objective(problem, answer, &exact);
    let allowed = |exact: &Ratio, tree: &Tree| {
        tolerance(stated.as_ref(), exact, stated.paid(&routed(problem, tree)))
    };
    // Refining goes on for what large numbers that cancel each other would allow for.
    let wanted = |exact: &Ratio| TOLERANCE / 2.0 * exact.nearest().abs();
    if !proved || gap(&answer) <= wanted(&exact) {
        return Ok(answer);
    }
    let Some(losses) = stated.losses() else {
        let most = allowed(&exact, &answer.tree).max(TOLERANCE * stated.most());
        return Ok(ended(answer, most, run));
    };
    for _ in 0..ROUNDS {
        let most = beyond_least(&losses, &exact);
        if !most.is_positive() {
            // No tree costs less than what all points cost at least, and one leaf.
            let bound = below_sums(exact.float_below(), stated.as_ref());
            answer.lower_bound = answer.lower_bound.max(bound);
            close(&mut answer);
            break;
        }
        let Some(problem_left) = in_units(problem, &losses, &most, run) else { break };
        let refined = Refined { problem: problem_left };
        let before = gap(&answer);
        let improved = refined.improve(problem, &mut answer, &mut exact, run)?;
        let stuck = !improved && gap(&answer) > before / 2.0;
        if gap(&answer) <= wanted(&exact) || stuck || run.check_time().is_some() {
            break;
        }
    }
    (answer.seconds, answer.work) = (run.seconds(), run.work());
    // Where large losses cancel each other, the objective says little about the size of what trees
    // differ by.
    let apart = beyond_least(&losses, &exact).over(&losses.normalizer).nearest();
    let most = allowed(&exact, &answer.tree).max(TOLERANCE * apart);
    Ok(ended(answer, most, run))
}

/// A bound in the numbers of each row. Their sums over the rows of a point are rounded once before
/// they come here, which costs may cancel each other after.
fn below_sums(bound: f64, stated: &dyn Stated) -> f64 {
    bound - 2.0 * f64::EPSILON * (bound.abs() + stated.unavoidable_cost())
}

fn gap(answer: &Answer) -> f64 {
    answer.objective - answer.lower_bound
}

/// The largest gap of an optimal tree.
fn tolerance(stated: &dyn Stated, exact: &Ratio, paid: f64) -> f64 {
    TOLERANCE * exact.nearest().abs().max(stated.unavoidable_cost()).max(paid)
}

fn with_objective(problem: &Problem, mut answer: Answer, exact: &Ratio) -> Answer {
    let proved = answer.status == Status::Optimal;
    let scale = problem.scale;
    answer.objective = exact.nearest();
    answer.lower_bound = match problem.task.structure() {
        // Leaves are rounded down: trees of equal units may differ.
        Structure::Squares(_) if proved && scale.slack == 0 => {
            let units = scale.lower(cost_of(problem, &answer.tree));
            let off = rounded_off(problem, answer.tree.n_leaves());
            units.max((exact - &off).nearest()).min(answer.objective)
        }
        _ if proved && scale.slack == 0 => answer.objective,
        _ => answer.lower_bound.min(exact.float_below()),
    };
    close(&mut answer);
    answer
}

/// By how much the squared error of a tree with so many leaves may be above its units: no tree is
/// better by more than this than one that has the fewest units. For no tree is below its own
/// units, nor are those below the fewest.
fn rounded_off(problem: &Problem, n_leaves: usize) -> Ratio {
    let n_outputs = problem.task.structure().squares().map_or(0, |task| task.n_outputs());
    // A unit for the gain of each target, and for the penalty one, and 2^-50 of it (products of
    // floats).
    let leaf = n_outputs as Cost + 2 + (problem.leaf_cost >> 50);
    let all = i128::from(leaf) * n_leaves as i128 + 1;
    Ratio::from(all).over(&Ratio::stored(problem.scale.units))
}

/// Bounds along the curve end at those of the answer, and none is better before.
pub fn close(answer: &mut Answer) {
    for moment in &mut answer.curve {
        moment.upper = moment.upper.max(answer.objective);
        moment.lower = moment.lower.min(answer.lower_bound);
    }
    if let Some(last) = answer.curve.last_mut() {
        (last.upper, last.lower) = (answer.objective, answer.lower_bound);
    }
}

/// `tolerance`: the largest gap of what is called optimal. Where more is left, a limit of the run
/// may have ended the refining.
pub fn ended(mut answer: Answer, tolerance: f64, run: &Run) -> Answer {
    if answer.status == Status::Optimal && (gap(&answer).is_nan() || gap(&answer) > tolerance) {
        answer.status = run.stopped().unwrap_or(Status::RoundingLimit);
    }
    answer
}

/// The problem with losses that no good tree pays cut off.
struct Refined {
    problem: Problem,
}

/// The most that a tree may pay at all points beyond the least there, if it is no worse than one of
/// this objective: it has a leaf.
fn beyond_least(losses: &Losses, objective: &Ratio) -> Ratio {
    let Losses { n_labels, of: all, normalizer, penalty, .. } = losses;
    let least = all.chunks_exact(*n_labels).filter_map(|own| own.iter().min());
    let unavoidable = least.fold(Ratio::zero(), |sum, least| &sum + least);
    loss_caps::most(&(objective * normalizer), &(penalty * normalizer), &unavoidable)
}

/// A problem in whole units of these losses, rounded down, beyond the least that each point costs.
/// Of a tree that pays more than `most` beyond that, all that is kept is that it does. `None` where
/// there is no unit for both.
pub fn in_units(of: &Problem, losses: &Losses, most: &Ratio, run: &Run) -> Option<Problem> {
    let Losses { n_labels, of: all, normalizer, penalty, paying } = losses;
    let leaf = penalty * normalizer;
    let mut total = Ratio::zero();
    let mut unavoidable = Ratio::zero();
    let mut regrets = Vec::with_capacity(all.len());
    for own in all.chunks_exact(*n_labels) {
        let (first, least) = (regrets.len(), own.iter().min()?);
        for loss in own {
            let regret = loss - least;
            let (kept, is_less) = loss_caps::capped(regret, most);
            run.add_decided(Bound::LossCaps, u64::from(is_less));
            regrets.push(kept);
        }
        total = &total + regrets[first..].iter().max()?;
        unavoidable = &unavoidable + least;
    }
    // Whoever buys a test at all pays its cost for some point, so that a cost of `most` there is as
    // good as any higher one.
    let highest = paying.as_ref().and_then(|paying| {
        let lightest = paying.masses.iter().filter(|mass| !mass.is_zero()).min()?;
        Some(most.over(lightest))
    });
    // So is a payment of one point.
    let payments: Vec<Ratio> = (paying.iter())
        .flat_map(|paying| paying.payments.iter().map(|paid| paid.clone().min(most.clone())))
        .collect();
    if let (Some(paying), Some(highest)) = (paying, &highest) {
        let cost = |test: &FeatureCostInput| Ratio::written(test.full.each()).min(highest.clone());
        let sum = |sum: Ratio, x: &Ratio| &sum + x;
        let costs = paying.feature_costs.tests.iter().map(cost).collect::<Vec<_>>();
        let mass = paying.masses.iter().fold(Ratio::zero(), sum);
        total = &total + &(&mass * &costs.iter().fold(Ratio::zero(), sum));
        // Discounted ones are paid in place of full ones.
        total = payments.iter().fold(total, sum);
    }
    let size = [&total, &leaf].map(Ratio::nearest).into_iter().fold(0.0, f64::max);
    // A problem without regret still needs a unit.
    let size = if size > 0.0 { size } else { normalizer.nearest() };
    // Every tree pays `unavoidable`, which may exceed what trees differ by, by any factor. It is
    // counted in the same units, so that they must not be finer than the largest offset holds.
    let finest = (MOST_OFFSET / unavoidable.nearest().abs()).log2().min(MOST_PLACES);
    let places = ((MAX_TOTAL / 4) as f64 / size).log2().min(finest).floor();
    if places < -1000.0 {
        return None;
    }
    let unit = Ratio::stored(places.exp2());
    let floor = |x: &Ratio| (x * &unit).floor();
    let narrow = |x: &Ratio| floor(x).and_then(|x| Cost::try_from(x).ok());
    let regrets = regrets.iter().map(narrow).collect::<Option<Vec<_>>>()?;
    let units = (normalizer * &unit).nearest();
    let scale = Scale::new(units, floor(&unavoidable)?, 1);
    let feature_costs = match (paying, &highest) {
        (Some(paying), Some(highest)) => {
            let Paying { masses, feature_costs, .. } = paying;
            let pays = (&masses[..], &payments[..]);
            Some(FeatureCosts::rounded_down(pays, feature_costs, (&unit, highest))?)
        }
        _ => None,
    };
    let problem = Problem {
        task: Arc::new(RowCosts::of_regrets(*n_labels, regrets)),
        leaf_cost: narrow(&leaf)?,
        scale,
        feature_costs,
        stated: None,
        ..of.clone()
    };
    scale.units.is_normal().then_some(problem)
}

impl Refined {
    /// True if a better tree was found. Bounds become those that are proved here.
    fn improve(
        &self,
        problem: &Problem,
        answer: &mut Answer,
        exact: &mut Ratio,
        run: &Run,
    ) -> Result<bool> {
        let goes_on = |_: &_| run.check_time().is_none();
        let part = run.part(self.problem.scale, Box::new(goes_on));
        let found = search(&self.problem, &part, INFINITE)?;
        run.absorb(&part);
        let bound = self.problem.scale.lower(found.lower);
        let lower = problem.stated.as_ref().map_or(bound, |of| below_sums(bound, of.as_ref()));
        let tree = grow(&self.problem, found.plan.clone())?;
        let labels = check::labels(&tree, &problem.columns, &problem.points);
        let tree = answering(problem, found.plan, &labels)?;
        confirm_paths(problem, &tree)?;
        let Some(now) = objective(problem, &tree) else { return Ok(false) };
        let improved = now < *exact;
        if improved {
            (answer.tree, *exact) = (tree, now);
        }
        answer.objective = exact.nearest();
        answer.lower_bound = answer.lower_bound.max(lower).min(exact.float_below());
        close(answer);
        Ok(improved)
    }
}
