//! One additive problem: so much for each missed positive, so much for each false alarm, so much for each leaf.

use std::cell::RefCell;

use crate::cost::{Cost, MAX_TOTAL};
use crate::error::{Error, Result};
use crate::metric::loss::{Errors, Loss, TOO_FINE};
use crate::pareto::scalar;
use crate::problem::{Problem, Shape};
use crate::run::Run;
use crate::search::Found;
use crate::search::best_first::{Hints, Learned};
use crate::task::ClassCosts;
use crate::tree::Plan;

/// A tree with labels, and what it adds up to.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub plan: Plan,
    /// Of its leaves, from left to right.
    pub labels: Vec<u32>,
    pub errors: Errors,
    pub leaves: u32,
}

#[derive(Debug, Clone, Copy)]
pub struct Question {
    pub weights: [i64; 2],
    pub penalty: i64,
    pub max_leaves: Option<u32>,
    /// Only trees that cost less than this are wanted.
    pub below: Cost,
}

pub struct Told {
    /// No tree costs less, or less than `below`: whichever is smaller.
    pub lower: Cost,
    /// What the tree found costs, and its sums.
    pub upper: Cost,
    pub cheapest: Errors,
    /// That tree with the labels that are best for the metric.
    pub best: Candidate,
}

/// Data that additive problems are asked about.
pub struct Asker<'a, 'run> {
    pub problem: &'a Problem,
    pub classes: &'a ClassCosts,
    pub positive: usize,
    /// What a unit of weight of a missed positive and of a false alarm counts.
    pub units: [i64; 2],
    /// That of the problem, or less.
    pub max_depth: Option<u32>,
    pub run: &'a Run<'run>,
    /// What earlier questions taught.
    pub learned: RefCell<Vec<Learned>>,
}

/// What more questions taught is not worth the looking up.
const MOST_LEARNED: usize = 6;

impl Asker<'_, '_> {
    /// `known`: bounds of the true objective meanwhile. `worth`: the metric's loss.
    pub fn ask(&self, question: &Question, known: (Cost, Cost), loss: &Loss) -> Result<Told> {
        let problem = self.pose(question, loss)?;
        let found = self.solve(&problem, question, known)?;
        let leaves = self.leaves(&found.plan);
        let cost = |errors: Errors| {
            let [a, b] = question.weights;
            a * errors.missed + b * errors.alarms + question.penalty * leaves.len() as i64
        };
        let order = by_share(&leaves);
        let all = labellings(&leaves, &order, loss);
        let cheapest = *all.iter().min_by_key(|errors| cost(**errors)).expect("a leaf has a label");
        let best = (0..all.len()).min_by(|&a, &b| loss.of(all[a]).total_cmp(&loss.of(all[b])));
        let best = best.expect("a leaf has a label");
        let mut labels = vec![1 - self.positive as u32; leaves.len()];
        for &leaf in &order[..best] {
            labels[leaf] = self.positive as u32;
        }
        Ok(Told {
            lower: found.lower.min(question.below),
            upper: cost(cheapest),
            cheapest,
            best: Candidate {
                plan: found.plan,
                labels,
                errors: all[best],
                leaves: leaves.len() as u32,
            },
        })
    }

    fn solve(&self, problem: &Problem, question: &Question, known: (Cost, Cost)) -> Result<Found> {
        let [a, b] = question.weights;
        let prices = [a, b, question.penalty];
        let mut learned = self.learned.borrow_mut();
        let learns = a > 0 && b > 0;
        let hints = if learns { Hints::new(prices, &learned) } else { Hints::default() };
        let (found, new) = scalar::solve_learning(
            problem,
            self.run,
            known,
            question.below,
            hints,
            learns.then_some(prices),
        )?;
        if let Some(new) = new {
            if learned.len() == MOST_LEARNED {
                self.run.add_bytes(-(learned.remove(0).bytes() as i64));
            }
            if self.run.reserve(new.bytes()) {
                learned.push(new);
            }
        }
        Ok(found)
    }

    fn pose(&self, question: &Question, loss: &Loss) -> Result<Problem> {
        let mut costs = vec![0; 4];
        let mut total = i128::from(question.penalty) * self.problem.points.len() as i128;
        let totals = [loss.positives, loss.negatives];
        for (side, (class, label)) in
            [(self.positive, 1 - self.positive), (1 - self.positive, self.positive)]
                .into_iter()
                .enumerate()
        {
            let weight = question.weights[side];
            total += i128::from(weight) * i128::from(totals[side]);
            costs[class * 2 + label] =
                weight.checked_mul(self.units[side]).ok_or_else(|| Error::invalid(TOO_FINE))?;
        }
        if total > i128::from(MAX_TOTAL) {
            return Err(Error::invalid(TOO_FINE));
        }
        let mut shape = Shape { max_depth: self.max_depth, ..self.problem.shape };
        shape.max_leaves = match (shape.max_leaves, question.max_leaves) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        scalar::problem(self.problem, self.classes, costs, question.penalty, shape)
    }

    /// Positives and negatives of each leaf in units, from left to right.
    fn leaves(&self, plan: &Plan) -> Vec<[i64; 2]> {
        (scalar::leaves(self.problem, plan).iter())
            .map(|w| [w[self.positive] * self.units[0], w[1 - self.positive] * self.units[1]])
            .collect()
    }
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

/// The sums if the first 0, 1, 2, … leaves of the order are positive. Whatever the weights, the cheapest
/// labelling is among these.
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

impl Drop for Asker<'_, '_> {
    fn drop(&mut self) {
        let bytes: u64 = self.learned.borrow().iter().map(Learned::bytes).sum();
        self.run.add_bytes(-(bytes as i64));
    }
}
