//! Planes below a loss of the confusion matrix.
//!
//! Statement: every tree whose loss is below u has a loss of at least start + Σ cost(c, j) · M(c,
//! j) over the cells beside the diagonal.
//!
//! Proof for F1: the loss is Σ share · (x + y) / D over the classes, with D = 2N − x + y. The term
//! of a class is at least share · y / (2N + y), and each of its y false alarms is missed elsewhere,
//! where the loss is at least Σ share · x / D. So y is at most the y where both add up to u, and D
//! at most 2N + y. With these D in place of those of the tree the loss is no more than it is, and a
//! sum over cells. Smaller D make smaller y, so that this is repeated; every round is valid.
//!
//! Proof for Matthews: where C > 0, the loss is 1 − C / √(A·B), which is at least 1 − C / √(A·B₀)
//! for B₀ ≤ B, and C = A − Σ M(c, j) · (S + N(j) − N(c)). To bound B: rows that do not get label j
//! are S − p(j), and C ≤ (S − p(j)) · (S + N(j)) where p(j) ≥ N(j), because what gets label j
//! covers at most N(j) · (S − p(j)) and each other label at most S times its weight. And B ≥ 2p(j)
//! · (S − p(j)). So C ≥ (1 − u) · √(A·B) says that p(j) / (S − p(j)) ≤ (S + N(j))² / (2(1 − u)² ·
//! A). Once there is a plane, it says how many errors there are at most, and p(j) is at most N(j)
//! and these. Σp² is convex, so it is largest where as many labels as possible have all that they
//! may.
//!
//! Proof for one class: write f for the loss (b·x + y) / D, where D = c·P − d·x + y. Where f ≤ u, D
//! is at least K = c·P·b / (b + u·d), because b·x + (1 − u)·y ≤ u·(c·P − d·x), so that x is at most
//! u·c·P / (b + u·d). So u − f ≤ (u − f)·D / K = (u·c·P − (b + u·d)·x − (1 − u)·y) / K, which is a
//! plane below f.
//!
//! Invalid for trees whose loss is u or more. A loss of the user's own has no plane.

use super::input::{MatrixMetric, OneClass};
use super::loss::MatrixLoss;

/// A plane by class and label, for a unit of weight.
#[derive(Debug, Clone)]
pub struct Plane {
    pub start: f64,
    pub costs: Vec<f64>,
}

/// How often the plane is made steeper by what it says itself.
const ROUNDS: usize = 8;

/// Little is said of trees whose correlation is hardly above zero.
const LEAST_CORRELATION: f64 = 1e-9;

/// B₀ is made so much smaller that floats do not matter.
const ROUNDED: f64 = 1.0 - 1e-12;

impl Plane {
    /// A plane below the losses of trees that lose less than `below`; none where nothing is known.
    pub fn new(loss: &MatrixLoss, below: f64) -> Option<Plane> {
        match loss.metric() {
            MatrixMetric::MacroF1 | MatrixMetric::WeightedF1 => Some(of_f1(loss, below)),
            MatrixMetric::Matthews => of_matthews(loss, below),
            MatrixMetric::OfOne(one) => Some(of_one(loss, one, below)),
            MatrixMetric::Own(_) => None,
        }
    }

    /// Whole costs by class and label of which a tree pays less than the number beside them exactly
    /// if its correlation is positive; none where they are too large.
    pub fn of_correlation(totals: &[i64]) -> Option<(Vec<i64>, i64)> {
        let k = totals.len();
        let all: i64 = totals.iter().sum();
        if all >= 1 << 27 {
            return None;
        }
        let spread = all * all - totals.iter().map(|total| total * total).sum::<i64>();
        let cost = |class: usize, label: usize| match class == label {
            true => 0,
            false => all + totals[label] - totals[class],
        };
        Some(((0..k * k).map(|at| cost(at / k, at % k)).collect(), spread))
    }

    /// Slopes of the loss at a tree: costs by class and label that favour what would be better.
    pub fn tangent(loss: &MatrixLoss, sums: &[i64]) -> Option<Vec<f64>> {
        let k = loss.n_classes();
        let cells = |slope: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            (0..k * k)
                .map(|at| if at / k == at % k { 0.0 } else { slope(at / k, at % k) })
                .collect()
        };
        match loss.metric() {
            MatrixMetric::MacroF1 | MatrixMetric::WeightedF1 => {
                let of = |class: usize| {
                    let total = loss.totals[class] as f64;
                    let (missed, alarms) = (sums[class] as f64, sums[k + class] as f64);
                    let under = 2.0 * total - missed + alarms;
                    let share = 2.0 * loss.shares[class] / (under * under);
                    [share * (total + alarms), share * (total - missed)]
                };
                Some(cells(&|class, label| of(class)[0] + of(label)[1]))
            }
            MatrixMetric::Matthews => {
                let (all, covered, [a, b]) = loss.covariance(sums);
                if a <= 0 || b <= 0 {
                    return None;
                }
                let (all, covered, b) = (all as f64, covered as f64, b as f64);
                let given = |label: usize| sums[1 + label] as f64;
                let total = |class: usize| loss.totals[class] as f64;
                Some(cells(&|class, label| {
                    let covers = all + total(label) - total(class);
                    ((covers - covered / b * (given(class) - given(label))) / all).max(0.0)
                }))
            }
            MatrixMetric::OfOne(one) => {
                // The line of all sums that are as good.
                let here = loss.of(sums);
                let cost =
                    |class| if class == one.class { one.b + here * one.d } else { 1.0 - here };
                let total = loss.totals[one.class] as f64;
                Some(cells(&|class, _| (cost(class) / total).max(0.0)))
            }
            MatrixMetric::Own(_) => None,
        }
    }
}

fn of_one(loss: &MatrixLoss, one: &OneClass, below: f64) -> Plane {
    // No loss is above 1.
    let (below, base) = (below.clamp(0.0, 1.0), one.c * loss.totals[one.class] as f64);
    let least = base * one.b / (one.b + below * one.d) * ROUNDED;
    let cost = |class: usize, label: usize| match class == label {
        true => 0.0,
        false if class == one.class => (one.b + below * one.d) / least,
        false => (1.0 - below) / least,
    };
    Plane {
        start: below - below * base / least,
        costs: (0..4).map(|at| cost(at / 2, at % 2)).collect(),
    }
}

fn of_f1(loss: &MatrixLoss, below: f64) -> Plane {
    let k = loss.n_classes();
    let totals: Vec<f64> = loss.totals.iter().map(|&total| total as f64).collect();
    let all: f64 = totals.iter().sum();
    let mut under: Vec<f64> = totals.iter().map(|total| total + all).collect();
    for _ in 0..ROUNDS {
        let before = under.clone();
        for class in 0..k {
            let others = (0..k).filter(|&other| other != class);
            let missed = others.map(|other| loss.shares[other] / before[other]);
            let missed = missed.fold(f64::INFINITY, f64::min);
            let total = totals[class];
            let least = |alarms: f64| {
                loss.shares[class] * alarms / (2.0 * total + alarms) + missed * alarms
            };
            let (mut low, mut high) = (0.0, all - total);
            if least(high) <= below {
                continue;
            }
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if least(middle) > below { high = middle } else { low = middle }
            }
            // Whole units, and a little more for what floats round.
            let most = 2.0 * total + (high * (1.0 + 1e-9) + 1e-9);
            under[class] = under[class].min(most);
        }
    }
    let cost = |class: usize, label: usize| match class == label {
        true => 0.0,
        false => loss.shares[class] / under[class] + loss.shares[label] / under[label],
    };
    Plane { start: 0.0, costs: (0..k * k).map(|at| cost(at / k, at % k)).collect() }
}

fn of_matthews(loss: &MatrixLoss, below: f64) -> Option<Plane> {
    let k = loss.n_classes();
    let totals: Vec<f64> = loss.totals.iter().map(|&total| total as f64).collect();
    let all: f64 = totals.iter().sum();
    let spread = all * all - totals.iter().map(|total| total * total).sum::<f64>();
    let covers = |class: usize, label: usize| all + totals[label] - totals[class];
    let plane = |least: f64| {
        let size = (spread * least).sqrt();
        let cost = |class: usize, label: usize| match class == label {
            true => 0.0,
            false => covers(class, label) / size,
        };
        let costs = (0..k * k).map(|at| cost(at / k, at % k)).collect();
        Plane { start: 1.0 - spread / size, costs }
    };
    let share = 1.0 - below;
    if share < LEAST_CORRELATION {
        return None;
    }
    let most = |label: usize| {
        let ratio = (all + totals[label]).powi(2) / (2.0 * share * share * spread);
        totals[label].max(all * ratio / (1.0 + ratio)).min(all)
    };
    let mut given: Vec<f64> = (0..k).map(most).collect();
    let mut least = least_spread(&given, all);
    for _ in 0..ROUNDS {
        if least <= all * all * 1e-6 {
            return None;
        }
        let Plane { start, costs } = plane(least);
        let cheapest = (0..k * k).filter(|at| at / k != at % k).map(|at| costs[at]);
        let cheapest = cheapest.fold(f64::INFINITY, f64::min);
        let errors = (below - start) / cheapest * (1.0 + 1e-9) + 1e-9;
        for (most, total) in given.iter_mut().zip(&totals) {
            *most = most.min(total + errors);
        }
        least = least_spread(&given, all);
    }
    Some(plane(least))
}

/// The least of S² − Σp² where labels are given to no more weight than these, and to S in all.
fn least_spread(most: &[f64], all: f64) -> f64 {
    let mut sorted = most.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut left, mut squares) = (all, 0.0);
    for most in sorted {
        let given = most.min(left);
        squares += given * given;
        left -= given;
    }
    ((all * all - squares) * ROUNDED).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confusion::input::MatrixInput;
    use crate::task::ClassInput;

    #[test]
    fn no_better_matrix_is_below_its_plane() {
        let mut state = 7u64;
        let mut below = |n: i64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as i64 % n
        };
        let metrics = [MatrixMetric::MacroF1, MatrixMetric::WeightedF1, MatrixMetric::Matthews];
        let mut tried = 0;
        for case in 0..30_000 {
            let k = 2 + below(3) as usize;
            let totals: Vec<i64> = (0..k).map(|_| 1 + below(12)).collect();
            let classes = ClassInput {
                n_classes: k,
                n_labels: k,
                weights: Vec::new(),
                costs: vec![0.0; k * k],
                class_weights: vec![1.0; k],
                balanced: false,
                leaf_penalty: 0.0,
            };
            let metric = metrics[case % 3].clone();
            let input = MatrixInput { classes, metric };
            let loss = MatrixLoss::new(&input, totals.clone(), &vec![1; k], vec![1.0; k]).unwrap();
            // Mostly right, or the matrices are no good.
            let mut matrix = vec![0; k * k];
            for class in 0..k {
                for _ in 0..totals[class] {
                    let right = below(4) > 0;
                    matrix[class * k + if right { class } else { below(k as i64) as usize }] += 1;
                }
            }
            let sum = |adds: &Vec<i64>| matrix.iter().zip(adds).map(|(m, add)| m * add).sum();
            let sums: Vec<i64> = loss.adds.iter().map(sum).collect();
            let own = loss.of(&sums);
            let upper = own + 1e-9 + below(5) as f64 * 0.1;
            let Some(plane) = Plane::new(&loss, upper) else { continue };
            let on_plane = matrix.iter().zip(&plane.costs).map(|(&m, cost)| m as f64 * cost);
            let least = plane.start + on_plane.sum::<f64>();
            assert!(least <= own + 1e-12, "{least} > {own}: {matrix:?}");
            let (costs, spread) = Plane::of_correlation(&totals).unwrap();
            let paid: i64 = matrix.iter().zip(costs).map(|(&m, cost)| m * cost).sum();
            if matches!(loss.metric(), MatrixMetric::Matthews) && spread > 0 {
                assert_eq!(paid < spread, own < 1.0, "{matrix:?}");
            }
            tried += 1;
        }
        assert!(tried > 15_000);
    }
}
