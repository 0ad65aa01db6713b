//! One function for each kind of task.

use numpy::{PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use super::search::{LimitParts, PyAnswer, ShapeParts, read_columns, read_shape, run, solve};
use super::table::PyPoints;
use crate::error::{Error, Result};
use crate::metric::{Metric, MetricInput, Scored};
use crate::run::Run;
use crate::task::{ClassInput, FeatureCostInput, FeatureCostList, RowCosts, Weighed};

/// By test: its price, its discounted price, and its group; and by column: its test.
type PriceParts = (Vec<(f64, f64, Option<u32>)>, Vec<Option<u32>>);

fn read_prices(parts: Option<PriceParts>) -> FeatureCostList {
    let (tests, of_column) = parts.unwrap_or_default();
    let price = |(full, discounted, group)| FeatureCostInput { full, discounted, group };
    FeatureCostList { tests: tests.into_iter().map(price).collect(), of_column }
}

/// Class structure: row weight by point and class, cost by class and label, and what tests cost. `regrets`: by point, what a
/// reference loses beyond the least, as a share of the objective; the tree is then the best if no tree is better than it
/// anywhere.
#[pyfunction]
#[pyo3(signature = (columns, points, weights, costs, class_weights, balanced, prices, leaf_penalty, shape, limits, pulse=None, regrets=None))]
#[allow(clippy::too_many_arguments)]
pub(super) fn solve_classes(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    points: &Bound<'_, PyPoints>,
    weights: PyReadonlyArray1<'_, f64>,
    costs: Vec<f64>,
    class_weights: Vec<f64>,
    balanced: bool,
    prices: Option<PriceParts>,
    leaf_penalty: f64,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
    regrets: Option<PyReadonlyArray1<'_, f64>>,
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
    let prices = read_prices(prices);
    let regrets = regrets.map(|regrets| regrets.to_vec()).transpose()?;
    solve(py, data, || input.build_with(&prices), regrets, shape, limits, pulse)
}

/// Costs by point and label (row-major), each summed over the point's rows. `error` bounds how far all of
/// them together are from what they stand for. `weights`: by point, what pays for tests. `regrets` as for classes.
#[pyfunction]
#[pyo3(signature = (columns, points, costs, n_labels, error, normalizer, weights, prices, leaf_penalty, shape, limits, pulse=None, regrets=None))]
#[allow(clippy::too_many_arguments)]
pub(super) fn solve_rows(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    points: &Bound<'_, PyPoints>,
    costs: PyReadonlyArray1<'_, f64>,
    n_labels: usize,
    error: f64,
    normalizer: f64,
    weights: Vec<f64>,
    prices: Option<PriceParts>,
    leaf_penalty: f64,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
    regrets: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<PyAnswer> {
    let costs = costs.to_vec()?;
    let data = (read_columns(py, columns)?, points.get().points.clone());
    let prices = &read_prices(prices);
    let weighed = Weighed { costs: &costs, error, normalizer, weights: &weights, prices };
    let build = || RowCosts::build_weighed(n_labels, weighed, leaf_penalty, None);
    let regrets = regrets.map(|regrets| regrets.to_vec()).transpose()?;
    solve(py, data, build, regrets, shape, limits, pulse)
}

/// A metric of two classes: "fbeta" (with beta), "jaccard" or "mcc", where class `positive` is the positive one.
#[pyfunction]
#[pyo3(signature = (columns, points, weights, class_weights, balanced, metric, beta, positive, leaf_penalty, shape, limits, pulse=None))]
#[allow(clippy::too_many_arguments)]
pub(super) fn solve_metric(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    points: &Bound<'_, PyPoints>,
    weights: PyReadonlyArray1<'_, f64>,
    class_weights: Vec<f64>,
    balanced: bool,
    metric: &str,
    beta: f64,
    positive: usize,
    leaf_penalty: f64,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
) -> PyResult<PyAnswer> {
    let weights = weights.to_vec()?;
    let metric = read_metric(metric, beta)?;
    let input = metric_input(weights, class_weights, balanced, metric, positive, leaf_penalty);
    let (columns, points) = (read_columns(py, columns)?, points.get().points.clone());
    let shape = read_shape(shape);
    let answer = run(py, limits, pulse, move |limits, beat| {
        points.check(&columns)?;
        let scored = Scored::new(columns, points, &input, shape)?;
        scored.solve(&Run::new(limits, scored.scale(), Some(beat)))
    })?;
    PyAnswer::new(py, answer)
}

pub(super) fn read_metric(name: &str, beta: f64) -> Result<Metric> {
    match name {
        "fbeta" => Ok(Metric::FBeta(beta)),
        "jaccard" => Ok(Metric::Jaccard),
        "mcc" => Ok(Metric::Matthews),
        other => Err(Error::invalid(format!("there is no metric {other:?}"))),
    }
}

/// Every error costs 1, before class weights.
pub(super) fn metric_input(
    weights: Vec<f64>,
    class_weights: Vec<f64>,
    balanced: bool,
    metric: Metric,
    positive: usize,
    leaf_penalty: f64,
) -> MetricInput {
    let n_classes = class_weights.len();
    // Classes that are cut into groups stand one after the other.
    let cost = |at: usize| f64::from(u8::from(at / 2 * 2 / n_classes != at % 2));
    let costs = (0..2 * n_classes).map(cost).collect();
    let classes = ClassInput {
        n_classes,
        n_labels: 2,
        weights,
        costs,
        class_weights,
        balanced,
        leaf_penalty,
    };
    MetricInput { classes, metric, positive }
}
