//! Any task whose rows pay for the columns that their path asks for.
//!
//! Payments add up beside the loss, whatever a leaf costs:
//!
//! > objective = loss + Σ over points of share · (cost of each test that it buys) + λ · leaves,
//!
//! where a point's share is its part of all row weight: a test that all rows buy adds its cost. Of
//! prices by row, a point adds what its rows pay together, over all row weight. So
//! the same payments serve every task, and searches know them as those of classes: a price for each
//! split, by what was bought above it.
//!
//! **In integers.** What a point pays for each cost there is is rounded down by itself, by less
//! than a unit, so that no tree costs more than it should and every lower bound is one. Where
//! something was rounded, a unit of slack says so. A task of few units, such as errors that are
//! counted, gets finer ones first: so many that costs of short decimals are whole, if there is
//! room, and as many as fit.
//!
//! **Costs that nobody pays.** Whoever buys a test pays for it at some point, of which the lightest
//! has the share w. With C for what all points lose as one leaf, a tree that buys a test of cost
//! 2C / w or more is worse than that leaf: higher costs may as well be that. So may a payment of
//! one point that is above 2C.

use std::sync::Arc;

use super::contract::Structure;
use super::feature_costs::{FeatureCostList, FeatureCosts, numbers};
use super::finer::Finer;
use super::row_prices::Price;
use super::scaled::Scaled;
use super::stated::StatedPayments;
use crate::cost::{Cost, MAX_TOTAL, Scale, decimal, lcm};
use crate::error::{Error, Result};
use crate::exact::Ratio;

/// All payments there can be are kept below so many units.
const MOST_PAID: f64 = (MAX_TOTAL / 4) as f64;

/// Units in an objective of 1 that are fine enough, so that none are made finer.
const FINE: f64 = (1u64 << 44) as f64;

/// Floats hold all whole numbers up to here.
const MOST_WHOLE: f64 = (1u64 << 53) as f64;

/// What a tree pays at most for all tests together, if the lightest point has this share of all row
/// weight, and all points as one leaf lose no more than 1: a task that chooses its units leaves
/// room for so much.
pub(super) fn room(costs: &FeatureCostList, weights: &[Ratio]) -> f64 {
    if costs.is_free() {
        return 0.0;
    }
    let Some((shares, total)) = shares(weights) else { return 0.0 };
    everything(costs, &highest(&shares, 2.0), &payments(costs, &total, 2.0))
}

impl Scaled {
    /// This task, with rows that pay for columns. `weights`: by point, summed over its rows.
    pub fn paying(self, costs: &FeatureCostList, weights: &[Ratio]) -> Result<Scaled> {
        costs.validate(self.task.n_points(), 1)?;
        if costs.is_free() {
            return Ok(self);
        }
        if weights.len() != self.task.n_points() {
            return Err(Error::invalid(format!(
                "row weights that pay are given for {} points, but there are {}",
                weights.len(),
                self.task.n_points()
            )));
        }
        let (shares, total) = shares(weights)
            .ok_or_else(|| Error::invalid("the total weight must be positive and finite"))?;
        // Of all points as one leaf, with what rounding may take off.
        let loss = self.as_one_leaf().saturating_add(self.scale.slack.saturating_add(2));
        let dearest = 2.0 * (loss as f64 / self.scale.units).next_up();
        let highest = highest(&shares, dearest);
        let payments = payments(costs, &total, dearest);
        let most = everything(costs, &highest, &payments);
        let times = self.times_finer(costs, most);
        let unit = &self.unit() * &Ratio::from(times);
        let scaled = self.finer(times);
        let paid = FeatureCosts::rounded_down((&shares, &payments), costs, (&unit, &highest));
        let Some(paid) = paid.filter(|_| most * scaled.scale.units <= MOST_PAID) else {
            return Err(Error::invalid(
                "feature_costs are too high beside the loss to be added to it: leave out the columns \
                 that cost more than any tree can win, or scale the costs down",
            ));
        };
        let is_whole = |x: &Ratio| x.floor().is_some_and(|whole| Ratio::from(whole) == *x);
        let pays_whole = |share: &Ratio| {
            let mut payments = numbers(&costs.tests).into_iter().map(|cost| {
                let cost = Ratio::written(cost).min(highest.clone());
                &(share * &cost) * &unit
            });
            payments.all(|x| is_whole(&x))
        };
        let is_exact = unit.nearest() < MOST_WHOLE
            && shares.iter().all(pays_whole)
            && payments.iter().all(|paid| is_whole(&(paid * &unit)));
        let slack = Cost::from(!is_exact);
        let payments =
            |stated| StatedPayments { stated, weights: weights.to_vec(), costs: costs.clone() };
        Ok(Scaled {
            scale: Scale { slack: scaled.scale.slack + slack, ..scaled.scale },
            feature_costs: Some(paid),
            stated: scaled.stated.map(|stated| Arc::new(payments(stated)) as _),
            ..scaled
        })
    }

    fn as_one_leaf(&self) -> Cost {
        let all: Vec<u32> = (0..self.task.n_points() as u32).collect();
        self.task.leaf(&self.task.sum_of(&all)).cost
    }

    /// Units in an objective of 1, and no more than those.
    fn unit(&self) -> Ratio {
        let units = self.scale.units;
        Ratio::stored(match units < MOST_WHOLE && units.fract() == 0.0 {
            true => units,
            // It may be a rounded product of two.
            false => units.next_down().next_down(),
        })
    }

    /// How many times finer units should be.
    fn times_finer(&self, costs: &FeatureCostList, most: f64) -> Cost {
        let units = self.scale.units;
        let adds = matches!(self.task.structure(), Structure::Sums | Structure::Counts);
        if !adds || units >= FINE {
            return 1;
        }
        let n = self.task.n_points().max(1) as Cost;
        let points = 0..self.task.n_points();
        let mass = points.map(|point| self.task.stats(point).iter().sum::<i64>().max(1));
        let mass = mass.fold(0, Cost::saturating_add);
        // As `Summed` charges it.
        let charged = self.task.rounding().saturating_mul(mass.saturating_add(1));
        let whole = self.as_one_leaf().saturating_add(charged).max(1);
        let fits = (MAX_TOTAL / 2 / n / whole).min(MAX_TOTAL / 8 / self.leaf_cost.max(1)) as f64;
        let fits = fits.min(FINE / units).min(MOST_PAID / units / most.max(f64::MIN_POSITIVE));
        let room = fits.clamp(1.0, FINE) as Cost;
        // All numbers as whole ones over one denominator.
        let over = numbers(&costs.tests)
            .into_iter()
            .try_fold(1, |all, cost| lcm(all, decimal(cost)?.1).filter(|&all| all <= room));
        let first = over.unwrap_or(1);
        first << (room / first).ilog2()
    }

    fn finer(self, times: Cost) -> Scaled {
        if times == 1 {
            return self;
        }
        let Scale { units, offset, slack, .. } = self.scale;
        Scaled {
            task: Box::new(Finer::new(self.task, times)),
            leaf_cost: self.leaf_cost * times,
            scale: Scale {
                units: units * times as f64,
                offset: offset * i128::from(times),
                slack: slack * times,
                ..self.scale
            },
            ..self
        }
    }
}

/// By point: its part of all weight; and that. `None` where there is none.
fn shares(weights: &[Ratio]) -> Option<(Vec<Ratio>, Ratio)> {
    let total = weights.iter().fold(Ratio::zero(), |sum, weight| &sum + weight);
    let share = |weight: &Ratio| weight.over(&total);
    total.is_positive().then(|| (weights.iter().map(share).collect(), total.clone()))
}

/// By point and list of prices: what the point pays, as a share of the objective, or `most` if that
/// is less.
fn payments(costs: &FeatureCostList, total: &Ratio, most: f64) -> Vec<Ratio> {
    let most = Ratio::stored(if most.is_finite() { most } else { f64::MAX });
    let all = costs.by_row.ratios(&[Ratio::from(1)]).into_iter();
    all.map(|paid| paid.over(total).min(most.clone())).collect()
}

/// The highest cost that need be told from others, if nothing loses more than `most`.
fn highest(shares: &[Ratio], most: f64) -> Ratio {
    let lightest = shares.iter().filter(|share| share.is_positive()).min();
    let lightest = lightest.cloned().unwrap_or_else(|| Ratio::from(1));
    Ratio::stored(if most.is_finite() { most } else { f64::MAX }).over(&lightest)
}

/// What a row pays on average that is asked for everything, if no cost is above `highest`.
/// `payments`: by point and list of prices.
fn everything(costs: &FeatureCostList, highest: &Ratio, payments: &[Ratio]) -> f64 {
    let highest = highest.nearest().next_up();
    let n_lists = costs.by_row.n_lists.max(1);
    let of_list = |list: u32| {
        payments.iter().skip(list as usize).step_by(n_lists).map(Ratio::nearest).sum::<f64>()
    };
    let paid = |price| match price {
        Price::Each(cost) => cost.min(highest),
        Price::ByRow(list) => of_list(list),
    };
    let most = costs.tests.iter().map(|test| paid(test.full).max(paid(test.discounted)));
    most.sum::<f64>() * (1.0 + 1e-9)
}
