//! The best trees of all sizes at once.
//!
//! Searches with fewer and fewer leaves look at the same rows again and again, because a node is
//! known by its budget. Here a node is known by its rows and depth, and has bounds for every number
//! of leaves (`by_size`): one look serves all of them, and a split is left alone only once it is
//! too dear with every number of leaves. All that is proved goes into the table under the budgets
//! that it is about. So this only prepares: the search that follows finds its nodes solved, reads
//! off the tree, and would go on from these bounds if a limit ended this early.
//!
//! One worker does it, depth first, and alternatives are not kept. A node that is visited again
//! looks at its rows again, and starts from what its earlier visit proved.

use super::budget::{Budget, NodeKey, UNLIMITED};
use super::by_size::{BySize, Splits};
use super::descend::{Shared, Worker};
use super::frame::{Frame, SIBLING_BYTES};
use super::look::Bounds;
use super::siblings::SIBLINGS;
use super::table::Entry;
use crate::bounds::{leaf, similarity};
use crate::cost::{Cost, INFINITE};
use crate::kernel::{SplitPrice, Unfinished};
use crate::run::Held;
use crate::search::common::sync::lock;
use crate::view::Fingerprint;

/// Deeper trees have so many sizes that bounds for each of them take longer than looks.
const DEEPEST: u32 = 6;

/// Rows with the depth of their trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rows {
    rows: Fingerprint,
    depth: u32,
}

impl Rows {
    /// The node of these rows with at most so many leaves.
    fn with(self, leaves: usize) -> NodeKey {
        let budget = Budget { depth: self.depth, leaves: leaves as u32 }.tight();
        NodeKey { rows: self.rows, budget }
    }
}

/// A side of a column whose own splits were bounded: what similar rows may learn from.
struct Sibling {
    side: (usize, usize),
    splits: Splits,
}

/// Where a node comes from: its parent's frame, its column and side there, and what was bounded
/// beside it.
struct Origin<'a, 'b> {
    parent: &'a Frame<'b>,
    side: (usize, usize),
    siblings: &'a [Sibling],
}

impl<'a> Worker<'a, '_> {
    /// Bound the best trees of all sizes of the whole problem, as far as its limits allow, until
    /// they are known or the run is stopped. What does not apply is left to the search that
    /// follows.
    pub fn bound_all_sizes(&mut self) {
        let root = self.shared.root.key;
        let rules = &self.shared.rules;
        let is_plain = self.shared.bits.context.is_none() && !rules.has_prices && !rules.floors;
        let is_whole = self.shared.part.is_none() && !self.shared.root.solved();
        let depth = root.budget.depth;
        if !is_plain || !is_whole || !(3..=DEEPEST).contains(&depth) {
            return;
        }
        // Tasks whose kernels see three levels at once are searched faster size by size.
        let by_sets = || {
            let (view, ask) = (&self.frames[0].view, self.ask_for_sides());
            self.kernel.bytes_for_both_sides(view, ask, 3).is_some()
        };
        if self.shared.bits.free.is_empty() && by_sets() {
            return;
        }
        let most = root.budget.most_leaves() as usize;
        // Smaller depths first: their trees bound the sides of every split from both ends.
        for depth in 3..=depth {
            let rows = Rows { rows: root.rows, depth };
            let target = vec![INFINITE; most.min(1 << depth)];
            if self.bound_sizes(0, rows, &target, None).is_err() {
                return;
            }
        }
    }

    /// Raise the bounds of all sizes of the rows in frame `at` to the target, or solve them.
    fn bound_sizes(
        &mut self,
        at: usize,
        rows: Rows,
        target: &[Cost],
        origin: Option<&Origin>,
    ) -> Result<(BySize, Splits), Unfinished> {
        let mut frame = self.take_frame(at);
        let found = self.bound_sizes_in(at, &mut frame, rows, target, origin);
        self.put_frame(at, frame);
        found
    }

    fn bound_sizes_in(
        &mut self,
        at: usize,
        frame: &mut Frame<'a>,
        rows: Rows,
        target: &[Cost],
        origin: Option<&Origin>,
    ) -> Result<(BySize, Splits), Unfinished> {
        let budget = Budget { depth: rows.depth, leaves: UNLIMITED };
        self.look_before(frame, budget, 0, false)?;
        let mut own = self.by_the_look(frame, rows.depth, target.len());
        self.take_over(rows, &mut own);
        let mut splits = self.splits_of(frame, rows, target.len());
        let mut held = Held::of(self.shared.run, splits.bytes());
        if let Some(origin) = origin {
            self.learn(origin, &own, &mut splits);
        }
        let mut siblings: Vec<Sibling> = Vec::new();
        let mut result = Ok(());
        while result.is_ok()
            && self.goes_on()
            && let Some(next) = splits.next(&own, target)
        {
            let side = (frame.column(splits.questions[next.split]), next.side);
            let mut child = splits.bounds_of(next.split, next.side);
            let origin = Origin { parent: frame, side, siblings: &siblings };
            let below = self.bound_child(at, rows.depth - 1, &next.target, &mut child, &origin);
            splits.tighten(next.split, next.side, &child);
            self.take_in(&splits, next.split, rows, &mut own);
            if frame.look.has_overlaps() {
                spread(frame, &mut splits, side, &child.lower);
            }
            if at == 0 {
                // The run reports what is known of the whole problem.
                splits.raise_node(&mut own);
                self.write_down(rows, &own);
            }
            match below {
                Ok(Some(below)) if frame.look.has_overlaps() => {
                    let bytes = keep(&mut siblings, Sibling { side, splits: below });
                    held.set(splits.bytes() + bytes);
                }
                below => result = below.map(|_| ()),
            }
        }
        if !self.goes_on() {
            result = Err(Unfinished::Stopped);
        }
        splits.raise_node(&mut own);
        self.write_down(rows, &own);
        result.map(|()| (own, splits))
    }

    /// Raise a child to its target, or solve it. Gives its splits if they were bounded.
    fn bound_child(
        &mut self,
        at: usize,
        depth: u32,
        target: &[Cost],
        child: &mut BySize,
        origin: &Origin,
    ) -> Result<Option<Splits>, Unfinished> {
        let (parent, (column, side)) = (origin.parent, origin.side);
        let known = parent.fingerprints[column];
        let rows = known.unwrap_or_else(|| parent.view.fingerprints(column, self.level))[side];
        let rows = Rows { rows, depth };
        self.take_over(rows, child);
        if child.reaches(target) {
            return Ok(None);
        }
        let budget = Budget { depth, leaves: UNLIMITED };
        self.build(at + 1, parent, (column, side), budget)?;
        if depth > 2 {
            let (found, splits) = self.bound_sizes(at + 1, rows, target, Some(origin))?;
            *child = found;
            return Ok(Some(splits));
        }
        let mut frame = self.take_frame(at + 1);
        let looked = self.look_before(&mut frame, budget, 0, false);
        if looked.is_ok() {
            *child = self.by_the_look(&frame, depth, target.len());
            for leaves in 3..=target.len() {
                let (key, cost) = (rows.with(leaves), child.upper[leaves - 1]);
                self.shared.table.insert_solved(key, cost, &self.shared.account);
            }
        }
        self.put_frame(at + 1, frame);
        looked.map(|()| None)
    }

    /// What one look proves of trees with up to `most` leaves: those of up to three it sees, and if
    /// there are only two levels all.
    fn by_the_look(&self, frame: &Frame, depth: u32, most: usize) -> BySize {
        let (rules, look) = (&self.shared.rules, &frame.look);
        let budget = Budget { depth, leaves: UNLIMITED };
        let leaf = leaf::at_most(look.whole.leaf, rules.leaf_cost);
        let mut best = [leaf; 4];
        for (column, _) in rules.splits(look, budget) {
            // Each side as a leaf, and with one more split at most.
            let [a, b] = [0, 1].map(|side| {
                let leaf = leaf::at_most(look.sides[column][side].leaf, rules.leaf_cost);
                let stump = look.stumps[column][side].saturating_add(2 * rules.leaf_cost);
                [leaf, leaf.min(stump)]
            });
            best[1] = best[1].min(a[0] + b[0]);
            best[2] = best[2].min(a[0] + b[1]).min(a[1] + b[0]);
            best[3] = best[3].min(a[1] + b[1]);
        }
        let mut upper: Vec<Cost> = Vec::with_capacity(most);
        for at in 0..most {
            let before = upper.last().copied().unwrap_or(leaf);
            upper.push(before.min(best[at.min(3)]));
        }
        let mut lower = upper.clone();
        if depth > 2 {
            let beyond = rules.whole(look, budget).lower;
            lower.iter_mut().skip(3).for_each(|lower| *lower = beyond.min(*lower));
        }
        BySize { lower, upper }
    }

    /// The splits of a node that may be of use, with what its look tells of both sides.
    fn splits_of(&self, frame: &Frame, rows: Rows, most: usize) -> Splits {
        let rules = &self.shared.rules;
        let (look, depth) = (&frame.look, rows.depth - 1);
        let width = (most - 1).min(1 << depth);
        let rest = self.with_less_depth(frame, rows, width);
        let mut splits = Splits::new(width);
        for (column, _) in rules.splits(look, Budget { depth: rows.depth, leaves: UNLIMITED }) {
            let sides = &look.sides[column];
            if frame.repeats(column) || !rules.supports(sides) {
                continue;
            }
            // A look sees three leaves as it sees more.
            let seen = [1, 2, 3].map(|leaves| {
                let budget = Budget { depth, leaves }.tight();
                let three = &look.three_leaves[column];
                [0, 1].map(|side| {
                    let losses = [look.stumps[column][side], three[side]];
                    rules.child(&sides[side], losses, SplitPrice::default(), budget)
                })
            });
            splits.push(frame.view.columns[column], |side, at| {
                let Bounds { lower, upper } = seen[at.min(2)][side];
                let similar = similarity::at_least(rest[at], sides[1 - side].worst);
                (lower.max(similar.min(upper)), upper)
            });
        }
        splits
    }

    /// What the rows of a node cost at least with a level less: a side costs that, less the most
    /// that the other side can cost.
    fn with_less_depth(&self, frame: &Frame, rows: Rows, width: usize) -> Vec<Cost> {
        if !self.shared.rules.similarity {
            return vec![0; width];
        }
        let less = Rows { depth: rows.depth - 1, ..rows };
        let mut known = self.by_the_look(frame, less.depth, width);
        if less.depth > 2 {
            // What a look sees of them is no bound of deeper trees.
            known.lower.fill(0);
            self.take_over(less, &mut known);
        }
        known.lower
    }

    /// Start from what similar siblings have proved of their splits.
    fn learn(&mut self, origin: &Origin, own: &BySize, splits: &mut Splits) {
        let Origin { parent, side: to, siblings } = *origin;
        if !parent.look.has_overlaps() {
            return;
        }
        let difference =
            |from: &Sibling| parent.look.difference(from.side.0, from.side.1, to.0, to.1);
        let mut near: Vec<(Cost, usize)> = (siblings.iter().enumerate())
            .map(|(index, sibling)| (difference(sibling), index))
            .filter(|&(lost, _)| lost < own.upper[0])
            .collect();
        near.sort_unstable();
        for &(_, index) in near.iter().take(SIBLINGS) {
            let Sibling { side, splits: known } = &siblings[index];
            let bits = self.shared.bits;
            let lost = &mut self.lost;
            let total = parent.view.lost(&bits.segments, bits.n_stats, *side, to, lost);
            let mut at = 0;
            for split in 0..splits.questions.len() {
                let question = splits.questions[split];
                while known.questions.get(at).is_some_and(|&known| known < question) {
                    at += 1;
                }
                if known.questions.get(at) == Some(&question) {
                    let ones = lost[parent.column(question)];
                    splits.raise(split, 0, known.lower(at, 0), total - ones);
                    splits.raise(split, 1, known.lower(at, 1), ones);
                }
            }
        }
    }

    /// Take over what the table knows.
    fn take_over(&self, rows: Rows, own: &mut BySize) {
        for leaves in 3..=own.lower.len() {
            match self.shared.table.get(&rows.with(leaves)) {
                Some(Entry::Solved(value)) => own.tighten(leaves - 1, value, value),
                Some(Entry::Open(node)) => {
                    own.tighten(leaves - 1, node.lower(), node.upper());
                }
                None => {}
            }
        }
    }

    /// Tell the table the lower bounds of a node. It knows the upper ones since they were found.
    fn write_down(&self, rows: Rows, own: &BySize) {
        for leaves in 3..=own.lower.len() {
            let key = rows.with(leaves);
            let (lower, upper) = (own.lower[leaves - 1], own.upper[leaves - 1]);
            if let Entry::Open(node) = self.shared.table.open(key, &self.shared.account) {
                // An upper bound of the look, which extraction finds again.
                node.lower_to(upper);
                node.raise(lower.min(node.upper()));
                self.shared.check(&node);
            }
        }
    }

    /// Lower a node to the trees that begin with a split, and tell the table.
    fn take_in(&self, splits: &Splits, split: usize, rows: Rows, own: &mut BySize) {
        let Shared { table, account, .. } = self.shared;
        splits.lower_to(split, own, |at, cost, choice| {
            // A look sees all trees of two leaves.
            if at < 2 {
                return;
            }
            if let Entry::Open(node) = table.open(rows.with(at + 1), account) {
                let mut state = lock(&node.state);
                if cost < node.upper() {
                    node.lower_to(cost);
                    state.choice = Some(choice);
                    state.deep = true;
                }
            }
        });
    }
}

/// What is proved of one child holds for the other sides of splits, less what the rows that only
/// the child has can cost.
fn spread(frame: &Frame, splits: &mut Splits, from: (usize, usize), lower: &[Cost]) {
    for split in 0..splits.questions.len() {
        let column = frame.column(splits.questions[split]);
        for side in 0..2 {
            let lost = frame.look.difference(from.0, from.1, column, side);
            splits.raise(split, side, lower, lost);
        }
    }
}

/// Keep what a child proved of its splits, if there is room. Gives the bytes of all that is kept.
fn keep(siblings: &mut Vec<Sibling>, child: Sibling) -> usize {
    let bytes = |siblings: &[Sibling]| siblings.iter().map(|each| each.splits.bytes()).sum();
    let held: usize = bytes(siblings);
    match siblings.iter_mut().find(|known| known.side == child.side) {
        Some(known) => *known = child,
        None if held + child.splits.bytes() <= SIBLING_BYTES => siblings.push(child),
        None => {}
    }
    bytes(siblings)
}
