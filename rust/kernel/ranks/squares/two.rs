//! The best tree of depth two of a part: bounds from blocks of pairs of axes first, then cuts where
//! these are least, until it is known or costs as much as was asked.

use super::kernel::{LANES, SquaresKernel};
use super::scan::{Blocks, Line, Scratch, Side, bound, scan};
use super::tables::{Least, Table};
use super::together::{self, RoughLine, Together};
use super::units::Units;
use crate::bits::Level;
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::Halt;
use crate::kernel::ranks::blocks::{Grid, PartRows};
use crate::kernel::ranks::interval_bound::{Edge, Item};
use crate::kernel::ranks::open_cuts::{Cuts, Known, Look, OpenCuts, middle};
use crate::view::Part;

#[derive(Default)]
pub struct Two {
    pub cuts: OpenCuts,
    halted: bool,
    rows: PartRows,
    table: Table,
    least: Least,
    /// By pair of axes, f ≤ g, at f·p + g: the sums of the rows before boundary j of f and k of g,
    /// by statistic. None where they are not kept.
    sums: Vec<Vec<Vec<i64>>>,
    /// By axis, once it is asked for.
    pub(super) lines: Vec<Line>,
    scratch: Scratch,
    /// Where cuts are looked at together: by axis, with its line.
    pub(super) units: Option<Units>,
    pub(super) rough: Vec<RoughLine>,
    pub(super) together: Together,
    /// By axis: bits of those groups of boundaries that were looked at.
    pub(super) seen: Vec<u32>,
}

/// What a question is about: the kernel, the part, and its node in blocks.
#[derive(Clone, Copy)]
pub struct Question<'a, 'k> {
    pub kernel: &'a SquaresKernel<'k>,
    pub part: Part<'a>,
    pub grid: &'a Grid,
}

impl Two {
    pub fn begin(&mut self, kernel: &SquaresKernel, part: Part, grid: &Grid, halt: Halt) {
        let p = grid.axes.len();
        self.rows.take(part.rows(), grid);
        let totals = self.rows.totals();
        let leaf = kernel.cost(&totals) + kernel.leaf_cost;
        self.cuts.start(kernel.task.floor(&totals) + 2 * kernel.leaf_cost, leaf);
        self.halted = false;
        if self.cuts.lower == self.cuts.upper {
            return;
        }
        self.lines.resize_with(p, Line::default);
        let is_together = kernel.together && together::takes(kernel.outputs() + 2);
        self.units = is_together.then(|| Units::of(kernel, &self.rows.stats)).flatten();
        self.rough.resize_with(if self.units.is_some() { p } else { 0 }, RoughLine::default);
        self.seen.clear();
        self.seen.resize(p, 0);
        let kept = kernel.pair_bytes(part.node).kept();
        self.sums.resize_with(if kept.tables { p * p } else { 0 }, Vec::new);
        self.lines.iter_mut().for_each(|line| line.filled = false);
        self.cuts.forget(grid, kept.bounds);
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
            && sum < self.cuts.upper as f64
        {
            let known = self.cuts.boundary(f, j, grid);
            let question = Question { kernel, part, grid };
            self.cut(question, f, (known, known), known.edge, Cost::MAX);
        }
        self.cuts.open_all(grid);
    }

    /// What is before and behind each boundary costs at least its floor.
    fn take_floors(&mut self, kernel: &SquaresKernel, totals: &[i64]) {
        let Some(floors) = self.rows.stats.get(kernel.outputs() + 2) else { return };
        let all = kernel.task.floor(totals);
        for (f, codes) in self.rows.codes.iter().enumerate() {
            let mut before = vec![0; self.cuts.ends(0, f).len()];
            for (&code, floor) in codes.iter().zip(floors) {
                before[usize::from(code) + 1] += floor;
            }
            let mut sum = 0;
            for (j, floor) in before.into_iter().enumerate() {
                sum += floor;
                for (side, floor) in [sum, all - sum].into_iter().enumerate() {
                    let end = &mut self.cuts.ends(side, f)[j];
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
                for (j, end) in self.cuts.ends(side, f).iter_mut().enumerate() {
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
        if let Some(sums) = self.sums.get_mut(at) {
            self.table.give(sums);
        }
    }

    /// Bounds on the stumps along g beside the boundaries of f.
    fn keep(
        &mut self,
        kernel: &SquaresKernel,
        (f, g): (usize, usize),
        margin: f64,
        sums: &mut [Vec<f64>; 2],
    ) {
        let two_leaves = 2 * kernel.leaf_cost;
        for side in 0..2 {
            for (j, &least) in self.least.any[side].iter().enumerate() {
                self.cuts.take_stumps(side, (f, g), j, floor(least - margin) + two_leaves);
                let exact = self.least.at_boundary[side][j] + two_leaves as f64;
                sums[side][j] = sums[side][j].min(exact);
            }
        }
    }

    pub fn raise(
        &mut self,
        kernel: &SquaresKernel,
        part: Part,
        grid: &Grid,
        below: Cost,
        halt: Halt,
    ) {
        let question = Question { kernel, part, grid };
        while !self.halted && self.cuts.lower < below.min(self.cuts.upper) && !halt() {
            let Some(Item { bound, axis, what }) = self.cuts.pop() else { break };
            let need = below.min(self.cuts.upper);
            match what {
                Cuts::One(known) if self.look_at_boundaries(question, axis, known, bound, need) => {
                }
                Cuts::One(known) => {
                    let around = (known, known);
                    let (now, exact) = self.cut(question, axis, around, known.edge, need);
                    self.cuts.update(axis, (&known, now), exact, bound);
                }
                Cuts::Between(a, b) => self.divide(question, axis, (a, b), bound, need),
            }
            self.cuts.settle();
        }
    }

    /// Try a cut between two others.
    fn divide(
        &mut self,
        question: Question,
        axis: usize,
        around: (Known, Known),
        bound: Cost,
        need: Cost,
    ) {
        let Some((a, b)) = self.cuts.refresh(axis, around, bound, question.grid) else { return };
        self.line(question, axis);
        if self.units.is_some() && self.divide_by_many(question, axis, (a, b), bound, need) {
            return;
        }
        let (rows, ranks) = (&self.lines[axis].rows, &question.part.node.axes[axis].rank);
        let Some(edge) = middle(rows, ranks, (&a, &b)) else { return };
        let (now, exact) = self.cut(question, axis, (a, b), edge, need);
        self.cuts.divide(axis, (a, now, b), exact, bound);
    }

    pub(super) fn line(&mut self, question: Question, axis: usize) {
        if self.lines[axis].filled {
            return;
        }
        self.lines[axis].fill(question.part, axis, question.grid);
        if let Some(units) = &self.units {
            self.rough[axis].fill(units, &self.lines[axis]);
        }
    }

    /// The best trees of one level on both sides of a cut: exactly, or together at least `need`.
    /// The cut is one of those around it, or between them.
    fn cut(
        &mut self,
        question: Question,
        axis: usize,
        around: (Known, Known),
        mut known: Edge,
        need: Cost,
    ) -> (Known, bool) {
        let Question { kernel, part, grid } = question;
        let p = grid.axes.len();
        let of = &part.node.axes[axis];
        self.line(question, axis);
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
        let room = self.cuts.room();
        self.scratch.coarse.resize_with(p, Blocks::default);
        // What is to be beaten comes down over all axes before any is looked at closely.
        let mut close = Vec::with_capacity(p);
        for g in 0..p {
            let bounds = [(0, &around.0), (1, &around.1)].map(|(side, known)| {
                self.cuts.bound(side, known, axis, g).max(floors[side] + kernel.leaf_cost)
            });
            for side in 0..2 {
                *self.cuts.kept(room, side, g) = bounds[side];
            }
            if (0..2).any(|side| bounds[side] < sides[side].cost) {
                self.line(question, g);
                self.coarse(question, (axis, n), g, known.cut);
                bound(kernel, &self.lines[g], g, &mut sides, &mut self.scratch);
                close.push(g);
            }
        }
        for g in close {
            scan(kernel, &self.lines[g], Some((of, known.cut)), g, &mut sides, &mut self.scratch);
            for side in 0..2 {
                let least = floor(self.scratch.coarse[g].least(side)) + 2 * kernel.leaf_cost;
                let kept = self.cuts.kept(room, side, g);
                *kept = (*kept).max(sides[side].cost).max(least);
            }
        }
        let whole = totals.iter().position(|totals| totals[0] == 0).map(|side| 1 - side);
        let costs = [sides[0].cost, sides[1].cost];
        let found = [sides[0].found, sides[1].found];
        let look = Look { edge: known, around: around.0, room, costs, found, whole };
        self.cuts.conclude(of, look, |side| sides[side].plan(part.node))
    }

    /// What the first `n` rows of axis f, those up to a cut, sum to before each block of g: what is
    /// before f's last boundary is known where tables are kept.
    fn coarse(&mut self, question: Question, (f, n): (usize, usize), g: usize, cut: i64) {
        let grid = question.grid;
        let (p, (nf, ng)) = (self.lines.len(), (grid.axes[f].n(), grid.axes[g].n()));
        let j = grid.axes[f].last.partition_point(|&last| i64::from(last) <= cut);
        let line = &self.lines[f];
        let (low, high, flipped) = if f <= g { (f, g, false) } else { (g, f, true) };
        let table = self.sums.get(low * p + high);
        let known = if table.is_some() { line.ends[j] as usize } else { 0 };
        let rows = &line.rows[known..n];
        let codes = &grid.axes[g].code;
        let stride = if flipped { ng + 1 } else { nf + 1 }.next_multiple_of(LANES);
        let coarse = &mut self.scratch.coarse[g];
        coarse.start(ng, grid.stats.len());
        // Floors are known by axis.
        let stats = &grid.stats[..question.kernel.outputs() + 2];
        for (s, (before, stats)) in coarse.before.iter_mut().zip(stats).enumerate() {
            for &row in rows {
                before[usize::from(codes[row as usize]) + 1] += stats[row as usize];
            }
            let mut sum = 0;
            for before in &mut before[..=ng] {
                sum += *before;
                *before = sum;
            }
            let Some(sums) = table.map(|table| &table[s]) else { continue };
            for (k, before) in before[..=ng].iter_mut().enumerate() {
                *before += if flipped { sums[j * stride + k] } else { sums[k * stride + j] };
            }
        }
    }

    pub fn bytes(&self) -> usize {
        self.rows.bytes()
            + self.table.bytes()
            + self.least.bytes()
            + self.sums.iter().flatten().map(|sums| 8 * sums.capacity()).sum::<usize>()
            + self.cuts.bytes()
            + self.lines.iter().map(Line::bytes).sum::<usize>()
            + self.scratch.bytes()
            + self.rough.iter().map(RoughLine::bytes).sum::<usize>()
            + self.together.bytes()
            + 4 * self.seen.capacity()
    }
}

/// The integer below.
pub fn floor(x: f64) -> Cost {
    x.max(0.0).floor().min(INFINITE as f64) as Cost
}
