//! The best tree of depth two of a part: bounds from pairs of axes first, then as much refinement
//! as is asked for, where the bounds are least.

use std::collections::BinaryHeap;
use std::ops::Range;

use super::flags::Flags;
use super::grid::Grid;
use super::kernel::LabelKernel;
use super::known::{Around, Known, Place, Stumped};
use super::label_pairs::LabelPairs;
use super::many::Many;
use super::pairs::{Stumps, Sums, stumps};
use super::rows::PartRows;
use super::scan::{self, Line};
use super::unit::{LANES, Unit};
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::Halt;
use crate::kernel::ranks::interval_bound::{Between, Edge, Item, between, weakest};
use crate::kernel::ranks::rank_kernel::stump_plan;
use crate::tree::Plan;
use crate::view::{Missing, Part};

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
    /// What stumps lose at least beside cuts.
    pub(super) stumped: Stumped<T>,
    pub(super) lines: Vec<Line<T>>,
    /// Ranks of axis f in the order of axis g, at f·p + g; made when first needed.
    pub(super) seen: Vec<Vec<u16>>,
    /// What may still be below `upper`; empty until the first refinement.
    items: BinaryHeap<Item<(What, Blocks)>>,
    filled: bool,
    sums: Sums<T>,
    /// With missing values lowest.
    turned: Sums<T>,
    flags: Flags<T>,
    stumps: Stumps<T>,
    /// For other than two labels.
    pub(super) many: Many<T>,
    pub(super) pairs: LabelPairs<T>,
    /// By axis, of the cut that is looked at: bounds on both sides, and whether it was scanned.
    pub(super) bounds: Vec<[T; 2]>,
    pub(super) looked_at: Vec<bool>,
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
    Cut(Known),
    /// All cuts within a block.
    Block,
    /// The cuts between two.
    Gap(Known, Known),
}

type Blocks = (usize, usize);

/// What a question is about: the kernel, the part, and its node in blocks.
pub struct Question<'a, T> {
    pub kernel: &'a LabelKernel<T>,
    pub part: Part<'a>,
    pub grid: &'a Grid<T>,
}

impl<T> Clone for Question<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Question<'_, T> {}

/// Ranks that a subproblem may hold in orders of other axes.
const MOST_SEEN: usize = 1 << 23;

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
        let sees = p * p * self.rows.n <= MOST_SEEN;
        for seen in &mut self.seen {
            seen.clear();
        }
        self.seen.resize_with(if sees { p * p } else { 0 }, Vec::new);
        let (lower, upper) = (kernel.leaf_cost, self.rows.leaf(kernel));
        (self.lower, self.upper) = (lower, upper);
        let most = grid.axes.iter().map(|axis| axis.n()).max().unwrap_or(0) + 1;
        self.stumped.begin(p, most.next_multiple_of(LANES));
        self.ends.clear();
        self.ends.resize_with(p, Ends::default);
        let mut uppers: Vec<[Vec<Cost>; 2]> = vec![Default::default(); p];
        for f in 0..p {
            self.ends[f].lost = self.rows.lost(f, grid.axes[f].n(), kernel.unit);
            let n = grid.axes[f].n() + 1;
            uppers[f] = [vec![INFINITE; n], vec![INFINITE; n]];
            (self.ends[f].left, self.ends[f].right) = (vec![INFINITE; n], vec![INFINITE; n]);
        }
        if kernel.n_labels == 2 {
            self.flags.count(&self.rows, grid, kernel.level);
        } else {
            self.many.begin(&self.rows, grid, kernel.n_labels);
            self.pairs.begin(p);
        }
        let level = kernel.level;
        for f in 0..p {
            if halt() {
                self.halted = true;
                self.upper = upper;
                return;
            }
            if kernel.n_labels == 2 {
                self.pairs_of(f, grid, kernel, &mut uppers);
                continue;
            }
            self.many.walk(&self.rows, f, grid.axes[f].n());
            for g in 0..p {
                let (rows, many, out) = (&self.rows, &mut self.many, &mut self.stumps);
                level.run(
                    #[inline(always)]
                    || many.stumps(rows, g, out),
                );
                self.keep(f, g, kernel, &mut uppers[f]);
            }
        }
        self.conclude(grid, &uppers);
    }

    /// For two labels, what all pairs of axis `f` say of its boundaries. Both axes of a column with
    /// missing values are counted once, and stumps on either are bounded as one.
    fn pairs_of(
        &mut self,
        f: usize,
        grid: &Grid<T>,
        kernel: &LabelKernel<T>,
        uppers: &mut [[Vec<Cost>; 2]],
    ) {
        let p = grid.axes.len();
        if grid.axes[f].missing == Some(Missing::Lowest) {
            return;
        }
        let turns = grid.axes[f].missing == Some(Missing::Highest);
        for g in 0..p {
            let of = &grid.axes[g];
            if of.missing == Some(Missing::Lowest) {
                continue;
            }
            let (rows, sums, turned) = (&self.rows, &mut self.sums, &mut self.turned);
            if !self.flags.sum((f, g), grid, sums) {
                sums.count(rows, (f, g), grid);
            }
            if turns {
                turned.turn(sums);
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
                self.keep(f, g, kernel, &mut uppers[f]);
                if known.is_some() {
                    self.keep(f, g + 1, kernel, &mut uppers[f]);
                }
            }
        }
    }

    /// Take over what a pair says of the boundaries of axis `f` with stumps along `g`.
    fn keep(&mut self, f: usize, g: usize, kernel: &LabelKernel<T>, uppers: &mut [Vec<Cost>; 2]) {
        let (leaf, stump) = (kernel.leaf_cost, 2 * kernel.leaf_cost);
        let n = self.ends[f].left.len();
        for side in 0..2 {
            let ends = &mut self.ends[f];
            let bounds = if side == 0 { &mut ends.left } else { &mut ends.right };
            let lower = &self.stumps.lower[side][..n];
            self.stumped.beside_boundaries(side, (f, g))[..n].copy_from_slice(lower);
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
                    let what = What::Cut(ends.known(j, grid, f));
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
        target: Cost,
        halt: Halt,
    ) {
        if self.halted || self.lower >= target.min(self.upper) {
            return;
        }
        if !self.filled {
            self.fill(grid);
        }
        while let Some(item) = self.items.peek() {
            self.lower = self.lower.max(item.bound.min(self.upper));
            if self.lower >= target.min(self.upper) || halt() {
                return;
            }
            let item = self.items.pop().expect("just seen");
            let need = target.min(self.upper);
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
        let question = Question { kernel, part, grid };
        match what {
            What::Cut(known) => {
                let (known, exact) = self.cut(
                    question,
                    (axis, blocks.0),
                    (known.edge, known.place),
                    &Around::itself(known.place),
                    need,
                );
                if blocks.0 == blocks.1 {
                    let ends = &mut self.ends[axis];
                    (ends.left[blocks.0], ends.right[blocks.0]) =
                        (known.edge.left, known.edge.right);
                }
                self.put(axis, blocks, known, exact);
            }
            What::Block => {
                let now = self.block(axis, blocks.0, grid).expect("it had cuts");
                if now > bound {
                    self.push(Item { bound: now, axis, what: (What::Block, blocks) });
                    return;
                }
                let ends = &self.ends[axis];
                let (a, b) = (ends.known(blocks.0, grid, axis), ends.known(blocks.1, grid, axis));
                self.divide(question, (axis, blocks), (a, b), bound, need);
            }
            What::Gap(a, b) => self.divide(question, (axis, blocks), (a, b), bound, need),
        }
    }

    /// Try a cut between two others.
    fn divide(
        &mut self,
        question: Question<T>,
        (axis, blocks): (usize, Blocks),
        (a, b): (Known, Known),
        bound: Cost,
        need: Cost,
    ) {
        self.line(question, axis);
        let of = &question.part.node.axes[axis];
        let line = &self.lines[axis];
        let Some(rows) = Between::new(&line.row, &of.rank, &a.edge, &b.edge) else { return };
        let Range { start, end } = rows.range;
        let unit = question.kernel.unit;
        let lost = |at: usize| if at == 0 { T::default() } else { line.lost[at - 1] };
        let all = (lost(end) - lost(start)).cost() * unit;
        let least = lost(start).cost() * unit + weakest(&a.edge, &b.edge, all);
        let at = line.lost[start..end].partition_point(|lost| lost.cost() * unit < least);
        let at = (start + at).min(end - 1);
        let cut = rows.cut(at);
        let behind = rows.first(cut + 1);
        let lost = [lost(behind) - lost(start), lost(end) - lost(behind)];
        let [before, after] = lost.map(|lost| lost.cost() * unit);
        let edge = Edge::between(cut, (&a.edge, &b.edge), before, after);
        let around = Around { places: [a.place, b.place], lost };
        let place = self.stumped.place();
        let (known, exact) = self.cut(question, (axis, blocks.0), (edge, place), &around, need);
        self.put(axis, blocks, known, exact);
        for (a, b, lost) in [(a, known, before), (known, b, after)] {
            let bound = between(&a.edge, &b.edge, lost).max(bound);
            self.push(Item { bound, axis, what: (What::Gap(a, b), blocks) });
        }
    }

    fn push(&mut self, item: Item<(What, Blocks)>) {
        if item.bound < self.upper {
            self.items.push(item);
        }
    }

    /// A cut that was looked at: the best there is, or to be looked at again when more is asked.
    fn put(&mut self, axis: usize, blocks: Blocks, known: Known, exact: bool) {
        let (edge, bound) = (known.edge, known.edge.bound());
        if !exact {
            self.push(Item { bound, axis, what: (What::Cut(known), blocks) });
        } else if bound < self.upper {
            self.upper = bound;
            self.best = Some((axis, edge.cut as u32));
        }
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
            let least = |g: usize| self.least(kernel, (axis, cut), g, left, grid);
            let (cost, split) = scan::best(kernel, part.node, grid, holds, least);
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

    /// What the stumps along axis `g` cost at least on one side of a cut.
    fn least(
        &self,
        kernel: &LabelKernel<T>,
        (axis, cut): (usize, u32),
        g: usize,
        left: bool,
        grid: &Grid<T>,
    ) -> Cost {
        let last = &grid.axes[axis].last;
        let block = last.partition_point(|&last| last < cut);
        // A side costs no less than the part of it up to the boundary before the cut, or from the
        // one behind it on.
        let boundary = if left { block + usize::from(last[block] == cut) } else { block + 1 };
        let place = Place::Boundary(boundary);
        let lost = self.stumped.get(usize::from(!left), (axis, g), place);
        lost.cost() * kernel.unit + 2 * kernel.leaf_cost
    }

    pub fn bytes(&self) -> usize {
        let ends = |ends: &Ends| {
            (ends.left.capacity() + ends.right.capacity() + ends.lost.capacity())
                * size_of::<Cost>()
        };
        self.rows.bytes()
            + self.ends.iter().map(ends).sum::<usize>()
            + self.ends.capacity() * size_of::<Ends>()
            + self.lines.iter().map(Line::bytes).sum::<usize>()
            + self.lines.capacity() * size_of::<Line<T>>()
            + self.seen.iter().map(|seen| 2 * seen.capacity()).sum::<usize>()
            + self.seen.capacity() * size_of::<Vec<u16>>()
            + self.items.capacity() * size_of::<Item<(What, Blocks)>>()
            + self.stumped.bytes()
            + self.sums.cells.capacity() * size_of::<T>()
            + self.turned.cells.capacity() * size_of::<T>()
            + self.flags.bytes()
            + self.many.bytes()
            + self.pairs.bytes()
            + self.stumps.bytes()
    }
}

impl Ends {
    fn edge<T: Unit>(&self, j: usize, grid: &Grid<T>, axis: usize) -> Edge {
        let cut = if j == 0 { -1 } else { i64::from(grid.axes[axis].last[j - 1]) };
        Edge { cut, left: self.left[j], right: self.right[j] }
    }

    fn known<T: Unit>(&self, j: usize, grid: &Grid<T>, axis: usize) -> Known {
        Known { edge: self.edge(j, grid, axis), place: Place::Boundary(j) }
    }

    /// Whether there are rows on both sides of a boundary, and some between it and the one before.
    fn splits(&self, j: usize) -> bool {
        let all = self.lost[self.lost.len() - 1];
        self.lost[j] > self.lost[j - 1] && self.lost[j] < all
    }
}
