//! Any additive task, as a search takes it: checked wherever it is asked, and with costs that
//! divide exactly.
//!
//! **Rounded costs.** Let c be the task's cost of a leaf and ε its [`rounding`](Task::rounding):
//! c(A ∪ B) ≥ c(A) + c(B) − ε. Let m be a whole number that adds up over points and is at least 1
//! for every leaf: its *mass*. Searched is
//!
//! > c′(S) = c(S) + ε · (m(S) − 1), with a leaf penalty that is larger by ε.
//!
//! Then c′(A ∪ B) ≥ c(A) + c(B) − ε + ε · (m(A) + m(B) − 1) = c′(A) + c′(B), exactly. And a tree of
//! k leaves costs Σ c′ + k · (λ + ε) = Σ c + k · λ + ε · m(all): more by the same for every tree,
//! which goes into the offset. So all bounds hold without a tolerance, and no rounding is left to
//! charge.
//!
//! Without a penalty and without limits nothing is searched (`search/separate`), and nothing is
//! charged.
//!
//! **Worst.** Where a task does not say what losing a point can save, it is at most what all points
//! cost as one leaf: opt(T) ≥ 0 and opt(S) ≤ c(S) ≤ c(all). Where it does say so, it is ε more,
//! because of the mass.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::contract::{Structure, Task};
use super::leaf::Leaf;
use super::rough::Rough;
use crate::bits::Level;
use crate::cost::{Cost, MAX_TOTAL};
use crate::error::{Error, Result};

/// The sizes of a statistic, added up over all points, stay below this, so that no sum and no
/// difference overflows.
const MOST_STATISTIC: i64 = 1 << 62;

/// A task of sums or counts, with what the searches need beside its own statistics.
pub struct Summed {
    inner: Arc<dyn Task>,
    /// Statistics of the task itself.
    own: usize,
    /// Whether statistics are counts, whose sum is the mass. Otherwise a point's mass is 1, and
    /// stands behind its own statistics.
    counts: bool,
    /// Whether counts are added up by row.
    by_row: bool,
    /// By point: its own statistics, its mass if they are no counts.
    stats: Vec<i64>,
    /// By point: what it costs as a leaf of its own.
    least: Vec<Cost>,
    rounding: Cost,
    /// What of it is charged: all, or nothing.
    charge: Cost,
    /// What all points cost as one leaf.
    everything: Cost,
    /// Which clause of the contract was broken.
    broken: OnceLock<Error>,
}

impl Summed {
    /// The task, and by how much every tree costs more than the task says.
    pub fn charged(inner: Arc<dyn Task>) -> Result<(Summed, Cost)> {
        let charge = inner.rounding();
        Summed::new(inner, charge)
    }

    /// This task with counts that are added up row by row, as other numbers are: where rows pay for
    /// questions, a row is not the sum of what it counts.
    pub fn by_row(self) -> Summed {
        Summed { by_row: true, ..self }
    }

    /// The task with the costs that it says itself.
    pub fn uncharged(inner: Arc<dyn Task>) -> Result<Summed> {
        Ok(Summed::new(inner, 0)?.0)
    }

    fn new(inner: Arc<dyn Task>, charge: Cost) -> Result<(Summed, Cost)> {
        let (n, own, rounding) = (inner.n_points(), inner.width(), inner.rounding());
        let counts = matches!(inner.structure(), Structure::Counts);
        if own == 0 || rounding < 0 {
            return Err(Error::task("it has at least one statistic, and no rounding below 0"));
        }
        let mut summed = Summed {
            own,
            counts,
            by_row: false,
            stats: Vec::with_capacity(n * (own + usize::from(!counts))),
            least: vec![0; n],
            rounding,
            charge,
            everything: MAX_TOTAL,
            broken: OnceLock::new(),
            inner,
        };
        let mut all = vec![0i64; summed.width()];
        let mut sizes = all.clone();
        for point in 0..n {
            let stats = summed.inner.stats(point);
            if stats.len() != own {
                return Err(Error::task(format!(
                    "point {point} has {} statistics and not {own}",
                    stats.len()
                )));
            }
            if counts && stats.iter().any(|&s| s < 0) {
                return Err(Error::task(format!("point {point} has a count below 0")));
            }
            summed.stats.extend_from_slice(stats);
            summed.stats.extend((!counts).then_some(1));
            let from = summed.stats.len() - all.len();
            for ((sum, size), s) in all.iter_mut().zip(&mut sizes).zip(&summed.stats[from..]) {
                *size = (s.checked_abs().and_then(|s| size.checked_add(s)))
                    .filter(|&size| size < MOST_STATISTIC)
                    .ok_or_else(|| {
                        Error::task("statistics of all points add up to less than 2^62")
                    })?;
                *sum += s;
            }
        }
        let mass = summed.mass(&all);
        let everything = if mass == 0 { 0 } else { summed.leaf(&all).cost };
        let room = MAX_TOTAL / (n as Cost).max(1);
        let fits = everything.checked_add(rounding).is_some_and(|cost| cost <= room);
        if !fits || rounding.checked_mul(mass).is_none_or(|shift| shift > MAX_TOTAL) {
            return Err(Error::task(format!(
                "all points as one leaf cost at most 2^58 divided by their number, which is {room}, and not {everything}"
            )));
        }
        summed.everything = everything;
        let mut least = vec![0; n];
        let by_statistic = |s: usize| summed.stats.iter().skip(s).step_by(all.len()).copied();
        let sums: Vec<i64> = (0..all.len()).flat_map(by_statistic).collect();
        summed.leaf_costs(&sums, &mut least);
        summed.least = least;
        summed.try_unions();
        summed.failure().map_or(Ok(()), Err)?;
        let shift = charge * mass;
        Ok((summed, shift))
    }

    /// Points joined one after the other, in an order that mixes them: no union costs less than its
    /// parts.
    fn try_unions(&self) {
        let n = self.least.len();
        // A step that shares no divisor with n visits every point once.
        let step = (n * 618 / 1000..).find(|&step| gcd(step.max(1), n) == 1).unwrap_or(1).max(1);
        let mut sum = vec![0; self.width()];
        let mut before = 0;
        for at in 0..n.min(1000) {
            let point = at * step % n.max(1);
            sum.iter_mut().zip(self.stats(point)).for_each(|(sum, s)| *sum += s);
            let union = self.leaf(&sum).cost;
            self.check_union(union, before, self.least[point]);
            before = union;
        }
    }

    fn fail(&self, clause: String) {
        let _ = self.broken.set(Error::task(clause));
    }

    /// The mass of each of `n` leaves, whose sums stand side by side by statistic.
    fn masses<'s>(&self, sums: &'s [i64], n: usize) -> Cow<'s, [i64]> {
        if !self.counts {
            return Cow::Borrowed(&sums[self.own * n..]);
        }
        let mut masses = vec![0; n];
        for sums in sums.chunks_exact(n.max(1)) {
            masses.iter_mut().zip(sums).for_each(|(mass, sum)| *mass += sum);
        }
        Cow::Owned(masses)
    }

    /// Ask again for each leaf of a batch in which one breaks the contract, to say how.
    fn find_fault(&self, sums: &[i64], n: usize) {
        for leaf in 0..n {
            let own: Vec<i64> = (0..self.width()).map(|s| sums[s * n + leaf]).collect();
            self.leaf(&own);
        }
    }

    fn mass(&self, stats: &[i64]) -> i64 {
        if self.counts { stats.iter().sum() } else { stats[self.own] }
    }

    /// No part costs more than this.
    fn most(&self) -> Cost {
        self.everything.saturating_add(self.rounding - self.charge)
    }

    /// A cost with what rounding is worth; what is out of range breaks the contract.
    fn with_charge(&self, cost: Cost, mass: i64) -> Cost {
        let charge = self.charge * (mass - 1);
        let cost = cost.saturating_add(charge);
        // No part costs more than the whole.
        if cost < charge || cost > self.most() {
            match cost < charge {
                true => self.fail(format!("a leaf never costs less than 0, but one costs {}", cost - charge)),
                false => self.fail(format!(
                    "dividing a leaf never raises its cost, but a part costs {cost} and all points {}",
                    self.everything
                )),
            }
        }
        cost.clamp(0, self.most())
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Task for Summed {
    fn n_points(&self) -> usize {
        self.least.len()
    }

    fn width(&self) -> usize {
        self.own + usize::from(!self.counts)
    }

    fn stats(&self, point: usize) -> &[i64] {
        &self.stats[point * self.width()..][..self.width()]
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
        let mass = self.mass(stats);
        if mass == 0 {
            return Leaf { cost: 0, label: 0 };
        }
        let leaf = self.inner.leaf(&stats[..self.own]);
        Leaf { cost: self.with_charge(leaf.cost, mass), ..leaf }
    }

    fn leaf_costs(&self, sums: &[i64], costs: &mut [Cost]) {
        let n = costs.len();
        if n == 0 {
            return;
        }
        let (own, masses) = (&sums[..self.own * n], self.masses(sums, n));
        if self.inner.takes_empty_leaves() || masses.iter().all(|&mass| mass > 0) {
            self.inner.leaf_costs(own, costs);
        } else if let Some(filled) = masses.iter().position(|&mass| mass > 0) {
            // The task is asked about leaves with points alone.
            let mut own = own.to_vec();
            for sums in own.chunks_exact_mut(n) {
                let stand_in = sums[filled];
                for (sum, &mass) in sums.iter_mut().zip(masses.iter()) {
                    *sum = if mass > 0 { *sum } else { stand_in };
                }
            }
            self.inner.leaf_costs(&own, costs);
        }
        let (most, charge) = (self.most(), self.charge);
        let outside = Level::detect().run(
            #[inline(always)]
            || {
                let mut outside = 0;
                for (cost, &mass) in costs.iter_mut().zip(masses.iter()) {
                    let charged = cost.wrapping_add(charge * (mass - 1));
                    // All bits, or none for leaves without points.
                    let filled = -Cost::from(mass > 0);
                    // The signs say whether the cost is below 0, the cost above the most, or what
                    // is charged with it; sums of numbers that are within do not overflow.
                    let over = most.wrapping_sub(*cost) | most.wrapping_sub(charged);
                    outside |= filled & (*cost | over);
                    *cost = filled & charged;
                }
                outside
            },
        );
        if outside < 0 {
            self.find_fault(sums, n);
            costs.iter_mut().for_each(|cost| *cost = (*cost).clamp(0, most));
        }
    }

    fn leaves_at_once(&self) -> usize {
        self.inner.leaves_at_once()
    }

    /// What rounding is worth makes leaves dearer, so that lower bounds hold.
    fn rough(&self) -> Option<&Rough> {
        self.inner.rough()
    }

    fn least(&self, point: usize) -> Cost {
        self.least[point]
    }

    fn worst(&self, point: usize) -> Option<Cost> {
        let known = self.inner.worst(point).map(|worst| worst.saturating_add(self.charge));
        Some(known.unwrap_or(Cost::MAX).min(self.everything))
    }

    fn loss_shown(&self, stats: &[i64]) -> Cost {
        if self.mass(stats) == 0 { 0 } else { self.inner.leaf(&stats[..self.own]).cost }
    }

    fn shown(&self, points: &[u32], stats: &[i64]) -> Vec<f64> {
        self.inner.shown(points, &stats[..self.own])
    }

    fn structure(&self) -> Structure<'_> {
        if self.counts && !self.by_row { Structure::Counts } else { Structure::Sums }
    }

    fn check_union(&self, union: Cost, a: Cost, b: Cost) {
        if union < a + b - (self.rounding - self.charge) {
            self.fail(format!(
                "dividing a leaf never raises its cost by more than `rounding`, but a leaf that costs {union} has \
                 parts that cost {a} and {b}"
            ));
        }
    }

    fn inner(&self) -> Option<Arc<dyn Task>> {
        Some(self.inner.clone())
    }

    fn failure(&self) -> Option<Error> {
        self.inner.failure().or_else(|| self.broken.get().cloned())
    }
}
