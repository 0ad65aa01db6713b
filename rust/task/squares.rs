//! Regression: cost(S) = Σ over outputs of Σ over rows of w·(y − mean of S)².
//!
//! The loss is divided by the cost of all rows as one leaf. Outputs are added as they are, as in
//! Quant-BnB: who wants them to count alike scales them first.
//!
//! **In integers.** Targets are centred, and each point gets the weight w of its rows, for each
//! output an integer sum s, and q = Σ over outputs of ⌈g(s, w)⌉ with g(s, w) = s²/w in units of
//! cost. A leaf costs
//!
//! > cost(S) = Σ q − Σ over outputs of ⌈g(Σ s, Σ w)⌉.
//!
//! g is convex and g(t·s, t·w) = t·g(s, w), so g(A ∪ B) ≤ g(A) + g(B); and ⌈x + y⌉ ≤ ⌈x⌉ + ⌈y⌉.
//! Hence **cost(A ∪ B) ≥ cost(A) + cost(B)**, exactly: every bound that needs splits to pay, and a
//! point to cost nothing (`least` is 0), holds without a tolerance.
//!
//! **What was rounded.** For a tree that costs c here, with the true sums s* in place of s, and the
//! sum of all squares Q* beside Σ q, a constant that goes into the offset: the tree's true cost is
//! Q* − Σ over leaves of g(s*, w), while c + ⌊Q* − Σ q⌋ ≤ Q* − Σ over leaves of g(s, w). So
//! rounding up g, and rounding down the offset and the leaf penalty, never puts c above the truth;
//! c falls short of it by a unit for each leaf and output, and one more. Only s − s* can do harm.
//! With δ = |s − s*| at each point and R the largest |y − centre|, a leaf whose sum moves by Δ
//! changes by |Δ|·|2s*/w + Δ/w| ≤ 2R|Δ| + Δ²/w, and Δ²/w ≤ Σ δ²/w as above: **slack = Σ over points
//! and outputs of 2Rδ + δ²/w**. It is 0 if nothing was rounded, as with targets that are short
//! integers. The offset is no more than what rows differ by within their points, which every tree
//! pays; so c may fall short by the slack once more.
//!
//! **Worst.** A leaf's mean lies between the least and the largest mean of a point. For any T and S
//! let c be the mean of a leaf of T's tree, and C the rows of S∖T in it; since g(A ∪ C) ≥ g(A) +
//! 2c·s(C) − c²·w(C), the leaf holds them for Σ over C of ⌈g⌉ + ⌈c²w − 2cs⌉ ≤ Σ over C of ⌈w·(s/w −
//! c)²⌉ + 1 for each output more. `worst` is the largest of this over the range of c, and no more
//! than all rows as one leaf cost: a bound that takes off so much says nothing. So similarity and
//! child support hold here too.

use super::leaf::Leaf;
use super::merging::Merging;
use super::twofold::{Twofold, scale};
use crate::cost::Cost;

/// Weights, sums and squares by point, in units of cost.
#[derive(Debug, Clone)]
pub struct Squares {
    pub(super) n_outputs: usize,
    /// By point: weight, sum by output, q, and its floor if there are floors.
    pub(super) stats: Vec<i64>,
    pub(super) floored: bool,
    pub(super) worst: Vec<Cost>,
    pub(super) outputs: Vec<Output>,
    /// True sums by point and output, to show means.
    pub(super) sums: Vec<Twofold>,
}

/// How the numbers of an output are kept: y = (centre + d)·2^exponent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Output {
    pub(super) exponent: i32,
    pub(super) centre: f64,
    /// At least the largest |d|; 0 if all targets are equal.
    pub(super) radius: f64,
    /// Integer sums are in units of 2^grid d.
    pub(super) grid: i32,
    /// Whether every d is a whole number of them: then so are all sums, and nothing is rounded.
    pub(super) exact: bool,
    /// g in units of cost is s² / w / 2^shift, or s² / w · factor.
    pub(super) shift: i32,
    pub(super) factor: f64,
}

/// ⌈s²/w⌉ in units of cost, which are 2^shift.
pub fn gain(sum: i64, weight: i64, shift: i32) -> Cost {
    if sum == 0 {
        return 0;
    }
    let square = u128::from(sum.unsigned_abs()).pow(2);
    // Dividing by 2^shift first and by w then, each time rounding up, is rounding up once.
    let square = match shift {
        128.. => 1,
        1.. => ((square - 1) >> shift) + 1,
        _ => square << -shift,
    };
    match u64::try_from(square) {
        Ok(square) => square.div_ceil(weight as u64) as Cost,
        Err(_) => square.div_ceil(weight as u128) as Cost,
    }
}

impl Squares {
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// The number of points.
    pub fn n_points(&self) -> usize {
        self.worst.len()
    }

    /// The number of statistics of a point.
    pub fn width(&self) -> usize {
        self.n_outputs + 2 + usize::from(self.floored)
    }

    /// The statistics of a point.
    pub fn stats(&self, point: usize) -> &[i64] {
        &self.stats[point * self.width()..(point + 1) * self.width()]
    }

    /// What points with these summed statistics cost as a leaf.
    pub fn leaf(&self, stats: &[i64]) -> Leaf {
        let (weight, q) = (stats[0], stats[self.n_outputs + 1]);
        let gains = (0..self.n_outputs).map(|o| self.gain(o, stats[o + 1], weight));
        Leaf { cost: q - gains.sum::<Cost>(), label: 0 }
    }

    /// By how many bits the squares of an output are shifted to be in units of cost.
    pub fn shift(&self, output: usize) -> i32 {
        self.outputs[output].shift
    }

    /// The target whose share in integer sums is 0, and the exponent of 2 that a 1 of them stands
    /// for.
    pub fn read(&self, output: usize) -> (f64, i32) {
        let Output { exponent, centre, grid, .. } = self.outputs[output];
        (scale(centre, exponent), exponent + grid)
    }

    /// ⌈g⌉ of an output.
    pub fn gain(&self, output: usize, sum: i64, weight: i64) -> Cost {
        gain(sum, weight, self.outputs[output].shift)
    }

    /// These squares on fewer points. Whoever loses a point that stands for several loses one after
    /// the other, so that `worst` adds up.
    pub(super) fn merged(&self, merging: &Merging) -> Squares {
        let (width, n_outputs) = (self.n_outputs + 2, self.n_outputs);
        let stats = merging.sums(width, |point| &self.stats(point)[..width]);
        let worst = merging.sums(1, |point| &self.worst[point..=point]);
        let mut sums = vec![Twofold::default(); merging.n * n_outputs];
        for (&point, &new) in merging.points.iter().zip(merging.new) {
            for o in 0..n_outputs {
                let sum = &mut sums[new as usize * n_outputs + o];
                *sum = *sum + self.sums[point as usize * n_outputs + o];
            }
        }
        let outputs = self.outputs.clone();
        Squares { n_outputs, stats, floored: false, worst, outputs, sums }
    }

    /// As above, with a floor for each point: the searches then take for granted that no rows cost
    /// less than their floors (`guess.rs`). None is above what the point can cost at most, nor are
    /// all above what all points cost as one leaf: similarity, which takes those for the most that
    /// rows add, then holds with floors, too.
    pub fn with_floors(&self, floors: &[Cost]) -> Squares {
        let width = self.width();
        let everything = (0..self.n_points()).fold(vec![0; width], |mut sum, point| {
            sum.iter_mut().zip(self.stats(point)).for_each(|(sum, s)| *sum += s);
            sum
        });
        let mut left = self.leaf(&everything).cost;
        let mut stats = Vec::with_capacity(self.n_points() * (self.n_outputs + 3));
        for (point, &floor) in floors.iter().enumerate() {
            let floor = floor.min(self.worst[point]).min(left);
            left -= floor;
            stats.extend_from_slice(&self.stats(point)[..self.n_outputs + 2]);
            stats.push(floor);
        }
        Squares { stats, floored: true, ..self.clone() }
    }

    /// Whether lower bounds rest on floors, which are a guess.
    pub fn has_floors(&self) -> bool {
        self.floored
    }

    /// What points with these statistics are taken to cost at least.
    pub fn floor(&self, stats: &[i64]) -> Cost {
        if self.floored { stats[self.n_outputs + 2] } else { 0 }
    }

    /// g of an output is s² / w times this.
    pub fn factor(&self, output: usize) -> f64 {
        self.outputs[output].factor
    }

    /// The most that any tree can save by losing a point.
    pub fn worst_of(&self, point: usize) -> Cost {
        self.worst[point]
    }

    /// What points cost as a leaf, point by point in 128 bits, since this is what the search is
    /// held to.
    pub fn cost(&self, points: &[u32]) -> Cost {
        let points = || points.iter().map(|&p| self.stats(p as usize));
        let weight: i128 = points().map(|stats| i128::from(stats[0])).sum();
        let mut cost: i128 = points().map(|stats| i128::from(stats[self.n_outputs + 1])).sum();
        for o in 0..self.n_outputs {
            let sum: i128 = points().map(|stats| i128::from(stats[o + 1])).sum();
            cost -= i128::from(gain(sum as i64, weight as i64, self.outputs[o].shift));
        }
        cost as Cost
    }

    /// The mean of each output, from the targets as they were given.
    pub fn shown(&self, points: &[u32], stats: &[i64]) -> Vec<f64> {
        let weight = Twofold::from(stats[0]);
        (self.outputs.iter().enumerate())
            .map(|(o, output)| {
                let sum = (points.iter()).fold(Twofold::default(), |sum, &p| {
                    sum + self.sums[p as usize * self.n_outputs + o]
                });
                let mean = sum.over(weight) + Twofold::from(output.centre);
                scale(mean.high, output.exponent)
            })
            .collect()
    }
}
