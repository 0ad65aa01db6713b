//! Fence: lines that no tree lies below, and the least loss that they leave.
//!
//! Statement: let a loss be a function of two sums of a tree, and let each line say that
//! weights · sums + penalty · leaves ≥ bound for all trees of at most so many leaves. Of trees with
//! ℓ leaves, no loss is below the least loss at a corner of the polygon that all lines, and the
//! totals, leave.
//!
//! Proof: their sums lie in the polygon, and a loss for which no point of a polygon is better than
//! its best corner has none below in it: ratios of linear functions, and Matthews' correlation
//! (`metric/loss.rs`). Corners are found in floats: lines are moved out, and the loss at corners
//! down, by more than the arithmetic can err.
//!
//! Invalid for losses that have better points inside, as Matthews' correlation below zero has.

/// weights · errors + penalty · leaves ≥ bound, for all trees of at most `max_leaves` leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    pub weights: [i64; 2],
    pub penalty: i64,
    pub bound: i64,
    pub max_leaves: Option<u32>,
}

/// More than the arithmetic of a corner and its loss can err.
pub const BLUR: f64 = 1e-12;

#[derive(Debug, Default)]
pub struct Fence {
    lines: Vec<Line>,
}

impl Fence {
    pub fn add(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// The least loss that a tree of so many leaves can have, and the corner that has it. `totals`:
    /// the largest sums.
    pub fn least(
        &self,
        totals: [i64; 2],
        leaves: u32,
        loss: impl Fn([f64; 2]) -> f64,
    ) -> (f64, [f64; 2]) {
        let [p, n] = totals.map(|total| total as f64);
        let mut polygon = vec![[0.0, 0.0], [p, 0.0], [p, n], [0.0, n]];
        for line in &self.lines {
            if line.max_leaves.is_some_and(|most| leaves > most) {
                continue;
            }
            let [a, b] = line.weights.map(|weight| weight as f64);
            let size = a * p + b * n + line.penalty as f64 * f64::from(leaves);
            let bound = line.bound as f64 - line.penalty as f64 * f64::from(leaves);
            let cut = clip(&polygon, |[x, y]| a * x + b * y - bound + size * 1e-14);
            if cut.is_empty() {
                // No tree has so many leaves, or only rounding keeps one: then it is in the last
                // corner.
                break;
            }
            polygon = cut;
        }
        let mut best = (f64::INFINITY, [0.0, 0.0]);
        for &corner in &polygon {
            let value = loss(corner).min(1.0);
            if value < best.0 {
                best = (value, corner);
            }
        }
        // Loss changes by no more than about 4 when a sum changes by the smaller total.
        let blur = BLUR * (1.0 + (p + n) / p.min(n).max(1.0));
        ((best.0 - blur).max(0.0), best.1)
    }
}

/// The part of a convex polygon where `inside` is not negative.
fn clip(polygon: &[[f64; 2]], inside: impl Fn([f64; 2]) -> f64) -> Vec<[f64; 2]> {
    let mut out = Vec::with_capacity(polygon.len() + 1);
    for (index, &to) in polygon.iter().enumerate() {
        let from = polygon[(index + polygon.len() - 1) % polygon.len()];
        let (a, b) = (inside(from), inside(to));
        if (a < 0.0) != (b < 0.0) {
            let share = a / (a - b);
            out.push([from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]);
        }
        if b >= 0.0 {
            out.push(to);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 − F1 and Jaccard's of 9 positives.
    fn ratios() -> [fn([f64; 2]) -> f64; 2] {
        [|[x, y]| (x + y) / (18.0 - x + y), |[x, y]| (x + y) / (9.0 + y)]
    }

    #[test]
    fn nothing_inside_is_better_than_the_best_corner() {
        for loss in ratios() {
            let mut fence = Fence::default();
            let lines = [([1, 1], 3), ([3, 1], 4), ([1, 4], 6)];
            for (step, (weights, bound)) in lines.into_iter().enumerate() {
                fence.add(Line { weights, penalty: 1, bound, max_leaves: None });
                for leaves in 0..2i64 {
                    let (least, _) = fence.least([9, 13], leaves as u32, loss);
                    let mut best = f64::INFINITY;
                    for missed in 0..=9 {
                        for alarms in 0..=13 {
                            let kept = lines[..=step]
                                .iter()
                                .all(|(w, bound)| w[0] * missed + w[1] * alarms + leaves >= *bound);
                            if kept {
                                best = best.min(loss([missed as f64, alarms as f64]));
                            }
                        }
                    }
                    assert!(least <= best && least >= 0.0);
                }
            }
        }
    }

    /// x + 2y + leaves ≥ 5 and 3x + y + leaves ≥ 7 meet where no other corner is as good.
    #[test]
    fn the_best_corner_is_where_lines_meet() {
        let mut fence = Fence::default();
        for (weights, bound, max_leaves) in
            [([1, 2], 5, None), ([3, 1], 7, Some(3)), ([1, 1], 9, Some(0))]
        {
            fence.add(Line { weights, penalty: 1, bound, max_leaves });
        }
        let is = |leaves: u32, corner: [f64; 2]| {
            let (least, best) = fence.least([9, 13], leaves, |[x, y]| (x + y) / 22.0);
            let loss = (corner[0] + corner[1]) / 22.0;
            assert!(least <= loss && least > loss - 1e-11, "{least} for {loss}");
            assert!(best.iter().zip(corner).all(|(a, b)| (a - b).abs() < 1e-9), "{best:?}");
        };
        is(1, [1.6, 1.2]);
        is(3, [1.2, 0.4]);
        // Trees of more leaves know the first line alone.
        is(4, [0.0, 0.5]);
    }
}
