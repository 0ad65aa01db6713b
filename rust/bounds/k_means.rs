//! k-means: the leaves of a tree are groups of targets, and the best groups cost some squares.
//!
//! Statement: a tree of k leaves costs at least Σ q − Σ over outputs of (G + k) + kℓ, where G is
//! the most that k groups of S's points can gain in that output alone. A group gains g(Σ s, Σ w);
//! `task/squares.rs` explains g and q.
//!
//! Proof: the leaves are k such groups: each costs its Σ q less ⌈g⌉ for every output, where
//! ⌈g⌉ < g + 1. What groups gain and the squares around their means, Σ w·(s/w − mean)², add up to
//! the same for all groups. Moving a point to the nearest mean does not raise these squares: so the
//! best groups are neighbours in the order of s/w.
//!
//! Invalid for all but squared errors.
//!
//! **Halving.** For starts a < b ≤ c < d, groups a..c and b..d gain no less than a..d and b..c:
//! take the smaller of the means of a..d and b..c for a..c, the larger for b..d, and no point is
//! farther from its mean. So where a last group of the points up to c best begins at b, no smaller
//! start is better for any d > c.
//!
//! **Rounding.** A term in floats is off by less than 4ε·Q, with Q = Σ q, as no groups gain more;
//! and by less than that again from what it would be if each mean were the float that points are
//! sorted by. So a start that was left out may be better by 32ε·Q for each halving. This and 16ε·Q
//! for the terms themselves is added to G for each group.

use crate::bits::Level;
use crate::cost::{Cost, INFINITE};
use crate::task::Squares;

/// Starts of a group that are compared together.
const LANES: usize = 8;

/// More groups than these take longer than they are worth.
const MOST_GROUPS: Cost = 64;

/// Memory for one question after the other.
#[derive(Debug, Default)]
pub struct Scratch {
    /// A number that rises with a point's mean, and the point.
    order: Vec<(u64, u32)>,
    outputs: Vec<Output>,
    halves: Vec<Half>,
}

/// One output's points in the order of their means. Lists are filled up, so that whole vectors can
/// be taken of them.
#[derive(Debug, Default)]
struct Output {
    /// Weights and sums before each point.
    weights: Vec<i64>,
    sums: Vec<i64>,
    /// By point: the most that those before it gain in so many groups, and in one more.
    best: Vec<f64>,
    next: Vec<f64>,
}

/// Where groups end, and where those may begin.
#[derive(Debug, Clone, Copy)]
struct Half {
    ends: (usize, usize),
    starts: (usize, usize),
}

impl Scratch {
    pub fn bytes(&self) -> usize {
        let output = |o: &Output| {
            8 * (o.weights.capacity() + o.sums.capacity() + o.best.capacity() + o.next.capacity())
        };
        self.order.capacity() * size_of::<(u64, u32)>()
            + self.outputs.iter().map(output).sum::<usize>()
            + self.halves.capacity() * size_of::<Half>()
    }

    /// What every tree of up to `leaves` leaves costs at least, if that is the `target` and shows
    /// before anybody says to `halt`. `stats`: of each of `n` points its weight, its sums, and q.
    pub fn at_least<'a>(
        &mut self,
        task: &Squares,
        (n, stats): (usize, impl Fn(usize) -> &'a [i64]),
        (leaves, leaf_cost): (u32, Cost),
        target: Cost,
        halt: &dyn Fn() -> bool,
    ) -> Option<Cost> {
        if n == 0 {
            return None;
        }
        let m = task.n_outputs();
        let q: Cost = (0..n).map(|p| stats(p)[m + 1]).sum();
        self.outputs.resize_with(m, Output::default);
        for (o, output) in self.outputs.iter_mut().enumerate() {
            self.order.clear();
            let mean = |p: usize| stats(p)[o + 1] as f64 / stats(p)[0] as f64;
            self.order.extend((0..n).map(|p| (rising(mean(p)), p as u32)));
            self.order.sort_unstable();
            output.start(
                self.order.iter().map(|&(_, p)| (stats(p as usize)[0], stats(p as usize)[o + 1])),
            );
        }
        let halvings = f64::from(n.ilog2() + 2);
        let rounding = (32.0 * halvings + 16.0) * f64::EPSILON * q as f64;
        let mut least = INFINITE;
        for k in 1..=Cost::from(leaves).min(n as Cost) {
            // Trees of more leaves cost no less than that.
            if k * leaf_cost >= least {
                break;
            }
            if k > MOST_GROUPS || halt() {
                return None;
            }
            let mut gain = 0.0;
            for (o, output) in self.outputs.iter_mut().enumerate() {
                if k > 1 {
                    output.groups(task.factor(o), &mut self.halves);
                }
                gain += output.all(task.factor(o)) + k as f64 * (1.0 + rounding);
            }
            let groups = (q as f64 - gain).max(0.0) as Cost;
            least = least.min(groups + k * leaf_cost);
            if least < target {
                return None;
            }
        }
        Some(least)
    }
}

impl Output {
    /// From weights and sums. Nothing in no groups gains nothing.
    fn start(&mut self, points: impl Iterator<Item = (i64, i64)>) {
        let Output { weights, sums, best, next } = self;
        for list in [&mut *weights, &mut *sums] {
            list.clear();
            list.push(0);
        }
        let (mut weight, mut sum) = (0, 0);
        for (w, s) in points {
            (weight, sum) = (weight + w, sum + s);
            weights.push(weight);
            sums.push(sum);
        }
        let n = weights.len();
        for list in [&mut *best, &mut *next] {
            list.clear();
            list.resize(n + LANES, f64::NEG_INFINITY);
        }
        best[0] = 0.0;
        // No group begins there.
        weights.resize(n + LANES, weight);
        sums.resize(n + LANES, sum);
    }

    /// How many points there are.
    fn n(&self) -> usize {
        self.weights.len() - LANES - 1
    }

    /// The most that all points gain with one more group.
    fn all(&self, factor: f64) -> f64 {
        let n = self.n();
        Level::detect().run(
            #[inline(always)]
            || self.last(n, (0, n), factor).0,
        )
    }

    /// Allow for one more group.
    fn groups(&mut self, factor: f64, halves: &mut Vec<Half>) {
        let n = self.n();
        halves.clear();
        halves.push(Half { ends: (0, n), starts: (0, n) });
        Level::detect().run(
            #[inline(always)]
            || {
                while let Some(Half { ends, starts }) = halves.pop() {
                    let end = ends.0.midpoint(ends.1);
                    let (most, at) = self.last(end, starts, factor);
                    self.next[end] = most;
                    if end < ends.1 {
                        halves.push(Half { ends: (end + 1, ends.1), starts: (at, starts.1) });
                    }
                    if ends.0 < end {
                        halves.push(Half { ends: (ends.0, end - 1), starts: (starts.0, at) });
                    }
                }
            },
        );
        std::mem::swap(&mut self.best, &mut self.next);
    }

    /// The most that points before `end` gain with one more group, which starts there or a little
    /// later, and where.
    #[inline(always)]
    fn last(&self, end: usize, starts: (usize, usize), factor: f64) -> (f64, usize) {
        let (weight, sum) = (self.weights[end], self.sums[end]);
        let (mut most, mut at) = (f64::NEG_INFINITY, starts.0);
        for from in (starts.0..=starts.1.min(end)).step_by(LANES) {
            let weights: &[i64; LANES] = self.weights[from..].first_chunk().expect("filled up");
            let sums: &[i64; LANES] = self.sums[from..].first_chunk().expect("filled up");
            let best: &[f64; LANES] = self.best[from..].first_chunk().expect("filled up");
            let mut gains = [f64::NEG_INFINITY; LANES];
            let mut larger = false;
            for l in 0..LANES {
                let (w, s) = ((weight - weights[l]) as f64, (sum - sums[l]) as f64);
                let gain = best[l] + s * s * factor / w.max(1.0);
                // No group is empty.
                gains[l] = if w > 0.0 { gain } else { f64::NEG_INFINITY };
                larger |= gains[l] > most;
            }
            if larger {
                for (l, &gain) in gains.iter().enumerate() {
                    if gain > most {
                        (most, at) = (gain, from + l);
                    }
                }
            }
        }
        (most, at)
    }
}

/// Bits in the order of their floats.
fn rising(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
