//! The general path: 64-bit sums of the weights of any number of classes for each cell.

use super::depth_two::{Ask, Fee, Lookahead, Side, Unfinished, vec_bytes};
use super::lanes::Blocks;
use crate::bits::{LANES, Lanes, Level};
use crate::cost::{Cost, INFINITE};
use crate::task::{ClassCosts, Task};
use crate::view::{BitView, Segment, Tariff};

/// One statistic of 32 columns.
pub type Row = [i64; LANES];
/// One statistic of four columns against 32.
pub type Tile = [Row; 4];

#[derive(Debug, Default)]
pub struct Scratch {
    totals: Vec<i64>,
    /// By block and statistic: sums over the rows with each column.
    ones: Vec<Row>,
    tile: Vec<Tile>,
    cell: Vec<Row>,
    best: Vec<[Row; 2]>,
    /// By block: the mass of both sides, where questions cost something.
    masses: Vec<[Row; 2]>,
}

/// The look-ahead for any costs by class.
#[inline(always)]
pub fn look(
    tally: &mut ClassTally,
    ask: Ask,
    tariff: Option<&Tariff>,
    halt: &dyn Fn() -> bool,
    scratch: &mut Scratch,
    out: &mut Lookahead,
) -> Result<(), Unfinished> {
    singles(tally, scratch, tariff, out);
    if !ask.stumps || tally.n_columns() == 0 {
        return Ok(());
    }
    match tariff {
        Some(tariff) => pairs::<true>(tally, ask, tariff, halt, scratch, out),
        None => pairs::<false>(tally, ask, &Tariff::default(), halt, scratch, out),
    }
}

/// `PAYS`: whether questions cost something.
#[inline(always)]
fn pairs<const PAYS: bool>(
    tally: &mut ClassTally,
    ask: Ask,
    tariff: &Tariff,
    halt: &dyn Fn() -> bool,
    scratch: &mut Scratch,
    out: &mut Lookahead,
) -> Result<(), Unfinished> {
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
                let (paid_i, paid_j) = match PAYS {
                    true => scratch.paid(tariff, first + t, block),
                    false => ([[0; LANES]; 2], [[0; LANES]; 2]),
                };
                let best_j = &mut scratch.best[block];
                for l in 0..LANES {
                    best_0 = best_0.min(e00[l] + e01[l] + paid_i[0][l]);
                    best_1 = best_1.min(e10[l] + e11[l] + paid_i[1][l]);
                    best_j[0][l] = best_j[0][l].min(e00[l] + e10[l] + paid_j[0][l]);
                    best_j[1][l] = best_j[1][l].min(e01[l] + e11[l] + paid_j[1][l]);
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
pub fn sum_pairs(tally: &mut ClassTally, scratch: &mut Scratch) {
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
            + vec_bytes(&self.masses)
    }

    /// What both sides of column i pay for a block's columns, and those columns' sides for i.
    #[inline(always)]
    fn paid(&self, tariff: &Tariff, i: usize, block: usize) -> ([Row; 2], [Row; 2]) {
        let (mut of_i, mut of_j) = ([[0; LANES]; 2], [[0; LANES]; 2]);
        let mass_i = [0, 1].map(|side| self.masses[i / LANES][side][i % LANES]);
        for l in 0..LANES {
            let j = block * LANES + l;
            let (then, before) = (tariff.after(i, j), tariff.after(j, i));
            for side in 0..2 {
                of_i[side][l] = mass_i[side] * then;
                of_j[side][l] = self.masses[block][side][l] * before;
            }
        }
        (of_i, of_j)
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
fn singles(
    tally: &mut ClassTally,
    scratch: &mut Scratch,
    tariff: Option<&Tariff>,
    out: &mut Lookahead,
) {
    let (n, width) = (tally.n_columns(), tally.width());
    scratch.totals.clear();
    scratch.totals.resize(width, 0);
    tally.totals(&mut scratch.totals);
    let totals: Vec<Row> = scratch.totals.iter().map(|&s| [s; LANES]).collect();
    let least = tally.least(None)[0];
    out.whole = side(tally, &totals, 0, least);
    scratch.ones.clear();
    scratch.ones.resize(n.div_ceil(LANES) * width, [0; LANES]);
    scratch.masses.clear();
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
        if tariff.is_some() {
            scratch.masses.push([tally.mass(&zeros), tally.mass(ones)]);
        }
    }
    if let Some(tariff) = tariff {
        out.fee = tally.mass(&totals)[0] * tariff.least;
        out.fees.extend((0..n).map(|column| {
            [0, 1].map(|side| {
                let mass = scratch.masses[column / LANES][side][column % LANES];
                Fee { this: mass * tariff.now[column], next: mass * tariff.next[column] }
            })
        }));
    }
}

#[inline(always)]
fn side(tally: &ClassTally, stats: &[Row], lane: usize, least: Cost) -> Side {
    Side {
        leaf: tally.leaf(stats)[lane],
        least,
        worst: tally.worst(stats)[lane],
        rows: tally.rows(stats)[lane],
    }
}

/// Weights by class, and rows.
pub struct ClassTally<'a> {
    pub level: Level,
    pub blocks: &'a Blocks,
    pub bits: &'a BitView,
    pub classes: &'a ClassCosts,
}

/// Groups that can be counted in 16 bits.
const CHUNK: usize = 4095;

impl ClassTally<'_> {
    fn n_columns(&self) -> usize {
        self.blocks.n_columns
    }

    fn width(&self) -> usize {
        self.classes.n_classes() + 1
    }

    /// Statistics of all rows.
    fn totals(&self, out: &mut [i64]) {
        let rows = out.len() - 1;
        for &(index, ..) in &self.blocks.segments {
            let (segment, n) = (&self.bits.segments[index], self.blocks.rows(index));
            out[segment.class as usize] += n * segment.weight;
            out[rows] += n * segment.rows;
        }
    }

    /// Statistics of the rows that have each column of a block.
    #[inline(always)]
    fn singles(&mut self, block: usize, out: &mut [Row]) {
        self.count_block(block, |segment, l, n| {
            out[segment.class as usize][l] += n * segment.weight;
            out[self.classes.n_classes()][l] += n * segment.rows;
        });
    }

    /// Statistics of the rows that have both one of the columns from `first` on and one of a block.
    #[inline(always)]
    fn pairs(&mut self, first: usize, block: usize, out: &mut [Tile]) {
        out.fill([[0; LANES]; 4]);
        let rows = self.classes.n_classes();
        for &(index, from, to) in &self.blocks.segments {
            let segment = &self.bits.segments[index];
            for from in (from..to).step_by(CHUNK) {
                let to = to.min(from + CHUNK);
                let left = self.blocks.block(first / LANES, from, to);
                let right = self.blocks.block(block, from, to);
                let mut counts = [Lanes::ZERO; 4];
                self.level.add_pairs(left, first % LANES, right, 1, &mut counts);
                for (t, counts) in counts.iter().enumerate() {
                    for l in 0..LANES {
                        let n = i64::from(counts.0[l]);
                        out[segment.class as usize][t][l] += n * segment.weight;
                        out[rows][t][l] += n * segment.rows;
                    }
                }
            }
        }
    }

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

    #[inline(always)]
    fn rows(&self, stats: &[Row]) -> Row {
        stats[self.classes.n_classes()]
    }

    /// What the rows pay for a unit of price; only asked where questions cost something.
    #[inline(always)]
    fn mass(&self, stats: &[Row]) -> Row {
        let mut mass = [0; LANES];
        let of_class = self.bits.fares.as_ref().map_or(&[][..], |fares| &fares.of_class);
        for (weight, &unit) in stats.iter().zip(of_class) {
            for l in 0..LANES {
                mass[l] += weight[l] * unit;
            }
        }
        mass
    }

    /// Least cost of all rows, and of the rows with each column.
    #[inline(always)]
    fn least(&mut self, block: Option<usize>) -> Row {
        let mut least = [0; LANES];
        match block {
            Some(block) => self.count_block(block, |segment, l, n| least[l] += n * segment.least),
            None => {
                for &(index, ..) in &self.blocks.segments {
                    let n = self.blocks.rows(index);
                    least[0] += n * self.bits.segments[index].least;
                }
            }
        }
        least
    }
}

impl ClassTally<'_> {
    #[inline(always)]
    fn count_block(&self, block: usize, mut add: impl FnMut(&Segment, usize, i64)) {
        for &(index, from, to) in &self.blocks.segments {
            for from in (from..to).step_by(CHUNK) {
                let to = to.min(from + CHUNK);
                let counts = self.level.count_columns(self.blocks.block(block, from, to));
                for (l, &n) in counts.0.iter().enumerate() {
                    add(&self.bits.segments[index], l, i64::from(n));
                }
            }
        }
    }
}
