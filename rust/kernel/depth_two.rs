//! The depth-two look-ahead: for one node, every split, and the best stump on each side of it.
//!
//! Pair counts C[i][j] = rows that have both columns i and j give the four cells of every pair of
//! splits, hence the best left and right stump for every split. One pass over the pairs serves
//! both "i, then j" and "j, then i".

use super::lanes::Blocks;
use super::rows::Costs;
use super::skewed::Prices;
use super::squares::Squared;
use super::wide::ClassTally;
use super::{narrow, paying, prints, rows, skewed, squares, wide};
use crate::bits::{LANES, Level};
use crate::cost::{Cost, INFINITE};
use crate::task::{ClassCosts, Squares, Task};
use crate::view::{BitView, Key, Tariff, View};

/// What is known of a set of rows without looking at its splits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Side {
    /// Cost as one leaf, without the leaf penalty.
    pub leaf: Cost,
    /// Least cost that any tree pays (equivalent points).
    pub least: Cost,
    /// Most that any labels cost.
    pub worst: Cost,
    pub rows: i64,
}

/// What one side of a split pays to be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fee {
    /// This split.
    pub this: Cost,
    /// Any split after this one, at least.
    pub next: Cost,
}

/// What one kernel call tells about a node.
#[derive(Debug, Default)]
pub struct Lookahead {
    pub whole: Side,
    /// By column: its 0 side and its 1 side.
    pub sides: Vec<[Side; 2]>,
    /// By column: the least loss of a stump on each side, or `INFINITE` where none is allowed.
    pub stumps: Vec<[Cost; 2]>,
    /// By column: what trees of three leaves lose on each side at least, as far as is known.
    pub three_leaves: Vec<[Cost; 2]>,
    /// Where questions cost something, by column: what both sides pay for the split, and what they pay at least
    /// for another one. Else empty.
    pub fees: Vec<[Fee; 2]>,
    /// What the node pays at least for any split.
    pub fee: Cost,
    /// What every tree costs at least, where that was enough: then there are no stumps. Else 0.
    pub enough: Cost,
    /// `overlaps[i * n + j]`, if asked for: the worst loss of the rows that have both columns, rounded
    /// down to a multiple of `overlap_unit`.
    overlaps: Vec<u32>,
    overlap_stride: usize,
    overlap_unit: Cost,
    /// How much less than the truth an overlap may be.
    overlap_slack: Cost,
}

impl Lookahead {
    /// At least the worst loss of the rows on side `a` of column i that are not on side `b` of column j.
    pub fn difference(&self, i: usize, a: usize, j: usize, b: usize) -> Cost {
        let (x, y) = if j / 32 >= i / 32 { (i, j) } else { (j, i) };
        let low = Cost::from(self.overlaps[x * self.overlap_stride + y]) * self.overlap_unit;
        // Rows with both, as an upper and as a lower bound.
        let high = low + self.overlap_slack;
        let one = |c: usize| self.sides[c][1].worst;
        match (a, b) {
            (1, 0) => high,
            (1, _) => one(i) - low,
            (_, 1) => self.whole.worst - one(i) - one(j) + high,
            _ => one(j) - low,
        }
    }

    /// What a side pays for the split of a column, and at least for another one.
    #[inline]
    pub fn fee(&self, column: usize, side: usize) -> Fee {
        self.fees.get(column).map_or(Fee::default(), |fees| fees[side])
    }

    pub fn has_overlaps(&self) -> bool {
        !self.overlaps.is_empty()
    }

    /// Whether overlaps are what they say. If they are for some rows, they are for all subsets of them.
    pub fn has_exact_overlaps(&self) -> bool {
        self.has_overlaps() && self.overlap_slack == 0
    }

    pub(super) fn start_overlaps(
        &mut self,
        stride: usize,
        unit: Cost,
        slack: Cost,
    ) -> Result<(), Unfinished> {
        self.overlap_slack = slack;
        let n = self.sides.len();
        self.overlap_stride = stride;
        self.overlap_unit = unit;
        zeros(&mut self.overlaps, n * stride, 0)
    }

    pub(super) fn overlap_row(&mut self, column: usize, block: usize) -> &mut [u32; LANES] {
        let at = column * self.overlap_stride + block * LANES;
        self.overlaps[at..].first_chunk_mut().expect("rows are whole blocks")
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        vec_bytes(&self.sides)
            + vec_bytes(&self.stumps)
            + vec_bytes(&self.three_leaves)
            + vec_bytes(&self.fees)
            + vec_bytes(&self.overlaps)
    }

    /// Bytes that the overlaps of `n` columns take.
    pub fn overlap_bytes(n: usize) -> usize {
        n * n.next_multiple_of(LANES) * size_of::<u32>()
    }

    /// Nothing is known, of `n` columns.
    pub fn clear(&mut self, n: usize) {
        self.whole = Side::default();
        self.sides.clear();
        self.sides.resize(n, [Side::default(); 2]);
        self.stumps.clear();
        self.stumps.resize(n, [INFINITE; 2]);
        self.enough = 0;
        self.fees.clear();
        self.fee = 0;
        self.three_leaves.clear();
        self.three_leaves.resize(n, [0; 2]);
        self.overlaps.clear();
    }
}

/// Why a look did not come to its end. Then nothing it says is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    /// Somebody asked to stop.
    Stopped,
    /// The system has no memory left.
    NoMemory,
}

/// `n` copies of `value`, in no more memory than that takes, if the system has it.
pub(super) fn zeros<T: Clone>(list: &mut Vec<T>, n: usize, value: T) -> Result<(), Unfinished> {
    list.clear();
    list.try_reserve_exact(n).map_err(|_| Unfinished::NoMemory)?;
    list.resize(n, value);
    Ok(())
}

pub(super) fn vec_bytes<T>(list: &Vec<T>) -> usize {
    list.capacity() * size_of::<T>()
}

/// What to find out.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ask {
    /// Rows that each side of a split must hold; 1 or less: any split that is one.
    pub min_rows: i64,
    pub overlaps: bool,
    /// Whether stumps on the sides are wanted, or only the sides.
    pub stumps: bool,
    /// What a leaf costs, to compare trees of different size; 0: nobody wants to.
    pub leaf_cost: Cost,
    /// The most leaves that trees for the node may have; 0: that many, for all one knows.
    pub leaves: u32,
    /// If every tree costs this, and that shows without all pairs, nothing more is asked; 0: it is.
    pub enough: Cost,
}

/// One worker's kernel with its scratch memory.
pub struct Kernel<'a> {
    bits: &'a BitView,
    classes: Option<&'a ClassCosts>,
    squares: Option<&'a Squares>,
    level: Level,
    blocks: Blocks,
    narrow: narrow::Scratch,
    wide: wide::Scratch,
    squared: squares::Scratch,
    rows: rows::Scratch,
    skewed: skewed::Scratch,
    prints: prints::Scratch,
    /// The unit of error, and the total weight, if counts can stay in 16 bits.
    uniform: Option<Cost>,
    /// What errors cost, if there are two classes.
    prices: Option<Prices>,
    /// What errors and questions cost, if each class has one cost for all errors.
    rates: Option<paying::Rates>,
    paying: (paying::Scratch<u32>, paying::Scratch<u64>),
    /// By class: its weight in the view that is looked at.
    weights: Vec<i64>,
}

impl<'a> Kernel<'a> {
    pub fn new(bits: &'a BitView, task: &'a dyn Task, level: Level) -> Self {
        let classes = task.classes();
        Kernel {
            bits,
            classes,
            squares: task.squares(),
            level,
            blocks: Blocks::default(),
            narrow: narrow::Scratch::default(),
            wide: wide::Scratch::default(),
            squared: squares::Scratch::default(),
            rows: rows::Scratch::default(),
            skewed: skewed::Scratch::default(),
            prints: prints::Scratch::default(),
            uniform: classes.and_then(ClassCosts::uniform),
            prices: classes.and_then(Prices::new),
            rates: classes.zip(bits.fares.as_ref()).and_then(|(c, f)| paying::Rates::new(c, f)),
            paying: Default::default(),
            weights: Vec::new(),
        }
    }

    /// Bytes of scratch memory held.
    pub fn bytes(&self) -> usize {
        self.blocks.bytes()
            + self.prints.bytes()
            + self.narrow.bytes()
            + self.wide.bytes()
            + self.squared.bytes()
            + self.rows.bytes()
            + self.skewed.bytes()
            + self.paying.0.bytes()
            + self.paying.1.bytes()
            + vec_bytes(&self.weights)
    }

    /// Bytes of scratch memory that a look at such a view takes, at least.
    pub fn bytes_for(view: &View) -> usize {
        if view.costs.is_empty() { view.bits.len() * 8 } else { 0 }
    }

    /// Look at a node. Only columns that vary in the view should be in it; others cost time. `halt` is
    /// asked now and then: once it says so, the look ends without a result.
    pub fn look(
        &mut self,
        view: &View,
        ask: Ask,
        halt: &dyn Fn() -> bool,
        out: &mut Lookahead,
    ) -> Result<(), Unfinished> {
        self.look_paying(view, ask, None, halt, out)
    }

    /// The same where questions cost something.
    pub fn look_paying(
        &mut self,
        view: &View,
        ask: Ask,
        tariff: Option<&Tariff>,
        halt: &dyn Fn() -> bool,
        out: &mut Lookahead,
    ) -> Result<(), Unfinished> {
        let result = self.look_at(view, ask, tariff, halt, out);
        if result.is_err() {
            out.clear(0);
        }
        result
    }

    fn look_at(
        &mut self,
        view: &View,
        ask: Ask,
        tariff: Option<&Tariff>,
        halt: &dyn Fn() -> bool,
        out: &mut Lookahead,
    ) -> Result<(), Unfinished> {
        out.clear(view.columns.len());
        if let Some(task) = self.squares {
            let (blocks, scratch) = (&self.blocks, &mut self.squared);
            if (Squared { view, blocks, task, scratch }).glance(ask, halt, out) {
                return Ok(());
            }
        }
        self.fill(view)?;
        if let Some(task) = self.squares {
            let (blocks, scratch) = (&self.blocks, &mut self.squared);
            let mut squared = Squared { view, blocks, task, scratch };
            return self.level.run(
                #[inline(always)]
                || squared.look(ask, halt, out),
            );
        }
        let Some(classes) = self.classes else {
            let (n_labels, width) = (self.bits.n_stats, self.bits.width);
            let mut costs = Costs { view, n_labels, width, tariff, scratch: &mut self.rows };
            return self.level.run(
                #[inline(always)]
                || costs.look(ask, halt, out),
            );
        };
        let level = self.level;
        if let Some(unit) = self.uniform
            && tariff.is_none()
            && self.fits_narrow(view, ask)
        {
            let k = classes.n_classes();
            let (blocks, segments) = (&self.blocks, &self.bits.segments);
            let scratch = &mut self.narrow;
            return level.run(
                #[inline(always)]
                || narrow::look(level, blocks, segments, k, unit, ask, halt, scratch, out),
            );
        }
        if let Some(prices) = self.prices
            && tariff.is_none()
            && self.fits_narrow(view, ask)
            && prices.fit(weigh_classes(self.bits, view, classes.n_classes(), &mut self.weights))
        {
            let (blocks, segments) = (&self.blocks, &self.bits.segments);
            let scratch = (&mut self.narrow, &mut self.skewed);
            return level.run(
                #[inline(always)]
                || skewed::look(level, blocks, segments, prices, ask, halt, scratch, out),
            );
        }
        if ask.min_rows <= 1
            && let (Some(tariff), Some(rates)) = (tariff, &self.rates)
            && self.weights_are_rows()
            && self.fits_narrow(view, ask)
        {
            let (blocks, segments) = (&self.blocks, &self.bits.segments);
            let (counts, paying) = (&mut self.narrow, &mut self.paying);
            let weights = weigh_classes(self.bits, view, classes.n_classes(), &mut self.weights);
            if rates.fit::<u32>(weights) {
                let scratch = (counts, &mut paying.0);
                return paying::look(
                    level, blocks, segments, rates, tariff, ask, halt, scratch, out,
                );
            }
            if rates.fit::<u64>(weights) {
                let scratch = (counts, &mut paying.1);
                return paying::look(
                    level, blocks, segments, rates, tariff, ask, halt, scratch, out,
                );
            }
        }
        let mut tally = ClassTally { level, blocks: &self.blocks, bits: self.bits, classes };
        let scratch = &mut self.wide;
        level.run(
            #[inline(always)]
            || wide::look(&mut tally, ask, tariff, halt, scratch, out),
        )
    }

    /// The first part of `look` alone: turn rows into lanes. Costs by row need none.
    pub fn fill(&mut self, view: &View) -> Result<(), Unfinished> {
        match self.classes.is_some() || self.squares.is_some() {
            true => self.blocks.fill(view, self.level),
            false => Ok(()),
        }
    }

    /// The part of `look` that sums the rows of every pair, alone, for benches. `fill` comes first.
    pub fn sum_pairs(&mut self, view: &View, ask: Ask) {
        let level = self.level;
        if let Some(task) = self.squares {
            let (blocks, scratch) = (&self.blocks, &mut self.squared);
            let mut squared = Squared { view, blocks, task, scratch };
            return level.run(
                #[inline(always)]
                || squared.sum_pairs(ask),
            );
        }
        let Some(classes) = self.classes else {
            let (n_labels, width) = (self.bits.n_stats, self.bits.width);
            let scratch = &mut self.rows;
            let mut costs = Costs { view, n_labels, width, tariff: None, scratch };
            return level.run(
                #[inline(always)]
                || costs.sum_pairs(ask),
            );
        };
        let (blocks, segments) = (&self.blocks, &self.bits.segments);
        let counted = self.uniform.is_some() || self.prices.is_some();
        if counted && self.fits_narrow(view, ask) {
            let k = classes.n_classes();
            let scratch = &mut self.narrow;
            level.run(
                #[inline(always)]
                || narrow::sum_pairs(level, blocks, segments, k, scratch),
            );
            return;
        }
        let mut tally = ClassTally { level, blocks, bits: self.bits, classes };
        let scratch = &mut self.wide;
        level.run(
            #[inline(always)]
            || wide::sum_pairs(&mut tally, scratch),
        );
    }

    /// Bytes of scratch memory that `fingerprints` takes beyond what there is.
    pub fn fingerprint_bytes(&self) -> usize {
        if self.classes.is_some() { self.prints.bytes_for(&self.blocks) } else { 0 }
    }

    /// The fingerprints of both sides of every column of the view that was looked at last. Tasks without
    /// classes leave them to whoever asks.
    pub fn fingerprints(&mut self, view: &View, out: &mut Vec<Option<[Key; 2]>>) {
        if self.classes.is_some() {
            prints::fingerprints(&self.blocks, view, &mut self.prints, out);
        }
    }

    fn weights_are_rows(&self) -> bool {
        self.bits.segments.iter().all(|segment| segment.rows == segment.weight)
    }

    /// Whether weights sum to less than 2^16, and rows, if they matter, are weights.
    fn fits_narrow(&self, view: &View, ask: Ask) -> bool {
        if ask.min_rows > 1 && !self.weights_are_rows() {
            return false;
        }
        let segments = &self.bits.segments;
        let total: i64 =
            (0..view.ends.len()).map(|s| view.segment(s).len() as i64 * segments[s].weight).sum();
        total < 1 << 16
    }
}

/// The weight of every class in a view.
fn weigh_classes<'w>(
    bits: &BitView,
    view: &View,
    n_classes: usize,
    weights: &'w mut Vec<i64>,
) -> &'w [i64] {
    weights.clear();
    weights.resize(n_classes, 0);
    for (index, segment) in bits.segments.iter().enumerate() {
        weights[segment.class as usize] += view.segment(index).len() as i64 * segment.weight;
    }
    weights
}
