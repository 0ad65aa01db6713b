//! One function for each task whose values are only partly ordered.

use numpy::{PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use super::search::{LimitParts, PyAnswer, ShapeParts, read_columns, read_shape, run};
use super::table::PyPoints;
use super::tasks::{metric_input, read_metric};
use crate::data::{Column, Points};
use crate::error::Result;
use crate::metric::Scored;
use crate::pareto::{Constrained, LimitInput, Roc};
use crate::problem::Shape;
use crate::run::Run;
use crate::task::{ClassInput, CountedInput};

/// (name, label, classes counted, classes counted against, most)
type Limit = (String, u32, Vec<u32>, Vec<u32>, f64);

/// Classes that are cut into groups, under limits on shares or on differences of shares. `class_of`: the
/// user's class of each. Also what each limit's share or difference is in the tree.
#[pyfunction]
#[pyo3(signature = (columns, points, weights, costs, class_weights, leaf_penalty, class_of, limited, shape, limits, pulse=None))]
#[allow(clippy::too_many_arguments)]
pub(super) fn solve_limited(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    points: &Bound<'_, PyPoints>,
    weights: PyReadonlyArray1<'_, f64>,
    costs: Vec<f64>,
    class_weights: Vec<f64>,
    leaf_penalty: f64,
    class_of: Vec<u32>,
    limited: Vec<Limit>,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
) -> PyResult<(PyAnswer, Vec<f64>)> {
    let n_classes = class_weights.len();
    let input = ClassInput {
        n_classes,
        n_labels: costs.len() / n_classes.max(1),
        weights: weights.to_vec()?,
        costs,
        class_weights,
        balanced: false,
        leaf_penalty,
    };
    let limited = read_limited(limited);
    solve_constrained(py, columns, points, shape, limits, pulse, move |columns, points, shape| {
        Constrained::new(columns, points, &input, class_of, &limited, shape)
    })
}

/// Costs by point and label under limits that count row weight, by point and group. `error` and `normalizer` as
/// for `solve_rows`. The classes of limits are groups.
#[pyfunction]
#[pyo3(signature = (columns, points, costs, n_labels, error, normalizer, weights, n_groups, leaf_penalty, limited, shape, limits, pulse=None))]
#[allow(clippy::too_many_arguments)]
pub(super) fn solve_limited_rows(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    points: &Bound<'_, PyPoints>,
    costs: PyReadonlyArray1<'_, f64>,
    n_labels: usize,
    error: f64,
    normalizer: f64,
    weights: PyReadonlyArray1<'_, f64>,
    n_groups: usize,
    leaf_penalty: f64,
    limited: Vec<Limit>,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
) -> PyResult<(PyAnswer, Vec<f64>)> {
    let (costs, weights) = (costs.to_vec()?, weights.to_vec()?);
    let input =
        CountedInput { n_labels, costs, error, normalizer, leaf_penalty, n_groups, weights };
    let limited = read_limited(limited);
    solve_constrained(py, columns, points, shape, limits, pulse, move |columns, points, shape| {
        Constrained::by_rows(columns, points, &input, &limited, shape)
    })
}

/// A metric of two classes under the same limits. Classes as for `solve_limited`, the first half of them of the
/// first one; the metric as for `solve_metric`.
#[pyfunction]
#[pyo3(signature = (columns, points, weights, class_weights, class_of, metric, beta, positive, leaf_penalty, limited, shape, limits, pulse=None))]
#[allow(clippy::too_many_arguments)]
pub(super) fn solve_limited_metric(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    points: &Bound<'_, PyPoints>,
    weights: PyReadonlyArray1<'_, f64>,
    class_weights: Vec<f64>,
    class_of: Vec<u32>,
    metric: &str,
    beta: f64,
    positive: usize,
    leaf_penalty: f64,
    limited: Vec<Limit>,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
) -> PyResult<(PyAnswer, Vec<f64>)> {
    let (weights, metric) = (weights.to_vec()?, read_metric(metric, beta)?);
    let input = metric_input(weights, class_weights, false, metric, positive, leaf_penalty);
    let limited = read_limited(limited);
    let (columns, points) = (read_columns(py, columns)?, points.get().points.clone());
    let (answer, attained) = run(py, limits, pulse, move |limits, beat| {
        points.check(&columns)?;
        let shape = read_shape(shape);
        let scored = Scored::limited(columns, points, &input, class_of, &limited, shape)?;
        let answer = scored.solve(&Run::new(limits, scored.scale(), Some(beat)))?;
        let attained = scored.attained(&answer.tree)?;
        Ok((answer, attained))
    })?;
    Ok((PyAnswer::new(py, answer)?, attained))
}

fn read_limited(limited: Vec<Limit>) -> Vec<LimitInput> {
    (limited.into_iter())
        .map(|(name, label, among, against, most)| LimitInput { name, label, among, against, most })
        .collect()
}

fn solve_constrained(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    points: &Bound<'_, PyPoints>,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
    build: impl FnOnce(Vec<Column>, Points, Shape) -> Result<Constrained> + Send,
) -> PyResult<(PyAnswer, Vec<f64>)> {
    let (columns, points) = (read_columns(py, columns)?, points.get().points.clone());
    let (answer, attained) = run(py, limits, pulse, move |limits, beat| {
        points.check(&columns)?;
        let problem = build(columns, points, read_shape(shape))?;
        problem.solve(&Run::new(limits, problem.scale(), Some(beat)))
    })?;
    Ok((PyAnswer::new(py, answer)?, attained))
}

/// The area under the ROC convex hull up to a false positive rate. `weights` by point: of both classes, of which
/// the second is positive, or the first.
#[pyfunction]
#[pyo3(signature = (columns, points, weights, max_fpr, first_is_positive, leaf_penalty, shape, limits, pulse=None))]
#[allow(clippy::too_many_arguments)]
pub(super) fn solve_roc(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    points: &Bound<'_, PyPoints>,
    weights: PyReadonlyArray1<'_, f64>,
    max_fpr: f64,
    first_is_positive: bool,
    leaf_penalty: f64,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
) -> PyResult<PyAnswer> {
    let (columns, points) = (read_columns(py, columns)?, points.get().points.clone());
    let weights = weights.to_vec()?;
    let positive = usize::from(!first_is_positive);
    let answer = run(py, limits, pulse, move |limits, beat| {
        points.check(&columns)?;
        let shape = read_shape(shape);
        let roc = Roc::new(columns, points, weights, positive, max_fpr, leaf_penalty, shape)?;
        roc.solve(&Run::new(limits, roc.scale(), Some(beat)))
    })?;
    PyAnswer::new(py, answer)
}
