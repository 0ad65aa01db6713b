//! One function for each kind of task.

use numpy::{PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use super::search::{LimitParts, PyAnswer, ShapeParts, read_columns, solve};
use super::table::PyPoints;
use crate::task::{ClassInput, RowCosts};

/// Class structure: row weight by point and class, cost by class and label.
#[pyfunction]
#[pyo3(signature = (columns, points, weights, costs, class_weights, balanced, leaf_penalty, shape, limits, pulse=None))]
#[allow(clippy::too_many_arguments)]
pub(super) fn solve_classes(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    points: &Bound<'_, PyPoints>,
    weights: PyReadonlyArray1<'_, f64>,
    costs: Vec<f64>,
    class_weights: Vec<f64>,
    balanced: bool,
    leaf_penalty: f64,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
) -> PyResult<PyAnswer> {
    let n_classes = class_weights.len();
    let n_labels = costs.len() / n_classes.max(1);
    let input = ClassInput {
        n_classes,
        n_labels,
        weights: weights.to_vec()?,
        costs,
        class_weights,
        balanced,
        leaf_penalty,
    };
    let data = (read_columns(py, columns)?, points.get().points.clone());
    solve(py, data, || input.build(), shape, limits, pulse)
}

/// Costs by point and label (row-major), each summed over the point's rows. `error` bounds how far all of
/// them together are from what they stand for.
#[pyfunction]
#[pyo3(signature = (columns, points, costs, n_labels, error, normalizer, leaf_penalty, shape, limits, pulse=None))]
#[allow(clippy::too_many_arguments)]
pub(super) fn solve_rows(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    points: &Bound<'_, PyPoints>,
    costs: PyReadonlyArray1<'_, f64>,
    n_labels: usize,
    error: f64,
    normalizer: f64,
    leaf_penalty: f64,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
) -> PyResult<PyAnswer> {
    let costs = costs.to_vec()?;
    let data = (read_columns(py, columns)?, points.get().points.clone());
    let build = || RowCosts::build_rounded(n_labels, &costs, error, normalizer, leaf_penalty, None);
    solve(py, data, build, shape, limits, pulse)
}
