//! Two classes whose errors cost differently: counted in 16-bit lanes as in `uniform`, and weighed
//! in 32.
//!
//! A missed row of class 0 costs a, one of class 1 costs b. Everything is counted and bounded as in
//! `uniform`; only the errors of a cell are the smaller of a·w₀ and b·w₁, which 31 bits must hold.

use super::bit_kernel::{BitKernel, Look};
use super::uniform;
use crate::bits::{LANES, Lanes};
use crate::cost::{Cost, INFINITE, gcd};
use crate::kernel::look::{Lookahead, Side, Unfinished, vec_bytes};
use crate::task::ClassCosts;

/// A cell that is not allowed; two of them can be added.
const NONE: u32 = (1 << 31) - 1;

type Wide = [u32; LANES];

/// The kernel of two classes whose errors cost differently.
pub struct TwoCosts {
    error_costs: ErrorCosts,
    counts: uniform::Scratch,
    scratch: Scratch,
}

impl TwoCosts {
    /// `None` for other tasks.
    pub fn new(classes: &ClassCosts) -> Option<Self> {
        let error_costs = ErrorCosts::new(classes)?;
        Some(TwoCosts { error_costs, counts: Default::default(), scratch: Scratch::default() })
    }
}

impl BitKernel for TwoCosts {
    fn takes(&mut self, look: &Look) -> bool {
        if look.prices().is_some() || look.bans().is_some() || !look.fits_16_bits() {
            return false;
        }
        let mut weights = [0; 2];
        look.weigh_classes(&mut weights);
        self.error_costs.fit(&weights)
    }

    fn look(&mut self, look: &Look, out: &mut Lookahead) -> Result<(), Unfinished> {
        let TwoCosts { error_costs, counts, scratch } = self;
        look.level.run(
            #[inline(always)]
            || look_in_lanes(look, *error_costs, (counts, scratch), out),
        )
    }

    fn sum_pairs(&mut self, look: &Look) {
        look.level.run(
            #[inline(always)]
            || uniform::sum_pairs(look, 2, &mut self.counts),
        );
    }

    fn bytes(&self) -> usize {
        self.counts.bytes() + self.scratch.bytes()
    }
}

/// What errors cost.
#[derive(Debug, Clone, Copy)]
struct ErrorCosts {
    /// By class, in `unit`s.
    of: [u32; 2],
    unit: Cost,
}

impl ErrorCosts {
    /// Those of a task with two classes, two labels, and nothing to pay for the right one.
    fn new(classes: &ClassCosts) -> Option<ErrorCosts> {
        if (classes.n_classes(), classes.n_labels()) != (2, 2) {
            return None;
        }
        let (a, b) = (classes.cost(0, 1), classes.cost(1, 0));
        let right = classes.cost(0, 0) == 0 && classes.cost(1, 1) == 0;
        if !right || a <= 0 || b <= 0 {
            return None;
        }
        let unit = gcd(a, b);
        let of = [u32::try_from(a / unit).ok()?, u32::try_from(b / unit).ok()?];
        Some(ErrorCosts { of, unit })
    }

    /// Whether all rows of a view with these class weights fit.
    fn fit(&self, weights: &[i64]) -> bool {
        let worst = self.of.iter().zip(weights).map(|(&of, &w)| i128::from(of) * i128::from(w));
        worst.sum::<i128>() < i128::from(NONE)
    }

    fn side(&self, weights: [u16; 2], side: &Side) -> Side {
        let of = |class: usize| Cost::from(weights[class]) * Cost::from(self.of[class]) * self.unit;
        Side { leaf: of(0).min(of(1)), worst: of(0) + of(1), ..*side }
    }
}

#[derive(Debug, Default)]
struct Scratch {
    /// By column block and class: what the 1 side costs if it is wrong.
    ones: Vec<[Wide; 2]>,
    best: Vec<[Wide; 2]>,
}

impl Scratch {
    pub fn bytes(&self) -> usize {
        vec_bytes(&self.ones) + vec_bytes(&self.best)
    }
}

#[inline(always)]
fn look_in_lanes(
    look: &Look,
    error_costs: ErrorCosts,
    (counts, scratch): (&mut uniform::Scratch, &mut Scratch),
    out: &mut Lookahead,
) -> Result<(), Unfinished> {
    let Look { blocks, ask, .. } = *look;
    uniform::singles(look, 2, 1, counts, out);
    let totals = [counts.totals[0], counts.totals[1]];
    out.whole = error_costs.side(totals, &out.whole);
    for (side, ones) in out.sides.iter_mut().zip(counts.column_ones.chunks_exact(2)) {
        let zeros = [totals[0] - ones[0], totals[1] - ones[1]];
        *side = [error_costs.side(zeros, &side[0]), error_costs.side([ones[0], ones[1]], &side[1])];
    }
    if !ask.stumps || blocks.n_columns == 0 {
        return Ok(());
    }
    let n_blocks = blocks.n_blocks();
    if ask.overlaps {
        out.start_overlaps(n_blocks * LANES, error_costs.unit, 0)?;
    }
    scratch.ones.clear();
    scratch.ones.extend((0..n_blocks).map(|block| {
        [0, 1].map(|class| weighed(&counts.ones[class * n_blocks + block], error_costs.of[class]))
    }));
    scratch.best.clear();
    scratch.best.resize(n_blocks, [[NONE; LANES]; 2]);
    if ask.min_rows > 1 {
        pairs::<true>(look, error_costs, (counts, scratch), out)?;
    } else {
        pairs::<false>(look, error_costs, (counts, scratch), out)?;
    }
    for (column, stumps) in out.stumps.iter_mut().enumerate() {
        for (side, stump) in stumps.iter_mut().enumerate() {
            let best = scratch.best[column / LANES][side][column % LANES];
            *stump = if best >= NONE { INFINITE } else { Cost::from(best) * error_costs.unit };
        }
    }
    Ok(())
}

#[inline(always)]
fn weighed(counts: &Lanes, error_cost: u32) -> Wide {
    std::array::from_fn(|l| u32::from(counts.0[l]) * error_cost)
}

#[inline(always)]
fn pairs<const MIN: bool>(
    look: &Look,
    error_costs: ErrorCosts,
    (counts, scratch): (&mut uniform::Scratch, &mut Scratch),
    out: &mut Lookahead,
) -> Result<(), Unfinished> {
    let Look { blocks, ask, halt, .. } = *look;
    let n_blocks = blocks.n_blocks();
    let min_rows = ask.min_rows.clamp(0, i64::from(u16::MAX)) as u16;
    let totals = [0, 1].map(|class| u32::from(counts.totals[class]) * error_costs.of[class]);
    counts.tile.clear();
    counts.tile.resize(2, [Lanes::ZERO; 4]);
    for first in (0..blocks.n_columns).step_by(4) {
        if halt() {
            return Err(Unfinished::Stopped);
        }
        let (i_block, i_lane) = (first / LANES, first % LANES);
        let mut best_i = [[[NONE; LANES]; 2]; 4];
        for j_block in i_block..n_blocks {
            let i = (i_block, i_lane);
            uniform::count(look, i, j_block, &mut counts.tile);
            let ones_j = &scratch.ones[j_block];
            let [mut best_0, mut best_1] = scratch.best[j_block];
            for t in 0..4.min(blocks.n_columns - first) {
                let column = first + t;
                let ones_i: [u32; 2] = [0, 1].map(|class| {
                    u32::from(counts.column_ones[column * 2 + class]) * error_costs.of[class]
                });
                let both =
                    [0, 1].map(|class| weighed(&counts.tile[class][t], error_costs.of[class]));
                let mut cell = cells(totals, ones_i, ones_j, &both);
                if MIN {
                    forbid(counts, (column, t), (n_blocks, j_block), min_rows, &mut cell);
                }
                let [e00, e01, e10, e11] = &cell;
                let [i_0, i_1] = &mut best_i[t];
                for l in 0..LANES {
                    i_0[l] = i_0[l].min(e00[l] + e01[l]);
                    i_1[l] = i_1[l].min(e10[l] + e11[l]);
                    best_0[l] = best_0[l].min(e00[l] + e10[l]);
                    best_1[l] = best_1[l].min(e01[l] + e11[l]);
                }
                if ask.overlaps {
                    let row = out.overlap_row(column, j_block);
                    for l in 0..LANES {
                        row[l] = both[0][l] + both[1][l];
                    }
                }
            }
            scratch.best[j_block] = [best_0, best_1];
        }
        for (t, best) in best_i.iter().enumerate().take(blocks.n_columns - first) {
            for side in 0..2 {
                let least = best[side].iter().copied().min().unwrap_or(NONE);
                let known = &mut scratch.best[i_block][side][i_lane + t];
                *known = least.min(*known);
            }
        }
    }
    Ok(())
}

/// What the cells 00, 01, 10, 11 (side of i, side of j) cost.
#[inline(always)]
fn cells(totals: [u32; 2], one_i: [u32; 2], ones_j: &[Wide; 2], both: &[Wide; 2]) -> [Wide; 4] {
    let zero_i = [totals[0] - one_i[0], totals[1] - one_i[1]];
    let mut cell = [[0; LANES]; 4];
    let [e00, e01, e10, e11] = &mut cell;
    for l in 0..LANES {
        let (b0, b1) = (both[0][l], both[1][l]);
        let (j0, j1) = (ones_j[0][l] - b0, ones_j[1][l] - b1);
        e11[l] = b0.min(b1);
        e10[l] = (one_i[0] - b0).min(one_i[1] - b1);
        e01[l] = j0.min(j1);
        e00[l] = (zero_i[0] - j0).min(zero_i[1] - j1);
    }
    cell
}

/// Cells with too few rows, which here are weight.
#[inline(always)]
fn forbid(
    counts: &uniform::Scratch,
    (column, t): (usize, usize),
    (n_blocks, j_block): (usize, usize),
    min_rows: u16,
    cell: &mut [Wide; 4],
) {
    let of = |by_class: [u16; 2]| by_class[0] + by_class[1];
    let total = of([counts.totals[0], counts.totals[1]]);
    let one_i = of([counts.column_ones[column * 2], counts.column_ones[column * 2 + 1]]);
    let ones_j = [&counts.ones[j_block], &counts.ones[n_blocks + j_block]];
    let both = [&counts.tile[0][t], &counts.tile[1][t]];
    for l in 0..LANES {
        let b = of([both[0].0[l], both[1].0[l]]);
        let one_j = of([ones_j[0].0[l], ones_j[1].0[l]]);
        let rows = [total - one_i - (one_j - b), one_j - b, one_i - b, b];
        for (cell, rows) in cell.iter_mut().zip(rows) {
            if rows < min_rows {
                cell[l] = NONE;
            }
        }
    }
}
