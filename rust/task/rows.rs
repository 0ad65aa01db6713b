//! Costs by row and label: cost(S, k) = Σ over points of cost[p][k].
//!
//! Policies are this task with costs = −rewards, and so is classification with weights that are not
//! short decimals. Each point's least cost is taken off and kept in the offset, so that what is
//! searched is regret; each regret is rounded once (see `cost.rs`).

use std::sync::Arc;

use super::contract::{Labelled, Structure, Task};
use super::feature_costs::FeatureCostList;
use super::feature_costs::{self, FeatureCost, FeatureCosts};
use super::leaf::Leaf;
use super::scaled::{Scaled, check_penalty};
use super::stated::Stated;
use super::stated::StatedRows;
use super::whole_numbers::integers;
use crate::cost::{Cost, MAX_TOTAL, Scale, sum};
use crate::error::{Error, Result};

/// Total regret is scaled to about this many units.
const TARGET: f64 = (1u64 << 56) as f64;

/// Sums by point of all rows' costs may be rounded by this part of what the sizes of these costs
/// add up to: each product of a cost and a weight is, and each sum. It is twice what both can do.
pub const ROUNDED_SUMS: f64 = 1.0 / (1u64 << 50) as f64;

/// What the rows of points cost in real numbers.
#[derive(Debug, Clone, Copy)]
pub struct Weighed<'a> {
    /// By point and label, summed over the point's rows.
    pub costs: &'a [f64],
    /// How far all costs together, feature costs included, are from what they stand for.
    pub error: f64,
    /// The total weight.
    pub normalizer: f64,
    /// By point: the weight that pays for columns; none without feature costs.
    pub weights: &'a [f64],
    /// In the unit of costs.
    pub feature_costs: &'a FeatureCostList,
}

/// Rounding this down is no loss.
const MANY: f64 = 1e6;

/// The most units that the points' least costs may add up to, far within `i128`.
const FARTHEST: f64 = (1u128 << 120) as f64;

#[derive(Debug, Clone)]
pub struct RowCosts {
    n_labels: usize,
    /// Regret by point and label in units.
    regrets: Vec<Cost>,
    /// Leaf statistics: regrets, then what is shown (rounded to `shown_unit`), if it is something
    /// else.
    stats: Vec<i64>,
    width: usize,
    shown_unit: f64,
}

impl RowCosts {
    /// The regrets of a task with labels, less what each point is forgiven.
    pub fn forgiving(task: &dyn Labelled, forgiven: &[Cost]) -> RowCosts {
        let n_labels = task.n_labels();
        let mut regrets = Vec::with_capacity(task.n_points() * n_labels);
        for (point, &forgiven) in forgiven.iter().enumerate() {
            let free = task.least(point) + forgiven;
            regrets.extend((0..n_labels as u32).map(|k| (task.loss(point, k) - free).max(0)));
        }
        Self::of_regrets(n_labels, regrets)
    }

    /// Regrets by point and label, in units.
    pub fn of_regrets(n_labels: usize, regrets: Vec<Cost>) -> RowCosts {
        RowCosts { n_labels, stats: regrets.clone(), regrets, width: n_labels, shown_unit: 1.0 }
    }

    /// `costs[p * n_labels + k]`: what label k costs at point p, summed over the point's rows.
    /// `shown`: real statistics by point to show at nodes instead of the regrets.
    pub fn build(
        n_labels: usize,
        costs: &[f64],
        normalizer: f64,
        leaf_penalty: f64,
        shown: Option<(usize, &[f64])>,
    ) -> Result<Scaled> {
        Self::build_rounded(n_labels, costs, 0.0, normalizer, leaf_penalty, shown)
    }

    /// As `build`, for costs that were themselves rounded: `error` bounds how far all of them
    /// together are from what they stand for.
    pub fn build_rounded(
        n_labels: usize,
        costs: &[f64],
        error: f64,
        normalizer: f64,
        leaf_penalty: f64,
        shown: Option<(usize, &[f64])>,
    ) -> Result<Scaled> {
        let feature_costs = &FeatureCostList::default();
        let weighed = Weighed { costs, error, normalizer, weights: &[], feature_costs };
        Self::build_weighed(n_labels, weighed, leaf_penalty, shown)
    }

    /// As above, where rows pay for the columns that they are asked for.
    pub fn build_weighed(
        n_labels: usize,
        weighed: Weighed,
        leaf_penalty: f64,
        shown: Option<(usize, &[f64])>,
    ) -> Result<Scaled> {
        let parts = Self::scaled_to(TARGET, n_labels, weighed, leaf_penalty, shown)?;
        let Parts { rows, leaf_cost, scale, feature_costs } = parts;
        let stated = StatedRows {
            n_labels,
            costs: weighed.costs.to_vec(),
            normalizer: weighed.normalizer,
            penalty: leaf_penalty,
            weights: weighed.weights.to_vec(),
            feature_costs: weighed.feature_costs.clone(),
        };
        let stated: Option<Arc<dyn Stated>> = Some(Arc::new(stated));
        Ok(Scaled { task: Box::new(rows), leaf_cost, scale, feature_costs, stated })
    }

    /// As above, with a total of about `target` units.
    pub(super) fn scaled_to(
        target: f64,
        n_labels: usize,
        weighed: Weighed,
        leaf_penalty: f64,
        shown: Option<(usize, &[f64])>,
    ) -> Result<Parts> {
        let Weighed { costs, error, normalizer, weights, feature_costs } = weighed;
        if n_labels == 0 || costs.iter().any(|c| !c.is_finite()) {
            return Err(Error::invalid("costs must be finite, with at least one label"));
        }
        if !costs.len().is_multiple_of(n_labels) {
            return Err(Error::invalid(format!(
                "{} costs are given, which is no multiple of {n_labels} labels",
                costs.len()
            )));
        }
        if !(normalizer.is_finite() && normalizer > 0.0) {
            return Err(Error::invalid("the total weight must be positive and finite"));
        }
        check_penalty(leaf_penalty)?;
        let n_points = costs.len() / n_labels;
        feature_costs.validate(n_points, 1)?;
        if !feature_costs.is_free() && weights.len() != n_points {
            return Err(Error::invalid(format!(
                "weights are given for {} points, costs for {n_points}",
                weights.len()
            )));
        }
        let mut leasts = Vec::with_capacity(n_points);
        let mut regrets = Vec::with_capacity(costs.len());
        let mut total = 0.0;
        for point in costs.chunks_exact(n_labels) {
            let least = point.iter().copied().fold(f64::INFINITY, f64::min);
            let most = point.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            leasts.push(least);
            total += most - least;
            regrets.extend(point.iter().map(|c| c - least));
        }
        // Units per unit of summed cost. A leaf must fit too, however large its penalty, and a
        // problem without regret still needs a unit.
        let total = total + feature_costs.everything(sum(weights.iter().copied()));
        let up = target / total.max(normalizer * leaf_penalty).max(normalizer * 1e-3);
        let (in_units, up) = InUnits::new(feature_costs, weights, up);
        let units = up * normalizer;
        let leaf_cost = leaf_penalty * units;
        let shared = sum(leasts.iter().copied());
        // A few roundings of the sum, of `units` and of the product, relative to all that was
        // added.
        let size = sum(leasts.iter().map(|least| least.abs()));
        let error = error * up;
        // No bound falls below the offset, so what the costs brought along is taken off here, too.
        // Sums of costs above 0 that are 0 were never rounded.
        let brought = if size > 0.0 || costs.iter().any(|&cost| cost < 0.0) { error } else { 0.0 };
        let offset = shared * up - size * up * f64::EPSILON * 4.0 - brought;
        // No tree that is found costs more than a leaf of one label, in the caller's own numbers.
        let of_label = |label| sum(costs.iter().copied().skip(label).step_by(n_labels)).abs();
        let least = (0..n_labels).map(of_label).fold(f64::INFINITY, f64::min);
        let largest = 4.0 * (least.max(shared.abs()) / normalizer).max(leaf_penalty);
        let fits = units.is_normal() && leaf_cost <= MAX_TOTAL as f64 && largest.is_finite();
        let error = error + in_units.as_ref().map_or(0.0, |own| own.error);
        if !(fits && offset.abs() < FARTHEST && error < MAX_TOTAL as f64) {
            return Err(Error::invalid(format!(
                "these costs, their total weight and leaf_penalty={leaf_penalty} \
                 are too far apart to be added"
            )));
        }
        let regrets: Vec<Cost> = regrets.iter().map(|r| (r * up).round() as Cost).collect();
        let (width, stats, shown_unit) = match shown {
            None => (n_labels, regrets.clone(), 1.0 / up),
            Some((columns, values)) => beside(n_labels, &regrets, columns, values),
        };
        // Half a unit for each point and each leaf, the relative error of the products, and what
        // the costs brought along.
        let products = (target * f64::EPSILON * 4.0) as Cost;
        let slack = n_points as Cost + 1 + products + error.ceil() as Cost;
        let scale = Scale::new(units, offset.floor() as i128, slack);
        let feature_costs = in_units.map(|own| own.feature_costs);
        let rows = RowCosts { n_labels, regrets, stats, width, shown_unit };
        Ok(Parts { rows, leaf_cost: leaf_cost.round() as Cost, scale, feature_costs })
    }
}

/// A task before it is boxed.
pub(super) struct Parts {
    pub rows: RowCosts,
    /// The leaf penalty in units.
    pub leaf_cost: Cost,
    pub scale: Scale,
    pub feature_costs: Option<FeatureCosts>,
}

/// Feature costs in units of cost.
struct InUnits {
    feature_costs: FeatureCosts,
    /// How many units rounding may add up to.
    error: f64,
}

impl InUnits {
    /// And how many units there are in a cost of 1: where they are many, a whole number for each
    /// unit of feature costs, so that rows of whole weight pay exactly what they should. `up`:
    /// about so many.
    fn new(feature_costs: &FeatureCostList, weights: &[f64], up: f64) -> (Option<InUnits>, f64) {
        if feature_costs.is_free() {
            return (None, up);
        }
        let (tests, lists) = (&feature_costs.tests, &feature_costs.by_row);
        let numbers = feature_costs::numbers(tests);
        let whole = feature_costs::whole(tests, integers(&numbers));
        let unit = up / whole.units;
        let unit = if unit >= MANY { unit.floor() } else { unit };
        // A row that weighs something pays something, or it would be split off for nothing.
        let mass = |&w: &f64| if w > 0.0 { (w * unit).round().max(1.0) as Cost } else { 0 };
        let own: Vec<Cost> = weights.iter().map(mass).collect();
        let spent = whole.tests.iter().map(|test| test.full as f64).sum::<f64>();
        let off = |units: f64, mass: Cost| (units - mass as f64).abs();
        let all_off = sum(weights.iter().zip(&own).map(|(w, &mass)| off(w * unit, mass)));
        let all = sum(own.iter().map(|&mass| mass as f64));
        let mut error = all_off * spent + all * whole.error * tests.len() as f64;
        error += all * spent * 1e-15;
        // What rows pay of lists of prices is in units of cost.
        let up = unit * whole.units;
        let listed: Vec<Cost> = (lists.sums.iter())
            .map(|&paid| if paid > 0.0 { (paid * up).round().max(1.0) as Cost } else { 0 })
            .collect();
        error += sum(lists.sums.iter().zip(&listed).map(|(paid, &whole)| off(paid * up, whole)));
        error += sum(listed.iter().map(|&paid| paid as f64)) * 1e-15;
        let n_own = usize::from(numbers.iter().any(|&cost| cost > 0.0));
        let n_masses = n_own + lists.n_lists;
        let of_point = |(point, mass): (usize, &Cost)| {
            let listed = &listed[point * lists.n_lists..][..lists.n_lists];
            [*mass].into_iter().take(n_own).chain(listed.to_vec())
        };
        let coded = |price, whole| feature_costs::coded(price, whole, (n_masses, n_own));
        let tests = tests.iter().zip(&whole.tests).map(|(given, whole)| FeatureCost {
            full: coded(given.full, whole.full),
            discounted: coded(given.discounted, whole.discounted),
            group: given.group,
        });
        let feature_costs = FeatureCosts {
            tests: tests.collect(),
            of_column: feature_costs.of_column.clone(),
            masses: own.iter().enumerate().flat_map(of_point).collect(),
            n_masses,
            is_ordered: n_masses == 1,
            of_class: Vec::new(),
        };
        (Some(InUnits { feature_costs, error }), up)
    }
}

/// Regrets with other statistics beside them, the latter as integers of a fine unit.
fn beside(
    n_labels: usize,
    regrets: &[Cost],
    columns: usize,
    values: &[f64],
) -> (usize, Vec<i64>, f64) {
    let total: f64 = values.iter().map(|v| v.abs()).sum();
    // A power of two, so that counts of rows are shown as such.
    let unit = total.max(f64::MIN_POSITIVE).log2().ceil().exp2() / (1u64 << 52) as f64;
    let mut stats = Vec::with_capacity(regrets.len() + values.len());
    for (regret, value) in regrets.chunks_exact(n_labels).zip(values.chunks_exact(columns)) {
        stats.extend_from_slice(regret);
        stats.extend(value.iter().map(|v| (v / unit).round() as i64));
    }
    (n_labels + columns, stats, unit)
}

impl Task for RowCosts {
    fn n_points(&self) -> usize {
        self.regrets.len() / self.n_labels
    }

    fn width(&self) -> usize {
        self.width
    }

    fn stats(&self, point: usize) -> &[i64] {
        &self.stats[point * self.width..(point + 1) * self.width]
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
        let mut best = Leaf { cost: Cost::MAX, label: 0 };
        for (label, &cost) in stats[..self.n_labels].iter().enumerate() {
            if cost < best.cost {
                best = Leaf { cost, label: label as u32 };
            }
        }
        best
    }

    fn least(&self, point: usize) -> Cost {
        (0..self.n_labels as u32).map(|label| self.loss(point, label)).min().unwrap_or(0)
    }

    fn worst(&self, point: usize) -> Option<Cost> {
        (0..self.n_labels as u32).map(|label| self.loss(point, label)).max()
    }

    fn cost(&self, points: &[u32], label: u32) -> Cost {
        points.iter().map(|&point| self.loss(point as usize, label)).sum()
    }

    fn shown(&self, _points: &[u32], stats: &[i64]) -> Vec<f64> {
        let from = if self.width > self.n_labels { self.n_labels } else { 0 };
        stats[from..].iter().map(|&s| s as f64 * self.shown_unit).collect()
    }

    fn structure(&self) -> Structure<'_> {
        Structure::Labels(self)
    }
}

impl Labelled for RowCosts {
    fn n_labels(&self) -> usize {
        self.n_labels
    }

    fn loss(&self, point: usize, label: u32) -> Cost {
        self.regrets[point * self.n_labels + label as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::Ratio;

    /// All points are rounded up, so that together they cost many units more than they should.
    #[test]
    fn the_rounding_of_each_point_is_charged() {
        for (n, cost) in [(3000, 0.7), (1500, 0.3), (4999, 12345.678)] {
            let costs: Vec<f64> = (0..n).flat_map(|_| [0.0, cost]).collect();
            let scaled = RowCosts::build(2, &costs, f64::from(n), 0.0, None).unwrap();
            let points: Vec<u32> = (0..n as u32).collect();
            let of_all = scaled.task.cost(&points, 1);
            let exact = Ratio::stored(cost);
            let lower = Ratio::stored(scaled.scale.lower(of_all));
            assert!(lower <= exact, "{n} points of {cost} are bounded by {}", lower.nearest());
            let close = &exact - &(&exact * &Ratio::stored(1e-12));
            assert!(lower > close, "{} of {cost}", lower.nearest());
        }
    }
}
