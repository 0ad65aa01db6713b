//! A problem as it comes from Python, and the one function that solves it.

use std::sync::Arc;

use numpy::{PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use super::additive::Raised;
use super::combinations;
use super::digest::Digest;
use super::goals::Goal;
use super::parts::{Constraints, Counted, FeatureCosts, Limits, Shape, digest_data, read_columns};
use super::search::{Open, PyAnswer, raising, search};
use super::table::PyPoints;
use super::tree::PyTree;
use crate::answer::{self, Answer, Incumbent};
use crate::data::{Column, Points};
use crate::error::{Error, Result};
use crate::guess::GuessedBy;
use crate::metric::Scored;
use crate::pareto::{Constrained, Roc};
use crate::problem::Problem;
use crate::run::{self, Pulse, Run};
use crate::task::{CountedInput, FeatureCostList, ROUNDED_SUMS, RowCosts, Scaled, Weighed};

/// Data, a goal, what trees may be, and what they must keep to. It never changes, and neither does
/// its digest, which differs where anything that the problem holds does, but for `shape` and
/// `regrets`.
#[pyclass(frozen, module = "certree._core", name = "Problem")]
pub(super) struct PyProblem {
    posed: Posed,
    /// Where a task that calls back leaves an exception.
    raised: Option<Raised>,
    #[pyo3(get)]
    digest: String,
}

/// A problem, built for the search that it takes.
enum Posed {
    /// Costs that add up over leaves; with the regrets of a reference by point.
    Additive(Arc<Problem>, Option<Vec<f64>>),
    Constrained(Constrained),
    Metric(Box<Scored>),
    Area(Roc),
}

/// All parts that a problem is built from but its goal, borrowed from Python.
struct Given<'a> {
    columns: Vec<Column>,
    points: Points,
    shape: crate::problem::Shape,
    constraints: Option<&'a Constraints>,
    feature_costs: Option<&'a FeatureCosts>,
    regrets: Option<Vec<f64>>,
}

#[pymethods]
impl PyProblem {
    /// `regrets`: by point, what a reference loses beyond the least, as a share of the objective;
    /// the tree is then the best if no tree is better than the reference anywhere.
    #[new]
    #[pyo3(signature = (columns, points, goal, shape, constraints=None, feature_costs=None, regrets=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        columns: Vec<(String, Bound<'_, PyAny>)>,
        points: &Bound<'_, PyPoints>,
        goal: Goal<'_>,
        shape: &Bound<'_, Shape>,
        constraints: Option<&Bound<'_, Constraints>>,
        feature_costs: Option<&Bound<'_, FeatureCosts>>,
        regrets: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let given = [
            ("constraints", constraints.is_some()),
            ("feature_costs", feature_costs.is_some()),
            ("reference", regrets.is_some()),
        ];
        let given: Vec<&str> = given.iter().filter(|part| part.1).map(|part| part.0).collect();
        combinations::check(goal.name(), &given)?;
        let given = Given {
            columns: read_columns(columns)?,
            points: points.get().points.clone(),
            shape: shape.get().shape,
            constraints: constraints.map(|constraints| constraints.get()),
            feature_costs: feature_costs.map(|costs| costs.get()),
            regrets: regrets.map(|regrets| regrets.to_vec()).transpose()?,
        };
        given.points.check(&given.columns)?;
        let mut digest = Digest::new();
        digest_data(&given.columns, &given.points, &mut digest);
        goal.digest(&mut digest);
        constraints.iter().for_each(|constraints| constraints.get().digest(&mut digest));
        feature_costs.iter().for_each(|costs| costs.get().digest(&mut digest));
        let raised = goal.additive().and_then(|goal| goal.raised());
        let posed = raising(&raised, Posed::new(py, goal, given).map_err(Into::into))?;
        Ok(PyProblem { posed, raised, digest: digest.finish() })
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

impl Posed {
    /// Without the GIL, because large problems take long to build.
    fn new(py: Python<'_>, goal: Goal<'_>, given: Given<'_>) -> Result<Posed> {
        match goal {
            Goal::Classes(goal) => {
                let input = &goal.get().input;
                py.detach(|| match given.constraints {
                    Some(Constraints { limits, counted: Counted::Classes { class_of } }) => {
                        let Given { columns, points, shape, .. } = given;
                        let class_of = class_of.clone();
                        Constrained::new(columns, points, input, class_of, limits, shape)
                            .map(Posed::Constrained)
                    }
                    Some(_) => Err(other_counts()),
                    None => {
                        let scaled = input.build_with(given.prices())?;
                        given.additive(scaled)
                    }
                })
            }
            Goal::RowCosts(goal) => {
                let goal = goal.get();
                py.detach(|| given.of_row_costs(goal))
            }
            Goal::Squares(goal) => {
                let input = &goal.get().input;
                py.detach(|| given.additive(input.build()?))
            }
            Goal::Metric(goal) => {
                let input = &goal.get().input;
                let Given { columns, points, shape, constraints, .. } = given;
                py.detach(|| match constraints {
                    Some(Constraints { limits, counted: Counted::Classes { class_of } }) => {
                        let class_of = class_of.clone();
                        Scored::limited(columns, points, input, class_of, limits, shape)
                    }
                    Some(_) => Err(other_counts()),
                    None => Scored::new(columns, points, input, shape),
                })
                .map(|scored| Posed::Metric(Box::new(scored)))
            }
            Goal::ClassShares(_) | Goal::Rates(_) | Goal::Targets(_) | Goal::Custom(_) => {
                let goal = goal.additive().expect("these are");
                py.detach(|| given.additive(goal.build()?))
            }
            Goal::RankingArea(goal) => {
                let goal = goal.get();
                let Given { columns, points, shape, .. } = given;
                let (positive, most) = (goal.positive, goal.max_fpr);
                let weights = goal.weights.clone();
                let build =
                    || Roc::new(columns, points, weights, positive, most, goal.leaf_penalty, shape);
                py.detach(build).map(Posed::Area)
            }
        }
    }

    /// The answer, and what each constraint's share, or difference of shares, is in its tree.
    fn solve(
        &self,
        run: &Run,
        first: Option<Incumbent>,
    ) -> Result<(Answer, Option<Incumbent>, Vec<f64>)> {
        match self {
            Posed::Additive(problem, Some(regrets)) if first.is_none() => {
                let (answer, known) = crate::guess::solve(problem, regrets, run)?;
                Ok((answer, Some(known), Vec::new()))
            }
            Posed::Additive(problem, _) => {
                let (answer, known) = answer::go_on(problem, first.as_ref(), run)?;
                Ok((answer, Some(known), Vec::new()))
            }
            Posed::Constrained(problem) => {
                let (answer, attained) = problem.solve(run)?;
                Ok((answer, None, attained))
            }
            Posed::Metric(scored) => {
                let answer = scored.solve(run)?;
                let attained = scored.attained(&answer.tree)?;
                Ok((answer, None, attained))
            }
            Posed::Area(area) => Ok((area.solve(run)?, None, Vec::new())),
        }
    }

    fn run<'a>(&self, limits: run::Limits, beat: Pulse<'a>) -> Run<'a> {
        let scale = match self {
            Posed::Additive(problem, _) => problem.scale,
            Posed::Constrained(problem) => problem.scale(),
            Posed::Metric(scored) => scored.scale(),
            Posed::Area(area) => area.scale(),
        };
        Run::new(limits, scale, Some(beat))
    }
}

fn other_counts() -> Error {
    Error::invalid(
        "constraints count classes where the goal has some, and groups of rows elsewhere",
    )
}

impl Given<'_> {
    fn prices(&self) -> &FeatureCostList {
        static FREE: FeatureCostList = FeatureCostList { tests: Vec::new(), of_column: Vec::new() };
        self.feature_costs.map_or(&FREE, |costs| &costs.prices)
    }

    fn additive(self, scaled: Scaled) -> Result<Posed> {
        let problem = Problem::new(self.columns, self.points, scaled, self.shape)?;
        Ok(Posed::Additive(Arc::new(problem), self.regrets))
    }

    fn of_row_costs(self, goal: &super::goals::RowCosts) -> Result<Posed> {
        let super::goals::RowCosts { n_labels, size, normalizer, leaf_penalty, .. } = *goal;
        let error = (size + self.prices().everything() * normalizer) * ROUNDED_SUMS;
        match self.constraints {
            Some(Constraints { limits, counted: Counted::Groups { n_groups, weights } }) => {
                let (costs, weights) = (goal.costs.clone(), weights.clone());
                let n_groups = *n_groups;
                let input = CountedInput {
                    n_labels,
                    costs,
                    error,
                    normalizer,
                    leaf_penalty,
                    n_groups,
                    weights,
                };
                Constrained::by_rows(self.columns, self.points, &input, limits, self.shape)
                    .map(Posed::Constrained)
            }
            Some(_) => Err(other_counts()),
            None => {
                let prices = self.prices();
                // Without tests nobody pays.
                let paying = if prices.tests.is_empty() { &[] } else { &goal.weights[..] };
                let (costs, weights) = (&goal.costs[..], paying);
                let weighed = Weighed { costs, error, normalizer, weights, prices };
                let scaled = RowCosts::build_weighed(n_labels, weighed, leaf_penalty, None)?;
                self.additive(scaled)
            }
        }
    }
}

/// Search for the best tree. With `incumbent`, a tree that is known already and what no tree's
/// objective is below, the search is for a better one, without any guess of a reference.
#[pyfunction]
#[pyo3(signature = (problem, limits, pulse=None, incumbent=None))]
pub(super) fn solve(
    py: Python<'_>,
    problem: &Bound<'_, PyProblem>,
    limits: &Bound<'_, Limits>,
    pulse: Option<Py<PyAny>>,
    incumbent: Option<(PyRef<'_, PyTree>, f64)>,
) -> PyResult<PyAnswer> {
    let posed = &problem.get().posed;
    let first = match (posed, incumbent) {
        (_, None) => None,
        (Posed::Additive(problem, _), Some((tree, lower))) => {
            Some(Incumbent::of_tree(problem, tree.tree.clone(), lower)?)
        }
        _ => return Err(Error::invalid("only costs that add up over rows have incumbents").into()),
    };
    let raised = &problem.get().raised;
    let found =
        search(py, limits, pulse, |limits, beat| posed.solve(&posed.run(limits, beat), first));
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
