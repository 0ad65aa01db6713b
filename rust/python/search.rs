//! What all tasks share on their way to a search and back: columns, limits, progress, the answer.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyString};

use super::tree::PyTree;
use crate::data::{Column, ColumnKind, Points, Threshold};
use crate::problem::{Problem, Shape};
use crate::run::{Limits, Progress, Pulse, Run};
use crate::solve::{Answer, Known};
use crate::task::Scaled;

/// What a search found, and what it proved.
#[pyclass(frozen, module = "certree._core", name = "Answer")]
pub(super) struct PyAnswer {
    #[pyo3(get)]
    tree: Py<PyTree>,
    #[pyo3(get)]
    objective: f64,
    #[pyo3(get)]
    lower_bound: f64,
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
    /// (seconds, upper, lower)
    #[pyo3(get)]
    curve: Vec<(f64, f64, f64)>,
    /// What a search needs that goes on from here; not of metrics and fronts.
    open: Option<Open>,
}

struct Open {
    problem: Arc<Problem>,
    known: Known,
    /// Where a task that calls back leaves an exception.
    raised: Raised,
}

/// The first exception that a callback raised. It ends a search, and goes to the caller as it is.
pub(super) type Raised = Arc<Mutex<Option<PyErr>>>;

pub(super) fn keep_raised(raised: &Raised, error: PyErr) {
    raised.lock().unwrap_or_else(|p| p.into_inner()).get_or_insert(error);
}

#[pymethods]
impl PyAnswer {
    /// Whether `go_on` can prove more.
    #[getter]
    fn is_open(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.known.lower < open.known.upper)
    }

    /// Whether `with_most_leaves` knows what to search.
    #[getter]
    fn is_of_nodes(&self) -> bool {
        self.open.is_some()
    }

    /// The best of the trees with at most so many leaves, fewer than this search allowed. What it proved of nodes goes
    /// over to the answer.
    #[pyo3(signature = (most, limits, pulse=None))]
    fn with_most_leaves(
        &self,
        py: Python<'_>,
        most: u32,
        limits: LimitParts,
        pulse: Option<Py<PyAny>>,
    ) -> PyResult<PyAnswer> {
        let Some(Open { problem, known, raised }) = &self.open else {
            return Err(PyValueError::new_err("this search knows no nodes"));
        };
        let (problem, answer, known) = run_raising(py, limits, pulse, raised, |limits, beat| {
            let run = Run::new(limits, problem.scale, Some(beat));
            crate::solve::with_most_leaves(problem, most, known, &run)
        })?;
        PyAnswer::open(
            py,
            answer,
            Open { problem: Arc::new(problem), known, raised: raised.clone() },
        )
    }

    /// The answer after more search, without any guess.
    #[pyo3(signature = (limits, pulse=None))]
    fn go_on(
        &self,
        py: Python<'_>,
        limits: LimitParts,
        pulse: Option<Py<PyAny>>,
    ) -> PyResult<PyAnswer> {
        let Some(Open { problem, known, raised }) = &self.open else {
            return Err(PyValueError::new_err("there is nothing left to search"));
        };
        let (answer, known) = run_raising(py, limits, pulse, raised, |limits, beat| {
            let run = Run::new(limits, problem.scale, Some(beat));
            crate::solve::go_on(problem, Some(known), &run)
        })?;
        PyAnswer::open(py, answer, Open { problem: problem.clone(), known, raised: raised.clone() })
    }
}

/// (max_depth, max_leaf_nodes, min_samples_leaf)
pub(super) type ShapeParts = (Option<u32>, Option<u32>, u64);
/// (time_limit in seconds, memory_limit in bytes, gap_limit, threads)
pub(super) type LimitParts = (Option<f64>, Option<u64>, f64, usize);

pub(super) fn read_columns(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
) -> PyResult<Vec<Column>> {
    (columns.into_iter())
        .map(|(name, kind)| Ok(Column { name, kind: read_kind(kind.bind(py))? }))
        .collect()
}

/// None: Boolean. A list of strings: a category's values. A list of numbers, or an array of floats: cuts.
fn read_kind(kind: &Bound<'_, PyAny>) -> PyResult<ColumnKind> {
    if kind.is_none() {
        return Ok(ColumnKind::Boolean);
    }
    if let Ok(cuts) = kind.cast::<PyArray1<f64>>() {
        let cuts = cuts.readonly();
        let cuts = cuts.as_slice()?.iter().map(|&cut| Threshold::Float(cut)).collect();
        return Ok(ColumnKind::Ordered(cuts));
    }
    let first = kind.try_iter()?.next().transpose()?;
    match first {
        Some(first) if first.is_instance_of::<PyString>() => {
            Ok(ColumnKind::Category(kind.extract()?))
        }
        _ => {
            let cuts = kind
                .try_iter()?
                .map(|cut| {
                    let cut = cut?;
                    Ok(if cut.is_instance_of::<PyInt>() {
                        Threshold::Int(cut.extract()?)
                    } else {
                        Threshold::Float(cut.extract()?)
                    })
                })
                .collect::<PyResult<_>>()?;
            Ok(ColumnKind::Ordered(cuts))
        }
    }
}

/// Build the problem, and search it; with the guess that no tree is better than a reference with these regrets
/// by point, if there is one.
pub(super) fn solve(
    py: Python<'_>,
    (columns, points): (Vec<Column>, Points),
    build: impl FnOnce() -> crate::error::Result<Scaled> + Send,
    regrets: Option<Vec<f64>>,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
) -> PyResult<PyAnswer> {
    let (problem, (answer, known)) = run(py, limits, pulse, move |limits, beat| {
        points.check(&columns)?;
        let problem = Problem::new(columns, points, build()?, read_shape(shape))?;
        let run = Run::new(limits, problem.scale, Some(beat));
        let found = match regrets {
            Some(regrets) => crate::guess::solve(&problem, &regrets, &run)?,
            None => crate::solve::go_on(&problem, None, &run)?,
        };
        Ok((problem, found))
    })?;
    let raised = Raised::default();
    PyAnswer::open(py, answer, Open { problem: Arc::new(problem), known, raised })
}

/// Build the problem of a task that calls back, and search it.
pub(super) fn solve_raising(
    py: Python<'_>,
    (columns, points): (Vec<Column>, Points),
    build: impl FnOnce() -> crate::error::Result<Scaled> + Send,
    raised: Raised,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
) -> PyResult<PyAnswer> {
    let (problem, (answer, known)) =
        run_raising(py, limits, pulse, &raised, move |limits, beat| {
            points.check(&columns)?;
            let problem = Problem::new(columns, points, build()?, read_shape(shape))?;
            let run = Run::new(limits, problem.scale, Some(beat));
            let found = crate::solve::go_on(&problem, None, &run)?;
            Ok((problem, found))
        })?;
    PyAnswer::open(py, answer, Open { problem: Arc::new(problem), known, raised })
}

pub(super) fn read_shape((max_depth, max_leaves, min_leaf_rows): ShapeParts) -> Shape {
    Shape { max_depth, max_leaves, min_leaf_rows }
}

/// Search without the GIL, with a pulse that polls for Ctrl-C and calls back.
pub(super) fn run<T: Send>(
    py: Python<'_>,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
    search: impl FnOnce(Limits, Pulse<'static>) -> crate::error::Result<T> + Send,
) -> PyResult<T> {
    run_raising(py, limits, pulse, &Raised::default(), search)
}

/// As `run`, for a task whose callbacks leave their exception in `raised`.
fn run_raising<T: Send>(
    py: Python<'_>,
    (time, memory, gap, threads): LimitParts,
    pulse: Option<Py<PyAny>>,
    raised: &Raised,
    search: impl FnOnce(Limits, Pulse<'static>) -> crate::error::Result<T> + Send,
) -> PyResult<T> {
    let limits = Limits { time: time.map(Duration::from_secs_f64), memory, gap, threads };
    let beat = beat(pulse, raised.clone());
    let found = py.detach(move || search(limits, beat));
    if let Some(error) = raised.lock().unwrap_or_else(|p| p.into_inner()).take() {
        return Err(error);
    }
    Ok(found?)
}

impl PyAnswer {
    pub(super) fn new(py: Python<'_>, answer: Answer) -> PyResult<PyAnswer> {
        Ok(PyAnswer {
            tree: Py::new(py, PyTree { tree: answer.tree })?,
            objective: answer.objective,
            lower_bound: answer.lower_bound,
            status: answer.status.name(),
            seconds: answer.seconds,
            nodes: answer.work.nodes,
            kernel_calls: answer.work.kernel_calls,
            peak_bytes: answer.work.peak_bytes,
            curve: (answer.curve.iter()).map(|m| (m.seconds, m.upper, m.lower)).collect(),
            open: None,
        })
    }

    /// An answer that a search may go on from.
    fn open(py: Python<'_>, answer: Answer, open: Open) -> PyResult<PyAnswer> {
        let answer = PyAnswer::new(py, answer)?;
        Ok(PyAnswer { open: Some(open), ..answer })
    }
}

/// Polls for Ctrl-C, which ends the search with the best tree so far, and calls the user's callback
/// with (seconds, objective, lower_bound, nodes, kernel_calls, peak_bytes). A callback that returns
/// False ends the search likewise; one that raises ends it with its error.
fn beat(callback: Option<Py<PyAny>>, raised: Raised) -> Pulse<'static> {
    Box::new(move |p: &Progress| {
        Python::attach(|py| {
            if py.check_signals().is_err() {
                return false;
            }
            let Some(callback) = &callback else {
                return true;
            };
            let work = p.work;
            let args = (
                p.seconds,
                p.objective,
                p.lower_bound,
                work.nodes,
                work.kernel_calls,
                work.peak_bytes,
            );
            match callback.call1(py, args) {
                Ok(go_on) => !go_on.bind(py).is(PyBool::new(py, false)),
                Err(error) => {
                    keep_raised(&raised, error);
                    false
                }
            }
        })
    })
}
