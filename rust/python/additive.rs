//! Goals whose leaf costs are any function of summed statistics: the tasks of the registry, and
//! those of the user's own.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock};

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::bits::call_leaf_cost;
use crate::error::{Error, Result};
use crate::posed::OwnGoal;
use crate::serial::Writer;
use crate::task::{self, AdditiveInput, ClassInput, Formula, FormulaInput, Scaled};

/// The first exception that a callback of a task raised. It ends a search, and goes to the caller
/// as it is.
pub(super) type Raised = Arc<Mutex<Option<PyErr>>>;

/// Numbers of a task: a column of them, a single one, or none where the task does without.
#[derive(FromPyObject)]
pub(super) enum Numbers<'py> {
    Column(PyReadonlyArray1<'py, f64>),
    Number(f64),
}

/// Any task of the registry (`ADDITIVE`), by its name, with the columns of numbers that it takes.
/// `point_of`: the point of each row, where columns are by row; `row_weights`: by point, what pays
/// for tests.
#[pyclass(frozen, module = "certree._core", name = "Additive")]
pub(super) struct Additive {
    pub(super) input: Arc<AdditiveInput>,
}

#[pymethods]
impl Additive {
    #[new]
    #[pyo3(signature = (task, columns, n_points, leaf_penalty, point_of=None, row_weights=None))]
    fn new(
        task: &str,
        columns: BTreeMap<String, Option<Numbers<'_>>>,
        n_points: usize,
        leaf_penalty: f64,
        point_of: Option<PyReadonlyArray1<'_, u32>>,
        row_weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let mut given = BTreeMap::new();
        for (name, numbers) in columns {
            match numbers {
                Some(Numbers::Column(column)) => _ = given.insert(name, column.to_vec()?),
                Some(Numbers::Number(number)) => _ = given.insert(name, vec![number]),
                None => {}
            }
        }
        let input = AdditiveInput {
            task: task::additive(task)?,
            columns: given,
            points: point_of.map(|points| points.to_vec()).transpose()?.unwrap_or_default(),
            n_points,
            leaf_penalty,
            row_weights: numbers(row_weights)?,
        };
        Ok(Additive { input: Arc::new(input) })
    }
}

fn numbers(given: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<Vec<f64>> {
    Ok(given.map(|numbers| numbers.to_vec()).transpose()?.unwrap_or_default())
}

/// What a task of the user's own is made of: what costs its leaves, its address if it is a compiled
/// function, in how many units each statistic counts one, whether the callable is given whole
/// numbers, whether a last statistic sums up what no tree can save, and by how much a cost may be
/// off (without it, by a small share).
type CustomParts = (Py<PyAny>, Option<NonZeroUsize>, Vec<f64>, bool, bool, Option<f64>);

/// A task of the user's own: statistics by point, in whole units. The objective is divided by
/// `normalizer`. `row_weights`: by point, what pays for tests.
#[pyclass(frozen, module = "certree._core", name = "Custom")]
pub(super) struct Custom {
    pub(super) task: Arc<CustomTask>,
}

pub(super) struct CustomTask {
    source: Arc<Source>,
    per_one: Vec<f64>,
    has_least: bool,
    rounding: Option<f64>,
    stats: Vec<i64>,
    normalizer: f64,
    leaf_penalty: f64,
    row_weights: Vec<f64>,
    pub(super) raised: Raised,
}

#[pymethods]
impl Custom {
    #[new]
    #[pyo3(signature = (task, stats, normalizer, leaf_penalty, row_weights=None))]
    fn new(
        task: CustomParts,
        stats: PyReadonlyArray1<'_, i64>,
        normalizer: f64,
        leaf_penalty: f64,
        row_weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let (cost, address, per_one, whole, has_least, rounding) = task;
        let raised = Raised::default();
        let source = match address {
            Some(address) => Source::Compiled { address, _owner: cost },
            None => Source::Callable { cost, whole, raised: raised.clone() },
        };
        let (source, stats) = (Arc::new(source), stats.to_vec()?);
        let task = CustomTask {
            source,
            per_one,
            has_least,
            rounding,
            stats,
            normalizer,
            leaf_penalty,
            row_weights: numbers(row_weights)?,
            raised,
        };
        Ok(Custom { task: Arc::new(task) })
    }
}

impl OwnGoal for CustomTask {
    fn build(&self) -> Result<Scaled> {
        let (width, last) = (self.per_one.len(), self.per_one.len() - 1);
        let counts = !self.has_least && self.stats.iter().all(|s| (0..=MOST_COUNT).contains(s));
        let units =
            self.stats.iter().skip(last).step_by(width).map(|&s| i128::from(s)).sum::<i128>();
        let least = if self.has_least { units as f64 / self.per_one[last] } else { 0.0 };
        let formula = CustomFormula {
            source: self.source.clone(),
            per_one: self.per_one.clone(),
            has_least: self.has_least,
            counts,
            rounding: self.rounding,
            failed: OnceLock::new(),
        };
        let input = FormulaInput {
            formula: Box::new(formula),
            stats: self.stats.clone(),
            normalizer: Some(self.normalizer),
            leaf_penalty: self.leaf_penalty,
            slack: 0.0,
        };
        let mut scaled = input.build()?;
        scaled.scale.offset += (least * (scaled.scale.units / self.normalizer)).floor() as i128;
        Ok(scaled)
    }

    fn row_weights(&self) -> &[f64] {
        &self.row_weights
    }

    fn describe(&self, out: &mut Writer) {
        out.floats(&self.per_one);
        out.list(self.stats.iter(), |out, &s| out.signed(s));
        out.floats(&[self.normalizer, self.leaf_penalty]);
        out.floats(&self.row_weights);
    }
}

pub(super) fn keep_raised(raised: &Raised, error: PyErr) {
    raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(error);
}

/// Larger statistics are added up, because to count their bits would take as many rows of bits.
const MOST_COUNT: i64 = 1 << 6;

/// Leaf costs are taken to be right within this share of what all rows as one leaf cost, because
/// they are computed in floats, which are right within 2^-53 of what is added.
const SHARE: f64 = 1.0 / (1u64 << 40) as f64;

enum Source {
    /// Called with an array of leaves × statistics, and gives an array of their costs.
    Callable { cost: Py<PyAny>, whole: bool, raised: Raised },
    /// The owner keeps the function where it is.
    Compiled { address: NonZeroUsize, _owner: Py<PyAny> },
}

struct CustomFormula {
    source: Arc<Source>,
    per_one: Vec<f64>,
    has_least: bool,
    counts: bool,
    rounding: Option<f64>,
    failed: OnceLock<Error>,
}

impl CustomFormula {
    /// Statistics that the user gave.
    fn own(&self) -> usize {
        self.per_one.len() - usize::from(self.has_least)
    }

    fn fail(&self, clause: impl std::fmt::Display) {
        let _ = self.failed.set(Error::task(clause));
    }

    /// In the user's units, side by side by statistic.
    fn floats(&self, sums: &[i64], n: usize) -> Vec<f64> {
        let mut floats = Vec::with_capacity(sums.len());
        for (sums, per_one) in sums.chunks_exact(n).zip(&self.per_one) {
            floats.extend(sums.iter().map(|&sum| sum as f64 / per_one));
        }
        floats
    }

    fn call(
        &self,
        cost: &Py<PyAny>,
        whole: bool,
        sums: &[i64],
        losses: &mut [f64],
    ) -> PyResult<()> {
        Python::attach(|py| {
            let shape = [self.own(), losses.len()];
            let sums = match whole {
                true => PyArray1::from_slice(py, sums).reshape(shape)?.into_any(),
                false => {
                    let floats = self.floats(sums, losses.len());
                    PyArray1::from_vec(py, floats).reshape(shape)?.into_any()
                }
            };
            let costs = cost.bind(py).call1((sums.getattr("T")?,))?;
            let costs = costs.cast::<PyArray1<f64>>()?.readonly();
            losses.copy_from_slice(costs.as_slice()?);
            Ok(())
        })
    }
}

impl Formula for CustomFormula {
    fn width(&self) -> usize {
        self.per_one.len()
    }

    fn counts(&self) -> bool {
        self.counts
    }

    /// A call to Python is worth thousands of leaves.
    fn leaves_at_once(&self) -> usize {
        1 << 12
    }

    fn losses(&self, sums: &[i64], losses: &mut [f64]) {
        losses.fill(0.0);
        if losses.is_empty() || self.failed.get().is_some() {
            return;
        }
        let n = losses.len();
        let (own, least) = sums.split_at(self.own() * n);
        match &*self.source {
            Source::Compiled { address, .. } => {
                call_leaf_cost(*address, &self.floats(own, n), losses);
            }
            Source::Callable { cost, whole, raised } => {
                if let Err(error) = self.call(cost, *whole, own, losses) {
                    keep_raised(raised, error);
                    return self.fail("`leaf_cost` ends without an exception");
                }
            }
        }
        if let Some(leaf) = losses.iter().position(|loss| !loss.is_finite()) {
            let of: Vec<f64> = self.floats(own, n).into_iter().skip(leaf).step_by(n).collect();
            self.fail(format!(
                "`leaf_cost` gives a finite number for each leaf, and not {} for one with the sums {of:?}",
                losses[leaf]
            ));
            return losses.fill(0.0);
        }
        let per_one = self.per_one[self.per_one.len() - 1];
        losses.iter_mut().zip(least).for_each(|(loss, &least)| *loss -= least as f64 / per_one);
    }

    fn error(&self, all: &[i64], loss: f64) -> f64 {
        let least =
            if self.has_least { all[self.own()] as f64 / self.per_one[self.own()] } else { 0.0 };
        self.rounding.unwrap_or((loss.abs() + 2.0 * least.abs()) * SHARE)
    }

    /// The sums themselves.
    fn answer(&self, sums: &[i64]) -> Vec<f64> {
        sums.iter().zip(&self.per_one).take(self.own()).map(|(&s, per)| s as f64 / per).collect()
    }

    fn failure(&self) -> Option<Error> {
        self.failed.get().cloned()
    }
}

/// What a tree's description adds for each leaf, and takes off each tree, in bits per row.
#[pyfunction]
pub(super) fn description_bits(
    weights: PyReadonlyArray1<'_, f64>,
    n_classes: usize,
    n_cuts: u64,
) -> Result<(f64, f64)> {
    let weights = weights.as_slice().map_err(|_| Error::invalid("weights lie in one piece"))?;
    let input = ClassInput {
        n_classes,
        n_labels: n_classes,
        weights: weights.to_vec(),
        costs: Vec::new(),
        class_weights: Vec::new(),
        balanced: false,
        leaf_penalty: 0.0,
    };
    Ok(input.description_bits(n_cuts))
}
