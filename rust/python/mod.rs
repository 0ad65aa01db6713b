//! The narrow door to Python: the only folder that imports PyO3. It releases the GIL while a search
//! runs, polls for Ctrl-C, and maps errors. No decision about trees is made here.

mod additive;
mod arrays;
mod fronts;
mod goals;
mod matrix;
mod near;
mod parts;
mod problem;
mod search;
mod share;
mod table;
mod tree;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bounds;
use crate::error::Error;
use crate::posed::combinations;
use crate::task::ADDITIVE;

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
    // Numpy is looked up at the first array: now, where Ctrl-C is an exception and not a panic
    // inside a fit.
    numpy::PyArray1::<f64>::zeros(module.py(), 0, false);
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<tree::PyTree>()?;
    module.add_class::<table::PyTable>()?;
    module.add_class::<table::PyPoints>()?;
    module.add_class::<share::PyShare>()?;
    module.add_class::<search::PyAnswer>()?;
    module.add_class::<goals::Classes>()?;
    module.add_class::<goals::RowCosts>()?;
    module.add_class::<goals::Squares>()?;
    module.add_class::<goals::MetricGoal>()?;
    module.add_class::<matrix::Matrix>()?;
    module.add_class::<goals::RankingArea>()?;
    module.add_class::<additive::Additive>()?;
    module.add_class::<additive::Custom>()?;
    module.add_function(wrap_pyfunction!(additive::description_bits, module)?)?;
    module.add_class::<parts::Shape>()?;
    module.add_class::<parts::Limits>()?;
    module.add_class::<parts::LinearLimit>()?;
    module.add_class::<parts::Constraints>()?;
    module.add_class::<parts::FeatureCosts>()?;
    module.add_class::<parts::PathRule>()?;
    module.add_class::<problem::PyProblem>()?;
    module.add_function(wrap_pyfunction!(problem::solve, module)?)?;
    module.add_function(wrap_pyfunction!(problem::export_instance, module)?)?;
    module.add_function(wrap_pyfunction!(problem::prove, module)?)?;
    module.add_function(wrap_pyfunction!(fronts::whole_front, module)?)?;
    module.add_class::<fronts::PyFront>()?;
    module.add_function(wrap_pyfunction!(near::near_optimal, module)?)?;
    module.add_class::<near::PyNear>()?;
    module.add_class::<near::PyListing>()?;
    module.add_function(wrap_pyfunction!(table::shortest_decimals, module)?)?;
    module.add_function(wrap_pyfunction!(table::sum_by_point, module)?)?;
    module.add_function(wrap_pyfunction!(table::exact_sums_by_point, module)?)?;
    module.add_function(wrap_pyfunction!(tree::count_rows, module)?)?;
    let combinations = PyDict::new(module.py());
    for (goal, parts) in combinations::COMBINATIONS {
        combinations.set_item(goal, parts.to_vec())?;
    }
    module.add("COMBINATIONS", combinations)?;
    let bounds = PyDict::new(module.py());
    for bound in bounds::Bound::ALL {
        bounds.set_item(bound.name(), bound.words())?;
    }
    module.add("BOUNDS", bounds)?;
    let additive = PyDict::new(module.py());
    for task in ADDITIVE {
        additive.set_item(task.name, (task.words, task.columns.to_vec()))?;
    }
    module.add("ADDITIVE", additive)?;
    module.add("APART", combinations::APART.to_vec())?;
    module.add("APART_FOR", combinations::APART_FOR.to_vec())?;
    Ok(())
}
