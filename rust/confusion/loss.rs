//! Losses of a confusion matrix, as functions of a few sums of it.
//!
//! M(c, j) is the weight of class c that gets label j, N the weight of a class, S of all rows.
//!
//! - F1 of a class is 1 − (x + y) / (2N − x + y), where x is what is missed of it, and y what is
//!   falsely given its label. Both make it worse, so the sums are x and y of each class.
//! - Matthews' correlation is C / √(A · B), where p(j) is the weight that gets label j, E that of
//!   all errors, C = S · (S − E) − Σ p·N, A = S² − ΣN², B = S² − Σp². More weight on the diagonal
//!   may make it worse where it changes p. But where all p are equal, fewer errors are better: so E
//!   is to be less, and p is to be equal.
//! - F_β and Jaccard's index of one of two classes are ratios of x and y of that class
//!   (`OneClass`).
//! - A loss of the user's own falls as weight moves from another label to a class's own: each cell
//!   beside the diagonal is a sum.

use super::input::{MatrixInput, MatrixMetric};
use crate::error::{Error, Result};

/// A loss of sums, for data with these totals.
pub struct MatrixLoss {
    metric: MatrixMetric,
    /// By class: the weight of all rows, in whole units.
    pub totals: Vec<i64>,
    /// By class: the user's weight of a unit.
    per_unit: Vec<f64>,
    /// By class: how much its F1 counts.
    pub shares: Vec<f64>,
    /// By sum, class and label: what a unit adds.
    pub adds: Vec<Vec<i64>>,
    /// So many sums come first of which less is better. The others are to be equal.
    pub n_falling: usize,
}

/// The most sums that a value has room for.
pub const MOST_SUMS: usize = 40;

impl MatrixLoss {
    /// `totals`, and what a unit of a class's weight `adds`, are in whole units of all classes.
    /// `per_unit`: the user's weight of such a unit by class.
    pub fn new(
        input: &MatrixInput,
        totals: Vec<i64>,
        units: &[i64],
        per_unit: Vec<f64>,
    ) -> Result<Self> {
        let k = totals.len();
        let all: f64 = totals.iter().map(|&total| total as f64).sum();
        let shares = match input.metric {
            MatrixMetric::WeightedF1 => totals.iter().map(|&total| total as f64 / all).collect(),
            _ => vec![1.0 / k as f64; k],
        };
        let by_cell = |of: &dyn Fn(usize, usize) -> bool| -> Vec<i64> {
            (0..k * k).map(|at| units[at / k] * i64::from(of(at / k, at % k))).collect()
        };
        let mut adds = Vec::new();
        let n_falling = match input.metric {
            MatrixMetric::MacroF1 | MatrixMetric::WeightedF1 => {
                let missed = |own| by_cell(&|class, label| class == own && label != own);
                let alarms = |own| by_cell(&|class, label| class != own && label == own);
                adds.extend((0..k).map(missed));
                adds.extend((0..k).map(alarms));
                2 * k
            }
            MatrixMetric::OfOne(one) => {
                adds.push(by_cell(&|class, label| class == one.class && label != one.class));
                adds.push(by_cell(&|class, label| class != one.class && label == one.class));
                2
            }
            MatrixMetric::Matthews => {
                adds.push(by_cell(&|class, label| class != label));
                adds.extend((0..k).map(|own| by_cell(&|_, label| label == own)));
                1
            }
            MatrixMetric::Own(_) => {
                let cell = |at: usize| by_cell(&|class, label| class * k + label == at);
                adds.extend((0..k * k).filter(|at| at / k != at % k).map(cell));
                k * (k - 1)
            }
        };
        if adds.len() > MOST_SUMS {
            return Err(Error::invalid(format!(
                "this objective is searched for at most {} classes, but there are {k}: merge rare \
                 ones, or take \"accuracy\" or \"balanced_accuracy\"",
                most_classes(&input.metric)
            )));
        }
        Ok(MatrixLoss { metric: input.metric.clone(), totals, per_unit, shares, adds, n_falling })
    }

    pub fn n_classes(&self) -> usize {
        self.totals.len()
    }

    pub fn metric(&self) -> &MatrixMetric {
        &self.metric
    }

    /// The loss of a tree with these sums.
    pub fn of(&self, sums: &[i64]) -> f64 {
        match &self.metric {
            MatrixMetric::MacroF1 | MatrixMetric::WeightedF1 => self.f1(sums),
            MatrixMetric::Matthews => self.matthews(sums),
            MatrixMetric::OfOne(one) => {
                let (x, y) = (sums[0] as f64, sums[1] as f64);
                (one.b * x + y) / (one.c * self.totals[one.class] as f64 - one.d * x + y)
            }
            MatrixMetric::Own(own) => own.loss(&self.matrix(sums)),
        }
    }

    /// The loss of a tree without errors, below which no loss is.
    pub fn least(&self) -> f64 {
        match &self.metric {
            MatrixMetric::Own(own) => own.loss(&self.matrix(&vec![0; self.adds.len()])),
            _ => 0.0,
        }
    }

    fn f1(&self, sums: &[i64]) -> f64 {
        let k = self.n_classes();
        let own = |class: usize| {
            let (missed, alarms) = (sums[class], sums[k + class]);
            let under = 2 * self.totals[class] - missed + alarms;
            self.shares[class] * (missed + alarms) as f64 / under as f64
        };
        (0..k).map(own).sum()
    }

    fn matthews(&self, sums: &[i64]) -> f64 {
        let (all, covered, [a, b]) = self.covariance(sums);
        if all == 0 || a <= 0 || b <= 0 {
            return 1.0;
        }
        1.0 - covered as f64 / ((a as f64).sqrt() * (b as f64).sqrt())
    }

    /// S, C and [A, B] of the sums of Matthews' correlation.
    pub fn covariance(&self, sums: &[i64]) -> (i128, i128, [i128; 2]) {
        let all: i128 = self.totals.iter().map(|&total| i128::from(total)).sum();
        let (errors, given) = (i128::from(sums[0]), &sums[1..=self.n_classes()]);
        let product = |(&a, &b): (&i64, &i64)| i128::from(a) * i128::from(b);
        let of = |a: &[i64], b: &[i64]| a.iter().zip(b).map(product).sum::<i128>();
        let covered = all * (all - errors) - of(given, &self.totals);
        let spread = |weights: &[i64]| all * all - of(weights, weights);
        (all, covered, [spread(&self.totals), spread(given)])
    }

    /// The matrix that a loss of the user's own is given: weights by class and label.
    fn matrix(&self, sums: &[i64]) -> Vec<f64> {
        let k = self.n_classes();
        let mut matrix = vec![0.0; k * k];
        let mut cells = sums.iter();
        for class in 0..k {
            let mut right = self.totals[class];
            for label in (0..k).filter(|&label| label != class) {
                let cell = *cells.next().expect("there is a sum for each cell");
                matrix[class * k + label] = cell as f64 * self.per_unit[class];
                right -= cell;
            }
            matrix[class * k + class] = right as f64 * self.per_unit[class];
        }
        matrix
    }

    /// Why code of the user's own has failed.
    pub fn failure(&self) -> Option<Error> {
        match &self.metric {
            MatrixMetric::Own(own) => own.failure(),
            _ => None,
        }
    }

    /// Whether an own loss keeps its promises, tried on matrices with these totals.
    pub fn check_own(&self) -> Result<()> {
        let MatrixMetric::Own(own) = &self.metric else { return Ok(()) };
        let k = self.n_classes();
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n.max(1)
        };
        let loss = |sums: &[i64]| {
            let loss = own.loss(&self.matrix(sums));
            own.failure().map_or(Ok(loss), Err)
        };
        for _ in 0..TRIED {
            let mut sums = Vec::with_capacity(k * (k - 1));
            for &total in &self.totals {
                let mut left = below(total as u64 + 1) as i64;
                for _ in 0..k - 1 {
                    let own = below(left as u64 + 1) as i64;
                    sums.push(own);
                    left -= own;
                }
            }
            let before = loss(&sums)?;
            let at = below(sums.len() as u64) as usize;
            let mut better = sums.clone();
            better[at] -= below(sums[at] as u64 + 1) as i64;
            let after = loss(&better)?;
            if after > before + ROUNDED * before.abs().max(after.abs()) {
                return Err(not_monotone(
                    (&self.matrix(&sums), before),
                    (&self.matrix(&better), after),
                    k,
                ));
            }
        }
        Ok(())
    }
}

/// How many pairs of matrices are tried, and what floats may be off.
const TRIED: usize = 100;
const ROUNDED: f64 = 1e-9;

fn most_classes(metric: &MatrixMetric) -> usize {
    match metric {
        MatrixMetric::MacroF1 | MatrixMetric::WeightedF1 => MOST_SUMS / 2,
        MatrixMetric::Matthews => MOST_SUMS - 1,
        MatrixMetric::OfOne(_) => 2,
        // 6 · 5 cells are below 40, and 7 · 6 are not.
        MatrixMetric::Own(_) => 6,
    }
}

fn not_monotone((from, before): (&[f64], f64), (to, after): (&[f64], f64), k: usize) -> Error {
    let rows = |matrix: &[f64]| {
        let rows: Vec<String> = matrix.chunks_exact(k).map(|row| format!("{row:?}")).collect();
        format!("[{}]", rows.join(", "))
    };
    Error::invalid(format!(
        "an objective of your own must not rise where weight moves from a wrong label to the right \
         one: it is {before} for the confusion matrix {} (a row for each class), but {after} for {}",
        rows(from),
        rows(to)
    ))
}
