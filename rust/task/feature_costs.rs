//! Feature costs: what rows pay for the columns that their path asks for.
//!
//! A test measures one column, or several. A row pays for it where one of them is first asked: its
//! full cost or, if it has paid for another test of the same group before, the discounted one.
//! From then on all questions of these columns are free. So a split of S costs mass(S) · cost(what
//! was bought above, test), and what was bought is the *state* of a node. The mass of a row is
//! its weight, in units of the objective for each unit of a feature cost.

use crate::cost::{Cost, sum};
use crate::error::{Error, Result};
use crate::exact::Ratio;

use super::class_costs::ClassCosts;
use super::whole_numbers::integers;

/// The cost of a test as the user states it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeatureCostInput {
    pub full: f64,
    /// The cost for who has bought another test of its group.
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
        self.tests.iter().all(|test| test.full == 0.0)
    }

    /// What a row pays that is asked for everything.
    pub fn everything(&self) -> f64 {
        self.tests.iter().map(|test| test.full).sum()
    }

    /// Complaints about feature costs that are none.
    pub(super) fn validate(&self) -> Result<()> {
        for (test, cost) in self.tests.iter().enumerate() {
            let bad = |x: f64| !(x.is_finite() && x >= 0.0);
            if bad(cost.full) || bad(cost.discounted) {
                return Err(Error::invalid(format!(
                    "the cost of test {test} is {} ({} discounted): feature costs must be finite and not negative",
                    cost.full, cost.discounted
                )));
            }
            if cost.discounted > cost.full {
                return Err(Error::invalid(format!(
                    "the discounted cost {} of test {test} is above its full cost {}",
                    cost.discounted, cost.full
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
    /// By point: units of the objective for a unit of feature costs. Or, where that is `by_cost`,
    /// what the point pays for each cost there is, from the lowest on; the cost of a test is then
    /// the number of one, from 1 on, and 0 if nothing is paid.
    pub masses: Vec<Cost>,
    /// How many masses a point has: 1, or as many as there are feature costs.
    pub by_cost: usize,
    /// By class, of tasks with classes: the mass of a unit of weight.
    pub of_class: Vec<Cost>,
}

/// What is paid for a feature cost, of what a point, or points together, have for masses.
#[inline(always)]
pub fn paid(by_cost: usize, cost: Cost, mass: impl Fn(usize) -> Cost) -> Cost {
    match (by_cost, cost) {
        (1, _) => mass(0) * cost,
        (_, 0) => 0,
        _ => mass(cost as usize - 1),
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

/// The costs of tests, without groups, one after the other.
pub(super) fn numbers(tests: &[FeatureCostInput]) -> Vec<f64> {
    tests.iter().flat_map(|test| [test.full, test.discounted]).collect()
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

/// Feature costs as exact whole numbers over one denominator, if they are short decimals.
pub struct ShortCosts {
    pub tests: Vec<FeatureCost>,
    pub denominator: i64,
}

impl ShortCosts {
    /// It is an error if costs are none.
    pub fn of(list: &FeatureCostList) -> Result<Option<ShortCosts>> {
        list.validate()?;
        let exact = integers(&numbers(&list.tests));
        let found = exact.map(|(whole, denominator)| ShortCosts {
            tests: from_numbers(&list.tests, &whole),
            denominator,
        });
        Ok(found)
    }
}

impl FeatureCosts {
    /// Of classes: each pays so much for a unit of its weight, and rows have these class weights.
    pub fn of_classes(
        classes: &ClassCosts,
        of_class: Vec<Cost>,
        tests: Vec<FeatureCost>,
        of_column: Vec<Option<u32>>,
    ) -> FeatureCosts {
        let mass =
            |point| classes.weights(point).iter().zip(&of_class).map(|(w, unit)| w * unit).sum();
        let masses = (0..classes.n_points()).map(mass).collect();
        FeatureCosts { tests, of_column, masses, by_cost: 1, of_class }
    }

    /// Any masses and feature costs, in units of the objective that are rounded down: no point pays
    /// more than it should.
    ///
    /// `unit`: units in a cost of 1; `most`: no feature cost need be told from higher ones. `None`
    /// where a number does not fit.
    pub fn rounded_down(
        masses: &[Ratio],
        feature_costs: &FeatureCostList,
        (unit, most): (&Ratio, &Ratio),
    ) -> Option<FeatureCosts> {
        let numbers = numbers(&feature_costs.tests).into_iter().map(Ratio::written);
        let numbers: Vec<Ratio> = numbers.map(|cost| cost.min(most.clone())).collect();
        if let Some(found) = FeatureCosts::by_cost(masses, &numbers, feature_costs, unit) {
            return Some(found);
        }
        let of_cost = unit_of_costs(masses, &numbers, unit)?;
        let of_mass = Ratio::from(1).over(&(&of_cost * unit));
        let whole = |all: &[Ratio], of: &Ratio| -> Option<Vec<Cost>> {
            all.iter().map(|x| Cost::try_from(x.over(of).floor()?).ok()).collect()
        };
        Some(FeatureCosts {
            tests: from_numbers(&feature_costs.tests, &whole(&numbers, &of_cost)?),
            of_column: feature_costs.of_column.clone(),
            masses: whole(masses, &of_mass)?,
            by_cost: 1,
            of_class: Vec::new(),
        })
    }

    /// With what each point pays for each feature cost, rounded down by itself: as exact as units
    /// are, where a product of two whole numbers has half of the digits in each. `None` where there
    /// are too many costs for that.
    fn by_cost(
        masses: &[Ratio],
        numbers: &[Ratio],
        feature_costs: &FeatureCostList,
        unit: &Ratio,
    ) -> Option<FeatureCosts> {
        // Costs are compared by their numbers, so that these are in their order.
        let mut distinct: Vec<&Ratio> = numbers.iter().filter(|cost| !cost.is_zero()).collect();
        distinct.sort();
        distinct.dedup();
        if distinct.is_empty() || distinct.len() > MOST_COSTS {
            return None;
        }
        let number = |cost: &Ratio| match cost.is_zero() {
            true => 0,
            false => distinct.partition_point(|&other| other < cost) as Cost + 1,
        };
        let codes: Vec<Cost> = numbers.iter().map(number).collect();
        let in_units: Vec<Ratio> = distinct.iter().map(|&cost| cost * unit).collect();
        let pays = |mass: &Ratio, cost: &Ratio| Cost::try_from((mass * cost).floor()?).ok();
        let all = masses.iter().flat_map(|mass| in_units.iter().map(move |cost| pays(mass, cost)));
        Some(FeatureCosts {
            tests: from_numbers(&feature_costs.tests, &codes),
            of_column: feature_costs.of_column.clone(),
            masses: all.collect::<Option<_>>()?,
            by_cost: distinct.len(),
            of_class: Vec::new(),
        })
    }

    /// These costs in a unit that is so many times finer.
    pub fn times(&self, times: Cost) -> FeatureCosts {
        let finer = |masses: &[Cost]| masses.iter().map(|mass| mass * times).collect();
        let (masses, of_class) = (finer(&self.masses), finer(&self.of_class));
        FeatureCosts { masses, of_class, ..self.clone() }
    }

    /// What all points pay for all tests at their full costs.
    pub fn everything(&self) -> Cost {
        let of = |point| self.tests.iter().map(|test| self.paid(point, test.full)).sum::<Cost>();
        (0..self.masses.len() / self.by_cost.max(1)).map(of).sum()
    }

    /// What a point pays for a feature cost.
    pub fn paid(&self, point: usize, cost: Cost) -> Cost {
        paid(self.by_cost, cost, |at| self.masses[point * self.by_cost + at])
    }

    /// All masses of a point.
    pub fn of_point(&self, point: usize) -> &[Cost] {
        &self.masses[point * self.by_cost..][..self.by_cost]
    }

    /// What a row pays at most: each test once, at its full cost.
    pub(super) fn most(tests: &[FeatureCost]) -> Option<Cost> {
        tests.iter().try_fold(0, |sum: Cost, test| sum.checked_add(test.full))
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
        let test = |full: f64| FeatureCostInput { full, discounted: full / 2.0, group: None };
        let unit = Ratio::from(1i64 << 50);
        let most = Ratio::from(100);
        for masses in [[1.0, 2.0, 5.0], [0.7123456789, 1.0 / 3.0, 1e-7]] {
            for tests in [vec![test(0.25)], vec![test(1.0 / 7.0), test(0.1234567890123)]] {
                let n = tests.len();
                let given = FeatureCostList { tests, of_column: vec![Some(0); n] };
                let masses = masses.map(Ratio::stored);
                let whole = FeatureCosts::rounded_down(&masses, &given, (&unit, &most)).unwrap();
                for (point, mass) in masses.iter().enumerate() {
                    for (given, test) in given.tests.iter().zip(&whole.tests) {
                        for (cost, number) in
                            [(given.full, test.full), (given.discounted, test.discounted)]
                        {
                            let exact = &(mass * &Ratio::written(cost)) * &unit;
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
