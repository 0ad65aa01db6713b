//! Regression: the best stumps by squared error.
//!
//! A stump costs q − Σ over its leaves and outputs of ⌈s²/w⌉ (`task/squares.rs`), and q does not
//! depend on the split: what is summed for each pair of columns are weights and sums. For column i
//! only the rows are listed that tell it from nothing, from all rows, or from the column before it,
//! whichever is nearest.
//!
//! Gains are computed in floats, 16 pairs at a time, and only those that may beat the best known
//! are computed again in integers, which decide. A gain of m outputs is at most 2m units above the
//! real number, and its float is off by a few roundings for each output: within 2m + 1 units and (8
//! + m)·2^−52 of itself.

use super::bit_kernel::{BitKernel, Look};
use super::lanes::Blocks;
use super::listed_rows::{PAIRS, Part, sum_all};
use super::side_masses::SideMasses;
use crate::bits::{LANES, ROWS};
use crate::bounds::k_means;
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::{Ask, Halt, Lookahead, Side, Unfinished, vec_bytes};
use crate::task::Squares;
use crate::view::{Offer, View};

/// How many numbers of an entry stand between its statistics and its masses: its worst loss, and
/// its rows, which count where questions cost something.
const MASSES: usize = 2;

/// The kernel of squared errors.
pub struct Squared<'a> {
    task: &'a Squares,
    scratch: Scratch,
}

impl<'a> Squared<'a> {
    pub fn new(task: &'a Squares) -> Self {
        Squared { task, scratch: Scratch::default() }
    }

    fn sums<'s>(&'s mut self, look: &Look<'s>) -> SquareSums<'s> {
        let Squared { task, scratch } = self;
        let width = look.bits.width;
        SquareSums { view: look.view, width, blocks: look.blocks, task, scratch }
    }
}

impl BitKernel for Squared<'_> {
    fn takes(&mut self, _look: &Look) -> bool {
        true
    }

    fn glance(&mut self, look: &Look, out: &mut Lookahead) -> bool {
        self.sums(look).glance(look.ask, look.halt, out)
    }

    fn look(&mut self, look: &Look, out: &mut Lookahead) -> Result<(), Unfinished> {
        let mut sums = self.sums(look);
        look.level.run(
            #[inline(always)]
            || sums.look(look, out),
        )
    }

    fn sum_pairs(&mut self, look: &Look) {
        let mut sums = self.sums(look);
        look.level.run(
            #[inline(always)]
            || sums.sum_pairs(look.ask),
        );
    }

    fn bytes(&self) -> usize {
        self.scratch.bytes()
    }
}

#[derive(Debug, Default)]
struct Scratch {
    groups: k_means::Scratch,
    /// By number, then row: the numbers of all entries.
    numbers: Vec<i64>,
    /// By block of 16 columns, then row: which of them it has.
    words: Vec<u16>,
    /// All rows, and those that make a column of its base.
    rows: Vec<u32>,
    listed: Vec<u32>,
    /// By 64 rows: the column, and the one before it.
    bits: [Vec<u64>; 2],
    totals: Vec<i64>,
    /// By block and number of an entry: sums over the rows with each column.
    ones: Vec<Part>,
    /// By side and column: the largest gain known, less what is paid for it, and what a float must
    /// be above to be a larger one.
    gains: [Vec<Cost>; 2],
    limits: [Vec<f64>; 2],
    /// By summed number: the values of the listed rows.
    values: Vec<i64>,
    /// By block and summed number: the rows with both columns, of the last column that was summed.
    both: Vec<Part>,
    /// What is summed of the rows: with i and j, with i alone, with j alone, with neither.
    cells: [Vec<Part>; 4],
    /// What pays for questions, if they cost something.
    masses: SideMasses,
}

impl Scratch {
    fn bytes(&self) -> usize {
        self.groups.bytes()
            + vec_bytes(&self.numbers)
            + vec_bytes(&self.words)
            + vec_bytes(&self.rows)
            + vec_bytes(&self.listed)
            + self.bits.iter().map(vec_bytes).sum::<usize>()
            + vec_bytes(&self.totals)
            + vec_bytes(&self.ones)
            + self.gains.iter().map(vec_bytes).sum::<usize>()
            + self.limits.iter().map(vec_bytes).sum::<usize>()
            + vec_bytes(&self.values)
            + vec_bytes(&self.both)
            + self.cells.iter().map(vec_bytes).sum::<usize>()
            + self.masses.bytes()
    }
}

/// A float gain of two leaves that is not above this cannot be a larger gain. None can where
/// nothing is left to gain.
pub fn limit(outputs: usize, gain: Cost, q: Cost) -> f64 {
    match gain {
        Cost::MIN => f64::NEG_INFINITY,
        _ if gain >= q => f64::INFINITY,
        _ => {
            let units = (gain - 2 * outputs as Cost - 1) as f64;
            units * (1.0 - (8 + outputs) as f64 * f64::EPSILON) - 1.0
        }
    }
}

/// One look at a view. An entry's numbers are its statistics (weight, sums, q, and a floor if there
/// are floors), its worst loss, its rows if they matter, and its masses if questions cost
/// something.
struct SquareSums<'a> {
    view: &'a View,
    /// How many numbers an entry has.
    width: usize,
    /// Its bits by column.
    blocks: &'a Blocks,
    task: &'a Squares,
    scratch: &'a mut Scratch,
}

/// From whose sums those of a column are made: by adding the rows that only the column has, and
/// taking away those that it has not. Few rows tell columns apart that cut one feature.
#[derive(Debug, Clone, Copy)]
enum Base {
    Nothing,
    All,
    /// The column before it.
    Previous,
}

/// One column against others.
struct Listed {
    column: usize,
    base: Base,
    /// What the rows of both sides sum to, 1 first.
    sides: [Vec<i64>; 2],
}

impl SquareSums<'_> {
    /// What every tree costs at least, if that is enough and shows from the rows alone: their bits
    /// need not be by column. Outputs are bounded each on its own: of several, that is mostly too
    /// little for what it takes.
    fn glance(&mut self, ask: Ask, halt: Halt, out: &mut Lookahead) -> bool {
        if ask.target == 0 || ask.leaves == 0 || self.outputs() > 1 {
            return false;
        }
        let (costs, width) = (&self.view.costs, self.width);
        let rows = (self.view.len(), |row: usize| &costs[row * width..][..width]);
        let groups = &mut self.scratch.groups;
        let trees = (ask.leaves, ask.leaf_cost);
        let bound = groups.at_least(self.task, rows, trees, ask.target, halt);
        if let Some(bound) = bound {
            let mut totals = vec![0; width];
            for numbers in costs.chunks_exact(width) {
                totals.iter_mut().zip(numbers).for_each(|(total, number)| *total += number);
            }
            out.whole = self.side(&totals);
            out.at_least = bound;
        }
        bound.is_some()
    }

    #[inline(always)]
    fn look(&mut self, look: &Look, out: &mut Lookahead) -> Result<(), Unfinished> {
        let (Look { ask, halt, .. }, bans) = (*look, look.bans());
        let n = self.view.columns.len();
        self.singles(look.prices(), out);
        if !ask.stumps || n == 0 {
            return Ok(());
        }
        let unit = (out.whole.worst >> 31) + 1;
        if ask.overlaps {
            out.start_overlaps(n.next_multiple_of(LANES), unit, unit - 1)?;
        }
        self.start(ask, out);
        let summed = self.summed(ask);
        self.scratch.both.resize(n.div_ceil(PAIRS) * summed.len(), [0; PAIRS]);
        for column in 0..n {
            let i = self.list(column, &summed);
            for from in (column / PAIRS * PAIRS..n).step_by(PAIRS) {
                // Many rows make one column slow.
                if halt() {
                    return Err(Unfinished::Stopped);
                }
                self.sum(&i, from, &summed);
                self.fill_cells(&i, from, &summed);
                let allowed = bans.map(|bans| {
                    bans.allowed(column, from / LANES).map(|bits| bits >> (from % LANES))
                });
                self.evaluate(&i, from, ask.min_rows, (allowed, look.prices()));
                if ask.overlaps {
                    self.overlap(&i, from, unit, out);
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
    fn sum_pairs(&mut self, ask: Ask) {
        self.turn();
        self.sum_ones();
        let summed = self.summed(ask);
        let n = self.view.columns.len();
        self.scratch.both.resize(n.div_ceil(PAIRS) * summed.len(), [0; PAIRS]);
        for column in 0..n {
            let i = self.list(column, &summed);
            for from in (column / PAIRS * PAIRS..n).step_by(PAIRS) {
                self.sum(&i, from, &summed);
                std::hint::black_box(&mut self.scratch.both);
            }
        }
    }

    fn outputs(&self) -> usize {
        self.task.n_outputs()
    }

    /// Which numbers of an entry are summed for pairs: weight and sums, the worst loss, rows. What
    /// is not asked for is summed as zero.
    fn summed(&self, ask: Ask) -> Vec<usize> {
        let m = self.outputs();
        let mut summed: Vec<usize> = (0..=m).collect();
        summed.extend(ask.overlaps.then_some(self.task.width()));
        summed.extend((ask.min_rows > 1).then_some(self.task.width() + 1));
        summed
    }

    /// A number of the rows with a column.
    fn one(&self, column: usize, number: usize) -> i64 {
        self.scratch.ones[column / PAIRS * self.width + number][column % PAIRS]
    }

    /// A number of the rows on one side of a column.
    fn of_side(&self, column: usize, side: usize, number: usize) -> i64 {
        let one = self.one(column, number);
        if side == 1 { one } else { self.scratch.totals[number] - one }
    }

    fn q(&self, column: usize, side: usize) -> Cost {
        self.of_side(column, side, self.outputs() + 1)
    }

    /// Put the numbers of all rows side by side, and their bits by blocks of columns.
    #[inline(always)]
    fn turn(&mut self) {
        let (rows, width, stride) = (self.view.len(), self.width, self.view.stride);
        let Scratch { numbers, words, rows: all, .. } = &mut *self.scratch;
        numbers.clear();
        for number in 0..width {
            numbers.extend(self.view.costs.iter().skip(number).step_by(width));
        }
        words.clear();
        for block in 0..self.view.columns.len().div_ceil(PAIRS) {
            let shift = block * PAIRS % 64;
            let of_rows = self.view.bits.iter().skip(block * PAIRS / 64).step_by(stride);
            words.extend(of_rows.take(rows).map(|word| (word >> shift) as u16));
        }
        all.clear();
        all.extend(0..rows as u32);
    }

    #[inline(always)]
    fn sum_ones(&mut self) {
        let (n, rows, width) = (self.view.columns.len(), self.view.len(), self.width);
        let Scratch { numbers, rows: all, totals, ones, words, .. } = &mut *self.scratch;
        totals.clear();
        totals
            .extend((0..width).map(|number| numbers[number * rows..][..rows].iter().sum::<i64>()));
        ones.clear();
        ones.resize(n.div_ceil(PAIRS) * width, [0; PAIRS]);
        if rows > 0 {
            for (words, ones) in words.chunks_exact(rows).zip(ones.chunks_exact_mut(width)) {
                sum_all(all, words, numbers, ones);
            }
        }
    }

    #[inline(always)]
    fn singles(&mut self, prices: Option<&Offer>, out: &mut Lookahead) {
        self.turn();
        self.sum_ones();
        let (n, width) = (self.view.columns.len(), self.width);
        out.whole = self.side(&self.scratch.totals);
        for column in 0..n {
            for side in 0..2 {
                let numbers: Vec<i64> =
                    (0..width).map(|number| self.of_side(column, side, number)).collect();
                out.sides[column][side] = self.side(&numbers);
            }
        }
        if let Some(offer) = prices {
            let Scratch { masses, totals, ones, .. } = &mut *self.scratch;
            let first = self.task.width() + MASSES;
            masses.begin(n, totals[first..].iter().copied());
            for column in 0..n {
                let ones = &ones[column / PAIRS * width..][..width];
                for (at, ones) in ones[first..].iter().enumerate() {
                    masses.put(column, at, ones[column % PAIRS]);
                }
            }
            masses.write(offer, |_| 0, out);
        }
    }

    fn side(&self, numbers: &[i64]) -> Side {
        let n = self.task.width();
        Side {
            leaf: self.task.leaf(&numbers[..n]).cost,
            least: self.task.floor(&numbers[..n]),
            worst: numbers[n],
            rows: numbers.get(n + 1).copied().unwrap_or(0),
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

    fn limit(&self, gain: Cost, q: Cost) -> f64 {
        limit(self.outputs(), gain, q)
    }

    /// List the rows that make a column of the base that is nearest to it.
    fn list(&mut self, column: usize, summed: &[usize]) -> Listed {
        let rows = self.view.len();
        let Scratch { listed, values, numbers, bits, .. } = &mut *self.scratch;
        let [bits, previous] = bits;
        std::mem::swap(bits, previous);
        bits.clear();
        let groups = self.blocks.block(column / LANES, 0, rows.div_ceil(ROWS));
        bits.extend(groups.chunks(64 / ROWS).map(|groups| {
            let parts = groups.iter().enumerate();
            parts
                .fold(0, |word, (g, lanes)| word | u64::from(lanes.0[column % LANES]) << (g * ROWS))
        }));
        let ones: usize = bits.iter().map(|word| word.count_ones() as usize).sum();
        let apart = match column {
            0 => usize::MAX,
            _ => bits.iter().zip(&*previous).map(|(a, b)| (a ^ b).count_ones() as usize).sum(),
        };
        let base = match ones.min(rows - ones) {
            least if apart < least => Base::Previous,
            least if ones == least => Base::Nothing,
            _ => Base::All,
        };
        let of_base = |first: usize, at: usize| match base {
            Base::Nothing => 0,
            Base::All => u64::MAX >> (64 - (rows - first).min(64)),
            Base::Previous => previous[at],
        };
        listed.clear();
        let mut list = |of: &dyn Fn(u64, u64) -> u64| {
            for (at, &word) in bits.iter().enumerate() {
                let mut word = of(word, of_base(at * 64, at));
                while word != 0 {
                    listed.push((at * 64) as u32 + word.trailing_zeros());
                    word &= word - 1;
                }
            }
            listed.len()
        };
        let taken = list(&|column, base| column & !base);
        list(&|column, base| base & !column);
        values.clear();
        for &number in summed {
            let of = |&row: &u32| numbers[number * rows + row as usize];
            values.extend(listed[..taken].iter().map(of));
            values.extend(listed[taken..].iter().map(|row| -of(row)));
        }
        let of = |side: usize| summed.iter().map(|&s| self.of_side(column, side, s)).collect();
        Listed { column, base, sides: [of(1), of(0)] }
    }

    /// Sum the rows that have column i and each of the columns from `from` on.
    #[inline(always)]
    fn sum(&mut self, i: &Listed, from: usize, summed: &[usize]) {
        let (rows, width, block) = (self.view.len(), self.width, from / PAIRS);
        let Scratch { both, values, listed, words, ones, .. } = &mut *self.scratch;
        let both = &mut both[block * summed.len()..][..summed.len()];
        for (both, number) in both.iter_mut().zip(summed) {
            match i.base {
                Base::Nothing => *both = [0; PAIRS],
                Base::All => *both = ones[block * width + number],
                Base::Previous => {}
            }
        }
        sum_all(listed, &words[block * rows..][..rows], values, both);
    }

    /// Keep what the rows with column i and each of the columns from `from` on lose at most.
    #[inline(always)]
    fn overlap(&self, i: &Listed, from: usize, unit: Cost, out: &mut Lookahead) {
        let both = &self.scratch.cells[0][self.outputs() + 1];
        let row = out.overlap_row(i.column, from / LANES);
        for (known, worst) in row[from % LANES..].iter_mut().zip(both) {
            *known = (worst / unit) as u32;
        }
        // Within a block of lanes both orders are asked for.
        if from > i.column && from / LANES == i.column / LANES {
            for (j, worst) in (from..self.view.columns.len()).zip(both) {
                out.overlap_row(j, i.column / LANES)[i.column % LANES] = (worst / unit) as u32;
            }
        }
    }

    /// What both sides of column i and of each column from `from` on share.
    #[inline(always)]
    fn fill_cells(&mut self, i: &Listed, from: usize, summed: &[usize]) {
        let (block, width) = (from / PAIRS, self.width);
        let Scratch { cells, both, ones, .. } = &mut *self.scratch;
        for cell in cells.iter_mut() {
            cell.clear();
            cell.resize(summed.len(), [0; PAIRS]);
        }
        let [with_both, with_i, with_j, neither] = cells;
        let both = &both[block * summed.len()..][..summed.len()];
        for (s, &number) in summed.iter().enumerate() {
            let ones = &ones[block * width + number];
            for l in 0..PAIRS {
                with_both[s][l] = both[s][l];
                with_i[s][l] = i.sides[0][s] - both[s][l];
                with_j[s][l] = ones[l] - both[s][l];
                neither[s][l] = i.sides[1][s] - with_j[s][l];
            }
        }
    }

    /// Take in the gains of one column with those from `from` on. `allowed`: which of these may be
    /// asked below it, and below which it may be, if not all. `prices`: what they cost, if that is
    /// something. It is taken off gains only where these are large enough without it.
    #[inline(always)]
    fn evaluate(
        &mut self,
        i: &Listed,
        from: usize,
        min_rows: i64,
        (allowed, prices): (Option<[u32; 2]>, Option<&Offer>),
    ) {
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
        let of_i = [self.scratch.limits[1][i.column], self.scratch.limits[0][i.column]];
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
        if let Some([after, before]) = allowed {
            for (which, gains) in gains.iter_mut().enumerate() {
                let bits = if which < 2 { after } else { before };
                for l in 0..PAIRS {
                    gains[l] = if bits >> l & 1 == 1 { gains[l] } else { f64::NEG_INFINITY };
                }
            }
        }
        if larger {
            let free = [[0; PAIRS]; 4];
            let paid =
                prices.map_or(free, |offer| self.scratch.masses.of_pairs(offer, i.column, from));
            // Those of both sides of a column stand with side 0 first.
            let paid = [paid[1], paid[0], paid[3], paid[2]];
            for l in 0..n {
                for (which, (a, b)) in pairs.into_iter().enumerate() {
                    let (column, side) = match which {
                        0 | 1 => (i.column, 1 - which),
                        _ => (from + l, 3 - which),
                    };
                    let (found, paid) = (gains[which][l], paid[which][l]);
                    if found > self.scratch.limits[side][column]
                        && (paid == 0 || found > self.limit_with(column, side, paid))
                    {
                        let gain = self.gain(a, l) + self.gain(b, l) - paid;
                        self.improve(column, side, gain);
                    }
                }
            }
        }
    }

    /// A float gain that is not above this is no larger than what is known and what is paid for it.
    fn limit_with(&self, column: usize, side: usize, paid: Cost) -> f64 {
        match self.scratch.gains[side][column] {
            Cost::MIN => f64::NEG_INFINITY,
            known => self.limit(known + paid, self.q(column, side)),
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
