//! One worker at one node: its leaf, its stumps, and the fronts of its splits within a budget.

use super::alternative::{Alternative, lower};
use super::candidates::Candidates;
use super::front::Front;
use super::node_front::{Entry, NodeFront};
use super::shared::Shared;
use super::statistics::{ColumnSums, sums_of};
use super::stopped::Stopped;
use super::subtree::{Split, SubtreeSketch};
use crate::bits::Level;
use crate::bounds::{Bound, Decisions, completion};
use crate::context::State;
use crate::cost::{Cost, INFINITE};
use crate::kernel::{Ask, Kernel, Lookahead, Side};
use crate::run::{Held, Pace};
use crate::search::common::open_work::Work;
use crate::search::common::sync::Arc;
use crate::view::{Fingerprint, Offer, View};

/// The fronts of both sides of a split.
pub type Children<'a, 'run, V> = [Arc<NodeFront<'a, 'run, V>>; 2];

/// One worker: the state that all of them share, and this one's scratch memory for each depth of
/// its path.
pub struct Worker<'w, 'a, 'run, F: Front> {
    pub shared: &'w Shared<'a, 'run, F>,
    kernel: Kernel<'a>,
    level: Level,
    frames: Vec<Frame>,
    column_sums: ColumnSums,
    mask: Vec<u64>,
    held: Held<'a, 'run>,
    /// Bytes of the kernel and of the sums among those.
    counted: usize,
    /// How often each bound decided here.
    pub decided: Decisions,
}

/// The rows and the look-ahead of the node at one depth of the path.
#[derive(Default)]
pub struct Frame {
    pub view: View,
    pub look: Lookahead,
    /// What the path means for what may be asked here and below.
    state: State,
    offer: Offer,
    fingerprints: Vec<Option<[Fingerprint; 2]>>,
    /// Its bytes among those that the worker holds.
    counted: usize,
}

impl<'w, 'a, 'run, F: Front> Worker<'w, 'a, 'run, F> {
    pub fn new(shared: &'w Shared<'a, 'run, F>) -> Self {
        let level = Level::detect();
        let state = shared.bits.context.as_ref().map_or_else(State::default, |c| c.start());
        let root = Frame { view: shared.bits.root.clone(), state, ..Frame::default() };
        Worker {
            shared,
            kernel: Kernel::new(shared.bits, shared.problem.task.as_ref(), level),
            level,
            frames: vec![root],
            column_sums: ColumnSums::default(),
            mask: Vec::new(),
            held: Held::new(shared.run),
            counted: 0,
            decided: Decisions::default(),
        }
    }

    /// The splits of the node in frame `at` that may be within the budget, the least bound first.
    pub fn alternatives(
        &mut self,
        at: usize,
        depth: u32,
        budget: Cost,
    ) -> Result<Vec<Alternative>, Stopped> {
        let shared = self.shared;
        let frame = &mut self.frames[at];
        let halt = || shared.run.stopped().is_some();
        // Where the relaxation costs nothing, there is nothing to learn from stumps.
        let stumps = depth >= 2 && shared.front.has_relaxation();
        let ask = Ask { min_rows: shared.min_rows, stumps, ..Ask::default() };
        let Frame { view, state, offer, look, .. } = frame;
        let context = shared.bits.context.as_ref();
        let offer = context.and_then(|context| context.offer(state, &view.columns, offer));
        let looked = self.kernel.look(view, ask, offer, &halt, look);
        shared.run.add_kernel_calls(1);
        looked.map_err(|why| shared.give_up(why))?;
        frame.fingerprints.clear();
        if depth >= 3 {
            self.kernel.fingerprints(&frame.view, &mut frame.fingerprints);
        }
        let leaf_cost = shared.problem.leaf_cost;
        let mut found = Vec::new();
        let look = &frame.look;
        for (column, (sides, stumps)) in look.sides.iter().zip(&look.stumps).enumerate() {
            let is_small = |side: &Side| shared.min_rows > 1 && side.rows < shared.min_rows;
            if look.is_forbidden(column) || sides.iter().any(is_small) {
                continue;
            }
            let prices = [0, 1].map(|side| look.price(column, side));
            let lower =
                [0, 1].map(|s| lower(&sides[s], stumps[s], prices[s].next, depth - 1, leaf_cost));
            let price = prices[0].this + prices[1].this;
            let alternative = Alternative { column, sides: *sides, lower, price };
            if completion::is_within(alternative.bound(), budget) {
                found.push(alternative);
            } else {
                self.decided.count(Bound::Completion);
            }
        }
        found.sort_by_key(Alternative::bound);
        self.count(at);
        Ok(found)
    }

    /// Both fronts of a split of the node in frame `at`, complete for trees of at most `budget`
    /// together, its price included. `depth`: of the children. `None` if there is no such tree.
    pub fn children(
        &mut self,
        at: usize,
        split: &Alternative,
        depth: u32,
        budget: Cost,
    ) -> Result<Option<Children<'a, 'run, F::Value>>, Stopped> {
        // The smaller side is cheaper to refute.
        let first = usize::from(split.sides[1].worst < split.sides[0].worst);
        let second = 1 - first;
        let budget = budget - split.price;
        let within = completion::left_for_part(budget, split.lower[second]);
        let a = self.child(at, split, first, depth, within)?;
        let Some(least) = a.least(within) else {
            self.decided.count(Bound::Completion);
            return Ok(None);
        };
        let within = completion::left_for_part(budget, least);
        let b = self.child(at, split, second, depth, within)?;
        if b.least(within).is_none() {
            self.decided.count(Bound::Completion);
            return Ok(None);
        }
        Ok(Some(if first == 0 { [a, b] } else { [b, a] }))
    }

    fn child(
        &mut self,
        at: usize,
        split: &Alternative,
        side: usize,
        depth: u32,
        budget: Cost,
    ) -> Result<Arc<NodeFront<'a, 'run, F::Value>>, Stopped> {
        let shared = self.shared;
        let least = split.sides[side].least;
        let context = shared.bits.context.as_ref();
        let state = context.map_or_else(State::default, |context| {
            let frame = &self.frames[at];
            context.enter(&frame.state, frame.view.columns[split.column])
        });
        let levels = shared.levels(depth, least, budget);
        let key = if levels >= 2 {
            let frame = &self.frames[at];
            let known = frame.fingerprints.get(split.column).copied().flatten();
            let fingerprints =
                known.unwrap_or_else(|| frame.view.fingerprints(split.column, self.level));
            // Equal rows have equal fronts where their paths leave the same to be asked.
            Some((fingerprints[side] ^ state.key(), depth))
        } else {
            None
        };
        if let Some(front) = key.and_then(|key| shared.known.get(key, budget)) {
            return Ok(front);
        }
        if self.frames.len() == at + 1 {
            self.frames.push(Frame::default());
        }
        let (above, below) = self.frames.split_at_mut(at + 1);
        let (view, child) = (&above[at].view, &mut below[0].view);
        view.child((split.column, side), depth >= 3, self.level, child, &mut self.mask);
        if let Some(context) = context {
            context.strike(&state, &child.columns, &mut self.mask);
        }
        let varying: usize = self.mask.iter().map(|word| word.count_ones() as usize).sum();
        if varying < child.columns.len() {
            child.keep(&self.mask, self.level);
        }
        below[0].state = state;
        let front = Arc::new(self.front(at + 1, depth, least, budget)?);
        if let Some(key) = key {
            let view = &self.frames[at + 1].view;
            if !view.keys.is_empty() {
                shared.known.seen.check(key.0, view.row_keys());
            }
            shared.known.put(key, front.clone());
        }
        Ok(front)
    }

    /// The front of the node in frame `at`.
    fn front(
        &mut self,
        at: usize,
        depth: u32,
        least: Cost,
        budget: Cost,
    ) -> Result<NodeFront<'a, 'run, F::Value>, Stopped> {
        let shared = self.shared;
        shared.run.add_nodes(1);
        if shared.run.check_time().is_some() {
            return Err(Stopped);
        }
        let leaf_cost = shared.problem.leaf_cost;
        let sums = self.sums(at);
        let mut candidates = Candidates::new(shared, sums.clone());
        let (mut least_bound, mut beyond) = (INFINITE, 0);
        shared.front.leaf(&sums, &mut |label, bound, value| {
            least_bound = least_bound.min(bound);
            let bound = bound + leaf_cost;
            if completion::is_within(bound, budget) {
                candidates.push(bound, 1, value, || SubtreeSketch::Leaf(label));
            } else {
                beyond += 1;
            }
        });
        self.decided.add(Bound::Completion, beyond);
        let levels = shared.levels(depth, least, budget);
        self.decided.add_if(levels < shared.most_levels(depth), Some(Bound::AffordableLeaves));
        match levels {
            0 => {}
            1 => self.stumps(at, &sums, budget, &mut candidates)?,
            levels => {
                let pace = &mut Pace::new(shared.run);
                let splits = self.alternatives(at, levels, budget)?;
                shared.check_bound(least_bound, self.frames[at].look.whole.leaf)?;
                for split in splits {
                    let children = self.children(at, &split, depth - 1, budget)?;
                    let Some([left, right]) = children else { continue };
                    let question = self.frames[at].view.columns[split.column];
                    left.pairs(&right, budget - split.price, pace, |a, b| {
                        let leaves = a.leaves + b.leaves;
                        if leaves < shared.max_leaves {
                            let value = shared.join(a, b, split.price);
                            let sketch = || joined(question, a, b);
                            candidates.push(a.bound + b.bound + split.price, leaves, value, sketch);
                        }
                    })?;
                }
            }
        }
        candidates.done(budget, &mut self.decided)
    }

    /// All stumps within the budget, from the sums of single columns alone.
    fn stumps(
        &mut self,
        at: usize,
        sums: &[i64],
        budget: Cost,
        candidates: &mut Candidates<'w, 'a, 'run, F>,
    ) -> Result<(), Stopped> {
        let shared = self.shared;
        let (front, n) = (shared.front, sums.len());
        let penalties = 2 * shared.problem.leaf_cost;
        let Frame { view, state, .. } = &self.frames[at];
        let context = shared.bits.context.as_ref();
        let filled = self.column_sums.fill(shared.bits, n, shared.count_rows, view, self.level);
        shared.run.add_kernel_calls(1);
        filled.map_err(|why| shared.give_up(why))?;
        let whole = self.column_sums.whole();
        let mut zero = vec![0; n];
        let mut lefts = Vec::new();
        let pace = &mut Pace::new(shared.run);
        for (column, &question) in view.columns.iter().enumerate() {
            if context.is_some_and(|context| !context.allows(state, question)) {
                continue;
            }
            let (one, rows) = self.column_sums.ones(column).split_at(n);
            if shared.min_rows > 1 && rows[0].min(whole[n] - rows[0]) < shared.min_rows {
                continue;
            }
            for (zero, (all, one)) in zero.iter_mut().zip(whole.iter().zip(one)) {
                *zero = all - one;
            }
            let price = context.map_or(0, |context| context.price(state, question));
            let price = shared.paid_by(sums, price);
            let beside = penalties + price;
            let within = budget - beside;
            let right_bound = front.leaf_bound(one);
            if !completion::is_within(front.leaf_bound(&zero) + right_bound, within) {
                self.decided.count(Bound::Completion);
                continue;
            }
            if pace.is_over(1 + lefts.len() * lefts.len()) {
                return Err(Stopped);
            }
            lefts.clear();
            front.leaf(&zero, &mut |label, bound, value| {
                if bound + right_bound <= within {
                    lefts.push((label, bound, value));
                }
            });
            front.leaf(one, &mut |label, bound, value| {
                for (left, left_bound, left_value) in &lefts {
                    if left_bound + bound <= within {
                        let labels = [*left, label];
                        let bound = left_bound + bound + beside;
                        let value = shared.paid(front.join(left_value, &value), price);
                        let sketch = || SubtreeSketch::Stump { question, labels };
                        candidates.push(bound, 2, value, sketch);
                    }
                }
            });
        }
        Ok(())
    }

    /// The summed statistics of the node in frame `at`.
    pub fn sums(&self, at: usize) -> Vec<i64> {
        sums_of(self.shared.bits, self.shared.n_statistics, &self.frames[at].view)
    }

    /// The question of a column of the root.
    pub fn question(&self, column: usize) -> u32 {
        self.frames[0].view.columns[column]
    }

    /// The cost of all rows as one leaf of the relaxation, after a look at the root.
    pub fn root_leaf(&self) -> Cost {
        self.frames[0].look.whole.leaf
    }

    /// Tell the run how much this worker holds.
    fn count(&mut self, at: usize) {
        let frame = &mut self.frames[at];
        let fingerprints = frame.fingerprints.capacity() * size_of::<Option<[Fingerprint; 2]>>();
        let paths = frame.state.bytes() + frame.offer.bytes();
        let held = frame.view.bytes() + frame.look.bytes() + fingerprints + paths;
        let shared = self.kernel.bytes() + self.column_sums.bytes();
        self.held.replace(frame.counted + self.counted, held + shared);
        (frame.counted, self.counted) = (held, shared);
    }
}

impl<F: Front> Drop for Worker<'_, '_, '_, F> {
    fn drop(&mut self) {
        self.shared.run.add_decisions(&self.decided);
    }
}

/// A split with a subtree of either side.
pub fn joined<V>(question: u32, left: &Entry<V>, right: &Entry<V>) -> SubtreeSketch {
    SubtreeSketch::Split(Split { question, children: [left.tree.clone(), right.tree.clone()] })
}
