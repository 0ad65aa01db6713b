//! One worker at one node: its leaf, its splits, and its front.

use super::bounds::{MOST_ENTRIES, Overlap, Sides, at_most};
use super::entry::{Entry, Front};
use super::gather::Gather;
use super::shared::{Shared, Stopped};
use super::two_levels::{Node, TwoLevels};
use crate::bits::Level;
use crate::bounds::{Bound, Decisions};
use crate::context::State;
use crate::kernel::Counts;
use crate::run::Held;
use crate::search::common::sync::{Arc, Mutex, lock, unlocked};
use crate::view::View;

/// One worker: the state that all of them share, and this one's scratch memory for each depth of
/// its path.
pub struct Worker<'w, 'a, 'run> {
    pub shared: &'w Shared<'a, 'run>,
    /// Whether it goes on though the run was stopped, to write down what was found.
    pub finishes: bool,
    level: Level,
    pub frames: Vec<Frame>,
    counts: Counts,
    two_levels: TwoLevels,
    mask: Vec<u64>,
    held: Held<'a, 'run>,
    decided: Decisions,
}

/// The rows of the node at one depth of the path.
#[derive(Default)]
pub struct Frame {
    pub view: View,
    /// What the path means for what may be asked here and below.
    state: State,
    gather: Gather,
}

/// A node whose splits are searched one by one.
pub struct Open {
    /// The columns, the last one first.
    order: Vec<usize>,
    /// By column: whether all its trees are in the front, or dominated by it.
    is_done: Vec<bool>,
    sides: Sides,
    overlap: Overlap,
    gather: Gather,
    /// Of what was gathered so far.
    pub front: Front,
}

impl<'w, 'a, 'run> Worker<'w, 'a, 'run> {
    pub fn new(shared: &'w Shared<'a, 'run>) -> Self {
        let state = shared.bits.context.as_ref().map_or_else(State::default, |c| c.start());
        let root = Frame { view: shared.bits.root.clone(), state, ..Frame::default() };
        Worker {
            shared,
            finishes: false,
            level: Level::detect(),
            frames: vec![root],
            counts: Counts::default(),
            two_levels: TwoLevels::default(),
            mask: Vec::new(),
            held: Held::new(shared.run),
            decided: Decisions::default(),
        }
    }

    /// The front of the node in frame `at`, of trees with `depth` levels of splits.
    pub fn front(&mut self, at: usize, depth: u32) -> Result<Front, Stopped> {
        let shared = self.shared;
        shared.run.add_nodes(1);
        if depth >= 2 {
            self.check()?;
        }
        if depth >= 3 && shared.most_leaves(depth) > 1 {
            let open = Mutex::new(self.open(at, depth)?);
            let _held = Held::of(shared.run, lock(&open).bytes());
            self.splits(at, depth, &open)?;
            return Ok(unlocked(open).front);
        }
        let mut gather = std::mem::take(&mut self.frames[at].gather);
        self.leaf(at, depth, &mut gather)?;
        if depth > 0 && shared.most_leaves(depth) > 1 {
            match depth {
                1 => self.stumps(at, &mut gather),
                _ => self.pairs(at, &mut gather)?,
            }
        }
        let front = gather.front();
        self.frames[at].gather = gather;
        self.count();
        Ok(front)
    }

    /// Begin a node: count its columns, and take its leaf.
    fn leaf(&mut self, at: usize, depth: u32, gather: &mut Gather) -> Result<(), Stopped> {
        let (shared, view) = (self.shared, &self.frames[at].view);
        let axes = shared.axes;
        let filled = self.counts.fill(shared.bits, axes.n_classes(), view, self.level);
        filled.map_err(|why| shared.give_up(why))?;
        shared.run.add_kernel_calls(1);
        let weights = &self.counts.whole[..axes.n_classes()];
        gather.begin(axes.worst(weights), shared.counted_leaves(depth));
        axes.leaf_entries(weights, shared.one_leaf()).for_each(|entry| gather.push(entry));
        Ok(())
    }

    /// Whether both sides of a column may be, as far as the path and their rows say.
    fn may_split(&self, at: usize, column: usize) -> bool {
        let (shared, frame) = (self.shared, &self.frames[at]);
        let question = frame.view.columns[column];
        let context = shared.bits.context.as_ref();
        let n = shared.axes.n_classes();
        let (rows, one) = (self.counts.whole[n], self.counts.ones(column)[n]);
        context.is_none_or(|context| context.allows(&frame.state, question))
            && (shared.min_rows <= 1 || one.min(rows - one) >= shared.min_rows)
    }

    /// The stumps of a node whose columns are counted.
    fn stumps(&mut self, at: usize, gather: &mut Gather) {
        let (axes, leaf) = (self.shared.axes, self.shared.one_leaf());
        let n = axes.n_classes();
        for (column, &question) in self.frames[at].view.columns.iter().enumerate() {
            if !self.may_split(at, column) {
                continue;
            }
            let one = &self.counts.ones(column)[..n];
            let zero: Vec<i64> =
                self.counts.whole.iter().zip(one).map(|(all, o)| all - o).collect();
            let sides = [&zero, one].map(|side| axes.leaf_entries(side, leaf).collect::<Vec<_>>());
            gather.push_joined(&sides[0], &sides[1], question, u32::MAX);
        }
    }

    /// The trees of two levels of a node whose columns are counted.
    fn pairs(&mut self, at: usize, gather: &mut Gather) -> Result<(), Stopped> {
        let Frame { view, state, .. } = &self.frames[at];
        let node = Node { view, state, counts: &self.counts, level: self.level };
        let (shared, finishes) = (self.shared, self.finishes);
        let halt = || !finishes && shared.run.stopped().is_some();
        if self.two_levels.splits(shared, node, halt, gather) { Ok(()) } else { Err(Stopped) }
    }

    /// Begin a node whose splits are searched one by one.
    pub fn open(&mut self, at: usize, depth: u32) -> Result<Open, Stopped> {
        let mut gather = Gather::default();
        self.leaf(at, depth, &mut gather)?;
        let n = self.frames[at].view.columns.len();
        let overlap = Overlap::new(self.shared, &self.counts, self.level, n);
        let mut order: Vec<usize> = (0..n).filter(|&column| self.may_split(at, column)).collect();
        let mut is_done = vec![true; n];
        order.iter().for_each(|&column| is_done[column] = false);
        order.sort_by(|&a, &b| overlap.purity(a).total_cmp(&overlap.purity(b)));
        let front = gather.front();
        Ok(Open { order, is_done, sides: vec![[None, None]; n], overlap, gather, front })
    }

    /// Search one split of a node after the other, until none is left. Several workers may.
    pub fn splits(&mut self, at: usize, depth: u32, open: &Mutex<Open>) -> Result<(), Stopped> {
        let shared = self.shared;
        loop {
            self.check()?;
            let taken = lock(open).take(shared, &mut self.decided);
            // The lighter side is cheaper.
            let Some((column, first)) = taken else { return Ok(()) };
            let mut is_needed = true;
            for side in [first, 1 - first] {
                let front = self.child(at, (column, side), depth - 1)?;
                let mut open = lock(open);
                open.sides[column][side] = Some(front);
                if side == first && open.is_dominated(shared, column) {
                    self.decided.count(Bound::Similarity);
                    is_needed = false;
                    break;
                }
            }
            let question = self.frames[at].view.columns[column];
            let mut open = lock(open);
            if is_needed {
                open.join(column, question, shared.most_leaves(depth));
            }
            open.is_done[column] = true;
        }
    }

    /// The front of one side of a column, of trees with `depth` levels of splits.
    pub fn child(
        &mut self,
        at: usize,
        (column, side): (usize, usize),
        depth: u32,
    ) -> Result<Arc<Front>, Stopped> {
        let shared = self.shared;
        let context = shared.bits.context.as_ref();
        let state = context.map_or_else(State::default, |context| {
            let frame = &self.frames[at];
            context.enter(&frame.state, frame.view.columns[column])
        });
        let key = (depth >= 2).then(|| {
            let fingerprints = self.frames[at].view.fingerprints(column, self.level);
            // Equal rows have equal fronts where their paths leave the same to be asked.
            (fingerprints[side] ^ state.key(), depth)
        });
        if let Some(front) = key.and_then(|key| shared.known.get(key)) {
            return Ok(front);
        }
        self.enter(at, (column, side), depth, state);
        let front = Arc::new(self.front(at + 1, depth)?);
        if let Some(key) = key {
            let view = &self.frames[at + 1].view;
            if !view.keys.is_empty() {
                shared.known.seen.check(key.0, view.row_keys());
            }
            shared.known.put(key, front.clone());
        }
        Ok(front)
    }

    /// Make the view of one side of a column in the next frame.
    fn enter(&mut self, at: usize, split: (usize, usize), depth: u32, state: State) {
        if self.frames.len() == at + 1 {
            self.frames.push(Frame::default());
        }
        let context = self.shared.bits.context.as_ref();
        let (above, below) = self.frames.split_at_mut(at + 1);
        let (view, child) = (&above[at].view, &mut below[0].view);
        view.child(split, depth >= 3, self.level, child, &mut self.mask);
        if let Some(context) = context {
            context.strike(&state, &child.columns, &mut self.mask);
        }
        let varying: usize = self.mask.iter().map(|word| word.count_ones() as usize).sum();
        if varying < child.columns.len() {
            child.keep(&self.mask, self.level);
        }
        below[0].state = state;
    }

    /// Make the view of one side of a split, to look at its trees. Its columns are those of
    /// `child`.
    pub fn go_down(&mut self, at: usize, (column, side): (usize, usize), depth: u32) {
        let context = self.shared.bits.context.as_ref();
        let state = context.map_or_else(State::default, |context| {
            let frame = &self.frames[at];
            context.enter(&frame.state, frame.view.columns[column])
        });
        self.enter(at, (column, side), depth, state);
    }

    /// Whether there is time and memory to go on.
    fn check(&mut self) -> Result<(), Stopped> {
        if self.finishes {
            return Ok(());
        }
        if self.shared.run.check_time().is_some() {
            return Err(Stopped);
        }
        self.shared.check_room()
    }

    /// Tell the run how much this worker holds.
    fn count(&mut self) {
        let frame = |frame: &Frame| frame.view.bytes() + frame.gather.bytes();
        let frames: usize = self.frames.iter().map(frame).sum();
        self.held.set(frames + self.counts.bytes() + self.two_levels.bytes());
    }
}

impl Drop for Worker<'_, '_, '_> {
    fn drop(&mut self) {
        self.shared.run.add_decisions(&self.decided);
    }
}

impl Open {
    /// The next column that is not known to be needless, and its lighter side.
    fn take(&mut self, shared: &Shared, decided: &mut Decisions) -> Option<(usize, usize)> {
        loop {
            let column = self.order.pop()?;
            if !self.is_dominated(shared, column) {
                return Some((column, self.overlap.lighter_side(column)));
            }
            decided.count(Bound::Similarity);
            self.is_done[column] = true;
        }
    }

    /// The entries that no tree of a split is below.
    fn bounds(&self, shared: &Shared, column: usize) -> [Vec<Entry>; 2] {
        [0, 1].map(|side| {
            self.overlap.bound(shared.axes, &self.sides, (column, side), shared.one_leaf())
        })
    }

    /// Whether the front dominates all trees of a split.
    fn is_dominated(&self, shared: &Shared, column: usize) -> bool {
        let [a, b] = self.bounds(shared, column);
        a.iter().all(|one| b.iter().all(|other| self.front.dominates(&one.join(other, 0))))
    }

    /// Take in all trees of a split whose sides are known.
    fn join(&mut self, column: usize, question: u32, most_leaves: u32) {
        if let [Some(a), Some(b)] = &self.sides[column] {
            self.gather.push_joined(&a.entries, &b.entries, question, most_leaves);
            self.front = self.gather.front();
        }
    }

    /// The bounds of all splits that are not done: no tree that is not in the front is below them.
    pub fn left_open(&self, shared: &Shared) -> Vec<Entry> {
        let mut bounds: Vec<Entry> = Vec::new();
        for column in (0..self.is_done.len()).filter(|&column| !self.is_done[column]) {
            let [a, b] = self.bounds(shared, column).map(|side| at_most(&side, MOST_ENTRIES));
            let joined = a.iter().flat_map(|one| b.iter().map(|other| one.join(other, 0)));
            bounds.extend(joined.filter(|bound| !self.front.dominates(bound)));
            bounds = Front::of_few(bounds).entries;
        }
        bounds
    }

    pub fn bytes(&self) -> usize {
        self.overlap.bytes() + self.gather.bytes() + self.front.bytes()
    }
}
