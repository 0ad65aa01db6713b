//! A problem before it is built, so that it can be printed, shrunk and recomputed by other means.

use std::sync::Arc;

use certree::context::Context;
use certree::data::{Column, Points};
use certree::error::Result;
use certree::problem::{Problem, Shape};
use certree::task::{ClassInput, FeatureCostList, RowCosts, RowPrices, SquaresInput, Weighed};

use super::naive;
use super::paths::{PathRule, product};

#[derive(Debug, Clone)]
pub struct Case {
    pub columns: Vec<Column>,
    /// By column, then point.
    pub codes: Vec<Vec<u32>>,
    pub rows: Vec<u64>,
    pub loss: Loss,
    pub shape: Shape,
    /// None if questions are free.
    pub prices: FeatureCostList,
    /// What paths may ask; all of them hold.
    pub paths: Vec<PathRule>,
}

#[derive(Debug, Clone)]
pub enum Loss {
    Classes(ClassInput),
    Rows {
        n_labels: usize,
        /// By point, then label.
        costs: Vec<f64>,
        normalizer: f64,
        leaf_penalty: f64,
    },
    Squares(Squares),
}

/// Regression. Each point has as many targets and weights as any other.
#[derive(Debug, Clone)]
pub struct Squares {
    pub n_outputs: usize,
    pub per_point: usize,
    /// By point, then row, then output.
    pub targets: Vec<f64>,
    /// By point, then row.
    pub weights: Vec<i64>,
    pub leaf_penalty: f64,
}

impl Squares {
    pub fn input(&self) -> SquaresInput {
        let n_points = self.weights.len() / self.per_point;
        let all_ones = self.weights.iter().all(|&w| w == 1);
        SquaresInput {
            n_outputs: self.n_outputs,
            targets: self.targets.clone(),
            weights: (!all_ones).then(|| self.weights.clone()),
            given: None,
            points: (0..self.weights.len()).map(|row| (row / self.per_point) as u32).collect(),
            n_points,
            leaf_penalty: self.leaf_penalty,
        }
    }

    /// The rows of a point.
    pub fn rows(&self, point: usize) -> std::ops::Range<usize> {
        point * self.per_point..(point + 1) * self.per_point
    }
}

impl Loss {
    /// Weight by point and class, or by point where there are no classes.
    pub fn masses(&self, rows: &[u64]) -> Vec<f64> {
        match self {
            Loss::Classes(input) => input.weights.clone(),
            Loss::Rows { .. } => rows.iter().map(|&rows| rows as f64).collect(),
            Loss::Squares(squares) => {
                let of = |rows: &[i64]| rows.iter().sum::<i64>() as f64;
                squares.weights.chunks_exact(squares.per_point).map(of).collect()
            }
        }
    }
}

impl Case {
    pub fn problem(&self) -> Result<Problem> {
        let points = Points::new(&self.columns, self.codes.clone(), self.rows.clone())?;
        let scaled = match &self.loss {
            Loss::Classes(input) => input.build_with(&self.prices)?,
            Loss::Rows { n_labels, costs, normalizer, leaf_penalty } => {
                let (normalizer, weights) = (*normalizer, &self.row_weights());
                let feature_costs = &self.prices;
                let weighed = Weighed { costs, error: 0.0, normalizer, weights, feature_costs };
                RowCosts::build_weighed(*n_labels, weighed, *leaf_penalty, None)?
            }
            Loss::Squares(squares) => squares.input().build_with(&self.prices)?,
        };
        self.on_paths(Problem::new(self.columns.clone(), points, scaled, self.shape)?)
    }

    /// The rules for paths as one context, if there are any.
    pub fn context(&self) -> Option<Arc<dyn Context>> {
        let all = || Arc::new(product(&self.paths, self.columns.len()));
        (!self.paths.is_empty()).then(|| all() as Arc<dyn Context>)
    }

    /// The problem with the case's rules for paths.
    pub fn on_paths(&self, problem: Problem) -> Result<Problem> {
        let add = |problem: Problem, rule: &PathRule| {
            problem.with_context(rule.context(self.columns.len()))
        };
        self.paths.iter().try_fold(problem, add)
    }

    /// What each point weighs when it pays for questions.
    pub fn row_weights(&self) -> Vec<f64> {
        match &self.loss {
            Loss::Classes(input) => {
                let factors = naive::class_factors(input);
                let weigh = |point: &[f64]| point.iter().zip(&factors).map(|(w, f)| w * f).sum();
                input.weights.chunks_exact(input.n_classes).map(weigh).collect()
            }
            loss => loss.masses(&self.rows),
        }
    }

    /// What each class counts in what its rows pay: 1 where there are none.
    pub fn paying_factors(&self) -> Vec<f64> {
        match &self.loss {
            Loss::Classes(input) => naive::class_factors(input),
            _ => vec![1.0],
        }
    }

    /// The prices for a goal without classes: what the rows of all classes pay together.
    pub fn prices_without_classes(&self) -> FeatureCostList {
        let RowPrices { n_lists, n_classes, sums } = &self.prices.by_row;
        let of_point = |own: &[f64]| -> Vec<f64> {
            let paid = |list: usize| own.iter().skip(list).step_by(*n_lists).sum();
            (0..*n_lists).map(paid).collect()
        };
        let sums = sums.chunks((n_lists * n_classes).max(1)).flat_map(of_point).collect();
        let by_row = RowPrices { n_lists: *n_lists, n_classes: 1, sums };
        FeatureCostList { by_row, ..self.prices.clone() }
    }

    pub fn n_points(&self) -> usize {
        self.rows.len()
    }

    pub fn leaf_penalty(&self) -> f64 {
        match &self.loss {
            Loss::Classes(input) => input.leaf_penalty,
            Loss::Rows { leaf_penalty, .. } => *leaf_penalty,
            Loss::Squares(squares) => squares.leaf_penalty,
        }
    }
}
