//! Goals that are functions of the confusion matrix, also of the user's own.

use std::sync::{Arc, OnceLock};

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::additive::{Raised, keep_raised};
use crate::confusion::{MatrixInput, MatrixMetric, OwnLoss};
use crate::error::Error;
use crate::serial::Writer;
use crate::task::ClassInput;

/// A loss of the confusion matrix: "f1_macro", "f1_weighted", "mcc", or a callable that is given
/// the weights by class (a row each) and label, and gives a number. Weights and factors are as for
/// `Classes`.
#[pyclass(frozen, module = "certree._core", name = "Matrix")]
pub(super) struct Matrix {
    pub(super) input: Arc<MatrixInput>,
    /// Where the callable leaves its exception.
    pub(super) raised: Raised,
}

#[pymethods]
impl Matrix {
    #[new]
    fn new(
        metric: &Bound<'_, PyAny>,
        weights: PyReadonlyArray1<'_, f64>,
        class_weights: Vec<f64>,
        balanced: bool,
        leaf_penalty: f64,
    ) -> PyResult<Self> {
        let k = class_weights.len();
        let raised = Raised::default();
        let metric = match metric.extract::<&str>() {
            Ok("f1_macro") => MatrixMetric::MacroF1,
            Ok("f1_weighted") => MatrixMetric::WeightedF1,
            Ok("mcc") => MatrixMetric::Matthews,
            Ok(other) => {
                return Err(PyValueError::new_err(format!("there is no metric {other:?}")));
            }
            Err(_) => MatrixMetric::Own(Arc::new(OfCallable {
                loss: metric.clone().unbind(),
                k,
                raised: raised.clone(),
                failed: OnceLock::new(),
            })),
        };
        let classes = ClassInput {
            n_classes: k,
            n_labels: k,
            weights: weights.to_vec()?,
            costs: (0..k * k).map(|at| f64::from(u8::from(at / k != at % k))).collect(),
            class_weights,
            balanced,
            leaf_penalty,
        };
        Ok(Matrix { input: Arc::new(MatrixInput { classes, metric }), raised })
    }
}

struct OfCallable {
    loss: Py<PyAny>,
    k: usize,
    raised: Raised,
    failed: OnceLock<Error>,
}

impl OwnLoss for OfCallable {
    fn loss(&self, matrix: &[f64]) -> f64 {
        if self.failed.get().is_some() {
            return f64::NAN;
        }
        let called = Python::attach(|py| -> PyResult<f64> {
            let matrix = PyArray1::from_slice(py, matrix).reshape([self.k, self.k])?;
            self.loss.bind(py).call1((matrix,))?.extract()
        });
        match called {
            Ok(loss) if loss.is_finite() => loss,
            Ok(loss) => {
                let rows: Vec<_> = matrix.chunks_exact(self.k).collect();
                let _ = self.failed.set(Error::invalid(format!(
                    "an objective of your own gives a finite number, and not {loss} for the \
                     confusion matrix {rows:?} (a row for each class)"
                )));
                f64::NAN
            }
            Err(error) => {
                keep_raised(&self.raised, error);
                let _ = self.failed.set(Error::task("`objective` ends without an exception"));
                f64::NAN
            }
        }
    }

    fn failure(&self) -> Option<Error> {
        self.failed.get().cloned()
    }

    fn describe(&self, out: &mut Writer) {
        // Code has no bytes, but where it stands tells it from other code in this process.
        out.number(self.loss.as_ptr() as u64);
    }
}
