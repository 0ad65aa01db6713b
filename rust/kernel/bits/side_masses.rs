//! What both sides of every column pay for questions, where these cost something: one place for all
//! kernels that add up, whatever their leaves cost.
//!
//! What a stump pays does not depend on its leaves: all rows of a side of the first column pay for
//! the second one, whatever they answer. So it takes the mass of the sides of single columns alone,
//! and nothing is summed over pairs.

use super::bit_kernel::Look;
use super::pair_sums::Row;
use crate::bits::LANES;
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::{Lookahead, SplitPrice, vec_bytes};
use crate::task::{paid, paid_in_order};
use crate::view::Offer;

/// The masses of all rows of a view, and of both sides of its columns.
#[derive(Debug, Default)]
pub struct SideMasses {
    /// How many masses a row has (`FeatureCosts::n_masses`).
    n_masses: usize,
    /// Columns, in whole blocks.
    stride: usize,
    totals: Vec<Cost>,
    /// By side, then by mass and column.
    of_sides: [Vec<Cost>; 2],
}

impl SideMasses {
    /// Nothing is known of `n` columns. `totals`: the masses of all rows.
    pub fn begin(&mut self, n: usize, totals: impl Iterator<Item = Cost>) {
        self.totals.clear();
        self.totals.extend(totals);
        self.n_masses = self.totals.len();
        self.stride = n.next_multiple_of(LANES);
        for side in &mut self.of_sides {
            side.clear();
            side.resize(self.n_masses * self.stride, 0);
        }
    }

    /// One of the masses of the rows on side 1 of a column.
    #[inline(always)]
    pub fn put(&mut self, column: usize, at: usize, mass: Cost) {
        let place = at * self.stride + column;
        self.of_sides[1][place] = mass;
        self.of_sides[0][place] = self.totals[at] - mass;
    }

    /// What a side of a column pays for a price. `ORDERED`: whether prices are in order, which is
    /// told once for many of them.
    #[inline(always)]
    fn paid<const ORDERED: bool>(&self, side: usize, column: usize, price: Cost) -> Cost {
        let mass = |at: usize| self.of_sides[side][at * self.stride + column];
        match ORDERED {
            true => paid_in_order(self.n_masses, price, mass),
            false => paid(self.n_masses, price, mass),
        }
    }

    /// Fill in what splits cost. `turned`: 1 where side 1 here is side 0 of the column.
    pub fn write(&self, offer: &Offer, turned: impl Fn(usize) -> usize, out: &mut Lookahead) {
        if !offer.is_ordered {
            return self.write_apart(offer, turned, out);
        }
        out.least_price = paid_in_order(self.n_masses, offer.least, |at| self.totals[at]);
        out.prices.extend((0..out.sides.len()).map(|column| {
            [0, 1].map(|side| {
                let price = |price: Cost| self.paid::<true>(side ^ turned(column), column, price);
                SplitPrice { this: price(offer.now[column]), next: price(offer.next[column]) }
            })
        }));
    }

    /// As above, where it takes the rows to say which price is the least: those of one side may pay
    /// less for a test that is dearer for the other.
    #[inline(never)]
    fn write_apart(&self, offer: &Offer, turned: impl Fn(usize) -> usize, out: &mut Lookahead) {
        let n = out.sides.len();
        let of_all = |price: Cost| paid(self.n_masses, price, |at| self.totals[at]);
        out.least_price = offer.least_paid(n, of_all);
        out.prices.extend((0..n).map(|column| {
            [0, 1].map(|side| {
                let price = |price: Cost| self.paid::<false>(side ^ turned(column), column, price);
                let next = offer.next_paid(column, price);
                SplitPrice { this: price(offer.now[column]), next }
            })
        }));
    }

    /// What both sides of a column pay for some columns from `others` on, and both sides of these
    /// for it.
    #[inline(always)]
    pub fn of_pairs<const N: usize>(
        &self,
        offer: &Offer,
        column: usize,
        others: usize,
    ) -> [[Cost; N]; 4] {
        // One array that both fill: to return either's would copy it.
        let mut prices = [[0; N]; 4];
        match offer.is_ordered {
            true => self.fill_pairs::<N, true>(offer, (column, others), &mut prices),
            false => self.fill_apart(offer, (column, others), &mut prices),
        }
        prices
    }

    /// Out of line, so that the loop for prices in order is compiled as if there were no others.
    #[inline(never)]
    fn fill_apart<const N: usize>(
        &self,
        offer: &Offer,
        pair: (usize, usize),
        prices: &mut [[Cost; N]; 4],
    ) {
        self.fill_pairs::<N, false>(offer, pair, prices);
    }

    #[inline(always)]
    fn fill_pairs<const N: usize, const ORDERED: bool>(
        &self,
        offer: &Offer,
        (column, others): (usize, usize),
        prices: &mut [[Cost; N]; 4],
    ) {
        for l in 0..N {
            let other = others + l;
            let (then, before) = (offer.after(column, other), offer.after(other, column));
            for side in 0..2 {
                prices[side][l] = self.paid::<ORDERED>(side, column, then);
                prices[2 + side][l] = self.paid::<ORDERED>(side, other, before);
            }
        }
    }

    /// As above, and more than anything costs where one column may not be asked below the other.
    #[inline(always)]
    pub fn with_bans<const N: usize>(
        &self,
        offer: &Offer,
        column: usize,
        others: usize,
    ) -> [[Cost; N]; 4] {
        let mut prices = match offer.has_prices {
            true => self.of_pairs(offer, column, others),
            false => [[0; N]; 4],
        };
        if let Some(bans) = offer.bans() {
            let [after, before] =
                bans.allowed(column, others / LANES).map(|bits| bits >> (others % LANES));
            for l in 0..N {
                for side in 0..2 {
                    let (own, other) = (prices[side][l], prices[2 + side][l]);
                    prices[side][l] = if after >> l & 1 == 1 { own } else { INFINITE };
                    prices[2 + side][l] = if before >> l & 1 == 1 { other } else { INFINITE };
                }
            }
        }
        prices
    }

    /// What the stumps of a column with those of a block cost beside their leaves, if that is
    /// anything.
    #[inline(always)]
    pub fn beside_leaves(&self, look: &Look, column: usize, block: usize) -> Option<[Row; 4]> {
        let offer = look.offer.filter(|offer| offer.has_prices || offer.bans().is_some())?;
        Some(self.with_bans(offer, column, block * LANES))
    }

    pub fn bytes(&self) -> usize {
        vec_bytes(&self.totals) + self.of_sides.iter().map(vec_bytes).sum::<usize>()
    }
}
