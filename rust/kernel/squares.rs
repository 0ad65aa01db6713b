//! Regression: the best stumps by squared error.
//!
//! A stump costs q − Σ over its leaves and outputs of ⌈s²/w⌉ (`task/squares.rs`), and q does not depend on the
//! split: what is summed for each pair of columns are weights and sums. For column i only the rows of its
//! smaller side are added up; those of the other side are what is left of the singles.
//!
//! Gains are computed in floats, 16 pairs at a time, and only those that may beat the best known are computed
//! again in integers, which decide. A gain of m outputs is at most 2m units above the real number, and its
//! float is off by a few roundings for each output: within 2m + 1 units and (8 + m)·2^−52 of itself.

use super::depth_two::{Ask, Lookahead, Side, Unfinished, vec_bytes};
use super::wide::Row;
use crate::bits::LANES;
use crate::cost::{Cost, INFINITE};
use crate::task::{Squares, Task};
use crate::view::View;

/// Pairs at a time: their sums stay in registers.
const PAIRS: usize = 16;
type Part = [i64; PAIRS];

/// Statistics summed in one pass over the rows.
const TOGETHER: usize = 4;

#[derive(Debug, Default)]
pub struct Scratch {
    totals: Vec<i64>,
    /// By block and number of an entry: sums over the rows with each column.
    ones: Vec<Row>,
    /// By side and column: the largest gain known, and what a float must be above to be a larger one.
    gains: [Vec<Cost>; 2],
    limits: [Vec<f64>; 2],
    list: Vec<u32>,
    /// By summed number: the values of the listed rows.
    values: Vec<i64>,
    words: Vec<u32>,
    parts: Vec<Part>,
    /// What is summed of the rows: listed with j, listed without, the rest with j, the rest without.
    cells: [Vec<Part>; 4],
}

impl Scratch {
    pub fn bytes(&self) -> usize {
        vec_bytes(&self.totals)
            + vec_bytes(&self.ones)
            + self.gains.iter().map(vec_bytes).sum::<usize>()
            + self.limits.iter().map(vec_bytes).sum::<usize>()
            + vec_bytes(&self.list)
            + vec_bytes(&self.values)
            + vec_bytes(&self.words)
            + vec_bytes(&self.parts)
            + self.cells.iter().map(vec_bytes).sum::<usize>()
    }
}

/// One look at a view. An entry's numbers are its weight, its sums, q, its worst loss, and its rows if they
/// matter.
pub struct Squared<'a> {
    pub view: &'a View,
    pub task: &'a Squares,
    pub scratch: &'a mut Scratch,
}

/// One column against others: the listed rows, those with a 1 or those with a 0, and what they sum to.
struct Listed {
    column: usize,
    side: usize,
    listed: Vec<i64>,
    rest: Vec<i64>,
}

impl Squared<'_> {
    #[inline(always)]
    pub fn look(
        &mut self,
        ask: Ask,
        halt: &dyn Fn() -> bool,
        out: &mut Lookahead,
    ) -> Result<(), Unfinished> {
        let n = self.view.columns.len();
        self.singles(out);
        if !ask.stumps || n == 0 {
            return Ok(());
        }
        let unit = (out.whole.worst >> 31) + 1;
        if ask.overlaps {
            out.start_overlaps(n.next_multiple_of(LANES), unit, unit - 1)?;
        }
        self.start(ask, out);
        let summed = self.summed(ask);
        for column in 0..n {
            let i = self.list(column, &summed);
            for from in (column / LANES * LANES..n).step_by(PAIRS) {
                // Many rows make one column slow.
                if halt() {
                    return Err(Unfinished::Stopped);
                }
                self.sum(from, &summed);
                self.fill_cells(&i, from, &summed);
                self.evaluate(&i, from, ask.min_rows);
                if ask.overlaps {
                    let both =
                        &self.scratch.cells[if i.side == 1 { 0 } else { 2 }][self.outputs() + 1];
                    let row = out.overlap_row(column, from / LANES);
                    for (known, worst) in row[from % LANES..].iter_mut().zip(both) {
                        *known = (worst / unit) as u32;
                    }
                }
            }
        }
        for (column, stumps) in out.stumps.iter_mut().enumerate() {
            for side in 0..2 {
                let (gain, q) = (self.scratch.gains[side][column], self.q(column, side));
                stumps[side] = if gain == Cost::MIN { INFINITE } else { q - gain };
            }
        }
        Ok(())
    }

    /// The pairs of `look` without what it does with their sums.
    #[inline(always)]
    pub fn sum_pairs(&mut self, ask: Ask) {
        let summed = self.summed(ask);
        let n = self.view.columns.len();
        for column in 0..n {
            self.list(column, &summed);
            for from in (column / LANES * LANES..n).step_by(PAIRS) {
                self.sum(from, &summed);
                std::hint::black_box(&mut self.scratch.parts);
            }
        }
    }

    fn outputs(&self) -> usize {
        self.task.n_outputs()
    }

    /// How many numbers an entry has.
    fn width(&self) -> usize {
        (self.view.costs.len().checked_div(self.view.len())).unwrap_or(self.task.width() + 2)
    }

    /// Which numbers of an entry are summed for pairs: weight and sums, the worst loss, rows. What is not
    /// asked for is summed as zero.
    fn summed(&self, ask: Ask) -> Vec<usize> {
        let m = self.outputs();
        let mut summed: Vec<usize> = (0..=m).collect();
        summed.extend(ask.overlaps.then_some(m + 2));
        summed.extend((ask.min_rows > 1).then_some(m + 3));
        summed
    }

    fn word(&self, row: usize, block: usize) -> u32 {
        (self.view.bits[row * self.view.stride + block / 2] >> (block % 2 * LANES)) as u32
    }

    fn bit(&self, row: usize, column: usize) -> usize {
        (self.view.bits[row * self.view.stride + column / 64] >> (column % 64) & 1) as usize
    }

    /// A number of the rows with a column.
    fn one(&self, column: usize, number: usize) -> i64 {
        self.scratch.ones[column / LANES * self.width() + number][column % LANES]
    }

    /// A number of the rows on one side of a column.
    fn of_side(&self, column: usize, side: usize, number: usize) -> i64 {
        let one = self.one(column, number);
        if side == 1 { one } else { self.scratch.totals[number] - one }
    }

    fn q(&self, column: usize, side: usize) -> Cost {
        self.of_side(column, side, self.outputs() + 1)
    }

    #[inline(always)]
    fn singles(&mut self, out: &mut Lookahead) {
        let (n, width) = (self.view.columns.len(), self.width());
        self.scratch.totals.clear();
        self.scratch.totals.resize(width, 0);
        for numbers in self.view.costs.chunks_exact(width) {
            for (total, number) in self.scratch.totals.iter_mut().zip(numbers) {
                *total += number;
            }
        }
        self.scratch.ones.clear();
        self.scratch.ones.resize(n.div_ceil(LANES) * width, [0; LANES]);
        for block in 0..n.div_ceil(LANES) {
            for row in 0..self.view.len() {
                let word = self.word(row, block);
                let numbers = &self.view.costs[row * width..(row + 1) * width];
                let ones = &mut self.scratch.ones[block * width..(block + 1) * width];
                for (sums, &number) in ones.iter_mut().zip(numbers) {
                    for (l, sum) in sums.iter_mut().enumerate() {
                        *sum += if word & (1 << l) != 0 { number } else { 0 };
                    }
                }
            }
        }
        out.whole = self.side(&self.scratch.totals);
        for column in 0..n {
            for side in 0..2 {
                let numbers: Vec<i64> =
                    (0..width).map(|number| self.of_side(column, side, number)).collect();
                out.sides[column][side] = self.side(&numbers);
            }
        }
    }

    fn side(&self, numbers: &[i64]) -> Side {
        let m = self.outputs();
        Side {
            leaf: self.task.leaf(&numbers[..m + 2]).cost,
            least: 0,
            worst: numbers[m + 2],
            rows: numbers.get(m + 3).copied().unwrap_or(0),
        }
    }

    /// The gains known to begin with: those of no split, where a side may be empty.
    fn start(&mut self, ask: Ask, out: &Lookahead) {
        for side in 0..2 {
            self.scratch.gains[side].clear();
            self.scratch.limits[side].clear();
            for column in 0..self.view.columns.len() {
                let q = self.q(column, side);
                let gain = match ask.min_rows {
                    ..=1 => q - out.sides[column][side].leaf,
                    _ => Cost::MIN,
                };
                self.scratch.gains[side].push(gain);
                self.scratch.limits[side].push(self.limit(gain, q));
            }
        }
    }

    /// A float gain that is not above this cannot be a larger gain. None can where nothing is left to gain.
    fn limit(&self, gain: Cost, q: Cost) -> f64 {
        let m = self.outputs();
        match gain {
            Cost::MIN => f64::NEG_INFINITY,
            _ if gain >= q => f64::INFINITY,
            _ => (gain - 2 * m as Cost - 1) as f64 * (1.0 - (8 + m) as f64 * f64::EPSILON) - 1.0,
        }
    }

    /// List the rows of a column's smaller side.
    fn list(&mut self, column: usize, summed: &[usize]) -> Listed {
        let (rows, width) = (self.view.len(), self.width());
        let ones: usize = (0..rows).map(|row| self.bit(row, column)).sum();
        let side = usize::from(ones <= rows / 2);
        self.scratch.list.clear();
        for row in 0..rows {
            if self.bit(row, column) == side {
                self.scratch.list.push(row as u32);
            }
        }
        self.scratch.values.clear();
        for &number in summed {
            let of = |&row: &u32| self.view.costs[row as usize * width + number];
            self.scratch.values.extend(self.scratch.list.iter().map(of));
        }
        let of = |side: usize| summed.iter().map(|&s| self.of_side(column, side, s)).collect();
        Listed { column, side, listed: of(side), rest: of(1 - side) }
    }

    /// Sum the listed rows that have each of the columns from `from` on.
    #[inline(always)]
    fn sum(&mut self, from: usize, summed: &[usize]) {
        let n = self.scratch.list.len();
        self.scratch.words.clear();
        for at in 0..n {
            let word = self.word(self.scratch.list[at] as usize, from / LANES);
            self.scratch.words.push(word >> (from % LANES));
        }
        let Scratch { parts, values, words, .. } = &mut *self.scratch;
        parts.clear();
        for first in (0..summed.len()).step_by(TOGETHER) {
            let of = |s: usize| &values[(first + s) * n..][..n];
            match summed.len() - first {
                1 => parts.extend(add(words, [of(0)])),
                2 => parts.extend(add(words, [of(0), of(1)])),
                3 => parts.extend(add(words, [of(0), of(1), of(2)])),
                _ => parts.extend(add(words, [of(0), of(1), of(2), of(3)])),
            }
        }
    }

    /// What both sides of column i and of each column from `from` on share.
    #[inline(always)]
    fn fill_cells(&mut self, i: &Listed, from: usize, summed: &[usize]) {
        let (block, width) = (from / LANES, self.width());
        let Scratch { cells, parts, ones, .. } = &mut *self.scratch;
        for cell in cells.iter_mut() {
            cell.clear();
            cell.resize(summed.len(), [0; PAIRS]);
        }
        let [listed_j, listed, rest_j, rest] = cells;
        for (s, &number) in summed.iter().enumerate() {
            let ones = &ones[block * width + number][from % LANES..][..PAIRS];
            for l in 0..PAIRS {
                listed_j[s][l] = parts[s][l];
                listed[s][l] = i.listed[s] - parts[s][l];
                rest_j[s][l] = ones[l] - parts[s][l];
                rest[s][l] = i.rest[s] - rest_j[s][l];
            }
        }
    }

    /// Take in the gains of one column with those from `from` on.
    #[inline(always)]
    fn evaluate(&mut self, i: &Listed, from: usize, min_rows: i64) {
        let (m, n) = (self.outputs(), PAIRS.min(self.view.columns.len() - from));
        let mut sums = [[0.0; PAIRS]; 4];
        for (sum, cell) in sums.iter_mut().zip(&self.scratch.cells) {
            for o in 0..m {
                let factor = self.task.factor(o);
                for l in 0..PAIRS {
                    let s = cell[o + 1][l] as f64;
                    sum[l] += s * s * factor;
                }
            }
            for l in 0..PAIRS {
                sum[l] /= cell[0][l].max(1) as f64;
            }
            if min_rows > 1 {
                for (sum, &rows) in sum.iter_mut().zip(&cell[cell.len() - 1]) {
                    *sum = if rows < min_rows { f64::NEG_INFINITY } else { *sum };
                }
            }
        }
        // Which two cells are the two leaves: of a stump below i, and of one below j.
        let pairs = [(0, 1), (2, 3), (0, 2), (1, 3)];
        let of_i =
            [self.scratch.limits[i.side][i.column], self.scratch.limits[1 - i.side][i.column]];
        let mut gains = [[f64::NEG_INFINITY; PAIRS]; 4];
        let mut larger = false;
        for (which, (a, b)) in pairs.into_iter().enumerate() {
            for l in 0..n {
                let gain = sums[a][l] + sums[b][l];
                let limit = match which {
                    0 | 1 => of_i[which],
                    _ => self.scratch.limits[3 - which][from + l],
                };
                gains[which][l] = gain;
                larger |= gains[which][l] > limit;
            }
        }
        if larger {
            for l in 0..n {
                for (which, (a, b)) in pairs.into_iter().enumerate() {
                    let (column, side) = match which {
                        0 => (i.column, i.side),
                        1 => (i.column, 1 - i.side),
                        _ => (from + l, 3 - which),
                    };
                    if gains[which][l] > self.scratch.limits[side][column] {
                        let gain = self.gain(a, l) + self.gain(b, l);
                        self.improve(column, side, gain);
                    }
                }
            }
        }
    }

    /// A cell as one leaf, in integers.
    fn gain(&self, cell: usize, pair: usize) -> Cost {
        let cell = &self.scratch.cells[cell];
        (0..self.outputs()).map(|o| self.task.gain(o, cell[o + 1][pair], cell[0][pair])).sum()
    }

    fn improve(&mut self, column: usize, side: usize, gain: Cost) {
        if gain > self.scratch.gains[side][column] {
            self.scratch.gains[side][column] = gain;
            self.scratch.limits[side][column] = self.limit(gain, self.q(column, side));
        }
    }
}

/// For each of 16 columns, the sums of the values of the rows that have it: bits of `words`.
#[inline(always)]
fn add<const N: usize>(words: &[u32], values: [&[i64]; N]) -> [Part; N] {
    let mut sums = [[0; PAIRS]; N];
    let values = values.map(|values| &values[..words.len()]);
    for (at, &word) in words.iter().enumerate() {
        for s in 0..N {
            let value = values[s][at];
            for l in 0..PAIRS {
                sums[s][l] += if word & (1 << l) != 0 { value } else { 0 };
            }
        }
    }
    sums
}
