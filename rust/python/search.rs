//! The way to a search and back, which all goals share: progress, interrupts, the answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::additive::Raised as TaskRaised;
use super::parts::Limits;
use super::tree::PyTree;
use crate::answer::{self, Answer, Incumbent};
use crate::bounds::{Bound as Decider, Decisions};
use crate::problem::Problem;
use crate::run::{self, Progress, Pulse, Run};

/// A tree that a search found, and what it proved.
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
    /// The name of the way in which the problem was searched.
    #[pyo3(get)]
    route: &'static str,
    #[pyo3(get)]
    seconds: f64,
    #[pyo3(get)]
    nodes: u64,
    #[pyo3(get)]
    kernel_calls: u64,
    #[pyo3(get)]
    peak_bytes: u64,
    decided: Decisions,
    /// (seconds, upper, lower)
    #[pyo3(get)]
    curve: Vec<(f64, f64, f64)>,
    /// The share, or difference of shares, of each constraint in the tree.
    #[pyo3(get)]
    attained: Vec<f64>,
    /// The problem and all that is known of it, for a search that goes on; not of metrics and
    /// fronts.
    pub(super) open: Option<Open>,
    /// The exception of a signal, such as KeyboardInterrupt, that ended the search. Whoever has
    /// kept the tree raises it.
    #[pyo3(get)]
    interrupt: Option<Py<PyAny>>,
}

/// A search that can go on.
pub(super) struct Open {
    pub(super) problem: Arc<Problem>,
    pub(super) known: Incumbent,
    /// Where a task that calls back leaves an exception.
    pub(super) raised: Option<TaskRaised>,
}

/// The result, unless a task's callback raised an exception, which explains whatever came of it.
pub(super) fn raising<T>(raised: &Option<TaskRaised>, result: PyResult<T>) -> PyResult<T> {
    let take =
        |raised: &TaskRaised| raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
    raised.as_ref().and_then(take).map_or(result, Err)
}

#[pymethods]
impl PyAnswer {
    /// True if `go_on` can prove more.
    #[getter]
    fn is_open(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.known.lower < open.known.upper)
    }

    /// How often each bound decided, by its name, in the order of the registry.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bounds = PyDict::new(py);
        for (bound, times) in self.decided.iter() {
            bounds.set_item(bound.name(), times)?;
        }
        Ok(bounds)
    }

    /// True if `with_most_leaves` knows what to search.
    #[getter]
    fn is_of_nodes(&self) -> bool {
        self.open.is_some()
    }

    /// What the search has proved so far, for `solve` in another process: the bytes of the tree and
    /// its bounds, and of all that the search left behind if they are at most `most`. None where it
    /// cannot go on.
    fn to_bytes(&self, py: Python<'_>, most: usize) -> Option<Py<PyBytes>> {
        let Open { problem, known, .. } = self.open.as_ref()?;
        let bytes = py.detach(|| known.to_bytes(problem, most));
        Some(PyBytes::new(py, &bytes).unbind())
    }

    /// The best of the trees with at most so many leaves, fewer than this search allowed. What it
    /// proved of nodes goes over to the answer.
    #[pyo3(signature = (most, limits, pulse=None))]
    fn with_most_leaves(
        &self,
        py: Python<'_>,
        most: u32,
        limits: &Bound<'_, Limits>,
        pulse: Option<Py<PyAny>>,
    ) -> PyResult<PyAnswer> {
        let Some(Open { problem, known, raised }) = &self.open else {
            return Err(PyValueError::new_err("this search knows no nodes"));
        };
        let found = search(py, limits, pulse, |limits, beat| {
            let run = Run::new(limits, problem.scale, Some(beat));
            answer::with_most_leaves(problem, most, known, &run)
        });
        let found = raising(raised, found)?;
        let (problem, answer, known) = found.result;
        let open = Some(Open { problem: Arc::new(problem), known, raised: raised.clone() });
        PyAnswer::new(py, answer, Vec::new(), open, found.interrupt)
    }

    /// The answer after more search, without any guess.
    #[pyo3(signature = (limits, pulse=None))]
    fn go_on(
        &self,
        py: Python<'_>,
        limits: &Bound<'_, Limits>,
        pulse: Option<Py<PyAny>>,
    ) -> PyResult<PyAnswer> {
        let Some(Open { problem, known, raised }) = &self.open else {
            return Err(PyValueError::new_err("there is nothing left to search"));
        };
        let found = search(py, limits, pulse, |limits, beat| {
            let run = Run::new(limits, problem.scale, Some(beat));
            answer::go_on(problem, Some(known), &run)
        });
        let found = raising(raised, found)?;
        let (answer, known) = found.result;
        let open = Some(Open { problem: problem.clone(), known, raised: raised.clone() });
        PyAnswer::new(py, answer, Vec::new(), open, found.interrupt)
    }
}

impl PyAnswer {
    pub(super) fn new(
        py: Python<'_>,
        answer: Answer,
        attained: Vec<f64>,
        open: Option<Open>,
        interrupt: Option<Py<PyAny>>,
    ) -> PyResult<PyAnswer> {
        Ok(PyAnswer {
            tree: Py::new(py, PyTree { tree: answer.tree })?,
            objective: answer.objective,
            lower_bound: answer.lower_bound,
            status: answer.status.name(),
            route: answer.route.name(),
            seconds: answer.seconds,
            nodes: answer.work.nodes,
            kernel_calls: answer.work.kernel_calls,
            peak_bytes: answer.work.peak_bytes,
            decided: answer.work.bounds,
            curve: (answer.curve.iter()).map(|m| (m.seconds, m.upper, m.lower)).collect(),
            attained,
            open,
            interrupt,
        })
    }
}

/// What several processes took for an answer: seconds of the clock, work, and the bounds as time
/// went by.
#[derive(FromPyObject)]
pub(super) struct Told {
    seconds: f64,
    nodes: u64,
    kernel_calls: u64,
    peak_bytes: u64,
    bounds: HashMap<String, u64>,
    curve: Vec<(f64, f64, f64)>,
}

impl PyAnswer {
    /// With what the processes took that found it.
    pub(super) fn told(mut self, told: Told) -> PyAnswer {
        let Told { seconds, nodes, kernel_calls, peak_bytes, bounds, curve } = told;
        (self.seconds, self.curve, self.peak_bytes) = (seconds, curve, peak_bytes);
        (self.nodes, self.kernel_calls) = (nodes, kernel_calls);
        let known: Vec<Decider> = self.decided.iter().map(|(bound, _)| bound).collect();
        for bound in known {
            self.decided.add(bound, bounds.get(bound.name()).copied().unwrap_or(0));
        }
        self
    }
}

/// The result of a search, and the exception that a signal raised meanwhile.
pub(super) struct Found<T> {
    pub(super) result: T,
    pub(super) interrupt: Option<Py<PyAny>>,
}

/// Why a pulse ended a search.
#[derive(Default)]
struct Raised {
    /// By the handler of a signal: the answer is kept nevertheless.
    by_signal: Option<PyErr>,
    by_callback: Option<PyErr>,
}

/// Search without the GIL, with a pulse that polls for signals and calls back.
pub(super) fn search<T: Send>(
    py: Python<'_>,
    limits: &Bound<'_, Limits>,
    pulse: Option<Py<PyAny>>,
    work: impl FnOnce(run::Limits, Pulse<'static>) -> crate::error::Result<T> + Send,
) -> PyResult<Found<T>> {
    let limits = limits.get().limits.clone();
    let raised: Arc<Mutex<Raised>> = Arc::default();
    let beat = beat(pulse, raised.clone());
    let found = py.detach(move || work(limits, beat));
    let mut raised = raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(error) = raised.by_callback.take() {
        return Err(error);
    }
    match (found, raised.by_signal.take()) {
        (Ok(result), interrupt) => {
            let interrupt = interrupt.map(|error| error.into_value(py).into_any());
            Ok(Found { result, interrupt })
        }
        (Err(_), Some(interrupt)) => Err(interrupt),
        (Err(error), None) => Err(error.into()),
    }
}

/// Polls for signals, such as Ctrl-C, which end the search with the best tree so far, and calls the
/// user's callback with (seconds, objective, lower_bound, nodes, kernel_calls, peak_bytes). A
/// callback that returns False, of Python or numpy, ends the search likewise; one that raises ends
/// it with its error.
fn beat(callback: Option<Py<PyAny>>, raised: Arc<Mutex<Raised>>) -> Pulse<'static> {
    let raise = move |error: PyErr, by: fn(&mut Raised) -> &mut Option<PyErr>| {
        *by(&mut raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner())) = Some(error);
        false
    };
    Box::new(move |p: &Progress| {
        Python::attach(|py| {
            if let Err(error) = py.check_signals() {
                return raise(error, |raised| &mut raised.by_signal);
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
                Ok(go_on) => go_on.extract::<bool>(py).unwrap_or(true),
                Err(error) => raise(error, |raised| &mut raised.by_callback),
            }
        })
    })
}
