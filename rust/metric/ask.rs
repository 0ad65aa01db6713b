//! One additive problem: so much for each missed positive, so much for each false alarm, so much
//! for each leaf.

use std::cell::RefCell;

use crate::cost::{Cost, INFINITE, MAX_TOTAL};
use crate::error::{Error, Result};
use crate::metric::candidate::Candidate;
use crate::metric::loss::{Errors, Loss, TOO_FINE};
use crate::metric::scored::{NO_SIDE, Scored};
use crate::pareto::scalar;
use crate::problem::{Problem, Shape};
use crate::run::{Held, Run};
use crate::search::Found;
use crate::search::best_first::{Hints, Learned};

#[derive(Debug, Clone, Copy)]
pub struct Subproblem {
    pub weights: [i64; 2],
    pub penalty: i64,
    pub max_leaves: Option<u32>,
    /// Only under limits: trees that miss more are not allowed either.
    pub most_missed: Option<i64>,
    /// Only trees that cost less than this are wanted.
    pub cutoff: Cost,
}

impl Subproblem {
    /// So much for each missed positive and each false alarm.
    pub fn of(weights: [i64; 2]) -> Subproblem {
        Subproblem { weights, penalty: 0, max_leaves: None, most_missed: None, cutoff: INFINITE }
    }
}

pub struct Told {
    /// No tree costs less, or less than the cutoff: whichever is smaller.
    pub lower: Cost,
    /// `None`: none was found that costs less than the cutoff.
    pub found: Option<Cheap>,
}

/// A tree that costs little.
pub struct Cheap {
    /// What it costs, and its sums.
    pub upper: Cost,
    pub cheapest: Errors,
    /// That tree with the labels that are best for the metric.
    pub best: Candidate,
}

impl Told {
    /// The tree, if it is proved that none costs less.
    pub fn optimum(&self) -> Option<&Cheap> {
        self.found.as_ref().filter(|found| found.upper <= self.lower)
    }
}

/// Data that additive problems are asked about.
pub struct Asker<'a, 'run> {
    pub scored: &'a Scored,
    /// That of the problem, or less.
    pub max_depth: Option<u32>,
    pub run: &'a Run<'run>,
    /// What earlier subproblems taught.
    pub lessons: RefCell<Lessons<'a, 'run>>,
}

/// All that subproblems taught, and its bytes.
pub struct Lessons<'a, 'run> {
    learned: Vec<Learned>,
    held: Held<'a, 'run>,
}

impl<'a, 'run> Lessons<'a, 'run> {
    pub fn new(run: &'a Run<'run>) -> Self {
        Lessons { learned: Vec::new(), held: Held::new(run) }
    }

    /// Keep this if there is room, in place of the oldest lesson if there are many.
    fn keep(&mut self, new: Learned) {
        if self.learned.len() == MOST_LEARNED {
            let oldest = self.learned.remove(0);
            self.held.replace(oldest.bytes() as usize, 0);
        }
        if self.held.reserve(new.bytes() as usize) {
            self.learned.push(new);
        }
    }
}

/// More of that is not worth the looking up.
const MOST_LEARNED: usize = 6;

impl Asker<'_, '_> {
    /// `known`: bounds of the true objective meanwhile. Only trees that keep the limits are spoken
    /// of.
    pub fn ask(&self, subproblem: &Subproblem, known: (Cost, Cost)) -> Result<Told> {
        let costs = self.costs(subproblem)?;
        let mut shape = Shape { max_depth: self.max_depth, ..self.scored.problem.shape };
        shape.max_leaves = match (shape.max_leaves, subproblem.max_leaves) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let Some(limited) = &self.scored.limited else {
            return self.ask_freely(subproblem, known, costs, shape);
        };
        let more = subproblem.most_missed.map(|most| self.scored.missed_at_most(most));
        let limited = limited.under(costs, subproblem.penalty, shape, more)?;
        let pulse = |_: &_| self.run.report(known.0, known.1).is_none();
        let inner = self.run.part(limited.scale(), Box::new(pulse));
        let found = limited.best_below(subproblem.cutoff, &inner);
        self.run.absorb(&inner);
        let (best, lower) = found?;
        let found = best.map(|best| {
            let best = self.scored.candidate(best.plan, best.labels);
            Cheap { upper: cost(subproblem, best.errors, best.leaves), cheapest: best.errors, best }
        });
        Ok(Told { lower: lower.min(subproblem.cutoff), found })
    }

    fn ask_freely(
        &self,
        subproblem: &Subproblem,
        known: (Cost, Cost),
        costs: Vec<Cost>,
        shape: Shape,
    ) -> Result<Told> {
        let Scored { problem, classes, loss, .. } = self.scored;
        let problem = scalar::problem(problem, classes, costs, subproblem.penalty, shape)?;
        let found = self.solve(&problem, subproblem, known)?;
        let leaves = self.scored.leaves(&found.plan);
        let n = leaves.len() as u32;
        let order = by_share(&leaves);
        let all = labellings(&leaves, &order, loss);
        let cheapest = *(all.iter())
            .min_by_key(|errors| cost(subproblem, **errors, n))
            .expect("a leaf has a label");
        let best = (0..all.len()).min_by(|&a, &b| loss.of(all[a]).total_cmp(&loss.of(all[b])));
        let best = best.expect("a leaf has a label");
        let positive = self.scored.positive as u32;
        let mut labels = vec![1 - positive; leaves.len()];
        for &leaf in &order[..best] {
            labels[leaf] = positive;
        }
        let upper = cost(subproblem, cheapest, n);
        let best = Candidate { plan: found.plan, labels, errors: all[best], leaves: n };
        let lower = found.lower.min(subproblem.cutoff);
        Ok(Told { lower, found: Some(Cheap { upper, cheapest, best }) })
    }

    fn solve(
        &self,
        problem: &Problem,
        subproblem: &Subproblem,
        known: (Cost, Cost),
    ) -> Result<Found> {
        let [a, b] = subproblem.weights;
        let error_costs = [a, b, subproblem.penalty];
        let mut lessons = self.lessons.borrow_mut();
        let learns = a > 0 && b > 0;
        let hints =
            if learns { Hints::new(error_costs, &lessons.learned) } else { Hints::default() };
        let (found, new) = scalar::solve_learning(
            problem,
            self.run,
            known,
            subproblem.cutoff,
            hints,
            learns.then_some(error_costs),
        )?;
        if let Some(new) = new {
            lessons.keep(new);
        }
        Ok(found)
    }

    /// By class and label.
    fn costs(&self, subproblem: &Subproblem) -> Result<Vec<Cost>> {
        let Scored { problem, loss, positive, side, units, .. } = self.scored;
        let total = i128::from(subproblem.penalty) * problem.points.len() as i128
            + i128::from(subproblem.weights[0]) * i128::from(loss.positives)
            + i128::from(subproblem.weights[1]) * i128::from(loss.negatives);
        let fine = || Error::invalid(TOO_FINE);
        if total > i128::from(MAX_TOTAL) {
            return Err(fine());
        }
        let mut costs = vec![0; 2 * side.len()];
        for (class, &side) in side.iter().enumerate().filter(|(_, side)| **side != NO_SIDE) {
            let wrong = if side == 0 { 1 - positive } else { *positive };
            let cost = subproblem.weights[side].checked_mul(units[side]);
            costs[class * 2 + wrong] = cost.ok_or_else(fine)?;
        }
        Ok(costs)
    }
}

fn cost(subproblem: &Subproblem, errors: Errors, leaves: u32) -> Cost {
    let [a, b] = subproblem.weights;
    a * errors.missed + b * errors.alarms + subproblem.penalty * i64::from(leaves)
}

/// Leaves by their share of positives, the largest first.
fn by_share(leaves: &[[i64; 2]]) -> Vec<usize> {
    let weight = |i: usize, side: usize| match leaves[i] {
        // What weighs nothing has a share, too, or there is no order.
        [0, 0] => side as i128,
        leaf => i128::from(leaf[side]),
    };
    let mut order: Vec<usize> = (0..leaves.len()).collect();
    order.sort_by(|&i, &j| (weight(j, 0) * weight(i, 1)).cmp(&(weight(i, 0) * weight(j, 1))));
    order
}

/// The sums if the first 0, 1, 2, … leaves of the order are positive. Whatever the weights, the
/// cheapest labelling is among these.
fn labellings(leaves: &[[i64; 2]], order: &[usize], loss: &Loss) -> Vec<Errors> {
    let mut errors = Errors { missed: loss.positives, alarms: 0 };
    let mut all = vec![errors];
    for &leaf in order {
        errors.missed -= leaves[leaf][0];
        errors.alarms += leaves[leaf][1];
        all.push(errors);
    }
    all
}
