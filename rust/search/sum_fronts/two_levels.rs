//! The front of trees of two levels of splits, from the counts of pairs of columns.
//!
//! The rows on one side of a column, split by another column, sum up to numbers that are linear in
//! how much weight both columns share. So all stumps of a side are a few vector operations for each
//! ordered pair of labels, and their front is gathered from them; the two fronts of a column are
//! joined then. The heavier side comes first, because often the node's front dominates all that its
//! stumps sum up to without the other side, which is not looked at then.

use super::axes::Axes;
use super::entry::{Entry, Front, MOST_SUMS};
use super::flat::Flat;
use super::gather::Gather;
use super::shared::Shared;
use crate::bits::Level;
use crate::context::State;
use crate::kernel::Counts;
use crate::view::View;

/// Scratch memory, kept from node to node.
#[derive(Debug, Default)]
pub struct TwoLevels {
    /// By class, then rows, and column: what its 1 side weighs.
    ones: Vec<i64>,
    /// By place among four columns, class, then rows, and column.
    pairs: Vec<i64>,
    /// By class, then rows, and column: the part of one side of the first column.
    part: Vec<i64>,
    sums: [Vec<i64>; MOST_SUMS],
    is_allowed: Vec<bool>,
    weights: Vec<i64>,
    /// Stumps of one side: in a table of small numbers if they fit, else in the other.
    flat: Flat,
    stumps: Gather,
    fronts: [Vec<Entry>; 2],
    /// The node's front as it was a few columns ago.
    known: Front,
}

/// The node whose trees are searched.
#[derive(Clone, Copy)]
pub struct Node<'v> {
    pub view: &'v View,
    pub state: &'v State,
    /// The counts of the view's columns.
    pub counts: &'v Counts,
    pub level: Level,
}

impl TwoLevels {
    /// All splits of a node, each side of which is a leaf or a stump. False if the run was stopped
    /// meanwhile, which `halt` tells.
    pub fn splits(
        &mut self,
        shared: &Shared,
        node: Node,
        halt: impl Fn() -> bool,
        gather: &mut Gather,
    ) -> bool {
        self.known = Front::default();
        let n = node.view.columns.len();
        let (padded, width) = (node.counts.padded(), shared.axes.n_classes() + 1);
        self.ones.clear();
        self.ones.resize(width * padded, 0);
        for column in 0..n {
            for (statistic, &one) in node.counts.ones(column).iter().enumerate() {
                self.ones[statistic * padded + column] = one;
            }
        }
        let context = shared.bits.context.as_ref();
        let wants_rows = shared.min_rows > 1;
        for first in (0..n).step_by(4) {
            if halt() {
                return false;
            }
            node.counts.pairs(shared.bits, node.level, first, wants_rows, &mut self.pairs);
            if gather.is_flat() {
                self.known = gather.front();
            }
            for column in first..n.min(first + 4) {
                let question = node.view.columns[column];
                self.is_allowed.clear();
                if let Some(context) = context {
                    if !context.allows(node.state, question) {
                        continue;
                    }
                    let below = context.enter(node.state, question);
                    let allows = |&other: &u32| context.allows(&below, other);
                    self.is_allowed.extend(node.view.columns.iter().map(allows));
                }
                node.level.run(
                    #[inline(always)]
                    || self.split(shared, node.counts, (column, question), gather),
                );
            }
        }
        true
    }

    /// The split by one column.
    #[inline(always)]
    fn split(
        &mut self,
        shared: &Shared,
        counts: &Counts,
        (column, question): (usize, u32),
        gather: &mut Gather,
    ) {
        let (axes, min_rows) = (shared.axes, shared.min_rows);
        let (n_classes, padded) = (axes.n_classes(), counts.padded());
        let ones = counts.ones(column);
        let rows_of = |side: usize| {
            let one = ones[n_classes];
            if side == 1 { one } else { counts.whole[n_classes] - one }
        };
        if min_rows > 1 && rows_of(0).min(rows_of(1)) < min_rows {
            return;
        }
        let (one, all): (i64, i64) =
            (ones[..n_classes].iter().sum(), counts.whole[..n_classes].iter().sum());
        let heavier = usize::from(2 * one > all);
        for side in [heavier, 1 - heavier] {
            let from = column % 4 * (n_classes + 1) * padded;
            let both = &self.pairs[from..from + (n_classes + 1) * padded];
            self.weights.clear();
            self.part.clear();
            if side == 1 {
                self.weights.extend_from_slice(&ones[..n_classes]);
                self.part.extend_from_slice(both);
            } else {
                let rest = counts.whole.iter().zip(&ones[..n_classes]);
                self.weights.extend(rest.map(|(all, one)| all - one));
                self.part.extend(self.ones.iter().zip(both).map(|(one, both)| one - both));
            }
            let leaves = shared.one_leaf();
            let worst = axes.worst(&self.weights);
            let is_flat = self.flat.begin(worst, leaves, axes.n_sums());
            if is_flat {
                axes.leaf_entries(&self.weights, 0).for_each(|leaf| self.flat.push(&leaf));
            } else {
                self.stumps.begin(worst, 2 * leaves);
                let entries = axes.leaf_entries(&self.weights, leaves);
                entries.for_each(|entry| self.stumps.push(entry));
            }
            let rows = (min_rows > 1).then_some((rows_of(side), min_rows));
            self.stumps(axes, (counts.n_columns(), padded), rows, (leaves, is_flat));
            let front = &mut self.fronts[side];
            if is_flat {
                self.flat.front_into(front)
            } else {
                self.stumps.front_into(front)
            }
            // Whatever the other side adds, no sum is below what this side sums up to.
            if side == heavier && front.iter().all(|entry| self.known.dominates(entry)) {
                return;
            }
        }
        let [a, b] = &self.fronts;
        gather.push_joined(a, b, question, shared.most_leaves(2));
    }

    /// All stumps of one side, whose parts are in `part`. `rows`: of the side, and what each leaf
    /// must have at least, if that is more than one. `leaf`: how many leaves it counts for.
    #[inline(always)]
    fn stumps(
        &mut self,
        axes: &Axes,
        (n, padded): (usize, usize),
        rows: Option<(i64, i64)>,
        (leaf, is_flat): (u32, bool),
    ) {
        let TwoLevels { part, sums, is_allowed, weights, flat, stumps, .. } = self;
        let n_classes = axes.n_classes();
        for zero in 0..axes.n_labels() {
            let base = axes.leaf(weights, zero);
            for one in (0..axes.n_labels()).filter(|&one| one != zero) {
                for (at, sums) in sums[..axes.n_sums()].iter_mut().enumerate() {
                    sums.clear();
                    sums.resize(n, base[at]);
                    for class in 0..n_classes {
                        let more = axes.cost(at, class, one) - axes.cost(at, class, zero);
                        let part = &part[class * padded..][..n];
                        add_times(sums, part, more);
                    }
                }
                let has_rows = |at: usize| {
                    rows.is_none_or(|(all, least)| {
                        let own = part[n_classes * padded + at];
                        own >= least && all - own >= least
                    })
                };
                let is_open = |at: usize| is_allowed.get(at).is_none_or(|&is| is) && has_rows(at);
                match (is_flat, rows.is_none() && is_allowed.is_empty()) {
                    (true, true) => flat.push_all(sums, |_| true),
                    (true, false) => flat.push_all(sums, is_open),
                    _ => stumps.push_all(sums, 2 * leaf, is_open),
                }
            }
        }
    }

    pub fn bytes(&self) -> usize {
        let lists = [&self.ones, &self.pairs, &self.part, &self.weights];
        let lists = lists.into_iter().chain(&self.sums);
        let fronts = self.fronts.iter().map(|front| front.capacity() * size_of::<Entry>());
        lists.map(|list| list.capacity() * 8).sum::<usize>()
            + self.is_allowed.capacity()
            + self.flat.bytes()
            + self.stumps.bytes()
            + self.known.bytes()
            + fronts.sum::<usize>()
    }
}

/// Most costs are 0 or 1, and a product of 64 bits takes longer than a sum.
#[inline(always)]
fn add_times(sums: &mut [i64], part: &[i64], times: i64) {
    match times {
        0 => {}
        1 => sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part),
        -1 => sums.iter_mut().zip(part).for_each(|(sum, part)| *sum -= part),
        _ => sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part * times),
    }
}
