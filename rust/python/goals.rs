//! Goals, which a tree is asked to do well: one frozen class for each, and [`Goal`], which is one
//! of them. `posed/goal.rs` says how to add one.

use std::sync::Arc;

use numpy::{PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::additive::{Additive, Custom, Raised};
use super::matrix::Matrix;
use crate::error::{Error, Result};
use crate::metric::{Metric, MetricInput};
use crate::posed::{self, RankingAreaInput, RowCostInput};
use crate::task::{ClassInput, SquaresInput};

/// Row weight by point and class (point-major), cost by class and label (class-major), and a factor
/// for each class. `balanced`: the factors are also divided by the weight of their class.
#[pyclass(frozen, module = "certree._core", name = "Classes")]
pub(super) struct Classes {
    input: Arc<ClassInput>,
}

#[pymethods]
impl Classes {
    #[new]
    fn new(
        weights: PyReadonlyArray1<'_, f64>,
        costs: Vec<f64>,
        class_weights: Vec<f64>,
        balanced: bool,
        leaf_penalty: f64,
    ) -> PyResult<Self> {
        let n_classes = class_weights.len();
        let n_labels = costs.len() / n_classes.max(1);
        let weights = weights.to_vec()?;
        let input = ClassInput {
            n_classes,
            n_labels,
            weights,
            costs,
            class_weights,
            balanced,
            leaf_penalty,
        };
        Ok(Classes { input: Arc::new(input) })
    }
}

/// Costs by point and label (point-major), each summed over the point's rows, and row weight by
/// point, which pays for tests. `size`: what the sizes of all rows' costs add up to, which tells
/// how far rounding can take their sums. The objective is divided by `normalizer`.
#[pyclass(frozen, module = "certree._core", name = "RowCosts")]
pub(super) struct RowCosts {
    input: Arc<RowCostInput>,
}

#[pymethods]
impl RowCosts {
    #[new]
    fn new(
        costs: PyReadonlyArray2<'_, f64>,
        weights: PyReadonlyArray1<'_, f64>,
        size: f64,
        normalizer: f64,
        leaf_penalty: f64,
    ) -> PyResult<Self> {
        let (n_labels, costs) = (costs.shape()[1], costs.as_slice()?.to_vec());
        let weights = weights.to_vec()?;
        let input = RowCostInput { n_labels, costs, weights, size, normalizer, leaf_penalty };
        Ok(RowCosts { input: Arc::new(input) })
    }
}

/// Squared error: targets by row and output, and the point and the weight, in whole units, of each
/// row. `given`: the weights as floats, where whole units are not all of them.
#[pyclass(frozen, module = "certree._core", name = "Squares")]
pub(super) struct Squares {
    input: Arc<SquaresInput>,
}

#[pymethods]
impl Squares {
    #[new]
    #[pyo3(signature = (targets, point_of, n_points, weights, leaf_penalty, given=None))]
    fn new(
        targets: PyReadonlyArray2<'_, f64>,
        point_of: PyReadonlyArray1<'_, u32>,
        n_points: usize,
        weights: Option<PyReadonlyArray1<'_, i64>>,
        leaf_penalty: f64,
        given: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let input = SquaresInput {
            given: given.map(|given| given.to_vec()).transpose()?,
            n_outputs: targets.shape()[1],
            targets: targets.as_slice()?.to_vec(),
            weights: weights.as_ref().map(|weights| weights.to_vec()).transpose()?,
            points: point_of.to_vec()?,
            n_points,
            leaf_penalty,
        };
        Ok(Squares { input: Arc::new(input) })
    }
}

/// A metric of two classes: "fbeta" (with beta), "jaccard" or "mcc", where class `positive` is the
/// positive one. Weights and factors are as for `Classes`; classes that are cut into groups stand
/// one after the other, so that the first half of them is of the first class.
#[pyclass(frozen, module = "certree._core", name = "Metric")]
pub(super) struct MetricGoal {
    input: Arc<MetricInput>,
}

#[pymethods]
impl MetricGoal {
    #[new]
    #[pyo3(signature = (
        name, weights, class_weights, balanced, positive, leaf_penalty, beta=1.0, n_sums=0
    ))]
    #[expect(clippy::too_many_arguments)]
    fn new(
        name: &str,
        weights: PyReadonlyArray1<'_, f64>,
        class_weights: Vec<f64>,
        balanced: bool,
        positive: usize,
        leaf_penalty: f64,
        beta: f64,
        n_sums: usize,
    ) -> PyResult<Self> {
        let n_classes = class_weights.len();
        // Every error costs 1, before class weights; sums that constraints count cost nothing.
        let n_cut = n_classes.saturating_sub(n_sums);
        let is_error = |at: usize| at / 2 < n_cut && at / 2 * 2 / n_cut != at % 2;
        let cost = |at: usize| f64::from(u8::from(is_error(at)));
        let costs = (0..2 * n_classes).map(cost).collect();
        let weights = weights.to_vec()?;
        let classes = ClassInput {
            n_classes,
            n_labels: 2,
            weights,
            costs,
            class_weights,
            balanced,
            leaf_penalty,
        };
        let metric = metric_named(name, beta)?;
        Ok(MetricGoal { input: Arc::new(MetricInput { classes, metric, positive }) })
    }
}

fn metric_named(name: &str, beta: f64) -> Result<Metric> {
    match name {
        "fbeta" => Ok(Metric::FBeta(beta)),
        "jaccard" => Ok(Metric::Jaccard),
        "mcc" => Ok(Metric::Matthews),
        other => Err(Error::invalid(format!("there is no metric {other:?}"))),
    }
}

/// The area under the ROC convex hull up to a false positive rate. `weights` by point: of both
/// classes, of which `positive` is the number of the positive one.
#[pyclass(frozen, module = "certree._core", name = "RankingArea")]
pub(super) struct RankingArea {
    input: Arc<RankingAreaInput>,
}

#[pymethods]
impl RankingArea {
    #[new]
    fn new(
        weights: PyReadonlyArray1<'_, f64>,
        positive: usize,
        max_fpr: f64,
        leaf_penalty: f64,
    ) -> PyResult<Self> {
        if positive > 1 {
            return Err(Error::invalid("areas are of two classes").into());
        }
        let weights = weights.to_vec()?;
        let input = RankingAreaInput { weights, positive, max_fpr, leaf_penalty };
        Ok(RankingArea { input: Arc::new(input) })
    }
}

/// Any of the goals.
#[derive(FromPyObject)]
pub(super) enum Goal<'py> {
    Classes(Bound<'py, Classes>),
    RowCosts(Bound<'py, RowCosts>),
    Squares(Bound<'py, Squares>),
    Metric(Bound<'py, MetricGoal>),
    Matrix(Bound<'py, Matrix>),
    RankingArea(Bound<'py, RankingArea>),
    Additive(Bound<'py, Additive>),
    Custom(Bound<'py, Custom>),
}

impl Goal<'_> {
    /// The goal as plain data, which is shared.
    pub(super) fn input(&self) -> posed::Goal {
        match self {
            Goal::Classes(goal) => posed::Goal::Classes(goal.get().input.clone()),
            Goal::RowCosts(goal) => posed::Goal::RowCosts(goal.get().input.clone()),
            Goal::Squares(goal) => posed::Goal::Squares(goal.get().input.clone()),
            Goal::Metric(goal) => posed::Goal::Metric(goal.get().input.clone()),
            Goal::Matrix(goal) => posed::Goal::Matrix(goal.get().input.clone()),
            Goal::RankingArea(goal) => posed::Goal::RankingArea(goal.get().input.clone()),
            Goal::Additive(goal) => posed::Goal::Additive(goal.get().input.clone()),
            Goal::Custom(goal) => posed::Goal::Custom(goal.get().task.clone()),
        }
    }

    /// Where callbacks leave their exception.
    pub(super) fn raised(&self) -> Option<Raised> {
        match self {
            Goal::Custom(goal) => Some(goal.get().task.raised.clone()),
            Goal::Matrix(goal) => Some(goal.get().raised.clone()),
            _ => None,
        }
    }
}
