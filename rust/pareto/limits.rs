//! Limits on sums of integers: each row adds what its class and its label say.

use crate::cost::{Cost, MAX_TOTAL, decimal};
use crate::task::ClassCosts;

/// Above every sum; where nothing is limited from above, or, with a minus, from below.
pub const MOST_SUM: i64 = 1 << 60;

/// Units in a value of 1, as a fraction.
pub type Unit = (i64, i64);

/// low ≤ Σ over rows of `adds[class][label]` ≤ high.
#[derive(Debug, Clone)]
pub struct Limit {
    pub name: String,
    /// By class and label, for a unit of weight.
    pub adds: Vec<i64>,
    pub low: i64,
    pub high: i64,
    pub unit: Unit,
    /// The least and the largest value that are allowed; infinite where none is not.
    pub least: f64,
    pub most: f64,
}

/// The most units that are within a value: of the decimal as it is written, or, where that is too
/// long to be meant, of the float that it is.
pub fn whole_part((up, down): Unit, value: f64) -> i64 {
    let whole = match decimal(value) {
        Some((p, q)) => {
            (i128::from(up) * i128::from(p)).div_euclid(i128::from(q) * i128::from(down))
        }
        None => of_float((up, down), value),
    };
    whole.clamp(-i128::from(MAX_TOTAL), i128::from(MAX_TOTAL)) as i64
}

/// As above, of a finite float: its digits times a power of two.
fn of_float((up, down): Unit, value: f64) -> i128 {
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let digits = (bits & ((1 << 52) - 1)) | if exponent > 0 { 1 << 52 } else { 0 };
    let digits = digits as i128 * if value < 0.0 { -1 } else { 1 };
    let shift = exponent.max(1) - 1075;
    let product = i128::from(up) * digits;
    match shift {
        // More than any sum, whatever the unit is.
        64.. => digits.signum() * i128::from(i64::MAX),
        0.. => {
            let power = 1i128 << shift;
            let most = i128::MAX / power;
            if product.abs() > most {
                return digits.signum() * i128::from(i64::MAX);
            }
            (product * power).div_euclid(i128::from(down))
        }
        // 2⁵³ digits of a unit of 2⁶² are below 2¹²⁶.
        _ if shift <= -126 => product.signum().min(0),
        _ => (product >> -shift).div_euclid(i128::from(down)),
    }
}

/// The largest sum that stands for less than a value.
pub fn highest_below(unit: Unit, value: f64) -> i64 {
    let excluded = |&sum: &i64| value_of(unit, sum) >= value;
    // Less than an ulp of the value away.
    let mut sum = whole_part(unit, value).saturating_add(1);
    while excluded(&sum) && sum > -MOST_SUM {
        sum -= 1;
    }
    sum
}

fn value_of((up, down): Unit, sum: i64) -> f64 {
    // A unit is a whole number, or a power of two below 1.
    if down == 1 { sum as f64 / up as f64 } else { sum as f64 * down as f64 }
}

impl Limit {
    /// A sum of at most `high`; a share of 1 is `unit`.
    pub fn at_most(name: &str, adds: Vec<i64>, high: i64, unit: i64) -> Limit {
        let (least, most) = (f64::NEG_INFINITY, high as f64 / unit as f64);
        let unit = (unit, 1);
        Limit { name: name.to_string(), adds, low: -MOST_SUM, high, unit, least, most }
    }

    /// By how much a sum breaks the limit.
    pub fn excess(&self, sum: i64) -> i64 {
        (sum - self.high).max(self.low - sum).max(0)
    }

    /// By how much the value is beyond what is allowed.
    pub fn violation(&self, sum: i64) -> f64 {
        if sum > self.high {
            return self.value(sum) - self.most;
        }
        if sum < self.low { self.least - self.value(sum) } else { 0.0 }
    }

    /// The limit that allows so much more, as it would be if it were given like that.
    pub fn loosened(&self, by: f64) -> Limit {
        let (least, most) = (self.least - by, self.most + by);
        let high = |most: f64| match most == f64::INFINITY {
            true => MOST_SUM,
            false => whole_part(self.unit, most),
        };
        Limit { low: -high(-least), high: high(most), least, most, ..self.clone() }
    }

    /// The limit of all sums whose violation is less.
    pub fn violated_below(&self, violation: f64) -> Limit {
        // The violation may be one of another limit, whose sums are larger.
        let room = MOST_SUM as f64;
        let units = |value: f64| {
            (value * self.unit.0 as f64 / self.unit.1 as f64).clamp(-room, room) as i64
        };
        let mut looser = self.clone();
        if self.most < f64::INFINITY {
            let high = units(self.most + violation) + 2;
            looser.high = high.max(self.high);
            while looser.high > self.high && self.violation(looser.high) >= violation {
                looser.high -= 1;
            }
        }
        if self.least > f64::NEG_INFINITY {
            let low = units(self.least - violation) - 2;
            looser.low = low.min(self.low);
            while looser.low < self.low && self.violation(looser.low) >= violation {
                looser.low += 1;
            }
        }
        looser
    }

    /// The limit that is never broken.
    pub fn unlimited(&self) -> Limit {
        Limit { low: -MOST_SUM, high: MOST_SUM, ..self.clone() }
    }

    /// The share, or the difference of shares, or the total, that a sum stands for.
    pub fn value(&self, sum: i64) -> f64 {
        value_of(self.unit, sum)
    }
}

/// The least and the most that rows of these class weights can add.
pub fn range(limit: &Limit, n_labels: usize, weights: &[i64]) -> (i64, i64) {
    let (mut least, mut most) = (0, 0);
    for (adds, weight) in limit.adds.chunks_exact(n_labels).zip(weights) {
        least += weight * adds.iter().min().copied().unwrap_or(0);
        most += weight * adds.iter().max().copied().unwrap_or(0);
    }
    (least, most)
}

/// The true cost of rows by class and label.
pub fn matrix(classes: &ClassCosts) -> Vec<Cost> {
    let labels = 0..classes.n_labels();
    (0..classes.n_classes())
        .flat_map(|class| labels.clone().map(move |label| classes.cost(class, label)))
        .collect()
}

/// Σ over classes of weight · table[class][label].
pub fn dot(weights: &[i64], table: &[i64], n_labels: usize, label: usize) -> i64 {
    weights.iter().zip(table.chunks_exact(n_labels)).map(|(w, row)| w * row[label]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_and_never_above() {
        assert_eq!(whole_part((10, 1), 0.3), 3);
        assert_eq!(whole_part((10, 1), -0.31), -4);
        assert_eq!(whole_part((1, 4), 11.0), 2);
        assert_eq!(whole_part((1, 4), -11.0), -3);
        let third = 1.0 / 3.0;
        // Its digits and its power of two.
        let by_hand = |unit: i64| (i128::from(unit) * 6_004_799_503_160_661) >> 54;
        for unit in [1, 3, 100, 1 << 40] {
            assert_eq!(of_float((unit, 1), third), by_hand(unit));
            assert_eq!(of_float((unit, 1), 0.5) as i64, unit / 2);
        }
        assert_eq!(of_float((1, 1), -f64::MIN_POSITIVE), -1);
        assert_eq!(of_float((1, 1), f64::MIN_POSITIVE), 0);
        assert_eq!(whole_part((1 << 57, 1), 1e300), MAX_TOTAL);
        assert_eq!(whole_part((1 << 57, 1), -1e300), -MAX_TOTAL);
    }

    #[test]
    fn what_is_excluded_is_no_less() {
        assert_eq!(highest_below((10, 1), 0.3), 2);
        assert_eq!(highest_below((10, 1), 0.0), -1);
        assert_eq!(highest_below((10, 1), -0.3), -4);
    }
}
