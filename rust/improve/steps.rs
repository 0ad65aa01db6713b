//! What is tried for a better tree, one step after the other.

use std::collections::VecDeque;
use std::time::Duration;

use super::alternate::{self, alternated};
use super::fit::{Room, fitted};
use super::greedy::{self, Scorer};
use super::help::Help;
use super::part::{Cuts, Part};
use super::subtrees::{Repair, Solved, look_ahead};
use crate::check;
use crate::cost::{Cost, INFINITE};
use crate::finish::{cost_of, grow};
use crate::problem::{Problem, Shape};
use crate::run::Run;
use crate::tree::{Plan, Tree, planned};

/// A way to a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// As CART does it.
    Greedy,
    /// Each split is the first of the best tree of depth two.
    LookAhead,
    /// The best tree of less depth.
    Shallower(u32),
    /// The best tree over at most so many cuts of each column.
    Coarser(usize),
    /// The best tree over the cuts that a greedy tree of so many leaves asks, and the best one
    /// known.
    Guessed(u32),
    /// Subtrees of so much depth of the best tree known are searched again.
    Repair(u32),
}

/// The greedy tree with the most leaves.
const MOST_GUESSED: u32 = 256;

/// Without a limit of depth, less of it is this much at most.
const DEEPEST: u32 = 8;

/// Subtrees of more depth are not searched again.
const MOST_LEVELS: u32 = 4;

/// The first search over fewer cuts has at most so many of each column.
const FEW_CUTS: usize = 8;

/// Columns with more cuts than this are not taken as they are where each node is asked for all.
const MANY_CUTS: usize = 1 << 14;

/// A step with less time than this finds nothing.
const TOO_SHORT: Duration = Duration::from_millis(1);

pub struct Steps {
    problem: Problem,
    /// What is still to be tried. A step that time cut short comes back later.
    waiting: VecDeque<Step>,
    /// Only trees that cost less are of use.
    cutoff: Cost,
    best: Option<(Plan, Cost)>,
    solved: Solved,
}

impl Steps {
    /// `known`: a tree that costs as much as `cutoff`.
    pub fn new(problem: &Problem, cutoff: Cost, known: Option<&Tree>) -> Steps {
        let whole = is_whole(problem);
        let mut waiting = VecDeque::new();
        if !whole {
            waiting.push_back(Step::Greedy);
        }
        // With few cuts a search finds in a moment what takes long with all of them.
        let are_many = most_cuts(problem) > FEW_CUTS;
        if are_many {
            waiting.push_back(Step::Coarser(FEW_CUTS));
        }
        if !whole {
            waiting.extend([Step::Repair(2), Step::LookAhead]);
        }
        waiting.push_back(Step::Shallower(2));
        if !are_many {
            waiting.push_back(Step::Coarser(FEW_CUTS / 2));
        }
        if !whole {
            waiting.extend([Step::Guessed(16), Step::Repair(3)]);
        }
        let plan = |known| planned(known, &problem.columns, &problem.features);
        let best = known.map(|known| (plan(known), cutoff));
        let solved = Solved::new();
        Steps { problem: problem.clone(), waiting, cutoff, best, solved }
    }

    pub fn take_best(&mut self) -> Option<(Plan, Cost)> {
        self.best.take().filter(|best| best.1 < self.cutoff)
    }

    /// Go on for so long. False if there is nothing left to try.
    pub fn take(&mut self, run: &Run, time: Duration) -> bool {
        let help = Help::new(run, time);
        while let Some(step) = self.waiting.pop_front() {
            // Greedy trees take little time, and without them there is nothing to show.
            if step != Step::Greedy && (help.left() < TOO_SHORT || !help.goes_on()) {
                self.waiting.push_front(step);
                return true;
            }
            let share = if self.waiting.is_empty() { help } else { help.share(3) };
            let before = self.upper();
            let is_complete = self.step(step, share);
            if self.upper() < before && !is_whole(&self.problem) {
                self.again(2);
                self.again(3);
            }
            match is_complete {
                true => self.waiting.extend(self.next(step)),
                false => self.waiting.push_back(step),
            }
        }
        false
    }

    fn upper(&self) -> Cost {
        self.best.as_ref().map_or(self.cutoff, |best| best.1)
    }

    /// Repair what was found since, before anything else is tried.
    fn again(&mut self, levels: u32) {
        let step = Step::Repair(levels);
        self.waiting.retain(|&other| other != step);
        match levels {
            2 => self.waiting.push_front(step),
            _ => self.waiting.push_back(step),
        }
    }

    /// What comes after a step that is complete.
    fn next(&self, step: Step) -> Option<Step> {
        let shape = &self.problem.shape;
        match step {
            Step::Shallower(depth) => {
                let deepest = shape.max_depth.map_or(DEEPEST, |most| most.saturating_sub(1));
                (depth < deepest).then_some(Step::Shallower(depth + 1))
            }
            Step::Coarser(cuts) => {
                (cuts * 2 < most_cuts(&self.problem)).then_some(Step::Coarser(cuts * 2))
            }
            Step::Guessed(leaves) => (leaves < MOST_GUESSED).then_some(Step::Guessed(leaves * 2)),
            Step::Repair(levels) if levels > 2 && levels < MOST_LEVELS => {
                let deeper = shape.max_depth.is_none_or(|most| most > levels + 1);
                deeper.then_some(Step::Repair(levels + 1))
            }
            _ => None,
        }
    }

    /// Whether the step needs no more time.
    fn step(&mut self, step: Step, help: Help) -> bool {
        // The codes of a part, its points and its sorted columns.
        let (n, columns) = (self.problem.points.len(), self.problem.columns.len());
        if !help.fits(n * columns * 16) {
            return true;
        }
        match step {
            Step::Greedy => self.greedy(help),
            Step::LookAhead => self.look_ahead(help),
            Step::Shallower(depth) => self.shallower(help, depth),
            Step::Coarser(most) => self.over(help, &Cuts::Most(most)),
            Step::Guessed(leaves) => {
                let cuts = self.guessed(help, leaves);
                self.over(help, &Cuts::Only(&cuts))
            }
            Step::Repair(levels) => self.repair(help, levels),
        }
    }

    fn all(&self) -> Vec<u32> {
        (0..self.problem.points.len() as u32).collect()
    }

    fn greedy(&mut self, help: Help) -> bool {
        let room = Room::of(&self.problem);
        let plan =
            greedy::grow(&Scorer::new(&self.problem), self.all(), room, &|| help.is_within_run());
        self.offer(help, plan);
        true
    }

    fn look_ahead(&mut self, help: Help) -> bool {
        let (of, room, all) = (&self.problem, Room::of(&self.problem), self.all());
        let cuts: usize = of.features.iter().map(|feature| feature.cuts as usize).sum();
        let few = Cuts::Most(64);
        let cuts = if cuts > MANY_CUTS { &few } else { &Cuts::All };
        let plan = look_ahead(&Scorer::new(of), of, help, (&all, room), cuts);
        let is_complete = help.goes_on();
        self.offer(help, plan);
        is_complete
    }

    fn shallower(&mut self, help: Help, depth: u32) -> bool {
        let shape = self.problem.shape;
        if shape.max_depth.is_some_and(|most| depth >= most) {
            return true;
        }
        let reached = |&leaves: &u32| depth >= 31 || leaves < 1 << depth;
        let max_leaves = shape.max_leaves.filter(reached);
        let shape = Shape { max_depth: Some(depth), max_leaves, ..shape };
        let smaller = Problem { shape, ..self.problem.clone() };
        // A tree of less depth may be no better, but with what can be added to it.
        let found = help.search(&smaller, INFINITE);
        if let Some(plan) = found.plan {
            self.offer_repaired(help, plan);
        }
        found.is_complete
    }

    /// The best tree over some of the cuts.
    fn over(&mut self, help: Help, cuts: &Cuts) -> bool {
        let part = Part::new(&self.problem, &self.all(), cuts, self.problem.shape);
        let Ok(part) = part else { return true };
        let found = help.share(2).search_part(&part, INFINITE);
        if let Some(plan) = found.plan {
            self.offer_repaired(help, plan);
        }
        found.is_complete
    }

    /// By column: the cuts of a greedy tree, and of the best tree known.
    fn guessed(&self, help: Help, leaves: u32) -> Vec<Vec<u32>> {
        let room = Room { depth: u32::MAX, leaves: leaves.div_ceil(3) };
        let mut cuts = vec![Vec::new(); self.problem.columns.len()];
        let scorer = Scorer::new(&self.problem);
        let plan = greedy::grow(&scorer, self.all(), room, &|| help.is_within_run());
        self.add_cuts(&plan, &mut cuts);
        if let Some((plan, _)) = &self.best {
            self.add_cuts(plan, &mut cuts);
        }
        for cuts in &mut cuts {
            cuts.sort_unstable();
            cuts.dedup();
        }
        cuts
    }

    fn add_cuts(&self, plan: &Plan, cuts: &mut [Vec<u32>]) {
        if let Plan::Split { feature, cut, left, right } = plan {
            let column = self.problem.features.get(feature.index()).column;
            cuts[column.index()].push(*cut);
            self.add_cuts(left, cuts);
            self.add_cuts(right, cuts);
        }
    }

    fn repair(&mut self, help: Help, levels: u32) -> bool {
        let Some((plan, _)) = self.best.clone() else { return true };
        let mut plan = plan;
        loop {
            let before = self.upper();
            let (better, is_complete) = self.repaired(help, plan, levels);
            plan = better;
            self.offer(help, plan.clone());
            if !is_complete || !help.goes_on() {
                return false;
            }
            if self.upper() >= before {
                return true;
            }
        }
    }

    /// Offer a tree as it is, and with what can soon be made of it.
    fn offer_repaired(&mut self, help: Help, plan: Plan) {
        self.offer(help, plan.clone());
        if is_whole(&self.problem) {
            return;
        }
        let mut plan = plan;
        let mut cost = INFINITE;
        while help.goes_on() {
            plan = self.repaired(help, plan, 2).0;
            let room = Room::of(&self.problem);
            let (now, fitted) = fitted(&self.problem, &plan, &self.all(), room);
            if now >= cost {
                break;
            }
            (cost, plan) = (now, fitted);
            self.offer(help, plan.clone());
        }
    }

    /// The plan with better splits, and better subtrees, and whether all were looked at.
    fn repaired(&mut self, help: Help, plan: Plan, levels: u32) -> (Plan, bool) {
        let (of, all, room) = (&self.problem, self.all(), Room::of(&self.problem));
        let plan = match alternate::applies(of) {
            true => alternated(of, &plan, &all, room, &|| help.goes_on()),
            false => plan,
        };
        let plan = fitted(of, &plan, &all, room).1;
        let mut spare = room.leaves.saturating_sub(plan.leaves());
        let mut repair = Repair { of, levels, solved: &mut self.solved, is_complete: true };
        let plan = repair.plan(help, plan, (&all, room), &mut spare);
        (plan, repair.is_complete)
    }

    /// Keep what is left of the plan within the limits, if it is the best so far.
    fn offer(&mut self, help: Help, plan: Plan) {
        let of = &self.problem;
        let plan = match is_whole(of) {
            true => plan,
            false => fitted(of, &plan, &self.all(), Room::of(of)).1,
        };
        let Ok(tree) = grow(of, plan.clone()) else { return };
        let keeps_to = |context| check::allowed(&tree, context).is_ok();
        if !of.context.as_deref().is_none_or(keeps_to) {
            return;
        }
        let cost = cost_of(of, &tree);
        if cost < self.upper() && of.task.failure().is_none() {
            self.best = Some((plan, cost));
            help.found(cost);
        }
    }
}

/// The most cuts that a column has.
fn most_cuts(problem: &Problem) -> usize {
    problem.features.iter().map(|feature| feature.cuts as usize).max().unwrap_or(0)
}

/// Whether only whole trees can be judged, because what is above a subtree changes its cost.
pub fn is_whole(problem: &Problem) -> bool {
    problem.feature_costs.is_some() || problem.context.is_some()
}
