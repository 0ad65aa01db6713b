//! The main loop: follow the least lower bound down, expand, and tighten bounds on the way back.
//!
//! A worker stays below a child until the child's bound has risen past the next best alternative,
//! so that views are built once for many steps. Every bound in the shared graph is valid at every
//! moment.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;

use super::alternatives::{Next, Pick};
use super::budget::{NodeKey, UNLIMITED};
use super::frame::{Frame, Part};
use super::learned::Hints;
use super::look::Rules;
use super::news::News;
use super::node::Node;
use super::table::{Entry, Table};
use crate::bits::Level;
use crate::bounds::{Bound, Decisions, told};
use crate::cost::{Cost, INFINITE};
use crate::kernel::{Kernel, Unfinished};
use crate::run::{Account, Held, Run};
use crate::search::common::sync::{Arc, AtomicU32, lock};
use crate::view::BitView;

/// What all workers share.
pub struct Shared<'a, 'run> {
    pub bits: &'a BitView,
    pub table: Table,
    pub rules: Rules,
    pub run: &'a Run<'run>,
    /// The bytes of the table and its nodes.
    pub account: Account<'a, 'run>,
    pub root: Arc<Node>,
    /// Workers that have not retired.
    pub workers: AtomicU32,
    /// Extraction is to take what it has.
    pub cut_short: AtomicBool,
    /// What earlier searches proved of the same rows.
    pub hints: Hints<'a>,
    /// What other processes proved of nodes.
    pub told: Option<&'a News>,
    /// The questions that trees may begin with, if not all.
    pub part: Option<Part>,
}

impl Shared<'_, '_> {
    /// Both bounds are true of one optimum at every moment, unless they are guessed; but the root
    /// is not asked for trees that cost the cutoff or more, so that its upper bound may be less.
    pub(super) fn check(&self, node: &Node) {
        let (lower, upper) = (node.lower(), node.upper());
        debug_assert!(
            lower <= upper || self.rules.floors || std::ptr::eq(node, &*self.root),
            "a lower bound of {lower} is above an upper one of {upper}"
        );
    }
}

/// One worker: the shared graph, and its own scratch memory for each depth of its path.
pub struct Worker<'a, 'run> {
    pub shared: &'a Shared<'a, 'run>,
    pub(super) kernel: Kernel<'a>,
    pub level: Level,
    pub(super) frames: Vec<Frame<'a>>,
    pub(super) mask: Vec<u64>,
    pub(super) lost: Vec<Cost>,
    /// Whether this worker writes down the tree: limits that ended the search do not end that.
    pub(super) extracts: bool,
    /// This worker has no room to work in and leaves the rest to the others.
    pub(super) retired: bool,
    /// The bytes of scratch memory.
    pub(super) held: Held<'a, 'run>,
    /// How many of them are not those of frames.
    pub(super) counted: usize,
    /// How often each bound decided here.
    pub(super) decided: Decisions,
}

impl<'a, 'run> Worker<'a, 'run> {
    pub fn new(
        shared: &'a Shared<'a, 'run>,
        kernel: Kernel<'a>,
        level: Level,
        extracts: bool,
    ) -> Self {
        let mut worker = Worker {
            shared,
            kernel,
            level,
            frames: Vec::new(),
            mask: Vec::new(),
            lost: Vec::new(),
            extracts,
            retired: false,
            held: Held::new(shared.run),
            counted: 0,
            decided: Decisions::default(),
        };
        let state = shared.bits.context.as_ref().map_or_else(Default::default, |c| c.start());
        let view = Cow::Borrowed(&shared.bits.root);
        let mut frame = Frame { view, state, part: shared.part, ..Frame::default() };
        worker.count(&mut frame);
        worker.frames.push(frame);
        worker
    }

    /// Work on the whole problem until it is solved or the run is stopped.
    pub fn work(&mut self) {
        let root = self.shared.root.clone();
        while !root.solved() && self.goes_on() {
            let target = root.upper();
            if self.enter(0, &root, target).is_ok() {
                self.descend(0, &root, target);
            }
        }
    }

    /// Raise a node's lower bound to `target` or solve it. Its rows are in frame `at`, entered.
    fn descend(&mut self, at: usize, node: &Arc<Node>, target: Cost) {
        let mut frame = std::mem::take(&mut self.frames[at]);
        frame.siblings.clear();
        frame.sibling_bytes = 0;
        node.arrive(self.shared.run.clock());
        // Unless it came to its end, nothing is known from it.
        let _ = self.bound_both_sides(&mut frame, node);
        while self.goes_on() {
            match self.pick(&frame, node, target) {
                Next::Work(pick) => {
                    let bounds = self.child(at, &mut frame, &pick);
                    self.tighten(&frame, node, &pick, bounds.ok());
                }
                Next::Widen => {
                    if self.widen(&mut frame, node, target).is_err() {
                        break;
                    }
                }
                Next::Done => break,
            }
        }
        node.depart();
        self.frames[at] = frame;
    }

    /// Choose what to do next, and mark it.
    fn pick(&self, frame: &Frame, node: &Node, target: Cost) -> Next<Node> {
        let mut state = lock(&node.state);
        let target = target.min(node.upper());
        if node.lower() >= target {
            return Next::Done;
        }
        let gap = target - node.lower();
        // Patience: without a depth limit, bounds tell much and the next best alternative is not
        // far; with one, stay until the child has done its part.
        let patience = match node.key.budget.depth {
            UNLIMITED => (gap / 8).max(self.shared.rules.leaf_cost / 4),
            _ => gap,
        };
        let Some(all) = state.alternatives.as_mut() else { return Next::Done };
        let (lower, next) = all.pick(frame, target, node.key.budget, patience);
        let next = self.through_parts(all, frame, node.key.budget, next);
        node.raise(lower.min(node.upper()));
        if let Next::Work(pick) = &next {
            all.list[pick.index].busy += 1;
        }
        next
    }

    /// Work on a child, and return its bounds.
    pub(super) fn child(
        &mut self,
        at: usize,
        frame: &mut Frame,
        pick: &Pick<Node>,
    ) -> Result<(Cost, Cost, Option<Arc<Node>>), Unfinished> {
        let column = frame.column(pick.question);
        let side = (column, pick.side);
        let child = match &pick.child {
            Some(child) => child.clone(),
            None => {
                let rows = self.fingerprints(frame, column)[pick.side];
                let key = NodeKey { rows, budget: pick.budget };
                let told = || self.shared.told.and_then(|told| told.lower(&key));
                match self.shared.table.get(&key) {
                    Some(Entry::Solved(value)) => return Ok((value, value, None)),
                    Some(Entry::Open(child)) => {
                        let lower = told::at_least(child.lower(), told());
                        if lower > child.lower() && lower >= pick.target {
                            self.decided.count(Bound::Told);
                        }
                        child.raise(lower);
                        child
                    }
                    None => {
                        let lower = told::at_least(pick.lower, told());
                        if lower > pick.lower && lower >= pick.target {
                            self.decided.count(Bound::Told);
                            return Ok((lower, INFINITE, None));
                        }
                        let hint = self.shared.hints.lower(&key);
                        if hint > pick.lower && hint >= pick.target {
                            self.decided.count(Bound::OtherCosts);
                            return Ok((hint, INFINITE, None));
                        }
                        let of_larger = self.of_larger_trees(&key);
                        if of_larger > pick.lower && of_larger >= pick.target {
                            self.decided.count(Bound::FewerLimits);
                            return Ok((of_larger, INFINITE, None));
                        }
                        let known = lower.max(of_larger);
                        return self.first_visit(at, frame, side, key, pick, known);
                    }
                }
            }
        };
        // What the parent knows of these rows and this budget holds for the node.
        child.raise(pick.lower);
        self.shared.check(&child);
        if child.lower() < pick.target && !child.solved() {
            self.build(at + 1, frame, side, pick.budget)?;
            self.enter(at + 1, &child, pick.target)?;
            self.descend(at + 1, &child, pick.target);
            self.leave(frame, side, &child);
        }
        Ok((child.lower(), child.upper(), Some(child)))
    }

    /// What is known of the same rows with more leaves, by `bounds::fewer_limits`.
    fn of_larger_trees(&self, key: &NodeKey) -> Cost {
        let of = |budget| {
            let known = self.shared.table.get(&NodeKey { rows: key.rows, budget });
            known.map_or(0, |entry| entry.lower())
        };
        key.budget.larger().map(of).max().unwrap_or(0)
    }

    /// Look at a child that is not in the table, and work on what that leaves open below the
    /// target. `known`: a lower bound of its own.
    fn first_visit(
        &mut self,
        at: usize,
        frame: &mut Frame,
        side: (usize, usize),
        key: NodeKey,
        pick: &Pick<Node>,
        known: Cost,
    ) -> Result<(Cost, Cost, Option<Arc<Node>>), Unfinished> {
        let lower = pick.lower.max(known);
        match self.first_look(at + 1, frame, side, key, (lower, pick.target))? {
            Entry::Solved(value) => Ok((value, value, None)),
            Entry::Open(child) => {
                if child.lower() < pick.target {
                    self.descend(at + 1, &child, pick.target);
                    self.leave(frame, side, &child);
                }
                Ok((child.lower(), child.upper(), Some(child)))
            }
        }
    }

    /// Take in a child's bounds, if work on it came to its end, and pass them on to its siblings
    /// and its parent.
    fn tighten(
        &mut self,
        frame: &Frame,
        node: &Node,
        pick: &Pick<Node>,
        bounds: Option<(Cost, Cost, Option<Arc<Node>>)>,
    ) {
        let mut state = lock(&node.state);
        let Some(all) = state.alternatives.as_mut() else { return };
        let mut choice = None;
        let alternative = &mut all.list[pick.index];
        alternative.busy -= 1;
        let Some((lower, upper, child)) = bounds else { return };
        alternative.tighten(pick.side, lower + pick.price, upper + pick.price);
        // Other paths may have lowered it before: compare with the node, not with what it was.
        let sum = alternative.sum_upper();
        if sum < node.upper() {
            node.lower_to(sum);
            self.shared.check(node);
            choice = Some(alternative.choice());
        }
        if let Some(child) = child {
            if lower >= pick.target && lower < upper {
                self.decided.count(Bound::Scope);
            }
            self.shared.account.change(&mut **all, |all| all.adopt(pick.index, pick.side, child));
        }
        if frame.look.has_overlaps() && lower > pick.lower {
            let context = self.shared.bits.context.as_ref();
            let below = |question| context.map(|c| c.enter(&frame.state, question));
            let own = below(pick.question);
            let covers = |other| match (context, &own, below(other)) {
                (Some(context), Some(own), Some(other)) => context.takes_trees_of(own, &other),
                _ => true,
            };
            let closed = all.spread(frame, node.key.budget, (pick, lower), node.upper(), covers);
            self.decided.add(Bound::Similarity, closed);
        }
        self.unite(all, frame, node, pick.question);
        if choice.is_some() && node.key.budget.depth == UNLIMITED {
            all.prune(sum);
        }
        state.deep |= choice.is_some();
        state.choice = choice.or(state.choice);
    }
}
