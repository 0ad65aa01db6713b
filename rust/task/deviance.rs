//! Deviances of leaves that answer with a rate.
//!
//! Rows have a target y, an exposure e > 0 and a weight w; a leaf answers with a rate r, and
//! expects e·r.
//!
//! - Poisson: 2 Σ w·(y·ln(y / (e·r)) − y + e·r). The best rate is Y / E with Y = Σ w·y and E = Σ
//!   w·e, so a leaf's loss is f = 2·(A − Y·ln(Y / E)) with A = Σ w·y·ln(y / e).
//! - Gamma: 2 Σ w·(z / r − 1 − ln(z / r)) with z = y / e. The best rate is Z / W with Z = Σ w·z and
//!   W = Σ w, so a leaf's loss is f = 2·(W·ln(Z / W) − B) with B = Σ w·ln z.
//!
//! A and B add up, Y·ln(Y / E) is convex and W·ln(Z / W) concave, and both are homogeneous: f(A ∪
//! B) ≥ f(A) + f(B). Survival with exponential hazards is the Poisson deviance of events, with
//! cumulative hazards as exposure (LeBlanc and Crowley, 1992).
//!
//! Exposures are scaled so that the rate of all rows is 1: then A and the other terms are no larger
//! than need be.
//!
//! **Rounding.** Both losses are c − a·ln(a / b) up to signs. Sums that are off by Δa, Δb and Δc
//! move that by no more than Δc + (|ln(a / b)| + 1)·Δa + (a / b)·Δb, and no leaf has a larger a / b
//! than all of its points. So much is an error of the formula like that of its floats.

use super::additive::{AdditiveInput, AdditiveTask};
use super::formula::{Formula, FormulaInput};
use super::logarithm::ln;
use super::rough::Rough;
use super::scaled::{Scaled, check_penalty};
use crate::bits::Level;
use crate::cost::sum;
use crate::error::{Error, Result};

pub(super) static POISSON: AdditiveTask = AdditiveTask {
    name: "poisson",
    words: "Poisson deviance of targets from the leaf's rate, with exposure",
    columns: &["targets", "exposures", "weights"],
    build: |input| Rows::of(Deviance::Poisson, input)?.build(),
};

pub(super) static GAMMA: AdditiveTask = AdditiveTask {
    name: "gamma",
    words: "Gamma deviance of targets from the leaf's rate, with exposure",
    columns: &["targets", "exposures", "weights"],
    build: |input| Rows::of(Deviance::Gamma, input)?.build(),
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deviance {
    Poisson,
    Gamma,
}

/// A problem of rates, by row.
struct Rows<'a> {
    deviance: Deviance,
    targets: &'a [f64],
    /// None if every row has an exposure of 1.
    exposures: Option<&'a [f64]>,
    weights: Option<&'a [f64]>,
    /// The point of each row.
    points: &'a [u32],
    n_points: usize,
    leaf_penalty: f64,
}

/// Sums are whole numbers of units, of which the sizes of all points have about so many.
const FINE: f64 = (1u64 << 58) as f64;

/// No logarithm of a ratio of two sums is larger: sums of units are below 2^62.
const LARGEST_LN: f64 = 45.0;

struct Rates {
    deviance: Deviance,
    /// By statistic: its unit.
    units: [f64; 3],
    /// What the third statistic's sizes add up to.
    size: f64,
    /// By how much a loss may be off because statistics were rounded.
    moved: f64,
    /// The rate of all rows, which stands for 1.
    rate: f64,
}

impl<'a> Rows<'a> {
    fn of(deviance: Deviance, input: &'a AdditiveInput) -> Result<Rows<'a>> {
        Ok(Rows {
            deviance,
            targets: input.column("targets")?,
            exposures: input.optional("exposures"),
            weights: input.optional("weights"),
            points: &input.points,
            n_points: input.n_points,
            leaf_penalty: input.leaf_penalty,
        })
    }

    fn build(&self) -> Result<Scaled> {
        self.validate()?;
        let n = self.targets.len();
        let of = |list: Option<&[f64]>, row: usize| list.map_or(1.0, |list| list[row]);
        let rows = || {
            (0..n)
                .map(|row| (row, self.targets[row], of(self.exposures, row), of(self.weights, row)))
        };
        let rate = match self.deviance {
            Deviance::Poisson => {
                sum(rows().map(|(_, y, _, w)| w * y)) / sum(rows().map(|(_, _, e, w)| w * e))
            }
            Deviance::Gamma => {
                sum(rows().map(|(_, y, e, w)| w * (y / e))) / sum(rows().map(|(.., w)| w))
            }
        };
        if rate == 0.0 && self.targets.iter().all(|&y| y == 0.0) {
            return Err(Error::invalid(
                "no row has a target above 0, so there is no rate to explain",
            ));
        }
        if !rate.is_normal() {
            return Err(too_far_apart());
        }
        let mut sums = vec![[0.0; 3]; self.n_points];
        for (row, y, e, w) in rows() {
            // A rate of 1 is that of all rows.
            let (e, z) = (e * rate, y / e / rate);
            let own = match self.deviance {
                Deviance::Poisson => {
                    [w * y, w * e, if y > 0.0 { w * y * (y / e).ln() } else { 0.0 }]
                }
                Deviance::Gamma => [w, w * z, w * z.ln()],
            };
            // Smaller numbers than normal ones have few digits.
            let known = |x: f64| x.is_normal() || y == 0.0;
            if !(own[1].is_normal() && known(own[0]) && known(z)) {
                return Err(too_far_apart());
            }
            let point = &mut sums[self.points[row] as usize];
            point.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        self.of_sums(&sums, rate)
    }

    /// From the three sums of each point.
    fn of_sums(&self, sums: &[[f64; 3]], rate: f64) -> Result<Scaled> {
        let sizes = [0, 1, 2].map(|s: usize| sum(sums.iter().map(|point| point[s].abs())));
        if !sizes.iter().all(|size| size.is_finite()) {
            return Err(too_far_apart());
        }
        let unit = |size: f64| if size > 0.0 { (size / FINE).log2().ceil().exp2() } else { 1.0 };
        let units = sizes.map(unit);
        if !units.iter().all(|unit| unit.is_normal()) {
            return Err(too_far_apart());
        }
        // What is above 0 stays above 0, because a rate would have no logarithm otherwise.
        let whole = |x: f64, s: usize| match (x / units[s]).round() {
            0.0 if s < 2 && x > 0.0 => 1.0,
            whole => whole,
        };
        let mut stats = Vec::with_capacity(3 * sums.len());
        // What floats of rows round, and by what whole numbers are off.
        let floats = self.targets.len().min(64) as f64 * f64::EPSILON / 8.0;
        let mut off = sizes.map(|size| size * floats);
        let mut highest = 0.0f64;
        for point in sums {
            for s in 0..3 {
                let whole = whole(point[s], s);
                stats.push(whole as i64);
                off[s] += (point[s] - whole * units[s]).abs();
            }
            let least = point[1].min(whole(point[1], 1) * units[1]);
            highest = highest.max((point[0] + units[0]) / least);
        }
        let moved = 2.0 * (off[2] + (LARGEST_LN + 2.0) * off[0] + (1.0 + highest) * off[1]);
        let formula = Rates { deviance: self.deviance, units, size: sizes[2], moved, rate };
        FormulaInput {
            formula: Box::new(formula),
            stats,
            normalizer: None,
            leaf_penalty: self.leaf_penalty,
            slack: moved,
        }
        .build()
    }

    fn validate(&self) -> Result<()> {
        let n = self.targets.len();
        let lengths = [self.exposures, self.weights].map(|list| list.map_or(n, <[f64]>::len));
        if n == 0 || self.points.len() != n || lengths != [n, n] {
            return Err(Error::invalid("targets, exposures and weights are given for each row"));
        }
        if self.points.iter().any(|&p| p as usize >= self.n_points) {
            return Err(Error::invalid(format!("a row's point is not below {}", self.n_points)));
        }
        let positive = |x: &f64| x.is_finite() && *x > 0.0;
        let good = match self.deviance {
            Deviance::Poisson => |y: &f64| y.is_finite() && *y >= 0.0,
            Deviance::Gamma => |y: &f64| y.is_finite() && *y > 0.0,
        };
        if !self.targets.iter().all(good) {
            let least = if self.deviance == Deviance::Poisson { "at least" } else { "above" };
            return Err(Error::invalid(format!("targets must be finite and {least} 0")));
        }
        if !self.exposures.iter().copied().flatten().all(positive) {
            return Err(Error::invalid("exposures must be finite and above 0"));
        }
        if !self.weights.iter().copied().flatten().all(positive) {
            return Err(Error::invalid("row weights must be finite and above 0"));
        }
        check_penalty(self.leaf_penalty)?;
        Ok(())
    }
}

fn too_far_apart() -> Error {
    Error::invalid(
        "targets, exposures and weights are too far apart: bring the smallest and the largest nearer to each other",
    )
}

impl Formula for Rates {
    fn width(&self) -> usize {
        3
    }

    fn losses(&self, sums: &[i64], losses: &mut [f64]) {
        Level::detect().run(
            #[inline(always)]
            || match self.deviance {
                Deviance::Poisson => self.each(sums, losses, |part, c| c - part),
                // W·ln(Z / W) is −W·ln(W / Z).
                Deviance::Gamma => self.each(sums, losses, |part, c| -part - c),
            },
        );
    }

    fn takes_empty_leaves(&self) -> bool {
        true
    }

    fn rough(&self, points: &[i64]) -> Option<Rough> {
        let third = match self.deviance {
            Deviance::Poisson => 2.0 * self.units[2],
            Deviance::Gamma => -2.0 * self.units[2],
        };
        Rough::of_ratio(points, [self.units[0], self.units[1]], third)
    }

    fn error(&self, all: &[i64], _loss: f64) -> f64 {
        let first = all[0] as f64 * self.units[0];
        // A few roundings of both terms: 2 epsilon of a logarithm or of 1, and 1/2 of each sum,
        // quotient and product.
        2.0 * (self.size + first * LARGEST_LN) * 4.0 * f64::EPSILON + self.moved
    }

    /// The rate.
    fn answer(&self, sums: &[i64]) -> Vec<f64> {
        let [a, b] = [sums[0] as f64 * self.units[0], sums[1] as f64 * self.units[1]];
        match self.deviance {
            Deviance::Poisson => vec![if b > 0.0 { a / b * self.rate } else { 0.0 }],
            Deviance::Gamma => vec![b / a * self.rate],
        }
    }
}

impl Rates {
    /// Twice what is made of each leaf's a · ln(a / b) and its third statistic.
    #[inline(always)]
    fn each(&self, sums: &[i64], losses: &mut [f64], of: impl Fn(f64, f64) -> f64) {
        let n = losses.len();
        let [first, second, third] = [0, 1, 2].map(|s: usize| &sums[s * n..][..n]);
        let both = first.iter().zip(second).zip(third);
        for (loss, ((&a, &b), &c)) in losses.iter_mut().zip(both) {
            let [a, b, c] =
                [a as f64 * self.units[0], b as f64 * self.units[1], c as f64 * self.units[2]];
            let ratio = if a > 0.0 && b > 0.0 { a / b } else { 1.0 };
            *loss = 2.0 * of(a * ln(ratio), c);
        }
    }
}
