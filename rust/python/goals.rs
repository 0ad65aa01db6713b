//! Goals, which a tree is asked to do well: one frozen class for each, and [`Goal`], which is one
//! of them.
//!
//! To add a goal: write its class here, give it an arm in [`Goal`] and in `Posed::new`
//! (`problem.rs`), and a row in `combinations.rs` that says what it can be combined with.

use numpy::{PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::additive::{AdditiveGoal, ClassShares, Custom, Rates, Targets};
use super::digest::Digest;
use crate::error::{Error, Result};
use crate::metric::{Metric, MetricInput};
use crate::task::{ClassInput, SquaresInput};

/// Row weight by point and class (point-major), cost by class and label (class-major), and a factor
/// for each class. `balanced`: the factors are also divided by the weight of their class.
#[pyclass(frozen, module = "certree._core", name = "Classes")]
pub(super) struct Classes {
    pub(super) input: ClassInput,
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
        Ok(Classes { input })
    }
}

/// Costs by point and label (point-major), each summed over the point's rows, and row weight by
/// point, which pays for tests. `size`: what the sizes of all rows' costs add up to, which tells
/// how far rounding can take their sums. The objective is divided by `normalizer`.
#[pyclass(frozen, module = "certree._core", name = "RowCosts")]
pub(super) struct RowCosts {
    pub(super) n_labels: usize,
    pub(super) costs: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) size: f64,
    pub(super) normalizer: f64,
    pub(super) leaf_penalty: f64,
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
        Ok(RowCosts { n_labels, costs, weights, size, normalizer, leaf_penalty })
    }
}

/// Squared error: targets by row and output, and the point and the weight, in whole units, of each
/// row. `given`: the weights as floats, where whole units are not all of them.
#[pyclass(frozen, module = "certree._core", name = "Squares")]
pub(super) struct Squares {
    pub(super) input: SquaresInput,
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
        Ok(Squares { input })
    }
}

/// A metric of two classes: "fbeta" (with beta), "jaccard" or "mcc", where class `positive` is the
/// positive one. Weights and factors are as for `Classes`; classes that are cut into groups stand
/// one after the other, so that the first half of them is of the first class.
#[pyclass(frozen, module = "certree._core", name = "Metric")]
pub(super) struct MetricGoal {
    pub(super) input: MetricInput,
}

#[pymethods]
impl MetricGoal {
    #[new]
    #[pyo3(signature = (name, weights, class_weights, balanced, positive, leaf_penalty, beta=1.0))]
    fn new(
        name: &str,
        weights: PyReadonlyArray1<'_, f64>,
        class_weights: Vec<f64>,
        balanced: bool,
        positive: usize,
        leaf_penalty: f64,
        beta: f64,
    ) -> PyResult<Self> {
        let n_classes = class_weights.len();
        // Every error costs 1, before class weights.
        let cost = |at: usize| f64::from(u8::from(at / 2 * 2 / n_classes != at % 2));
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
        Ok(MetricGoal { input: MetricInput { classes, metric, positive } })
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
    pub(super) weights: Vec<f64>,
    pub(super) positive: usize,
    pub(super) max_fpr: f64,
    pub(super) leaf_penalty: f64,
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
        Ok(RankingArea { weights: weights.to_vec()?, positive, max_fpr, leaf_penalty })
    }
}

/// Any of the goals.
#[derive(FromPyObject)]
pub(super) enum Goal<'py> {
    Classes(Bound<'py, Classes>),
    RowCosts(Bound<'py, RowCosts>),
    Squares(Bound<'py, Squares>),
    Metric(Bound<'py, MetricGoal>),
    RankingArea(Bound<'py, RankingArea>),
    ClassShares(Bound<'py, ClassShares>),
    Rates(Bound<'py, Rates>),
    Targets(Bound<'py, Targets>),
    Custom(Bound<'py, Custom>),
}

impl Goal<'_> {
    /// The name of its class.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Goal::Classes(_) => "Classes",
            Goal::RowCosts(_) => "RowCosts",
            Goal::Squares(_) => "Squares",
            Goal::Metric(_) => "Metric",
            Goal::RankingArea(_) => "RankingArea",
            Goal::ClassShares(_) => "ClassShares",
            Goal::Rates(_) => "Rates",
            Goal::Targets(_) => "Targets",
            Goal::Custom(_) => "Custom",
        }
    }

    /// The goal as one whose leaf costs are a function of summed statistics, if it is.
    pub(super) fn additive(&self) -> Option<&(dyn AdditiveGoal + Sync)> {
        match self {
            Goal::ClassShares(goal) => Some(goal.get()),
            Goal::Rates(goal) => Some(goal.get()),
            Goal::Targets(goal) => Some(goal.get()),
            Goal::Custom(goal) => Some(goal.get()),
            _ => None,
        }
    }

    /// Everything that the goal holds.
    pub(super) fn digest(&self, digest: &mut Digest) {
        digest.text(self.name());
        if let Some(goal) = self.additive() {
            return goal.digest(digest);
        }
        match self {
            Goal::Classes(goal) => of_classes(&goal.get().input, digest),
            Goal::RowCosts(goal) => {
                let goal = goal.get();
                digest.floats(&goal.costs);
                digest.floats(&goal.weights);
                digest.floats(&[goal.size, goal.normalizer, goal.leaf_penalty]);
            }
            Goal::Squares(goal) => {
                let input = &goal.get().input;
                digest.word(input.n_outputs as u64);
                digest.floats(&input.targets);
                digest.words(input.points.iter().map(|&point| u64::from(point)));
                let weights = input.weights.as_deref().unwrap_or_default();
                digest.words(weights.iter().map(|&weight| weight as u64));
                digest.floats(&[input.leaf_penalty]);
            }
            Goal::Metric(goal) => {
                let MetricInput { classes, metric, positive } = &goal.get().input;
                of_classes(classes, digest);
                digest.word(*positive as u64);
                digest.text(&format!("{metric:?}"));
            }
            Goal::RankingArea(goal) => {
                let goal = goal.get();
                digest.floats(&goal.weights);
                digest.word(goal.positive as u64);
                digest.floats(&[goal.max_fpr, goal.leaf_penalty]);
            }
            _ => {}
        }
    }
}

fn of_classes(input: &ClassInput, digest: &mut Digest) {
    digest.floats(&input.weights);
    digest.floats(&input.costs);
    digest.floats(&input.class_weights);
    digest.word(u64::from(input.balanced));
    digest.floats(&[input.leaf_penalty]);
}
