//! From rows to alternatives: put a node's rows into a frame, look at them, and list its splits.

use std::sync::atomic::Ordering;

use super::alternatives::Alternatives;
use super::budget::{Budget, NodeKey, UNLIMITED};
use super::descend::{Shared, Worker};
use super::frame::Frame;
use super::node::{Node, State};
use super::table::Entry;
use crate::bits::LANES;
use crate::bounds::{Bound, leaf};
use crate::cost::Cost;
use crate::kernel::{Ask, Lookahead, Unfinished};
use crate::run::Status;
use crate::search::common::sync::lock;
use crate::view::Fingerprint;

/// The overlaps of more columns than this are not asked for: they take the square of it in memory,
/// and what they save does not grow likewise.
const MOST_OVERLAPS: usize = 4096;

impl<'a> Worker<'a, '_> {
    /// Put the rows of a child into frame `at`.
    pub fn build(
        &mut self,
        at: usize,
        parent: &Frame,
        (column, side): (usize, usize),
        budget: Budget,
    ) -> Result<(), Unfinished> {
        let keys = !budget.is_small();
        // What is constant costs nothing, or so it would seem to the bounds.
        let has_prices = self.shared.rules.has_prices;
        let keep = keys && (budget.depth != UNLIMITED || has_prices);
        if self.frames.len() <= at {
            self.frames.resize_with(at + 1, Frame::default);
        }
        let more = parent.view.child_bytes(&self.frames[at].view);
        if !self.extracts {
            self.require(more)?;
        } else if !self.reserve(more) {
            self.shared.run.stop(Status::MemoryLimit);
            return Err(Unfinished::NoMemory);
        }
        let context = self.shared.bits.context.as_ref();
        if let Some(context) = context {
            self.frames[at].state = context.enter(&parent.state, parent.view.columns[column]);
        }
        let Frame { view, state, .. } = &mut self.frames[at];
        let view = view.to_mut();
        parent.view.child((column, side), keys, self.level, view, &mut self.mask);
        for (column, _) in parent.repeats.iter().enumerate().filter(|(_, repeats)| **repeats) {
            self.mask[column / 64] &= !(1 << (column % 64));
        }
        // What is forbidden now is so everywhere below, if nothing becomes allowed there.
        if let Some(context) = context.filter(|context| context.sheds(state)) {
            for (column, &question) in view.columns.iter().enumerate() {
                if !context.allows(state, question) {
                    self.mask[column / 64] &= !(1 << (column % 64));
                }
            }
        }
        let kept: usize = self.mask.iter().map(|m| m.count_ones() as usize).sum();
        // Columns that are constant cost little where rows are counted, unless they fill blocks or
        // many children inherit them.
        let summed = !view.costs.is_empty() && kept < view.columns.len();
        if keep || summed || kept.div_ceil(LANES) < view.columns.len().div_ceil(LANES) {
            view.keep(&self.mask, self.level);
        }
        Ok(())
    }

    /// Look at the rows of a frame, unless the node was expanded before and only its fingerprints
    /// are needed.
    pub(super) fn enter(&mut self, at: usize, node: &Node, target: Cost) -> Result<(), Unfinished> {
        let mut frame = std::mem::take(&mut self.frames[at]);
        let expanded = lock(&node.state).expanded;
        let mut result = Ok(());
        // What questions cost is known from looking.
        if expanded && node.key.budget.depth == UNLIMITED && !self.shared.rules.has_prices {
            frame.look.clear(0);
            frame.index(self.shared.bits.context.as_ref());
        } else {
            result = self.look(&mut frame, node.key.budget, 0);
            // Only who has looked may expand: by now the node may have shed its alternatives.
            if result.is_ok() {
                self.expand(&frame, node, target);
            }
        }
        self.frames[at] = frame;
        result
    }

    /// Look at rows that nobody has looked at. Only what that leaves open becomes a node, and only
    /// a node that stays below the target gets alternatives now.
    pub(super) fn first_look(
        &mut self,
        at: usize,
        parent: &Frame,
        to: (usize, usize),
        key: NodeKey,
        (lower, target): (Cost, Cost),
    ) -> Result<Entry, Unfinished> {
        self.build(at, parent, to, key.budget)?;
        let mut frame = std::mem::take(&mut self.frames[at]);
        if let Err(unfinished) = self.look(&mut frame, key.budget, target) {
            self.frames[at] = frame;
            return Err(unfinished);
        }
        let rules = &self.shared.rules;
        let bounds = rules.whole(&frame.look, key.budget);
        let goal = target.min(bounds.upper);
        let mut lower = lower.max(bounds.lower);
        let mut why = rules.why_node(&frame, key.budget, bounds, goal);
        if lower < bounds.upper && frame.look.at_least == 0 {
            let least = Alternatives::<Node>::least(&frame, key.budget, rules, lower);
            let cost = least.map_or(Cost::MAX, |weak| weak.cost);
            if lower < goal && cost >= goal {
                why = match &least {
                    Some(weak) => rules.why_split(&frame, key.budget, weak, goal),
                    // There were splits, and each has a side that need not be split off.
                    None => {
                        let any = rules.splits(&frame.look, key.budget).next();
                        any.map(|_| Bound::ChildSupport)
                    }
                };
            }
            lower = lower.max(cost);
        }
        let lower = lower.min(bounds.upper);
        self.decided.add_if(lower >= goal, why);
        let is_leaf = bounds.upper == leaf::at_most(frame.look.whole.leaf, rules.leaf_cost);
        self.decided.add_if(lower == bounds.upper && is_leaf, Some(Bound::Leaf));
        let entry = if lower == bounds.upper {
            self.shared.table.insert_solved(key, bounds.upper, &self.shared.account);
            Entry::Solved(bounds.upper)
        } else {
            let entry = self.shared.table.open(key, &self.shared.account);
            if let Entry::Open(node) = &entry {
                node.raise(lower);
                self.lower_to(node, &mut lock(&node.state), &frame, bounds.upper);
                self.shared.check(node);
                if lower < target && self.expand(&frame, node, target) {
                    self.inherit(parent, to, node);
                }
            }
            entry
        };
        self.frames[at] = frame;
        Ok(entry)
    }

    /// One kernel call for the rows of a frame. Where it does not come to its end, nothing is
    /// known. If all trees cost `target`, that may be all it finds; 0 is no target.
    pub fn look(
        &mut self,
        frame: &mut Frame,
        budget: Budget,
        target: Cost,
    ) -> Result<(), Unfinished> {
        let both_sides_follow = self.sums_both_sides(frame, budget);
        self.look_before(frame, budget, target, both_sides_follow)
    }

    /// As above, and whether `bound_both_sides` follows by value: then nobody needs what a look
    /// tells of pairs.
    pub(super) fn look_before(
        &mut self,
        frame: &mut Frame,
        budget: Budget,
        target: Cost,
        both_sides_follow: bool,
    ) -> Result<(), Unfinished> {
        let rules = &self.shared.rules;
        let n = frame.view.columns.len();
        // Without a depth limit few children are visited, and none is near another's: not worth it.
        let near = !budget.is_small() && budget.depth != UNLIMITED;
        let is_free = !self.shared.bits.free.is_empty();
        let sees_all = is_free && (budget.is_small() || both_sides_follow);
        let wanted =
            rules.similarity && near && n <= MOST_OVERLAPS && !self.extracts && !both_sides_follow;
        let more = Lookahead::overlap_bytes(n).saturating_sub(frame.look.bytes());
        let (min_rows, stumps) = (rules.min_rows, budget.allows(2, 3));
        let overlaps = wanted && self.reserve(more);
        // Where a look sees all trees, nobody asks what larger ones cost.
        let is_compared = rules.three_leaves && !sees_all && !budget.is_small();
        let leaf_cost = if is_compared { rules.leaf_cost } else { 0 };
        let leaves = if rules.k_means { budget.most_leaves() } else { 0 };
        // What the look-ahead solves is not worth less.
        let target = if budget.is_small() || both_sides_follow { 0 } else { target };
        self.look_for(frame, Ask { min_rows, overlaps, stumps, leaf_cost, leaves, target })?;
        // Nearly all children will be visited: their fingerprints come cheaper all at once.
        if near && self.reserve(self.kernel.fingerprint_bytes()) {
            self.kernel.fingerprints(&frame.view, &mut frame.fingerprints);
            self.count(frame);
        }
        Ok(())
    }

    /// Whether both sides of every split of a node are found by value after a look at it.
    fn sums_both_sides(&self, frame: &Frame, budget: Budget) -> bool {
        let is_whole = budget.depth == 3 && budget.leaves == UNLIMITED && !self.extracts;
        let is_free = is_whole && !self.shared.bits.free.is_empty();
        is_free && self.kernel.bytes_for_both_sides(&frame.view, self.ask_for_sides(), 3).is_some()
    }

    /// The look of extraction when time is up: no pairs of splits.
    pub fn glance(&mut self, frame: &mut Frame) {
        let ask = Ask { min_rows: self.shared.rules.min_rows, ..Ask::default() };
        // Without stumps, nothing is asked whether to stop; without memory, nothing is known.
        let _ = self.look_for(frame, ask);
    }

    pub(super) fn look_for(&mut self, frame: &mut Frame, ask: Ask) -> Result<(), Unfinished> {
        let Shared { run, cut_short, .. } = self.shared;
        let halt: &dyn Fn() -> bool = match self.extracts {
            true => &|| cut_short.load(Ordering::Relaxed),
            false => &|| run.stopped().is_some(),
        };
        let more = self.kernel.bytes_for(&frame.view).saturating_sub(self.kernel.bytes());
        self.require(more)?;
        let context = self.shared.bits.context.as_ref();
        let Frame { view, state, offer, look, .. } = frame;
        let offer = context.and_then(|context| context.offer(state, &view.columns, offer));
        let result = self.kernel.look(view, ask, offer, halt, look);
        frame.binds = context.is_some_and(|context| !context.sheds(&frame.state));
        match result {
            Err(Unfinished::NoMemory) => run.stop(Status::MemoryLimit),
            Err(Unfinished::TaskFailed) => run.stop(Status::Interrupted),
            Ok(()) | Err(Unfinished::Stopped) => {}
        }
        run.add_kernel_calls(1);
        frame.index(context);
        self.count(frame);
        result
    }

    /// The first visit: bounds from the look-ahead, and the alternatives they leave open.
    pub(super) fn expand(&mut self, frame: &Frame, node: &Node, target: Cost) -> bool {
        let mut state = lock(&node.state);
        if state.expanded {
            return false;
        }
        state.expanded = true;
        if !frame.view.keys.is_empty() {
            self.shared.table.seen.check(node.key.rows, frame.view.row_keys());
        }
        let rules = &self.shared.rules;
        let bounds = rules.whole(&frame.look, node.key.budget);
        self.lower_to(node, &mut state, frame, bounds.upper);
        node.raise(bounds.lower);
        self.shared.check(node);
        if node.solved() {
            let why = rules.why_node(frame, node.key.budget, bounds, node.upper());
            self.decided.add_if(true, why);
        } else {
            let repeats = frame.repeats.iter().filter(|repeats| **repeats).count();
            self.decided.add(Bound::EqualSplits, repeats as u64);
            let (lower, upper) = (node.lower(), node.upper());
            let mut all = Alternatives::new();
            let limit = rules.listed_below(node.key.budget, target);
            let bounds = (lower, upper);
            all.widen(frame, node.key.budget, rules, bounds, limit, &mut self.decided);
            let keep = |state: &mut State| state.alternatives = Some(Box::new(all));
            self.shared.account.change(&mut *state, keep);
            self.settle(&mut state, node);
        }
        true
    }

    /// List more alternatives.
    pub(super) fn widen(
        &mut self,
        frame: &mut Frame,
        node: &Node,
        target: Cost,
    ) -> Result<(), Unfinished> {
        let budget = node.key.budget;
        if !frame.is_seen() {
            self.look(frame, budget, 0)?;
        }
        let mut state = lock(&node.state);
        if let Some(all) = state.alternatives.as_mut() {
            let rules = &self.shared.rules;
            let bounds = (node.lower(), node.upper());
            let limit = rules.listed_below(budget, target);
            let decided = &mut self.decided;
            let account = &self.shared.account;
            account.change(&mut **all, |all| {
                all.widen(frame, budget, rules, bounds, limit, decided);
            });
        }
        self.settle(&mut state, node);
        Ok(())
    }

    /// Take in what the look-ahead found.
    pub(super) fn lower_to(&self, node: &Node, state: &mut State, frame: &Frame, upper: Cost) {
        if upper < node.upper() {
            node.lower_to(upper);
            state.choice = frame.choice(&self.shared.rules, node.key.budget, upper);
        }
    }

    /// Raise a node to the least of its alternatives.
    pub(super) fn settle(&self, state: &mut State, node: &Node) {
        if let Some(all) = &state.alternatives {
            node.raise(all.lower().min(node.upper()));
        }
    }

    /// The names of both children of a split: their rows, and their state.
    pub(super) fn fingerprints(&self, frame: &mut Frame, column: usize) -> [Fingerprint; 2] {
        let rows = frame.fingerprints(column, self.level);
        match &self.shared.bits.context {
            Some(context) => {
                let state = context.enter(&frame.state, frame.view.columns[column]).key();
                rows.map(|rows| rows ^ state)
            }
            None => rows,
        }
    }

    pub fn take_frame(&mut self, at: usize) -> Frame<'a> {
        std::mem::take(&mut self.frames[at])
    }

    pub fn put_frame(&mut self, at: usize, frame: Frame<'a>) {
        self.frames[at] = frame;
    }
}
