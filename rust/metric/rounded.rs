//! Ratios of weights that are no short decimals: these are rounded once, to whole numbers that
//! lines can be asked about exactly, and what that can do to a loss is known.
//!
//! Over the weight of all positives, let ξ be what is missed and η what is a false alarm. The loss
//! is (β²ξ + η) / (1 + β² − ξ + η), or (ξ + η) / (1 + η). Neither numerator is larger than its
//! denominator, which is at least β², or 1: so loss grows by at most (1 + β²) / β² times what ξ
//! does and 1 / β² times what η does, or by as much as they do. Rounding moves ξ, of any rows, by
//! half of what it moves the shares of all positives in all (they add up to 1 before and after),
//! and η by all that it moves.

use crate::cost::{decimal, sum};
use crate::metric::input::MetricInput;
use crate::metric::loss::{Kind, Loss, Metric};
use crate::task::ClassInput;

/// The problem in whole numbers.
pub struct Rounded {
    pub input: MetricInput,
    /// By how much a loss may be off.
    pub off: f64,
}

/// The most bits of the total weight that are tried, and the least.
const BITS: (u32, u32) = (27, 10);

/// Costs of additive problems are to stay within this: penalties on leaves are raised by up to
/// a factor of 3.
const ROOM: i128 = 1 << 56;

impl Rounded {
    /// On the finest grid that there is room for; `None` if there is none, and for Matthews'
    /// correlation, whose slopes have no bound.
    pub fn new(input: &MetricInput) -> Option<Rounded> {
        let ClassInput { weights, leaf_penalty, .. } = &input.classes;
        let (by_class, _) = input.classes.factors();
        let (p, n) = (input.positive, 1 - input.positive);
        let factors = [by_class[p], by_class[n]];
        let weights: Vec<[f64; 2]> =
            weights.chunks_exact(2).map(|w| [w[p] * factors[0], w[n] * factors[1]]).collect();
        let totals = [0, 1].map(|side| sum(weights.iter().map(|w| w[side])));
        let all = totals[0] + totals[1];
        if !(totals[0] > 0.0 && totals[1] > 0.0 && all.is_finite()) {
            return None;
        }
        let slopes = match input.metric {
            Metric::FBeta(beta) => [1.0 + 1.0 / (beta * beta), 1.0 / (beta * beta)],
            Metric::Jaccard => [1.0, 1.0],
            Metric::Matthews => return None,
        };
        let leaf_penalty = short(*leaf_penalty);
        let penalty = decimal(leaf_penalty)?;
        (BITS.1..=BITS.0).rev().find_map(|bits| {
            let unit = f64::from(1 << bits) / all;
            let whole: Vec<[f64; 2]> =
                weights.iter().map(|w| w.map(|weight| (weight * unit).round())).collect();
            let sums = [0, 1].map(|side| whole.iter().map(|w| w[side]).sum::<f64>());
            let loss = Loss::new(input.metric, sums[0] as i64, sums[1] as i64).ok()?;
            if sums.contains(&0.0) || !has_room(&loss, penalty, weights.len()) {
                return None;
            }
            let moved = [0, 1].map(|side| {
                let of = weights.iter().zip(&whole);
                sum(of.map(|(w, whole)| (w[side] / totals[0] - whole[side] / sums[0]).abs()))
            });
            // And by what floats round.
            let fuzz = 1e-13 * (1.0 + totals[1] / totals[0]);
            let off = slopes[0] * (moved[0] / 2.0 + fuzz) + slopes[1] * (moved[1] + fuzz);
            let classes = ClassInput {
                weights: whole
                    .iter()
                    .flat_map(|w| if p == 0 { [w[0], w[1]] } else { [w[1], w[0]] })
                    .collect(),
                class_weights: vec![1.0; 2],
                balanced: false,
                leaf_penalty,
                ..input.classes.clone()
            };
            Some(Rounded { input: MetricInput { classes, ..*input }, off })
        })
    }
}

/// The penalty, or the next lower one of few digits where it has many: no tree's objective becomes
/// larger by that, and the refining takes the whole one (`refined.rs`).
fn short(penalty: f64) -> f64 {
    if decimal(penalty).is_some_and(|(_, q)| q <= MOST_DENOMINATOR) {
        return penalty;
    }
    let size = MOST_DENOMINATOR as f64;
    let below = (penalty * size).floor() / size;
    // The quotient is rounded to nearest.
    if below <= penalty { below } else { ((penalty * size).floor() - 1.0) / size }
}

/// Penalties of more digits leave no room for weights.
const MOST_DENOMINATOR: i64 = 100_000;

/// True if the lines of any leaf count, and penalties on leaves, are within room. `penalty`: λ as a
/// fraction.
pub fn has_room(loss: &Loss, (p, q): (i64, i64), n_points: usize) -> bool {
    let Kind::Ratio(ratio) = loss.kind else { return false };
    let totals = [loss.positives, loss.negatives].map(i128::from);
    // The largest denominator, which no numerator exceeds.
    let under = i128::from(ratio.base) + i128::from(ratio.under[1]) * totals[1];
    let (p, q) = (i128::from(p), i128::from(q));
    let mut room = (under * under).checked_mul(p * n_points as i128);
    for side in 0..2 {
        let slope = i128::from(ratio.top[side]) + i128::from(ratio.under[side].abs());
        let more = (under * slope).checked_mul(q).and_then(|m| m.checked_mul(totals[side]));
        room = room.zip(more).and_then(|(a, b)| a.checked_add(b));
    }
    room.is_some_and(|room| room <= ROOM)
}
