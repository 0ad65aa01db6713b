//! The best tree of depth two of a part: bounds from blocks of pairs of axes first, then cuts where
//! these are least, until it is known or costs as much as was asked.

use std::collections::BinaryHeap;

use super::kernel::SquaresKernel;
use super::scan::{Blocks, Line, Scratch, Side, bound, scan};
use super::tables::{LANES, Least, Table};
use crate::bits::Level;
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::Halt;
use crate::kernel::ranks::blocks::{Grid, PartRows};
use crate::kernel::ranks::interval_bound::{Between, Edge, Item, between};
use crate::tree::Plan;
use crate::view::Part;

#[derive(Default)]
pub struct Two {
    pub lower: Cost,
    pub upper: Cost,
    /// A tree that costs `upper`.
    pub plan: Plan,
    halted: bool,
    rows: PartRows,
    table: Table,
    least: Least,
    /// By pair of axes, f ≤ g, at f·p + g: the sums of the rows before boundary j of f and k of g,
    /// by statistic.
    sums: Vec<Vec<Vec<i64>>>,
    /// By axis and boundary: what the best trees of one level cost at least before it, and behind
    /// it.
    ends: [Vec<Vec<Cost>>; 2],
    /// By side: bounds on the stump along axis g beside boundary j of axis f, at (f·p + g)·width +
    /// j.
    by: [Vec<Cost>; 2],
    width: usize,
    /// By axis, once it is asked for.
    lines: Vec<Line>,
    scratch: Scratch,
    /// Bounds on the stumps along each axis beside the cuts that were looked at: on the left, then
    /// on the right.
    kept: Vec<Cost>,
    /// What may still be below `upper`.
    open: BinaryHeap<Item<What>>,
}

/// What of an axis may be best.
#[derive(Debug)]
enum What {
    /// One cut whose sides are not known exactly.
    Cut(Known),
    /// The cuts between two.
    Gap(Known, Known),
}

/// A cut with bounds on both sides, and where those by axis are kept.
#[derive(Debug, Clone, Copy)]
struct Known {
    edge: Edge,
    place: Place,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    /// In `by`: the cut is this boundary.
    Boundary(usize),
    /// In `kept`, from here on.
    Kept(usize),
}

impl Two {
    pub fn begin(&mut self, kernel: &SquaresKernel, part: Part, grid: &Grid, halt: Halt) {
        let p = grid.axes.len();
        self.rows.take(part.rows(), grid);
        let totals = self.rows.totals();
        self.plan = Plan::Leaf;
        self.upper = kernel.cost(&totals) + kernel.leaf_cost;
        let least = kernel.task.floor(&totals) + 2 * kernel.leaf_cost;
        self.lower = least.min(self.upper);
        self.halted = false;
        self.open.clear();
        if self.lower == self.upper {
            return;
        }
        self.kept.clear();
        self.lines.resize_with(p, Line::default);
        self.sums.resize_with(p * p, Vec::new);
        self.lines.iter_mut().for_each(|line| line.filled = false);
        self.width = grid.axes.iter().map(|axis| axis.n() + 1).max().unwrap_or(1);
        for side in 0..2 {
            self.by[side].clear();
            self.by[side].resize(p * p * self.width, INFINITE);
            self.ends[side].clear();
            self.ends[side].extend(grid.axes.iter().map(|axis| vec![INFINITE; axis.n() + 1]));
        }
        // The best of the trees whose cuts are all boundaries, by its float.
        let mut guess: Option<(f64, usize, usize)> = None;
        let margin = kernel.margin(totals[kernel.outputs() + 1]);
        let mut sums: Vec<[Vec<f64>; 2]> = (grid.axes.iter())
            .map(|axis| [0, 1].map(|_| vec![f64::INFINITY; axis.n() + 1]))
            .collect();
        for f in 0..p {
            if halt() {
                self.halted = true;
                return;
            }
            for g in f..p {
                self.pair(kernel, grid, (f, g), margin, &mut sums);
            }
        }
        self.take_floors(kernel, &totals);
        for (f, sums) in sums.iter().enumerate() {
            for j in 1..grid.axes[f].n() {
                let sum = sums[0][j] + sums[1][j];
                if guess.is_none_or(|(best, ..)| sum < best) {
                    guess = Some((sum, f, j));
                }
            }
        }
        if let Some((sum, f, j)) = guess
            && sum < self.upper as f64
        {
            let known = self.boundary(f, j, grid);
            self.cut(kernel, part, grid, f, (known, known), known.edge, Cost::MAX);
        }
        self.fill(grid);
    }

    /// What is before and behind each boundary costs at least its floor.
    fn take_floors(&mut self, kernel: &SquaresKernel, totals: &[i64]) {
        let Some(floors) = self.rows.stats.get(kernel.outputs() + 2) else { return };
        let all = kernel.task.floor(totals);
        for (f, codes) in self.rows.codes.iter().enumerate() {
            let mut before = vec![0; self.ends[0][f].len()];
            for (&code, floor) in codes.iter().zip(floors) {
                before[usize::from(code) + 1] += floor;
            }
            let mut sum = 0;
            for (j, floor) in before.into_iter().enumerate() {
                sum += floor;
                for (side, floor) in [sum, all - sum].into_iter().enumerate() {
                    let end = &mut self.ends[side][f][j];
                    *end = (*end).max(floor + kernel.leaf_cost);
                }
            }
        }
    }

    /// Take in the stumps of a pair of axes.
    fn pair(
        &mut self,
        kernel: &SquaresKernel,
        grid: &Grid,
        (f, g): (usize, usize),
        margin: f64,
        sums: &mut [[Vec<f64>; 2]],
    ) {
        let (nf, ng) = (grid.axes[f].n(), grid.axes[g].n());
        let Two { rows, table, least, .. } = self;
        // Floors are known by axis.
        let stats = &rows.stats[..kernel.outputs() + 2];
        Level::detect().run(
            #[inline(always)]
            || {
                table.fill(kernel, (nf, &rows.codes[f]), (ng, &rows.codes[g]), stats);
                table.along_g(nf, &grid.axes[g], least);
            },
        );
        if f == g {
            for side in 0..2 {
                for (j, end) in self.ends[side][f].iter_mut().enumerate() {
                    *end = (*end).min(floor(self.table.leaf(side, j) - margin) + kernel.leaf_cost);
                    sums[f][side][j] =
                        sums[f][side][j].min(self.table.leaf(side, j) + kernel.leaf_cost as f64);
                }
            }
        }
        self.keep(kernel, (f, g), margin, &mut sums[f]);
        if f != g {
            let Two { table, least, .. } = self;
            Level::detect().run(
                #[inline(always)]
                || table.along_f(&grid.axes[f], ng, least),
            );
            self.keep(kernel, (g, f), margin, &mut sums[g]);
        }
        let at = f * self.lines.len() + g;
        self.table.give(&mut self.sums[at]);
    }

    /// Bounds on the stumps along g beside the boundaries of f.
    fn keep(
        &mut self,
        kernel: &SquaresKernel,
        (f, g): (usize, usize),
        margin: f64,
        sums: &mut [Vec<f64>; 2],
    ) {
        let at = (f * self.lines.len() + g) * self.width;
        let two_leaves = 2 * kernel.leaf_cost;
        for side in 0..2 {
            for (j, &least) in self.least.any[side].iter().enumerate() {
                let bound = floor(least - margin) + two_leaves;
                self.by[side][at + j] = bound;
                let end = &mut self.ends[side][f][j];
                *end = (*end).min(bound);
                let exact = self.least.at_boundary[side][j] + two_leaves as f64;
                sums[side][j] = sums[side][j].min(exact);
            }
        }
    }

    /// All cuts of all axes.
    fn fill(&mut self, grid: &Grid) {
        for (f, axis) in grid.axes.iter().enumerate() {
            for j in 1..axis.n() {
                let known = self.boundary(f, j, grid);
                self.push(f, What::Cut(known), 0);
            }
            for block in (0..axis.n()).filter(|&block| axis.open[block]) {
                let (a, b) = (self.boundary(f, block, grid), self.boundary(f, block + 1, grid));
                self.push(f, What::Gap(a, b), 0);
            }
        }
        self.settle();
    }

    fn boundary(&self, f: usize, j: usize, grid: &Grid) -> Known {
        let (left, right) = (self.ends[0][f][j], self.ends[1][f][j]);
        let edge = Edge { cut: grid.axes[f].cut(j), left, right };
        Known { edge, place: Place::Boundary(j) }
    }

    /// A bound on the stumps along g on one side of a cut of f.
    fn bound(&self, side: usize, known: &Known, f: usize, g: usize) -> Cost {
        let p = self.lines.len();
        match known.place {
            Place::Boundary(j) => self.by[side][(f * p + g) * self.width + j],
            Place::Kept(at) => self.kept[at + side * p + g],
        }
    }

    fn push(&mut self, axis: usize, what: What, least: Cost) {
        let bound = match &what {
            What::Cut(known) => known.edge.bound(),
            // What a row can lose is far more than it does lose: only the other bound tells
            // something.
            What::Gap(a, b) => between(&a.edge, &b.edge, INFINITE),
        };
        let bound = bound.max(least);
        if bound < self.upper {
            self.open.push(Item { bound, axis, what });
        }
    }

    fn settle(&mut self) {
        let open = self.open.peek().map_or(INFINITE, |item| item.bound);
        self.lower = self.lower.max(open.min(self.upper));
    }

    pub fn raise(
        &mut self,
        kernel: &SquaresKernel,
        part: Part,
        grid: &Grid,
        below: Cost,
        halt: Halt,
    ) {
        while !self.halted && self.lower < below.min(self.upper) && !halt() {
            let Some(Item { bound, axis, what }) = self.open.pop() else { break };
            let need = below.min(self.upper);
            match what {
                What::Cut(known) => {
                    let around = (known, known);
                    let (now, exact) = self.cut(kernel, part, grid, axis, around, known.edge, need);
                    if let Place::Boundary(j) = known.place {
                        self.ends[0][axis][j] = now.edge.left;
                        self.ends[1][axis][j] = now.edge.right;
                    }
                    if !exact {
                        self.push(axis, What::Cut(now), bound);
                    }
                }
                What::Gap(a, b) => self.divide(kernel, part, grid, axis, (a, b), bound, need),
            }
            self.settle();
        }
    }

    /// Try a cut between two others.
    #[allow(clippy::too_many_arguments)]
    fn divide(
        &mut self,
        kernel: &SquaresKernel,
        part: Part,
        grid: &Grid,
        axis: usize,
        (mut a, mut b): (Known, Known),
        bound: Cost,
        need: Cost,
    ) {
        // What has become known of boundaries since.
        for known in [&mut a, &mut b] {
            if let Place::Boundary(j) = known.place {
                *known = self.boundary(axis, j, grid);
            }
        }
        if between(&a.edge, &b.edge, INFINITE) > bound {
            self.push(axis, What::Gap(a, b), bound);
            return;
        }
        self.line(part, grid, axis);
        let (rows, ranks) = (&self.lines[axis].rows, &part.node.axes[axis].rank);
        let Some(rows) = Between::new(rows, ranks, &a.edge, &b.edge) else { return };
        let cut = rows.cut((rows.range.start + rows.range.end - 1) / 2);
        let edge = Edge { cut, left: a.edge.left, right: b.edge.right };
        let (now, exact) = self.cut(kernel, part, grid, axis, (a, b), edge, need);
        if !exact {
            self.push(axis, What::Cut(now), bound);
        }
        self.push(axis, What::Gap(a, now), bound);
        self.push(axis, What::Gap(now, b), bound);
    }

    fn line(&mut self, part: Part, grid: &Grid, axis: usize) {
        if !self.lines[axis].filled {
            self.lines[axis].fill(part, axis, grid);
        }
    }

    /// The best trees of one level on both sides of a cut: exactly, or together at least `need`.
    /// The cut is one of those around it, or between them.
    #[allow(clippy::too_many_arguments)]
    fn cut(
        &mut self,
        kernel: &SquaresKernel,
        part: Part,
        grid: &Grid,
        axis: usize,
        around: (Known, Known),
        mut known: Edge,
        need: Cost,
    ) -> (Known, bool) {
        let p = grid.axes.len();
        let of = &part.node.axes[axis];
        self.line(part, grid, axis);
        let line = &self.lines[axis];
        let n = line.rows.partition_point(|&row| i64::from(of.rank[row as usize]) <= known.cut);
        let left = line.first(n);
        let right = line.totals.iter().zip(&left).map(|(all, left)| all - left).collect();
        let totals: [Vec<i64>; 2] = [left, right];
        let floors = [0, 1].map(|side| kernel.task.floor(&totals[side]) + kernel.leaf_cost);
        known.left = known.left.max(floors[0]);
        known.right = known.right.max(floors[1]);
        let needs = [need.saturating_sub(known.right), need.saturating_sub(known.left)];
        let mut sides = [0, 1].map(|side| Side::new(kernel, &totals[side], needs[side]));
        let place = self.kept.len();
        self.kept.resize(place + 2 * p, 0);
        self.scratch.coarse.resize_with(p, Blocks::default);
        // What is to be beaten comes down over all axes before any is looked at closely.
        let mut close = Vec::with_capacity(p);
        for g in 0..p {
            let bounds = [(0, &around.0), (1, &around.1)].map(|(side, known)| {
                self.bound(side, known, axis, g).max(floors[side] + kernel.leaf_cost)
            });
            for side in 0..2 {
                self.kept[place + side * p + g] = bounds[side];
            }
            if (0..2).any(|side| bounds[side] < sides[side].cost) {
                self.line(part, grid, g);
                self.coarse((axis, n), g, known.cut, grid);
                bound(kernel, &self.lines[g], g, &mut sides, &mut self.scratch);
                close.push(g);
            }
        }
        for g in close {
            scan(kernel, &self.lines[g], Some((of, known.cut)), g, &mut sides, &mut self.scratch);
            for side in 0..2 {
                let least = floor(self.scratch.coarse[g].least(side)) + 2 * kernel.leaf_cost;
                let kept = &mut self.kept[place + side * p + g];
                *kept = (*kept).max(sides[side].cost).max(least);
            }
        }
        // With nothing on one side this is no split, but the other side's tree.
        if let Some(whole) = totals.iter().position(|totals| totals[0] == 0).map(|side| 1 - side) {
            let cost = sides[whole].cost;
            if sides[whole].found && cost < self.upper {
                (self.upper, self.plan) = (cost, sides[whole].plan(part.node));
            }
            return (Known { edge: known, place: around.0.place }, true);
        }
        let exact = sides[0].found && sides[1].found;
        let edge = Edge {
            cut: known.cut,
            left: sides[0].cost.max(known.left),
            right: sides[1].cost.max(known.right),
        };
        let cost = sides[0].cost + sides[1].cost;
        if exact && cost < self.upper {
            self.upper = cost;
            let [left, right] = [0, 1].map(|side: usize| sides[side].plan(part.node));
            let cut = of.cuts[known.cut as usize];
            self.plan = Plan::split(of.feature, cut, left, right);
        }
        (Known { edge, place: Place::Kept(place) }, exact)
    }

    /// What the first `n` rows of axis f, those up to a cut, sum to before each block of g: what is
    /// before f's last boundary is known.
    fn coarse(&mut self, (f, n): (usize, usize), g: usize, cut: i64, grid: &Grid) {
        let (p, (nf, ng)) = (self.lines.len(), (grid.axes[f].n(), grid.axes[g].n()));
        let j = grid.axes[f].last.partition_point(|&last| i64::from(last) <= cut);
        let line = &self.lines[f];
        let rows = &line.rows[line.ends[j] as usize..n];
        let codes = &grid.axes[g].code;
        let (low, high, flipped) = if f <= g { (f, g, false) } else { (g, f, true) };
        let stride = if flipped { ng + 1 } else { nf + 1 }.next_multiple_of(LANES);
        let coarse = &mut self.scratch.coarse[g];
        coarse.start(ng, grid.stats.len());
        let before = coarse.before.iter_mut();
        for ((before, stats), sums) in before.zip(&grid.stats).zip(&self.sums[low * p + high]) {
            for &row in rows {
                before[usize::from(codes[row as usize]) + 1] += stats[row as usize];
            }
            let mut sum = 0;
            for (k, before) in before[..=ng].iter_mut().enumerate() {
                sum += *before;
                *before = sum + if flipped { sums[j * stride + k] } else { sums[k * stride + j] };
            }
        }
    }

    pub fn bytes(&self) -> usize {
        let ends = self.ends.iter().flatten().map(|ends| 8 * ends.capacity());
        self.rows.bytes()
            + self.table.bytes()
            + self.least.bytes()
            + self.sums.iter().flatten().map(|sums| 8 * sums.capacity()).sum::<usize>()
            + ends.sum::<usize>()
            + self.by.iter().map(|by| 8 * by.capacity()).sum::<usize>()
            + self.lines.iter().map(Line::bytes).sum::<usize>()
            + self.scratch.bytes()
            + self.open.capacity() * size_of::<Item<What>>()
            + 8 * self.kept.capacity()
    }
}

/// The integer below.
fn floor(x: f64) -> Cost {
    x.max(0.0).floor().min(INFINITE as f64) as Cost
}
