//! A closer look at one cut: the exact stumps on both of its sides, as far as they matter.

use super::known::{Around, Known, Place};
use super::label_pairs::Stump;
use super::two::{Question, Two};
use super::unit::Unit;
use crate::cost::{Cost, INFINITE};
use crate::kernel::ranks::interval_bound::Edge;
use crate::view::Missing;

/// Both sides of a cut as leaves: what they lose, and their worst losses.
struct Leaves<T> {
    lost: [T; 2],
    worst: [T; 2],
}

impl<T: Unit> Two<T> {
    /// The rows in the order of an axis, from now on.
    pub(super) fn line(&mut self, question: Question<T>, axis: usize) {
        if !self.lines[axis].filled {
            let Question { part, grid, .. } = question;
            self.lines[axis].fill(part, &part.node.axes[axis], grid, &self.many.plane);
        }
    }

    /// The stumps on both sides of a cut of an axis: exactly, or together at least `need`.
    /// `before`: a boundary before the cut. Bounds by axis are taken from `around` and kept at the
    /// cut's `place`.
    pub(super) fn cut(
        &mut self,
        question: Question<T>,
        (axis, before): (usize, usize),
        (known, place): (Edge, Place),
        around: &Around<T>,
        need: Cost,
    ) -> (Known, bool) {
        let kernel = question.kernel;
        let p = question.grid.axes.len();
        let leaves = self.leaves(question, (axis, before), known.cut);
        let cost = |lost: T, leaves: Cost| lost.cost() * kernel.unit + leaves * kernel.leaf_cost;
        let mut best = leaves.lost.map(|lost| cost(lost, 1));
        // What each side must cost so that no cut around this one can be below `need`.
        let closing = [need - known.right, need - known.left];
        // What stumps have to lose to be of no use: never more than a leaf does.
        let split = 2 * kernel.leaf_cost;
        let units = |cost: Cost| ((cost - split).max(0) + kernel.unit - 1) / kernel.unit;
        let enough = |cost: Cost| T::of(units(cost).min(T::MAX.cost()));
        let mut targets = [0, 1].map(|side| enough(closing[side].min(best[side])));
        if kernel.n_labels != 2 {
            self.pairs.choose(targets);
        }
        let mut bounds = std::mem::take(&mut self.bounds);
        bounds.clear();
        bounds.extend((0..p).map(|g| self.stumped.between((axis, g), around)));
        let mut seen = std::mem::take(&mut self.looked_at);
        seen.clear();
        // Of both axes of a column, the first has the stumps of either.
        let axes = &question.grid.axes;
        let is_second = |g: usize| kernel.n_labels == 2 && axes[g].missing == Some(Missing::Lowest);
        seen.extend((0..p).map(is_second));
        // The least bounds first: that stump is likely to be the best, and then others need no
        // look.
        loop {
            let mut next: Option<(Cost, usize)> = None;
            for (g, bounds) in bounds.iter().enumerate() {
                let may = bounds[0] < targets[0] || bounds[1] < targets[1];
                let sum = bounds[0].cost() + bounds[1].cost();
                if may && !seen[g] && next.is_none_or(|(least, _)| sum < least) {
                    next = Some((sum, g));
                }
            }
            let Some((_, g)) = next else { break };
            seen[g] = true;
            self.line(question, g);
            let Stump { found, least } =
                self.stump(question, (axis, g), known.cut as u32, leaves.worst, targets);
            for side in 0..2 {
                let least = least[side].min(leaves.lost[side]);
                bounds[g][side] = bounds[g][side].max(least);
                targets[side] = targets[side].min(found[side]);
                if found[side] < T::MAX {
                    best[side] = best[side].min(cost(found[side], 2));
                }
            }
        }
        let mut rest = [INFINITE; 2];
        for g in 0..p {
            if is_second(g) {
                bounds[g] = bounds[g - 1];
            }
            for side in 0..2 {
                self.stumped.set(side, (axis, g), place, bounds[g][side]);
                rest[side] = rest[side].min(cost(bounds[g][side], 2));
            }
        }
        (self.bounds, self.looked_at) = (bounds, seen);
        let exact = best[0] <= rest[0] && best[1] <= rest[1];
        let edge = Edge {
            cut: known.cut,
            left: best[0].min(rest[0]).max(known.left),
            right: best[1].min(rest[1]).max(known.right),
        };
        (Known { edge, place }, exact)
    }

    fn leaves(
        &mut self,
        question: Question<T>,
        (axis, before): (usize, usize),
        cut: i64,
    ) -> Leaves<T> {
        self.line(question, axis);
        let of = &question.part.node.axes[axis];
        let line = &self.lines[axis];
        if question.kernel.n_labels == 2 {
            let left = |&row: &u32| i64::from(of.rank[row as usize]) <= cut;
            let [lost, worst] = line.leaves(line.row.partition_point(left));
            return Leaves { lost, worst };
        }
        let first = match before {
            0 => -1,
            _ => i64::from(question.grid.axes[axis].last[before - 1]),
        };
        let before = (before, first);
        let lost = self.pairs.at_cut(line, (axis, of), (before, cut as u32), &self.many);
        Leaves { lost, worst: self.pairs.worst }
    }

    /// The stumps along axis `g` on both sides of a cut of axis `f`.
    fn stump(
        &mut self,
        question: Question<T>,
        (f, g): (usize, usize),
        cut: u32,
        worst: [T; 2],
        targets: [T; 2],
    ) -> Stump<T> {
        let (kernel, of) = (question.kernel, &question.part.node.axes[f]);
        let line = &self.lines[g];
        if kernel.n_labels != 2 {
            return self.pairs.stump((f, of), cut, (g, line), targets, kernel.level);
        }
        let seen = self.seen.get_mut(f * question.grid.axes.len() + g);
        let ranks = seen.filter(|_| of.n_ranks() < 1 << 16).map(|seen| {
            if seen.is_empty() {
                line.see(of, seen);
            }
            &seen[..]
        });
        let both = line.both(of, cut, worst, ranks, kernel.level);
        Stump { found: both, least: both }
    }
}
