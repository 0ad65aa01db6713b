//! Costs by row and label: sums instead of counts.
//!
//! A row is added to every pair of the columns that it has, all of its statistics in one vector. So that this
//! is few pairs, a column that most rows have is *turned*: it stands for the rows that lack it. What the other
//! three cells of a pair of splits hold follows from the sums over single columns.

use super::depth_two::{Ask, Fee, Lookahead, Side, Unfinished, vec_bytes};
use super::wide::Row;
use crate::bits::LANES;
use crate::cost::{Cost, INFINITE};
use crate::view::{Tariff, View};

/// Pairs of splits that are evaluated at a time: their costs stay in registers.
const PAIRS: usize = 8;
type Part = [Cost; PAIRS];

/// Rows between two questions whether to stop.
const ROWS: usize = 1 << 15;

/// Rows that tell which columns to turn.
const SAMPLE: usize = 32;

#[derive(Debug, Default)]
pub struct Scratch {
    totals: Vec<i64>,
    /// By block: the columns that are turned.
    turned: Vec<u32>,
    /// By block and statistic: sums over the rows with each column, turned or not.
    ones: Vec<Row>,
    /// By group of statistics, column, and column of the other block: sums over the rows with both, turned or
    /// not.
    cells: Vec<i64>,
    /// By statistic: the cells of one column.
    both: Vec<Row>,
    /// By block: the best stumps on the 0 sides and on the 1 sides of its columns, turned or not.
    best: Vec<[Row; 2]>,
}

impl Scratch {
    pub fn bytes(&self) -> usize {
        vec_bytes(&self.totals)
            + vec_bytes(&self.turned)
            + vec_bytes(&self.ones)
            + vec_bytes(&self.cells)
            + vec_bytes(&self.both)
            + vec_bytes(&self.best)
    }
}

/// One look at a view. An entry's statistics are its costs by label, its worst cost, its rows if they matter,
/// and its mass if questions cost something: `width` numbers.
pub struct Costs<'a> {
    pub view: &'a View,
    pub n_labels: usize,
    pub width: usize,
    pub tariff: Option<&'a Tariff>,
    pub scratch: &'a mut Scratch,
}

impl Costs<'_> {
    #[inline(always)]
    pub fn look(
        &mut self,
        ask: Ask,
        halt: &dyn Fn() -> bool,
        out: &mut Lookahead,
    ) -> Result<(), Unfinished> {
        self.singles(out);
        if !ask.stumps || self.view.columns.is_empty() {
            return Ok(());
        }
        // The highest 32 bits of what all rows may cost.
        let shift = (Cost::BITS - out.whole.worst.leading_zeros()).saturating_sub(u32::BITS);
        if ask.overlaps {
            let unit = 1 << shift;
            out.start_overlaps(self.n_blocks() * LANES, unit, unit - 1)?;
        }
        self.start_stumps(ask, out);
        match (self.summed(ask), self.tariff.is_some()) {
            (..=2, false) => self.stumps::<2, false>(ask, shift, halt, out)?,
            (3..=4, false) => self.stumps::<4, false>(ask, shift, halt, out)?,
            (_, false) => self.stumps::<8, false>(ask, shift, halt, out)?,
            (..=2, true) => self.stumps::<2, true>(ask, shift, halt, out)?,
            (3..=4, true) => self.stumps::<4, true>(ask, shift, halt, out)?,
            (_, true) => self.stumps::<8, true>(ask, shift, halt, out)?,
        }
        for (column, stumps) in out.stumps.iter_mut().enumerate() {
            let (block, lane) = (column / LANES, column % LANES);
            let turned = self.turned(column);
            for side in 0..2 {
                stumps[side] = self.scratch.best[block][side ^ turned][lane].min(INFINITE);
            }
        }
        Ok(())
    }

    /// The sums of `look` without what it does with them.
    #[inline(always)]
    pub fn sum_pairs(&mut self, ask: Ask) {
        self.turn();
        match self.summed(ask) {
            ..=2 => self.sum_all::<2>(ask),
            3..=4 => self.sum_all::<4>(ask),
            _ => self.sum_all::<8>(ask),
        }
    }

    #[inline(always)]
    fn sum_all<const W: usize>(&mut self, ask: Ask) {
        for i in 0..self.n_blocks() {
            for j in i..self.n_blocks() {
                let never = || false;
                self.sum::<W>((i, j), self.summed(ask), &never).expect("nobody stops it");
                std::hint::black_box(&mut self.scratch.cells);
            }
        }
    }

    fn n_blocks(&self) -> usize {
        self.view.columns.len().div_ceil(LANES)
    }

    /// Statistics that pairs need.
    fn summed(&self, ask: Ask) -> usize {
        match (ask.min_rows > 1, ask.overlaps) {
            (true, _) => self.n_labels + 2,
            (false, true) => self.n_labels + 1,
            (false, false) => self.n_labels,
        }
    }

    /// Where an entry's mass stands among its statistics.
    fn mass_at(&self) -> usize {
        self.n_labels + 2
    }

    /// The bits of a block's columns in a row.
    #[inline(always)]
    fn word(&self, row: usize, block: usize) -> u32 {
        (self.view.bits[row * self.view.stride + block / 2] >> (block % 2 * LANES)) as u32
    }

    fn turned(&self, column: usize) -> usize {
        (self.scratch.turned[column / LANES] >> (column % LANES) & 1) as usize
    }

    /// Turn the columns that most of some rows have.
    fn turn(&mut self) {
        self.scratch.turned.clear();
        let step = self.view.len().div_ceil(SAMPLE).max(1);
        for block in 0..self.n_blocks() {
            let (mut counts, mut n) = ([0u16; LANES], 0);
            for row in (0..self.view.len()).step_by(step) {
                let word = self.word(row, block);
                n += 1;
                for (l, count) in counts.iter_mut().enumerate() {
                    *count += (word >> l & 1) as u16;
                }
            }
            let most = |l: &usize| 2 * counts[*l] > n;
            let turned = (0..LANES).filter(most).map(|l| 1 << l).sum();
            self.scratch.turned.push(turned);
        }
    }

    #[inline(always)]
    fn singles(&mut self, out: &mut Lookahead) {
        self.turn();
        match self.width {
            ..=4 => self.add_singles::<4>(),
            _ => self.add_singles::<8>(),
        }
        let Scratch { totals, ones, .. } = &*self.scratch;
        out.whole = self.side(|s| totals[s]);
        for (column, sides) in out.sides.iter_mut().enumerate() {
            let (lane, turned) = (column % LANES, self.turned(column));
            let ones = &ones[column / LANES * self.width..][..self.width];
            sides[1 ^ turned] = self.side(|s| ones[s][lane]);
            sides[turned] = self.side(|s| totals[s] - ones[s][lane]);
        }
        if let Some(tariff) = self.tariff {
            let mass = self.mass_at();
            out.fee = totals[mass] * tariff.least;
            out.fees.extend((0..out.sides.len()).map(|column| {
                let one = ones[column / LANES * self.width + mass][column % LANES];
                let masses = [totals[mass] - one, one];
                [0, 1].map(|side| {
                    let mass = masses[side ^ self.turned(column)];
                    Fee { this: mass * tariff.now[column], next: mass * tariff.next[column] }
                })
            }));
        }
    }

    #[inline(always)]
    fn add_singles<const W: usize>(&mut self) {
        let mut totals = std::mem::take(&mut self.scratch.totals);
        let mut ones = std::mem::take(&mut self.scratch.ones);
        totals.clear();
        totals.resize(self.width, 0);
        for costs in self.view.costs.chunks_exact(self.width) {
            totals.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
        }
        ones.clear();
        ones.resize(self.n_blocks() * self.width, [0; LANES]);
        for (block, ones) in ones.chunks_exact_mut(self.width).enumerate() {
            let turned = self.scratch.turned[block];
            for (group, ones) in ones.chunks_mut(W).enumerate() {
                let mut sums = [[0; W]; LANES];
                for row in 0..self.view.len() {
                    let costs = self.statistics::<W>(row, group * W);
                    let mut bits = self.word(row, block) ^ turned;
                    while bits != 0 {
                        let lane = bits.trailing_zeros() as usize;
                        bits &= bits - 1;
                        for (sum, cost) in sums[lane % LANES].iter_mut().zip(costs) {
                            *sum += cost;
                        }
                    }
                }
                for (s, ones) in ones.iter_mut().enumerate() {
                    *ones = std::array::from_fn(|l| sums[l][s]);
                }
            }
        }
        self.scratch.totals = totals;
        self.scratch.ones = ones;
    }

    /// Costs are regrets: every row has a label that costs nothing.
    fn side(&self, sum: impl Fn(usize) -> i64) -> Side {
        Side {
            leaf: (0..self.n_labels).map(&sum).min().unwrap_or(0),
            least: 0,
            worst: sum(self.n_labels),
            rows: if self.width > self.n_labels + 1 { sum(self.n_labels + 1) } else { 0 },
        }
    }

    /// Where leaves may be empty, a split is the best of stumps if it splits nothing.
    fn start_stumps(&mut self, ask: Ask, out: &Lookahead) {
        self.scratch.best.clear();
        self.scratch.best.resize(self.n_blocks(), [[INFINITE; LANES]; 2]);
        for (column, sides) in out.sides.iter().enumerate().filter(|_| ask.min_rows <= 1) {
            let turned = self.turned(column);
            for side in 0..2 {
                self.scratch.best[column / LANES][side ^ turned][column % LANES] = sides[side].leaf;
            }
        }
    }

    /// `PAYS`: whether questions cost something. Asked within the loops it makes them slower, and so do arrays of
    /// zeros where nothing is paid.
    #[inline(always)]
    fn stumps<const W: usize, const PAYS: bool>(
        &mut self,
        ask: Ask,
        shift: u32,
        halt: &dyn Fn() -> bool,
        out: &mut Lookahead,
    ) -> Result<(), Unfinished> {
        let n = self.view.columns.len();
        for i in 0..self.n_blocks() {
            for j in i..self.n_blocks() {
                self.sum::<W>((i, j), self.summed(ask), halt)?;
                for column in i * LANES..n.min((i + 1) * LANES) {
                    self.gather::<W>(column % LANES, self.summed(ask));
                    self.evaluate::<PAYS>(column, j, ask.min_rows);
                    if ask.overlaps {
                        self.overlap(column, j, shift, out);
                    }
                }
            }
        }
        Ok(())
    }

    /// Sums over the rows that have both a column of block i and one of block j. Within one block, only of
    /// columns j > i.
    #[inline(always)]
    fn sum<const W: usize>(
        &mut self,
        (i, j): (usize, usize),
        summed: usize,
        halt: &dyn Fn() -> bool,
    ) -> Result<(), Unfinished> {
        let mut cells = std::mem::take(&mut self.scratch.cells);
        let groups = summed.div_ceil(W);
        cells.clear();
        cells.resize(groups * LANES * LANES * W, 0);
        let turned = [i, j].map(|block| self.scratch.turned[block]);
        for (group, cells) in cells.chunks_exact_mut(LANES * LANES * W).enumerate() {
            let cells: &mut [[i64; W]] = cells.as_chunks_mut().0;
            for from in (0..self.view.len()).step_by(ROWS) {
                if halt() {
                    return Err(Unfinished::Stopped);
                }
                for row in from..self.view.len().min(from + ROWS) {
                    let mut left = self.word(row, i) ^ turned[0];
                    let right = self.word(row, j) ^ turned[1];
                    let costs = self.statistics::<W>(row, group * W);
                    while left != 0 {
                        let a = left.trailing_zeros() as usize;
                        left &= left - 1;
                        let mut others = if i == j { left } else { right };
                        let cells = &mut cells[a * LANES..][..LANES];
                        while others != 0 {
                            let b = others.trailing_zeros() as usize;
                            others &= others - 1;
                            for (sum, cost) in cells[b % LANES].iter_mut().zip(costs) {
                                *sum += cost;
                            }
                        }
                    }
                }
            }
        }
        self.scratch.cells = cells;
        Ok(())
    }

    /// `W` statistics of a row. Beyond the last are those of the next row: they are summed, and never read.
    #[inline(always)]
    fn statistics<const W: usize>(&self, row: usize, from: usize) -> [i64; W] {
        let costs = &self.view.costs[row * self.width + from..];
        match costs.first_chunk() {
            Some(&costs) => costs,
            None => std::array::from_fn(|s| costs.get(s).copied().unwrap_or(0)),
        }
    }

    /// The cells of one column, by statistic.
    #[inline(always)]
    fn gather<const W: usize>(&mut self, lane: usize, summed: usize) {
        let Scratch { cells, both, .. } = &mut *self.scratch;
        both.resize(summed.next_multiple_of(W), [0; LANES]);
        for (group, both) in both.chunks_exact_mut(W).enumerate() {
            let cells: &[[i64; W]] = cells[group * LANES * LANES * W..].as_chunks().0;
            let cells: &[[i64; W]; LANES] =
                cells[lane * LANES..].first_chunk().expect("a column has a cell for each lane");
            for (s, both) in both.iter_mut().enumerate() {
                *both = std::array::from_fn(|l| cells[l][s]);
            }
        }
    }

    /// Take in the stumps of one column with those of a block.
    #[inline(always)]
    fn evaluate<const PAYS: bool>(&mut self, column: usize, block: usize, min_rows: i64) {
        let (own, lane) = (column / LANES, column % LANES);
        let first = if own == block { lane + 1 } else { 0 };
        let rows = (min_rows > 1).then_some(self.n_labels + 1);
        let mut best = [[INFINITE; PAIRS]; 2];
        for from in (first / PAIRS * PAIRS..LANES).step_by(PAIRS) {
            let mut costs = [[INFINITE; PAIRS]; 4];
            for label in 0..self.n_labels {
                let sums = self.four(label, (own, lane), (block, from));
                for (costs, sums) in costs.iter_mut().zip(&sums) {
                    for l in 0..PAIRS {
                        costs[l] = costs[l].min(sums[l]);
                    }
                }
            }
            if let Some(rows) = rows {
                let rows = self.four(rows, (own, lane), (block, from));
                for (costs, rows) in costs.iter_mut().zip(&rows) {
                    for l in 0..PAIRS {
                        costs[l] = if rows[l] < min_rows { INFINITE } else { costs[l] };
                    }
                }
            }
            if from < first {
                // Of the columns before this one in its block there are no sums.
                costs.iter_mut().for_each(|costs| costs[..first - from].fill(INFINITE));
            }
            let [e00, e01, e10, e11] = costs;
            // By column and side, then those of the other columns.
            let mut stumps = [[0; PAIRS]; 4];
            for l in 0..PAIRS {
                stumps[0][l] = e00[l] + e01[l];
                stumps[1][l] = e10[l] + e11[l];
                stumps[2][l] = e00[l] + e10[l];
                stumps[3][l] = e01[l] + e11[l];
            }
            if let Some(tariff) = self.tariff.filter(|_| PAYS) {
                let paid = self.paid(tariff, column, block * LANES + from);
                for (stumps, paid) in stumps.iter_mut().zip(&paid) {
                    for l in 0..PAIRS {
                        stumps[l] += paid[l];
                    }
                }
            }
            let of_j = &mut self.scratch.best[block];
            for l in 0..PAIRS {
                best[0][l] = best[0][l].min(stumps[0][l]);
                best[1][l] = best[1][l].min(stumps[1][l]);
                of_j[0][from + l] = of_j[0][from + l].min(stumps[2][l]);
                of_j[1][from + l] = of_j[1][from + l].min(stumps[3][l]);
            }
        }
        for side in 0..2 {
            let known = &mut self.scratch.best[own][side][lane];
            *known = best[side].iter().fold(*known, |a, &b| a.min(b));
        }
    }

    /// What both sides of a column, turned or not, pay for others, and both sides of these for it.
    #[inline(always)]
    fn paid(&self, tariff: &Tariff, column: usize, others: usize) -> [Part; 4] {
        let mass = self.mass_at();
        let total = self.scratch.totals[mass];
        let one =
            |column: usize| self.scratch.ones[column / LANES * self.width + mass][column % LANES];
        let mut paid = [[0; PAIRS]; 4];
        for l in 0..PAIRS {
            let other = others + l;
            let (then, before) = (tariff.after(column, other), tariff.after(other, column));
            paid[0][l] = (total - one(column)) * then;
            paid[1][l] = one(column) * then;
            paid[2][l] = (total - one(other)) * before;
            paid[3][l] = one(other) * before;
        }
        paid
    }

    /// One statistic of the four cells of one column and several others.
    #[inline(always)]
    fn four(
        &self,
        stat: usize,
        (own, lane): (usize, usize),
        (block, from): (usize, usize),
    ) -> [Part; 4] {
        let one = self.scratch.ones[own * self.width + stat][lane];
        let rest = self.scratch.totals[stat] - one;
        let ones = &self.scratch.ones[block * self.width + stat][from..from + PAIRS];
        let both = &self.scratch.both[stat][from..from + PAIRS];
        let e11: Part = std::array::from_fn(|l| both[l]);
        let e10 = std::array::from_fn(|l| one - both[l]);
        let e01: Part = std::array::from_fn(|l| ones[l] - both[l]);
        let e00 = std::array::from_fn(|l| rest - e01[l]);
        [e00, e01, e10, e11]
    }

    /// Write down what the rows with both columns may cost, in units of 2^shift.
    #[inline(always)]
    fn overlap(&self, column: usize, block: usize, shift: u32, out: &mut Lookahead) {
        let (own, lane) = (column / LANES, column % LANES);
        let first = if own == block { lane + 1 } else { 0 };
        let turned = self.scratch.turned[block];
        for from in (first / PAIRS * PAIRS..LANES).step_by(PAIRS) {
            let four = self.four(self.n_labels, (own, lane), (block, from));
            let [kept, other] = match self.turned(column) {
                0 => [&four[3], &four[2]],
                _ => [&four[1], &four[0]],
            };
            let row = out.overlap_row(column, block);
            for l in first.saturating_sub(from)..PAIRS {
                let both = if turned >> (from + l) & 1 == 0 { kept[l] } else { other[l] };
                row[from + l] = (both >> shift) as u32;
            }
        }
        if own == block {
            // What is known of this column and the earlier ones of its block stands in their rows.
            out.overlap_row(column, block)[lane] = (out.sides[column][1].worst >> shift) as u32;
            for earlier in block * LANES..column {
                out.overlap_row(column, block)[earlier % LANES] =
                    out.overlap_row(earlier, block)[lane];
            }
        }
    }
}
