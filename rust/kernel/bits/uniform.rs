//! One cost for every error, and weights that sum to less than 2^16: the fast path.
//!
//! Everything stays in 16-bit lanes. The errors of a cell are its weight less its largest class;
//! for two classes that is the smaller class.

use super::bit_kernel::{BitKernel, Look};
use super::glance::{self, Singles};
use crate::bits::{Best, LANES, Lanes, Pair};
use crate::bounds::three_leaves;
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::{Lookahead, Side, Unfinished, vec_bytes};
use crate::task::ClassCosts;

/// A stump that is not allowed; larger than any count that is reached, and sums saturate.
const NONE: u16 = u16::MAX;

/// The kernel of tasks whose errors all cost the same.
pub struct Uniform {
    n_classes: usize,
    /// What an error costs.
    unit: Cost,
    scratch: Scratch,
}

impl Uniform {
    /// `None` for other tasks.
    pub fn new(classes: &ClassCosts) -> Option<Self> {
        let unit = classes.uniform()?;
        Some(Uniform { n_classes: classes.n_classes(), unit, scratch: Scratch::default() })
    }
}

impl BitKernel for Uniform {
    fn takes(&mut self, look: &Look) -> bool {
        look.prices().is_none() && look.fits_16_bits()
    }

    fn look(&mut self, look: &Look, out: &mut Lookahead) -> Result<(), Unfinished> {
        let Uniform { n_classes, unit, scratch } = self;
        look.level.run(
            #[inline(always)]
            || look_in_lanes(look, *n_classes, *unit, scratch, out),
        )
    }

    fn sum_pairs(&mut self, look: &Look) {
        look.level.run(
            #[inline(always)]
            || sum_pairs(look, self.n_classes, &mut self.scratch),
        );
    }

    fn bytes(&self) -> usize {
        self.scratch.bytes()
    }
}

#[derive(Debug, Default)]
pub struct Scratch {
    /// By class and column block: weight of the 1 side.
    pub(super) ones: Vec<Lanes>,
    /// By column: weight of the 1 side by class.
    pub(super) column_ones: Vec<u16>,
    /// By column block: what the pairs so far say of the 0 and the 1 side.
    best: Vec<Best>,
    /// Pair weights of the current tile by class.
    pub(super) tile: Vec<[Lanes; 4]>,
    pub(super) totals: Vec<u16>,
    glance: glance::Scratch,
}

impl Scratch {
    pub fn bytes(&self) -> usize {
        vec_bytes(&self.ones)
            + vec_bytes(&self.column_ones)
            + vec_bytes(&self.best)
            + vec_bytes(&self.tile)
            + vec_bytes(&self.totals)
            + self.glance.bytes()
    }
}

#[inline(always)]
fn look_in_lanes(
    look: &Look,
    n_classes: usize,
    unit: Cost,
    scratch: &mut Scratch,
    out: &mut Lookahead,
) -> Result<(), Unfinished> {
    let Look { blocks, ask, .. } = *look;
    let segments = &look.bits.segments;
    singles(look, n_classes, unit, scratch, out);
    if !ask.stumps || blocks.n_columns == 0 {
        return Ok(());
    }
    if ask.overlaps {
        out.start_overlaps(blocks.n_blocks() * LANES, unit, 0)?;
    }
    let min_rows = ask.min_rows.clamp(0, i64::from(u16::MAX)) as u16;
    // Errors that cost a leaf. 0 where they are more than 16 bits hold: such leaves cost more than
    // any error. Where pairs are forbidden, halves are not counted.
    let few = match look.bans() {
        None => u16::try_from((ask.leaf_cost + unit - 1) / unit).unwrap_or(0),
        Some(_) => 0,
    };
    if ask.target > 0 && few > 0 && n_classes == 2 {
        let totals = [scratch.totals[0], scratch.totals[1]];
        let singles = Singles { blocks, segments, totals, ones: &scratch.column_ones };
        if let Some(bound) = scratch.glance.at_least(&singles, out, few.into(), ask) {
            out.at_least = bound;
            return Ok(());
        }
    }
    let how = How { min_rows, few, overlaps: ask.overlaps };
    match (n_classes, min_rows > 1) {
        (2, false) => pairs::<2, false>(look, how, scratch, out),
        (2, true) => pairs::<2, true>(look, how, scratch, out),
        (_, false) => pairs::<0, false>(look, how, scratch, out),
        (_, true) => pairs::<0, true>(look, how, scratch, out),
    }?;
    for (column, stumps) in out.stumps.iter_mut().enumerate() {
        for (side, stump) in stumps.iter_mut().enumerate() {
            let best = scratch.best[column / LANES].stumps[side].0[column % LANES];
            *stump = if best == NONE { INFINITE } else { Cost::from(best) * unit };
        }
    }
    if few > 0 && n_classes == 2 && min_rows <= 1 {
        for (column, losses) in out.three_leaves.iter_mut().enumerate() {
            for (side, loss) in losses.iter_mut().enumerate() {
                if three_leaves::fail(scratch.classes(column, side), few.into()) {
                    *loss = Cost::from(few) * unit;
                }
            }
        }
    }
    Ok(())
}

/// What `pairs` is to find out.
#[derive(Clone, Copy)]
struct How {
    min_rows: u16,
    /// Errors of three leaves that count as few.
    few: u16,
    overlaps: bool,
}

impl Scratch {
    /// Of one side of a column, the weight of both classes and the most of each in any half.
    fn classes(&self, column: usize, side: usize) -> [(Cost, Cost); 2] {
        [0, 1].map(|class| {
            let ones = self.column_ones[2 * column + class];
            let weight = if side == 1 { ones } else { self.totals[class] - ones };
            let most = self.best[column / LANES].halves[side][class].0[column % LANES];
            (weight.into(), most.into())
        })
    }
}

/// Weights, costs and bounds of both sides of every column.
#[inline(always)]
pub(super) fn singles(
    look: &Look,
    n_classes: usize,
    unit: Cost,
    scratch: &mut Scratch,
    out: &mut Lookahead,
) {
    let Look { level, blocks, .. } = *look;
    let segments = &look.bits.segments;
    let n_blocks = blocks.n_blocks();
    scratch.ones.clear();
    scratch.ones.resize(n_classes * n_blocks, Lanes::ZERO);
    scratch.totals.clear();
    scratch.totals.resize(n_classes, 0);
    let mut whole = Side::default();
    for &(index, from, to) in &blocks.segments {
        let segment = &segments[index];
        let n = blocks.rows(index);
        scratch.totals[segment.class as usize] += (n * segment.weight) as u16;
        whole.least += n * segment.least;
        whole.rows += n * segment.rows;
        for block in 0..n_blocks {
            let counts = level.count_columns(blocks.block(block, from, to));
            let weight = segment.weight as u16;
            let sum = &mut scratch.ones[segment.class as usize * n_blocks + block];
            for l in 0..LANES {
                sum.0[l] += counts.0[l] * weight;
            }
            if segment.least > 0 {
                let columns =
                    &mut out.sides[block * LANES..blocks.n_columns.min((block + 1) * LANES)];
                for (l, side) in columns.iter_mut().enumerate() {
                    side[1].least += Cost::from(counts.0[l]) * segment.least;
                }
            }
        }
    }
    let total: u16 = scratch.totals.iter().sum();
    whole.leaf = Cost::from(total - scratch.totals.iter().max().unwrap_or(&0)) * unit;
    whole.worst = Cost::from(total) * unit;
    out.whole = whole;

    scratch.column_ones.clear();
    for (column, side) in out.sides.iter_mut().enumerate() {
        let (block, lane) = (column / LANES, column % LANES);
        let (mut most, mut sum) = ([0; 2], 0);
        for (class, total) in scratch.totals.iter().enumerate() {
            let one = scratch.ones[class * n_blocks + block].0[lane];
            scratch.column_ones.push(one);
            sum += one;
            most = [most[0].max(total - one), most[1].max(one)];
        }
        let least = side[1].least;
        let make = |weight: u16, most: u16, least: Cost| Side {
            leaf: Cost::from(weight - most) * unit,
            least,
            worst: Cost::from(weight) * unit,
            // Only read where rows are weights.
            rows: i64::from(weight),
        };
        *side = [make(total - sum, most[0], whole.least - least), make(sum, most[1], least)];
    }
}

#[inline(always)]
fn pairs<const K: usize, const MIN: bool>(
    look: &Look,
    how: How,
    scratch: &mut Scratch,
    out: &mut Lookahead,
) -> Result<(), Unfinished> {
    let Look { level, blocks, halt, .. } = *look;
    let n_classes = if K > 0 { K } else { scratch.totals.len() };
    let (n_blocks, bans) = (blocks.n_blocks(), look.bans());
    scratch.best.clear();
    scratch.best.resize(n_blocks, Best::NONE);
    scratch.tile.clear();
    scratch.tile.resize(n_classes, [Lanes::ZERO; 4]);

    for first in (0..blocks.n_columns).step_by(4) {
        if halt() {
            return Err(Unfinished::Stopped);
        }
        let (i_block, i_lane) = (first / LANES, first % LANES);
        let mut best_i = [Best::NONE; 4];
        for j_block in i_block..n_blocks {
            count(look, (i_block, i_lane), j_block, &mut scratch.tile);
            let mut best_j = scratch.best[j_block];
            for t in 0..4 {
                let column = first + t;
                if column >= blocks.n_columns {
                    break;
                }
                let ones_i = &scratch.column_ones[column * n_classes..(column + 1) * n_classes];
                let cells = Cells {
                    tile: &scratch.tile,
                    t,
                    ones_i,
                    ones_j: &scratch.ones,
                    n_blocks,
                    j_block,
                    totals: &scratch.totals,
                };
                if let Some(bans) = bans {
                    let cell = cells.errors::<MIN>(how.min_rows);
                    let allowed = bans.allowed(column, j_block);
                    best_of(&cell, allowed, &mut best_i[t].stumps, &mut best_j.stumps);
                } else if K == 2 && !MIN {
                    level.two_classes(&cells.pair(), how.few, &mut best_i[t], &mut best_j);
                } else {
                    let cell = cells.errors::<MIN>(how.min_rows);
                    best(&cell, &mut best_i[t].stumps, &mut best_j.stumps);
                }
                if how.overlaps {
                    let mut both = scratch.tile[0][t];
                    for class in &scratch.tile[1..n_classes] {
                        for l in 0..LANES {
                            both.0[l] += class[t].0[l];
                        }
                    }
                    let row = out.overlap_row(column, j_block);
                    for l in 0..LANES {
                        row[l] = u32::from(both.0[l]);
                    }
                }
            }
            scratch.best[j_block] = best_j;
        }
        for (t, best) in
            best_i.iter().enumerate().take(blocks.n_columns - first.min(blocks.n_columns))
        {
            let lane = i_lane + t;
            for side in 0..2 {
                let known = &mut scratch.best[i_block];
                let stump = &mut known.stumps[side].0[lane];
                *stump = level.least(&best.stumps[side]).min(*stump);
                if how.few > 0 {
                    for class in 0..2 {
                        let half = &mut known.halves[side][class].0[lane];
                        *half = level.most(&best.halves[side][class]).max(*half);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Take in the stumps that the errors of four cells make: on both sides of column i, and of every
/// j.
#[inline(always)]
fn best(cell: &[Lanes; 4], best_i: &mut [Lanes; 2], best_j: &mut [Lanes; 2]) {
    for l in 0..LANES {
        // Columns past the last are all 0: they are stumps that split nothing, no better than a
        // leaf.
        let (e00, e01, e10, e11) = (cell[0].0[l], cell[1].0[l], cell[2].0[l], cell[3].0[l]);
        best_i[0].0[l] = best_i[0].0[l].min(e00.saturating_add(e01));
        best_i[1].0[l] = best_i[1].0[l].min(e10.saturating_add(e11));
        best_j[0].0[l] = best_j[0].0[l].min(e00.saturating_add(e10));
        best_j[1].0[l] = best_j[1].0[l].min(e01.saturating_add(e11));
    }
}

/// As above, of the pairs that are allowed alone.
#[inline(always)]
fn best_of(
    cell: &[Lanes; 4],
    [after, before]: [u32; 2],
    best_i: &mut [Lanes; 2],
    best_j: &mut [Lanes; 2],
) {
    for l in 0..LANES {
        let (e00, e01, e10, e11) = (cell[0].0[l], cell[1].0[l], cell[2].0[l], cell[3].0[l]);
        let below_i = if after >> l & 1 == 1 { 0 } else { NONE };
        let below_j = if before >> l & 1 == 1 { 0 } else { NONE };
        best_i[0].0[l] = best_i[0].0[l].min(e00.saturating_add(e01) | below_i);
        best_i[1].0[l] = best_i[1].0[l].min(e10.saturating_add(e11) | below_i);
        best_j[0].0[l] = best_j[0].0[l].min(e00.saturating_add(e10) | below_j);
        best_j[1].0[l] = best_j[1].0[l].min(e01.saturating_add(e11) | below_j);
    }
}

/// Pair weights by class of four columns against a block.
#[inline(always)]
pub(super) fn count(
    look: &Look,
    (i_block, i_lane): (usize, usize),
    j_block: usize,
    tile: &mut [[Lanes; 4]],
) {
    let Look { level, blocks, .. } = *look;
    let segments = &look.bits.segments;
    for class in tile.iter_mut() {
        *class = [Lanes::ZERO; 4];
    }
    for &(index, from, to) in &blocks.segments {
        let segment = &segments[index];
        let left = blocks.block(i_block, from, to);
        let right = blocks.block(j_block, from, to);
        let sums = &mut tile[segment.class as usize];
        level.add_pairs(left, i_lane, right, segment.weight as u16, sums);
    }
}

/// `pairs` without what it does with the counts.
#[inline(always)]
pub(super) fn sum_pairs(look: &Look, n_classes: usize, scratch: &mut Scratch) {
    let blocks = look.blocks;
    scratch.tile.clear();
    scratch.tile.resize(n_classes, [Lanes::ZERO; 4]);
    for first in (0..blocks.n_columns).step_by(4) {
        let i = (first / LANES, first % LANES);
        for j_block in i.0..blocks.n_blocks() {
            count(look, i, j_block, &mut scratch.tile);
            std::hint::black_box(&mut scratch.tile);
        }
    }
}

/// The four cells of one column against a block of columns.
struct Cells<'a> {
    tile: &'a [[Lanes; 4]],
    t: usize,
    ones_i: &'a [u16],
    ones_j: &'a [Lanes],
    n_blocks: usize,
    j_block: usize,
    totals: &'a [u16],
}

impl Cells<'_> {
    /// Errors of the cells 00, 01, 10, 11 (side of i, side of j); `NONE` for a cell with too few
    /// rows.
    #[inline(always)]
    fn errors<const MIN: bool>(&self, min_rows: u16) -> [Lanes; 4] {
        let n_classes = self.totals.len();
        let (mut most, mut sum) = ([Lanes::ZERO; 4], [Lanes::ZERO; 4]);
        for class in 0..n_classes {
            let cell = self.weights(class);
            for s in 0..4 {
                for l in 0..LANES {
                    most[s].0[l] = most[s].0[l].max(cell[s].0[l]);
                    sum[s].0[l] += cell[s].0[l];
                }
            }
        }
        for s in 0..4 {
            for l in 0..LANES {
                let errors = sum[s].0[l] - most[s].0[l];
                most[s].0[l] = if MIN && sum[s].0[l] < min_rows { NONE } else { errors };
            }
        }
        most
    }

    /// As above, for two classes.
    #[inline(always)]
    fn pair(&self) -> Pair {
        let zero = |class: usize| self.totals[class] - self.ones_i[class];
        Pair {
            both: [0, 1].map(|class| self.tile[class][self.t]),
            ones_j: [0, 1].map(|class| self.ones_j[class * self.n_blocks + self.j_block]),
            one: [self.ones_i[0], self.ones_i[1]],
            zero: [zero(0), zero(1)],
        }
    }

    /// Weight of one class in the four cells.
    #[inline(always)]
    fn weights(&self, class: usize) -> [Lanes; 4] {
        let both = &self.tile[class][self.t];
        let ones_j = &self.ones_j[class * self.n_blocks + self.j_block];
        let one = self.ones_i[class];
        let zero = self.totals[class] - one;
        let mut cell = [Lanes::ZERO; 4];
        for l in 0..LANES {
            let (b, j) = (both.0[l], ones_j.0[l]);
            cell[3].0[l] = b;
            cell[2].0[l] = one - b;
            cell[1].0[l] = j - b;
            cell[0].0[l] = zero - (j - b);
        }
        cell
    }
}
