//! Data, a task, and what a tree may be: everything a search is given.

use std::sync::Arc;

use crate::cost::{Cost, Scale};
use crate::data::{Column, Features, Points};
use crate::error::{Error, Result};
use crate::task::{Labelled, Scaled, Stated, Structure, Summed, Task, TestCosts};

/// What a tree may be. A single leaf is always allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Depth of a single leaf is 0. `None`: as deep as it pays.
    pub max_depth: Option<u32>,
    pub max_leaves: Option<u32>,
    /// Rows (not weight) that every leaf of a split must hold.
    pub min_leaf_rows: u64,
}

impl Default for Shape {
    fn default() -> Self {
        Shape { max_depth: None, max_leaves: None, min_leaf_rows: 1 }
    }
}

/// Clones share the data.
#[derive(Clone)]
pub struct Problem {
    pub columns: Vec<Column>,
    pub features: Features,
    pub points: Points,
    pub task: Arc<dyn Task>,
    pub shape: Shape,
    /// λ in the task's units.
    pub leaf_cost: Cost,
    pub scale: Scale,
    /// What splits cost beside their leaves, if they do.
    pub test_costs: Option<TestCosts>,
    /// The caller's own numbers, if they were handed on.
    pub stated: Option<Arc<dyn Stated>>,
}

impl Problem {
    pub fn new(columns: Vec<Column>, points: Points, scaled: Scaled, shape: Shape) -> Result<Self> {
        if shape.max_leaves == Some(0) {
            return Err(Error::invalid("max_leaf_nodes must be at least 1"));
        }
        if scaled.task.n_points() != points.len() {
            return Err(Error::invalid(format!(
                "weights or costs are given for {} points, but there are {}",
                scaled.task.n_points(),
                points.len()
            )));
        }
        if let Some(costs) = &scaled.test_costs {
            if costs.of_column.len() != columns.len() {
                return Err(Error::invalid(format!(
                    "tests are given for {} columns, but there are {}",
                    costs.of_column.len(),
                    columns.len()
                )));
            }
            if scaled.task.structure().labelled().is_none() {
                return Err(Error::invalid("prices of columns are for tasks with labels"));
            }
        }
        let features = Features::of(&columns);
        let Scaled { task, mut leaf_cost, mut scale, test_costs, stated } = scaled;
        let task: Arc<dyn Task> = match task.structure() {
            Structure::Sums | Structure::Counts => {
                let rounding = task.rounding();
                let (summed, shift) = Summed::new(task)?;
                leaf_cost += rounding;
                scale.offset -= i128::from(shift);
                Arc::new(summed)
            }
            _ => task.into(),
        };
        Ok(Problem { columns, features, points, task, shape, leaf_cost, scale, test_costs, stated })
    }

    /// The losses by label, of a task whose answers are labels.
    pub fn labelled(&self) -> Option<&dyn Labelled> {
        self.task.structure().labelled()
    }

    /// The same for smaller trees.
    pub fn with_most_leaves(&self, most: u32) -> Problem {
        let shape = Shape { max_leaves: Some(most), ..self.shape };
        Problem { shape, ..self.clone() }
    }

    /// Summed statistics of some points.
    pub fn stats<I: IntoIterator<Item = usize>>(&self, points: I) -> Vec<i64> {
        let mut sum = vec![0; self.task.width()];
        for point in points {
            for (total, s) in sum.iter_mut().zip(self.task.stats(point)) {
                *total += s;
            }
        }
        sum
    }
}
