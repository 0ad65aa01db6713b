//! A regression problem on its way to integer units; `squares.rs` says why what is rounded here
//! does no harm that is not charged.

use std::sync::Arc;

use super::feature_costs::FeatureCostList;
use super::paying;
use super::scaled::{Scaled, check_penalty};
use super::squares::{Output, Squares, gain};
use super::stated::StatedSquares;
use super::twofold::{Twofold, exponent, scale};
use crate::cost::{Cost, MAX_TOTAL, Scale, sum};
use crate::error::{Error, Result};
use crate::exact::{Ratio, Total};

/// A regression problem, by rows.
#[derive(Debug, Clone)]
pub struct SquaresInput {
    pub n_outputs: usize,
    /// Targets by row and output, row-major.
    pub targets: Vec<f64>,
    /// Weight by row in whole units, more than 0; none if every row counts once.
    pub weights: Option<Vec<i64>>,
    /// The weights as they were given, where whole units are rounded.
    pub given: Option<Vec<f64>>,
    /// The point of each row.
    pub points: Vec<u32>,
    pub n_points: usize,
    pub leaf_penalty: f64,
}

/// What rounding may do to a loss is less than this share of it, or nothing is known.
const MOST_UNKNOWN: f64 = 0.5;

/// All integer sums of an output stay below this, so that differences do, too.
const MOST_SUM: i32 = 61;

impl SquaresInput {
    pub fn build(&self) -> Result<Scaled> {
        self.build_with(&FeatureCostList::default())
    }

    /// As above, where rows pay for columns.
    pub fn build_with(&self, feature_costs: &FeatureCostList) -> Result<Scaled> {
        self.validate()?;
        feature_costs.validate(self.n_points, 1)?;
        match feature_costs.is_free() {
            true => self.with_room(0.0),
            false => {
                let weights = self.stated_weights();
                self.with_room(paying::room(feature_costs, &weights))?
                    .paying(feature_costs, &weights)
            }
        }
    }

    /// `room`: what a tree may pay beside its leaves, as a share of the loss of all rows as one
    /// leaf.
    fn with_room(&self, room: f64) -> Result<Scaled> {
        let m = self.n_outputs;
        let weights = self.point_weights()?;
        let outputs: Vec<Output> = (0..m).map(|o| self.output(o)).collect();
        let (sums, squares) = self.sums(&outputs);
        // Everything real from here on is in units of 4^most.
        let most = outputs.iter().filter(|o| o.radius > 0.0).map(|o| o.exponent).max().unwrap_or(0);
        let mut rounded = vec![0i64; sums.len()];
        let mut harm = 0.0;
        let [mut squared, mut total, mut within] = [Twofold::default(); 3];
        let all_weight = Twofold::from(weights.iter().sum::<i64>());
        for (o, output) in outputs.iter().enumerate() {
            let places = 2 * (output.exponent - most);
            let of = |p: usize| sums[p * m + o];
            let all = (0..weights.len()).fold(Twofold::default(), |sum, p| sum + of(p));
            squared = squared + squares[o].scale(places);
            total = total + (squares[o] - (all * all).over(all_weight)).scale(places);
            let between = (0..weights.len())
                .map(|p| (of(p) * of(p)).over(Twofold::from(weights[p])))
                .fold(Twofold::default(), |sum, g| sum + g);
            within = within + (squares[o] - between).scale(places);
            harm += scale(round(output, &sums[o..], &weights, m, &mut rounded[o..]), places);
        }
        // Moving a row's weight moves a loss by no more than that times the square of the range,
        // and so it does the total.
        let moved = 2.0 * self.moved();
        let mut reweighed = 0.0;
        for output in &outputs {
            let range = 2.0 * output.radius;
            reweighed += scale(moved * range * range, 2 * (output.exponent - most));
        }
        harm += reweighed;
        // So it may be more than what the rows of points differ by under the given weights.
        within = within - Twofold::from(reweighed * (1.0 + 1e-9));
        let worst = worst(&outputs, &rounded, &weights, most);
        let scaled = self.scaled(Parts {
            outputs,
            weights,
            sums,
            rounded,
            worst,
            squared,
            total,
            within,
            harm,
            most,
            room,
        });
        let unknown = scaled.scale.slack as f64 / scaled.scale.units;
        if unknown > MOST_UNKNOWN {
            return Err(Error::invalid(format!(
                "row weights, or targets, are too far apart: rounding them may move the loss by a share of {unknown:.2}; \
                 scale the small weights up, set them to 0, or bring the targets nearer to each other"
            )));
        }
        Ok(scaled)
    }

    /// How many units all weights together were moved by.
    fn moved(&self) -> f64 {
        let (Some(given), Some(weights)) = (&self.given, &self.weights) else { return 0.0 };
        let total: f64 = weights.iter().map(|&weight| weight as f64).sum();
        let up = total / sum(given.iter().copied());
        let off = |(given, &whole): (&f64, &i64)| {
            let real = given * up;
            (real - whole as f64).abs() + 4.0 * f64::EPSILON * real
        };
        given.iter().zip(weights).map(off).sum::<f64>() * (1.0 + 1e-9)
    }

    fn validate(&self) -> Result<()> {
        let (m, n) = (self.n_outputs, self.points.len());
        if m == 0 || n == 0 {
            return Err(Error::invalid("there must be at least one target and one row"));
        }
        if self.targets.len() != n * m || self.weights.as_ref().is_some_and(|w| w.len() != n) {
            return Err(Error::invalid(format!(
                "{} targets and {} weights do not make {n} rows of {m} targets",
                self.targets.len(),
                self.weights.as_ref().map_or(n, Vec::len)
            )));
        }
        if self.targets.iter().any(|y| !y.is_finite()) {
            return Err(Error::invalid("targets must be finite"));
        }
        let given = self.given.as_ref();
        if given.is_some_and(|w| w.len() != n || w.iter().any(|w| !(w.is_finite() && *w >= 0.0))) {
            return Err(Error::invalid("row weights must be finite and not negative"));
        }
        if self.weights.iter().flatten().any(|&w| w <= 0) {
            return Err(Error::invalid(match given {
                Some(_) => {
                    "row weights are too far apart: the smallest are nothing beside the others; set them to 0, \
                            or scale them up"
                }
                None => "row weights must be positive",
            }));
        }
        check_penalty(self.leaf_penalty)?;
        if self.points.iter().any(|&p| p as usize >= self.n_points) {
            return Err(Error::invalid(format!("a row's point is not below {}", self.n_points)));
        }
        Ok(())
    }

    /// By point, the weight of its rows as it was given.
    fn stated_weights(&self) -> Vec<Ratio> {
        let mut totals = vec![Total::default(); self.n_points];
        for (row, &point) in self.points.iter().enumerate() {
            match &self.given {
                Some(given) => totals[point as usize].add(given[row]),
                None => totals[point as usize].add_whole(self.weight(row), 0),
            }
        }
        totals.iter().map(Total::ratio).collect()
    }

    fn weight(&self, row: usize) -> i64 {
        self.weights.as_ref().map_or(1, |weights| weights[row])
    }

    fn point_weights(&self) -> Result<Vec<i64>> {
        let (mut weights, mut total) = (vec![0i64; self.n_points], 0i64);
        for (row, &point) in self.points.iter().enumerate() {
            weights[point as usize] += self.weight(row);
            total = total.saturating_add(self.weight(row));
            if total > 1 << 61 {
                return Err(Error::invalid("row weights add up to more than 2^61 units"));
            }
        }
        if weights.contains(&0) {
            return Err(Error::invalid("a point has no rows"));
        }
        Ok(weights)
    }

    fn column(&self, output: usize) -> impl Iterator<Item = f64> + '_ {
        self.targets[output..].iter().step_by(self.n_outputs).copied()
    }

    /// Scale an output to be at most 1, and centre it near its mean.
    fn output(&self, index: usize) -> Output {
        let (least, largest) = (self.column(index))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(y), b.max(y)));
        let size = least.abs().max(largest.abs());
        let places = if size > 0.0 { exponent(size) } else { 0 };
        let mut output = Output { exponent: places, ..Output::default() };
        if least == largest {
            output.centre = scale(least, -places);
            return output;
        }
        let (mut sum, mut weight) = (Twofold::default(), 0.0);
        for (row, y) in self.column(index).enumerate() {
            let w = self.weight(row) as f64;
            sum = sum + Twofold::from(scale(y, -places) * w);
            weight += w;
        }
        // Centred no finer than need be, short targets may stay whole numbers of the grid.
        let spread = exponent(scale(largest, -places) - scale(least, -places));
        let mean = sum.high / weight;
        let coarse = scale(scale(mean, 20 - spread).round(), spread - 20);
        let coarse = self.centred(index, Output { centre: coarse, ..output }, weight);
        if coarse.exact {
            return coarse;
        }
        self.centred(index, Output { centre: mean, ..output }, weight)
    }

    /// Radius and grid of an output once its centre is chosen, for rows of this weight.
    fn centred(&self, index: usize, output: Output, weight: f64) -> Output {
        let d = |y: f64| Twofold::difference(scale(y, -output.exponent), output.centre);
        let radius = self.column(index).fold(0.0, |r: f64, y| r.max(d(y).high.abs())).next_up();
        let grid = exponent(weight * radius) - MOST_SUM;
        let whole = |x: f64| scale(x, -grid).fract() == 0.0;
        let exact = self.column(index).all(|y| whole(d(y).high) && whole(d(y).low));
        Output { radius, grid, exact, ..output }
    }

    /// Σ w·d by point and output, and Σ w·d² by output.
    fn sums(&self, outputs: &[Output]) -> (Vec<Twofold>, Vec<Twofold>) {
        let m = outputs.len();
        let mut sums = vec![Twofold::default(); self.n_points * m];
        let mut squares = vec![Twofold::default(); m];
        for (row, (&point, targets)) in
            self.points.iter().zip(self.targets.chunks_exact(m)).enumerate()
        {
            let weight = Twofold::from(self.weight(row));
            for (o, &y) in targets.iter().enumerate() {
                let d = Twofold::difference(scale(y, -outputs[o].exponent), outputs[o].centre);
                let (sum, weighted) = (&mut sums[point as usize * m + o], weight * d);
                *sum = *sum + weighted;
                squares[o] = squares[o] + weighted * d;
            }
        }
        (sums, squares)
    }

    fn scaled(&self, parts: Parts) -> Scaled {
        let Parts {
            mut outputs,
            weights,
            sums,
            rounded,
            worst,
            squared,
            total,
            within,
            harm,
            most,
            room,
        } = parts;
        let m = self.n_outputs;
        // The unit, 2^unit: so fine that all that may be added up stays below the largest total.
        let (squares, penalty) = (squared.high, self.leaf_penalty.max(1.0).max(room * 1.001));
        let bound = (4.0 * squares * penalty).max(worst.iter().map(|w| w.min(squares)).sum());
        let constant = total.high <= 0.0;
        let fits = exponent(MAX_TOTAL as f64);
        let unit = if constant { 0 } else { exponent(bound) - fits };
        for output in outputs.iter_mut().filter(|output| output.radius > 0.0) {
            output.shift = unit + 2 * (most - output.grid - output.exponent);
            output.factor = scale(1.0, -output.shift);
        }
        let mut stats = Vec::with_capacity(weights.len() * (m + 2));
        let mut q_total = 0i128;
        for (&weight, sums) in weights.iter().zip(rounded.chunks_exact(m)) {
            let gains = outputs.iter().zip(sums).map(|(output, &s)| gain(s, weight, output.shift));
            let q: Cost = gains.sum();
            stats.push(weight);
            stats.extend_from_slice(sums);
            stats.push(q);
            q_total += i128::from(q);
        }
        let mut task =
            Squares { n_outputs: m, stats, floored: false, worst: Vec::new(), outputs, sums };
        let mut whole = vec![0; m + 2];
        for point in 0..weights.len() {
            whole.iter_mut().zip(task.stats(point)).for_each(|(sum, s)| *sum += s);
        }
        let most_cost = task.leaf(&whole).cost;
        task.worst = (worst.iter())
            .map(|&w| {
                let cost = scale(w, -unit) * (1.0 + 1e-12) + 2.0 * m as f64;
                if w > 0.0 { (cost.ceil() as Cost).min(most_cost) } else { 0 }
            })
            .collect();
        let units =
            if constant { (MAX_TOTAL / 4) as f64 / penalty } else { total.scale(-unit).high };
        // Products are rounded once or twice, and this must not be above the truth.
        let leaf_cost =
            (self.leaf_penalty * units).next_down().next_down().floor().max(0.0) as Cost;
        let floor = |x: Twofold| (x.scale(-unit) - Twofold::from(1.0 / 1024.0)).floor();
        // No tree costs less than what the rows of points differ by, however the sums were rounded.
        let offset = (floor(squared) - q_total).min(floor(within).max(0));
        Scaled {
            task: Box::new(task),
            leaf_cost,
            scale: Scale {
                units,
                offset: if constant { 0 } else { offset },
                slack: (scale(harm, -unit) * (1.0 + 1e-9)).ceil() as Cost,
                least: 0.0,
            },
            feature_costs: None,
            stated: Some(Arc::new(StatedSquares {
                n_outputs: m,
                targets: self.targets.clone(),
                weights: self.weights.clone(),
                given: self.given.clone(),
                points: self.points.clone(),
                penalty: self.leaf_penalty,
            })),
        }
    }
}

/// What `build` has found out before it chooses the unit of cost.
struct Parts {
    outputs: Vec<Output>,
    weights: Vec<i64>,
    sums: Vec<Twofold>,
    /// By point and output.
    rounded: Vec<i64>,
    /// By point, in units of 4^most, as all that follows.
    worst: Vec<f64>,
    /// Σ w·d², and Σ w·(d − mean)² for the mean of all rows, and for those of the points, of which
    /// as much is taken off as rounded weights may have added.
    squared: Twofold,
    total: Twofold,
    within: Twofold,
    /// What rounding the sums may do.
    harm: f64,
    most: i32,
    /// As a share of `total`.
    room: f64,
}

/// Round the sums of one output, every `step`-th of each list, to its grid. Returns what that may
/// do to the cost of a tree, in the output's own d².
fn round(
    output: &Output,
    sums: &[Twofold],
    weights: &[i64],
    step: usize,
    rounded: &mut [i64],
) -> f64 {
    if output.radius == 0.0 {
        return 0.0;
    }
    let mut harm = 0.0;
    for (p, &weight) in weights.iter().enumerate() {
        let sum = sums[p * step].scale(-output.grid);
        let whole = (sum + Twofold::from(0.5)).floor() as i64;
        rounded[p * step] = whole;
        if !output.exact {
            // Twofold sums themselves are short of the truth by less than this.
            let lost = weight as f64 * output.radius * 1e-28;
            let off = scale((sum - Twofold::from(whole)).high.abs(), output.grid) + lost;
            harm += 2.0 * output.radius * off + off * off / weight as f64;
        }
    }
    harm
}

/// The worst loss of each point for any mean of points, in units of 4^most.
fn worst(outputs: &[Output], rounded: &[i64], weights: &[i64], most: i32) -> Vec<f64> {
    let mut worst = vec![0.0; weights.len()];
    let m = outputs.len();
    for (o, output) in outputs.iter().enumerate() {
        let mean = |p: usize| rounded[p * m + o] as f64 / weights[p] as f64;
        let (low, high) = (0..weights.len())
            .map(mean)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        // Means are off by a few steps, and so are their differences.
        let off = 1e-15 * low.abs().max(high.abs());
        for (p, worst) in worst.iter_mut().enumerate() {
            let far = (high - mean(p)).max(mean(p) - low);
            let far = if output.radius > 0.0 { far + off } else { 0.0 };
            *worst +=
                scale(weights[p] as f64 * far * far, 2 * (output.grid + output.exponent - most));
        }
    }
    worst
}
