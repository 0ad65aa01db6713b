//! A metric problem in the numbers that were given.

use super::input::MetricInput;
use crate::exact::{Ratio, Total};

/// Positives and negatives by point, exactly: weights times the factors of their classes.
pub struct Given {
    pub(super) weights: Vec<[f64; 2]>,
    pub(super) factors: [Ratio; 2],
    pub(super) totals: [Ratio; 2],
    /// The first search may have had a lower one.
    pub(super) leaf_penalty: f64,
}

impl Given {
    pub fn new(input: &MetricInput) -> Given {
        let (p, classes) = (input.positive, &input.classes);
        let weights: Vec<[f64; 2]> =
            classes.weights.chunks_exact(2).map(|w| [w[p], w[1 - p]]).collect();
        let sums = [0, 1].map(|side| {
            let mut sum = Total::default();
            weights.iter().for_each(|own| sum.add(own[side]));
            sum.ratio()
        });
        let factor = |side: usize| {
            let class = if side == 0 { p } else { 1 - p };
            let weight = Ratio::written(classes.class_weights[class]);
            if classes.balanced { weight.over(&sums[side]) } else { weight }
        };
        let factors = [factor(0), factor(1)];
        let totals = [0, 1].map(|side| &factors[side] * &sums[side]);
        Given { weights, factors, totals, leaf_penalty: classes.leaf_penalty }
    }

    /// What labels miss, and how much false alarm they give; `positive` says which points are
    /// called positive.
    pub(super) fn errors(&self, positive: impl Fn(usize) -> bool) -> [Ratio; 2] {
        let mut sums = [Total::default(), Total::default()];
        for (point, own) in self.weights.iter().enumerate() {
            let side = usize::from(positive(point));
            sums[side].add(own[side]);
        }
        [0, 1].map(|side| &sums[side].ratio() * &self.factors[side])
    }
}
