//! The axes of a part: what pairs of axes say of the cuts of each, at the boundaries of its blocks.
//!
//! For two labels all pairs are counted at once. For more, what two leaves lose at least bounds
//! each axis first, and an axis is counted when it has the least bound of all.

use super::grid::Grid;
use super::kernel::LabelKernel;
use super::known::Place;
use super::pairs::{Stumps, stumps};
use super::two::{Question, Two, What};
use super::unit::{LANES, Unit};
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::Halt;
use crate::kernel::ranks::interval_bound::{Item, between};
use crate::view::Missing;

/// By side, then boundary of an axis: what the best stump that is known costs.
type Uppers = [Vec<Cost>; 2];

fn unknown(boundaries: usize) -> Uppers {
    [vec![INFINITE; boundaries], vec![INFINITE; boundaries]]
}

impl<T: Unit> Two<T> {
    /// For two labels, count all axes.
    pub(super) fn count_all(&mut self, question: Question<T>, halt: Halt) {
        let Question { kernel, grid, .. } = question;
        let whole = self.upper;
        self.flags.count(&self.rows, grid, kernel.level);
        self.added.begin(&self.rows, grid);
        let mut uppers: Vec<Uppers> = grid.axes.iter().map(|axis| unknown(axis.n() + 1)).collect();
        self.begin_best(grid);
        for f in 0..grid.axes.len() {
            if halt() {
                self.halted = true;
                self.upper = whole;
                return;
            }
            self.pairs_of(f, grid, kernel, &mut uppers[f]);
        }
        let best_of = std::mem::take(&mut self.best_of);
        for (f, uppers) in uppers.iter_mut().enumerate() {
            if best_of[f].is_known() {
                self.bound_ends(f, kernel, &best_of[f], uppers);
            }
            self.offer(f, grid, uppers);
        }
        self.best_of = best_of;
        let axes = 0..grid.axes.len();
        let lower = axes.map(|f| self.axis_bound(f, grid)).min().unwrap_or(INFINITE);
        self.lower = lower.min(self.upper);
    }

    /// No pair is counted yet.
    fn begin_best(&mut self, grid: &Grid<T>) {
        self.best_of.resize_with(grid.axes.len(), Stumps::default);
        for (best, axis) in self.best_of.iter_mut().zip(&grid.axes) {
            best.begin_least((axis.n() + 1).next_multiple_of(LANES));
        }
    }

    /// For more labels, bound each axis by what two leaves lose at least.
    pub(super) fn open_axes(&mut self, question: Question<T>) {
        let Question { kernel, grid, .. } = question;
        let p = grid.axes.len();
        self.many.begin(&self.rows, grid, kernel.n_labels);
        self.pairs.begin(p);
        self.filled = true;
        self.uncounted = p as u64;
        self.paired.clear();
        self.paired.resize(p * p, false);
        self.begin_best(grid);
        for f in 0..p {
            let (many, out) = (&self.many, &mut self.stumps);
            kernel.level.run(
                #[inline(always)]
                || many.two_leaves(f, out),
            );
            let mut none = unknown(grid.axes[f].n() + 1);
            let stumps = std::mem::take(&mut self.stumps);
            self.bound_ends(f, kernel, &stumps, &mut none);
            self.stumps = stumps;
            let bound = self.axis_bound(f, grid);
            self.push(Item { bound, axis: f, what: (What::Axis, (0, 0)) });
        }
    }

    /// Count the axis with the least bound, until one that is counted has the least, or `target` is
    /// reached. So the bound is what it would be if all axes were counted.
    pub(super) fn count_least(&mut self, question: Question<T>, target: Cost, halt: Halt) {
        while let Some(item) = self.items.peek() {
            let (bound, axis) = (item.bound, item.axis);
            let is_open = matches!(item.what.0, What::Axis);
            self.lower = self.lower.max(bound.min(self.upper));
            if !is_open || bound >= target.min(self.upper) || halt() {
                return;
            }
            self.items.pop();
            self.count_axis(question, axis);
            let bound = self.axis_bound(axis, question.grid).max(bound);
            self.push(Item { bound, axis, what: (What::Counted, (0, 0)) });
        }
        self.lower = self.upper;
    }

    /// For more than two labels, count all pairs of an axis. A pair says as much of the other axis,
    /// which need not count it again.
    pub(super) fn count_axis(&mut self, question: Question<T>, f: usize) {
        let Question { kernel, grid, .. } = question;
        let p = grid.axes.len();
        self.uncounted -= 1;
        let mut walks = false;
        for g in 0..p {
            if self.paired[f * p + g] {
                continue;
            }
            if !walks {
                self.many.walk(&self.rows, f, grid.axes[f].n());
                walks = true;
            }
            let (rows, many) = (&self.rows, &mut self.many);
            let (out, crossed) = (&mut self.stumps, &mut self.crossed);
            kernel.level.run(
                #[inline(always)]
                || many.stumps(rows, (f, g), out, crossed),
            );
            self.take_pair((f, g), p, |two| &two.stumps);
            if f != g {
                self.take_pair((g, f), p, |two| &two.crossed);
            }
        }
        self.take_axis(f, grid, kernel);
    }

    /// Keep what a pair says of the boundaries of axis `f` with stumps along `g`.
    fn take_pair(&mut self, (f, g): (usize, usize), p: usize, of: impl Fn(&Self) -> &Stumps<T>) {
        self.paired[f * p + g] = true;
        let mut stumped = std::mem::take(&mut self.stumped);
        let mut best = std::mem::take(&mut self.best_of[f]);
        let (stumps, n) = (of(self), self.ends[f].left.len());
        for side in 0..2 {
            stumped.take_boundaries(side, (f, g), 0, &stumps.lower[side][..n]);
        }
        best.take_least(stumps);
        (self.stumped, self.best_of[f]) = (stumped, best);
    }

    /// The bounds of an axis all of whose pairs are counted.
    fn take_axis(&mut self, f: usize, grid: &Grid<T>, kernel: &LabelKernel<T>) {
        let (many, out) = (&self.many, &mut self.stumps);
        kernel.level.run(
            #[inline(always)]
            || many.two_leaves(f, out),
        );
        let n = grid.axes[f].n() + 1;
        let best = &self.best_of[f];
        for side in 0..2 {
            for (bound, &least) in self.stumps.lower[side].iter_mut().zip(&best.lower[side]) {
                *bound = least.max(*bound);
            }
            self.stumps.upper[side][..n].copy_from_slice(&best.upper[side][..n]);
        }
        let ends = &mut self.ends[f];
        (ends.left, ends.right) = (vec![INFINITE; n], vec![INFINITE; n]);
        let mut uppers = unknown(n);
        let stumps = std::mem::take(&mut self.stumps);
        self.bound_ends(f, kernel, &stumps, &mut uppers);
        self.stumps = stumps;
        self.offer(f, grid, &uppers);
    }

    /// For two labels, count the pairs of axis `f` and take over what they say. Both axes of a
    /// column with missing values are counted once, and stumps on either are bounded as one.
    fn pairs_of(&mut self, f: usize, grid: &Grid<T>, kernel: &LabelKernel<T>, uppers: &mut Uppers) {
        let counted = |axis: usize| grid.axes[axis].missing != Some(Missing::Lowest);
        if !counted(f) {
            return;
        }
        let is_flag = self.flags.holds(f);
        if is_flag {
            self.flags_beside(f, kernel, uppers);
        }
        for g in (0..grid.axes.len()).filter(|&g| counted(g)) {
            if is_flag && self.flags.holds(g) {
                continue;
            }
            let (once, (rows, sums)) =
                (self.counts_once((f, g), grid), (&self.rows, &mut self.sums));
            if once && g < f {
                // The pair was counted for axis g, and exchanged.
                continue;
            }
            let is_added = !once && self.added.counts(f, grid);
            if !self.flags.sum((f, g), grid, sums) {
                match is_added {
                    true => kernel.level.run(
                        #[inline(always)]
                        || self.added.count(rows, (f, g), grid, sums),
                    ),
                    false => sums.count(rows, (f, g), grid),
                }
            }
            if once && f != g {
                sums.exchange(&mut self.exchanged);
            }
            self.take_counted((f, g), grid, kernel);
            if once && f != g {
                std::mem::swap(&mut self.sums, &mut self.exchanged);
                self.take_counted((g, f), grid, kernel);
            }
        }
    }

    /// What axes of one cut say of the cut of axis `f`, which is one of them.
    fn flags_beside(&mut self, f: usize, kernel: &LabelKernel<T>, uppers: &mut Uppers) {
        let (leaf, stump) = (kernel.leaf_cost, 2 * kernel.leaf_cost);
        let mut least = [T::MAX; 2];
        let stumped = &mut self.stumped;
        let leaves = self.flags.stumps(f, kernel.level, |g, lost| {
            for (side, lost) in lost.into_iter().enumerate() {
                stumped.set(side, (f, g), Place::Boundary(1), lost);
                least[side] = lost.min(least[side]);
            }
        });
        let ends = &mut self.ends[f];
        for (side, bounds) in [&mut ends.left, &mut ends.right].into_iter().enumerate() {
            let whole = leaves[side].cost() * kernel.unit + leaf;
            let cost = whole.min(least[side].cost() * kernel.unit + stump);
            bounds[1] = cost.min(bounds[1]);
            uppers[side][1] = cost.min(uppers[side][1]);
        }
    }

    /// Whether exchanging the axes of a pair takes less time than counting its rows again.
    fn counts_once(&self, (f, g): (usize, usize), grid: &Grid<T>) -> bool {
        4 * grid.axes[f].n() * grid.axes[g].n() < self.rows.n
    }

    /// Take over what a pair that is counted says of the boundaries of axis `f`.
    fn take_counted(&mut self, (f, g): (usize, usize), grid: &Grid<T>, kernel: &LabelKernel<T>) {
        let of = &grid.axes[g];
        let turns = grid.axes[f].missing == Some(Missing::Highest);
        if turns {
            self.turned.turn(&self.sums);
        }
        let known = of.missing.map(|_| of.n() - 1);
        for f in f..=f + usize::from(turns) {
            let lowest = grid.axes[f].missing == Some(Missing::Lowest);
            let sums = if lowest { &mut self.turned } else { &mut self.sums };
            let out = &mut self.stumps;
            kernel.level.run(
                #[inline(always)]
                || stumps(sums, (&of.open, known), out),
            );
            self.keep((f, g));
            if known.is_some() {
                self.keep((f, g + 1));
            }
        }
    }

    /// Take over what a pair says of the boundaries of axis `f` with stumps along `g`.
    fn keep(&mut self, (f, g): (usize, usize)) {
        let n = self.ends[f].left.len();
        for side in 0..2 {
            let lower = &self.stumps.lower[side][..n];
            self.stumped.take_boundaries(side, (f, g), 0, lower);
        }
        self.best_of[f].take_least(&self.stumps);
    }

    /// Stumps beside the boundaries of axis `f` that may be the best.
    fn bound_ends(
        &mut self,
        f: usize,
        kernel: &LabelKernel<T>,
        stumps: &Stumps<T>,
        uppers: &mut Uppers,
    ) {
        let (leaf, stump) = (kernel.leaf_cost, 2 * kernel.leaf_cost);
        let ends = &mut self.ends[f];
        for (side, bounds) in [&mut ends.left, &mut ends.right].into_iter().enumerate() {
            for (j, bound) in bounds.iter_mut().enumerate() {
                let whole = stumps.leaf[side][j].cost() * kernel.unit + leaf;
                let split = |t: T| whole.min(t.cost() * kernel.unit + stump);
                *bound = split(stumps.lower[side][j]).min(*bound);
                let upper = &mut uppers[side][j];
                *upper = split(stumps.upper[side][j]).min(*upper);
            }
        }
    }

    /// Trees with their root at a boundary of axis `f`.
    fn offer(&mut self, f: usize, grid: &Grid<T>, uppers: &Uppers) {
        for j in (1..grid.axes[f].n()).filter(|&j| self.ends[f].splits(j)) {
            let upper = uppers[0][j] + uppers[1][j] + self.rounded;
            if upper < self.upper {
                self.upper = upper;
                self.best = Some((f, grid.axes[f].last[j - 1]));
            }
        }
    }

    /// A bound on all cuts of an axis.
    pub(super) fn axis_bound(&self, f: usize, grid: &Grid<T>) -> Cost {
        let ends = &self.ends[f];
        let boundaries = (1..grid.axes[f].n()).filter(|&j| ends.splits(j));
        let at = boundaries.map(|j| ends.left[j] + ends.right[j]).min();
        let within = (0..grid.axes[f].n()).filter_map(|block| self.block(f, block, grid)).min();
        at.into_iter().chain(within).min().unwrap_or(INFINITE)
    }

    /// A bound on all cuts within a block, if there are any.
    pub(super) fn block(&self, f: usize, block: usize, grid: &Grid<T>) -> Option<Cost> {
        let ends = &self.ends[f];
        let lost = ends.lost[block + 1] - ends.lost[block];
        if grid.axes[f].open[block] == T::default() || lost == 0 {
            return None;
        }
        Some(between(&ends.edge(block, grid, f), &ends.edge(block + 1, grid, f), lost))
    }
}
