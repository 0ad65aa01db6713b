//! The best tree of depth two of a part: bounds from pairs of axes first, then as much refinement as is
//! asked for, where the bounds are least.

use std::collections::BinaryHeap;

use super::gap::{Edge, Item, between, weakest};
use super::grid::{Grid, LANES};
use super::labels::{Label, LabelKernel};
use super::pairs::{Stumps, Sums, stumps};
use super::scan::{self, Line};
use super::unit::Unit;
use super::{Halt, stump_plan};
use crate::bits::Level;
use crate::cost::{Cost, INFINITE};
use crate::tree::Plan;
use crate::view::Part;

#[derive(Default)]
pub struct Two<T> {
    pub lower: Cost,
    pub upper: Cost,
    /// The root split of a tree that costs no more than `upper`; `None`: a leaf.
    best: Option<(usize, u32)>,
    halted: bool,
    rows: PartRows<T>,
    /// By axis.
    ends: Vec<Ends>,
    /// By side: bounds on the stump along axis g, for boundary j of axis f, at (f·p + g)·width + j.
    by: [Vec<T>; 2],
    width: usize,
    lines: Vec<Line<T>>,
    /// What may still be below `upper`; empty until the first refinement.
    items: BinaryHeap<Item<(What, Blocks)>>,
    filled: bool,
    cells: Vec<T>,
    sums: Option<Sums<T>>,
    stumps: Stumps<T>,
    scratch: Vec<[T; LANES]>,
}

/// The rows of the part, one beside the other.
#[derive(Default)]
struct PartRows<T> {
    n: usize,
    row: Vec<u32>,
    /// By axis, then row.
    codes: Vec<u8>,
    label: Vec<Label>,
    gain: Vec<T>,
    worst: Vec<T>,
}

/// Bounds at the boundaries of an axis: 0 has all rows right, the last all rows left.
#[derive(Default)]
struct Ends {
    left: Vec<Cost>,
    right: Vec<Cost>,
    /// Worst losses left of it.
    lost: Vec<Cost>,
}

/// What of an axis may be best, and the boundaries before and behind it.
#[derive(Debug)]
enum What {
    /// One cut whose sides are not known exactly.
    Cut(Edge),
    /// All cuts within a block.
    Block,
    /// The cuts between two.
    Gap(Edge, Edge),
}

type Blocks = (usize, usize);

impl<T: Unit> Two<T> {
    pub fn begin(&mut self, kernel: &LabelKernel<T>, part: Part, grid: &Grid<T>, halt: Halt) {
        let p = grid.axes.len();
        self.rows.take(part, grid);
        self.best = None;
        self.halted = false;
        self.filled = false;
        self.items.clear();
        for line in &mut self.lines {
            line.clear();
        }
        self.lines.resize_with(p, Line::default);
        let (lower, upper) = (kernel.leaf_cost, self.rows.leaf(kernel));
        (self.lower, self.upper) = (lower, upper);
        let most = grid.axes.iter().map(|axis| axis.n()).max().unwrap_or(0) + 1;
        self.width = most.next_multiple_of(LANES);
        for by in &mut self.by {
            by.clear();
            by.resize(p * p * self.width, T::default());
        }
        self.ends.clear();
        self.ends.resize_with(p, Ends::default);
        let mut uppers: Vec<[Vec<Cost>; 2]> = vec![Default::default(); p];
        for f in 0..p {
            self.ends[f].lost = self.rows.lost(f, grid.axes[f].n(), kernel.unit);
            let n = grid.axes[f].n() + 1;
            uppers[f] = [vec![INFINITE; n], vec![INFINITE; n]];
            (self.ends[f].left, self.ends[f].right) = (vec![INFINITE; n], vec![INFINITE; n]);
        }
        let level = Level::detect();
        for f in 0..p {
            if halt() {
                self.halted = true;
                self.upper = upper;
                return;
            }
            for g in f..p {
                self.count(f, g, grid, kernel.n_labels);
                for (lanes, lines) in if f == g { vec![(f, g)] } else { vec![(f, g), (g, f)] } {
                    self.arrange(lanes, lines, f, grid, kernel.n_labels);
                    let sums = self.sums.as_ref().expect("arranged");
                    let open = &grid.axes[lines].open;
                    level.run(
                        #[inline(always)]
                        || stumps(sums, open, &mut self.stumps, &mut self.scratch),
                    );
                    self.keep(lanes, lines, p, kernel, &mut uppers[lanes]);
                }
            }
        }
        self.conclude(grid, &uppers);
    }

    /// Gains by label, block of f and block of g.
    fn count(&mut self, f: usize, g: usize, grid: &Grid<T>, n_labels: usize) {
        let (nf, ng) = (grid.axes[f].n(), grid.axes[g].n());
        let planes = if n_labels == 2 { 2 } else { n_labels + 1 };
        self.cells.clear();
        self.cells.resize(planes * nf * ng, T::default());
        let n = self.rows.n;
        let (a, b) = (&self.rows.codes[f * n..][..n], &self.rows.codes[g * n..][..n]);
        let cells = &mut self.cells[..];
        let rows = a.iter().zip(b).zip(&self.rows.label).zip(&self.rows.gain);
        if n_labels == 2 {
            for (((&a, &b), &label), &gain) in rows {
                cells[(usize::from(label) * nf + usize::from(a)) * ng + usize::from(b)] += gain;
            }
        } else {
            for ((((&a, &b), &label), &gain), &worst) in rows.zip(&self.rows.worst) {
                let at = usize::from(a) * ng + usize::from(b);
                cells[usize::from(label) * nf * ng + at] += gain;
                cells[n_labels * nf * ng + at] += worst;
            }
        }
    }

    /// The counted pair with the boundaries of one axis as lanes. It was counted by blocks of `f` first.
    fn arrange(&mut self, lanes: usize, lines: usize, f: usize, grid: &Grid<T>, n_labels: usize) {
        let (n_lanes, n_lines) = (grid.axes[lanes].n(), grid.axes[lines].n());
        let width = (n_lanes + 1).next_multiple_of(LANES);
        let planes = if n_labels == 2 { 2 } else { n_labels + 1 };
        let mut sums = self.sums.take().unwrap_or(Sums {
            cells: Vec::new(),
            n_labels,
            lines: 0,
            width: 0,
            all: 0,
        });
        (sums.lines, sums.width, sums.all, sums.n_labels) = (n_lines, width, n_lanes, n_labels);
        sums.cells.clear();
        sums.cells.resize(planes * n_lines * width, T::default());
        for plane in 0..planes {
            let cells = &self.cells[plane * n_lanes * n_lines..][..n_lanes * n_lines];
            let out = &mut sums.cells[plane * n_lines * width..][..n_lines * width];
            for (line, out) in out.chunks_exact_mut(width).enumerate() {
                let mut sum = T::default();
                if lanes == f && lines != f {
                    for lane in 0..n_lanes {
                        sum += cells[lane * n_lines + line];
                        out[lane + 1] = sum;
                    }
                } else {
                    let cells = &cells[line * n_lanes..][..n_lanes];
                    for (out, &cell) in out[1..].iter_mut().zip(cells) {
                        sum += cell;
                        *out = sum;
                    }
                }
            }
        }
        self.sums = Some(sums);
    }

    /// Take over what a pair says of the boundaries of axis `f` with stumps along `g`.
    fn keep(
        &mut self,
        f: usize,
        g: usize,
        p: usize,
        kernel: &LabelKernel<T>,
        uppers: &mut [Vec<Cost>; 2],
    ) {
        let (leaf, stump) = (kernel.leaf_cost, 2 * kernel.leaf_cost);
        let n = self.ends[f].left.len();
        for side in 0..2 {
            let ends = &mut self.ends[f];
            let bounds = if side == 0 { &mut ends.left } else { &mut ends.right };
            let lower = &self.stumps.lower[side][..n];
            self.by[side][(f * p + g) * self.width..][..n].copy_from_slice(lower);
            for j in 0..n {
                let whole = self.stumps.leaf[side][j].cost() * kernel.unit + leaf;
                let split = |t: T| whole.min(t.cost() * kernel.unit + stump);
                bounds[j] = bounds[j].min(split(lower[j]));
                uppers[side][j] = uppers[side][j].min(split(self.stumps.upper[side][j]));
            }
        }
    }

    /// First bounds of the whole part.
    fn conclude(&mut self, grid: &Grid<T>, uppers: &[[Vec<Cost>; 2]]) {
        let mut lower = self.upper;
        for f in 0..grid.axes.len() {
            let ends = &self.ends[f];
            for j in 1..grid.axes[f].n() {
                if !ends.splits(j) {
                    continue;
                }
                lower = lower.min(ends.left[j] + ends.right[j]);
                let upper = uppers[f][0][j] + uppers[f][1][j];
                if upper < self.upper {
                    self.upper = upper;
                    self.best = Some((f, grid.axes[f].last[j - 1]));
                }
            }
            for block in 0..grid.axes[f].n() {
                if let Some(bound) = self.block(f, block, grid) {
                    lower = lower.min(bound);
                }
            }
        }
        self.lower = lower.min(self.upper);
    }

    /// A bound on all cuts within a block, if there are any.
    fn block(&self, f: usize, block: usize, grid: &Grid<T>) -> Option<Cost> {
        let ends = &self.ends[f];
        let lost = ends.lost[block + 1] - ends.lost[block];
        if grid.axes[f].open[block] == T::default() || lost == 0 {
            return None;
        }
        Some(between(&ends.edge(block, grid, f), &ends.edge(block + 1, grid, f), lost))
    }

    fn fill(&mut self, grid: &Grid<T>) {
        self.filled = true;
        let mut items = Vec::new();
        for f in 0..grid.axes.len() {
            let ends = &self.ends[f];
            for j in 1..grid.axes[f].n() {
                let bound = ends.left[j] + ends.right[j];
                if bound < self.upper && ends.splits(j) {
                    let what = What::Cut(ends.edge(j, grid, f));
                    items.push(Item { bound, axis: f, what: (what, (j, j)) });
                }
            }
            for block in 0..grid.axes[f].n() {
                let bound = self.block(f, block, grid).filter(|&bound| bound < self.upper);
                if let Some(bound) = bound {
                    let what = (What::Block, (block, block + 1));
                    items.push(Item { bound, axis: f, what });
                }
            }
        }
        self.items = items.into();
    }

    pub fn raise(
        &mut self,
        kernel: &LabelKernel<T>,
        part: Part,
        grid: &Grid<T>,
        below: Cost,
        halt: Halt,
    ) {
        if self.halted || self.lower >= below.min(self.upper) {
            return;
        }
        if !self.filled {
            self.fill(grid);
        }
        while let Some(item) = self.items.peek() {
            self.lower = self.lower.max(item.bound.min(self.upper));
            if self.lower >= below.min(self.upper) || halt() {
                return;
            }
            let item = self.items.pop().expect("just seen");
            let need = below.min(self.upper);
            self.refine(kernel, part, grid, item, need);
        }
        self.lower = self.upper;
    }

    fn refine(
        &mut self,
        kernel: &LabelKernel<T>,
        part: Part,
        grid: &Grid<T>,
        item: Item<(What, Blocks)>,
        need: Cost,
    ) {
        let Item { bound, axis, what: (what, blocks) } = item;
        match what {
            What::Cut(edge) => {
                let (edge, exact) = self.cut(kernel, part, grid, axis, blocks, edge, need);
                if blocks.0 == blocks.1 {
                    let ends = &mut self.ends[axis];
                    (ends.left[blocks.0], ends.right[blocks.0]) = (edge.left, edge.right);
                }
                self.put(axis, blocks, edge, exact);
            }
            What::Block => {
                let now = self.block(axis, blocks.0, grid).expect("it had cuts");
                if now > bound {
                    self.push(Item { bound: now, axis, what: (What::Block, blocks) });
                    return;
                }
                let ends = &self.ends[axis];
                let (a, b) = (ends.edge(blocks.0, grid, axis), ends.edge(blocks.1, grid, axis));
                self.divide(kernel, part, grid, (axis, blocks), (a, b), bound, need);
            }
            What::Gap(a, b) => {
                self.divide(kernel, part, grid, (axis, blocks), (a, b), bound, need);
            }
        }
    }

    /// Try a cut between two others.
    #[allow(clippy::too_many_arguments)]
    fn divide(
        &mut self,
        kernel: &LabelKernel<T>,
        part: Part,
        grid: &Grid<T>,
        (axis, blocks): (usize, Blocks),
        (a, b): (Edge, Edge),
        bound: Cost,
        need: Cost,
    ) {
        self.line(part, grid, axis, kernel);
        let of = &part.node.axes[axis];
        let line = &self.lines[axis];
        let rank = |at: usize| i64::from(of.rank[line.row[at] as usize]);
        // Rows behind a up to b.
        let start = line.row.partition_point(|&row| i64::from(of.rank[row as usize]) <= a.cut);
        let end = line.row.partition_point(|&row| i64::from(of.rank[row as usize]) <= b.cut);
        if start >= end || rank(start) == rank(end - 1) {
            return;
        }
        let unit = kernel.unit;
        let lost = |at: usize| if at == 0 { 0 } else { line.lost[at - 1].cost() * unit };
        let all = lost(end) - lost(start);
        let least = lost(start) + weakest(&a, &b, all);
        let at = line.lost[start..end].partition_point(|lost| lost.cost() * unit < least);
        let at = (start + at).min(end - 1);
        let mut cut = rank(at);
        if cut == rank(end - 1) {
            let first =
                line.row[start..end].partition_point(|&row| i64::from(of.rank[row as usize]) < cut);
            cut = rank(start + first - 1);
        }
        let behind = start
            + line.row[start..end].partition_point(|&row| i64::from(of.rank[row as usize]) <= cut);
        let (before, after) = (lost(behind) - lost(start), lost(end) - lost(behind));
        let edge = Edge::between(cut, (&a, &b), before, after);
        let (edge, exact) = self.cut(kernel, part, grid, axis, blocks, edge, need);
        self.put(axis, blocks, edge, exact);
        for (a, b, lost) in [(a, edge, before), (edge, b, after)] {
            let bound = between(&a, &b, lost).max(bound);
            self.push(Item { bound, axis, what: (What::Gap(a, b), blocks) });
        }
    }

    fn push(&mut self, item: Item<(What, Blocks)>) {
        if item.bound < self.upper {
            self.items.push(item);
        }
    }

    /// A cut that was looked at: the best there is, or to be looked at again when more is asked.
    fn put(&mut self, axis: usize, blocks: Blocks, edge: Edge, exact: bool) {
        let bound = edge.left + edge.right;
        if !exact {
            self.push(Item { bound, axis, what: (What::Cut(edge), blocks) });
        } else if bound < self.upper {
            self.upper = bound;
            self.best = Some((axis, edge.cut as u32));
        }
    }

    fn line(&mut self, part: Part, grid: &Grid<T>, axis: usize, kernel: &LabelKernel<T>) {
        if !self.lines[axis].filled {
            self.lines[axis].fill(part, &part.node.axes[axis], grid, kernel.n_labels);
        }
    }

    /// The stumps on both sides of a cut: exactly, or together at least `need`.
    #[allow(clippy::too_many_arguments)]
    fn cut(
        &mut self,
        kernel: &LabelKernel<T>,
        part: Part,
        grid: &Grid<T>,
        axis: usize,
        (before, behind): Blocks,
        known: Edge,
        need: Cost,
    ) -> (Edge, bool) {
        let p = grid.axes.len();
        let of = &part.node.axes[axis];
        self.line(part, grid, axis, kernel);
        let leaves = self.rows.sides(kernel, &of.rank, known.cut);
        let worst = leaves.worst;
        let mut best = leaves.cost;
        let mut skipped = [INFINITE; 2];
        let split = |sum: T| sum.cost() * kernel.unit + 2 * kernel.leaf_cost;
        for g in 0..p {
            let at = (axis * p + g) * self.width;
            let lower = [split(self.by[0][at + before]), split(self.by[1][at + behind])];
            if lower[0].max(known.left) + known.right >= need
                && lower[1].max(known.right) + known.left >= need
            {
                for side in 0..2 {
                    skipped[side] = skipped[side].min(lower[side]);
                }
                continue;
            }
            self.line(part, grid, g, kernel);
            let both = self.lines[g].both(of, known.cut as u32, worst, kernel.n_labels);
            for side in 0..2 {
                best[side] = best[side].min(split(both[side]));
            }
        }
        let exact = best[0] <= skipped[0] && best[1] <= skipped[1];
        let edge = Edge {
            cut: known.cut,
            left: best[0].min(skipped[0]).max(known.left),
            right: best[1].min(skipped[1]).max(known.right),
        };
        (edge, exact)
    }
}

impl<T: Unit> Two<T> {
    /// The tree of the upper bound. Its stumps are looked for again, exactly, so it may cost less.
    pub fn plan(&self, kernel: &LabelKernel<T>, part: Part, grid: &Grid<T>) -> (Cost, Plan) {
        let leaf = (self.rows.leaf(kernel), Plan::Leaf);
        let Some((axis, cut)) = self.best else {
            return leaf;
        };
        let of = &part.node.axes[axis];
        let sides = [true, false].map(|left| {
            let holds = |row: u32| part.holds(row) && (of.rank[row as usize] <= cut) == left;
            let (cost, split) = scan::best(kernel, part.node, grid, holds);
            (cost, stump_plan(split), self.rows.row.iter().any(|&row| holds(row)))
        });
        let [(a, left, some_left), (b, right, some_right)] = sides;
        match (some_left, some_right) {
            (true, true) => {
                let plan = Plan::split(of.feature, of.cuts[cut as usize], left, right);
                if a + b < leaf.0 { (a + b, plan) } else { leaf }
            }
            (true, false) => (a, left),
            _ => (b, right),
        }
    }

    pub fn bytes(&self) -> usize {
        let ends = |ends: &Ends| {
            (ends.left.capacity() + ends.right.capacity() + ends.lost.capacity())
                * size_of::<Cost>()
        };
        let sums = self.sums.as_ref().map_or(0, |sums| sums.cells.capacity());
        let by: usize = self.by.iter().map(Vec::capacity).sum();
        self.rows.bytes()
            + self.ends.iter().map(ends).sum::<usize>()
            + self.ends.capacity() * size_of::<Ends>()
            + self.lines.iter().map(Line::bytes).sum::<usize>()
            + self.lines.capacity() * size_of::<Line<T>>()
            + self.items.capacity() * size_of::<Item<(What, Blocks)>>()
            + (by + sums + self.cells.capacity()) * size_of::<T>()
            + self.scratch.capacity() * size_of::<[T; LANES]>()
            + self.stumps.bytes()
    }
}

impl Ends {
    fn edge<T: Unit>(&self, j: usize, grid: &Grid<T>, axis: usize) -> Edge {
        let cut = if j == 0 { -1 } else { i64::from(grid.axes[axis].last[j - 1]) };
        Edge { cut, left: self.left[j], right: self.right[j] }
    }

    /// Whether there are rows on both sides of a boundary, and some between it and the one before.
    fn splits(&self, j: usize) -> bool {
        let all = self.lost[self.lost.len() - 1];
        self.lost[j] > self.lost[j - 1] && self.lost[j] < all
    }
}

/// The two sides of a cut as leaves.
struct Leaves<T> {
    cost: [Cost; 2],
    worst: [T; 2],
}

impl<T: Unit> PartRows<T> {
    fn take(&mut self, part: Part, grid: &Grid<T>) {
        self.row.clear();
        self.row.extend_from_slice(part.rows());
        self.n = self.row.len();
        let rows = self.row.iter().map(|&row| row as usize);
        self.codes.clear();
        for axis in &grid.axes {
            self.codes.extend(rows.clone().map(|row| axis.code[row]));
        }
        self.label.clear();
        self.label.extend(rows.clone().map(|row| grid.label[row]));
        self.gain.clear();
        self.gain.extend(rows.clone().map(|row| grid.gain[row]));
        self.worst.clear();
        self.worst.extend(rows.map(|row| grid.worst[row]));
    }

    fn leaf(&self, kernel: &LabelKernel<T>) -> Cost {
        let ranks: &[u32] = &[];
        self.sides_by(kernel, |_| 0, ranks).cost[0]
    }

    fn sides(&self, kernel: &LabelKernel<T>, rank: &[u32], cut: i64) -> Leaves<T> {
        self.sides_by(kernel, |rank| usize::from(i64::from(rank) > cut), rank)
    }

    fn sides_by(
        &self,
        kernel: &LabelKernel<T>,
        side: impl Fn(u32) -> usize,
        rank: &[u32],
    ) -> Leaves<T> {
        let mut gains = vec![[T::default(); 2]; kernel.n_labels];
        let mut worst = [T::default(); 2];
        let rows = self.row.iter().zip(&self.label).zip(&self.gain).zip(&self.worst);
        for (((&row, &label), &gain), &most) in rows {
            let side = side(if rank.is_empty() { 0 } else { rank[row as usize] });
            gains[usize::from(label)][side] += gain;
            worst[side] += most;
        }
        let cost = [0, 1].map(|side| {
            let most = gains.iter().map(|gains| gains[side]).max().unwrap_or_default();
            (worst[side] - most).cost() * kernel.unit + kernel.leaf_cost
        });
        Leaves { cost, worst }
    }

    /// Worst losses before each boundary of an axis of `n` blocks.
    fn lost(&self, axis: usize, n: usize, unit: Cost) -> Vec<Cost> {
        let mut lost = vec![0; n + 1];
        for (&code, &worst) in self.codes[axis * self.n..][..self.n].iter().zip(&self.worst) {
            lost[usize::from(code) + 1] += worst.cost() * unit;
        }
        for at in 1..lost.len() {
            lost[at] += lost[at - 1];
        }
        lost
    }

    fn bytes(&self) -> usize {
        4 * self.row.capacity()
            + self.codes.capacity()
            + self.label.capacity() * size_of::<Label>()
            + (self.gain.capacity() + self.worst.capacity()) * size_of::<T>()
    }
}
