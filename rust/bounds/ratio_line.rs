//! Ratio line: a ratio of linear functions of two sums is below a level exactly below a line
//! (Dinkelbach).
//!
//! Statement: let a loss be A / D with linear A and D > 0, and U the objective of the best tree. A
//! tree of k leaves has an objective below U exactly if A − (U − λk)·D < 0. If no tree of at least
//! ℓ leaves has A − (U − λℓ)·D + λD₀·(k − ℓ) < 0, where D₀ is the least D below the line of ℓ
//! leaves, none of at least ℓ leaves is better.
//!
//! Proof: multiply A / D + λk < U by D. (U − λk)·D = (U − λℓ)·D − λ(k − ℓ)·D, and D is at least D₀
//! wherever the first term alone leaves room.
//!
//! Invalid where the denominator may be 0 or less.

/// top · sums over base + under · sums, which is positive.
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    pub top: [i64; 2],
    pub base: i64,
    pub under: [i64; 2],
}

impl Ratio {
    /// Numerator and denominator.
    pub fn parts(&self, sums: impl Into<[i64; 2]>) -> (i128, i128) {
        let [x, y] = sums.into();
        let dot = |w: [i64; 2]| i128::from(w[0]) * i128::from(x) + i128::from(w[1]) * i128::from(y);
        (dot(self.top), i128::from(self.base) + dot(self.under))
    }

    /// The ratio is less than m = top/under exactly below a line: weights · sums < bound. The
    /// integers are `None` if they do not fit; they were divided by the last one. m is in (0, 1].
    pub fn line(&self, (top, under): (i128, i128)) -> Option<([i64; 2], i64, i128)> {
        let weight = |i: usize| {
            under
                .checked_mul(i128::from(self.top[i]))?
                .checked_sub(top.checked_mul(i128::from(self.under[i]))?)
        };
        let (a, b) = (weight(0)?, weight(1)?);
        let bound = top.checked_mul(i128::from(self.base))?;
        let shared = gcd(a, b);
        // weights · sums is a multiple of what the weights share.
        let bound = (bound + shared - 1).div_euclid(shared);
        let narrow = |x: i128| i64::try_from(x).ok();
        Some(([narrow(a / shared)?, narrow(b / shared)?], narrow(bound)?, shared))
    }

    /// The least denominator of sums up to `totals` below the line; a little less, for rounding.
    pub fn least_under(&self, totals: [i64; 2], weights: [i64; 2], bound: i64) -> f64 {
        let [p, n] = totals.map(|total| total as f64);
        let [a, b] = weights.map(|weight| weight as f64);
        // The corners of what the line leaves of the rectangle of all sums.
        let reach = |weight: f64, most: f64| {
            if weight > 0.0 { (bound as f64 / weight).min(most) } else { most }
        };
        let mut corners = vec![[0.0, 0.0], [reach(a, p), 0.0], [0.0, reach(b, n)]];
        let crossings = [
            [p, (bound as f64 - a * p) / b.max(1e-300)],
            [(bound as f64 - b * n) / a.max(1e-300), n],
        ];
        for [x, y] in crossings {
            if (0.0..=p).contains(&x) && (0.0..=n).contains(&y) {
                corners.push([x, y]);
            }
        }
        if a * p + b * n <= bound as f64 {
            corners.push([p, n]);
        }
        let under = |[x, y]: [f64; 2]| {
            self.base as f64 + self.under[0] as f64 * x + self.under[1] as f64 * y
        };
        corners.into_iter().map(under).fold(f64::INFINITY, f64::min) * (1.0 - 1e-9)
    }
}

/// The greatest common divisor, and at least 1.
pub fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 − F1, 1 − F2 and Jaccard's of 7 positives.
    const RATIOS: [Ratio; 3] = [
        Ratio { top: [1, 1], base: 14, under: [-1, 1] },
        Ratio { top: [4, 1], base: 35, under: [-1, 1] },
        Ratio { top: [1, 1], base: 7, under: [0, 1] },
    ];

    #[test]
    fn lines_are_level_lines() {
        for ratio in RATIOS {
            for level in [(1, 3), (2, 7), (1, 1)] {
                let (weights, bound, _) = ratio.line(level).unwrap();
                let least = ratio.least_under([7, 11], weights, bound);
                for missed in 0..=7 {
                    for alarms in 0..=11 {
                        let (top, under) = ratio.parts([missed, alarms]);
                        let below = weights[0] * missed + weights[1] * alarms < bound;
                        assert_eq!(below, top * level.1 < level.0 * under, "{level:?}");
                        assert!(!below || under as f64 >= least);
                    }
                }
            }
        }
    }
}
