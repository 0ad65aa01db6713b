//! Tables of sums over single columns and pairs of columns, of some rows of a view.
//!
//! Sets of columns are gone through with many of them, so that each row is added up as in
//! `pair_sums`, but only over the columns before the smallest one of the set.

use super::bit_kernel::Look;
use super::cells::Row;
use super::pair_sums::{Chains, PairSums, ROWS, add, word};
use crate::bits::LANES;
use crate::kernel::look::{Halt, Unfinished, vec_bytes};
use crate::view::View;

/// Sums over single columns and pairs of columns, of the first `limit` columns.
#[derive(Debug, Default)]
pub struct PairTable {
    blocks: usize,
    width: usize,
    pub totals: Vec<i64>,
    /// By block, then statistic.
    pub ones: Vec<Row>,
    /// By column, then block of the smaller columns, then statistic.
    both: Vec<Row>,
}

impl PairTable {
    /// Nothing is summed, of `limit` columns and so many statistics.
    pub fn clear(&mut self, limit: usize, width: usize) {
        (self.blocks, self.width) = (limit.div_ceil(LANES), width);
        clear(&mut self.totals, width, 0);
        clear(&mut self.ones, self.blocks * width, [0; LANES]);
        // Every pair is written, so that what another view left need not be wiped.
        self.both.resize(limit * self.blocks * width, [0; LANES]);
    }

    #[inline(always)]
    pub fn of_block(&mut self, block: usize) -> &mut [Row] {
        &mut self.ones[block * self.width..][..self.width]
    }

    /// Sums over the rows that have both a column and one of a block, by statistic.
    #[inline(always)]
    pub fn both(&mut self, column: usize, block: usize) -> &mut [Row] {
        &mut self.both[(column * self.blocks + block) * self.width..][..self.width]
    }

    #[inline(always)]
    pub fn pair(&self, column: usize, block: usize, statistic: usize) -> &Row {
        &self.both[(column * self.blocks + block) * self.width + statistic]
    }

    #[inline(always)]
    pub fn one(&self, block: usize, statistic: usize) -> &Row {
        &self.ones[block * self.width + statistic]
    }

    pub fn bytes(&self) -> usize {
        vec_bytes(&self.totals) + vec_bytes(&self.ones) + vec_bytes(&self.both)
    }

    pub fn bytes_for(limit: usize, width: usize) -> usize {
        (limit + 1) * limit.div_ceil(LANES) * width * size_of::<Row>()
    }
}

/// Who sums pairs of columns.
pub trait SumsPairs {
    /// How many statistics there are: those of leaves, and rows where a leaf must hold some.
    fn width(&self) -> usize;

    /// Begin with the rows of the look's view.
    fn begin(&mut self, look: &Look);

    /// From now on, only the first statistics are asked for, and rows have no other ones.
    fn keep(&mut self, n: usize);

    /// The side of a column whose rows are summed.
    fn side(&self, column: usize) -> usize;

    /// Sum over pairs of the first `limit` columns of a view. The view holds some rows of that of
    /// the look, and has its columns.
    fn sum(
        &mut self,
        look: &Look,
        view: &View,
        limit: usize,
        table: &mut PairTable,
    ) -> Result<(), Unfinished>;
}

impl PairSums<'_> {
    /// Sums over single columns and pairs of the first `limit` columns, of the statistics `kept`.
    /// The view may hold fewer rows than that for which columns were turned and chained.
    #[inline(always)]
    pub fn tabulate<const W: usize>(
        &mut self,
        limit: usize,
        kept: &[usize],
        table: &mut PairTable,
        halt: Halt,
    ) -> Result<(), Unfinished> {
        table.clear(limit, kept.len());
        let stride = limit.next_multiple_of(LANES);
        let mut all = std::mem::take(&mut self.scratch.cells);
        let mut list: Vec<u16> = vec![0; stride];
        for group in 0..kept.last().map_or(0, |last| last / W + 1) {
            // The row of a column begins with sums over all that have it.
            let n = (limit + 1) * (stride + 1) * W;
            all.resize(all.len().max(n), 0);
            all[..n].fill(0);
            let (cells, _) = all[..n].as_chunks_mut::<W>();
            let (totals, cells) = cells.split_at_mut(stride + 1);
            for from in (0..self.view.len()).step_by(ROWS) {
                if halt() {
                    return Err(Unfinished::Stopped);
                }
                for row in from..self.view.len().min(from + ROWS) {
                    let costs = self.statistics::<W>(row, group * W);
                    add(&mut totals[0], &costs);
                    let n = self.innermost(row, limit, &mut list);
                    for (at, &column) in list[..n].iter().enumerate() {
                        let cells = &mut cells[usize::from(column) * (stride + 1)..][..stride + 1];
                        add(&mut cells[0], &costs);
                        for &smaller in &list[..at] {
                            add(&mut cells[1 + usize::from(smaller)], &costs);
                        }
                    }
                }
            }
            self.outwards(cells, limit);
            for (place, &s) in kept.iter().enumerate().filter(|(_, s)| *s / W == group) {
                table.totals[place] = totals[0][s % W];
            }
            self.write::<W>(cells, limit, (kept, group), table);
        }
        self.scratch.cells = all;
        Ok(())
    }

    /// The innermost of the first `limit` columns, turned or not, that a row has.
    #[inline(always)]
    fn innermost(&self, row: usize, limit: usize, list: &mut [u16]) -> usize {
        let words = &self.view.bits[row * self.view.stride..][..self.view.stride];
        let mut n = 0;
        for block in 0..limit.div_ceil(LANES) {
            let lanes = LANES.min(limit - block * LANES);
            let bits = word(words, block) ^ self.scratch.turned[block];
            let bits = bits & (u32::MAX >> (LANES - lanes));
            let mut bits = self.scratch.chains[block].innermost(bits);
            while bits != 0 {
                list[n] = (block * LANES) as u16 + bits.trailing_zeros() as u16;
                bits &= bits - 1;
                n += 1;
            }
        }
        n
    }

    /// Add what was added to innermost columns alone to all that they are in: in the rows of each
    /// column, and then in each row, whose first place is no column's.
    #[inline(always)]
    fn outwards<const W: usize>(&self, cells: &mut [[i64; W]], limit: usize) {
        let stride = limit.next_multiple_of(LANES) + 1;
        for (block, &Chains { within, around }) in self.scratch.chains.iter().enumerate() {
            let first = block * LANES;
            let lanes = limit.saturating_sub(first).min(LANES);
            let mut steps = [(0, 0); LANES];
            let mut n = 0;
            for lane in 1..lanes {
                let lane = lanes - lane;
                if within >> lane & 1 == 1 {
                    steps[n] = (first + lane, first + lane - 1);
                    n += 1;
                }
            }
            for lane in 1..lanes {
                if around >> lane & 1 == 1 {
                    steps[n] = (first + lane - 1, first + lane);
                    n += 1;
                }
            }
            let steps = &steps[..n];
            for &(from, to) in steps {
                let most = 1 + to.max(from);
                let (low, high) = cells.split_at_mut(from.max(to) * stride);
                let (low, high) = (&mut low[from.min(to) * stride..][..most], &mut high[..most]);
                let (of, sums) = if from < to { (low, high) } else { (high, low) };
                for at in 0..most {
                    add(&mut sums[at], &of[at]);
                }
            }
            for row in cells.chunks_exact_mut(stride).take(limit).skip(first + 1) {
                for &(from, to) in steps {
                    let more = row[1 + from];
                    add(&mut row[1 + to], &more);
                }
            }
        }
    }

    /// By statistic what stands by column.
    #[inline(always)]
    fn write<const W: usize>(
        &self,
        cells: &[[i64; W]],
        limit: usize,
        (kept, group): (&[usize], usize),
        table: &mut PairTable,
    ) {
        let stride = limit.next_multiple_of(LANES) + 1;
        let kept = kept.iter().enumerate().filter(|(_, s)| *s / W == group);
        for (column, row) in cells.chunks_exact(stride).take(limit).enumerate() {
            let (own, lane) = (column / LANES, column % LANES);
            let Chains { within, around } = self.scratch.chains[own];
            for (place, &s) in kept.clone() {
                table.of_block(own)[place][lane] = row[0][s % W];
            }
            for block in 0..=own {
                let cells: &[[i64; W]; LANES] =
                    row[1 + block * LANES..].first_chunk().expect("rows are whole blocks");
                for (place, &s) in kept.clone() {
                    let both = &mut table.both(column, block)[place];
                    for l in 0..LANES {
                        both[l] = cells[l][s % W];
                    }
                }
            }
            // Of columns of one chain, rows were added to the inner one alone.
            for (list, inner_is_later) in [(within, true), (around, false)] {
                let chained = (1..=lane).rev().take_while(|later| list >> later & 1 == 1);
                for smaller in chained.map(|later| later - 1) {
                    let inner = if inner_is_later { lane } else { smaller };
                    for (place, _) in kept.clone() {
                        let sum = table.of_block(own)[place][inner];
                        table.both(column, own)[place][smaller] = sum;
                    }
                }
            }
        }
    }
}

/// `n` copies of a value, in the memory that a list has.
pub fn clear<T: Clone>(list: &mut Vec<T>, n: usize, value: T) {
    list.clear();
    list.resize(n, value);
}

#[cfg(test)]
mod tests {
    use super::super::pair_sums::Scratch;
    use super::super::pair_sums::tests::{has, random_rows};
    use super::*;
    use crate::view::Nesting;

    /// Tables of rows with one column, before which others are summed.
    fn tables_of<const W: usize>(n_rows: usize, n: usize, state: &mut u64) {
        let rows = random_rows(n_rows, n, state);
        let width = 3;
        let costs: Vec<i64> = (0..n_rows * width).map(|at| (at * at % 101) as i64 - 50).collect();
        let view = View::of_rows(&rows, costs.clone());
        let nesting = Nesting::of(&view.bits, view.stride, n);
        let mut scratch = Scratch::default();
        PairSums { nesting: &nesting, view: &view, width, scratch: &mut scratch }.turn();
        let kept = [0, 2];
        for with in 0..n {
            let some = rows.iter().zip(costs.chunks(width)).filter(|(row, _)| row[with]);
            let (rows_with, of_them): (Vec<Vec<bool>>, Vec<&[i64]>) =
                some.map(|(row, costs)| (row.clone(), costs)).unzip();
            let mut part = View::of_rows(&rows_with, of_them.concat());
            // Where no row is left, the view does not know its columns.
            (part.columns, part.stride) = (view.columns.clone(), view.stride);
            let mut sums =
                PairSums { nesting: &nesting, view: &part, width, scratch: &mut scratch };
            let (mut table, limit) = (PairTable::default(), n - with % 3);
            sums.tabulate::<W>(limit, &kept, &mut table, &|| false).unwrap();
            let naive = |s: usize, i: usize, j: usize| -> i64 {
                let both = |row: &Vec<bool>| row[with] && has(&sums, row, i) && has(&sums, row, j);
                let with = rows.iter().zip(costs.chunks(width)).filter(|(row, _)| both(row));
                with.map(|(_, costs)| costs[s]).sum()
            };
            for (place, &s) in kept.iter().enumerate() {
                for i in 0..limit {
                    let one = table.of_block(i / LANES)[place][i % LANES];
                    assert_eq!(one, naive(s, i, i), "column {i} of {limit}");
                    for j in 0..i {
                        let both = table.both(i, j / LANES)[place][j % LANES];
                        assert_eq!(both, naive(s, i, j), "columns {j} and {i} of {limit}");
                    }
                }
            }
        }
    }

    #[test]
    fn tables_hold_the_sums_of_their_rows() {
        let mut state = 11;
        for n in [3, 31, 33, 70] {
            tables_of::<2>(25, n, &mut state);
            tables_of::<4>(25, n, &mut state);
        }
        for n in 4..24 {
            tables_of::<4>(12, n, &mut state);
        }
    }
}
