//! Prices that differ by row: a test costs one number for all rows, or another one for each.
//!
//! All rows of a point take the same path, so that of prices by row only their sum over the point's
//! rows matters: Σ weight · price, by class where classes have factors. That sum is a statistic
//! as any other, and no product of a mass and a cost.

use super::whole_numbers::integers;
use crate::cost::sum;
use crate::error::{Error, Result};
use crate::exact::{Ratio, Total};

/// What a row pays for a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Price {
    /// So much for each unit of its weight.
    Each(f64),
    /// The number of a list of prices, which has another one for each row.
    ByRow(u32),
}

impl Default for Price {
    fn default() -> Price {
        Price::Each(0.0)
    }
}

impl From<f64> for Price {
    fn from(cost: f64) -> Price {
        Price::Each(cost)
    }
}

impl Price {
    /// The cost if all rows pay the same; 0 for a list of prices.
    pub fn each(self) -> f64 {
        match self {
            Price::Each(cost) => cost,
            Price::ByRow(_) => 0.0,
        }
    }
}

/// Sums of prices by row over the rows of points.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowPrices {
    /// How many lists of prices there are.
    pub n_lists: usize,
    /// Of how many classes payments are told apart: 1 where the goal has none.
    pub n_classes: usize,
    /// By point, then class, then list: Σ over rows of weight · price.
    pub sums: Vec<f64>,
}

/// As many lists of prices there may be: views hold a number of each for each row.
pub const MOST_LISTS: usize = 128;

impl RowPrices {
    /// Complaints about prices that are none.
    pub(super) fn validate(&self, n_points: usize, n_classes: usize) -> Result<()> {
        if self.n_lists == 0 {
            return Ok(());
        }
        if self.n_lists > MOST_LISTS {
            return Err(Error::invalid(format!(
                "there are {} lists of prices by row, but at most {MOST_LISTS} are possible",
                self.n_lists
            )));
        }
        if self.n_classes != n_classes || self.sums.len() != n_points * n_classes * self.n_lists {
            return Err(Error::invalid(format!(
                "{} sums of prices of {} classes do not make {n_points} points, {n_classes} \
                 classes and {} lists of prices",
                self.sums.len(),
                self.n_classes,
                self.n_lists
            )));
        }
        if self.sums.iter().any(|paid| !(paid.is_finite() && *paid >= 0.0)) {
            return Err(Error::invalid("prices by row must be finite and not negative"));
        }
        Ok(())
    }

    /// What all points pay for a list.
    pub fn total(&self, list: u32) -> f64 {
        sum(self.sums.iter().copied().skip(list as usize).step_by(self.n_lists.max(1)))
    }

    /// Sums without classes, each of which has a factor.
    pub(super) fn by_point(&self, factors: &[f64]) -> RowPrices {
        let of_point = |own: &[f64]| -> Vec<f64> {
            let paid = |list| {
                let of = own.iter().skip(list).step_by(self.n_lists);
                of.zip(factors).map(|(sum, factor)| sum * factor).sum()
            };
            (0..self.n_lists).map(paid).collect()
        };
        let width = (self.n_lists * self.n_classes).max(1);
        let sums = self.sums.chunks_exact(width).flat_map(of_point).collect();
        RowPrices { n_lists: self.n_lists, n_classes: 1, sums }
    }

    /// What those points pay for a list of which this is true, exactly. `factors`: by class.
    ///
    /// Sums that are short decimals all together stand for these decimals, others for the floats as
    /// they are stored.
    pub(super) fn paid(&self, list: u32, factors: &[Ratio], buys: &dyn Fn(usize) -> bool) -> Ratio {
        let (n, k) = (self.n_lists, self.n_classes);
        let n_points = self.sums.len() / (n * k).max(1);
        let at = |point: usize, class: usize| (point * k + class) * n + list as usize;
        let bought: Vec<usize> = (0..n_points).filter(|&point| buys(point)).collect();
        let whole = integers(&self.sums);
        let of = |class: usize| match &whole {
            Some((whole, denominator)) => {
                let paid = bought.iter().map(|&point| i128::from(whole[at(point, class)]));
                Ratio::from(paid.sum::<i128>()).over(&Ratio::from(*denominator))
            }
            None => {
                let mut total = Total::default();
                bought.iter().for_each(|&point| total.add(self.sums[at(point, class)]));
                total.ratio()
            }
        };
        let parts = factors.iter().enumerate().map(|(class, factor)| &of(class) * factor);
        parts.fold(Ratio::zero(), |all, part| &all + &part)
    }

    /// By point, then list: what the point pays, exactly, as above.
    pub(super) fn ratios(&self, factors: &[Ratio]) -> Vec<Ratio> {
        let is_short = integers(&self.sums).is_some();
        let read = |x: f64| if is_short { Ratio::written(x) } else { Ratio::stored(x) };
        let of_point = |own: &[f64]| -> Vec<Ratio> {
            let paid = |list| {
                let parts = own.iter().skip(list).step_by(self.n_lists).zip(factors);
                parts.fold(Ratio::zero(), |all, (&sum, factor)| &all + &(&read(sum) * factor))
            };
            (0..self.n_lists).map(paid).collect()
        };
        let width = (self.n_lists * self.n_classes).max(1);
        self.sums.chunks_exact(width).flat_map(of_point).collect()
    }
}
