//! The cells of pairs of columns, gathered until there are many, and then costed together by their
//! task.
//!
//! A task may be asked at some expense, such as a call to Python: the more leaves in one call, the
//! better.

use std::ops::Range;

use crate::bits::LANES;
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::vec_bytes;
use crate::task::Task;

/// What 32 columns and one statistic have.
pub type Row = [i64; LANES];

/// One column i against some columns j of a block: where its cells begin, and which lanes of the
/// block have any. The cells 00, 01, 10, 11 (side of i, side of j) stand one after the other.
#[derive(Debug, Clone)]
struct Place {
    start: usize,
    lanes: Range<usize>,
}

#[derive(Debug, Default)]
pub struct Cells {
    places: Vec<Place>,
    /// By statistic, then cell.
    sums: Vec<i64>,
    /// By cell: its rows, if a leaf must hold some.
    rows: Vec<i64>,
    costs: Vec<Cost>,
    n: usize,
}

impl Cells {
    /// Room for the cells of columns against some lanes of a block each, with `width` statistics.
    pub fn begin(
        &mut self,
        lanes: impl Iterator<Item = Range<usize>>,
        width: usize,
        count_rows: bool,
    ) {
        self.places.clear();
        self.n = 0;
        for lanes in lanes {
            let start = self.n;
            self.n += 4 * lanes.len();
            self.places.push(Place { start, lanes });
        }
        self.sums.clear();
        self.sums.resize(width * self.n, 0);
        self.rows.clear();
        self.rows.resize(if count_rows { self.n } else { 0 }, 0);
    }

    /// How many columns, each against `blocks` blocks, make a batch for a task.
    pub fn columns_at_once(task: &dyn Task, blocks: usize) -> usize {
        (task.leaves_at_once() / (4 * LANES * blocks.max(1))).max(1)
    }

    /// One statistic of column i against the lanes at `place`: of the rows with i, of those
    /// without, of those with each j, and with both.
    #[inline(always)]
    pub fn put(
        &mut self,
        statistic: usize,
        place: usize,
        of_i: [i64; 2],
        with_j: &Row,
        both: &Row,
    ) {
        let place = &self.places[place];
        split(&mut self.sums[statistic * self.n..], place, of_i, with_j, both);
    }

    /// As `put` does, for rows.
    #[inline(always)]
    pub fn put_rows(&mut self, place: usize, of_i: [i64; 2], with_j: &Row, both: &Row) {
        split(&mut self.rows, &self.places[place], of_i, with_j, both);
    }

    /// Cost all of them. Cells of fewer than `min_rows` rows are not allowed.
    pub fn evaluate(&mut self, task: &dyn Task, min_rows: i64) {
        self.costs.clear();
        self.costs.resize(self.n, 0);
        if self.n == 0 {
            return;
        }
        task.leaf_costs(&self.sums, &mut self.costs);
        for (cost, &rows) in self.costs.iter_mut().zip(&self.rows) {
            *cost = if rows < min_rows { INFINITE } else { *cost };
        }
    }

    /// Every cell pays this, too. Those that are not allowed stay so.
    #[inline(always)]
    pub fn penalize(&mut self, leaf_cost: Cost) {
        for cost in &mut self.costs {
            *cost = (*cost + leaf_cost).min(INFINITE);
        }
    }

    /// The costs of one of the cells 00, 01, 10 and 11 of all lanes at a place.
    #[inline(always)]
    pub fn costs_of(&self, place: usize, cell: usize) -> &[Cost] {
        let Place { start, lanes } = &self.places[place];
        &self.costs[start + cell * lanes.len()..][..lanes.len()]
    }

    /// The costs of the cells 00, 01, 10 and 11 of each lane at a place.
    fn costs(&self, place: usize) -> impl Iterator<Item = (usize, [Cost; 4])> {
        let Place { start, lanes } = self.places[place].clone();
        let (e00, e01, e10, e11) = quarters(&self.costs[start..], lanes.len());
        let cells = e00.iter().zip(e01).zip(e10).zip(e11);
        lanes.zip(cells.map(|(((e00, e01), e10), e11)| [*e00, *e01, *e10, *e11]))
    }

    pub fn bytes(&self) -> usize {
        vec_bytes(&self.places)
            + vec_bytes(&self.sums)
            + vec_bytes(&self.rows)
            + vec_bytes(&self.costs)
    }
}

fn quarters<T>(cells: &[T], n: usize) -> (&[T], &[T], &[T], &[T]) {
    (&cells[..n], &cells[n..2 * n], &cells[2 * n..3 * n], &cells[3 * n..4 * n])
}

#[inline(always)]
fn split(
    cells: &mut [i64],
    place: &Place,
    [with_i, without_i]: [i64; 2],
    with_j: &Row,
    both: &Row,
) {
    let n = place.lanes.len();
    let cells = &mut cells[place.start..][..4 * n];
    let (e00, rest) = cells.split_at_mut(n);
    let (e01, rest) = rest.split_at_mut(n);
    let (e10, e11) = rest.split_at_mut(n);
    // All of one length, so that no place has to be checked.
    let (e00, e01, e10, e11) = (&mut e00[..n], &mut e01[..n], &mut e10[..n], &mut e11[..n]);
    let (with_j, both) = (&with_j[place.lanes.clone()][..n], &both[place.lanes.clone()][..n]);
    for l in 0..n {
        let j_alone = with_j[l] - both[l];
        e00[l] = without_i - j_alone;
        e01[l] = j_alone;
        e10[l] = with_i - both[l];
        e11[l] = both[l];
    }
}

/// The best stumps so far on the 0 sides and on the 1 sides of columns, by block.
#[derive(Debug, Default)]
pub struct Stumps {
    best: Vec<[Row; 2]>,
}

impl Stumps {
    /// Nothing is known of `n` columns.
    pub fn begin(&mut self, n: usize) {
        self.best.clear();
        self.best.resize(n.div_ceil(LANES), [[INFINITE; LANES]; 2]);
    }

    /// A side of a column costs no more than this.
    pub fn lower(&mut self, column: usize, side: usize, cost: Cost) {
        let known = &mut self.best[column / LANES][side][column % LANES];
        *known = cost.min(*known);
    }

    /// The best on a side of a column; `INFINITE` where none is allowed.
    pub fn best(&self, column: usize, side: usize) -> Cost {
        self.best[column / LANES][side][column % LANES].min(INFINITE)
    }

    /// Take in the stumps that the cells at a place make: on both sides of column i, and of every
    /// column j of the block. `beside`: what these cost beside their leaves, in that order.
    pub fn take(
        &mut self,
        beside: Option<&[Row; 4]>,
        cells: &Cells,
        place: usize,
        (column, block): (usize, usize),
    ) {
        let mut best = [INFINITE; 2];
        let of_j = &mut self.best[block];
        for (l, [e00, e01, e10, e11]) in cells.costs(place) {
            let [i0, i1, j0, j1] = beside.map_or([0; 4], |beside| beside.map(|row| row[l]));
            best[0] = best[0].min(e00 + e01 + i0);
            best[1] = best[1].min(e10 + e11 + i1);
            of_j[0][l] = of_j[0][l].min(e00 + e10 + j0);
            of_j[1][l] = of_j[1][l].min(e01 + e11 + j1);
        }
        for (side, best) in best.into_iter().enumerate() {
            self.lower(column, side, best);
        }
    }

    pub fn bytes(&self) -> usize {
        vec_bytes(&self.best)
    }
}
