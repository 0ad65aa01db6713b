//! The best tree of depth two of a part: bounds from blocks of pairs of axes first, then cuts where
//! these are least, until it is known or costs as much as was asked.

use super::kernel::{Leaves, SumsKernel};
use super::line::{Line, Side, bound, scan};
use super::tables::{Least, Table};
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::Halt;
use crate::kernel::ranks::blocks::{Grid, PartRows};
use crate::kernel::ranks::interval_bound::{Edge, Item};
use crate::kernel::ranks::open_cuts::{Cuts, Known, Look, OpenCuts, middle};
use crate::tree::Plan;
use crate::view::{Part, RankNode};

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
    lines: Vec<Line>,
    leaves: Leaves,
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
        let leaf = kernel.task.leaf(&totals).cost + kernel.leaf_cost;
        self.cuts.start(2 * kernel.leaf_cost, leaf);
        self.halted = false;
        if self.cuts.lower == self.cuts.upper {
            return;
        }
        self.lines.resize_with(p, Line::default);
        self.lines.iter_mut().for_each(|line| line.filled = false);
        let kept = kernel.pair_bytes(part.node).kept();
        self.sums.resize_with(if kept.tables { p * p } else { 0 }, Vec::new);
        self.cuts.forget(grid, kept.bounds);
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
        self.cuts.open_all(grid);
    }

    /// Look closely at the boundary beside which stumps at boundaries are best.
    fn take_best_boundary(&mut self, question: Question, exact: &[[Vec<Cost>; 2]]) {
        let grid = question.grid;
        let costs = exact.iter().enumerate().flat_map(|(f, exact)| {
            let boundaries = 1..grid.axes[f].n();
            boundaries.map(move |j| (exact[0][j] + exact[1][j], f, j))
        });
        if let Some((cost, f, j)) = costs.min()
            && cost < self.cuts.upper
        {
            let known = self.cuts.boundary(f, j, grid);
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
                for (j, end) in self.cuts.ends(side, f).iter_mut().enumerate() {
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
        if let Some(sums) = self.sums.get_mut(at) {
            std::mem::swap(&mut self.table.sums, sums);
        }
    }

    /// Bounds on the stumps along g beside the boundaries of f.
    fn keep(&mut self, kernel: &SumsKernel, (f, g): (usize, usize), exact: &mut [Vec<Cost>; 2]) {
        let two_leaves = 2 * kernel.leaf_cost;
        for side in 0..2 {
            for (j, &least) in self.least.any[side].iter().enumerate() {
                let bound = (least + two_leaves).min(INFINITE);
                self.cuts.take_stumps(side, (f, g), j, bound);
                let stump = self.least.at_boundary[side][j] + two_leaves;
                exact[side][j] = stump.min(exact[side][j]);
            }
        }
    }

    pub fn raise(&mut self, kernel: &SumsKernel, part: Part, grid: &Grid, below: Cost, halt: Halt) {
        let question = Question { kernel, part, grid };
        while !self.halted && self.cuts.lower < below.min(self.cuts.upper) && !halt() {
            let Some(Item { bound, axis, what }) = self.cuts.pop() else { break };
            let need = below.min(self.cuts.upper);
            match what {
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
        let (rows, ranks) = (&self.lines[axis].rows, &question.part.node.axes[axis].rank);
        let Some(edge) = middle(rows, ranks, (&a, &b)) else { return };
        let (now, exact) = self.cut(question, axis, (a, b), edge, need);
        self.cuts.divide(axis, (a, now, b), exact, bound);
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
        let room = self.cuts.room();
        let mut blocks = Vec::new();
        let mut close = Vec::with_capacity(p);
        for g in 0..p {
            let bounds = [(0, &around.0), (1, &around.1)]
                .map(|(side, known)| self.cuts.bound(side, known, axis, g));
            for side in 0..2 {
                *self.cuts.kept(room, side, g) = bounds[side];
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
                let kept = self.cuts.kept(room, side, g);
                *kept = (*kept).max(leasts[side]).max(sides[side].cost);
            }
        }
        let whole = (n == 0 || n == part.rows().len()).then_some(usize::from(n == 0));
        let costs = [sides[0].cost, sides[1].cost];
        let found = [sides[0].found, sides[1].found];
        let look = Look { edge: known, around: around.0, room, costs, found, whole };
        self.cuts.conclude(of, look, |side| sides[side].plan(part.node))
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

    /// By block of g, then statistic: the first `n` rows of axis f, those up to a cut, that are
    /// before the block, and at the end all of them. What is before f's last boundary is known
    /// where tables are kept.
    fn before(&self, (f, n): (usize, usize), g: usize, cut: i64, grid: &Grid) -> Vec<Vec<i64>> {
        let (p, (nf, ng)) = (self.lines.len(), (grid.axes[f].n(), grid.axes[g].n()));
        let j = grid.axes[f].last.partition_point(|&last| i64::from(last) <= cut);
        let line = &self.lines[f];
        // The table of a pair is kept once, with the lower axis along its rows.
        let (at, stride) = if f <= g { (f * p + g, nf + 1) } else { (g * p + f, ng + 1) };
        let table = self.sums.get(at);
        let known = if table.is_some() { line.ends[j] as usize } else { 0 };
        let rows = &line.rows[known..n];
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
        let Some(table) = table else { return before };
        for (k, sums) in before.iter_mut().enumerate() {
            let at = if f <= g { k * stride + j } else { j * stride + k };
            sums.iter_mut().zip(table).for_each(|(sum, table)| *sum += table[at]);
        }
        before
    }

    pub fn bytes(&self) -> usize {
        self.rows.bytes()
            + self.table.bytes()
            + self.least.bytes()
            + self.sums.iter().flatten().map(|sums| 8 * sums.capacity()).sum::<usize>()
            + self.cuts.bytes()
            + self.lines.iter().map(Line::bytes).sum::<usize>()
            + self.leaves.bytes()
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
