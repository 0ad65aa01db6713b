//! Ratios of weights that were rounded, once more in the weights as they were given.
//!
//! The first search, in whole numbers that lines can be asked about, leaves a gap. Let U be the
//! objective of its tree. A tree of k leaves is better exactly if A − (U − λk)·D < 0, where A and D
//! are linear in what each point is answered: costs by point and label, in units as fine as 2⁻⁵⁶ of
//! them all. What no tree has less than there bounds all objectives (`bounds::ratio_shortfall`).
//! Trees of fewer leaves have more room, U − λj, so that one
//! search of at most k leaves for each k answers for all.

use crate::answer::exactly::in_units;
use crate::bounds::{Bound, affordable_leaves, ratio_shortfall};
use crate::check;
use crate::cost::INFINITE;
use crate::error::{Error, Result};
use crate::exact::Ratio;
use crate::finish::{answering, grow};
use crate::metric::given::Given;
use crate::metric::loss::{Kind, Loss};
use crate::metric::scored::Scored;
use crate::problem::{Problem, Shape};
use crate::route::search;
use crate::run::Run;
use crate::task::Losses;
use crate::tree::Tree;

/// More leaf counts than this are not searched one by one.
const MOST_COUNTS: u32 = 64;

/// Each begins with a better tree than the last one.
const ROUNDS: usize = 16;

/// The ratio in the weights as they were given: top · errors over base · positives + under ·
/// errors.
struct GivenRatio {
    top: [Ratio; 2],
    under: [Ratio; 2],
    base: Ratio,
    /// The least denominator.
    least: Ratio,
}

impl GivenRatio {
    fn new(loss: &Loss, given: &Given) -> Option<GivenRatio> {
        let Kind::Ratio(ratio) = loss.kind else { return None };
        let whole = |w: [i64; 2]| w.map(Ratio::from);
        let per_positive = Ratio::from(ratio.base / loss.positives);
        let base = &per_positive * &given.totals[0];
        // Missed positives make it smaller or leave it alone, and alarms make it larger.
        let missed = &Ratio::from(ratio.under[0].min(0)) * &given.totals[0];
        let least = &base + &missed;
        Some(GivenRatio { top: whole(ratio.top), under: whole(ratio.under), base, least })
    }

    fn of(&self, errors: &[Ratio; 2]) -> Ratio {
        let dot = |w: &[Ratio; 2]| &(&w[0] * &errors[0]) + &(&w[1] * &errors[1]);
        dot(&self.top).over(&(&self.base + &dot(&self.under)))
    }
}

/// The objective of a tree, and a tree that is better if one was found, with what no tree is below.
pub struct Refined {
    pub tree: Tree,
    pub objective: Ratio,
    pub lower: f64,
}

/// `lower`: what is known already. `proved`: whether it is worth to search on.
pub fn refine(
    scored: &Scored,
    given: &Given,
    tree: Tree,
    (lower, proved): (f64, bool),
    run: &Run,
) -> Result<Refined> {
    let fails = || Error::invalid("only ratios are refined");
    let ratio = GivenRatio::new(&scored.loss, given).ok_or_else(fails)?;
    let penalty = Ratio::written(given.leaf_penalty);
    let problem = &scored.problem;
    let worth = |tree: &Tree| {
        let labels = check::labels(tree, &problem.columns, &problem.points);
        let errors = given.errors(|point| labels[point] as usize == scored.positive);
        let leaves = Ratio::from(tree.n_leaves() as i64);
        &ratio.of(&errors) + &(&penalty * &leaves)
    };
    let objective = worth(&tree);
    let mut refined = Refined { tree, lower: lower.min(objective.float_below()), objective };
    let mut rounds = if proved && ratio.least.is_positive() { ROUNDS } else { 0 };
    while rounds > 0 && run.stopped().is_none() {
        rounds -= 1;
        let mut short = Ratio::zero();
        let mut better = None;
        let counts = leaf_counts(scored, given.leaf_penalty, &refined.objective);
        for leaves in counts.clone() {
            let paid = &penalty * &Ratio::from(i64::from(leaves.max(1)));
            let paid = if leaves == 0 { Ratio::zero() } else { paid };
            let room = &refined.objective - &paid;
            if !room.is_positive() {
                continue;
            }
            let subproblem = subproblem(scored, given, &ratio, (&room, leaves), run);
            let Some(subproblem) = subproblem else { return Ok(refined) };
            let goes_on = |_: &_| run.check_time().is_none();
            let part = run.part(subproblem.problem.scale, Box::new(goes_on));
            let found = search(&subproblem.problem, &part, INFINITE)?;
            run.absorb(&part);
            // Units are a power of two, and whole numbers of them are exact.
            let cost = Ratio::from(i128::from(found.lower) + subproblem.problem.scale.offset);
            let less =
                &subproblem.most - &cost.over(&Ratio::stored(subproblem.problem.scale.units));
            short = short.max(less);
            let tree = grow(&subproblem.problem, found.plan.clone())?;
            let labels = check::labels(&tree, &problem.columns, &problem.points);
            let tree = answering(problem, found.plan, &labels)?;
            let now = worth(&tree);
            if now < refined.objective {
                better = Some((tree, now));
                break;
            }
        }
        if let Some((tree, now)) = better {
            (refined.tree, refined.objective) = (tree, now);
            continue;
        }
        if !counts.is_empty() {
            let bound = ratio_shortfall::at_least(&refined.objective, short, &ratio.least);
            if bound.float_below() > refined.lower {
                run.decided(Bound::RatioShortfall);
            }
            refined.lower = refined.lower.max(bound.float_below());
        }
        break;
    }
    refined.lower = refined.lower.clamp(0.0, refined.objective.float_below().max(0.0));
    Ok(refined)
}

/// Numbers of leaves that a better tree may have; 0 alone stands for any number, where leaves cost
/// nothing.
fn leaf_counts(scored: &Scored, leaf_penalty: f64, objective: &Ratio) -> std::ops::Range<u32> {
    if leaf_penalty == 0.0 {
        return 0..1;
    }
    let shape = &scored.problem.shape;
    let affordable = affordable_leaves::most(objective.nearest(), leaf_penalty);
    let deep = shape.max_depth.filter(|&depth| depth < 31).map_or(u32::MAX, |d| 1 << d);
    let points = scored.problem.points.len() as u32;
    let most = affordable.min(deep).min(points).min(shape.max_leaves.unwrap_or(u32::MAX)).max(1);
    if most > MOST_COUNTS { 1..1 } else { 1..most + 1 }
}

struct ExactSubproblem {
    problem: Problem,
    /// A tree is better if it costs less.
    most: Ratio,
}

/// A − room · D, without the part of D that all trees have.
fn subproblem(
    scored: &Scored,
    given: &Given,
    ratio: &GivenRatio,
    (room, leaves): (&Ratio, u32),
    run: &Run,
) -> Option<ExactSubproblem> {
    let rates = [0, 1].map(|side| {
        let rate = &ratio.top[side] - &(room * &ratio.under[side]);
        &rate * &given.factors[side]
    });
    let mut of = Vec::with_capacity(given.weights.len() * 2);
    for own in &given.weights {
        let [missed, alarm] = [0, 1].map(|side| &Ratio::stored(own[side]) * &rates[side]);
        let losses = if scored.positive == 0 { [alarm, missed] } else { [missed, alarm] };
        of.extend(losses);
    }
    let most = room * &ratio.base;
    let losses = Losses {
        n_labels: 2,
        of,
        normalizer: Ratio::from(1),
        penalty: Ratio::zero(),
        paying: None,
    };
    let shape = Shape {
        max_leaves: match (scored.problem.shape.max_leaves, leaves) {
            (most, 0) => most,
            (None, leaves) => Some(leaves),
            (Some(most), leaves) => Some(most.min(leaves)),
        },
        ..scored.problem.shape
    };
    let of = Problem { shape, ..scored.problem.clone() };
    Some(ExactSubproblem { problem: in_units(&of, &losses, &most, run)?, most })
}
