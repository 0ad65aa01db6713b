//! The narrow door to Python: the only folder that imports PyO3. It releases the GIL while a search
//! runs, polls for Ctrl-C, and maps errors. No decision about trees is made here.

mod additive;
mod arrays;
mod pareto;
mod search;
mod squares;
mod table;
mod tasks;
mod tree;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::error::Error;

impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        match error {
            Error::Invalid(_) | Error::Task(_) => PyValueError::new_err(error.to_string()),
            Error::Mismatch { .. } | Error::Forbidden { .. } | Error::Failed(_) => {
                PyRuntimeError::new_err(error.to_string())
            }
        }
    }
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Numpy is looked up at the first array: now, where Ctrl-C is an exception and not a panic inside a fit.
    numpy::PyArray1::<f64>::zeros(module.py(), 0, false);
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<tree::PyTree>()?;
    module.add_class::<table::PyTable>()?;
    module.add_class::<table::PyPoints>()?;
    module.add_class::<search::PyAnswer>()?;
    module.add_function(wrap_pyfunction!(tasks::solve_classes, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::solve_rows, module)?)?;
    module.add_function(wrap_pyfunction!(squares::solve_squares, module)?)?;
    module.add_function(wrap_pyfunction!(additive::solve_impurity, module)?)?;
    module.add_function(wrap_pyfunction!(additive::solve_rates, module)?)?;
    module.add_function(wrap_pyfunction!(additive::solve_targets, module)?)?;
    module.add_function(wrap_pyfunction!(additive::solve_custom, module)?)?;
    module.add_function(wrap_pyfunction!(additive::description_bits, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::solve_metric, module)?)?;
    module.add_function(wrap_pyfunction!(table::sum_by_point, module)?)?;
    module.add_function(wrap_pyfunction!(tree::count_rows, module)?)?;
    module.add_function(wrap_pyfunction!(pareto::solve_limited, module)?)?;
    module.add_function(wrap_pyfunction!(pareto::solve_limited_metric, module)?)?;
    module.add_function(wrap_pyfunction!(pareto::solve_limited_rows, module)?)?;
    module.add_function(wrap_pyfunction!(pareto::solve_roc, module)?)?;
    Ok(())
}
