//! Feature costs: what rows pay for the columns that their path asks for.
//!
//! A test measures one column, or several. A row pays for it where one of them is first asked: its
//! full price or, if it has paid for another test of the same group before, the discounted one.
//! From then on all questions of these columns are free. So a split of S costs mass(S) · price(what
//! was bought above, test), and what was bought is the *state* of a node. The mass of a row is
//! its weight, in units of cost for each unit of price.

use crate::cost::{Cost, sum};
use crate::error::{Error, Result};
use crate::exact::Ratio;

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
    /// By point: units of cost for a unit of price. Or, where that is `by_price`, what the point pays
    /// for each price there is, from the lowest on; a price of a test is then the number of one, from
    /// 1 on, and 0 if nothing is paid.
    pub masses: Vec<Cost>,
    /// How many masses a point has: 1, or as many as there are prices.
    pub by_price: usize,
    /// By class, of tasks with classes: the mass of a unit of weight.
    pub of_class: Vec<Cost>,
}

/// What is paid for a price, of what a point, or points together, have for masses.
#[inline(always)]
pub fn paid(by_price: usize, price: Cost, mass: impl Fn(usize) -> Cost) -> Cost {
    match (by_price, price) {
        (1, _) => mass(0) * price,
        (_, 0) => 0,
        _ => mass(price as usize - 1),
    }
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

/// More prices than these would make the statistics of a row long.
const MOST_PRICES: usize = 64;

/// Masses, or prices, in a unit of theirs are whole numbers of no more binary digits than this.
const MOST_DIGITS: i32 = 40;

impl FeatureCosts {
    /// Any masses and prices, in units of cost that are rounded down: no point pays more than it
    /// should.
    ///
    /// `unit`: units in a cost of 1; `most`: no price need be told from higher ones. `None` where a
    /// number does not fit.
    pub fn rounded_down(
        masses: &[Ratio],
        prices: &FeatureCostList,
        (unit, most): (&Ratio, &Ratio),
    ) -> Option<FeatureCosts> {
        let numbers = numbers(&prices.tests).into_iter().map(Ratio::written);
        let numbers: Vec<Ratio> = numbers.map(|price| price.min(most.clone())).collect();
        if let Some(found) = FeatureCosts::by_price(masses, &numbers, prices, unit) {
            return Some(found);
        }
        let of_price = unit_of_price(masses, &numbers, unit)?;
        let of_mass = Ratio::from(1).over(&(&of_price * unit));
        let whole = |all: &[Ratio], of: &Ratio| -> Option<Vec<Cost>> {
            all.iter().map(|x| Cost::try_from(x.over(of).floor()?).ok()).collect()
        };
        Some(FeatureCosts {
            tests: from_numbers(&prices.tests, &whole(&numbers, &of_price)?),
            of_column: prices.of_column.clone(),
            masses: whole(masses, &of_mass)?,
            by_price: 1,
            of_class: Vec::new(),
        })
    }

    /// With what each point pays for each price, rounded down by itself: as exact as units are, where
    /// a product of two whole numbers has half of the digits in each. `None` where there are too many
    /// prices for that.
    fn by_price(
        masses: &[Ratio],
        numbers: &[Ratio],
        prices: &FeatureCostList,
        unit: &Ratio,
    ) -> Option<FeatureCosts> {
        // Prices are compared by their numbers, so that these are in their order.
        let mut distinct: Vec<&Ratio> = numbers.iter().filter(|price| !price.is_zero()).collect();
        distinct.sort();
        distinct.dedup();
        if distinct.is_empty() || distinct.len() > MOST_PRICES {
            return None;
        }
        let number = |price: &Ratio| match price.is_zero() {
            true => 0,
            false => distinct.partition_point(|&other| other < price) as Cost + 1,
        };
        let codes: Vec<Cost> = numbers.iter().map(number).collect();
        let in_units: Vec<Ratio> = distinct.iter().map(|&price| price * unit).collect();
        let pays = |mass: &Ratio, price: &Ratio| Cost::try_from((mass * price).floor()?).ok();
        let all =
            masses.iter().flat_map(|mass| in_units.iter().map(move |price| pays(mass, price)));
        Some(FeatureCosts {
            tests: from_numbers(&prices.tests, &codes),
            of_column: prices.of_column.clone(),
            masses: all.collect::<Option<_>>()?,
            by_price: distinct.len(),
            of_class: Vec::new(),
        })
    }

    /// What a point pays for a price.
    pub fn paid(&self, point: usize, price: Cost) -> Cost {
        paid(self.by_price, price, |at| self.masses[point * self.by_price + at])
    }

    /// All masses of a point.
    pub fn of_point(&self, point: usize) -> &[Cost] {
        &self.masses[point * self.by_price..][..self.by_price]
    }

    /// What a row pays at most: each test once, at its full price.
    pub(super) fn most(prices: &[FeatureCost]) -> Option<Cost> {
        prices.iter().try_fold(0, |sum: Cost, price| sum.checked_add(price.full))
    }
}

/// The largest quotient of prices that is tried, and the most prices that are divided for that: it
/// takes some hundredths of a second.
const MOST_PARTS: i64 = 1 << 19;
const MOST_DIVIDED: i64 = 1 << 23;

/// The unit of prices, and with it that of masses, that loses least where both are rounded down to
/// whole numbers: one that all masses are whole in, as counts of rows are, or one that all prices
/// are, or one that all prices are nearly whole in.
fn unit_of_price(masses: &[Ratio], prices: &[Ratio], unit: &Ratio) -> Option<Ratio> {
    let near = |all: &[Ratio]| all.iter().map(Ratio::nearest).collect::<Vec<f64>>();
    let (all_mass, reals) = (sum(near(masses)), near(prices));
    let (n_points, units) = (masses.len() as f64, unit.nearest());
    let all_prices = sum(reals.iter().copied());
    // What all points lose if they pay for everything: each mass up to a unit, each price its part.
    let lost = |of_price: f64, exact_masses: bool, parts: f64| {
        let by_masses = if exact_masses { 0.0 } else { n_points * all_prices / of_price };
        by_masses + all_mass * of_price * units * parts
    };
    let n_prices = prices.len() as f64;
    let mut found: Vec<(f64, Ratio)> = Vec::new();
    if let Some(mass) = common(masses) {
        let of_price = Ratio::from(1).over(&(&mass * unit));
        found.push((lost(of_price.nearest(), true, n_prices), of_price));
    }
    if let Some(price) = common(prices) {
        found.push((lost(price.nearest(), false, 0.0), price));
    }
    let largest = prices.iter().max().filter(|price| !price.is_zero())?.nearest();
    // Each price as the nearest number of parts, of which the unit is no more than any.
    let whole = |price: f64, q: f64| (price / largest * q).round();
    let lost_in_parts = |q: i64| {
        let q = q as f64;
        let (mut of_price, mut parts) = (f64::INFINITY, 0.0);
        for &price in &reals {
            let whole = whole(price, q);
            if whole > 0.0 {
                of_price = of_price.min(price / whole);
            }
            parts -= whole;
        }
        lost(of_price, false, parts + all_prices / of_price)
    };
    let most = (MOST_DIVIDED / prices.len() as i64).clamp(1, MOST_PARTS);
    let quotients = (1..=most).map(|q| (lost_in_parts(q), q));
    let (lost, q) = quotients.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let each = prices.iter().zip(&reals).map(|(price, &real)| (price, whole(real, q as f64)));
    let each = each.filter(|(_, whole)| *whole > 0.0);
    let of_price = each.map(|(price, whole)| price.over(&Ratio::stored(whole))).min()?;
    found.push((lost, of_price));
    found.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, of_price)| of_price)
}

/// A number that all these, which are not below 0, are whole multiples of. `None` where these have
/// more than `MOST_DIGITS` binary digits, where all are 0, or where floats cannot tell.
///
/// Euclid's algorithm in floats guesses it, because exact fractions would get twice as many digits
/// at each step; what it guesses is checked exactly.
fn common(numbers: &[Ratio]) -> Option<Ratio> {
    let largest = numbers.iter().max().filter(|number| !number.is_zero())?;
    let least = f64::from(-MOST_DIGITS).exp2();
    let mut unit = 1.0;
    for number in numbers {
        let (mut a, mut b) = (unit, number.nearest() / largest.nearest());
        while b > least / 4.0 {
            (a, b) = (b, (a - (a / b).round() * b).abs());
        }
        unit = a;
    }
    if unit < least {
        return None;
    }
    let unit = largest.over(&Ratio::stored((1.0 / unit).round()));
    let is_whole = |number: &Ratio| {
        let times = number.over(&unit).floor()?;
        Some((number - &(&Ratio::from(times) * &unit)).is_zero())
    };
    numbers.iter().all(|number| is_whole(number) == Some(true)).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(numbers: &[f64]) -> Vec<Ratio> {
        numbers.iter().map(|&x| Ratio::written(x)).collect()
    }

    #[test]
    fn numbers_of_one_unit_are_its_multiples() {
        assert_eq!(common(&written(&[0.3, 0.0, 0.45])), Some(Ratio::written(0.15)));
        assert_eq!(common(&written(&[7.0, 3.0])), Some(Ratio::from(1)));
        assert_eq!(common(&written(&[1e9, 1e-9])), None);
        assert_eq!(common(&written(&[0.0])), None);
        // Two long decimals have no unit of so few digits, and that is found at once.
        assert_eq!(common(&written(&[0.02871515115715561, 0.7])), None);
    }

    #[test]
    fn nobody_pays_more_than_they_should() {
        // Of 2^50 units.
        let price = |full: f64| FeatureCostInput { full, discounted: full / 2.0, group: None };
        let unit = Ratio::from(1i64 << 50);
        let most = Ratio::from(100);
        for masses in [[1.0, 2.0, 5.0], [0.7123456789, 1.0 / 3.0, 1e-7]] {
            for tests in [vec![price(0.25)], vec![price(1.0 / 7.0), price(0.1234567890123)]] {
                let n = tests.len();
                let prices = FeatureCostList { tests, of_column: vec![Some(0); n] };
                let masses = masses.map(Ratio::stored);
                let whole = FeatureCosts::rounded_down(&masses, &prices, (&unit, &most)).unwrap();
                for (point, mass) in masses.iter().enumerate() {
                    for (price, test) in prices.tests.iter().zip(&whole.tests) {
                        for (price, number) in
                            [(price.full, test.full), (price.discounted, test.discounted)]
                        {
                            let exact = &(mass * &Ratio::written(price)) * &unit;
                            let paid = Ratio::from(whole.paid(point, number));
                            let off = &exact - &paid;
                            assert!(
                                paid <= exact && off <= Ratio::from(1),
                                "{} is lost",
                                off.nearest()
                            );
                        }
                    }
                }
            }
        }
    }
}
