//! Bounds on cuts from the cuts around them.
//!
//! Statement: for cuts a < t < b of one axis with worst losses of M between a and b, the sides of t
//! cost at least max(L_a + R_b, L_b + R_a − M). Proof: the left of t holds the left of a, so L_t ≥
//! L_a, and lacks rows that can lose M − w of the left of b, so L_t ≥ L_b − (M − w), where w is
//! what a to t can lose; R_t ≥ R_b and R_t ≥ R_a − w likewise. Add the first and third, or the
//! second and fourth. Invalid with a minimum leaf size, or if either bound speaks of fewer leaves
//! or levels than t may use.

use std::cmp::Ordering;
use std::ops::Range;

use crate::cost::Cost;

/// A cut with lower bounds on both sides. −1 has nothing left of it.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    pub cut: i64,
    pub left: Cost,
    pub right: Cost,
}

impl Edge {
    pub fn bound(&self) -> Cost {
        self.left + self.right
    }

    /// What is known of a cut between two others, of losses `before` and `after` it up to them.
    pub fn between(cut: i64, (a, b): (&Edge, &Edge), before: Cost, after: Cost) -> Edge {
        Edge { cut, left: a.left.max(b.left - after), right: b.right.max(a.right - before) }
    }
}

/// A bound on all cuts between two, with worst losses of `lost` between them.
pub fn between(a: &Edge, b: &Edge, lost: Cost) -> Cost {
    (a.left + b.right).max(b.left + a.right - lost)
}

/// The losses behind `a` after which the bound on a cut is least.
pub fn weakest(a: &Edge, b: &Edge, lost: Cost) -> Cost {
    ((lost + (a.right - b.right) - (b.left - a.left)) / 2).clamp(0, lost)
}

/// Rows between two cuts, in the order of an axis.
pub struct Between<'a> {
    /// All rows in the order of the axis, and by row its rank.
    rows: &'a [u32],
    ranks: &'a [u32],
    pub range: Range<usize>,
}

impl<'a> Between<'a> {
    /// The rows behind `a` up to `b`; none if there is no cut between.
    pub fn new(rows: &'a [u32], ranks: &'a [u32], a: &Edge, b: &Edge) -> Option<Self> {
        let behind = |cut: i64| rows.partition_point(|&row| i64::from(ranks[row as usize]) <= cut);
        let between = Between { rows, ranks, range: behind(a.cut)..behind(b.cut) };
        let Range { start, end } = between.range;
        (start < end && between.rank(start) != between.rank(end - 1)).then_some(between)
    }

    fn rank(&self, at: usize) -> i64 {
        i64::from(self.ranks[self.rows[at] as usize])
    }

    /// The cut behind the rank of a row, or behind the rank before if that is the last.
    pub fn cut(&self, at: usize) -> i64 {
        let (cut, last) = (self.rank(at), self.rank(self.range.end - 1));
        if cut < last { cut } else { self.rank(self.first(last) - 1) }
    }

    /// Where the rows of this rank, or a larger one, begin.
    pub fn first(&self, rank: i64) -> usize {
        let rows = &self.rows[self.range.clone()];
        self.range.start + rows.partition_point(|&row| i64::from(self.ranks[row as usize]) < rank)
    }
}

/// Cuts of one axis that may be best, the least bound first.
#[derive(Debug)]
pub struct Item<W> {
    pub bound: Cost,
    pub axis: usize,
    pub what: W,
}

impl<W> Ord for Item<W> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.bound.cmp(&self.bound)
    }
}

impl<W> PartialOrd for Item<W> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<W> PartialEq for Item<W> {
    fn eq(&self, other: &Self) -> bool {
        self.bound == other.bound
    }
}

impl<W> Eq for Item<W> {}
