//! One node: its leaf, its stumps, and the fronts of its splits within a budget.

use std::sync::Arc;

use super::Front;
use super::front::{List, Made, Pile, Split};
use super::solve::Shared;
use crate::bits::Level;
use crate::bounds::{leaf, look_ahead};
use crate::cost::{Cost, INFINITE};
use crate::kernel::{Ask, Counts, Kernel, Lookahead, Side};
use crate::run::Status;
use crate::view::{Key, View};

/// The run was stopped: what was being worked on is not known.
pub struct Stopped;

/// One worker: the shared memo, and its own scratch memory for each depth of its path.
pub struct Worker<'w, 'a, 'run, F: Front> {
    pub shared: &'w Shared<'a, 'run, F>,
    kernel: Kernel<'a>,
    level: Level,
    frames: Vec<Frame>,
    counts: Counts,
    mask: Vec<u64>,
    counted: usize,
}

/// The rows and the look-ahead of the node at one depth of the path.
#[derive(Default)]
pub struct Frame {
    pub view: View,
    pub look: Lookahead,
    prints: Vec<Option<[Key; 2]>>,
    counted: usize,
}

/// A split that may be part of a tree within the budget.
#[derive(Debug, Clone, Copy)]
pub struct Alternative {
    pub column: usize,
    pub sides: [Side; 2],
    /// What each side costs at least in the relaxation.
    pub lower: [Cost; 2],
}

impl Alternative {
    pub fn bound(&self) -> Cost {
        self.lower[0] + self.lower[1]
    }
}

impl<'w, 'a, 'run, F: Front> Worker<'w, 'a, 'run, F> {
    pub fn new(shared: &'w Shared<'a, 'run, F>) -> Self {
        let level = Level::detect();
        let root = Frame { view: shared.bits.root.clone(), ..Frame::default() };
        Worker {
            shared,
            kernel: Kernel::new(shared.bits, shared.problem.task.as_ref(), level),
            level,
            frames: vec![root],
            counts: Counts::default(),
            mask: Vec::new(),
            counted: 0,
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
        let ask = Ask { min_rows: shared.min_rows, stumps: depth >= 2, ..Ask::default() };
        let looked = self.kernel.look(&frame.view, ask, None, &halt, &mut frame.look);
        shared.run.add_kernel_calls(1);
        if looked.is_err() {
            shared.run.stop(Status::MemoryLimit);
            return Err(Stopped);
        }
        frame.prints.clear();
        if depth >= 3 {
            self.kernel.fingerprints(&frame.view, &mut frame.prints);
        }
        let leaf_cost = shared.problem.leaf_cost;
        let mut found = Vec::new();
        for (column, (sides, stumps)) in frame.look.sides.iter().zip(&frame.look.stumps).enumerate()
        {
            if shared.min_rows > 1 && sides.iter().any(|side| side.rows < shared.min_rows) {
                continue;
            }
            let lower = [0, 1].map(|s| lower(&sides[s], stumps[s], depth - 1, leaf_cost));
            let alternative = Alternative { column, sides: *sides, lower };
            if alternative.bound() <= budget {
                found.push(alternative);
            }
        }
        found.sort_by_key(Alternative::bound);
        self.count(at);
        Ok(found)
    }

    /// Both fronts of a split of the node in frame `at`, complete for trees of at most `budget` together.
    /// `depth`: of the children. `None` if there is no such tree.
    #[allow(clippy::type_complexity)]
    pub fn children(
        &mut self,
        at: usize,
        split: &Alternative,
        depth: u32,
        budget: Cost,
    ) -> Result<Option<[Arc<List<'a, 'run, F::Value>>; 2]>, Stopped> {
        // The smaller side is cheaper to refute.
        let first = usize::from(split.sides[1].worst < split.sides[0].worst);
        let second = 1 - first;
        let within = budget - split.lower[second];
        let a = self.child(at, split, first, depth, within)?;
        let Some(least) = a.least(within) else { return Ok(None) };
        let within = budget - least;
        let b = self.child(at, split, second, depth, within)?;
        if b.least(within).is_none() {
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
    ) -> Result<Arc<List<'a, 'run, F::Value>>, Stopped> {
        let shared = self.shared;
        let least = split.sides[side].least;
        let levels = shared.levels(depth, least, budget);
        let key = if levels >= 2 {
            let frame = &self.frames[at];
            let known = frame.prints.get(split.column).copied().flatten();
            let prints = known.unwrap_or_else(|| frame.view.fingerprints(split.column, self.level));
            Some((prints[side], depth))
        } else {
            None
        };
        if let Some(list) = key.and_then(|key| shared.memo.get(key, budget)) {
            return Ok(list);
        }
        if self.frames.len() == at + 1 {
            self.frames.push(Frame::default());
        }
        let (above, below) = self.frames.split_at_mut(at + 1);
        let (view, child) = (&above[at].view, &mut below[0].view);
        view.child((split.column, side), depth >= 3, self.level, child, &mut self.mask);
        let varying: usize = self.mask.iter().map(|word| word.count_ones() as usize).sum();
        if varying < child.columns.len() {
            child.keep(&self.mask, self.level);
        }
        let list = Arc::new(self.front(at + 1, depth, least, budget)?);
        if let Some(key) = key {
            shared.memo.put(key, list.clone());
        }
        Ok(list)
    }

    /// The front of the node in frame `at`.
    fn front(
        &mut self,
        at: usize,
        depth: u32,
        least: Cost,
        budget: Cost,
    ) -> Result<List<'a, 'run, F::Value>, Stopped> {
        let shared = self.shared;
        shared.run.add_nodes(1);
        if shared.run.check_time().is_some() {
            return Err(Stopped);
        }
        let leaf_cost = shared.problem.leaf_cost;
        let weights = shared.weights(&self.frames[at].view);
        let mut pile = Pile::new(shared, weights.clone());
        shared.front.leaf(&weights, &mut |label, bound, value| {
            let bound = bound + leaf_cost;
            if bound <= budget {
                pile.push(bound, 1, value, || Made::Leaf(label));
            }
        });
        match shared.levels(depth, least, budget) {
            0 => {}
            1 => self.stumps(at, &weights, budget, &mut pile)?,
            levels => {
                for split in self.alternatives(at, levels, budget)? {
                    let children = self.children(at, &split, depth - 1, budget)?;
                    let Some([left, right]) = children else { continue };
                    let question = self.frames[at].view.columns[split.column];
                    pairs(&left, &right, budget, |a, b| {
                        let leaves = a.leaves + b.leaves;
                        if leaves < shared.max_leaves {
                            let value = shared.front.join(&a.value, &b.value);
                            pile.push(a.bound + b.bound, leaves, value, || {
                                let children = [a.tree.clone(), b.tree.clone()];
                                Made::Split(Split { question, children })
                            });
                        }
                    });
                }
            }
        }
        pile.done(budget)
    }

    /// All stumps within the budget, straight from counts.
    fn stumps(
        &mut self,
        at: usize,
        weights: &[i64],
        budget: Cost,
        pile: &mut Pile<'w, 'a, 'run, F>,
    ) -> Result<(), Stopped> {
        let shared = self.shared;
        let (front, leaf_cost) = (shared.front, shared.problem.leaf_cost);
        let view = &self.frames[at].view;
        let filled = self.counts.fill(shared.bits, weights.len(), view, self.level);
        shared.run.add_kernel_calls(1);
        if filled.is_err() {
            shared.run.stop(Status::MemoryLimit);
            return Err(Stopped);
        }
        let n = weights.len();
        let mut zero = vec![0; n];
        let mut lefts = Vec::new();
        for (column, &question) in view.columns.iter().enumerate() {
            let (one, rows) = (&self.counts.ones(column)[..n], self.counts.ones(column)[n]);
            for (zero, (all, one)) in zero.iter_mut().zip(self.counts.whole.iter().zip(one)) {
                *zero = all - one;
            }
            let least_rows = rows.min(self.counts.whole[n] - rows);
            let both = one.iter().any(|&w| w > 0) && zero.iter().any(|&w| w > 0);
            if !both || (shared.min_rows > 1 && least_rows < shared.min_rows) {
                continue;
            }
            let within = budget - 2 * leaf_cost;
            let right_bound = front.leaf_bound(one);
            if front.leaf_bound(&zero) + right_bound > within {
                continue;
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
                        let bound = left_bound + bound + 2 * leaf_cost;
                        pile.push(bound, 2, front.join(left_value, &value), || Made::Stump {
                            question,
                            labels,
                        });
                    }
                }
            });
        }
        Ok(())
    }

    /// The question of a column of the root.
    pub fn question(&self, column: usize) -> u32 {
        self.frames[0].view.columns[column]
    }

    pub fn root(&self) -> (&View, &Side) {
        (&self.frames[0].view, &self.frames[0].look.whole)
    }

    /// Tell the run how much this worker holds.
    fn count(&mut self, at: usize) {
        let frame = &mut self.frames[at];
        let prints = frame.prints.capacity() * size_of::<Option<[Key; 2]>>();
        let held = frame.view.bytes() + frame.look.bytes() + prints;
        let shared = self.kernel.bytes() + self.counts.bytes();
        let change = (held + shared) as i64 - (frame.counted + self.counted) as i64;
        (frame.counted, self.counted) = (held, shared);
        self.shared.run.add_bytes(change);
    }
}

impl<F: Front> Drop for Worker<'_, '_, '_, F> {
    fn drop(&mut self) {
        let frames: usize = self.frames.iter().map(|frame| frame.counted).sum();
        self.shared.run.add_bytes(-((frames + self.counted) as i64));
    }
}

/// What a side costs at least in the relaxation, with so many levels below it.
fn lower(side: &Side, stump: Cost, depth: u32, leaf_cost: Cost) -> Cost {
    let mut known = leaf::at_most(side.leaf, leaf_cost);
    if depth == 0 {
        return known;
    }
    if stump < INFINITE {
        known = known.min(stump + 2 * leaf_cost);
    }
    if depth == 1 {
        return known;
    }
    look_ahead::at_least(known, side.least, look_ahead::BEYOND_DEPTH_ONE, leaf_cost)
}

/// Every pair that is within the budget together.
pub fn pairs<V>(
    left: &List<'_, '_, V>,
    right: &List<'_, '_, V>,
    budget: Cost,
    mut each: impl FnMut(&super::front::Entry<V>, &super::front::Entry<V>),
) {
    let Some(least) = right.entries.first() else { return };
    for a in left.entries.iter().take_while(|a| a.bound + least.bound <= budget) {
        for b in right.entries.iter().take_while(|b| a.bound + b.bound <= budget) {
            each(a, b);
        }
    }
}
