//! What is tried for a better tree, in turns.

use std::time::{Duration, Instant};

use super::alternate::{self, alternated};
use super::fit::{Room, fitted};
use super::greedy::{self, Scorer};
use super::help::Help;
use super::part::{Cuts, Part};
use super::pursuit::Pursuit;
use super::shake::{Lot, Shake, Shaken};
use super::sizes::{few_cuts, is_shallow, is_small, most_cuts, set_up};
use super::subtrees::{Repair, Solved, look_ahead};
use super::turns::Turns;
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
    /// Good trees over at most so many cuts of each column: all of these steps on a smaller
    /// problem.
    Sketch(usize),
    /// The best tree of a sketch.
    Best,
    /// The best tree over the cuts that a greedy tree of so many leaves asks, and the best one
    /// known.
    Guessed(u32),
    /// Subtrees of so much depth of the best tree known are searched again.
    Repair(u32),
    /// Another split somewhere in the best tree known, and what is best below it then.
    Shake,
}

impl Step {
    /// Its share of the time, beside those of the others.
    fn share(self) -> u32 {
        match self {
            // What all others build on.
            Step::Sketch(_) | Step::Best => 48,
            Step::Greedy => 24,
            Step::Repair(2) | Step::Guessed(_) => 12,
            Step::LookAhead | Step::Shallower(_) => 2,
            _ => 4,
        }
    }
}

/// The greedy trees with the fewest and the most leaves.
const FIRST_GUESSED: u32 = 16;
const MOST_GUESSED: u32 = 256;

/// Without a limit of depth, less of it is this much at most.
const DEEPEST: u32 = 8;

/// Subtrees of more depth are not searched again.
const MOST_LEVELS: u32 = 4;

/// A finer sketch has so many times the cuts of each column.
const FINER: usize = 4;

/// A sketch has the cuts of the best tree known if this has at most so many leaves.
const MOST_TAKEN_OVER: u32 = 64;

/// Columns with more cuts than this are not taken as they are where each node is asked for all.
const MANY_CUTS: usize = 1 << 14;

/// A step has this share of what is left of a slice, and at least so much time.
const SHARE_OF_SLICE: u32 = 2;
const LEAST: Duration = Duration::from_millis(10);

/// What a sketch's own steps have of its time; the rest is for their trees with all cuts.
const SHARE_OF_SKETCH: f64 = 0.75;

/// A finer sketch takes the place of one that has had so many turns.
const TURNS: u32 = 6;

/// A slice with less time than this is over.
const TOO_SHORT: Duration = Duration::from_millis(1);

/// A tree is not shaken any more when so many tries, and so many for each of its leaves, have come
/// to nothing.
const TRIES: u32 = 32;
const TRIES_BY_LEAF: u32 = 8;

pub struct Steps {
    problem: Problem,
    turns: Turns<Step>,
    /// Only trees that cost less are of use.
    cutoff: Cost,
    best: Option<(Plan, Cost)>,
    solved: Solved,
    lot: Lot,
    /// No single split of a tree of this cost can be moved for the better.
    settled: Option<Cost>,
    /// Tries since a tree was last better for one.
    fruitless: u32,
    pursuits: Vec<(Step, Pursuit)>,
    sketches: Vec<Sketch>,
}

/// The problem over fewer cuts.
struct Sketch {
    most: usize,
    part: Part,
    steps: Steps,
    /// What the best tree costs that was taken over.
    taken: Cost,
    turns: u32,
}

impl Steps {
    /// `known`: a tree that costs as much as `cutoff`.
    pub fn new(problem: &Problem, cutoff: Cost, known: Option<&Tree>) -> Steps {
        let plan = |known| planned(known, &problem.columns, &problem.features);
        let best = known.map(|known| (plan(known), cutoff));
        let mut steps = Steps::with(problem.clone(), cutoff, best);
        let (few, most) = (few_cuts(problem), most_cuts(problem));
        // Without parts, there is little else to try.
        if few < most || is_whole(problem) {
            steps.add_first(Step::Sketch(few));
        }
        if !is_whole(problem) && is_shallow(problem) {
            // The best tree over some tens of cuts takes little time where depth is small.
            steps.add_first(Step::Guessed(FIRST_GUESSED));
        }
        if steps.best.is_some() && !is_whole(problem) {
            // A tree that is known is repaired first.
            steps.add_first(Step::Repair(2));
        }
        if steps.best.is_none() && !is_whole(problem) && is_small(problem) {
            steps.add_first(Step::Greedy);
        }
        steps
    }

    /// The steps of a problem whose best tree nobody else looks for.
    fn of_sketch(problem: Problem) -> Steps {
        let mut steps = Steps::with(problem, INFINITE, None);
        steps.add(Step::Best);
        if is_whole(&steps.problem) {
            return steps;
        }
        let second = if is_shallow(&steps.problem) { Step::Best } else { Step::Repair(2) };
        steps.add_first(second);
        steps.add_first(Step::Greedy);
        steps
    }

    fn with(problem: Problem, cutoff: Cost, best: Option<(Plan, Cost)>) -> Steps {
        let whole = is_whole(&problem);
        let mut steps = Steps {
            problem,
            turns: Turns::new(),
            cutoff,
            best,
            solved: Solved::new(),
            lot: Lot::new(),
            settled: None,
            fruitless: 0,
            pursuits: Vec::new(),
            sketches: Vec::new(),
        };
        if whole {
            steps.add(Step::Shallower(2));
            return steps;
        }
        let (greedy, guessed) = (Step::Greedy, Step::Guessed(FIRST_GUESSED));
        let first = [greedy, Step::Repair(2), Step::LookAhead, Step::Shallower(2), Step::Shake];
        first.into_iter().chain([guessed, Step::Repair(3)]).for_each(|step| steps.add(step));
        steps
    }

    fn add(&mut self, step: Step) {
        self.turns.add(step, step.share());
    }

    /// Before all others, once.
    fn add_first(&mut self, step: Step) {
        self.turns.add_first(step, step.share());
    }

    pub fn take_best(&mut self) -> Option<(Plan, Cost)> {
        self.best.take().filter(|best| best.1 < self.cutoff)
    }

    /// Go on for so long. False if there is nothing left to try.
    pub fn take(&mut self, run: &Run, time: Duration) -> bool {
        self.go_on(Help::new(run, time))
    }

    fn go_on(&mut self, help: Help) -> bool {
        let mut idle = 0;
        while idle <= self.turns.len() {
            let time = (help.left() / SHARE_OF_SLICE).max(LEAST);
            let Some(step) = self.turns.next(time) else { return false };
            // Greedy trees take little time, and without them there is nothing to show.
            let is_first = self.best.is_none() && help.may_begin();
            if !is_first && (help.left() < TOO_SHORT || !help.goes_on()) {
                return true;
            }
            let share = help.within(time);
            let (before, start) = (self.upper(), Instant::now());
            let is_complete = self.step(step, share);
            // A step that found no time for anything lets others have their turn, too. Where none
            // of them does, the slice is too short for all.
            let took = start.elapsed();
            idle = if took < TOO_SHORT && !is_complete { idle + 1 } else { 0 };
            self.turns.took(step, took.max(time / 4), self.upper() < before);
            if is_complete && step == Step::Best {
                return false;
            }
            if is_complete {
                self.turns.remove(step);
                if let Some(next) = self.next(step) {
                    self.add(next);
                }
            }
            if self.upper() < before && !is_whole(&self.problem) {
                self.again();
            }
            if self.best.is_none() && !help.goes_on() {
                return true;
            }
        }
        true
    }

    fn upper(&self) -> Cost {
        self.best.as_ref().map_or(self.cutoff, |best| best.1)
    }

    /// Repair what was found since.
    fn again(&mut self) {
        self.add(Step::Repair(2));
        self.add(Step::Repair(3));
        self.add(Step::Shake);
        self.fruitless = 0;
    }

    /// What comes after a step that is complete.
    fn next(&self, step: Step) -> Option<Step> {
        let shape = &self.problem.shape;
        match step {
            Step::Shallower(depth) => {
                let deepest = shape.max_depth.map_or(DEEPEST, |most| most.saturating_sub(1));
                (depth < deepest).then_some(Step::Shallower(depth + 1))
            }
            Step::Sketch(cuts) => {
                let finer = cuts * FINER;
                (finer < most_cuts(&self.problem)).then_some(Step::Sketch(finer))
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
            Step::Sketch(most) => self.sketch(help, most),
            Step::Best => self.pursue(help, step, self.problem.shape),
            Step::Guessed(leaves) => {
                let cuts = self.guessed(help, leaves);
                self.over(help, &Cuts::Only(&cuts))
            }
            Step::Repair(levels) => self.repair(help, levels),
            Step::Shake => self.shake(help),
        }
    }

    fn all(&self) -> Vec<u32> {
        (0..self.problem.points.len() as u32).collect()
    }

    fn greedy(&mut self, help: Help) -> bool {
        let room = Room::of(&self.problem);
        // It is grown to its end, so that no tree of CART is better.
        let is_first = self.best.is_none();
        let start = Instant::now();
        let goes_on = || if is_first { help.may_end(start) } else { help.is_within_run() };
        let plan = greedy::grow(&Scorer::new(&self.problem), self.all(), room, &goes_on);
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
        self.pursue(help, Step::Shallower(depth), shape)
    }

    /// Go on with the search for the best tree of this shape.
    fn pursue(&mut self, help: Help, step: Step, shape: Shape) -> bool {
        if step == Step::Best && help.left() < set_up(&self.problem) {
            return false;
        }
        let at = self.pursuits.iter().position(|(of, _)| *of == step).unwrap_or_else(|| {
            let problem = Problem { shape, ..self.problem.clone() };
            self.pursuits.push((step, Pursuit::new(problem)));
            self.pursuits.len() - 1
        });
        // A tree of less depth may be no better, but with what can be added to it.
        let cutoff = if step == Step::Best { self.upper() } else { INFINITE };
        let found = self.pursuits[at].1.go_on(help, cutoff);
        if found.is_complete {
            self.pursuits.remove(at);
        }
        if let Some(plan) = found.plan {
            self.offer_repaired(help, plan);
        }
        found.is_complete
    }

    /// Good trees over fewer cuts, and what they are with all of them.
    fn sketch(&mut self, help: Help, most: usize) -> bool {
        let at = self.sketches.iter().position(|sketch| sketch.most == most);
        let mut sketch = match at {
            Some(at) => self.sketches.swap_remove(at),
            None => {
                // The best tree so far is one of the sketch, too.
                let best = self.best.as_ref().map(|(plan, _)| plan);
                let best = best.filter(|plan| plan.leaves() <= MOST_TAKEN_OVER);
                let wanted = self.cuts_of(best);
                let cuts = Cuts::Also(most, &wanted);
                let part = Part::new(&self.problem, &self.all(), &cuts, self.problem.shape);
                let Ok(part) = part else { return true };
                let mut steps = Steps::of_sketch(part.problem.clone());
                if let Some((plan, _)) = &self.best {
                    steps.offer(help.of_other(), part.plan_here(plan));
                }
                let taken = steps.upper();
                Sketch { most, part, steps, taken, turns: 0 }
            }
        };
        let own = help.within(help.left().mul_f64(SHARE_OF_SKETCH));
        let goes_on = sketch.steps.go_on(own.of_other());
        if let Some((plan, cost)) = sketch.steps.best.clone()
            && cost < sketch.taken
        {
            sketch.taken = cost;
            let plan = sketch.part.plan(plan);
            self.offer(help, plan.clone());
            let plan = self.alternated(help, &plan);
            self.offer(help, plan);
        }
        sketch.turns += 1;
        let has_next = self.next(Step::Sketch(most)).is_some();
        if !goes_on || sketch.turns >= TURNS && has_next {
            return true;
        }
        self.sketches.push(sketch);
        false
    }

    fn shake(&mut self, help: Help) -> bool {
        while help.goes_on() {
            let Some((plan, _)) = self.best.clone() else { return true };
            let scorer = Scorer::new(&self.problem);
            let (of, room, all) = (&self.problem, Room::of(&self.problem), self.all());
            let most = TRIES + TRIES_BY_LEAF * plan.leaves();
            let (solved, lot) = (&mut self.solved, &mut self.lot);
            let mut shake = Shake { of, scorer: &scorer, solved, lot };
            let better = loop {
                if self.fruitless >= most {
                    return true;
                }
                match shake.once(help, &plan, (all.clone(), room)) {
                    Shaken::Better(plan) => break plan,
                    Shaken::Nowhere => return true,
                    Shaken::NoBetter if !help.goes_on() => return false,
                    Shaken::NoBetter => self.fruitless += 1,
                }
            };
            self.fruitless = 0;
            self.offer(help, better);
        }
        false
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
        let scorer = Scorer::new(&self.problem);
        let plan = greedy::grow(&scorer, self.all(), room, &|| help.goes_on());
        self.cuts_of(self.best.iter().map(|(best, _)| best).chain([&plan]))
    }

    /// By column, in ascending order.
    fn cuts_of<'p>(&self, plans: impl IntoIterator<Item = &'p Plan>) -> Vec<Vec<u32>> {
        let mut cuts = vec![Vec::new(); self.problem.columns.len()];
        plans.into_iter().for_each(|plan| self.add_cuts(plan, &mut cuts));
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
        loop {
            let Some((plan, before)) = self.best.clone() else { return true };
            if self.settled != Some(before) {
                let plan = self.alternated(help, &plan);
                self.offer(help, plan);
                if self.upper() < before {
                    continue;
                }
                if !help.goes_on() {
                    return false;
                }
                self.settled = Some(before);
            }
            let (plan, is_complete) = self.repaired(help, plan, levels);
            self.offer(help, plan);
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
            let moved = self.alternated(help, &plan);
            plan = self.repaired(help, moved, 2).0;
            let room = Room::of(&self.problem);
            let (now, fitted) = fitted(&self.problem, &plan, &self.all(), room);
            if now >= cost {
                break;
            }
            (cost, plan) = (now, fitted);
            self.offer(help, plan.clone());
        }
    }

    /// The plan with each split where it does best.
    fn alternated(&self, help: Help, plan: &Plan) -> Plan {
        let (of, room) = (&self.problem, Room::of(&self.problem));
        match alternate::applies(of) {
            true => alternated(of, plan, &self.all(), room, &|| help.goes_on()),
            false => plan.clone(),
        }
    }

    /// The plan with better subtrees, and whether all were looked at.
    fn repaired(&mut self, help: Help, plan: Plan, levels: u32) -> (Plan, bool) {
        let (of, all, room) = (&self.problem, self.all(), Room::of(&self.problem));
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
            false => {
                let (cost, plan) = fitted(of, &plan, &self.all(), Room::of(of));
                if cost >= self.upper() {
                    return;
                }
                plan
            }
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

/// Whether only whole trees can be judged, because what is above a subtree changes its cost.
pub fn is_whole(problem: &Problem) -> bool {
    problem.feature_costs.is_some() || problem.context.is_some()
}
