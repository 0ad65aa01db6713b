//! From plain data to the problem that a search takes.

use std::sync::Arc;

use super::goal::{Goal, RowCostInput};
use super::input::{ConstraintInput, Counted, ProblemInput};
use super::path_rules;
use crate::answer::{self, Answer, Incumbent};
use crate::confusion::{MatrixInput, MatrixProblem};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exact::Ratio;
use crate::metric::Scored;
use crate::pareto::{Constrained, Roc};
use crate::problem::Problem;
use crate::run::{Limits, Pulse, Run};
use crate::task::{
    CountedInput, FeatureCostList, ROUNDED_SUMS, RowCosts, RowPrices, Scaled, Weighed,
};

/// A problem, built for the search that it takes.
pub enum Posed {
    /// Costs that add up over leaves; with the regrets of a reference by point.
    Additive(Arc<Problem>, Option<Vec<f64>>),
    Constrained(Constrained),
    Metric(Box<Scored>),
    Matrix(Box<MatrixProblem>),
    Area(Roc),
}

static FREE: FeatureCostList = FeatureCostList {
    tests: Vec::new(),
    of_column: Vec::new(),
    by_row: RowPrices { n_lists: 0, n_classes: 0, sums: Vec::new() },
};

impl ProblemInput {
    /// The problem, for the search that it takes.
    pub fn build(&self) -> Result<Posed> {
        Error::guard(|| {
            self.check()?;
            let posed = Posed::new(self)?;
            match path_rules::context(&self.all_rules(), &self.columns)? {
                Some(context) => posed.with_context(context),
                None => Ok(posed),
            }
        })
    }
}

impl Posed {
    fn new(input: &ProblemInput) -> Result<Posed> {
        let (columns, points, shape) = (input.columns.clone(), input.points.clone(), input.shape);
        let has_costs = !feature_costs(input).is_free();
        let counts_classes = match &input.constraints {
            None => None,
            Some(ConstraintInput { limits, counted: Counted::Classes { class_of } }) => {
                Some((limits, class_of.clone()))
            }
            Some(_) if matches!(input.goal, Goal::RowCosts(_)) => None,
            Some(_) => return Err(other_counts()),
        };
        match &input.goal {
            Goal::Classes(goal) => match counts_classes {
                Some((limits, class_of)) => {
                    let goal = (goal.as_ref(), feature_costs(input));
                    Constrained::paying(columns, points, goal, class_of, limits, shape)
                        .map(Posed::Constrained)
                }
                None => additive(input, goal.build_with(feature_costs(input))?),
            },
            Goal::RowCosts(goal) => of_row_costs(input, goal),
            Goal::Squares(goal) => additive(input, goal.build_with(feature_costs(input))?),
            Goal::Metric(goal) if has_costs => matrix(input, &MatrixInput::from(goal.as_ref())),
            Goal::Metric(goal) => match counts_classes {
                Some((limits, class_of)) => {
                    Scored::limited(columns, points, goal, class_of, limits, shape)
                }
                None => Scored::new(columns, points, goal, shape),
            }
            .map(|scored| Posed::Metric(Box::new(scored))),
            Goal::Matrix(goal) => matrix(input, goal),
            Goal::RankingArea(goal) => {
                let (weights, most) = (goal.weights.clone(), goal.max_fpr);
                let penalty = goal.leaf_penalty;
                Roc::new(columns, points, weights, goal.positive, most, penalty, shape)
                    .map(Posed::Area)
            }
            Goal::Additive(goal) => paying(input, goal.build()?, &goal.row_weights),
            Goal::Custom(goal) => paying(input, goal.build()?, goal.row_weights()),
        }
    }

    /// This problem, with trees that keep to a context too.
    fn with_context(self, context: Arc<dyn Context>) -> Result<Posed> {
        Ok(match self {
            Posed::Additive(problem, regrets) => {
                let problem = Arc::unwrap_or_clone(problem).with_context(context)?;
                Posed::Additive(Arc::new(problem), regrets)
            }
            Posed::Constrained(problem) => Posed::Constrained(problem.with_context(context)?),
            Posed::Metric(scored) => Posed::Metric(Box::new(scored.with_context(context)?)),
            Posed::Matrix(problem) => Posed::Matrix(Box::new(problem.with_context(context)?)),
            Posed::Area(area) => Posed::Area(area.with_context(context)?),
        })
    }

    /// The answer, and what each constraint's share, or difference of shares, is in its tree. With
    /// `first`, the search goes on from there, without any guess of a reference.
    pub fn solve(
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
            Posed::Matrix(problem) => Ok((problem.solve(run)?, None, Vec::new())),
            Posed::Area(area) => Ok((area.solve(run)?, None, Vec::new())),
        }
    }

    /// A run whose progress is in the problem's own numbers.
    pub fn run<'a>(&self, limits: Limits, pulse: Option<Pulse<'a>>) -> Run<'a> {
        let scale = match self {
            Posed::Additive(problem, _) => problem.scale,
            Posed::Constrained(problem) => problem.scale(),
            Posed::Metric(scored) => scored.scale(),
            Posed::Matrix(problem) => problem.scale(),
            Posed::Area(area) => area.scale(),
        };
        Run::new(limits, scale, pulse)
    }
}

fn other_counts() -> Error {
    Error::invalid(
        "constraints count classes where the goal has some, and groups of rows elsewhere",
    )
}

fn feature_costs(input: &ProblemInput) -> &FeatureCostList {
    input.feature_costs.as_ref().unwrap_or(&FREE)
}

fn matrix(input: &ProblemInput, goal: &MatrixInput) -> Result<Posed> {
    let (columns, points) = (input.columns.clone(), input.points.clone());
    let problem =
        MatrixProblem::paying(columns, points, (goal, feature_costs(input)), input.shape)?;
    Ok(Posed::Matrix(Box::new(problem)))
}

fn additive(input: &ProblemInput, scaled: Scaled) -> Result<Posed> {
    let (columns, points) = (input.columns.clone(), input.points.clone());
    let problem = Problem::new(columns, points, scaled, input.shape)?;
    Ok(Posed::Additive(Arc::new(problem), input.regrets.clone()))
}

/// A task that knows nothing of what its rows pay for tests. `weights`: by point.
fn paying(input: &ProblemInput, scaled: Scaled, weights: &[f64]) -> Result<Posed> {
    let scaled = match &input.feature_costs {
        Some(costs) => {
            let weights: Vec<Ratio> = weights.iter().map(|&weight| Ratio::stored(weight)).collect();
            scaled.paying(costs, &weights)?
        }
        None => scaled,
    };
    additive(input, scaled)
}

fn of_row_costs(input: &ProblemInput, goal: &RowCostInput) -> Result<Posed> {
    let RowCostInput { n_labels, size, normalizer, leaf_penalty, .. } = *goal;
    let feature_costs = feature_costs(input);
    let error = (size + feature_costs.everything(normalizer)) * ROUNDED_SUMS;
    match &input.constraints {
        Some(ConstraintInput { limits, counted: Counted::Groups { n_groups, weights } }) => {
            let (costs, weights) = (goal.costs.clone(), weights.clone());
            let n_groups = *n_groups;
            let counted = CountedInput {
                n_labels,
                costs,
                error,
                normalizer,
                leaf_penalty,
                n_groups,
                weights,
                row_weights: goal.weights.clone(),
                feature_costs: feature_costs.clone(),
            };
            let (columns, points) = (input.columns.clone(), input.points.clone());
            Constrained::by_rows(columns, points, &counted, limits, input.shape)
                .map(Posed::Constrained)
        }
        Some(_) => Err(other_counts()),
        None => {
            // Without tests nobody pays.
            let paying = if feature_costs.tests.is_empty() { &[] } else { &goal.weights[..] };
            let (costs, weights) = (&goal.costs[..], paying);
            let weighed = Weighed { costs, error, normalizer, weights, feature_costs };
            additive(input, RowCosts::build_weighed(n_labels, weighed, leaf_penalty, None)?)
        }
    }
}
