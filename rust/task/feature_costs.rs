//! Feature costs: what rows pay for the columns that their path asks for.
//!
//! A test measures one column, or several. A row pays for it where one of them is first asked: its
//! full price or, if it has paid for another test of the same group before, the discounted one.
//! From then on all questions of these columns are free. So a split of S costs mass(S) · price(what
//! was bought above, test), and what was bought is the *state* of a node. The mass of a row is
//! its weight, in units of cost for each unit of price.

use crate::cost::Cost;
use crate::error::{Error, Result};

/// The price of a test as the user states it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeatureCostInput {
    pub full: f64,
    /// The price for who has bought another test of its group.
    pub discounted: f64,
    pub group: Option<u32>,
}

/// All tests, and which of them measures each column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeatureCostList {
    pub tests: Vec<FeatureCostInput>,
    /// By column: its test; none if it is free.
    pub of_column: Vec<Option<u32>>,
}

impl FeatureCostList {
    /// Whether nothing costs anything.
    pub fn is_free(&self) -> bool {
        self.tests.iter().all(|price| price.full == 0.0)
    }

    /// What a row pays that is asked for everything.
    pub fn everything(&self) -> f64 {
        self.tests.iter().map(|price| price.full).sum()
    }

    /// Complaints about prices that are none.
    pub(super) fn validate(&self) -> Result<()> {
        for (test, price) in self.tests.iter().enumerate() {
            let bad = |x: f64| !(x.is_finite() && x >= 0.0);
            if bad(price.full) || bad(price.discounted) {
                return Err(Error::invalid(format!(
                    "the price of test {test} is {} ({} discounted): prices must be finite and not negative",
                    price.full, price.discounted
                )));
            }
            if price.discounted > price.full {
                return Err(Error::invalid(format!(
                    "the discounted price {} of test {test} is above its full price {}",
                    price.discounted, price.full
                )));
            }
        }
        let unknown = |test: &u32| *test as usize >= self.tests.len();
        if let Some(test) = self.of_column.iter().flatten().find(|test| unknown(test)) {
            return Err(Error::invalid(format!("there is no test {test}")));
        }
        Ok(())
    }
}

/// The same in whole units of price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureCost {
    pub full: Cost,
    pub discounted: Cost,
    pub group: Option<u32>,
}

/// The prices of all tests, and what rows pay of them.
#[derive(Debug, Clone)]
pub struct FeatureCosts {
    pub tests: Vec<FeatureCost>,
    /// By column: its test; none if it is free.
    pub of_column: Vec<Option<u32>>,
    /// By point: units of cost for a unit of price.
    pub masses: Vec<Cost>,
    /// By class, of tasks with classes: the mass of a unit of weight.
    pub of_class: Vec<Cost>,
}

/// No larger whole prices are chosen for prices that are no short decimals.
const FINEST: f64 = (1 << 24) as f64;

/// Prices over one denominator.
pub(super) struct Whole {
    pub prices: Vec<FeatureCost>,
    /// Units of price in a price of 1.
    pub units: f64,
    /// The most by which a whole price may be off, in its units.
    pub error: f64,
}

/// The prices, without groups, one after the other.
pub(super) fn numbers(prices: &[FeatureCostInput]) -> Vec<f64> {
    prices.iter().flat_map(|price| [price.full, price.discounted]).collect()
}

/// From such a list of whole numbers.
pub(super) fn from_numbers(prices: &[FeatureCostInput], numbers: &[Cost]) -> Vec<FeatureCost> {
    (prices.iter().zip(numbers.chunks_exact(2)))
        .map(|(price, whole)| FeatureCost {
            full: whole[0],
            discounted: whole[1],
            group: price.group,
        })
        .collect()
}

/// Whole prices: exact ones where `exact` (numbers, and their denominator) are small enough, else
/// on a grid.
pub(super) fn whole(prices: &[FeatureCostInput], exact: Option<(Vec<Cost>, i64)>) -> Whole {
    if let Some((numbers, denominator)) = exact {
        let most = numbers.iter().copied().max().unwrap_or(0);
        if (most as f64) <= FINEST {
            let prices = from_numbers(prices, &numbers);
            return Whole { prices, units: denominator as f64, error: 0.0 };
        }
    }
    let numbers = numbers(prices);
    let most = numbers.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    // A power of two, so that only rounding to whole numbers rounds.
    let units = (FINEST / most).log2().floor().exp2();
    let numbers: Vec<Cost> = numbers.iter().map(|x| (x * units).round() as Cost).collect();
    Whole { prices: from_numbers(prices, &numbers), units, error: 0.5 }
}

impl FeatureCosts {
    /// What a row pays at most: each test once, at its full price.
    pub(super) fn most(prices: &[FeatureCost]) -> Option<Cost> {
        prices.iter().try_fold(0, |sum: Cost, price| sum.checked_add(price.full))
    }
}
