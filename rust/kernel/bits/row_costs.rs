//! Costs by row and label: a cell costs the least of the sums over labels.

use super::bit_kernel::{BitKernel, Look};
use super::pair_sums::{self, PairSums, Row};
use super::side_masses::SideMasses;
use crate::bits::LANES;
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::{Ask, Halt, Lookahead, Side, Unfinished, vec_bytes};
use crate::view::Offer;

/// Pairs of splits that are evaluated at a time: their costs stay in registers.
const PAIRS: usize = 8;
type Part = [Cost; PAIRS];

/// The kernel of tasks whose rows have a cost for each label.
#[derive(Debug, Default)]
pub struct RowCostSums {
    sums: pair_sums::Scratch,
    /// By block: the best stumps on the 0 sides and on the 1 sides of its columns, turned or not.
    best: Vec<[Row; 2]>,
    masses: SideMasses,
}

impl RowCostSums {
    fn costs<'a>(&'a mut self, look: &Look<'a>) -> Costs<'a> {
        let RowCostSums { sums: scratch, best, masses } = self;
        let sums = PairSums::new(look, scratch);
        Costs { sums, n_labels: look.bits.n_stats, offer: look.offer, best, masses }
    }
}

impl BitKernel for RowCostSums {
    fn takes(&mut self, _look: &Look) -> bool {
        true
    }

    fn counts_lanes(&self) -> bool {
        false
    }

    fn look(&mut self, look: &Look, out: &mut Lookahead) -> Result<(), Unfinished> {
        let mut costs = self.costs(look);
        look.level.run(
            #[inline(always)]
            || costs.look(look.ask, look.halt, out),
        )
    }

    fn sum_pairs(&mut self, look: &Look) {
        let mut costs = self.costs(look);
        look.level.run(
            #[inline(always)]
            || costs.sum_pairs(look.ask),
        );
    }

    fn bytes(&self) -> usize {
        self.sums.bytes() + vec_bytes(&self.best) + self.masses.bytes()
    }
}

/// One look at a view. An entry's statistics are its costs by label, its worst cost, its rows if
/// they matter, and its masses if questions cost something.
struct Costs<'a> {
    sums: PairSums<'a>,
    n_labels: usize,
    offer: Option<&'a Offer>,
    best: &'a mut Vec<[Row; 2]>,
    masses: &'a mut SideMasses,
}

impl Costs<'_> {
    #[inline(always)]
    fn look(&mut self, ask: Ask, halt: Halt, out: &mut Lookahead) -> Result<(), Unfinished> {
        self.singles(out);
        if !ask.stumps || self.sums.view.columns.is_empty() {
            return Ok(());
        }
        // The highest 32 bits of what all rows may cost.
        let shift = (Cost::BITS - out.whole.worst.leading_zeros()).saturating_sub(u32::BITS);
        if ask.overlaps {
            let unit = 1 << shift;
            out.start_overlaps(self.sums.n_blocks() * LANES, unit, unit - 1)?;
        }
        self.start_stumps(ask, out);
        match (self.summed(ask), self.offer.is_some()) {
            (..=2, false) => self.stumps::<2, false>(ask, shift, halt, out)?,
            (3..=4, false) => self.stumps::<4, false>(ask, shift, halt, out)?,
            (_, false) => self.stumps::<8, false>(ask, shift, halt, out)?,
            (..=2, true) => self.stumps::<2, true>(ask, shift, halt, out)?,
            (3..=4, true) => self.stumps::<4, true>(ask, shift, halt, out)?,
            (_, true) => self.stumps::<8, true>(ask, shift, halt, out)?,
        }
        for (column, stumps) in out.stumps.iter_mut().enumerate() {
            let (block, lane) = (column / LANES, column % LANES);
            let turned = self.sums.turned(column);
            for side in 0..2 {
                stumps[side] = self.best[block][side ^ turned][lane].min(INFINITE);
            }
        }
        Ok(())
    }

    /// The sums of `look` without what it does with them.
    #[inline(always)]
    fn sum_pairs(&mut self, ask: Ask) {
        self.sums.turn();
        let summed = self.summed(ask);
        match summed {
            ..=2 => self.sums.sum_all::<2>(summed),
            3..=4 => self.sums.sum_all::<4>(summed),
            _ => self.sums.sum_all::<8>(summed),
        }
    }

    /// Statistics that pairs need.
    fn summed(&self, ask: Ask) -> usize {
        match (ask.min_rows > 1, ask.overlaps) {
            (true, _) => self.n_labels + 2,
            (false, true) => self.n_labels + 1,
            (false, false) => self.n_labels,
        }
    }

    /// Where an entry's masses begin among its statistics.
    fn mass_at(&self) -> usize {
        self.n_labels + 2
    }

    #[inline(always)]
    fn singles(&mut self, out: &mut Lookahead) {
        self.sums.turn();
        match self.sums.width {
            ..=4 => self.sums.add_singles::<4>(),
            _ => self.sums.add_singles::<8>(),
        }
        let pair_sums::Scratch { totals, ones, .. } = &*self.sums.scratch;
        out.whole = self.side(|s| totals[s]);
        for (column, sides) in out.sides.iter_mut().enumerate() {
            let (lane, turned) = (column % LANES, self.sums.turned(column));
            let ones = &ones[column / LANES * self.sums.width..][..self.sums.width];
            sides[1 ^ turned] = self.side(|s| ones[s][lane]);
            sides[turned] = self.side(|s| totals[s] - ones[s][lane]);
        }
        if let Some(offer) = self.offer.filter(|offer| offer.has_prices) {
            let first = self.mass_at();
            self.masses.begin(out.sides.len(), totals[first..].iter().copied());
            for column in 0..out.sides.len() {
                let ones = &ones[column / LANES * self.sums.width..][..self.sums.width];
                for (at, ones) in ones[first..].iter().enumerate() {
                    self.masses.put(column, at, ones[column % LANES]);
                }
            }
            self.masses.write(offer, |column| self.sums.turned(column), out);
        }
    }

    /// Costs are regrets: every row has a label that costs nothing.
    fn side(&self, sum: impl Fn(usize) -> i64) -> Side {
        Side {
            leaf: (0..self.n_labels).map(&sum).min().unwrap_or(0),
            least: 0,
            worst: sum(self.n_labels),
            rows: if self.sums.width > self.n_labels + 1 { sum(self.n_labels + 1) } else { 0 },
        }
    }

    /// Where leaves may be empty, a split is the best of stumps if it splits nothing.
    fn start_stumps(&mut self, ask: Ask, out: &Lookahead) {
        self.best.clear();
        self.best.resize(self.sums.n_blocks(), [[INFINITE; LANES]; 2]);
        for (column, sides) in out.sides.iter().enumerate().filter(|_| ask.min_rows <= 1) {
            let turned = self.sums.turned(column);
            for side in 0..2 {
                self.best[column / LANES][side ^ turned][column % LANES] = sides[side].leaf;
            }
        }
    }

    /// `OFFER`: whether questions cost something, or some are forbidden. Asked within the loops it
    /// makes them slower, and so do arrays of zeros where nothing is paid.
    #[inline(always)]
    fn stumps<const W: usize, const OFFER: bool>(
        &mut self,
        ask: Ask,
        shift: u32,
        halt: Halt,
        out: &mut Lookahead,
    ) -> Result<(), Unfinished> {
        let n = self.sums.view.columns.len();
        for tiles in self.sums.pairs_of_tiles() {
            self.sums.sum::<W>(tiles.clone(), self.summed(ask), halt)?;
            for (i, j) in pair_sums::blocks(tiles.clone()) {
                for column in i * LANES..n.min((i + 1) * LANES) {
                    let tiles = (&tiles.0, &tiles.1);
                    self.sums.gather::<W>(tiles, (column, j), self.summed(ask));
                    self.evaluate::<OFFER>(column, j, ask.min_rows);
                    if ask.overlaps {
                        self.overlap(column, j, shift, out);
                    }
                }
            }
        }
        Ok(())
    }

    /// Take in the stumps of one column with those of a block.
    #[inline(always)]
    fn evaluate<const OFFER: bool>(&mut self, column: usize, block: usize, min_rows: i64) {
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
            if let Some(offer) = self.offer.filter(|_| OFFER) {
                let prices = self.masses.with_bans::<PAIRS>(offer, column, block * LANES + from);
                for (stumps, prices) in stumps.iter_mut().zip(&prices) {
                    for l in 0..PAIRS {
                        stumps[l] += prices[l];
                    }
                }
            }
            let of_j = &mut self.best[block];
            for l in 0..PAIRS {
                best[0][l] = best[0][l].min(stumps[0][l]);
                best[1][l] = best[1][l].min(stumps[1][l]);
                of_j[0][from + l] = of_j[0][from + l].min(stumps[2][l]);
                of_j[1][from + l] = of_j[1][from + l].min(stumps[3][l]);
            }
        }
        for side in 0..2 {
            let known = &mut self.best[own][side][lane];
            *known = best[side].iter().fold(*known, |a, &b| a.min(b));
        }
    }

    /// One statistic of the four cells of one column and several others.
    #[inline(always)]
    fn four(
        &self,
        stat: usize,
        (own, lane): (usize, usize),
        (block, from): (usize, usize),
    ) -> [Part; 4] {
        let one = self.sums.scratch.ones[own * self.sums.width + stat][lane];
        let rest = self.sums.scratch.totals[stat] - one;
        let ones = &self.sums.scratch.ones[block * self.sums.width + stat][from..from + PAIRS];
        let both = &self.sums.scratch.both[stat][from..from + PAIRS];
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
        let turned = self.sums.scratch.turned[block];
        for from in (first / PAIRS * PAIRS..LANES).step_by(PAIRS) {
            let four = self.four(self.n_labels, (own, lane), (block, from));
            let [kept, other] = match self.sums.turned(column) {
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
