//! What a look at one node tells: every split, and the best stump on each side of it.
//!
//! Types alone. `bits` fills them in from counts of pairs of columns, which give the four cells of
//! every pair of splits; one pass over the pairs serves both "i, then j" and "j, then i".

use crate::bits::LANES;
use crate::cost::{Cost, INFINITE};

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
pub struct SplitPrice {
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
    /// Where questions cost something, by column: what both sides pay for the split, and what they
    /// pay at least for another one. Else empty.
    pub prices: Vec<[SplitPrice; 2]>,
    /// What the node pays at least for any split.
    pub least_price: Cost,
    /// By column: whether it may not be asked here, though it may be further down. Empty where all
    /// may.
    forbidden: Vec<bool>,
    /// The least that any tree costs, where that reached the target and nothing more was looked at:
    /// then there are no stumps. Else 0.
    pub at_least: Cost,
    /// `overlaps[i * n + j]`, if asked for: the worst loss of the rows that have both columns,
    /// rounded down to a multiple of `overlap_unit`.
    overlaps: Vec<u32>,
    overlap_stride: usize,
    overlap_unit: Cost,
    /// How much less than the truth an overlap may be.
    overlap_slack: Cost,
}

impl Lookahead {
    /// At least the worst loss of the rows on side `a` of column i that are not on side `b` of
    /// column j.
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
    pub fn price(&self, column: usize, side: usize) -> SplitPrice {
        self.prices.get(column).map_or(SplitPrice::default(), |prices| prices[side])
    }

    pub fn has_prices(&self) -> bool {
        !self.prices.is_empty()
    }

    /// Whether a column may not be asked here.
    #[inline]
    pub fn is_forbidden(&self, column: usize) -> bool {
        !self.forbidden.is_empty() && self.forbidden[column]
    }

    /// Take over which columns may not be asked here.
    pub(in crate::kernel) fn forbid(&mut self, forbidden: impl Iterator<Item = bool>) {
        self.forbidden.extend(forbidden);
    }

    pub fn has_overlaps(&self) -> bool {
        !self.overlaps.is_empty()
    }

    /// Whether overlaps are what they say. If they are for some rows, they are for all subsets of
    /// them.
    pub fn has_exact_overlaps(&self) -> bool {
        self.has_overlaps() && self.overlap_slack == 0
    }

    pub(in crate::kernel) fn start_overlaps(
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

    pub(in crate::kernel) fn overlap_row(
        &mut self,
        column: usize,
        block: usize,
    ) -> &mut [u32; LANES] {
        let at = column * self.overlap_stride + block * LANES;
        self.overlaps[at..].first_chunk_mut().expect("rows are whole blocks")
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        vec_bytes(&self.sides)
            + vec_bytes(&self.stumps)
            + vec_bytes(&self.three_leaves)
            + vec_bytes(&self.prices)
            + vec_bytes(&self.forbidden)
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
        self.at_least = 0;
        self.prices.clear();
        self.least_price = 0;
        self.forbidden.clear();
        self.three_leaves.clear();
        self.three_leaves.resize(n, [0; 2]);
        self.overlaps.clear();
    }
}

/// What both sides of every column of a view cost as the best trees of some depth, leaf penalties
/// and all.
#[derive(Debug)]
pub struct BothSides {
    pub costs: Vec<[Cost; 2]>,
    /// Whether there are such trees; if not, none costs less.
    pub are_exact: bool,
}

/// Asked now and then by what may take long; `true` ends it.
pub type Halt<'a> = &'a dyn Fn() -> bool;

/// Why a look did not come to its end. Then nothing it says is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    /// Somebody asked to stop.
    Stopped,
    /// The system has no memory left.
    NoMemory,
    /// The task breaks its contract, or what it calls failed: `Task::failure` says why.
    TaskFailed,
}

/// `n` copies of `value`, in no more memory than that takes, if the system has it.
pub(in crate::kernel) fn zeros<T: Clone>(
    list: &mut Vec<T>,
    n: usize,
    value: T,
) -> Result<(), Unfinished> {
    list.clear();
    list.try_reserve_exact(n).map_err(|_| Unfinished::NoMemory)?;
    list.resize(n, value);
    Ok(())
}

pub(in crate::kernel) fn vec_bytes<T>(list: &Vec<T>) -> usize {
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
    /// A look may end without its pairs once every tree is known to cost this; 0 is no target.
    pub target: Cost,
}
