//! A search that several processes share, as one of them sees it.

use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::parts::{Limits, seconds};
use super::problem::PyProblem;
use super::search::{Open, PyAnswer, Told, search};
use super::tree::PyTree;
use crate::answer::{Known, Part, Share};
use crate::error::Error;
use crate::posed::Posed;
use crate::run::{Run, Status};

/// A problem whose search is divided by the first question, and what this process has proved of it.
/// Costs are whole numbers, the same in each process.
#[pyclass(frozen, module = "certree._core", name = "Share")]
pub(super) struct PyShare {
    share: Share,
    problem: Arc<crate::problem::Problem>,
}

/// What came of a part: the bound that no tree of it costs less, a better tree with its cost if
/// there is one, the part as it is to be searched on, and whether that waits for all others; nodes,
/// kernel calls, bytes, and how often each bound decided.
/// What is proved of a part, a better tree, what is left of the part and whether that waits, the
/// work, how often each bound decided, and whether memory is full.
type Found<'py> =
    (i64, Option<(PyTree, i64)>, (Py<PyBytes>, bool), (u64, u64, u64), Bound<'py, PyDict>, bool);

#[pymethods]
impl PyShare {
    #[new]
    fn new(problem: &Bound<'_, PyProblem>) -> PyResult<Self> {
        let Posed::Additive(problem, None) = &problem.get().posed else {
            return Err(Error::invalid(
                "only searches for costs that add up over rows, and without a reference, are \
                 divided among workers",
            )
            .into());
        };
        Ok(PyShare { share: Share::new(problem.clone())?, problem: problem.clone() })
    }

    /// What a tree of the problem costs.
    fn cost(&self, tree: &Bound<'_, PyTree>) -> PyResult<i64> {
        Ok(self.share.cost(&tree.get().tree)?)
    }

    /// The objective that is a cost.
    fn objective(&self, cost: i64) -> f64 {
        self.problem.scale.objective(cost)
    }

    /// Begin with what a search of this problem that was cut short knows. It knows no more then.
    fn begin_with(&self, answer: &Bound<'_, PyAnswer>) {
        if let Some(open) = &answer.get().open {
            self.share.begin_with(&open.known);
        }
    }

    /// Lower bounds of nodes that were proved since this was last asked, for other processes.
    /// `large`: only of nodes that take more than one look, which are few.
    fn news(&self, py: Python<'_>, large: bool) -> Py<PyBytes> {
        PyBytes::new(py, &py.detach(|| self.share.news(large))).unbind()
    }

    /// Take in the news of another process that shares this search.
    fn learn(&self, py: Python<'_>, news: &[u8]) -> PyResult<()> {
        Ok(py.detach(|| self.share.learn(news))?)
    }

    /// All trees as bytes, and whether that waits for nothing but itself. None once it was asked.
    fn whole(&self, py: Python<'_>) -> Option<(Py<PyBytes>, bool)> {
        Some(written(py, &self.share.whole()?))
    }

    /// Two parts that are this one together; None where it is a single cut or question.
    fn halves(&self, py: Python<'_>, part: &[u8]) -> PyResult<Option<[Py<PyBytes>; 2]>> {
        let halves = Part::from_bytes(&self.problem, part)?.halves();
        Ok(halves.map(|parts| parts.map(|part| written(py, &part).0)))
    }

    /// All parts that are left, each of which waits for the others, as one.
    fn joined(&self, py: Python<'_>, parts: Vec<Vec<u8>>) -> PyResult<Py<PyBytes>> {
        let read = parts.iter().map(|part| Part::from_bytes(&self.problem, part));
        let joined = Part::joined(read.collect::<Result<_, _>>()?);
        let joined = joined.ok_or_else(|| Error::invalid("these parts are joined with none"))?;
        Ok(written(py, &joined).0)
    }

    /// Search trees of a part that cost less than `cutoff` for so many seconds; None: to the end.
    #[pyo3(signature = (part, cutoff, slice, limits, pulse=None))]
    fn search<'py>(
        &self,
        py: Python<'py>,
        part: &[u8],
        cutoff: i64,
        slice: Option<f64>,
        limits: &Bound<'_, Limits>,
        pulse: Option<Py<PyAny>>,
    ) -> PyResult<Found<'py>> {
        let part = Part::from_bytes(&self.problem, part)?;
        let slice = slice.map_or(Ok(Duration::MAX), seconds)?;
        let found = search(py, limits, pulse, |limits, beat| {
            let run = Run::new(self.share.within(limits, slice), self.problem.scale, Some(beat));
            let known = self.share.search(part, cutoff, slice, &run)?;
            Ok((known, run.work(), run.stopped() == Some(Status::MemoryLimit)))
        })?;
        let (Known { lower, better, left }, work, is_full) = found.result;
        let bounds = PyDict::new(py);
        for (bound, times) in work.bounds.iter() {
            bounds.set_item(bound.name(), times)?;
        }
        let better = better.map(|(tree, cost)| (PyTree { tree }, cost));
        let work = (work.nodes, work.kernel_calls, work.peak_bytes);
        Ok((lower, better, written(py, &left), work, bounds, is_full))
    }

    /// The answer that all parts make together: the best tree, and that none costs less than
    /// `lower`. `told`: what the processes took. `ended`: what ended the search, if that is not the
    /// proof.
    #[pyo3(signature = (tree, lower, limits, told, ended=None, interrupt=None))]
    #[allow(clippy::too_many_arguments)]
    fn conclude(
        &self,
        py: Python<'_>,
        tree: &Bound<'_, PyTree>,
        lower: i64,
        limits: &Bound<'_, Limits>,
        told: Told,
        ended: Option<&str>,
        interrupt: Option<Py<PyAny>>,
    ) -> PyResult<PyAnswer> {
        let status = match ended {
            None => None,
            Some("time_limit") => Some(Status::TimeLimit),
            Some("gap_limit") => Some(Status::GapLimit),
            Some("memory_limit") => Some(Status::MemoryLimit),
            Some("interrupted") => Some(Status::Interrupted),
            Some(other) => {
                return Err(Error::invalid(format!("no search ends by {other:?}")).into());
            }
        };
        let tree = tree.get().tree.clone();
        let found = search(py, limits, None, move |limits, beat| {
            let run = Run::new(limits, self.problem.scale, Some(beat));
            status.into_iter().for_each(|status| run.stop(status));
            self.share.conclude(tree, lower, &run)
        })?;
        let (answer, known) = found.result;
        let open = Some(Open { problem: self.problem.clone(), known, raised: None });
        let interrupt = interrupt.or(found.interrupt);
        Ok(PyAnswer::new(py, answer, Vec::new(), open, interrupt)?.told(told))
    }
}

/// A part as bytes, and whether it waits for all others.
fn written(py: Python<'_>, part: &Part) -> (Py<PyBytes>, bool) {
    (PyBytes::new(py, &part.to_bytes()).unbind(), part.waits())
}
