//! Costs are integers, so that sums are exact, order does not matter, and threads agree.
//!
//! A problem's losses and its leaf penalty share one unit. Where weights, costs and the penalty are
//! (short decimal) rationals the unit divides all of them and nothing is rounded. Otherwise each is
//! rounded once, to a unit so small that the total is about 2^53 of them, and `Scale::slack` bounds
//! what all that rounding can add up to: reported lower bounds are lowered by it.

/// A sum of losses and leaf penalties, in the problem's unit.
pub type Cost = i64;

/// More than any tree costs. Two of them can be added.
pub const INFINITE: Cost = 1 << 61;

/// Real losses are kept below this total, so that no sum the search makes can overflow.
pub const MAX_TOTAL: Cost = 1 << 58;

/// How integer costs relate to the objective the user sees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Units in an objective of 1, to the nearest float.
    pub units: f64,
    /// Units that every tree costs and the search leaves out; rounded down where it is not exact.
    pub offset: i128,
    /// The most by which a tree's cost can be above its true value, in units: 0 when exact.
    pub slack: Cost,
    /// No tree's true objective is below this, however units are rounded.
    pub least: f64,
}

impl Scale {
    /// Objectives may be anything, as costs by row may be negative.
    pub const fn new(units: f64, offset: i128, slack: Cost) -> Scale {
        Scale { units, offset, slack, least: f64::NEG_INFINITY }
    }

    /// The objective of a cost, to the nearest float.
    pub fn objective(&self, cost: Cost) -> f64 {
        ((i128::from(cost) + self.offset) as f64 / self.units).max(self.least)
    }

    /// A float that is at most the true objective of any tree whose cost is at least `bound`.
    pub fn lower(&self, bound: Cost) -> f64 {
        let total = i128::from((bound - self.slack).max(0)) + self.offset;
        if total == 0 {
            return 0.0;
        }
        // The numerator, the units and the quotient are each off by at most half a step.
        let quotient = (total as f64).next_down() / self.units;
        quotient.next_down().next_down().max(self.least)
    }

    /// A cost that no tree is below if no tree's true objective is below `objective`.
    pub fn cost_above(&self, objective: f64) -> Cost {
        let units = objective * self.units;
        // The product is off by at most half a step. The slack is taken off because a cost may be
        // that far from its true value.
        if !units.is_finite() {
            return 0;
        }
        let least = (units - units.abs() * f64::EPSILON).floor() as i128;
        let least = least.saturating_sub(1 + self.offset + i128::from(self.slack));
        least.clamp(0, i128::from(INFINITE)) as Cost
    }

    /// The number of units that is surely at least this much objective (for gap limits: rounded
    /// down).
    pub fn units_of(&self, objective: f64) -> Cost {
        (objective * self.units).clamp(0.0, INFINITE as f64).floor() as Cost
    }
}

/// `x` as a fraction, read as the shortest decimal that is this float: 0.1 is 1/10.
/// `None` when numerator or denominator do not fit.
pub fn decimal(x: f64) -> Option<(i64, i64)> {
    let text = format!("{x:e}");
    let (mantissa, exponent) = text.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: i64 = format!("{whole}{fraction}").parse().ok()?;
    let shift = exponent - fraction.len() as i32;
    let power = 10i64.checked_pow(shift.unsigned_abs())?;
    if shift >= 0 {
        return Some((digits.checked_mul(power)?, 1));
    }
    let divisor = gcd(digits, power);
    Some((digits / divisor, power / divisor))
}

pub fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// The least common multiple of positive numbers, if it fits.
pub fn lcm(a: i64, b: i64) -> Option<i64> {
    (a / gcd(a, b)).checked_mul(b)
}

/// The sum of many floats as if it had been rounded two or three times, not once for each
/// (Neumaier).
pub fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_do_not_lose_small_numbers() {
        assert_eq!(sum([1e16, 1.0, 1.0, -1e16]), 2.0);
        assert_eq!(sum([0.1; 10]), 1.0);
        assert_eq!(sum([]), 0.0);
    }

    #[test]
    fn decimals_are_read_as_written() {
        assert_eq!(decimal(0.1), Some((1, 10)));
        assert_eq!(decimal(0.005), Some((1, 200)));
        assert_eq!(decimal(2.5), Some((5, 2)));
        assert_eq!(decimal(0.0), Some((0, 1)));
        assert_eq!(decimal(1200.0), Some((1200, 1)));
        assert_eq!(decimal(-0.25), Some((-1, 4)));
    }

    #[test]
    fn lower_is_never_above() {
        let scale = Scale::new(3.0, 0, 0);
        for cost in 1..100 {
            assert!(scale.lower(cost) <= scale.objective(cost));
        }
    }

    #[test]
    fn a_bound_that_is_read_back_is_never_above() {
        for (units, offset) in [(3.0, 0), (1e-3, -70), (2f64.powi(52), 1 << 40), (7e16, 12345)] {
            let scale = Scale::new(units, offset, 0);
            for cost in (0..100).map(|step| step * step * step * 1_000_003) {
                let back = scale.cost_above(scale.lower(cost));
                assert!(back <= cost && cost - back <= 3 + cost.abs() / (1 << 48), "{back} {cost}");
            }
        }
    }
}
