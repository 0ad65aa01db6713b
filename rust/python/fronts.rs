//! Whole fronts at the border.

use pyo3::prelude::*;

use super::parts::Limits;
use super::problem::PyProblem;
use super::search::search;
use super::tree::PyTree;
use crate::error::Error;
use crate::pareto::Axis;
use crate::run::Run;

/// All trees of a front, and where others may be.
#[pyclass(frozen, module = "certree._core", name = "Front")]
pub(super) struct PyFront {
    /// By tree: the tree, its value by axis, and whether no tree at all is better.
    #[pyo3(get)]
    trees: Vec<(Py<PyTree>, Vec<f64>, bool)>,
    /// By axis: where trees may be that were not found.
    #[pyo3(get)]
    open: Vec<Vec<f64>>,
    #[pyo3(get)]
    status: &'static str,
    #[pyo3(get)]
    seconds: f64,
    #[pyo3(get)]
    nodes: u64,
    #[pyo3(get)]
    kernel_calls: u64,
    #[pyo3(get)]
    peak_bytes: u64,
    /// The exception of a signal, such as KeyboardInterrupt, that ended the search.
    #[pyo3(get)]
    interrupt: Option<Py<PyAny>>,
}

/// "loss", "leaves", or a whole number for each class and label.
#[derive(FromPyObject)]
pub(super) enum AxisArgument {
    Name(String),
    Sum(Vec<i64>),
}

impl AxisArgument {
    fn axis(self) -> crate::error::Result<Axis> {
        match self {
            AxisArgument::Sum(costs) => Ok(Axis::Sum(costs)),
            AxisArgument::Name(name) if name == "loss" => Ok(Axis::Loss),
            AxisArgument::Name(name) if name == "leaves" => Ok(Axis::Leaves),
            AxisArgument::Name(name) => Err(Error::invalid(format!("no axis is called {name}"))),
        }
    }
}

/// The front of all trees of a problem of classes. More than `most` trees raise `ValueError`.
#[pyfunction]
#[pyo3(signature = (problem, axes, most, limits, pulse=None))]
pub(super) fn whole_front(
    py: Python<'_>,
    problem: &Bound<'_, PyProblem>,
    axes: Vec<AxisArgument>,
    most: usize,
    limits: &Bound<'_, Limits>,
    pulse: Option<Py<PyAny>>,
) -> PyResult<PyFront> {
    let axes = axes.into_iter().map(AxisArgument::axis).collect::<Result<Vec<_>, _>>()?;
    let input = &problem.get().input;
    let front = py.detach(|| input.front(axes))?;
    let found = search(py, limits, pulse, |limits, beat| {
        let run = Run::new(limits, front.scale(), Some(beat));
        let found = front.solve(most, &run)?;
        Ok((found, run.seconds(), run.work()))
    })?;
    let (result, seconds, work) = found.result;
    let trees = result
        .trees
        .into_iter()
        .map(|tree| Ok((Py::new(py, PyTree { tree: tree.tree })?, tree.values, tree.is_proved)));
    Ok(PyFront {
        trees: trees.collect::<PyResult<_>>()?,
        open: result.open,
        status: result.status.name(),
        seconds,
        nodes: work.nodes,
        kernel_calls: work.kernel_calls,
        peak_bytes: work.peak_bytes,
        interrupt: found.interrupt,
    })
}
