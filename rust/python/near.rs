//! Trees that are nearly as good as the best one, at the border.

use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::parts::Limits;
use super::problem::PyProblem;
use super::search::{raising, search};
use super::tree::PyTree;
use crate::error::Error;
use crate::ids::ColumnId;
use crate::near::{Alike, Count, LeafAnswers, Listing, Near, Reach};
use crate::posed::Posed;
use crate::run::Run;
use crate::tree::Tree;

/// All trees of a problem that are within a budget, or some of them where the search was stopped.
#[pyclass(frozen, module = "certree._core", name = "NearOptimal")]
pub(super) struct PyNear {
    near: Arc<Near>,
    #[pyo3(get)]
    status: &'static str,
    #[pyo3(get)]
    seconds: f64,
    #[pyo3(get)]
    interrupt: Option<Py<PyAny>>,
}

/// A listing of trees, the best first; each with its objective.
#[pyclass(frozen, module = "certree._core", name = "Listing")]
pub(super) struct PyListing {
    near: Arc<Near>,
    listing: Mutex<Listing>,
}

/// Find the trees near that of a fitted model, whose objective is the least there is. `within`: by
/// how much an objective may be larger, as a share of it; `beyond`: as a number; `n`: so many that
/// there are n trees. One of them is given.
#[pyfunction]
#[pyo3(signature = (problem, tree, limits, within=None, beyond=None, n=None, any_answer=false, alike_once=false, pulse=None))]
#[allow(clippy::too_many_arguments)]
pub(super) fn near_optimal(
    py: Python<'_>,
    problem: &Bound<'_, PyProblem>,
    tree: PyRef<'_, PyTree>,
    limits: &Bound<'_, Limits>,
    within: Option<f64>,
    beyond: Option<f64>,
    n: Option<u64>,
    any_answer: bool,
    alike_once: bool,
    pulse: Option<Py<PyAny>>,
) -> PyResult<PyNear> {
    let posed = &problem.get().posed;
    let Posed::Additive(inner, None) = posed else {
        return Err(Error::invalid(
            "near_optimal is for losses that add up over rows, without constraints and reference=",
        )
        .into());
    };
    let reach = match (within, beyond, n) {
        (Some(share), None, None) => Reach::Share(share),
        (None, Some(amount), None) => Reach::Amount(amount),
        (None, None, Some(n)) => Reach::Trees(n),
        _ => return Err(Error::invalid("one of within, beyond and n is given").into()),
    };
    let answers = if any_answer { LeafAnswers::Any } else { LeafAnswers::Best };
    let alike = if alike_once { Alike::Once } else { Alike::Each };
    let tree = &tree.tree;
    let found = search(py, limits, pulse, |limits, beat| {
        let run = posed.run(limits, Some(beat));
        let near = Near::around(inner, tree, reach, answers, alike, &run)?;
        Ok((near, run.seconds(), run.stopped()))
    });
    let found = raising(&problem.get().raised, found)?;
    let (near, seconds, stopped) = found.result;
    let status = stopped.map_or("complete", |status| status.name());
    Ok(PyNear { near: Arc::new(near), status, seconds, interrupt: found.interrupt })
}

type Found = (PyTree, f64);

impl PyNear {
    fn shown(&self, (tree, cost): (Tree, i64)) -> Found {
        (PyTree { tree }, self.near.problem().scale.objective(cost))
    }

    fn run(&self, limits: &Bound<'_, Limits>) -> Run<'static> {
        Run::new(limits.get().limits.clone(), self.near.problem().scale, None)
    }
}

fn number<'py>(py: Python<'py>, count: &Count) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &count.to_bytes())
}

#[pymethods]
impl PyNear {
    #[getter]
    fn is_complete(&self) -> bool {
        self.near.is_complete()
    }

    /// The most that an objective may be.
    #[getter]
    fn bound(&self) -> f64 {
        self.near.problem().scale.objective(self.near.budget())
    }

    /// Nodes and splits of the graph.
    #[getter]
    fn size(&self) -> (usize, usize) {
        self.near.size()
    }

    /// By which an objective may be off, because costs were rounded to units; 0 if they were not.
    #[getter]
    fn rounding(&self) -> f64 {
        let scale = self.near.problem().scale;
        scale.slack as f64 / scale.units
    }

    /// How many trees there are, or how many do not ask for a column: the bytes of the number, the
    /// lowest first, and whether that is all.
    #[pyo3(signature = (limits, without=None))]
    fn count<'py>(
        &self,
        py: Python<'py>,
        limits: &Bound<'py, Limits>,
        without: Option<u32>,
    ) -> (Bound<'py, PyBytes>, bool) {
        let run = self.run(limits);
        let (count, is_all) = py.detach(|| self.near.count_without(without.map(ColumnId), &run));
        (number(py, &count), is_all)
    }

    /// By objective, how many trees have it; None if there are more than `most` objectives.
    #[allow(clippy::type_complexity)]
    fn by_objective<'py>(
        &self,
        py: Python<'py>,
        most: usize,
        limits: &Bound<'py, Limits>,
    ) -> PyResult<Option<Vec<(f64, Bound<'py, PyBytes>)>>> {
        let run = self.run(limits);
        let scale = self.near.problem().scale;
        let Some(costs) = py.detach(|| self.near.by_cost(most, &run))? else { return Ok(None) };
        let shown = costs.iter().map(|(cost, count)| (scale.objective(*cost), number(py, count)));
        Ok(Some(shown.collect()))
    }

    fn listing(&self) -> PyListing {
        PyListing { near: self.near.clone(), listing: Mutex::default() }
    }

    fn sample(
        &self,
        py: Python<'_>,
        n: usize,
        seed: u64,
        limits: &Bound<'_, Limits>,
    ) -> PyResult<Vec<Found>> {
        let run = self.run(limits);
        let trees = py.detach(|| self.near.sample(n, seed, &run))?;
        Ok(trees.into_iter().map(|tree| self.shown(tree)).collect())
    }

    fn sparsest(&self, py: Python<'_>) -> PyResult<Option<Found>> {
        let found = py.detach(|| self.near.sparsest())?;
        Ok(found.map(|tree| self.shown(tree)))
    }

    /// The objective of the best tree that does not ask for a column, if it is within the bound.
    fn least_without(&self, py: Python<'_>, column: u32) -> Option<f64> {
        let least = py.detach(|| self.near.least_without(ColumnId(column)));
        least.map(|cost| self.near.problem().scale.objective(cost))
    }

    /// By column of the core: whether any tree asks for it.
    #[getter]
    fn asked(&self) -> Vec<bool> {
        self.near.asked()
    }
}

#[pymethods]
impl PyListing {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Found>> {
        let next = py.detach(|| {
            let mut listing = self.listing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            self.near.next(&mut listing)
        })?;
        let scale = self.near.problem().scale;
        Ok(next.map(|(tree, cost)| (PyTree { tree }, scale.objective(cost))))
    }
}
