//! Regression on its way to a search.

use numpy::{PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::search::{LimitParts, PyAnswer, ShapeParts, read_columns, solve};
use super::table::PyPoints;
use crate::task::SquaresInput;

/// Squared error: targets by row and output, and the point and the weight, in whole units, of each row.
/// `given`: the weights as they are, where whole units are rounded. `regrets`: by point, what a reference's squared error there is beyond the least, as a share of the objective.
#[pyfunction]
#[pyo3(signature = (columns, points, targets, point_of, weights, leaf_penalty, shape, limits, pulse=None, regrets=None, given=None))]
#[allow(clippy::too_many_arguments)]
pub(super) fn solve_squares(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    points: &Bound<'_, PyPoints>,
    targets: PyReadonlyArray2<'_, f64>,
    point_of: PyReadonlyArray1<'_, u32>,
    weights: Option<PyReadonlyArray1<'_, i64>>,
    leaf_penalty: f64,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
    regrets: Option<PyReadonlyArray1<'_, f64>>,
    given: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<PyAnswer> {
    let points = points.get().points.clone();
    let input = SquaresInput {
        n_outputs: targets.shape()[1],
        targets: targets.as_slice()?.to_vec(),
        weights: weights.as_ref().map(|weights| weights.to_vec()).transpose()?,
        given: given.map(|given| given.to_vec()).transpose()?,
        points: point_of.to_vec()?,
        n_points: points.len(),
        leaf_penalty,
    };
    let data = (read_columns(py, columns)?, points);
    let regrets = regrets.map(|regrets| regrets.to_vec()).transpose()?;
    solve(py, data, || input.build(), regrets, shape, limits, pulse)
}
