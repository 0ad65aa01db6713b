//! The rows between two cuts of an axis, and cuts in the order of their bounds. The bound itself is
//! `bounds::neighbouring_cuts`.

use std::cmp::Ordering;
use std::ops::Range;

pub use crate::bounds::neighbouring_cuts::{Edge, between, weakest};
use crate::cost::Cost;

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
#[derive(Debug, Clone, Copy)]
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
