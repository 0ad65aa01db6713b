//! The cells of pairs of columns, gathered until there are many, and then costed together by their
//! task.
//!
//! A task may be asked at some expense, such as a call to Python: the more leaves in one call, the
//! better.

use crate::bits::LANES;
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::vec_bytes;
use crate::task::Task;

/// The cells 00, 01, 10, 11 (side of i, side of j) of one column i against a block of columns j.
const FOUR: usize = 4 * LANES;

/// About so many cells are costed in one call.
pub const MANY: usize = 1 << 12;

/// What 32 columns and one statistic have.
pub type Row = [i64; LANES];

#[derive(Debug, Default)]
pub struct Cells {
    /// By statistic, then cell.
    sums: Vec<i64>,
    /// By cell: its rows, if a leaf must hold some.
    rows: Vec<i64>,
    costs: Vec<Cost>,
    n: usize,
}

impl Cells {
    /// Room for the cells of so many columns against so many blocks each, with `width` statistics.
    pub fn begin(&mut self, pairs: usize, width: usize, count_rows: bool) {
        self.n = pairs * FOUR;
        self.sums.clear();
        self.sums.resize(width * self.n, 0);
        self.rows.clear();
        self.rows.resize(if count_rows { self.n } else { 0 }, 0);
    }

    /// How many columns, each against `blocks` blocks, make a batch.
    pub fn columns_at_once(blocks: usize) -> usize {
        (MANY / (FOUR * blocks.max(1))).max(1)
    }

    /// One statistic of column i against the block at `place`: of the rows with i, of those
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
        let cells = &mut self.sums[statistic * self.n + place * FOUR..][..FOUR];
        split(cells, of_i, with_j, both);
    }

    /// The same for rows.
    #[inline(always)]
    pub fn put_rows(&mut self, place: usize, of_i: [i64; 2], with_j: &Row, both: &Row) {
        split(&mut self.rows[place * FOUR..][..FOUR], of_i, with_j, both);
    }

    /// Cost all of them. Cells of fewer than `min_rows` rows are not allowed.
    pub fn evaluate(&mut self, task: &dyn Task, min_rows: i64) {
        self.costs.clear();
        self.costs.resize(self.n, 0);
        task.leaf_costs(&self.sums, &mut self.costs);
        for (cost, &rows) in self.costs.iter_mut().zip(&self.rows) {
            *cost = if rows < min_rows { INFINITE } else { *cost };
        }
    }

    /// The costs of the cells 00, 01, 10 and 11 at a place.
    pub fn costs(&self, place: usize) -> [&Row; 4] {
        let (costs, _) = self.costs[place * FOUR..][..FOUR].as_chunks::<LANES>();
        [&costs[0], &costs[1], &costs[2], &costs[3]]
    }

    pub fn bytes(&self) -> usize {
        vec_bytes(&self.sums) + vec_bytes(&self.rows) + vec_bytes(&self.costs)
    }
}

#[inline(always)]
fn split(cells: &mut [i64], [with_i, without_i]: [i64; 2], with_j: &Row, both: &Row) {
    let (e00, rest) = cells.split_at_mut(LANES);
    let (e01, rest) = rest.split_at_mut(LANES);
    let (e10, e11) = rest.split_at_mut(LANES);
    for l in 0..LANES {
        let j_alone = with_j[l] - both[l];
        e00[l] = without_i - j_alone;
        e01[l] = j_alone;
        e10[l] = with_i - both[l];
        e11[l] = both[l];
    }
}
