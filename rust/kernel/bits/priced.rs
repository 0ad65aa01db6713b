//! Questions that cost something, and classes with one cost for all their errors: counted in 16-bit
//! lanes as in `uniform`, and weighed in 32 bits, or in 64 where that is too little.
//!
//! The errors of a cell cost Σ_c a_c·w_c − max_c a_c·w_c. A stump on side A of column i that asks
//! for column j costs mass(A) · price(j, once i is bought) beside its two cells: which side pays is
//! known from single columns, and the price from which tests and groups i and j belong to.

use std::ops::{Add, AddAssign, Mul, Sub};

use super::bit_kernel::{BitKernel, Look};
use super::uniform;
use crate::bits::{LANES, Lanes};
use crate::cost::{Cost, INFINITE, gcd};
use crate::kernel::look::{Lookahead, Side, SplitPrice, Unfinished, vec_bytes};
use crate::task::ClassCosts;
use crate::view::{BitView, Offer};

/// A number of costs in one lane.
pub trait Number:
    Copy + Ord + Add<Output = Self> + AddAssign + Sub<Output = Self> + Mul<Output = Self> + From<u16>
{
    const ZERO: Self;
    /// More than anything costs. Three of them can be added.
    const NONE: Self;
    /// Which is less than `NONE`.
    fn of(cost: Cost) -> Self;
    fn cost(self) -> Cost;
}

macro_rules! number {
    ($type:ty, $none:expr) => {
        impl Number for $type {
            const ZERO: Self = 0;
            const NONE: Self = $none;

            #[inline(always)]
            fn of(cost: Cost) -> Self {
                cost as Self
            }

            #[inline(always)]
            fn cost(self) -> Cost {
                self as Cost
            }
        }
    };
}
number!(u32, 1 << 30);
number!(u64, 1 << 61);

type Row<T> = [T; LANES];

/// The kernel of classes with one cost for all their errors, where questions cost something.
pub struct Priced<T> {
    rates: Rates,
    /// By class: its weight in the view that is looked at.
    weights: Vec<i64>,
    counts: uniform::Scratch,
    scratch: Scratch<T>,
}

impl<T: Number> Priced<T> {
    pub fn new(rates: Rates) -> Self {
        let weights = vec![0; rates.errors.len()];
        Priced { rates, weights, counts: Default::default(), scratch: Scratch::default() }
    }
}

impl<T: Number> BitKernel for Priced<T> {
    fn takes(&mut self, look: &Look) -> bool {
        let fits = look.prices().is_some() && look.bans().is_none() && look.ask.min_rows <= 1;
        if !fits || !look.weights_are_rows() || !look.fits_16_bits() {
            return false;
        }
        look.weigh_classes(&mut self.weights);
        self.rates.fit::<T>(&self.weights)
    }

    fn look(&mut self, look: &Look, out: &mut Lookahead) -> Result<(), Unfinished> {
        let Priced { rates, counts, scratch, .. } = self;
        let offer = look.prices().expect("only priced nodes are taken");
        look.level.run(
            #[inline(always)]
            || look_in_lanes(look, rates, offer, (counts, scratch), out),
        )
    }

    fn sum_pairs(&mut self, look: &Look) {
        look.level.run(
            #[inline(always)]
            || uniform::sum_pairs(look, self.weights.len(), &mut self.counts),
        );
    }

    fn bytes(&self) -> usize {
        self.counts.bytes() + self.scratch.bytes() + vec_bytes(&self.weights)
    }
}

/// What errors cost and what rows pay, in `unit`s.
#[derive(Debug, Clone)]
pub struct Rates {
    /// By class: an error, and the mass of a unit of weight.
    errors: Vec<Cost>,
    masses: Vec<Cost>,
    unit: Cost,
    /// Prices are multiples of it.
    price_unit: Cost,
    most: Cost,
}

impl Rates {
    /// `None` unless questions cost something, every class has one cost for all its errors, and the
    /// right label is free.
    pub fn new(classes: &ClassCosts, bits: &BitView) -> Option<Rates> {
        let context = bits.context.as_ref().filter(|context| context.n_masses == 1)?;
        let prices: Vec<Cost> = context.prices()?.collect();
        let (k, of) = (classes.n_classes(), |class, label| classes.cost(class, label));
        let one_cost = |c: usize| {
            (0..k).all(|label| of(c, label) == if label == c { 0 } else { classes.worst_of(c) })
        };
        if classes.n_labels() != k || k < 2 || !(0..k).all(one_cost) {
            return None;
        }
        let divisor = |costs: &mut dyn Iterator<Item = Cost>| {
            costs.filter(|&cost| cost > 0).fold(0, gcd).max(1)
        };
        let price_unit = divisor(&mut prices.iter().copied());
        let errors: Vec<Cost> = (0..k).map(|class| classes.worst_of(class)).collect();
        let masses: Vec<Cost> = context
            .of_class
            .iter()
            .map(|mass| mass.checked_mul(price_unit))
            .collect::<Option<_>>()?;
        let unit = divisor(&mut errors.iter().chain(&masses).copied());
        let over = |costs: Vec<Cost>| costs.into_iter().map(|cost| cost / unit).collect();
        let most = prices.into_iter().max().unwrap_or(0) / price_unit;
        Some(Rates { errors: over(errors), masses: over(masses), unit, price_unit, most })
    }

    /// Whether rows with these class weights fit into lanes of this kind.
    fn fit<T: Number>(&self, weights: &[i64]) -> bool {
        let each = |(class, &weight): (usize, &i64)| {
            let most = i128::from(self.masses[class]) * i128::from(self.most);
            (i128::from(self.errors[class]) + most) * i128::from(weight)
        };
        weights.iter().enumerate().map(each).sum::<i128>() < i128::from(T::NONE.cost())
    }

    fn mass(&self, weights: impl Iterator<Item = u16>) -> Cost {
        self.masses.iter().zip(weights).map(|(mass, weight)| mass * Cost::from(weight)).sum()
    }

    fn side(&self, weights: impl Iterator<Item = u16>, side: &Side) -> Side {
        let (mut sum, mut most) = (0, 0);
        for (error, weight) in self.errors.iter().zip(weights) {
            let cost = error * Cost::from(weight);
            (sum, most) = (sum + cost, most.max(cost));
        }
        Side { leaf: (sum - most) * self.unit, worst: sum * self.unit, ..*side }
    }
}

#[derive(Debug)]
struct Scratch<T> {
    /// By class: an error, and all of them.
    errors: Vec<T>,
    totals: Vec<T>,
    /// By column block and class, then all together: what the 1 side costs if it is wrong.
    ones: Vec<Row<T>>,
    sums: Vec<Row<T>>,
    /// By column block: the mass of both sides.
    masses: Vec<[Row<T>; 2]>,
    prices: Vec<BlockPrices<T>>,
    best: Vec<[Row<T>; 2]>,
}

/// What a block of columns costs.
#[derive(Debug, Clone, Copy)]
struct BlockPrices<T> {
    now: Row<T>,
    later: Row<T>,
    test: Row<i32>,
    group: Row<i32>,
}

impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Scratch {
            errors: Vec::new(),
            totals: Vec::new(),
            ones: Vec::new(),
            sums: Vec::new(),
            masses: Vec::new(),
            prices: Vec::new(),
            best: Vec::new(),
        }
    }
}

impl<T> Scratch<T> {
    pub fn bytes(&self) -> usize {
        vec_bytes(&self.errors)
            + vec_bytes(&self.totals)
            + vec_bytes(&self.ones)
            + vec_bytes(&self.sums)
            + vec_bytes(&self.masses)
            + vec_bytes(&self.prices)
            + vec_bytes(&self.best)
    }
}

#[inline(always)]
fn look_in_lanes<T: Number>(
    look: &Look,
    rates: &Rates,
    offer: &Offer,
    (counts, scratch): (&mut uniform::Scratch, &mut Scratch<T>),
    out: &mut Lookahead,
) -> Result<(), Unfinished> {
    let Look { blocks, ask, .. } = *look;
    let k = rates.errors.len();
    uniform::singles(look, k, 1, counts, out);
    out.whole = rates.side(counts.totals.iter().copied(), &out.whole);
    out.least_price =
        rates.mass(counts.totals.iter().copied()) * rates.unit / rates.price_unit * offer.least;
    scratch.prepare(rates, offer, blocks.n_blocks());
    for (column, (sides, ones)) in
        out.sides.iter_mut().zip(counts.column_ones.chunks_exact(k)).enumerate()
    {
        let zeros = || counts.totals.iter().zip(ones).map(|(total, one)| total - one);
        let ones = || ones.iter().copied();
        *sides = [rates.side(zeros(), &sides[0]), rates.side(ones(), &sides[1])];
        let masses = [rates.mass(zeros()), rates.mass(ones())];
        for (side, mass) in masses.into_iter().enumerate() {
            scratch.masses[column / LANES][side][column % LANES] = T::of(mass);
        }
        out.prices.push(masses.map(|mass| {
            let mass = mass * rates.unit / rates.price_unit;
            SplitPrice { this: mass * offer.now[column], next: mass * offer.next[column] }
        }));
    }
    if !ask.stumps || blocks.n_columns == 0 {
        return Ok(());
    }
    scratch.weigh(rates, counts, blocks.n_blocks());
    pairs(look, counts, scratch)?;
    for (column, stumps) in out.stumps.iter_mut().enumerate() {
        for (side, stump) in stumps.iter_mut().enumerate() {
            let best = scratch.best[column / LANES][side][column % LANES];
            *stump = if best >= T::NONE { INFINITE } else { best.cost() * rates.unit };
        }
    }
    Ok(())
}

impl<T: Number> Scratch<T> {
    /// Prices by block, and room for masses.
    fn prepare(&mut self, rates: &Rates, offer: &Offer, n_blocks: usize) {
        self.masses.clear();
        self.masses.resize(n_blocks, [[T::ZERO; LANES]; 2]);
        let price = |costs: &[Cost], block: usize| {
            std::array::from_fn(|l| T::of(costs[block * LANES + l] / rates.price_unit))
        };
        let name =
            |names: &[i64], block: usize| std::array::from_fn(|l| names[block * LANES + l] as i32);
        self.prices.clear();
        self.prices.extend((0..n_blocks).map(|block| BlockPrices {
            now: price(&offer.now, block),
            later: price(&offer.later, block),
            test: name(&offer.test, block),
            group: name(&offer.group, block),
        }));
    }

    /// What all counts of single columns cost.
    #[inline(always)]
    fn weigh(&mut self, rates: &Rates, counts: &uniform::Scratch, n_blocks: usize) {
        let k = rates.errors.len();
        self.errors.clear();
        self.errors.extend(rates.errors.iter().map(|&error| T::of(error)));
        self.totals.clear();
        let weighed = |(&total, &error): (&u16, &T)| T::from(total) * error;
        self.totals.extend(counts.totals.iter().zip(&self.errors).map(weighed));
        self.ones.clear();
        self.sums.clear();
        for block in 0..n_blocks {
            let mut sum = [T::ZERO; LANES];
            for class in 0..k {
                let error = self.errors[class];
                let row: Row<T> = std::array::from_fn(|l| {
                    T::from(counts.ones[class * n_blocks + block].0[l]) * error
                });
                for l in 0..LANES {
                    sum[l] += row[l];
                }
                self.ones.push(row);
            }
            self.sums.push(sum);
        }
        self.best.clear();
        self.best.resize(n_blocks, [[T::NONE; LANES]; 2]);
    }
}

#[inline(always)]
fn pairs<T: Number>(
    look: &Look,
    counts: &mut uniform::Scratch,
    scratch: &mut Scratch<T>,
) -> Result<(), Unfinished> {
    let Look { blocks, halt, .. } = *look;
    let (n_blocks, k) = (blocks.n_blocks(), scratch.errors.len());
    counts.tile.clear();
    counts.tile.resize(k, [Lanes::ZERO; 4]);
    for first in (0..blocks.n_columns).step_by(4) {
        if halt() {
            return Err(Unfinished::Stopped);
        }
        let i = (first / LANES, first % LANES);
        let n_first = 4.min(blocks.n_columns - first);
        let mut best_i = [[[T::NONE; LANES]; 2]; 4];
        for j_block in i.0..n_blocks {
            uniform::count(look, i, j_block, &mut counts.tile);
            let [mut best_0, mut best_1] = scratch.best[j_block];
            for t in 0..n_first {
                let [e00, e01, e10, e11] = scratch.cells(&counts.tile, t, (i.0, i.1 + t), j_block);
                let (price_i, price_j) = scratch.prices_of((i.0, i.1 + t), j_block);
                let [i_0, i_1] = &mut best_i[t];
                for l in 0..LANES {
                    i_0[l] = i_0[l].min(e00[l] + e01[l] + price_i[0][l]);
                    i_1[l] = i_1[l].min(e10[l] + e11[l] + price_i[1][l]);
                    best_0[l] = best_0[l].min(e00[l] + e10[l] + price_j[0][l]);
                    best_1[l] = best_1[l].min(e01[l] + e11[l] + price_j[1][l]);
                }
            }
            scratch.best[j_block] = [best_0, best_1];
        }
        for (t, best) in best_i.iter().enumerate().take(n_first) {
            for side in 0..2 {
                let least = best[side].iter().copied().min().unwrap_or(T::NONE);
                let known = &mut scratch.best[i.0][side][i.1 + t];
                *known = least.min(*known);
            }
        }
    }
    Ok(())
}

impl<T: Number> Scratch<T> {
    /// What the errors in the cells 00, 01, 10, 11 (side of i, side of j) cost.
    #[inline(always)]
    fn cells(
        &self,
        tile: &[[Lanes; 4]],
        t: usize,
        (i_block, i_lane): (usize, usize),
        j_block: usize,
    ) -> [Row<T>; 4] {
        let k = self.errors.len();
        let (mut both, mut most) = ([T::ZERO; LANES], [[T::ZERO; LANES]; 4]);
        let mut total = T::ZERO;
        for class in 0..k {
            let (error, one_i) = (self.errors[class], self.ones[i_block * k + class][i_lane]);
            let zero_i = self.totals[class] - one_i;
            total += self.totals[class];
            let (counts, one_j) = (&tile[class][t], &self.ones[j_block * k + class]);
            for l in 0..LANES {
                let b = T::from(counts.0[l]) * error;
                let j = one_j[l] - b;
                both[l] += b;
                most[3][l] = most[3][l].max(b);
                most[2][l] = most[2][l].max(one_i - b);
                most[1][l] = most[1][l].max(j);
                most[0][l] = most[0][l].max(zero_i - j);
            }
        }
        let one_i = self.sums[i_block][i_lane];
        let zero_i = total - one_i;
        let one_j = &self.sums[j_block];
        let mut cells = [[T::ZERO; LANES]; 4];
        for l in 0..LANES {
            let j = one_j[l] - both[l];
            cells[3][l] = both[l] - most[3][l];
            cells[2][l] = one_i - both[l] - most[2][l];
            cells[1][l] = j - most[1][l];
            cells[0][l] = zero_i - j - most[0][l];
        }
        cells
    }

    /// What both sides of i pay for a block's columns, and both sides of these for i.
    #[inline(always)]
    fn prices_of(
        &self,
        (i_block, lane): (usize, usize),
        j_block: usize,
    ) -> ([Row<T>; 2], [Row<T>; 2]) {
        let (of_i, of_j) = (&self.prices[i_block], &self.prices[j_block]);
        let (now, later, test) = (of_i.now[lane], of_i.later[lane], of_i.test[lane]);
        // No group is nobody's.
        let group = if of_i.group[lane] < 0 { i32::MIN } else { of_i.group[lane] };
        let masses = [0, 1].map(|side| self.masses[i_block][side][lane]);
        let (mut by_i, mut by_j) = ([[T::ZERO; LANES]; 2], [[T::ZERO; LANES]; 2]);
        for l in 0..LANES {
            let (own, shared) = (of_j.test[l] == test, of_j.group[l] == group);
            let then = if shared { of_j.later[l] } else { of_j.now[l] };
            let then = if own { T::ZERO } else { then };
            let before = if shared { later } else { now };
            let before = if own { T::ZERO } else { before };
            for side in 0..2 {
                by_i[side][l] = masses[side] * then;
                by_j[side][l] = self.masses[j_block][side][l] * before;
            }
        }
        (by_i, by_j)
    }
}
