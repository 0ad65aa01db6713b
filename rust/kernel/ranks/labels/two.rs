//! The best tree of depth two of a part: bounds from pairs of axes first, then as much refinement
//! as is asked for, where the bounds are least.

use std::collections::BinaryHeap;
use std::ops::Range;

use super::added::Added;
use super::flags::Flags;
use super::grid::Grid;
use super::kernel::LabelKernel;
use super::known::{Around, Known, Place, Stumped};
use super::label_pairs::LabelPairs;
use super::many::Many;
use super::pairs::{Stumps, Sums};
use super::rows::PartRows;
use super::scan::{self, Line};
use super::unit::{LANES, Unit};
use crate::bounds::{Bound, Decisions};
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::Halt;
use crate::kernel::ranks::interval_bound::{Between, Edge, Item, between, weakest};
use crate::kernel::ranks::rank_kernel::stump_plan;
use crate::tree::Plan;
use crate::view::Part;

#[derive(Default)]
pub struct Two<T> {
    pub lower: Cost,
    pub upper: Cost,
    /// By how much rounding lowers what trees cost, at most.
    pub(super) rounded: Cost,
    /// Nothing is left between the bounds but what rounding hides.
    pub rests: bool,
    /// The root split of a tree that costs no more than `upper`; `None`: a leaf.
    pub(super) best: Option<(usize, u32)>,
    pub(super) halted: bool,
    pub(super) rows: PartRows<T>,
    /// By axis.
    pub(super) ends: Vec<Ends>,
    /// What stumps lose at least beside cuts.
    pub(super) stumped: Stumped<T>,
    pub(super) lines: Vec<Line<T>>,
    /// Ranks of axis f in the order of axis g, at f·p + g; made when first needed.
    pub(super) seen: Vec<Vec<u16>>,
    /// What may still be below `upper`; for two labels empty until the first refinement.
    pub(super) items: BinaryHeap<Item<(What, Blocks)>>,
    pub(super) filled: bool,
    /// Axes that are not counted.
    pub(super) uncounted: u64,
    /// What dropped cuts and gaps.
    decided: Decisions,
    pub(super) sums: Sums<T>,
    /// With missing values lowest.
    pub(super) turned: Sums<T>,
    /// With the axes exchanged.
    pub(super) exchanged: Sums<T>,
    pub(super) flags: Flags<T>,
    pub(super) added: Added<T>,
    pub(super) stumps: Stumps<T>,
    /// By axis: the best stumps of its pairs that are counted, beside its boundaries.
    pub(super) best_of: Vec<Stumps<T>>,
    /// For other than two labels: stumps along the one axis of a pair beside boundaries of the
    /// other one, and which pairs are counted.
    pub(super) crossed: Stumps<T>,
    pub(super) paired: Vec<bool>,
    /// For other than two labels.
    pub(super) many: Many<T>,
    pub(super) pairs: LabelPairs<T>,
    /// By axis, of the cut that is looked at: bounds on both sides, and whether it was scanned.
    pub(super) bounds: Vec<[T; 2]>,
    pub(super) looked_at: Vec<bool>,
}

/// Bounds at the boundaries of an axis: 0 has all rows right, the last all rows left.
#[derive(Default)]
pub(super) struct Ends {
    pub left: Vec<Cost>,
    pub right: Vec<Cost>,
    /// Worst losses left of it.
    pub lost: Vec<Cost>,
}

/// What of an axis may be best, and the boundaries before and behind it.
#[derive(Debug)]
pub(super) enum What {
    /// All cuts of an axis that is not counted yet.
    Axis,
    /// All cuts of one that is.
    Counted,
    /// One cut whose sides are not known exactly.
    Cut(Known),
    /// One whose sides are known exactly, but for rounding.
    Rounded(u32),
    /// All cuts within a block.
    Block,
    /// The cuts between two.
    Gap(Known, Known),
}

pub(super) type Blocks = (usize, usize);

impl What {
    /// What bounds it: the cuts beside it, or blocks along other axes. Axes that are not counted
    /// are known by their number, and a cut whose sides are known needs no bound.
    fn bound(&self) -> Option<Bound> {
        match self {
            What::Axis | What::Rounded(_) => None,
            What::Counted | What::Cut(_) => Some(Bound::Blocks),
            What::Block | What::Gap(..) => Some(Bound::NeighbouringCuts),
        }
    }
}

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
    /// First bounds. For more than two labels, axes are left uncounted that have no part in a bound
    /// up to `target`.
    pub fn begin(&mut self, question: Question<T>, target: Cost, halt: Halt) {
        let Question { kernel, part, grid } = question;
        let p = grid.axes.len();
        self.rows.take(part, grid);
        self.best = None;
        self.halted = false;
        self.filled = false;
        self.rests = false;
        self.items.clear();
        for line in &mut self.lines {
            line.clear();
        }
        self.lines.resize_with(p, Line::default);
        let sees = kernel.n_labels == 2 && p * p * self.rows.n <= MOST_SEEN;
        for seen in &mut self.seen {
            seen.clear();
        }
        self.seen.resize_with(if sees { p * p } else { 0 }, Vec::new);
        let (lower, upper) = (kernel.leaf_cost, self.rows.leaf(kernel, grid));
        self.rounded = match kernel.exact {
            Some(_) => self.rows.n as Cost * kernel.unit,
            None => 0,
        };
        (self.lower, self.upper) = (lower, upper);
        let most = grid.axes.iter().map(|axis| axis.n()).max().unwrap_or(0) + 1;
        let keeps = kernel.pair_bytes(part.node).kept().bounds;
        self.stumped.begin(p, most.next_multiple_of(LANES), keeps);
        self.ends.clear();
        self.ends.resize_with(p, Ends::default);
        for f in 0..p {
            self.ends[f].lost = self.rows.lost(f, grid.axes[f].n(), kernel);
            let n = grid.axes[f].n() + 1;
            (self.ends[f].left, self.ends[f].right) = (vec![INFINITE; n], vec![INFINITE; n]);
        }
        self.uncounted = 0;
        self.decided = Decisions::default();
        if kernel.n_labels == 2 {
            self.count_all(question, halt);
        } else {
            self.open_axes(question);
            self.count_least(question, target, halt);
        }
    }

    /// Open all cuts of all axes, for two labels.
    fn fill(&mut self, grid: &Grid<T>) {
        self.filled = true;
        let mut items = Vec::new();
        for f in 0..grid.axes.len() {
            self.cuts_of(f, grid, &mut items);
        }
        self.items = items.into();
    }

    /// The cuts of an axis that may be below `upper`, added to a list.
    fn cuts_of(&mut self, f: usize, grid: &Grid<T>, items: &mut Vec<Item<(What, Blocks)>>) {
        let ends = &self.ends[f];
        let mut dropped = [0; 2];
        for j in (1..grid.axes[f].n()).filter(|&j| ends.splits(j)) {
            let bound = ends.left[j] + ends.right[j];
            if bound < self.upper {
                let what = What::Cut(ends.known(j, grid, f));
                items.push(Item { bound, axis: f, what: (what, (j, j)) });
            } else {
                dropped[0] += 1;
            }
        }
        for block in 0..grid.axes[f].n() {
            let Some(bound) = self.block(f, block, grid) else { continue };
            if bound < self.upper {
                let what = (What::Block, (block, block + 1));
                items.push(Item { bound, axis: f, what });
            } else {
                dropped[1] += 1;
            }
        }
        self.decided.add(Bound::Blocks, dropped[0]);
        self.decided.add(Bound::NeighbouringCuts, dropped[1]);
    }

    /// How often each bound dropped a cut, or the cuts between two, or left them or an axis aside
    /// up to now.
    pub fn decided(&self) -> Decisions {
        let mut decided = self.decided;
        decided.add(Bound::TwoLabels, self.uncounted);
        self.items.iter().for_each(|item| decided.add_if(true, item.what.0.bound()));
        decided
    }

    /// Raise the lower bound to `target`, or to the optimum but for rounding: a target beyond what
    /// rounding can hide is out of reach, which needs no exact sums.
    pub fn raise(&mut self, question: Question<T>, target: Cost, halt: Halt) {
        self.raise_to(question, target, target, halt);
    }

    /// Raise the lower bound to the optimum.
    pub fn settle(&mut self, question: Question<T>, halt: Halt) {
        self.raise_to(question, Cost::MAX, 0, halt);
        self.rests = false;
    }

    /// `rests_below`: where rounding cannot hide so much, what only exact sums can tell stays open.
    fn raise_to(&mut self, question: Question<T>, target: Cost, rests_below: Cost, halt: Halt) {
        if self.halted || self.lower >= target.min(self.upper) {
            return;
        }
        if !self.filled {
            self.fill(question.grid);
        }
        while let Some(item) = self.items.peek() {
            self.lower = self.lower.max(item.bound.min(self.upper));
            if self.lower >= target.min(self.upper) || halt() {
                return;
            }
            if matches!(item.what.0, What::Rounded(_)) && item.bound + self.rounded < rests_below {
                self.rests = true;
                return;
            }
            let item = self.items.pop().expect("just seen");
            let need = target.min(self.upper);
            self.refine(question, item, need);
        }
        self.lower = self.upper;
    }

    fn refine(&mut self, question: Question<T>, item: Item<(What, Blocks)>, need: Cost) {
        let grid = question.grid;
        let Item { bound, axis, what: (what, blocks) } = item;
        match what {
            What::Axis => {
                self.count_axis(question, axis);
                let bound = self.axis_bound(axis, grid).max(bound);
                self.push(Item { bound, axis, what: (What::Counted, blocks) });
            }
            What::Counted => {
                let mut items = Vec::new();
                self.cuts_of(axis, grid, &mut items);
                self.items.extend(items);
            }
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
            What::Rounded(cut) => {
                let (cost, _) = self.split_at(question, (axis, cut));
                if cost <= self.upper {
                    (self.upper, self.best) = (cost, Some((axis, cut)));
                }
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

    pub(super) fn push(&mut self, item: Item<(What, Blocks)>) {
        match item.bound < self.upper {
            true => self.items.push(item),
            false => self.decided.add_if(true, item.what.0.bound()),
        }
    }

    /// A cut that was looked at: the best there is, or to be looked at again when more is asked.
    fn put(&mut self, axis: usize, blocks: Blocks, known: Known, exact: bool) {
        let (edge, bound) = (known.edge, known.edge.bound());
        if !exact {
            self.push(Item { bound, axis, what: (What::Cut(known), blocks) });
        } else if bound < self.upper {
            let cut = edge.cut as u32;
            if bound + self.rounded < self.upper {
                self.upper = bound + self.rounded;
                self.best = Some((axis, cut));
            }
            if self.rounded > 0 {
                self.items.push(Item { bound, axis, what: (What::Rounded(cut), blocks) });
            }
        }
    }
}

impl<T: Unit> Two<T> {
    /// The tree of the upper bound. Its stumps are looked for again, exactly, so it may cost less.
    pub fn plan(&self, kernel: &LabelKernel<T>, part: Part, grid: &Grid<T>) -> (Cost, Plan) {
        let leaf = (self.rows.leaf(kernel, grid), Plan::Leaf);
        let Some(split) = self.best else {
            return leaf;
        };
        let (cost, plan) = self.split_at(Question { kernel, part, grid }, split);
        if cost < leaf.0 { (cost, plan) } else { leaf }
    }

    /// The best tree with this split at its root, or without it if it splits nothing.
    fn split_at(&self, question: Question<T>, (axis, cut): (usize, u32)) -> (Cost, Plan) {
        let Question { kernel, part, grid } = question;
        let of = &part.node.axes[axis];
        let sides = [true, false].map(|left| {
            let holds = |row: u32| part.holds(row) && (of.rank[row as usize] <= cut) == left;
            let least = |g: usize| self.least(kernel, (axis, cut), g, left, grid);
            let (cost, split) = scan::best_stump(kernel, part.node, grid, holds, least);
            (cost, stump_plan(split), self.rows.row.iter().any(|&row| holds(row)))
        });
        let [(a, left, some_left), (b, right, some_right)] = sides;
        match (some_left, some_right) {
            (true, true) => (a + b, Plan::split(of.feature, of.cuts[cut as usize], left, right)),
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
            + self.exchanged.cells.capacity() * size_of::<T>()
            + self.flags.bytes()
            + self.added.bytes()
            + self.best_of.iter().map(Stumps::bytes).sum::<usize>()
            + self.best_of.capacity() * size_of::<Stumps<T>>()
            + self.many.bytes()
            + self.pairs.bytes()
            + self.stumps.bytes()
            + self.crossed.bytes()
            + self.paired.capacity()
    }
}

impl Ends {
    pub fn edge<T: Unit>(&self, j: usize, grid: &Grid<T>, axis: usize) -> Edge {
        let cut = if j == 0 { -1 } else { i64::from(grid.axes[axis].last[j - 1]) };
        Edge { cut, left: self.left[j], right: self.right[j] }
    }

    pub fn known<T: Unit>(&self, j: usize, grid: &Grid<T>, axis: usize) -> Known {
        Known { edge: self.edge(j, grid, axis), place: Place::Boundary(j) }
    }

    /// Whether there are rows on both sides of a boundary, and some between it and the one before.
    pub fn splits(&self, j: usize) -> bool {
        let all = self.lost[self.lost.len() - 1];
        self.lost[j] > self.lost[j - 1] && self.lost[j] < all
    }
}
