//! The least costs of all sets of so many columns, and how larger sets lower them.
//! `column_sets` says what sets and cells are.

use std::ops::Add;

use super::pair_tables::clear;
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::vec_bytes;
use crate::task::AT_ONCE;

/// A cost in units, or a rough one.
pub trait SetCost: Copy + Default + Add<Output = Self> {
    const MOST: Self;
    /// How many stand side by side, of which some at the end may be no column's.
    const AT_ONCE: usize;

    fn lesser(self, other: Self) -> Self;
}

impl SetCost for Cost {
    const MOST: Cost = INFINITE;
    const AT_ONCE: usize = 1;

    #[inline(always)]
    fn lesser(self, other: Cost) -> Cost {
        self.min(other)
    }
}

impl SetCost for f32 {
    const MOST: f32 = f32::INFINITY;
    const AT_ONCE: usize = AT_ONCE;

    #[inline(always)]
    fn lesser(self, other: f32) -> f32 {
        if other < self { other } else { self }
    }
}

/// Costs of the cells of all sets of m columns.
///
/// Of a set of columns a < b < c < d, costs by a stand side by side, in as many places as b needs;
/// then come the other cells, the next b, c and d.
#[derive(Debug, Default)]
pub struct Values<C> {
    n: usize,
    m: usize,
    /// By column: places of all sets whose largest column is smaller, of two columns, three, four.
    before: [Vec<usize>; 3],
    pub costs: Vec<C>,
}

/// Places for so many columns.
fn places<C: SetCost>(columns: usize) -> usize {
    columns.next_multiple_of(C::AT_ONCE)
}

/// By column, and for all: places of all sets whose largest column is smaller, of two columns,
/// three and four.
fn places_before<C: SetCost>(n: usize) -> [Vec<usize>; 3] {
    let mut before = [const { Vec::new() }; 3];
    let [mut two, mut three, mut four] = [0; 3];
    for column in 0..=n {
        before[0].push(two);
        before[1].push(three);
        before[2].push(four);
        four += three;
        three += two;
        two += places::<C>(column);
    }
    before
}

impl<C: SetCost> Values<C> {
    /// Nothing is known of the sets of m of n columns.
    pub fn clear(&mut self, n: usize, m: usize) {
        if n != self.n || self.before[0].is_empty() {
            self.before = places_before::<C>(n);
        }
        (self.n, self.m) = (n, m);
        clear(&mut self.costs, Values::<C>::len(n, m, &self.before), C::MOST);
    }

    fn len(n: usize, m: usize, before: &[Vec<usize>; 3]) -> usize {
        let others = if m == 1 { places::<C>(n) } else { before[m - 2][n] };
        others << m
    }

    pub fn bytes_for(n: usize, m: usize) -> usize {
        Values::<C>::len(n, m, &places_before::<C>(n)) * size_of::<C>()
    }

    pub fn bytes(&self) -> usize {
        self.before.iter().map(vec_bytes).sum::<usize>() + vec_bytes(&self.costs)
    }

    /// Of the sets that hold `others`, smallest first, and one column that is smaller: the costs of
    /// a cell, by that column. Bit 0 of the cell is the side of this column, and the next bits
    /// those of the others.
    #[inline(always)]
    pub fn at(&self, others: &[usize], cell: usize) -> usize {
        let [two, three, four] = &self.before;
        let (before, smallest) = match *others {
            [] => (0, self.n),
            [b] => (two[b], b),
            [b, c] => (three[c] + two[b], b),
            [b, c, d] => (four[d] + three[c] + two[b], b),
            _ => unreachable!("sets hold at most four columns"),
        };
        (before << self.m) + cell * places::<C>(smallest)
    }

    /// What a side of a column costs; side 1 is the one that is summed.
    #[inline(always)]
    pub fn of_side(&self, column: usize, side: usize) -> C {
        self.costs[side * places::<C>(self.n) + column]
    }

    pub fn set_side(&mut self, column: usize, side: usize, cost: C) {
        self.costs[side * places::<C>(self.n) + column] = cost;
    }
}

/// The larger columns of a set, smallest first.
#[derive(Debug, Clone, Copy)]
pub struct Others {
    columns: [usize; 3],
    pub n: usize,
}

impl Others {
    pub fn of(columns: &[usize]) -> Others {
        let mut all = [0; 3];
        all[..columns.len()].copy_from_slice(columns);
        Others { columns: all, n: columns.len() }
    }

    /// With a column that is smaller than all.
    #[inline(always)]
    pub fn and(self, column: usize) -> Others {
        let [a, b, _] = self.columns;
        Others { columns: [column, a, b], n: self.n + 1 }
    }

    /// Without the column at a place.
    #[inline(always)]
    pub fn but(self, place: usize) -> Others {
        let [a, b, c] = self.columns;
        let columns = match place {
            0 => [b, c, 0],
            1 => [a, c, 0],
            _ => [a, b, 0],
        };
        Others { columns, n: self.n - 1 }
    }

    #[inline(always)]
    pub fn list(&self) -> &[usize] {
        &self.columns[..self.n]
    }
}

/// A cell without the side of the column at a place, whose bit is left out.
#[inline(always)]
pub fn without(cell: usize, place: usize) -> usize {
    cell & ((1 << place) - 1) | cell >> (place + 1) << place
}

/// Take in that the cells of some sets cost this much: those of `others`, `column` below them, and
/// each of the columns `from..` below that. `cost` gives costs by that last column for a cell, of
/// which bit 0 is the side of the last column, bit 1 that of `column`, and then those of `others`.
#[inline(always)]
pub fn lower<'c, C: SetCost + 'c>(
    values: &mut Values<C>,
    others: Others,
    (column, from): (usize, usize),
    n: usize,
    cost: impl Fn(usize) -> &'c [C],
) {
    for cell in 0..1 << others.n {
        for side in 0..2 {
            // Without the last column.
            let [a, b] = [cost(cell << 2 | side << 1), cost(cell << 2 | side << 1 | 1)];
            let at = values.at(others.list(), cell << 1 | side) + column;
            values.costs[at] = values.costs[at].lesser(least_sum(a, b, n));
            // Without the one before it.
            let [a, b] = [cost(cell << 2 | side), cost(cell << 2 | 2 | side)];
            let at = values.at(others.list(), cell << 1 | side) + from;
            lower_to_sums(&mut values.costs[at..], a, b, n);
        }
    }
    // Without one of the others.
    for place in 0..others.n {
        let rest = others.but(place).and(column);
        let bit = 1 << (place + 2);
        for cell in 0..4usize << others.n {
            if cell & bit == 0 {
                let at = values.at(rest.list(), without(cell, place + 2)) + from;
                lower_to_sums(&mut values.costs[at..], cost(cell), cost(cell | bit), n);
            }
        }
    }
}

/// The least of n sums. Plain loops here and below, because closures are not always compiled for
/// the vectors of who calls them.
#[inline(always)]
fn least_sum<C: SetCost>(a: &[C], b: &[C], n: usize) -> C {
    let (a, b) = (&a[..n], &b[..n]);
    let mut least = C::MOST;
    for l in 0..n {
        least = least.lesser(a[l] + b[l]);
    }
    least
}

#[inline(always)]
fn lower_to_sums<C: SetCost>(to: &mut [C], a: &[C], b: &[C], n: usize) {
    let (to, a, b) = (&mut to[..n], &a[..n], &b[..n]);
    for l in 0..n {
        to[l] = to[l].lesser(a[l] + b[l]);
    }
}

/// Sets of m columns lower those of one less; `values` are those of m and of one less.
#[inline(always)]
pub fn lower_all<C: SetCost>(values: &mut [Values<C>]) {
    let [to, of] = values else { return };
    let (n, m) = (of.n, of.m);
    let mut each = |others: Others, limit: usize| {
        for column in 1..limit {
            let with = others.and(column);
            let cost = |cell: usize| &of.costs[of.at(with.list(), cell)..][..column];
            lower(to, others, (column, 0), column, cost);
        }
    };
    match m {
        2 => each(Others::of(&[]), n),
        3 => (2..n).for_each(|larger| each(Others::of(&[larger]), larger)),
        _ => {
            for largest in 3..n {
                (2..largest).for_each(|larger| each(Others::of(&[larger, largest]), larger));
            }
        }
    }
}
