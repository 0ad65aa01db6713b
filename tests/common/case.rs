//! A problem before it is built, so that it can be printed, shrunk and recomputed by other means.

use certree::data::{Column, Points};
use certree::error::Result;
use certree::problem::{Problem, Shape};
use certree::task::{ClassInput, RowCosts};

#[derive(Debug, Clone)]
pub struct Case {
    pub columns: Vec<Column>,
    /// By column, then point.
    pub codes: Vec<Vec<u32>>,
    pub rows: Vec<u64>,
    pub loss: Loss,
    pub shape: Shape,
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
}

impl Case {
    pub fn problem(&self) -> Result<Problem> {
        let points = Points::new(&self.columns, self.codes.clone(), self.rows.clone())?;
        let scaled = match &self.loss {
            Loss::Classes(input) => input.build()?,
            Loss::Rows { n_labels, costs, normalizer, leaf_penalty } => {
                RowCosts::build(*n_labels, costs, *normalizer, *leaf_penalty, None)?
            }
        };
        Problem::new(self.columns.clone(), points, scaled, self.shape)
    }

    pub fn n_points(&self) -> usize {
        self.rows.len()
    }

    pub fn leaf_penalty(&self) -> f64 {
        match &self.loss {
            Loss::Classes(input) => input.leaf_penalty,
            Loss::Rows { leaf_penalty, .. } => *leaf_penalty,
        }
    }
}
