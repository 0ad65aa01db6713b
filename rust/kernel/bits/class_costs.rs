//! Any costs by class: 64-bit sums of the weights of any number of classes for each cell.

use super::bit_kernel::{BitKernel, Look};
use super::side_masses::SideMasses;
use super::tally::{ClassTally, Row, Tile};
use crate::bits::LANES;
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::{Lookahead, Side, Unfinished, vec_bytes};
use crate::task::ClassCosts;
use crate::view::Offer;

/// The kernel of any task that counts classes.
pub struct ClassCounts<'a> {
    classes: &'a ClassCosts,
    scratch: Scratch,
}

impl<'a> ClassCounts<'a> {
    pub fn new(classes: &'a ClassCosts) -> Self {
        ClassCounts { classes, scratch: Scratch::default() }
    }
}

impl BitKernel for ClassCounts<'_> {
    fn takes(&mut self, _look: &Look) -> bool {
        true
    }

    fn look(&mut self, look: &Look, out: &mut Lookahead) -> Result<(), Unfinished> {
        let mut tally = Costed {
            tally: ClassTally::new(look, self.classes.n_classes()),
            classes: self.classes,
        };
        look.level.run(
            #[inline(always)]
            || look_in_lanes(&mut tally, look, &mut self.scratch, out),
        )
    }

    fn sum_pairs(&mut self, look: &Look) {
        let mut tally = Costed {
            tally: ClassTally::new(look, self.classes.n_classes()),
            classes: self.classes,
        };
        look.level.run(
            #[inline(always)]
            || sum_pairs(&mut tally, &mut self.scratch),
        );
    }

    fn bytes(&self) -> usize {
        self.scratch.bytes()
    }
}

#[derive(Debug, Default)]
struct Scratch {
    totals: Vec<i64>,
    /// By block and statistic: sums over the rows with each column.
    ones: Vec<Row>,
    tile: Vec<Tile>,
    cell: Vec<Row>,
    best: Vec<[Row; 2]>,
    /// What pays for questions, if they cost something.
    masses: SideMasses,
}

/// The look-ahead for any costs by class.
#[inline(always)]
fn look_in_lanes(
    tally: &mut Costed,
    look: &Look,
    scratch: &mut Scratch,
    out: &mut Lookahead,
) -> Result<(), Unfinished> {
    singles(tally, scratch, look.prices(), out);
    if !look.ask.stumps || tally.n_columns() == 0 {
        return Ok(());
    }
    match look.offer {
        Some(offer) => pairs::<true>(tally, look, offer, scratch, out),
        None => pairs::<false>(tally, look, &Offer::default(), scratch, out),
    }
}

/// `OFFER`: whether questions cost something, or some are forbidden.
#[inline(always)]
fn pairs<const OFFER: bool>(
    tally: &mut Costed,
    look: &Look,
    offer: &Offer,
    scratch: &mut Scratch,
    out: &mut Lookahead,
) -> Result<(), Unfinished> {
    let Look { ask, halt, .. } = *look;
    let (n, width) = (tally.n_columns(), tally.width());
    let n_blocks = n.div_ceil(LANES);
    let unit = (out.whole.worst >> 31) + 1;
    if ask.overlaps {
        out.start_overlaps(n_blocks * LANES, unit, unit - 1)?;
    }
    scratch.best.clear();
    scratch.best.resize(n_blocks, [[INFINITE; LANES]; 2]);
    scratch.tile.clear();
    scratch.tile.resize(width, [[0; LANES]; 4]);
    for first in (0..n).step_by(4) {
        for block in first / LANES..n_blocks {
            // Many classes or labels make one block slow.
            if halt() {
                return Err(Unfinished::Stopped);
            }
            tally.pairs(first, block, &mut scratch.tile);
            for t in 0..4.min(n - first) {
                // A loop: what a closure does in `map` is not compiled for this CPU's vectors.
                let mut costs = [[0; LANES]; 4];
                for (cell, cost) in costs.iter_mut().enumerate() {
                    scratch.fill_cell((first + t, cell / 2), (block, cell % 2), t, width);
                    *cost = tally.leaf(&scratch.cell);
                    if ask.min_rows > 1 {
                        let rows = tally.rows(&scratch.cell);
                        for l in 0..LANES {
                            if rows[l] < ask.min_rows {
                                cost[l] = INFINITE;
                            }
                        }
                    }
                }
                let [e00, e01, e10, e11] = costs;
                let (mut best_0, mut best_1) = (INFINITE, INFINITE);
                // What both sides of i pay for j, and both sides of j for i.
                let [i0, i1, j0, j1]: [Row; 4] = match OFFER {
                    true => scratch.masses.with_bans(offer, first + t, block * LANES),
                    false => [[0; LANES]; 4],
                };
                let best_j = &mut scratch.best[block];
                for l in 0..LANES {
                    best_0 = best_0.min(e00[l] + e01[l] + i0[l]);
                    best_1 = best_1.min(e10[l] + e11[l] + i1[l]);
                    best_j[0][l] = best_j[0][l].min(e00[l] + e10[l] + j0[l]);
                    best_j[1][l] = best_j[1][l].min(e01[l] + e11[l] + j1[l]);
                }
                let best_i = &mut scratch.best[first / LANES];
                let lane = first % LANES + t;
                best_i[0][lane] = best_i[0][lane].min(best_0);
                best_i[1][lane] = best_i[1][lane].min(best_1);
                if ask.overlaps {
                    scratch.fill_cell((first + t, 1), (block, 1), t, width);
                    let worst = tally.worst(&scratch.cell);
                    let row = out.overlap_row(first + t, block);
                    for l in 0..LANES {
                        row[l] = (worst[l] / unit) as u32;
                    }
                }
            }
        }
    }
    for (column, stumps) in out.stumps.iter_mut().enumerate() {
        for side in 0..2 {
            stumps[side] = scratch.best[column / LANES][side][column % LANES].min(INFINITE);
        }
    }
    Ok(())
}

/// The pairs of `look` without what it does with their sums.
#[inline(always)]
fn sum_pairs(tally: &mut Costed, scratch: &mut Scratch) {
    let (n, width) = (tally.n_columns(), tally.width());
    scratch.tile.clear();
    scratch.tile.resize(width, [[0; LANES]; 4]);
    for first in (0..n).step_by(4) {
        for block in first / LANES..n.div_ceil(LANES) {
            tally.pairs(first, block, &mut scratch.tile);
            std::hint::black_box(&mut scratch.tile);
        }
    }
}

impl Scratch {
    pub fn bytes(&self) -> usize {
        vec_bytes(&self.totals)
            + vec_bytes(&self.ones)
            + vec_bytes(&self.tile)
            + vec_bytes(&self.cell)
            + vec_bytes(&self.best)
            + self.masses.bytes()
    }

    /// Statistics of the rows on side `a` of column i and side `b` of a block's columns.
    #[inline(always)]
    fn fill_cell(
        &mut self,
        (i, a): (usize, usize),
        (block, b): (usize, usize),
        t: usize,
        width: usize,
    ) {
        self.cell.clear();
        for s in 0..width {
            let both = &self.tile[s][t];
            let one_i = self.ones[i / LANES * width + s][i % LANES];
            let one_j = &self.ones[block * width + s];
            let total = self.totals[s];
            self.cell.push(std::array::from_fn(|l| match (a, b) {
                (1, 1) => both[l],
                (1, _) => one_i - both[l],
                (_, 1) => one_j[l] - both[l],
                _ => total - one_i - one_j[l] + both[l],
            }));
        }
    }
}

#[inline(always)]
fn singles(tally: &mut Costed, scratch: &mut Scratch, prices: Option<&Offer>, out: &mut Lookahead) {
    let (n, width) = (tally.n_columns(), tally.width());
    scratch.totals.clear();
    scratch.totals.resize(width, 0);
    tally.totals(&mut scratch.totals);
    let totals: Vec<Row> = scratch.totals.iter().map(|&s| [s; LANES]).collect();
    let least = tally.least(None)[0];
    out.whole = side(tally, &totals, 0, least);
    scratch.ones.clear();
    scratch.ones.resize(n.div_ceil(LANES) * width, [0; LANES]);
    if prices.is_some() {
        let of_all = (0..tally.n_masses()).map(|at| tally.mass(&totals, at)[0]);
        scratch.masses.begin(n, of_all);
    }
    for block in 0..n.div_ceil(LANES) {
        let ones = &mut scratch.ones[block * width..(block + 1) * width];
        tally.singles(block, ones);
        let zeros: Vec<Row> = (ones.iter().zip(&scratch.totals))
            .map(|(one, total)| std::array::from_fn(|l| total - one[l]))
            .collect();
        let least = tally.least(Some(block));
        for l in 0..LANES.min(n - block * LANES) {
            out.sides[block * LANES + l] = [
                side(tally, &zeros, l, out.whole.least - least[l]),
                side(tally, ones, l, least[l]),
            ];
        }
        if prices.is_some() {
            for at in 0..tally.n_masses() {
                let mass = tally.mass(ones, at);
                for l in 0..LANES.min(n - block * LANES) {
                    scratch.masses.put(block * LANES + l, at, mass[l]);
                }
            }
        }
    }
    if let Some(offer) = prices {
        scratch.masses.write(offer, |_| 0, out);
    }
}

#[inline(always)]
fn side(tally: &Costed, stats: &[Row], lane: usize, least: Cost) -> Side {
    Side {
        leaf: tally.leaf(stats)[lane],
        least,
        worst: tally.worst(stats)[lane],
        rows: tally.rows(stats)[lane],
    }
}

/// Counts, and what they cost.
struct Costed<'a> {
    tally: ClassTally<'a>,
    classes: &'a ClassCosts,
}

impl<'a> std::ops::Deref for Costed<'a> {
    type Target = ClassTally<'a>;

    fn deref(&self) -> &ClassTally<'a> {
        &self.tally
    }
}

impl Costed<'_> {
    /// The best leaf's cost.
    #[inline(always)]
    fn leaf(&self, stats: &[Row]) -> Row {
        let mut best = [INFINITE; LANES];
        for label in 0..self.classes.n_labels() {
            let mut cost = [0; LANES];
            for (class, weight) in stats[..self.classes.n_classes()].iter().enumerate() {
                let unit = self.classes.cost(class, label);
                for l in 0..LANES {
                    cost[l] += weight[l] * unit;
                }
            }
            for l in 0..LANES {
                best[l] = best[l].min(cost[l]);
            }
        }
        best
    }

    #[inline(always)]
    fn worst(&self, stats: &[Row]) -> Row {
        let mut worst = [0; LANES];
        for (class, weight) in stats[..self.classes.n_classes()].iter().enumerate() {
            let unit = self.classes.worst_of(class);
            for l in 0..LANES {
                worst[l] += weight[l] * unit;
            }
        }
        worst
    }

    fn n_masses(&self) -> usize {
        self.bits.context.as_ref().map_or(0, |context| context.n_masses)
    }

    /// One of the masses of rows; only asked where questions cost something.
    #[inline(always)]
    fn mass(&self, stats: &[Row], at: usize) -> Row {
        let mut mass = [0; LANES];
        let of_class = self.bits.context.as_ref().map_or(&[][..], |context| &context.of_class);
        let units = of_class.iter().skip(at).step_by(self.n_masses());
        for (weight, &unit) in stats.iter().zip(units) {
            if unit == 0 {
                // Of prices by row, nearly all classes have none.
                continue;
            }
            for l in 0..LANES {
                mass[l] += weight[l] * unit;
            }
        }
        mass
    }
}
