//! A search for the best tree for a metric on its way: the best tree so far, the fence, and what is
//! open.
//!
//! Without a leaf penalty there is one *leaf count*, for trees of any size. With one, there is a
//! leaf count for each number of leaves ℓ: a tree there is better than the best one, of objective
//! U, if its loss is below U − λℓ.

use std::cell::RefCell;

use super::ask::{Asker, Lessons, Subproblem, Told};
use super::candidate::Candidate;
use super::loss::{Kind, Loss, Ratio};
use super::scored::{Scored, UNITS};
use crate::bounds::fence::{BLUR, Fence, Line};
use crate::bounds::{Bound, affordable_leaves, ratio_line};
use crate::cost::{Cost, INFINITE};
use crate::error::Result;
use crate::run::Run;

/// Trees with so many leaves; with any number, where leaves cost nothing.
pub struct LeafCount {
    pub leaves: u32,
    /// No tree here is better than the best one.
    pub closed: bool,
    /// How often something was tried here that did not close it.
    pub tries: u32,
    /// No loss here is less, and where that may be.
    pub least: f64,
    pub corner: [f64; 2],
}

pub struct State<'a, 'run> {
    pub scored: &'a Scored,
    pub(super) asker: Asker<'a, 'run>,
    pub best: Candidate,
    pub fence: Fence,
    pub counts: Vec<LeafCount>,
    /// What to tell the run instead of the bounds here, which are of less deep trees.
    pub(super) told: Option<(Cost, Cost)>,
}

impl<'a, 'run> State<'a, 'run> {
    pub fn new(scored: &'a Scored, best: Candidate, run: &'a Run<'run>) -> Self {
        let max_depth = scored.problem.shape.max_depth;
        let lessons = RefCell::new(Lessons::new(run));
        let asker = Asker { scored, max_depth, run, lessons };
        let mut state =
            State { scored, asker, best, fence: Fence::default(), counts: Vec::new(), told: None };
        let leaves = if scored.penalty.0 == 0 { 0..=0 } else { 1..=state.most_leaves() };
        let count =
            |leaves| LeafCount { leaves, closed: false, tries: 0, least: 0.0, corner: [0.0, 0.0] };
        state.counts = leaves.map(count).collect();
        state.refresh();
        state
    }

    /// Trees with more leaves cost more than the best one by these alone.
    fn most_leaves(&self) -> u32 {
        let shape = &self.scored.problem.shape;
        let affordable = affordable_leaves::most(self.upper(), self.lambda());
        let deep = shape.max_depth.filter(|&depth| depth < 31).map_or(u32::MAX, |d| 1 << d);
        let points = self.scored.problem.points.len() as u32;
        affordable.min(deep).min(points).min(shape.max_leaves.unwrap_or(u32::MAX)).max(1)
    }

    pub fn run(&self) -> &'a Run<'run> {
        self.asker.run
    }

    pub fn loss(&self) -> &'a Loss {
        &self.scored.loss
    }

    pub fn lambda(&self) -> f64 {
        self.scored.penalty.0 as f64 / self.scored.penalty.1 as f64
    }

    /// Trees of a leaf count are better than the best one if they lose less than this.
    pub fn room(&self, leaves: u32) -> f64 {
        self.upper() - self.lambda() * f64::from(leaves)
    }

    /// As above, of a ratio, as a fraction.
    pub fn exact_room(&self, ratio: &Ratio, leaves: u32) -> (i128, i128) {
        let (top, under) = ratio.parts(self.best.errors);
        let (p, q) = (i128::from(self.scored.penalty.0), i128::from(self.scored.penalty.1));
        let more = i128::from(self.best.leaves) - i128::from(leaves);
        let (top, under) =
            if p == 0 { (top, under) } else { (top * q + p * more * under, under * q) };
        let shared = ratio_line::gcd(top, under);
        (top / shared, under / shared)
    }

    pub fn upper(&self) -> f64 {
        self.objective(&self.best)
    }

    fn objective(&self, candidate: &Candidate) -> f64 {
        self.loss().of(candidate.errors) + self.lambda() * f64::from(candidate.leaves)
    }

    pub fn lower(&self) -> f64 {
        let open = self.counts.iter().filter(|count| !count.closed);
        let least = open.map(|count| count.least + self.lambda() * f64::from(count.leaves));
        least.fold(self.upper(), f64::min)
    }

    /// Ask, and keep what the answer says. Whether the best tree has become better.
    pub fn ask(&mut self, subproblem: Subproblem) -> Result<(Told, bool)> {
        let known = self.known();
        let told = self.asker.ask(&subproblem, known)?;
        let Subproblem { weights, penalty, max_leaves, most_missed, .. } = subproblem;
        // Where there is no tree at all there is no line, and what is told of some trees is no line
        // for all.
        if most_missed.is_none() && told.lower < INFINITE {
            self.fence.add(Line { weights, penalty, bound: told.lower, max_leaves });
        }
        let better = told.found.as_ref().filter(|found| self.is_better(&found.best));
        let improved = better.is_some();
        if let Some(better) = better {
            self.best = better.best.clone();
        }
        self.refresh();
        self.note();
        Ok((told, improved))
    }

    fn is_better(&self, candidate: &Candidate) -> bool {
        let Kind::Ratio(ratio) = self.loss().kind else {
            return self.objective(candidate) < self.upper();
        };
        // Its ratio is less than what is left for so many leaves.
        let (top, under) = ratio.parts(candidate.errors);
        let (room_top, room_under) = self.exact_room(&ratio, candidate.leaves);
        top * room_under < room_top * under
    }

    /// Close what the fence and the best tree leave no room for.
    pub fn refresh(&mut self) {
        for index in 0..self.counts.len() {
            let leaves = self.counts[index].leaves;
            if self.counts[index].closed {
                continue;
            }
            let loss = self.loss();
            let (least, corner) = self.fence.least(loss.totals(), leaves, |sums| loss.value(sums));
            let room = self.room(leaves);
            let count = &mut self.counts[index];
            (count.least, count.corner) = (least.max(count.least), corner);
            let by_fence = count.least >= room + BLUR;
            count.closed = room <= 0.0 || by_fence;
            if by_fence {
                self.run().decided(Bound::Fence);
            } else if room <= 0.0 && self.lambda() > 0.0 {
                self.run().decided(Bound::AffordableLeaves);
            }
        }
    }

    /// The known bounds, for progress.
    pub fn known(&self) -> (Cost, Cost) {
        if let Some(told) = self.told {
            return told;
        }
        ((self.lower() * UNITS) as Cost, (self.upper() * UNITS).ceil() as Cost)
    }

    /// Tell the run what is known.
    pub fn note(&self) {
        let (lower, upper) = self.known();
        self.run().report(lower, upper);
    }

    /// Whether there is more to do, and time for it.
    pub fn goes_on(&self) -> bool {
        self.run().stopped().is_none() && self.counts.iter().any(|count| !count.closed)
    }
}
