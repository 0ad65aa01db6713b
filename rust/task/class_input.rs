//! A classification problem on its way to integer units.
//!
//! **Counts stay counts.** Where weights are whole numbers of one unit, rows are counted, whatever
//! the other numbers are: class factors and costs make a matrix of whole numbers, and the penalty a
//! whole number of the same unit. What is no short decimal is rounded down, in a unit so fine that
//! this is nothing: then no tree costs more in units than it truly does, and what a tree that was
//! found costs is computed again (`stated.rs`).

use std::sync::Arc;

use super::class_costs::ClassCosts;
use super::feature_costs::{self, FeatureCosts};
use super::feature_costs::{FeatureCost, FeatureCostList};
use super::rows::RowCosts;
use super::rows::Weighed;
use super::scaled::{Scaled, check_penalty};
use super::stated::{StatedClasses, Weights};
use super::whole_numbers::integers;
use crate::cost::{Cost, MAX_TOTAL, Scale, decimal, gcd, lcm, sum};
use crate::error::{Error, Result};
use crate::exact::Ratio;

/// A classification problem as the user states it.
#[derive(Debug, Clone)]
pub struct ClassInput {
    pub n_classes: usize,
    pub n_labels: usize,
    /// Row weight by point and class, point-major.
    pub weights: Vec<f64>,
    /// Cost of answering label k for class c, class-major.
    pub costs: Vec<f64>,
    /// A factor on each class: on its costs and on its share of the total weight.
    pub class_weights: Vec<f64>,
    /// Also divide each class's factor by the class's total weight, so that all classes count the
    /// same.
    pub balanced: bool,
    pub leaf_penalty: f64,
}

impl ClassInput {
    /// Exact integers where the numbers allow it, else costs by point, each rounded once.
    pub fn build(&self) -> Result<Scaled> {
        self.build_with(&FeatureCostList::default())
    }

    /// As above, where rows pay for the columns that they are asked for, in the unit of costs. A
    /// class's factor is on what its rows pay, too.
    pub fn build_with(&self, feature_costs: &FeatureCostList) -> Result<Scaled> {
        self.validate()?;
        feature_costs.validate(self.weights.len() / self.n_classes, self.n_classes)?;
        let free = FeatureCostList::default();
        let feature_costs = if feature_costs.is_free() { &free } else { feature_costs };
        // Prices by row are sums of points, as costs by row are.
        match feature_costs.has_row_prices() {
            true => self.rounded(feature_costs),
            false => self.exact(feature_costs).map_or_else(|| self.rounded(feature_costs), Ok),
        }
    }

    pub(super) fn validate(&self) -> Result<()> {
        let bad = |v: &f64| !v.is_finite();
        if self.n_classes == 0 || self.n_labels == 0 {
            return Err(Error::invalid("there must be at least one class and one label"));
        }
        let (k, l) = (self.n_classes, self.n_labels);
        if self.costs.len() != k * l
            || self.class_weights.len() != k
            || !self.weights.len().is_multiple_of(k)
        {
            return Err(Error::invalid(format!(
                "{} costs, {} class weights and {} weights do not make {k} classes and {l} labels",
                self.costs.len(),
                self.class_weights.len(),
                self.weights.len()
            )));
        }
        if self.weights.iter().any(|w| bad(w) || *w < 0.0) {
            return Err(Error::invalid("weights must be finite and not negative"));
        }
        if self.class_weights.iter().any(|w| bad(w) || *w < 0.0) {
            return Err(Error::invalid("class weights must be finite and not negative"));
        }
        if self.costs.iter().any(bad) {
            return Err(Error::invalid("costs must be finite"));
        }
        check_penalty(self.leaf_penalty)?;
        if !self.weights.iter().any(|&w| w > 0.0) {
            return Err(Error::invalid("the total weight must be positive"));
        }
        Ok(())
    }

    /// In counts of rows, where weights are whole numbers of one unit.
    fn exact(&self, feature_costs: &FeatureCostList) -> Option<Scaled> {
        let counted = Counted::of(&self.weights, self.n_classes)?;
        let matrix =
            self.whole(&counted, feature_costs).or_else(|| self.fine(&counted, feature_costs))?;
        let Matrix { costs, of_class, tests, units, leaf_cost, offset, worst, exact } = matrix;
        let Counted { weights, per_weight, off, .. } = counted;
        let mass = |point: &[i64]| point.iter().zip(&of_class).map(|(w, unit)| w * unit).sum();
        let masses = || weights.chunks_exact(self.n_classes).map(mass).collect();
        let paid = (!feature_costs.is_free()).then(|| FeatureCosts {
            masses: masses(),
            n_masses: 1,
            is_ordered: true,
            tests,
            of_column: feature_costs.of_column.clone(),
            of_class: of_class.clone(),
        });
        // Shares of the total are off by twice what weights are, and so is each of the two sums
        // that make a cost.
        let moved = 4.0 * off * (worst as f64 + (offset as f64).abs());
        let slack = if exact && off == 0.0 { 0 } else { 1 + moved.ceil() as Cost };
        // No bound falls below the offset, whatever the slack is.
        let offset = offset - (4.0 * off * (offset as f64).abs()).ceil() as i128;
        let given = match off == 0.0 {
            true => Weights::Whole(weights.clone(), per_weight as i64),
            false => Weights::Stored(self.weights.clone().into()),
        };
        let shape = (self.n_classes, self.n_labels);
        Some(Scaled {
            task: Box::new(ClassCosts::new(shape, weights, per_weight, costs)),
            leaf_cost,
            scale: Scale::new(units, offset, slack),
            feature_costs: paid,
            stated: Some(Arc::new(self.stated(given, feature_costs))),
        })
    }

    fn stated(&self, weights: Weights, feature_costs: &FeatureCostList) -> StatedClasses {
        let factors = (&self.class_weights[..], self.balanced);
        StatedClasses::new(weights, &self.costs, factors, self.leaf_penalty, feature_costs)
    }

    /// Costs and class factors that are short decimals, and nothing of them rounded; of the penalty
    /// only where it must be.
    fn whole(&self, counted: &Counted, feature_costs: &FeatureCostList) -> Option<Matrix> {
        let (k, l) = (self.n_classes, self.n_labels);
        let totals = &counted.totals;
        // Costs of errors and of features are added: one denominator for both.
        let added = [&self.costs[..], &feature_costs::numbers(&feature_costs.tests)].concat();
        let (mut costs, cost_denominator) = integers(&added)?;
        let tests = feature_costs::from_numbers(&feature_costs.tests, &costs.split_off(k * l));
        let factors = self.whole_factors(totals)?;
        let mut total = 0i64;
        for (f, t) in factors.iter().zip(totals) {
            total = total.checked_add(f.checked_mul(*t)?)?;
        }
        // objective = cost / (cost_denominator · total) + λ · leaves, before λ's own denominator.
        let base = cost_denominator.checked_mul(total)?;
        if base == 0 {
            return None;
        }
        let most_spent = FeatureCosts::most(&tests)?;
        let (mut offset, mut worst) = (0i64, 0i64);
        for c in 0..k {
            let row = &mut costs[c * l..(c + 1) * l];
            let least = *row.iter().min()?;
            offset = offset.checked_add(least.checked_mul(factors[c])?.checked_mul(totals[c])?)?;
            for cost in row.iter_mut() {
                *cost = cost.checked_sub(least)?.checked_mul(factors[c])?;
            }
            let spent = most_spent.checked_mul(factors[c])?;
            let most = row.iter().max()?.checked_add(spent)?;
            worst = worst.checked_add(most.checked_mul(totals[c])?)?;
        }
        let (mut up, mut leaf_cost, exact) = finer(self.leaf_penalty, base, worst)?;
        if counted.off > 0.0 {
            // What is rounded already is charged in whole units, which are to be small.
            let times = MAX_TOTAL / 2 / (base * up).max(worst * up).max(leaf_cost);
            (up, leaf_cost) = (up * times.max(1), leaf_cost * times.max(1));
        }
        let times = |x: i64| x.checked_mul(up);
        let costs = costs.into_iter().map(times).collect::<Option<Vec<_>>>()?;
        Some(Matrix {
            costs,
            of_class: factors.into_iter().map(times).collect::<Option<_>>()?,
            tests,
            units: times(base)? as f64,
            leaf_cost,
            offset: i128::from(offset) * i128::from(up),
            worst: times(worst)?,
            exact,
        })
    }

    /// Class factors as whole numbers with nothing in common.
    fn whole_factors(&self, totals: &[i64]) -> Option<Vec<i64>> {
        // Fractions a/b, over one denominator.
        let mut factors = Vec::with_capacity(totals.len());
        for (&weight, &total) in self.class_weights.iter().zip(totals) {
            let (a, mut b) = decimal(weight)?;
            if self.balanced {
                b = b.checked_mul(total.max(1))?;
            }
            factors.push((a, b));
        }
        let common = factors.iter().try_fold(1, |m, &(_, b)| lcm(m, b))?;
        let factors: Vec<i64> =
            factors.iter().map(|&(a, b)| a.checked_mul(common / b)).collect::<Option<_>>()?;
        let share = factors.iter().filter(|&&f| f != 0).fold(0, |g, &f| match g {
            0 => f,
            _ => gcd(g, f),
        });
        Some(factors.iter().map(|f| f / share.max(1)).collect())
    }

    /// Any costs and class factors, each rounded down once; `None` where that is more than nothing.
    fn fine(&self, counted: &Counted, feature_costs: &FeatureCostList) -> Option<Matrix> {
        let (k, l) = (self.n_classes, self.n_labels);
        let rows: i64 = counted.totals.iter().sum();
        if !feature_costs.is_free() || k * l > MOST_RATES || rows > MOST_ROUNDED {
            return None;
        }
        let totals: Vec<Ratio> = counted.totals.iter().map(|&total| Ratio::from(total)).collect();
        let factor = |(&weight, total): (&f64, &Ratio)| {
            let weight = Ratio::written(weight);
            if self.balanced && !total.is_zero() { weight.over(total) } else { weight }
        };
        let factors: Vec<Ratio> = self.class_weights.iter().zip(&totals).map(factor).collect();
        let zero = Ratio::zero;
        let normalizer =
            factors.iter().zip(&totals).fold(zero(), |sum, (f, total)| &sum + &(f * total));
        if normalizer.is_zero() {
            return None;
        }
        let (mut rates, mut worst, mut unavoidable) = (Vec::with_capacity(k * l), zero(), zero());
        for c in 0..k {
            let row: Vec<Ratio> =
                self.costs[c * l..(c + 1) * l].iter().map(|&cost| Ratio::written(cost)).collect();
            let (least, most) = (row.iter().min()?, row.iter().max()?);
            let weight = &factors[c] * &totals[c];
            worst = &worst + &(&(most - least) * &weight);
            unavoidable = &unavoidable + &(least * &weight);
            rates.extend(row.iter().map(|cost| &(cost - least) * &factors[c]));
        }
        let paid = &Ratio::written(self.leaf_penalty) * &normalizer;
        let largest =
            [&worst, &normalizer, &paid].map(Ratio::nearest).into_iter().fold(0.0, f64::max);
        let places = ((MAX_TOTAL / 4) as f64 / largest).log2().floor();
        if places.is_nan() || places.abs() >= 900.0 {
            return None;
        }
        let unit = Ratio::stored(places.exp2());
        let floor = |x: &Ratio| (x * &unit).floor();
        let narrow = |x: &Ratio| floor(x).and_then(|x| Cost::try_from(x).ok());
        Some(Matrix {
            costs: rates.iter().map(narrow).collect::<Option<_>>()?,
            of_class: vec![0; k],
            tests: Vec::new(),
            units: (&normalizer * &unit).nearest(),
            leaf_cost: narrow(&paid)?,
            offset: floor(&unavoidable)?,
            worst: narrow(&worst)?,
            exact: false,
        })
    }

    /// By class: the factor on its rows, which is divided by their weight if classes are balanced,
    /// and that weight.
    pub fn factors(&self) -> (Vec<f64>, Vec<f64>) {
        let of = |class| self.weights.iter().skip(class).step_by(self.n_classes).copied();
        let totals: Vec<f64> = (0..self.n_classes).map(|class| sum(of(class))).collect();
        let mut factors = self.class_weights.clone();
        if self.balanced {
            for (factor, &total) in factors.iter_mut().zip(&totals) {
                *factor /= if total > 0.0 { total } else { 1.0 };
            }
        }
        (factors, totals)
    }

    /// Costs by point in real numbers: label k costs a point Σ_c weight · factor · M[c][k].
    pub(super) fn real(&self) -> Result<Real> {
        let (k, l) = (self.n_classes, self.n_labels);
        let (factors, totals) = self.factors();
        let normalizer = sum(factors.iter().zip(&totals).map(|(f, t)| f * t));
        if normalizer <= 0.0 {
            return Err(Error::invalid("the total class weight of the rows must be positive"));
        }
        let mut costs = Vec::with_capacity(self.weights.len() / k * l);
        for point in self.weights.chunks_exact(k) {
            for label in 0..l {
                costs.push((0..k).map(|c| point[c] * factors[c] * self.costs[c * l + label]).sum());
            }
        }
        // Each product and sum above rounds, and so do the factors and the normalizer.
        let largest =
            |c: usize| self.costs[c * l..(c + 1) * l].iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let size: f64 = (0..k).map(|c| totals[c] * factors[c] * largest(c)).sum();
        Ok(Real { costs, factors, normalizer, size, rounding: (k + 12) as f64 * f64::EPSILON })
    }

    fn rounded(&self, feature_costs: &FeatureCostList) -> Result<Scaled> {
        let (k, l) = (self.n_classes, self.n_labels);
        let Real { costs, factors, normalizer, size, rounding } = self.real()?;
        let paying = &feature_costs.by_point(&factors);
        let spent = paying.everything(normalizer);
        let error = (size + spent) * rounding;
        let shown = Some((k, self.weights.as_slice()));
        let weigh = |point: &[f64]| point.iter().zip(&factors).map(|(w, f)| w * f).sum();
        let weights: Vec<f64> = self.weights.chunks_exact(k).map(weigh).collect();
        let weighed =
            Weighed { costs: &costs, error, normalizer, weights: &weights, feature_costs: paying };
        let scaled = RowCosts::build_weighed(l, weighed, self.leaf_penalty, shown)?;
        // Costs by point were rounded already: the caller gave weights.
        let stated = self.stated(Weights::Stored(self.weights.clone().into()), feature_costs);
        Ok(Scaled { stated: Some(Arc::new(stated)), ..scaled })
    }
}

/// The largest number of rates that are rounded in fractions.
const MOST_RATES: usize = 1 << 16;

/// The most units of weight that a rate which is rounded may be for: each costs a unit of 2⁻⁵⁶ of
/// the total at most.
const MOST_ROUNDED: i64 = 1 << 17;

/// Costs by class and label in integer units.
struct Matrix {
    /// Less the least of their class, which is in the offset.
    costs: Vec<Cost>,
    /// By class: units for each unit of weight and unit of feature costs.
    of_class: Vec<Cost>,
    tests: Vec<FeatureCost>,
    units: f64,
    leaf_cost: Cost,
    offset: i128,
    /// The most that any answers cost.
    worst: Cost,
    exact: bool,
}

/// How many times finer the unit must be for the penalty, the penalty in that unit, and whether
/// that is exact: if not, it is rounded down, in the finest unit that there is room for. `base`:
/// units in an objective of 1; `worst`: in all losses.
fn finer(leaf_penalty: f64, base: i64, worst: i64) -> Option<(i64, Cost, bool)> {
    let exact = decimal(leaf_penalty).and_then(|(p, q)| {
        let common = gcd(q, base);
        let (up, leaf_cost) = (q / common, p.checked_mul(base / common)?);
        let fits = |x: i64| x.checked_mul(up).is_some_and(|x| x <= MAX_TOTAL);
        (fits(base) && fits(worst) && leaf_cost <= MAX_TOTAL).then_some((up, leaf_cost, true))
    });
    exact.or_else(|| {
        let leaf = (base as f64 * leaf_penalty).min(MAX_TOTAL as f64).ceil() as i64;
        let up = MAX_TOTAL / 2 / base.max(worst).max(leaf);
        let leaf_cost = &Ratio::written(leaf_penalty) * &Ratio::from(base.checked_mul(up)?);
        let leaf_cost = Cost::try_from(leaf_cost.floor()?).ok()?;
        (up > 0 && leaf_cost <= MAX_TOTAL).then_some((up, leaf_cost, false))
    })
}

/// Weights by point and class as whole numbers of one unit.
struct Counted {
    weights: Arc<[i64]>,
    /// Units in a weight of 1.
    per_weight: f64,
    /// By class.
    totals: Vec<i64>,
    /// What part of a class's weight all its units may be off by; 0 where nothing is rounded.
    off: f64,
}

impl Counted {
    fn of(given: &[f64], n_classes: usize) -> Option<Counted> {
        let (weights, per_weight, exact) = match integers(given) {
            Some((weights, denominator)) => (weights, denominator as f64, true),
            None => {
                let (weights, unit) = multiples(given)?;
                (weights, 1.0 / unit, false)
            }
        };
        let mut totals = vec![0i64; n_classes];
        for point in weights.chunks_exact(n_classes) {
            for (total, w) in totals.iter_mut().zip(point) {
                *total = total.checked_add(*w)?;
            }
        }
        let mut off = 0.0;
        if !exact {
            let unit = 1.0 / per_weight;
            for (class, &total) in totals.iter().enumerate().filter(|(_, total)| **total > 0) {
                let own = (class..given.len()).step_by(n_classes);
                // And by what floats round here.
                let moved = own.map(|at| {
                    let whole = weights[at] as f64 * unit;
                    (given[at] - whole).abs() + 4.0 * f64::EPSILON * whole
                });
                off = f64::max(off, moved.sum::<f64>() / (total as f64 * unit) * (1.0 + 1e-9));
            }
        }
        // What is more than a few roundings is no multiple.
        (off < 1e-12).then(|| Counted { weights: weights.into(), per_weight, totals, off })
    }
}

/// No more units than this in a weight: then sums of rounded multiples are told from others.
const MOST_MULTIPLE: f64 = (1u64 << 24) as f64;

/// The weights in a unit that all are whole multiples of, up to a few roundings, and the unit: 1/7
/// for 2/7 and 3/7.
fn multiples(weights: &[f64]) -> Option<(Vec<i64>, f64)> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let least = largest / MOST_MULTIPLE;
    if !least.is_normal() {
        return None;
    }
    let mut unit = largest;
    for &weight in weights.iter().filter(|&&weight| weight > 0.0) {
        if weight < least {
            return None;
        }
        let (mut a, mut b) = (unit, weight);
        // What is left is a multiple, too, or what roundings made.
        while b > least / 4.0 {
            let rest = (a - (a / b).round() * b).abs();
            (a, b) = (b, rest);
        }
        if a < least {
            return None;
        }
        // Each step enlarges what was rounded: the unit is known best from the largest weight.
        unit = largest / (largest / a).round();
    }
    let near = |weight: f64| {
        let times = weight / unit;
        // The unit carries what its search has rounded; how far the multiples are off is for the
        // caller to judge.
        ((times - times.round()).abs() <= 1e-2).then_some(times.round() as i64)
    };
    let whole: Vec<i64> = weights.iter().map(|&weight| near(weight)).collect::<Option<_>>()?;
    // From all together the unit is known best.
    let total: f64 = whole.iter().map(|&w| w as f64).sum();
    Some((whole, sum(weights.iter().copied()) / total))
}

/// Costs in real numbers.
pub(super) struct Real {
    /// By point and label.
    pub(super) costs: Vec<f64>,
    /// By class.
    pub(super) factors: Vec<f64>,
    pub(super) normalizer: f64,
    /// What all costs add up to at most, and what part of it roundings do.
    pub(super) size: f64,
    pub(super) rounding: f64,
}
