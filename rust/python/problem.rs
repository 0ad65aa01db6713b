//! A problem as it comes from Python, and the one function that solves it.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::additive::Raised;
use super::goals::Goal;
use super::parts::{Constraints, FeatureCosts, Limits, PathRule, Shape, read_columns};
use super::search::{Open, PyAnswer, raising, search};
use super::table::PyPoints;
use super::tree::PyTree;
use crate::answer::{self, Incumbent};
use crate::error::{Error, Result};
use crate::guess::GuessedBy;
use crate::posed::{Posed, ProblemInput};
use crate::problem::Problem;
use crate::proof::{self, Claim, Instance};
use crate::tree::Tree;

/// Data, a goal, what trees may be, and what they must keep to. It never changes, and neither does
/// its digest, which differs where anything that the problem holds does, but for `shape` and
/// `regrets`.
#[pyclass(frozen, module = "certree._core", name = "Problem")]
pub(super) struct PyProblem {
    pub(super) input: ProblemInput,
    pub(super) posed: Posed,
    /// Where a task that calls back leaves an exception.
    pub(super) raised: Option<Raised>,
    #[pyo3(get)]
    digest: String,
}

#[pymethods]
impl PyProblem {
    /// `regrets`: by point, what a reference loses beyond the least, as a share of the objective;
    /// the tree is then the best if no tree is better than the reference anywhere.
    #[new]
    #[pyo3(signature = (columns, points, goal, shape, constraints=None, feature_costs=None, regrets=None, path_rules=Vec::new()))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        columns: Vec<Bound<'_, PyTuple>>,
        points: &Bound<'_, PyPoints>,
        goal: Goal<'_>,
        shape: &Bound<'_, Shape>,
        constraints: Option<&Bound<'_, Constraints>>,
        feature_costs: Option<&Bound<'_, FeatureCosts>>,
        regrets: Option<PyReadonlyArray1<'_, f64>>,
        path_rules: Vec<PathRule>,
    ) -> PyResult<Self> {
        let (columns, after) = read_columns(columns)?;
        let input = ProblemInput {
            columns,
            points: points.get().points.clone(),
            goal: goal.input(),
            shape: shape.get().shape,
            constraints: constraints.map(|constraints| constraints.get().input.clone()),
            feature_costs: feature_costs.map(|costs| costs.get().input.clone()),
            path_rules: path_rules.into_iter().map(|rule| rule.rule).collect(),
            regrets: regrets.map(|regrets| regrets.to_vec()).transpose()?,
            after,
        };
        Self::posed(py, input, goal.raised())
    }

    /// By point: the node of a tree of the problem that it ends in.
    fn leaves<'py>(
        &self,
        py: Python<'py>,
        tree: &Bound<'_, PyTree>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let Posed::Additive(problem, _) = &self.posed else {
            return Err(Error::invalid("points of this problem are not sent down a tree").into());
        };
        Ok(PyArray1::from_vec(py, answer::leaves(problem, &tree.get().tree)))
    }

    /// What is left of a tree from elsewhere within the limits of this problem, and its objective.
    /// None if that is none of the problem's trees.
    fn start(&self, py: Python<'_>, tree: &Bound<'_, PyTree>) -> PyResult<Option<(PyTree, f64)>> {
        let Posed::Additive(problem, _) = &self.posed else {
            return Err(Error::invalid(
                "start= is for losses that add up over rows: a metric, a ranking or constraints \
                 begin without a tree",
            )
            .into());
        };
        let tree = &tree.get().tree;
        let known = py.detach(|| Incumbent::from_elsewhere(problem, tree));
        let known = raising(&self.raised, known.map_err(Into::into))?;
        Ok(known.map(|known| {
            let objective = problem.scale.objective(known.upper);
            (PyTree { tree: known.tree }, objective)
        }))
    }

    /// All parts as bytes, which [`from_bytes`] reads, here or in another process. A task of the
    /// user's own is code, and raises `ValueError`.
    fn to_bytes(&self, py: Python<'_>) -> PyResult<Py<PyBytes>> {
        let bytes = py.detach(|| self.input.to_bytes())?;
        Ok(PyBytes::new(py, &bytes).unbind())
    }

    /// The problem that these bytes were made from.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let input = py.detach(|| ProblemInput::from_bytes(bytes))?;
        Self::posed(py, input, None)
    }

    /// The rules that its paths keep to, as sentences without their ends.
    #[getter]
    fn path_rules(&self) -> Vec<String> {
        let ProblemInput { columns, path_rules, .. } = &self.input;
        path_rules.iter().map(|rule| rule.words(columns)).collect()
    }

    /// Where a tree is taken not to be better than the reference: in no "leaf", or at no "point".
    /// None without a reference.
    #[getter]
    fn guessed_by(&self) -> Option<&'static str> {
        match &self.posed {
            Posed::Additive(problem, Some(_)) => Some(match GuessedBy::of(problem) {
                GuessedBy::Leaf => "leaf",
                GuessedBy::Point => "point",
            }),
            _ => None,
        }
    }
}

impl PyProblem {
    /// Without the GIL, because large problems take long to build.
    fn posed(py: Python<'_>, input: ProblemInput, raised: Option<Raised>) -> PyResult<Self> {
        let built = py.detach(|| input.build());
        let posed = raising(&raised, built.map_err(Into::into))?;
        let digest = py.detach(|| format!("{:032x}", input.digest()));
        Ok(PyProblem { input, posed, raised, digest })
    }
}

/// Search for the best tree. With `incumbent`, a tree that is known already and what no tree's
/// objective is below, the search is for a better one, without any guess of a reference. `saved`:
/// what `Answer.to_bytes` gave, of a search of this problem that goes on from there; bytes of
/// another version are as none.
#[pyfunction]
#[pyo3(signature = (problem, limits, pulse=None, incumbent=None, saved=None))]
pub(super) fn solve(
    py: Python<'_>,
    problem: &Bound<'_, PyProblem>,
    limits: &Bound<'_, Limits>,
    pulse: Option<Py<PyAny>>,
    incumbent: Option<(PyRef<'_, PyTree>, f64)>,
    saved: Option<&[u8]>,
) -> PyResult<PyAnswer> {
    let posed = &problem.get().posed;
    let first = match (posed, incumbent) {
        (_, None) => None,
        (Posed::Additive(problem, _), Some((tree, lower))) => {
            let tree = &tree.tree;
            Some(py.detach(|| known(problem, tree, lower, saved))?)
        }
        _ => return Err(Error::invalid("only costs that add up over rows have incumbents").into()),
    };
    let raised = &problem.get().raised;
    let found = search(py, limits, pulse, |limits, beat| {
        posed.solve(&posed.run(limits, Some(beat)), first)
    });
    let found = raising(raised, found)?;
    let (answer, known, attained) = found.result;
    let open = match (posed, known) {
        (Posed::Additive(problem, _), Some(known)) => {
            Some(Open { problem: problem.clone(), known, raised: raised.clone() })
        }
        _ => None,
    };
    PyAnswer::new(py, answer, attained, open, found.interrupt)
}

/// What is known of a tree and a bound, and of a search that was saved with them.
fn known(problem: &Problem, tree: &Tree, lower: f64, saved: Option<&[u8]>) -> Result<Incumbent> {
    match saved.and_then(|bytes| Incumbent::from_bytes(problem, bytes).ok()) {
        Some(known) => Ok(known.bounded_by(problem, lower)),
        None => Incumbent::of_tree(problem, tree.clone(), lower),
    }
}

/// The problem as a text for programs that check proofs, with `about` (JSON) in it.
#[pyfunction]
pub(super) fn export_instance(
    py: Python<'_>,
    problem: &Bound<'_, PyProblem>,
    about: &str,
    limits: &Bound<'_, Limits>,
) -> PyResult<String> {
    let posed = &problem.get().posed;
    let Posed::Additive(inner, None) = posed else {
        return Err(proof::refused().into());
    };
    let found = search(py, limits, None, |limits, beat| {
        Ok(Instance::of(inner, &posed.run(limits, Some(beat)))?.to_text(about))
    })?;
    match found.interrupt {
        Some(interrupt) => Err(PyErr::from_value(interrupt.into_bound(py))),
        None => Ok(found.result),
    }
}

/// The problem as a text for programs that check proofs, with `about` (JSON) in it, and the proof
/// that no tree's objective is below `lower_bound`, or below that of `tree`: with its bound in the
/// units of the text, its lemmas, and the looks that it took to find.
#[pyfunction]
#[pyo3(signature = (problem, tree, about, limits, lower_bound=None, pulse=None))]
pub(super) fn prove<'py>(
    py: Python<'py>,
    problem: &Bound<'_, PyProblem>,
    tree: PyRef<'_, PyTree>,
    about: &str,
    limits: &Bound<'_, Limits>,
    lower_bound: Option<f64>,
    pulse: Option<Py<PyAny>>,
) -> PyResult<(String, Bound<'py, PyBytes>, i64, u64, u64)> {
    let posed = &problem.get().posed;
    let Posed::Additive(inner, None) = posed else {
        return Err(proof::refused().into());
    };
    let tree = &tree.tree;
    let found = search(py, limits, pulse, |limits, beat| {
        let run = posed.run(limits, Some(beat));
        let instance = Instance::of(inner, &run)?;
        let text = instance.to_text(about);
        let proof = Claim::of(inner, &instance, tree, lower_bound).prove(&text, &run)?;
        Ok((text, proof))
    })?;
    if let Some(interrupt) = found.interrupt {
        return Err(PyErr::from_value(interrupt.into_bound(py)));
    }
    let (text, proof) = found.result;
    let bytes = PyBytes::new(py, &proof.bytes);
    Ok((text, bytes, proof.bound, proof.lemmas, proof.looks))
}
