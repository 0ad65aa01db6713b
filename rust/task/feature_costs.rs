//! Feature costs: what rows pay for the columns that their path asks for.
//!
//! A test measures one column, or several. A row pays for it where one of them is first asked: its
//! full cost or, if it has paid for another test of the same group before, the discounted one.
//! From then on all questions of these columns are free. So a split of S costs mass(S) · cost(what
//! was bought above, test), and what was bought is the *state* of a node. The mass of a row is
//! its weight, in units of the objective for each unit of a feature cost.
//!
//! **Masses.** A point has one or several: its weight, what it pays for each cost there is, or what
//! its rows pay of a list of prices by row (`row_prices.rs`). A cost is a whole number in either
//! case: so many times a mass (`code`). What a split costs is then still a sum over the masses of
//! its rows, and searches and kernels know nothing of where prices come from.

use crate::cost::{Cost, sum};
use crate::error::{Error, Result};
use crate::exact::Ratio;

use super::class_costs::ClassCosts;
use super::row_prices::{Price, RowPrices};
use super::whole_numbers::integers;

/// The cost of a test as the user states it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeatureCostInput {
    pub full: Price,
    /// The cost for who has bought another test of its group.
    pub discounted: Price,
    pub group: Option<u32>,
}

/// All tests, and which of them measures each column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeatureCostList {
    pub tests: Vec<FeatureCostInput>,
    /// By column: its test; none if it is free.
    pub of_column: Vec<Option<u32>>,
    /// The prices of tests whose rows do not all pay the same.
    pub by_row: RowPrices,
}

impl FeatureCostList {
    /// Whether nothing costs anything.
    pub fn is_free(&self) -> bool {
        self.everything(1.0) == 0.0
    }

    /// Whether some test has another price for each row.
    pub fn has_row_prices(&self) -> bool {
        self.by_row.n_lists > 0
    }

    /// What all rows pay if they are asked for everything, where they weigh so much together.
    pub fn everything(&self, weight: f64) -> f64 {
        let paid = |price| match price {
            Price::Each(cost) => cost * weight,
            Price::ByRow(list) => self.by_row.total(list),
        };
        // Of prices by row nobody has looked whether a discounted one is above the full one.
        self.tests.iter().map(|test| paid(test.full).max(paid(test.discounted))).sum()
    }

    /// These costs, with prices by row that classes with these factors pay together.
    pub fn by_point(&self, factors: &[f64]) -> FeatureCostList {
        FeatureCostList { by_row: self.by_row.by_point(factors), ..self.clone() }
    }

    /// Complaints about feature costs that are none. Prices by row are of so many points and
    /// classes.
    pub(super) fn validate(&self, n_points: usize, n_classes: usize) -> Result<()> {
        self.validate_tests()?;
        self.by_row.validate(n_points, n_classes)
    }

    fn validate_tests(&self) -> Result<()> {
        for (test, cost) in self.tests.iter().enumerate() {
            let (full, discounted) = (cost.full.each(), cost.discounted.each());
            let bad = |x: f64| !(x.is_finite() && x >= 0.0);
            if bad(full) || bad(discounted) {
                return Err(Error::invalid(format!(
                    "the cost of test {test} is {full} ({discounted} discounted): feature costs must \
                     be finite and not negative",
                )));
            }
            let of_all = [cost.full, cost.discounted].map(|price| matches!(price, Price::Each(_)));
            if of_all == [true; 2] && discounted > full {
                return Err(Error::invalid(format!(
                    "the discounted cost {discounted} of test {test} is above its full cost {full}",
                )));
            }
            for price in [cost.full, cost.discounted] {
                if let Price::ByRow(list) = price
                    && list as usize >= self.by_row.n_lists
                {
                    return Err(Error::invalid(format!(
                        "test {test} has the prices of list {list}, but there are {}",
                        self.by_row.n_lists
                    )));
                }
            }
        }
        let unknown = |test: &u32| *test as usize >= self.tests.len();
        if let Some(test) = self.of_column.iter().flatten().find(|test| unknown(test)) {
            return Err(Error::invalid(format!("there is no test {test}")));
        }
        Ok(())
    }
}

/// The cost of a test in whole units of feature costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureCost {
    pub full: Cost,
    pub discounted: Cost,
    pub group: Option<u32>,
}

/// The costs of all tests, and what rows pay of them.
#[derive(Debug, Clone)]
pub struct FeatureCosts {
    pub tests: Vec<FeatureCost>,
    /// By column: its test; none if it is free.
    pub of_column: Vec<Option<u32>>,
    /// By point: units of the objective for a unit of feature costs. Or several such numbers, what
    /// the point pays for each cost there is, from the lowest on, or of each list of prices by row:
    /// costs are then codes (`code`).
    pub masses: Vec<Cost>,
    /// How many masses a point has.
    pub n_masses: usize,
    /// Whether a higher cost is never less for any rows: costs can be compared without them.
    pub is_ordered: bool,
    /// By class and mass, of tasks with classes: the masses of a unit of weight.
    pub of_class: Vec<Cost>,
}

/// Of several masses, which one a cost is of takes so many binary digits.
const PLACES: u32 = 8;

/// The number that stands for `times` the mass `at`, of so many that points have: its own number,
/// from 1 on, where that is once.
pub(super) fn code(n_masses: usize, at: usize, times: Cost) -> Cost {
    debug_assert!(at < n_masses && n_masses < 1 << PLACES);
    match (n_masses, times) {
        (1, _) => times,
        (_, 0) => 0,
        (_, 1) => at as Cost + 1,
        _ => times << PLACES | (at as Cost + 1),
    }
}

/// As `paid`, where costs are in order: of several masses each is paid once, if at all.
#[inline(always)]
pub fn paid_in_order(n_masses: usize, cost: Cost, mass: impl Fn(usize) -> Cost) -> Cost {
    match (n_masses, cost) {
        (1, _) => mass(0) * cost,
        (_, 0) => 0,
        _ => mass(cost as usize - 1),
    }
}

/// What is paid for a feature cost, of what a point, or points together, have for masses.
#[inline(always)]
pub fn paid(n_masses: usize, cost: Cost, mass: impl Fn(usize) -> Cost) -> Cost {
    match (n_masses, cost) {
        (1, _) => mass(0) * cost,
        (_, 0) => 0,
        _ if cost < 1 << PLACES => mass(cost as usize - 1),
        _ => mass((cost & ((1 << PLACES) - 1)) as usize - 1) * (cost >> PLACES),
    }
}

/// The price of a test among masses of which the first `from` are no lists: `whole` times the first
/// one, or all of its list.
pub(super) fn coded(price: Price, whole: Cost, (n_masses, from): (usize, usize)) -> Cost {
    match price {
        Price::Each(_) => code(n_masses, 0, whole),
        Price::ByRow(list) => code(n_masses, from + list as usize, 1),
    }
}

/// No larger whole numbers are chosen for feature costs that are no short decimals.
const FINEST: f64 = (1 << 24) as f64;

/// Feature costs over one denominator.
pub(super) struct Whole {
    pub tests: Vec<FeatureCost>,
    /// Units in a feature cost of 1.
    pub units: f64,
    /// The most by which a whole number may be off, in its units.
    pub error: f64,
}

/// The costs of tests, without groups, one after the other; 0 for prices by row.
pub(super) fn numbers(tests: &[FeatureCostInput]) -> Vec<f64> {
    tests.iter().flat_map(|test| [test.full.each(), test.discounted.each()]).collect()
}

/// From such a list of whole numbers.
pub(super) fn from_numbers(tests: &[FeatureCostInput], numbers: &[Cost]) -> Vec<FeatureCost> {
    (tests.iter().zip(numbers.chunks_exact(2)))
        .map(|(test, whole)| FeatureCost {
            full: whole[0],
            discounted: whole[1],
            group: test.group,
        })
        .collect()
}

/// Whole feature costs: exact ones where `exact` (numbers, and their denominator) are small enough,
/// else on a grid.
pub(super) fn whole(tests: &[FeatureCostInput], exact: Option<(Vec<Cost>, i64)>) -> Whole {
    if let Some((numbers, denominator)) = exact {
        let most = numbers.iter().copied().max().unwrap_or(0);
        if (most as f64) <= FINEST {
            let tests = from_numbers(tests, &numbers);
            return Whole { tests, units: denominator as f64, error: 0.0 };
        }
    }
    let numbers = numbers(tests);
    let most = numbers.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    // A power of two, so that only rounding to whole numbers rounds.
    let units = (FINEST / most).log2().floor().exp2();
    let numbers: Vec<Cost> = numbers.iter().map(|x| (x * units).round() as Cost).collect();
    Whole { tests: from_numbers(tests, &numbers), units, error: 0.5 }
}

/// More feature costs than these would make the statistics of a row long.
const MOST_COSTS: usize = 64;

/// Masses, or feature costs, in a unit of theirs are whole numbers of no more binary digits than
/// this.
const MOST_DIGITS: i32 = 40;

/// Feature costs, and what classes pay of prices by row, as exact whole numbers over one
/// denominator, if they are short decimals.
pub struct ShortCosts {
    /// Without masses.
    pub costs: FeatureCosts,
    pub denominator: i64,
    /// By point, class and list of prices.
    pub sums: Vec<Cost>,
}

impl ShortCosts {
    /// Of so many points and classes. It is an error if costs are none.
    pub fn of(
        list: &FeatureCostList,
        (n_points, n_classes): (usize, usize),
    ) -> Result<Option<ShortCosts>> {
        list.validate(n_points, n_classes)?;
        let own = numbers(&list.tests);
        let all = [&own[..], &list.by_row.sums].concat();
        let Some((mut whole, denominator)) = integers(&all) else { return Ok(None) };
        let sums = whole.split_off(own.len());
        let n_own = usize::from(whole.iter().any(|&cost| cost > 0));
        let n_masses = n_own + list.by_row.n_lists;
        let coded = |price, whole| coded(price, whole, (n_masses, n_own));
        let tests = list.tests.iter().zip(whole.chunks_exact(2)).map(|(test, whole)| FeatureCost {
            full: coded(test.full, whole[0]),
            discounted: coded(test.discounted, whole[1]),
            group: test.group,
        });
        let costs = FeatureCosts {
            tests: tests.collect(),
            of_column: list.of_column.clone(),
            masses: Vec::new(),
            n_masses,
            is_ordered: n_masses == 1,
            of_class: Vec::new(),
        };
        Ok(Some(ShortCosts { costs, denominator, sums }))
    }
}

impl FeatureCosts {
    /// These costs, where what rows pay is told by their classes: by class and mass, what a unit of
    /// the class's weight has of it.
    pub fn of_classes(self, classes: &ClassCosts, of_class: Vec<Cost>) -> FeatureCosts {
        let n = self.n_masses;
        let masses = (0..classes.n_points()).flat_map(|point| {
            let weights = classes.weights(point);
            let units = &of_class;
            (0..n).map(move |at| {
                weights.iter().zip(units.iter().skip(at).step_by(n)).map(|(w, unit)| w * unit).sum()
            })
        });
        let masses = masses.collect();
        FeatureCosts { masses, of_class, ..self }
    }

    /// Any masses and feature costs, in units of the objective that are rounded down: no point pays
    /// more than it should.
    ///
    /// `payments`: by point and list, what prices by row add up to. `unit`: units in a cost of 1;
    /// `most`: no feature cost need be told from higher ones. `None` where a number does not fit.
    pub fn rounded_down(
        (masses, payments): (&[Ratio], &[Ratio]),
        feature_costs: &FeatureCostList,
        (unit, most): (&Ratio, &Ratio),
    ) -> Option<FeatureCosts> {
        let numbers = numbers(&feature_costs.tests).into_iter().map(Ratio::written);
        let numbers: Vec<Ratio> = numbers.map(|cost| cost.min(most.clone())).collect();
        let OfAll { masses: own, n_masses: n_own, costs } = match numbers.iter().all(Ratio::is_zero)
        {
            true => OfAll { masses: Vec::new(), n_masses: 0, costs: vec![(0, 0); numbers.len()] },
            false => OfAll::by_cost(masses, &numbers, unit)
                .or_else(|| OfAll::multiplied(masses, &numbers, unit))?,
        };
        let n_lists = feature_costs.by_row.n_lists;
        let n_masses = n_own + n_lists;
        let whole = |paid: &Ratio| Cost::try_from((paid * unit).floor()?).ok();
        let payments = payments.iter().map(whole).collect::<Option<Vec<Cost>>>()?;
        let of_point = |point: usize| {
            let own = own[point * n_own..][..n_own].iter();
            own.chain(&payments[point * n_lists..][..n_lists]).copied()
        };
        let price = |price: Price, (at, times): (usize, Cost)| match price {
            Price::Each(_) => code(n_masses, at, times),
            Price::ByRow(list) => code(n_masses, n_own + list as usize, 1),
        };
        let costs = costs.chunks_exact(2).zip(&feature_costs.tests);
        let tests = costs.map(|(cost, test)| FeatureCost {
            full: price(test.full, cost[0]),
            discounted: price(test.discounted, cost[1]),
            group: test.group,
        });
        Some(FeatureCosts {
            tests: tests.collect(),
            of_column: feature_costs.of_column.clone(),
            masses: (0..masses.len()).flat_map(of_point).collect(),
            n_masses,
            is_ordered: n_lists == 0 || n_masses == 1,
            of_class: Vec::new(),
        })
    }

    /// These costs in a unit that is so many times finer.
    pub fn times(&self, times: Cost) -> FeatureCosts {
        let finer = |masses: &[Cost]| masses.iter().map(|mass| mass * times).collect();
        let (masses, of_class) = (finer(&self.masses), finer(&self.of_class));
        FeatureCosts { masses, of_class, ..self.clone() }
    }

    /// What all points pay at most for all tests.
    pub fn everything(&self) -> Cost {
        let most = |point, test: &FeatureCost| {
            self.paid(point, test.full).max(self.paid(point, test.discounted))
        };
        let of = |point| self.tests.iter().map(|test| most(point, test)).sum::<Cost>();
        (0..self.masses.len() / self.n_masses.max(1)).map(of).sum()
    }

    /// What a point pays for a feature cost.
    pub fn paid(&self, point: usize, cost: Cost) -> Cost {
        paid(self.n_masses, cost, |at| self.masses[point * self.n_masses + at])
    }

    /// All masses of a point.
    pub fn of_point(&self, point: usize) -> &[Cost] {
        &self.masses[point * self.n_masses..][..self.n_masses]
    }

    /// What a row pays at most: each test once, at its full cost.
    pub(super) fn most(tests: &[FeatureCost]) -> Option<Cost> {
        tests.iter().try_fold(0, |sum: Cost, test| sum.checked_add(test.full))
    }
}

/// Masses of what all rows pay alike, and the costs of tests, one after the other: which mass, and
/// how many times.
struct OfAll {
    masses: Vec<Cost>,
    n_masses: usize,
    costs: Vec<(usize, Cost)>,
}

impl OfAll {
    /// What each point pays for each feature cost, rounded down by itself: as exact as units are,
    /// where a product of two whole numbers has half of the digits in each. `None` where there are
    /// too many costs for that.
    fn by_cost(masses: &[Ratio], numbers: &[Ratio], unit: &Ratio) -> Option<OfAll> {
        // Costs are compared by their codes, so that masses are in the order of these.
        let mut distinct: Vec<&Ratio> = numbers.iter().filter(|cost| !cost.is_zero()).collect();
        distinct.sort();
        distinct.dedup();
        if distinct.len() > MOST_COSTS {
            return None;
        }
        let number = |cost: &Ratio| match cost.is_zero() {
            true => (0, 0),
            false => (distinct.partition_point(|&other| other < cost), 1),
        };
        let costs = numbers.iter().map(number).collect();
        let in_units: Vec<Ratio> = distinct.iter().map(|&cost| cost * unit).collect();
        let pays = |mass: &Ratio, cost: &Ratio| Cost::try_from((mass * cost).floor()?).ok();
        let all = masses.iter().flat_map(|mass| in_units.iter().map(move |cost| pays(mass, cost)));
        Some(OfAll { masses: all.collect::<Option<_>>()?, n_masses: distinct.len(), costs })
    }

    /// One mass for each point, which costs multiply.
    fn multiplied(masses: &[Ratio], numbers: &[Ratio], unit: &Ratio) -> Option<OfAll> {
        let of_cost = unit_of_costs(masses, numbers, unit)?;
        let of_mass = Ratio::from(1).over(&(&of_cost * unit));
        let whole = |all: &[Ratio], of: &Ratio| -> Option<Vec<Cost>> {
            all.iter().map(|x| Cost::try_from(x.over(of).floor()?).ok()).collect()
        };
        let costs = whole(numbers, &of_cost)?.into_iter().map(|times| (0, times)).collect();
        Some(OfAll { masses: whole(masses, &of_mass)?, n_masses: 1, costs })
    }
}

/// The largest quotient of costs that is tried, and the most costs that are divided for that: it
/// takes some hundredths of a second.
const MOST_PARTS: i64 = 1 << 19;
const MOST_DIVIDED: i64 = 1 << 23;

/// The unit of feature costs, and with it that of masses, that loses least where both are rounded
/// down to whole numbers: one that all masses are whole in, as counts of rows are, or one that all
/// costs are, or one that all costs are nearly whole in.
fn unit_of_costs(masses: &[Ratio], costs: &[Ratio], unit: &Ratio) -> Option<Ratio> {
    let near = |all: &[Ratio]| all.iter().map(Ratio::nearest).collect::<Vec<f64>>();
    let (all_mass, reals) = (sum(near(masses)), near(costs));
    let (n_points, units) = (masses.len() as f64, unit.nearest());
    let all_costs = sum(reals.iter().copied());
    // What all points lose if they pay for everything: each mass up to a unit, each cost its part.
    let lost = |of_cost: f64, exact_masses: bool, parts: f64| {
        let by_masses = if exact_masses { 0.0 } else { n_points * all_costs / of_cost };
        by_masses + all_mass * of_cost * units * parts
    };
    let n_costs = costs.len() as f64;
    let mut found: Vec<(f64, Ratio)> = Vec::new();
    if let Some(mass) = common(masses) {
        let of_cost = Ratio::from(1).over(&(&mass * unit));
        found.push((lost(of_cost.nearest(), true, n_costs), of_cost));
    }
    if let Some(cost) = common(costs) {
        found.push((lost(cost.nearest(), false, 0.0), cost));
    }
    let largest = costs.iter().max().filter(|cost| !cost.is_zero())?.nearest();
    // Each cost as the nearest number of parts, of which the unit is no more than any.
    let whole = |cost: f64, q: f64| (cost / largest * q).round();
    let lost_in_parts = |q: i64| {
        let q = q as f64;
        let (mut of_cost, mut parts) = (f64::INFINITY, 0.0);
        for &cost in &reals {
            let whole = whole(cost, q);
            if whole > 0.0 {
                of_cost = of_cost.min(cost / whole);
            }
            parts -= whole;
        }
        lost(of_cost, false, parts + all_costs / of_cost)
    };
    let most = (MOST_DIVIDED / costs.len() as i64).clamp(1, MOST_PARTS);
    let quotients = (1..=most).map(|q| (lost_in_parts(q), q));
    let (lost, q) = quotients.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let each = costs.iter().zip(&reals).map(|(cost, &real)| (cost, whole(real, q as f64)));
    let each = each.filter(|(_, whole)| *whole > 0.0);
    let of_cost = each.map(|(cost, whole)| cost.over(&Ratio::stored(whole))).min()?;
    found.push((lost, of_cost));
    found.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, of_cost)| of_cost)
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
        let test = |full: f64| FeatureCostInput {
            full: full.into(),
            discounted: (full / 2.0).into(),
            group: None,
        };
        let unit = Ratio::from(1i64 << 50);
        let most = Ratio::from(100);
        for masses in [[1.0, 2.0, 5.0], [0.7123456789, 1.0 / 3.0, 1e-7]] {
            for tests in [vec![test(0.25)], vec![test(1.0 / 7.0), test(0.1234567890123)]] {
                let n = tests.len();
                let of_column = vec![Some(0); n];
                let given = FeatureCostList { tests, of_column, ..Default::default() };
                let masses = masses.map(Ratio::stored);
                let whole =
                    FeatureCosts::rounded_down((&masses, &[]), &given, (&unit, &most)).unwrap();
                for (point, mass) in masses.iter().enumerate() {
                    for (given, test) in given.tests.iter().zip(&whole.tests) {
                        for (cost, number) in
                            [(given.full, test.full), (given.discounted, test.discounted)]
                        {
                            let exact = &(mass * &Ratio::written(cost.each())) * &unit;
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
