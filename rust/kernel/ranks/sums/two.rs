//! The best tree of depth two of a part: bounds from blocks of pairs of axes first, then cuts where
//! these are least, until it is known or costs as much as was asked.

use std::collections::BinaryHeap;

use super::kernel::{Leaves, SumsKernel};
use super::line::{Line, Side, bound, scan};
use super::tables::{Least, Table};
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::Halt;
use crate::kernel::ranks::blocks::{Grid, PartRows};
use crate::kernel::ranks::interval_bound::{Between, Edge, Item, between};
use crate::tree::Plan;
use crate::view::{Part, RankNode};

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
    /// By side, axis and boundary: what the best trees of one level cost at least before it, and
    /// behind it.
    ends: [Vec<Vec<Cost>>; 2],
    /// By side: bounds on the stump along axis g beside boundary j of axis f, at (f·p + g)·width +
    /// j.
    by: [Vec<Cost>; 2],
    width: usize,
    /// By axis, once it is asked for.
    lines: Vec<Line>,
    leaves: Leaves,
    /// Bounds on the stumps along each axis beside the cuts that were looked at: on the left, then
    /// on the right.
    kept: Vec<Cost>,
    /// All cuts that may still be below `upper`.
    open: BinaryHeap<Item<Cuts>>,
}

/// One cut whose sides are not known exactly, or the cuts between two.
#[derive(Debug)]
enum Cuts {
    One(Known),
    Between(Known, Known),
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

/// What a question is about: the kernel, the part, and its node in blocks.
#[derive(Clone, Copy)]
struct Question<'a, 'k> {
    kernel: &'a SumsKernel<'k>,
    part: Part<'a>,
    grid: &'a Grid,
}

impl Two {
    pub fn begin(&mut self, kernel: &SumsKernel, part: Part, grid: &Grid, halt: Halt) {
        let p = grid.axes.len();
        self.rows.take(part.rows(), grid);
        let totals = self.rows.totals();
        self.plan = Plan::Leaf;
        self.upper = kernel.task.leaf(&totals).cost + kernel.leaf_cost;
        self.lower = (2 * kernel.leaf_cost).min(self.upper);
        self.halted = false;
        self.open.clear();
        if self.lower == self.upper {
            return;
        }
        self.kept.clear();
        self.lines.resize_with(p, Line::default);
        self.lines.iter_mut().for_each(|line| line.filled = false);
        self.sums.resize_with(p * p, Vec::new);
        self.width = grid.axes.iter().map(|axis| axis.n() + 1).max().unwrap_or(1);
        for side in 0..2 {
            self.by[side].clear();
            self.by[side].resize(p * p * self.width, INFINITE);
            self.ends[side].clear();
            self.ends[side].extend(grid.axes.iter().map(|axis| vec![INFINITE; axis.n() + 1]));
        }
        // By axis and side: the best stumps beside each boundary whose cuts are boundaries, too.
        let mut exact: Vec<[Vec<Cost>; 2]> =
            (grid.axes.iter()).map(|axis| [0, 1].map(|_| vec![INFINITE; axis.n() + 1])).collect();
        for f in 0..p {
            for g in f..p {
                if halt() {
                    self.halted = true;
                    return;
                }
                self.pair(kernel, grid, (f, g), &mut exact);
            }
        }
        let question = Question { kernel, part, grid };
        self.take_best_boundary(question, &exact);
        self.fill(grid);
    }

    /// Look closely at the boundary beside which stumps at boundaries are best.
    fn take_best_boundary(&mut self, question: Question, exact: &[[Vec<Cost>; 2]]) {
        let grid = question.grid;
        let costs = exact.iter().enumerate().flat_map(|(f, exact)| {
            let boundaries = 1..grid.axes[f].n();
            boundaries.map(move |j| (exact[0][j] + exact[1][j], f, j))
        });
        if let Some((cost, f, j)) = costs.min()
            && cost < self.upper
        {
            let known = self.boundary(f, j, grid);
            self.cut(question, f, (known, known), known.edge, Cost::MAX);
        }
    }

    /// Take in the stumps of a pair of axes.
    fn pair(
        &mut self,
        kernel: &SumsKernel,
        grid: &Grid,
        (f, g): (usize, usize),
        exact: &mut [[Vec<Cost>; 2]],
    ) {
        let (nf, ng) = (grid.axes[f].n(), grid.axes[g].n());
        let codes = (&self.rows.codes[f], &self.rows.codes[g]);
        self.table.fill(kernel.task, (nf, codes.0), (ng, codes.1), &self.rows.stats);
        self.table.along_g(&grid.axes[g], &mut self.least);
        if f == g {
            for side in 0..2 {
                for (j, end) in self.ends[side][f].iter_mut().enumerate() {
                    let leaf = self.table.leaf(side, j) + kernel.leaf_cost;
                    *end = leaf.min(*end);
                    exact[f][side][j] = leaf.min(exact[f][side][j]);
                }
            }
        }
        self.keep(kernel, (f, g), &mut exact[f]);
        if f != g {
            self.table.along_f(&grid.axes[f], ng, &mut self.least);
            self.keep(kernel, (g, f), &mut exact[g]);
        }
        let at = f * self.lines.len() + g;
        std::mem::swap(&mut self.table.sums, &mut self.sums[at]);
    }

    /// Bounds on the stumps along g beside the boundaries of f.
    fn keep(&mut self, kernel: &SumsKernel, (f, g): (usize, usize), exact: &mut [Vec<Cost>; 2]) {
        let at = (f * self.lines.len() + g) * self.width;
        let two_leaves = 2 * kernel.leaf_cost;
        for side in 0..2 {
            for (j, &least) in self.least.any[side].iter().enumerate() {
                let bound = (least + two_leaves).min(INFINITE);
                self.by[side][at + j] = bound;
                let end = &mut self.ends[side][f][j];
                *end = bound.min(*end);
                let stump = self.least.at_boundary[side][j] + two_leaves;
                exact[side][j] = stump.min(exact[side][j]);
            }
        }
    }

    /// All cuts of all axes.
    fn fill(&mut self, grid: &Grid) {
        for (f, axis) in grid.axes.iter().enumerate() {
            for j in 1..axis.n() {
                let known = self.boundary(f, j, grid);
                self.push(f, Cuts::One(known), 0);
            }
            for block in (0..axis.n()).filter(|&block| axis.open[block]) {
                let (a, b) = (self.boundary(f, block, grid), self.boundary(f, block + 1, grid));
                self.push(f, Cuts::Between(a, b), 0);
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

    fn push(&mut self, axis: usize, what: Cuts, least: Cost) {
        let bound = match &what {
            Cuts::One(known) => known.edge.bound(),
            // What a row can save is not known: only what is before and behind both tells
            // something.
            Cuts::Between(a, b) => between(&a.edge, &b.edge, INFINITE),
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

    pub fn raise(&mut self, kernel: &SumsKernel, part: Part, grid: &Grid, below: Cost, halt: Halt) {
        let question = Question { kernel, part, grid };
        while !self.halted && self.lower < below.min(self.upper) && !halt() {
            let Some(Item { bound, axis, what }) = self.open.pop() else { break };
            let need = below.min(self.upper);
            match what {
                Cuts::One(known) => {
                    let around = (known, known);
                    let (now, exact) = self.cut(question, axis, around, known.edge, need);
                    if let Place::Boundary(j) = known.place {
                        self.ends[0][axis][j] = now.edge.left;
                        self.ends[1][axis][j] = now.edge.right;
                    }
                    if !exact {
                        self.push(axis, Cuts::One(now), bound);
                    }
                }
                Cuts::Between(a, b) => self.divide(question, axis, (a, b), bound, need),
            }
            self.settle();
        }
    }

    /// Try a cut between two others.
    fn divide(
        &mut self,
        question: Question,
        axis: usize,
        (mut a, mut b): (Known, Known),
        bound: Cost,
        need: Cost,
    ) {
        // Boundaries may have become better known since.
        for known in [&mut a, &mut b] {
            if let Place::Boundary(j) = known.place {
                *known = self.boundary(axis, j, question.grid);
            }
        }
        if between(&a.edge, &b.edge, INFINITE) > bound {
            self.push(axis, Cuts::Between(a, b), bound);
            return;
        }
        self.line(question, axis);
        let (rows, ranks) = (&self.lines[axis].rows, &question.part.node.axes[axis].rank);
        let Some(rows) = Between::new(rows, ranks, &a.edge, &b.edge) else { return };
        let cut = rows.cut((rows.range.start + rows.range.end - 1) / 2);
        let edge = Edge { cut, left: a.edge.left, right: b.edge.right };
        let (now, exact) = self.cut(question, axis, (a, b), edge, need);
        if !exact {
            self.push(axis, Cuts::One(now), bound);
        }
        self.push(axis, Cuts::Between(a, now), bound);
        self.push(axis, Cuts::Between(now, b), bound);
    }

    fn line(&mut self, question: Question, axis: usize) {
        if !self.lines[axis].filled {
            self.lines[axis].fill(question.part, axis, question.grid);
        }
    }

    /// The best trees of one level on both sides of a cut: exactly, or together at least `need`.
    /// The cut is one of those around it, or between them.
    fn cut(
        &mut self,
        question: Question,
        axis: usize,
        around: (Known, Known),
        known: Edge,
        need: Cost,
    ) -> (Known, bool) {
        let Question { kernel, part, grid } = question;
        let p = grid.axes.len();
        let of = &part.node.axes[axis];
        self.line(question, axis);
        let line = &self.lines[axis];
        let n = line.rows.partition_point(|&row| i64::from(of.rank[row as usize]) <= known.cut);
        let mut sides = self.sides(question, axis, n, &known, need);
        let place = self.kept.len();
        self.kept.resize(place + 2 * p, 0);
        let mut blocks = Vec::new();
        let mut close = Vec::with_capacity(p);
        for g in 0..p {
            let bounds = [(0, &around.0), (1, &around.1)]
                .map(|(side, known)| self.bound(side, known, axis, g));
            for side in 0..2 {
                self.kept[place + side * p + g] = bounds[side];
            }
            if (0..2).any(|side| bounds[side] < sides[side].cost) {
                self.line(question, g);
                let before = self.before((axis, n), g, known.cut, grid);
                let line = (g, &self.lines[g]);
                close.push((g, blocks.len()));
                blocks.extend(bound(kernel, line, &before, &mut sides, &mut self.leaves));
            }
        }
        // Bounds by axis, before blocks are given away: a cut of g costs no less than its least
        // block, or what is known.
        let least = |side: usize, from: usize, to: usize| {
            blocks[from..to].iter().map(|block| block.least(side)).min().unwrap_or(INFINITE)
        };
        let ends: Vec<usize> =
            close.iter().skip(1).map(|&(_, at)| at).chain([blocks.len()]).collect();
        let leasts: Vec<[Cost; 2]> = (close.iter().zip(&ends))
            .map(|(&(_, from), &to)| [least(0, from, to), least(1, from, to)])
            .collect();
        let results = (&mut sides, &mut self.leaves);
        scan(kernel, &self.lines, Some((of, known.cut)), grid, blocks, results);
        for (&(g, _), leasts) in close.iter().zip(&leasts) {
            for side in 0..2 {
                let kept = &mut self.kept[place + side * p + g];
                *kept = (*kept).max(leasts[side]).max(sides[side].cost);
            }
        }
        self.conclude(question, (axis, &known), around, (sides, place))
    }

    /// Both sides of a cut, the first `n` rows along its axis and the others, as leaves.
    fn sides(
        &mut self,
        question: Question,
        axis: usize,
        n: usize,
        known: &Edge,
        need: Cost,
    ) -> [Side; 2] {
        let totals = self.rows.totals();
        let left = self.lines[axis].first(n, question.grid);
        let right: Vec<i64> = totals.iter().zip(&left).map(|(all, left)| all - left).collect();
        self.leaves.clear();
        self.leaves.push(left.iter().copied());
        self.leaves.push(right.iter().copied());
        let costs = self.leaves.cost(question.kernel.task);
        let leaves = [costs[0], costs[1]].map(|cost| cost + question.kernel.leaf_cost);
        let needs = [need.saturating_sub(known.right), need.saturating_sub(known.left)];
        [Side::new(left, leaves[0], needs[0]), Side::new(right, leaves[1], needs[1])]
    }

    /// Keep the tree of a cut if it is the best, and say what is known of both sides.
    fn conclude(
        &mut self,
        question: Question,
        (axis, known): (usize, &Edge),
        around: (Known, Known),
        (sides, place): ([Side; 2], usize),
    ) -> (Known, bool) {
        let node = question.part.node;
        let of = &node.axes[axis];
        // With nothing on one side this is no split, but the other side's tree.
        let n = self.lines[axis].rows.len();
        let lefts =
            self.lines[axis].rows.partition_point(|&r| i64::from(of.rank[r as usize]) <= known.cut);
        if lefts == 0 || lefts == n {
            let whole = &sides[usize::from(lefts == 0)];
            if whole.found && whole.cost < self.upper {
                (self.upper, self.plan) = (whole.cost, whole.plan(node));
            }
            return (Known { edge: *known, place: around.0.place }, true);
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
            let [left, right] = [0, 1].map(|side: usize| sides[side].plan(node));
            let cut = of.cuts[known.cut as usize];
            self.plan = Plan::split(of.feature, cut, left, right);
        }
        (Known { edge, place: Place::Kept(place) }, exact)
    }

    /// By block of g, then statistic: the first `n` rows of axis f, those up to a cut, that are
    /// before the block, and at the end all of them. What is before f's last boundary is known.
    fn before(&self, (f, n): (usize, usize), g: usize, cut: i64, grid: &Grid) -> Vec<Vec<i64>> {
        let (p, (nf, ng)) = (self.lines.len(), (grid.axes[f].n(), grid.axes[g].n()));
        let j = grid.axes[f].last.partition_point(|&last| i64::from(last) <= cut);
        let line = &self.lines[f];
        let rows = &line.rows[line.ends[j] as usize..n];
        let codes = &grid.axes[g].code;
        let mut before = vec![vec![0; grid.stats.len()]; ng + 1];
        for &row in rows {
            let sums = &mut before[usize::from(codes[row as usize]) + 1];
            for (sum, stats) in sums.iter_mut().zip(&grid.stats) {
                *sum += stats[row as usize];
            }
        }
        for k in 1..=ng {
            let (done, rest) = before.split_at_mut(k);
            rest[0].iter_mut().zip(&done[k - 1]).for_each(|(sum, before)| *sum += before);
        }
        // The table of a pair is kept once, with the lower axis along its rows.
        let (table, stride) =
            if f <= g { (&self.sums[f * p + g], nf + 1) } else { (&self.sums[g * p + f], ng + 1) };
        for (k, sums) in before.iter_mut().enumerate() {
            let at = if f <= g { k * stride + j } else { j * stride + k };
            sums.iter_mut().zip(table).for_each(|(sum, table)| *sum += table[at]);
        }
        before
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
            + self.leaves.bytes()
            + self.open.capacity() * size_of::<Item<Cuts>>()
            + 8 * self.kept.capacity()
    }
}

/// The best tree of depth one, exactly.
pub fn stump(kernel: &SumsKernel, node: &RankNode, grid: &Grid) -> (Cost, Plan) {
    let part = Part::all(node);
    let totals: Vec<i64> = grid.stats.iter().map(|stats| stats.iter().sum()).collect();
    let leaf = kernel.task.leaf(&totals).cost + kernel.leaf_cost;
    let none = Side::new(vec![0; totals.len()], 0, Cost::MAX);
    let mut sides = [Side::new(totals, leaf, Cost::MAX), none];
    let mut leaves = Leaves::default();
    let mut lines: Vec<Line> = Vec::new();
    let mut blocks = Vec::new();
    for g in 0..node.axes.len() {
        let mut line = Line::default();
        line.fill(part, g, grid);
        let before: Vec<Vec<i64>> = (0..=grid.axes[g].n())
            .map(|block| (0..grid.stats.len()).map(|s| line.before(s, block)).collect())
            .collect();
        blocks.extend(bound(kernel, (g, &line), &before, &mut sides, &mut leaves));
        lines.push(line);
    }
    scan(kernel, &lines, None, grid, blocks, (&mut sides, &mut leaves));
    (sides[0].cost, sides[0].plan(node))
}
