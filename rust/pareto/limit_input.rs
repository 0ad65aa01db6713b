//! Constraints as the user states them, and how they become limits on sums of integers.
//!
//! Everything that can be required is one form: least ≤ Σ over terms of factor · weight / whole ≤
//! most, where each term counts the weight of classes that are given labels. A share of rows that
//! get a label: weight / N ≤ limit. A difference of shares: −limit ≤ a / N_a − b / N_b ≤ limit. A
//! share that is at least r times another: 0 ≤ a / N_a − r · b / N_b. A budget: Σ of prices of rows
//! that get a label ≤ limit, where the price is the weight of a class of its own.
//!
//! Times the least common denominator, all of this is whole.

use super::limits::{Limit, MOST_SUM, Unit, highest_below, whole_part};
use crate::cost::{MAX_TOTAL, decimal, gcd, lcm, sum};
use crate::error::{Error, Result};
use crate::task::SHARES;

/// A constraint as the user states it.
#[derive(Debug, Clone)]
pub struct LimitInput {
    /// Its name in errors.
    pub name: String,
    pub terms: Vec<Term>,
    /// Infinite where there is no such limit.
    pub least: f64,
    pub most: f64,
    /// True if `least` and `most` themselves, and all sums that stand for the same float, are
    /// excluded.
    pub is_strict: bool,
}

/// factor · weight / whole.
#[derive(Debug, Clone)]
pub struct Term {
    /// (class, label): the weight of this class counts where it is given this label.
    pub counts: Vec<(u32, u32)>,
    /// The classes whose weight is the whole; none: 1.
    pub of: Vec<u32>,
    pub factor: f64,
}

/// What a limit counts of one label, to be rounded on its own.
pub struct Side<'a> {
    pub term: &'a Term,
    pub label: u32,
    pub classes: Vec<u32>,
}

/// By point what the sides of limits weigh, and for each side what a weight of 1 counts.
pub struct Sides {
    pub n: usize,
    pub weights: Vec<f64>,
    pub per_weight: Vec<f64>,
    units: Vec<Unit>,
}

impl Term {
    /// The share of these classes that is given a label.
    pub fn share(classes: &[u32], label: u32, factor: f64) -> Term {
        let counts = classes.iter().map(|&class| (class, label)).collect();
        Term { counts, of: classes.to_vec(), factor }
    }

    fn sides(&self) -> Vec<Side<'_>> {
        let mut labels: Vec<u32> = self.counts.iter().map(|&(_, label)| label).collect();
        labels.sort_unstable();
        labels.dedup();
        let of = |label| {
            let own = self.counts.iter().filter(move |count| count.1 == label);
            Side { term: self, label, classes: own.map(|&(class, _)| class).collect() }
        };
        labels.into_iter().map(of).collect()
    }
}

impl LimitInput {
    /// The share of rows of these classes that get the label is at most `most`; or, with `against`,
    /// it differs from the share of those by at most so much.
    pub fn of_shares(
        name: String,
        label: u32,
        among: &[u32],
        against: &[u32],
        most: f64,
    ) -> LimitInput {
        let mut terms = vec![Term::share(among, label, 1.0)];
        let mut least = f64::NEG_INFINITY;
        if !against.is_empty() {
            terms.push(Term::share(against, label, -1.0));
            least = -most;
        }
        LimitInput { name, terms, least, most, is_strict: false }
    }

    /// The limit on classes that each come so many places later.
    pub fn shifted(&self, by: u32) -> LimitInput {
        let shift = |term: &Term| Term {
            counts: term.counts.iter().map(|&(class, label)| (class + by, label)).collect(),
            of: term.of.iter().map(|class| class + by).collect(),
            factor: term.factor,
        };
        LimitInput { terms: self.terms.iter().map(shift).collect(), ..self.clone() }
    }

    pub fn sides(&self) -> Vec<Side<'_>> {
        self.terms.iter().flat_map(Term::sides).collect()
    }

    pub fn check(&self, n_classes: usize, n_labels: usize) -> Result<()> {
        let outside = |term: &Term| {
            let of = |&class: &u32| class as usize >= n_classes;
            let counts = |&(class, label): &(u32, u32)| of(&class) || label as usize >= n_labels;
            term.of.iter().any(of) || term.counts.iter().any(counts)
        };
        if self.terms.iter().any(outside) {
            return Err(Error::invalid(format!("{} names unknown classes", self.name)));
        }
        let (least, most) = (self.least, self.most);
        let is_number = least < f64::INFINITY && most > f64::NEG_INFINITY && least <= most;
        if !is_number || self.terms.iter().any(|term| !term.factor.is_finite()) {
            let text = format!("{}: from {least} to {most} is no limit", self.name);
            return Err(Error::invalid(text));
        }
        Ok(())
    }

    /// The limit on weights that are whole numbers, `per_weight` of them in a weight of 1.
    pub fn build(&self, totals: &[i64], n_labels: usize, per_weight: f64) -> Result<Limit> {
        self.check(totals.len(), n_labels)?;
        let mut factors = vec![(0i64, 1i64); totals.len() * n_labels];
        for term in &self.terms {
            let whole = match &term.of[..] {
                [] => per_weight as i64,
                of => of.iter().map(|&class| totals[class as usize]).sum::<i64>(),
            };
            if whole == 0 {
                return Err(self.is_empty());
            }
            let (p, q) = decimal(term.factor).ok_or_else(|| self.is_too_fine())?;
            for &(class, label) in &term.counts {
                let factor = &mut factors[class as usize * n_labels + label as usize];
                let added = q.checked_mul(whole).and_then(|q| add(*factor, (p, q)));
                *factor = added.ok_or_else(|| self.is_too_fine())?;
            }
        }
        let unit = factors.iter().try_fold(1, |unit, &(_, q)| lcm(unit, q));
        let unit = unit.filter(|&unit| unit <= MAX_TOTAL).ok_or_else(|| self.is_too_fine())?;
        let times = |&(p, q): &(i64, i64)| p.checked_mul(unit / q);
        let adds: Option<Vec<i64>> = factors.iter().map(times).collect();
        let adds = adds.ok_or_else(|| self.is_too_fine())?;
        let most = |(row, &total): (&[i64], &i64)| {
            row.iter().map(|&add| i128::from(add).abs()).max().unwrap_or(0) * i128::from(total)
        };
        let reach: i128 = adds.chunks_exact(n_labels).zip(totals).map(most).sum();
        if reach > i128::from(MAX_TOTAL) {
            return Err(self.is_too_fine());
        }
        Ok(self.within(adds, (unit, 1), 0))
    }

    /// The limit on classes that hold the sides, each rounded, the first of them `first`; `off`: by
    /// how many units each side may be off. The limit is looser by that, so that every tree that
    /// truly keeps it does.
    pub fn build_rounded(
        &self,
        first: usize,
        off: &[i64],
        unit: Unit,
        (n_classes, n_labels): (usize, usize),
    ) -> Limit {
        let mut adds = vec![0; n_classes * n_labels];
        for (place, side) in self.sides().iter().enumerate() {
            let sign = if side.term.factor < 0.0 { -1 } else { 1 };
            adds[(first + place) * n_labels + side.label as usize] = sign;
        }
        self.within(adds, unit, off.iter().sum())
    }

    /// A strict limit is taken literally, and not loosened, because a frontier asks with it for
    /// trees beyond the last one: of a sum s that was attained, `most` is the float s / unit, and
    /// since that division never falls when s rises, the largest sum that stands for less is below
    /// s. So every step excludes at least the sum that the step before found, there are finitely
    /// many sums, and the frontier ends.
    fn within(&self, adds: Vec<i64>, unit: Unit, off: i64) -> Limit {
        let high = |most: f64| match self.is_strict {
            _ if most == f64::INFINITY => MOST_SUM,
            true => highest_below(unit, most),
            false => whole_part(unit, most) + off,
        };
        let (low, high) = (-high(-self.least), high(self.most));
        let (least, most) = (self.least, self.most);
        Limit { name: self.name.clone(), adds, low, high, unit, least, most }
    }

    fn is_empty(&self) -> Error {
        Error::invalid(format!("{}: no row counts in one of its groups", self.name))
    }

    fn is_too_fine(&self) -> Error {
        Error::invalid(format!(
            "{}: the weights of its groups, or the numbers that it sums, are too large to be \
             compared exactly; round them",
            self.name
        ))
    }
}

impl Sides {
    /// The sides of limits on `n` classes, which weigh `weights` by point.
    pub fn of(limits: &[LimitInput], n: usize, n_labels: usize, weights: &[f64]) -> Result<Sides> {
        limits.iter().try_for_each(|limit| limit.check(n, n_labels))?;
        let total = |class: &u32| sum(weights.iter().skip(*class as usize).step_by(n).copied());
        let totals: Vec<f64> = (0..n as u32).map(|class| total(&class)).collect();
        let total = |classes: &[u32]| sum(classes.iter().map(|&class| totals[class as usize]));
        let sides: Vec<Vec<Side>> = limits.iter().map(LimitInput::sides).collect();
        let (mut per_weight, mut units) = (Vec::new(), Vec::new());
        for (limit, sides) in limits.iter().zip(&sides) {
            if limit.terms.iter().any(|term| !term.of.is_empty() && total(&term.of) == 0.0) {
                return Err(limit.is_empty());
            }
            let factor = |side: &Side| match &side.term.of[..] {
                [] => side.term.factor.abs(),
                of => side.term.factor.abs() / total(of),
            };
            let most = sides.iter().map(|side| factor(side) * total(&side.classes));
            let most = most.fold(0.0, f64::max);
            // Where nothing is counted, all sums are 0 in any unit.
            let log = if most > 0.0 { most.log2().ceil() } else { 0.0 };
            let shift = SHARES.ilog2() as i32 - log.clamp(-16.0, 200.0) as i32;
            if shift < -60 {
                return Err(limit.is_too_fine());
            }
            units.push((1i64 << shift.max(0), 1i64 << (-shift).max(0)));
            let unit = f64::from(shift).exp2();
            per_weight.extend(sides.iter().map(|side| factor(side) * unit));
        }
        let all: Vec<&Side> = sides.iter().flatten().collect();
        let weigh = |point: &[f64], side: &Side| {
            sum(side.classes.iter().map(|&class| point[class as usize]))
        };
        let by_point = weights.chunks_exact(n);
        let weights = by_point.flat_map(|point| all.iter().map(move |side| weigh(point, side)));
        let weights = weights.collect();
        Ok(Sides { n: all.len(), weights, per_weight, units })
    }

    /// The limits on `n_classes` classes, of which those behind one for each label hold the sides.
    pub fn limits(
        &self,
        of: &[LimitInput],
        off: &[i64],
        (n_classes, n_labels): (usize, usize),
    ) -> Vec<Limit> {
        let mut side = 0;
        let build = |(limit, &unit): (&LimitInput, &Unit)| {
            let n = limit.sides().len();
            // The classes of labels come first.
            let (first, own) = (n_labels + side, &off[side..side + n]);
            side += n;
            limit.build_rounded(first, own, unit, (n_classes, n_labels))
        };
        of.iter().zip(&self.units).map(build).collect()
    }
}

/// The sum of two fractions, if it fits.
fn add((p, q): (i64, i64), (r, s): (i64, i64)) -> Option<(i64, i64)> {
    let common = lcm(q, s)?;
    let sum = p.checked_mul(common / q)?.checked_add(r.checked_mul(common / s)?)?;
    let divisor = gcd(sum, common);
    Some((sum / divisor, common / divisor))
}
