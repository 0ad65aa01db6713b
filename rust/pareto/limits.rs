//! Constraints as limits on sums of integers: each row adds what its class and its label say.
//!
//! A share of rows that get a label: Σ over rows of `among` with the label of w / N ≤ limit. A
//! difference of shares: |Σ_a w / N_a − Σ_b w / N_b| ≤ limit, as integers |Σ_a w·N_b − Σ_b w·N_a| ≤
//! limit·N_a·N_b.

use crate::cost::{Cost, MAX_TOTAL, decimal, gcd};
use crate::error::{Error, Result};
use crate::task::{ClassCosts, SHARES};

/// Below every sum.
pub const NO_LIMIT: i64 = -(1 << 60);

/// A constraint as the user states it.
#[derive(Debug, Clone)]
pub struct LimitInput {
    /// Its name in errors.
    pub name: String,
    pub label: u32,
    /// The classes whose rows are counted.
    pub among: Vec<u32>,
    /// The classes whose share is subtracted; none: the share itself is limited from above.
    pub against: Vec<u32>,
    pub most: f64,
    /// True if `most` itself, and all sums that stand for the same float, are excluded.
    pub is_strict: bool,
}

/// low ≤ Σ over rows of `adds[class][label]` ≤ high.
#[derive(Debug, Clone)]
pub struct Limit {
    pub name: String,
    /// By class and label, for a unit of weight.
    pub adds: Vec<i64>,
    pub low: i64,
    pub high: i64,
    /// Units in a share of 1.
    pub unit: i64,
    /// The largest share that is allowed.
    pub most: f64,
}

impl LimitInput {
    /// The sides that are compared, or the one.
    pub fn sides(&self) -> impl Iterator<Item = &[u32]> {
        [&self.among[..], &self.against].into_iter().filter(|side| !side.is_empty())
    }

    /// Of classes that hold shares of each side in units of 1/`SHARES`, the first of them `first`;
    /// `off`: by how many units each may be off. The limit is looser by that, so that every tree
    /// that truly keeps it does.
    pub fn build_shares(
        &self,
        first: usize,
        off: &[i64],
        totals: &[i64],
        n_labels: usize,
    ) -> Result<Limit> {
        self.check(n_labels)?;
        let n_sides = self.sides().count();
        if n_sides == 0 || (first..first + n_sides).any(|class| totals[class] == 0) {
            return Err(self.is_empty());
        }
        let mut adds = vec![0; totals.len() * n_labels];
        for side in 0..n_sides {
            adds[(first + side) * n_labels + self.label as usize] = [1, -1][side];
        }
        let high = self.highest(SHARES, off.iter().sum());
        let low = if self.against.is_empty() { NO_LIMIT } else { -high };
        Ok(Limit { name: self.name.clone(), adds, low, high, unit: SHARES, most: self.most })
    }

    fn check(&self, n_labels: usize) -> Result<()> {
        if self.label as usize >= n_labels {
            return Err(Error::invalid(format!("{} names unknown classes", self.name)));
        }
        if !(self.most >= 0.0 && self.most.is_finite()) {
            return Err(Error::invalid(format!("{}: {} is no limit", self.name, self.most)));
        }
        Ok(())
    }

    /// The largest sum that is allowed, where a share of 1 is `unit` and sums may be `off` by so
    /// much.
    ///
    /// A strict limit is taken literally, and not loosened, because a frontier asks with it for
    /// trees beyond the last one: of a sum s that was attained, `most` is the float s / unit, and
    /// since that division never falls when s rises, the largest sum that stands for less is below
    /// s. So every step excludes at least the sum that the step before found, there are finitely
    /// many sums, and the frontier ends.
    fn highest(&self, unit: i64, off: i64) -> i64 {
        let high = share_of(unit, self.most);
        if !self.is_strict {
            return high + off;
        }
        // Less than an ulp of `most` away.
        let excluded = |&sum: &i64| sum as f64 / unit as f64 >= self.most;
        let mut sums = (-1..=high.saturating_add(1)).rev();
        sums.find(|sum| !excluded(sum)).unwrap_or(-1)
    }

    fn is_empty(&self) -> Error {
        Error::invalid(format!("{}: no row counts in one of its groups", self.name))
    }

    pub fn build(&self, classes: &ClassCosts, totals: &[i64]) -> Result<Limit> {
        let (k, n_labels) = (classes.n_classes(), classes.n_labels());
        self.check(n_labels)?;
        if self.sides().flatten().any(|&class| class as usize >= k) {
            return Err(Error::invalid(format!("{} names unknown classes", self.name)));
        }
        let total = |list: &[u32]| list.iter().map(|&class| totals[class as usize]).sum::<i64>();
        let (a, mut b) = (total(&self.among), total(&self.against));
        if a == 0 || (b == 0 && !self.against.is_empty()) {
            return Err(self.is_empty());
        }
        if self.against.is_empty() {
            b = 1;
        }
        let common = gcd(a, b);
        let (a, b) = (a / common, b / common);
        let too_far = || {
            Error::invalid(format!(
                "{}: the weights of its groups are too large to be compared exactly; round the \
                 sample weights",
                self.name
            ))
        };
        let unit = a.checked_mul(b).and_then(|unit| unit.checked_mul(common));
        let unit = unit.filter(|&unit| unit <= MAX_TOTAL).ok_or_else(too_far)?;
        let high = self.highest(unit, 0);
        let mut adds = vec![0; k * n_labels];
        for &class in &self.among {
            adds[class as usize * n_labels + self.label as usize] += b;
        }
        for &class in &self.against {
            adds[class as usize * n_labels + self.label as usize] -= a;
        }
        let low = if self.against.is_empty() { NO_LIMIT } else { -high };
        Ok(Limit { name: self.name.clone(), adds, low, high, unit, most: self.most })
    }
}

/// The most units that are within a share: of the decimal as it is written, or, where that is too
/// long to be meant, of the float that it is.
fn share_of(unit: i64, share: f64) -> i64 {
    let high = match decimal(share) {
        Some((p, q)) => i128::from(unit) * i128::from(p) / i128::from(q),
        // A float between 0 and 1 is a whole number of 2⁻¹⁰⁷⁴, and its digits are 53 bits.
        None => {
            let shift = 60 - share.log2().ceil().clamp(-900.0, 0.0) as i32;
            let digits = (share * f64::from(shift).exp2()) as i128;
            let product = i128::from(unit) * digits;
            if shift < 127 { product >> shift } else { 0 }
        }
    };
    high.min(i128::from(MAX_TOTAL)) as i64
}

impl Limit {
    /// A sum of at most `high`; a share of 1 is `unit`.
    pub fn at_most(name: &str, adds: Vec<i64>, high: i64, unit: i64) -> Limit {
        let most = high as f64 / unit as f64;
        Limit { name: name.to_string(), adds, low: NO_LIMIT, high, unit, most }
    }

    /// By how much a sum breaks the limit.
    pub fn excess(&self, sum: i64) -> i64 {
        (sum - self.high).max(self.low - sum).max(0)
    }

    /// By how much the share is beyond what is allowed.
    pub fn violation(&self, sum: i64) -> f64 {
        let share = if self.low == NO_LIMIT { self.value(sum) } else { self.value(sum).abs() };
        if self.excess(sum) > 0 { share - self.most } else { 0.0 }
    }

    /// The limit that allows so much more, as it would be if it were given like that.
    pub fn loosened(&self, by: f64) -> Limit {
        let most = self.most + by;
        let high = share_of(self.unit, most);
        let low = if self.low == NO_LIMIT { NO_LIMIT } else { -high };
        Limit { low, high, most, ..self.clone() }
    }

    /// The limit of all sums whose violation is less.
    pub fn violated_below(&self, violation: f64) -> Limit {
        let mut high = ((self.most + violation) * self.unit as f64) as i64 + 2;
        while high > self.high && self.violation(high) >= violation {
            high -= 1;
        }
        let low = if self.low == NO_LIMIT { NO_LIMIT } else { -high };
        Limit { low, high, ..self.clone() }
    }

    /// The share, or the difference of shares, that a sum stands for.
    pub fn value(&self, sum: i64) -> f64 {
        sum as f64 / self.unit as f64
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
