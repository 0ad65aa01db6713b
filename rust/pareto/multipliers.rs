//! The multipliers of a constrained problem's relaxation: those that prove the most.
//!
//! The bound is concave in each multiplier, and the tree that a solve finds tells its slope there.
//! So one multiplier at a time is moved to where two tangents meet, and then all together along
//! their slopes. Any multipliers are valid; better ones leave less to search. On the way each tree
//! found is given its best labels that keep the limits.

use super::constrained::Constrained;
use super::first_labels::best_labels;
use super::limits::{Limit, MOST_SUM, dot, range};
use super::scalar;
use super::sums::Relaxed;
use crate::cost::Cost;
use crate::error::Result;
use crate::run::Run;
use crate::search::fronts::{BestTree, Front};
use crate::tree::Plan;

/// Relaxed costs stay below this in total.
const MOST_RELAXED: i128 = 1 << 56;

/// Solves for one multiplier.
const TRIES: usize = 16;

/// Solves for all multipliers together.
const TOGETHER: usize = 80;

/// The search for multipliers.
pub struct Dual<'a, 'run, const N: usize> {
    of: &'a Constrained,
    run: &'a Run<'run>,
    scale: Cost,
    /// No multiplier is larger.
    most: Vec<i64>,
    /// The best multipliers so far, and what they prove.
    multipliers: Vec<i64>,
    pub relaxed: Relaxed,
    bound: i128,
    pub lower: Cost,
    pub best: Option<BestTree>,
    /// Trees that cost as much or more are of no use.
    cutoff: Cost,
}

impl<'a, 'run, const N: usize> Dual<'a, 'run, N> {
    pub fn new(of: &'a Constrained, cutoff: Cost, run: &'a Run<'run>) -> Self {
        let n_labels = of.classes.n_labels();
        // As fine as costs of that size allow, with as much room for each multiplier.
        let room = MOST_RELAXED / (2 * of.limits.len() as i128 + 2);
        let scale = (room / i128::from(of.worst.max(1))).clamp(1, 1 << 40);
        let scale = 1i64 << (127 - scale.leading_zeros() as i64).max(0);
        let most = (of.limits.iter())
            .map(|limit| {
                let (low, high) = range(limit, n_labels, &of.totals);
                (room / i128::from((high - low).max(1))) as i64
            })
            .collect();
        run.show_at_most(of.worst);
        let relaxed = of.relax(scale, &vec![0; of.limits.len()]);
        let mut dual = Dual {
            of,
            run,
            scale,
            most,
            multipliers: vec![0; of.limits.len()],
            relaxed,
            bound: i128::MIN,
            lower: 0,
            best: None,
            cutoff,
        };
        let everything = of.totals.clone();
        dual.label(Plan::Leaf, vec![everything], 0);
        dual
    }

    /// Every tree that is of use costs less than this.
    pub fn upper(&self) -> Cost {
        self.best.as_ref().map_or(self.cutoff, |best| best.cost)
    }

    /// Raise the bound, one multiplier at a time.
    pub fn climb(&mut self) -> Result<()> {
        let mut multipliers = vec![0; self.of.limits.len()];
        let rounds = if multipliers.len() > 1 { 3 } else { 1 };
        for _ in 0..rounds {
            let before = self.bound;
            for axis in 0..multipliers.len() {
                self.climb_axis(axis, &mut multipliers)?;
                if self.done() {
                    return Ok(());
                }
            }
            if self.bound.saturating_sub(before) <= before.saturating_abs() / 1_000_000 {
                break;
            }
        }
        if multipliers.len() > 1 { self.climb_together() } else { Ok(()) }
    }

    /// Raise the bound in all multipliers at once, where no single one raises it: along the slopes,
    /// as far as the best tree that is known says that the bound may rise (Polyak). The step is cut
    /// in half after some that were of no use.
    fn climb_together(&mut self) -> Result<()> {
        let n_labels = self.of.classes.n_labels();
        let widths: Vec<f64> = (self.of.limits.iter())
            .map(|limit| range(limit, n_labels, &self.of.totals))
            .map(|(low, high)| (high - low).max(1) as f64)
            .collect();
        let (mut share, mut useless) = (1.0, 0);
        let mut here = self.multipliers.clone();
        for _ in 0..TOGETHER {
            let before = self.bound;
            let Some((bound, slopes)) = self.at(&here)? else { return Ok(()) };
            if self.done() {
                return Ok(());
            }
            // By width, so that limits of different units are alike.
            let steps: Vec<f64> = slopes.iter().zip(&widths).map(|(&s, w)| s as f64 / w).collect();
            let size: f64 = steps.iter().map(|step| step * step).sum();
            if size == 0.0 {
                return Ok(());
            }
            useless = if self.bound > before { 0 } else { useless + 1 };
            if useless == 4 {
                (share, useless) = (share / 2.0, 0);
                here.clone_from(&self.multipliers);
                if share < 0.01 {
                    return Ok(());
                }
                continue;
            }
            let upper = self.upper().min(self.of.worst) as f64 * self.scale as f64;
            let far = share * (upper - bound as f64).max(0.0) / size;
            for (at, multiplier) in here.iter_mut().enumerate() {
                let limit = &self.of.limits[at];
                let moved = *multiplier as f64 + far * steps[at] / widths[at];
                // An end that is no limit has no price.
                let low = if limit.low == -MOST_SUM { 0 } else { -self.most[at] };
                let high = if limit.high == MOST_SUM { 0 } else { self.most[at] };
                *multiplier = (moved as i64).clamp(low, high);
            }
        }
        Ok(())
    }

    fn done(&self) -> bool {
        self.run.stopped().is_some() || self.lower >= self.upper()
    }

    /// Move one multiplier to where the bound is largest, between a multiplier where it rises and
    /// one where it falls.
    fn climb_axis(&mut self, axis: usize, multipliers: &mut [i64]) -> Result<()> {
        multipliers[axis] = 0;
        let Some(start) = self.point(axis, multipliers)? else { return Ok(()) };
        // No multiplier is small enough for sums that are too large.
        if start.slope == 0 || self.most[axis] == 0 || self.done() {
            return Ok(());
        }
        let (sign, most) = (start.slope.signum(), self.most[axis]);
        let (mut near, mut best) = (start, start);
        let mut far: Option<Point> = None;
        let mut reach = (most >> 12).max(1);
        for _ in 0..TRIES {
            let multiplier = match far {
                Some(far) => near.meet(&far),
                // Farther and farther until the bound falls.
                None => sign * reach,
            };
            reach = reach.saturating_mul(8).min(most);
            let between = |far: &Point| (far.multiplier - multiplier).signum() == sign;
            if (multiplier - near.multiplier).signum() != sign || !far.as_ref().is_none_or(between)
            {
                break;
            }
            multipliers[axis] = multiplier;
            let Some(found) = self.point(axis, multipliers)? else { return Ok(()) };
            if found.bound > best.bound {
                best = found;
            }
            if self.done() || found.slope == 0 {
                break;
            }
            if found.slope.signum() == sign {
                near = found;
            } else {
                far = Some(found);
            }
        }
        multipliers[axis] = best.multiplier;
        Ok(())
    }

    fn point(&mut self, axis: usize, multipliers: &[i64]) -> Result<Option<Point>> {
        let found = self.at(multipliers)?;
        Ok(found.map(|(bound, slopes)| Point {
            multiplier: multipliers[axis],
            slope: slopes[axis],
            bound,
        }))
    }

    /// The bound that these multipliers prove, and how the bound changes with each; `None` once the
    /// run is stopped.
    fn at(&mut self, multipliers: &[i64]) -> Result<Option<(i128, Vec<i64>)>> {
        let relaxed = self.of.relax(self.scale, multipliers);
        let problem = self.of.relaxed_problem(&relaxed)?;
        let found = scalar::solve(&problem, self.run, self.lower, self.upper())?;
        let bound = i128::from(found.lower) + relaxed.offset - relaxed.most;
        let front = self.of.front::<N>(&self.of.limits, &relaxed);
        self.lower = self.lower.max(front.at_least(found.lower));
        let leaves = scalar::leaves(&problem, &found.plan);
        let slopes = self.slopes(&relaxed, &leaves, multipliers);
        let spent = scalar::spent(&self.of.problem, &found.plan)?;
        self.label(found.plan, leaves, spent);
        if bound > self.bound {
            (self.bound, self.relaxed) = (bound, relaxed);
            self.multipliers = multipliers.to_vec();
        }
        if self.run.report(self.lower, self.upper()).is_some() {
            return Ok(None);
        }
        Ok(Some((bound, slopes)))
    }

    /// How far each sum is beyond the end of its limit that the multiplier pushes to.
    fn slopes(&self, relaxed: &Relaxed, leaves: &[Vec<i64>], multipliers: &[i64]) -> Vec<i64> {
        let n_labels = self.of.classes.n_labels();
        let mut sums = vec![0; multipliers.len()];
        for weights in leaves {
            let cost = |&label: &usize| dot(weights, &relaxed.costs, n_labels, label);
            let label = (0..n_labels).min_by_key(cost).unwrap_or(0);
            for (sum, limit) in sums.iter_mut().zip(&self.of.limits) {
                *sum += dot(weights, &limit.adds, n_labels, label);
            }
        }
        let slope = |((&sum, limit), &multiplier): ((&i64, &Limit), &i64)| match multiplier {
            0 => (sum - limit.high).max(0) + (sum - limit.low).min(0),
            1.. => sum - limit.high,
            _ => sum - limit.low,
        };
        sums.iter().zip(&self.of.limits).zip(multipliers).map(slope).collect()
    }

    /// The best labels for a tree that keep the limits, as a first tree. Its tests cost `spent`.
    fn label(&mut self, plan: Plan, leaves: Vec<Vec<i64>>, spent: Cost) {
        let front = self.of.front::<N>(&self.of.limits, &self.relaxed);
        if let Some((cost, labels)) = best_labels(&front, &leaves, self.run)
            && cost + spent < self.upper()
        {
            self.best = Some(BestTree { cost: cost + spent, plan, labels });
        }
    }
}

/// One multiplier, and what it proves.
#[derive(Debug, Clone, Copy)]
struct Point {
    multiplier: i64,
    slope: i64,
    bound: i128,
}

impl Point {
    /// Where the tangents of two points meet.
    fn meet(&self, far: &Point) -> i64 {
        let apart = i128::from(far.multiplier) - i128::from(self.multiplier);
        let fall = i128::from(self.slope) - i128::from(far.slope);
        let rise = far.bound - self.bound - i128::from(far.slope) * apart;
        (i128::from(self.multiplier) + rise.checked_div(fall).unwrap_or(0)) as i64
    }
}
