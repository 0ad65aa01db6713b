//! The main loop: follow the least lower bound down, expand, and tighten bounds on the way back.
//!
//! A worker stays below a child until the child's bound has risen past the next best alternative, so
//! that views are built once for many steps. Every bound in the shared graph is valid at every moment.

use std::sync::atomic::{AtomicBool, Ordering};

use super::alternatives::{Alternatives, Pick, Proved};
use super::learned::Hints;
use super::look::Rules;
use super::node::{Budget, Choice, Node, NodeKey, State, UNLIMITED};
use super::sync::{Arc, AtomicU32, lock};
use super::table::{Entry, Table};
use crate::bits::{LANES, Level};
use crate::cost::{Cost, INFINITE};
use crate::kernel::{Ask, Kernel, Lookahead, Unfinished};
use crate::run::{Run, Status};
use crate::view::{BitView, Key, View};

/// What all workers share.
pub struct Shared<'a, 'run> {
    pub bits: &'a BitView,
    pub table: Table,
    pub rules: Rules,
    pub run: &'a Run<'run>,
    pub root: Arc<Node>,
    /// Workers that have not retired.
    pub workers: AtomicU32,
    /// Extraction is to take what it has.
    pub cut_short: AtomicBool,
    /// What earlier searches proved of the same rows.
    pub hints: Hints<'a>,
}

/// One worker: the shared graph, and its own scratch memory for each depth of its path.
pub struct Worker<'a, 'run> {
    pub shared: &'a Shared<'a, 'run>,
    kernel: Kernel<'a>,
    pub level: Level,
    frames: Vec<Frame>,
    mask: Vec<u64>,
    lost: Vec<Cost>,
    /// Whether this worker writes down the tree: limits that ended the search do not end that.
    extracts: bool,
    /// This worker has no room to work in and leaves the rest to the others.
    retired: bool,
    /// Bytes of scratch memory that the run knows of, frames aside.
    counted: usize,
}

/// The rows and the look-ahead of the node at one depth of the path.
#[derive(Default)]
pub struct Frame {
    pub view: View,
    pub look: Lookahead,
    /// Columns that repeat an earlier one on these rows.
    repeats: Vec<bool>,
    /// By question: its column in the view, if it is there.
    columns: Vec<u32>,
    /// By column: the fingerprints of its sides, once somebody asked.
    prints: Vec<Option<[Key; 2]>>,
    /// What the children that were worked on have proved.
    siblings: Vec<Proved>,
    sibling_bytes: usize,
    /// Bytes that the run knows of.
    counted: usize,
}

/// How many siblings a new node learns from.
const SIBLINGS: usize = 8;

/// No more is kept of the siblings of one node.
const SIBLING_BYTES: usize = 32 << 20;

/// The overlaps of more columns than this are not asked for: they take the square of it in memory, and
/// what they save does not grow likewise.
const MOST_OVERLAPS: usize = 4096;

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
            counted: 0,
        };
        let mut frame = Frame { view: shared.bits.root.clone(), ..Frame::default() };
        worker.count(&mut frame);
        worker.frames.push(frame);
        worker
    }

    /// Work on the whole problem until it is solved or the run is stopped.
    pub fn work(&mut self) {
        let root = self.shared.root.clone();
        while !root.solved() && self.goes_on() {
            if self.enter(0, &root).is_ok() {
                self.descend(0, &root, root.upper());
            }
        }
    }

    /// Raise a node's lower bound to `target` or solve it. Its rows are in frame `at`, entered.
    fn descend(&mut self, at: usize, node: &Arc<Node>, target: Cost) {
        let mut frame = std::mem::take(&mut self.frames[at]);
        frame.siblings.clear();
        frame.sibling_bytes = 0;
        node.arrive(self.shared.run.clock());
        while self.goes_on() {
            let Some(pick) = self.pick(node, target) else { break };
            let bounds = self.child(at, &mut frame, &pick);
            self.tighten(&frame, node, &pick, bounds.ok());
        }
        node.depart();
        self.frames[at] = frame;
    }

    /// Look at the rows of a frame, unless the node was expanded before and only its fingerprints are
    /// needed.
    fn enter(&mut self, at: usize, node: &Node) -> Result<(), Unfinished> {
        let mut frame = std::mem::take(&mut self.frames[at]);
        let expanded = lock(&node.state).expanded;
        let mut result = Ok(());
        if expanded && node.key.budget.depth == UNLIMITED {
            frame.look.clear(0);
            frame.index();
        } else {
            result = self.look(&mut frame, node.key.budget);
            // Only who has looked may expand: by now the node may have shed its alternatives.
            if result.is_ok() {
                self.expand(&frame, node);
            }
        }
        self.frames[at] = frame;
        result
    }

    /// One kernel call for the rows of a frame. Where it does not come to its end, nothing is known.
    pub fn look(&mut self, frame: &mut Frame, budget: Budget) -> Result<(), Unfinished> {
        let rules = &self.shared.rules;
        let n = frame.view.columns.len();
        // Without a depth limit few children are visited, and none is near another's: not worth it.
        let near = !budget.is_small() && budget.depth != UNLIMITED;
        let wanted = rules.similarity && near && n <= MOST_OVERLAPS && !self.extracts;
        let more = Lookahead::overlap_bytes(n).saturating_sub(frame.look.bytes());
        let (min_rows, stumps) = (rules.min_rows, budget.allows(2, 3));
        let ask = Ask { min_rows, overlaps: wanted && self.reserve(more), stumps };
        self.look_for(frame, ask)?;
        if near {
            // Nearly all children will be visited: their fingerprints come cheaper all at once.
            self.kernel.fingerprints(&frame.view, &mut frame.prints);
        }
        Ok(())
    }

    /// The look of extraction when time is up: no pairs of splits.
    pub fn glance(&mut self, frame: &mut Frame) {
        let ask = Ask { min_rows: self.shared.rules.min_rows, overlaps: false, stumps: false };
        // Without stumps, nothing is asked whether to stop; without memory, nothing is known.
        let _ = self.look_for(frame, ask);
    }

    fn look_for(&mut self, frame: &mut Frame, ask: Ask) -> Result<(), Unfinished> {
        let Shared { run, cut_short, .. } = self.shared;
        let halt: &dyn Fn() -> bool = match self.extracts {
            true => &|| cut_short.load(Ordering::Relaxed),
            false => &|| run.stopped().is_some(),
        };
        let more = Kernel::bytes_for(&frame.view).saturating_sub(self.kernel.bytes());
        self.require(more)?;
        let result = self.kernel.look(&frame.view, ask, halt, &mut frame.look);
        if result == Err(Unfinished::NoMemory) {
            run.stop(Status::MemoryLimit);
        }
        run.add_kernel_calls(1);
        frame.index();
        self.count(frame);
        result
    }

    /// Reserve `more` bytes; `count` replaces them by what came of it.
    fn reserve(&mut self, more: usize) -> bool {
        let reserved = self.shared.table.make_room(more as u64, self.shared.run);
        self.counted += if reserved { more } else { 0 };
        reserved
    }

    /// Reserve `more` bytes, or retire. The last worker to retire ends the search. Extraction does not retire.
    fn require(&mut self, more: usize) -> Result<(), Unfinished> {
        if self.extracts || self.reserve(more) {
            return Ok(());
        }
        self.retired = true;
        if self.shared.workers.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.shared.run.stop(Status::MemoryLimit);
        }
        Err(Unfinished::NoMemory)
    }

    fn goes_on(&self) -> bool {
        !self.retired && self.shared.run.stopped().is_none()
    }

    /// Tell the run what this worker holds.
    fn count(&mut self, frame: &mut Frame) {
        let (known, bytes) = (frame.counted + self.counted, frame.bytes());
        frame.counted = bytes;
        self.counted = self.kernel.bytes() + (self.mask.capacity() + self.lost.capacity()) * 8;
        let now = bytes + self.counted;
        if now != known {
            self.shared.run.add_bytes(now as i64 - known as i64);
        }
    }

    /// The first visit: bounds from the look-ahead, and the alternatives they leave open.
    fn expand(&self, frame: &Frame, node: &Node) -> bool {
        let mut state = lock(&node.state);
        if state.expanded {
            return false;
        }
        state.expanded = true;
        let rules = &self.shared.rules;
        let bounds = rules.whole(&frame.look, node.key.budget);
        self.lower_to(node, &mut state, frame, bounds.upper);
        node.raise(bounds.lower);
        if !node.solved() {
            let (lower, upper) = (node.lower(), node.upper());
            let all = Alternatives::new(frame, node.key.budget, rules, lower, upper);
            self.shared.run.add_bytes(all.bytes());
            state.alternatives = Some(Box::new(all));
            self.settle(&mut state, node);
        }
        true
    }

    /// Take in what the look-ahead found.
    fn lower_to(&self, node: &Node, state: &mut State, frame: &Frame, upper: Cost) {
        if upper < node.upper() {
            node.lower_to(upper);
            state.choice = frame.choice(&self.shared.rules, node.key.budget, upper);
        }
    }

    /// Choose what to do next, and mark it.
    fn pick(&self, node: &Node, target: Cost) -> Option<Pick> {
        let mut state = lock(&node.state);
        let target = target.min(node.upper());
        if node.lower() >= target {
            return None;
        }
        let gap = target - node.lower();
        // Patience: without a depth limit, bounds tell much and the next best alternative is not far; with
        // one, stay until the child has done its part.
        let patience = match node.key.budget.depth {
            UNLIMITED => (gap / 8).max(self.shared.rules.leaf_cost / 4),
            _ => gap,
        };
        let all = state.alternatives.as_mut()?;
        let (lower, pick) = all.pick(target, node.key.budget, patience);
        node.raise(lower.min(node.upper()));
        let pick = pick?;
        all.list[pick.index].busy += 1;
        Some(pick)
    }

    /// Work on a child, and return its bounds.
    fn child(
        &mut self,
        at: usize,
        frame: &mut Frame,
        pick: &Pick,
    ) -> Result<(Cost, Cost, Option<Arc<Node>>), Unfinished> {
        let column = frame.column(pick.question);
        let side = (column, pick.side);
        let child = match &pick.child {
            Some(child) => child.clone(),
            None => {
                let rows = frame.fingerprints(column, self.level)[pick.side];
                let key = NodeKey { rows, budget: pick.budget };
                match self.shared.table.get(&key) {
                    Some(Entry::Solved(value)) => return Ok((value, value, None)),
                    Some(Entry::Open(child)) => child,
                    None => {
                        let hint = self.shared.hints.lower(&key);
                        if hint > pick.lower && hint >= pick.target {
                            return Ok((hint, INFINITE, None));
                        }
                        return self.first_visit(at, frame, side, key, pick);
                    }
                }
            }
        };
        // What the parent knows of these rows and this budget holds for the node.
        child.raise(pick.lower);
        if child.lower() < pick.target && !child.solved() {
            self.build(at + 1, frame, side, pick.budget)?;
            self.enter(at + 1, &child)?;
            self.descend(at + 1, &child, pick.target);
            self.leave(frame, side, &child);
        }
        Ok((child.lower(), child.upper(), Some(child)))
    }

    /// Look at a child that is not in the table, and work on what that leaves open below the target.
    fn first_visit(
        &mut self,
        at: usize,
        frame: &mut Frame,
        side: (usize, usize),
        key: NodeKey,
        pick: &Pick,
    ) -> Result<(Cost, Cost, Option<Arc<Node>>), Unfinished> {
        match self.first_look(at + 1, frame, side, key, (pick.lower, pick.target))? {
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

    /// Look at rows that nobody has looked at. Only what that leaves open becomes a node, and only a node
    /// that stays below the target gets alternatives now.
    fn first_look(
        &mut self,
        at: usize,
        parent: &Frame,
        to: (usize, usize),
        key: NodeKey,
        (lower, target): (Cost, Cost),
    ) -> Result<Entry, Unfinished> {
        self.build(at, parent, to, key.budget)?;
        let mut frame = std::mem::take(&mut self.frames[at]);
        if let Err(unfinished) = self.look(&mut frame, key.budget) {
            self.frames[at] = frame;
            return Err(unfinished);
        }
        let rules = &self.shared.rules;
        let bounds = rules.whole(&frame.look, key.budget);
        let mut lower = lower.max(bounds.lower);
        if lower < bounds.upper {
            lower = lower.max(Alternatives::least(&frame, key.budget, rules, lower));
        }
        let lower = lower.min(bounds.upper);
        let entry = if lower == bounds.upper {
            self.shared.table.insert_solved(key, bounds.upper, self.shared.run);
            Entry::Solved(bounds.upper)
        } else {
            let entry = self.shared.table.open(key, self.shared.run);
            if let Entry::Open(node) = &entry {
                node.raise(lower);
                self.lower_to(node, &mut lock(&node.state), &frame, bounds.upper);
                if lower < target && self.expand(&frame, node) {
                    self.inherit(parent, to, node);
                }
            }
            entry
        };
        self.frames[at] = frame;
        Ok(entry)
    }

    /// Start a new node from what its most similar siblings have proved of their alternatives.
    fn inherit(&mut self, parent: &Frame, to: (usize, usize), node: &Node) {
        if !parent.look.has_overlaps() || parent.siblings.is_empty() {
            return;
        }
        let mut state = lock(&node.state);
        let Some(all) = state.alternatives.as_mut() else { return };
        let budget = node.key.budget;
        let mut near: Vec<(Cost, usize)> = (parent.siblings.iter().enumerate())
            .filter(|(_, s)| s.budget == budget)
            .map(|(i, s)| (parent.look.difference(s.column, s.side, to.0, to.1), i))
            .filter(|&(lost, _)| lost < node.upper())
            .collect();
        near.sort_unstable();
        for &(_, index) in near.iter().take(SIBLINGS) {
            let sibling = &parent.siblings[index];
            let (from, bits) = ((sibling.column, sibling.side), self.shared.bits);
            let total = parent.view.lost(&bits.segments, bits.n_stats, from, to, &mut self.lost);
            all.inherit(sibling, |question| parent.column(question), &self.lost, total);
        }
        self.settle(&mut state, node);
    }

    /// Keep what a child has proved for the siblings that come after it, and give back a solved child's
    /// alternatives.
    fn leave(&self, parent: &mut Frame, (column, side): (usize, usize), node: &Node) {
        let mut state = lock(&node.state);
        let Some(all) = state.alternatives.as_mut() else { return };
        if parent.look.has_overlaps() && node.key.budget.depth != UNLIMITED {
            parent.keep(all.proved(column, side, node.key.budget));
        }
        self.settle(&mut state, node);
        if node.solved() && state.alternatives.as_ref().is_some_and(|all| all.idle()) {
            let all = state.alternatives.take();
            self.shared.run.add_bytes(-all.map_or(0, |all| all.bytes()));
        }
    }

    /// Put the rows of a child into frame `at`.
    pub fn build(
        &mut self,
        at: usize,
        parent: &Frame,
        (column, side): (usize, usize),
        budget: Budget,
    ) -> Result<(), Unfinished> {
        let keys = !budget.is_small();
        let keep = keys && budget.depth != UNLIMITED;
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
        let view = &mut self.frames[at].view;
        parent.view.child((column, side), keys, self.level, view, &mut self.mask);
        for (column, _) in parent.repeats.iter().enumerate().filter(|(_, repeats)| **repeats) {
            self.mask[column / 64] &= !(1 << (column % 64));
        }
        let kept: usize = self.mask.iter().map(|m| m.count_ones() as usize).sum();
        // Columns that are constant cost little, unless they fill blocks or many children inherit them.
        if keep || kept.div_ceil(LANES) < view.columns.len().div_ceil(LANES) {
            view.keep(&self.mask, self.level);
        }
        Ok(())
    }

    pub fn take_frame(&mut self, at: usize) -> Frame {
        std::mem::take(&mut self.frames[at])
    }

    pub fn put_frame(&mut self, at: usize, frame: Frame) {
        self.frames[at] = frame;
    }

    /// Take in a child's bounds, if work on it came to its end, and pass them on to its siblings and its
    /// parent.
    fn tighten(
        &self,
        frame: &Frame,
        node: &Node,
        pick: &Pick,
        bounds: Option<(Cost, Cost, Option<Arc<Node>>)>,
    ) {
        let mut state = lock(&node.state);
        let Some(all) = state.alternatives.as_mut() else { return };
        let mut choice = None;
        let alternative = &mut all.list[pick.index];
        alternative.busy -= 1;
        let Some((lower, upper, child)) = bounds else { return };
        alternative.lower[pick.side] = alternative.lower[pick.side].max(lower);
        alternative.upper[pick.side] = alternative.upper[pick.side].min(upper);
        // Other paths may have lowered it before: compare with the node, not with what it was.
        let sum = alternative.sum_upper();
        if sum < node.upper() {
            node.lower_to(sum);
            choice = Some(alternative.choice());
        }
        if let Some(child) = child {
            let bytes = all.bytes();
            all.adopt(pick.index, pick.side, child);
            self.shared.run.add_bytes(all.bytes() - bytes);
        }
        if frame.look.has_overlaps() && lower > pick.lower {
            all.spread(frame, node.key.budget, pick, lower);
        }
        if choice.is_some() && node.key.budget.depth == UNLIMITED {
            all.prune(sum);
        }
        state.deep |= choice.is_some();
        state.choice = choice.or(state.choice);
    }

    /// Raise a node to the least of its alternatives.
    fn settle(&self, state: &mut State, node: &Node) {
        if let Some(all) = &state.alternatives {
            node.raise(all.lower().min(node.upper()));
        }
    }
}

impl Drop for Worker<'_, '_> {
    fn drop(&mut self) {
        let bytes = self.counted + self.frames.iter().map(|frame| frame.counted).sum::<usize>();
        self.shared.run.add_bytes(-(bytes as i64));
    }
}

impl Frame {
    /// The column of a question that is not constant here, nor a repeat of an earlier one.
    pub fn column(&self, question: u32) -> usize {
        self.columns[question as usize] as usize
    }

    /// The same, where the question may be missing.
    pub fn find(&self, question: u32) -> Option<usize> {
        let column = *self.columns.get(question as usize)?;
        (column != u32::MAX).then_some(column as usize)
    }

    /// The split that the look-ahead found to cost `upper`; `None` where that is a leaf.
    fn choice(&self, rules: &Rules, budget: Budget, upper: Cost) -> Option<Choice> {
        if self.look.whole.leaf + rules.leaf_cost == upper {
            return None;
        }
        let (column, left_leaves) = rules.best(&self.look, budget, upper)?;
        Some(Choice { question: self.view.columns[column], left_leaves })
    }

    /// Remember what a child has proved.
    fn keep(&mut self, proved: Proved) {
        let bytes = proved.bytes();
        let child = |s: &Proved| (s.column, s.side, s.budget);
        let same = |s: &&mut Proved| child(s) == child(&proved);
        if let Some(known) = self.siblings.iter_mut().find(same) {
            self.sibling_bytes = self.sibling_bytes + bytes - known.bytes();
            *known = proved;
        } else if self.sibling_bytes + bytes <= SIBLING_BYTES {
            self.sibling_bytes += bytes;
            self.siblings.push(proved);
        }
    }

    fn bytes(&self) -> usize {
        self.view.bytes()
            + self.look.bytes()
            + self.repeats.capacity()
            + self.columns.capacity() * size_of::<u32>()
            + self.prints.capacity() * size_of::<Option<[Key; 2]>>()
            + self.siblings.capacity() * size_of::<Proved>()
            + self.sibling_bytes
    }

    pub fn repeats(&self, column: usize) -> bool {
        self.repeats.get(column).copied().unwrap_or(false)
    }

    pub fn fingerprints(&mut self, column: usize, level: Level) -> [Key; 2] {
        *self.prints[column].get_or_insert_with(|| self.view.fingerprints(column, level))
    }

    fn index(&mut self) {
        self.prints.clear();
        self.prints.resize(self.view.columns.len(), None);
        self.find_repeats();
        let most = self.view.columns.last().map_or(0, |&q| q as usize + 1);
        self.columns.clear();
        self.columns.resize(most, u32::MAX);
        for (column, &question) in self.view.columns.iter().enumerate() {
            self.columns[question as usize] = column as u32;
        }
    }

    /// Columns whose split is that of an earlier column, up to rows that cost nothing.
    fn find_repeats(&mut self) {
        self.repeats.clear();
        if !self.look.has_exact_overlaps() {
            return;
        }
        let n = self.look.sides.len();
        self.repeats.resize(n, false);
        let size = |c: usize| self.look.sides[c][0].worst.min(self.look.sides[c][1].worst);
        let mut order: Vec<(Cost, usize)> = (0..n).map(|c| (size(c), c)).collect();
        order.sort_unstable();
        for (at, &(size, i)) in order.iter().enumerate() {
            if self.repeats[i] {
                continue;
            }
            for &(_, j) in order[at + 1..].iter().take_while(|&&(other, _)| other == size) {
                let look = &self.look;
                let same =
                    |b: usize| look.difference(i, 1, j, b) <= 0 && look.difference(j, b, i, 1) <= 0;
                self.repeats[j] |= same(1) || same(0);
            }
        }
    }
}
