//! The whole front of a problem that is given as plain data.

use super::goal::Goal;
use super::input::{ConstraintInput, Counted, ProblemInput};
use super::path_rules;
use crate::error::{Error, Result};
use crate::pareto::{Axis, SumFrontProblem};

impl ProblemInput {
    /// The front of sums of these classes, which may be cut by group. Its leaf penalty is not used.
    pub fn front(&self, axes: Vec<Axis>) -> Result<SumFrontProblem> {
        Error::guard(|| {
            self.check()?;
            let Goal::Classes(goal) = &self.goal else {
                return Err(Error::invalid("a front of sums is of errors, costs or rows by label"));
            };
            let class_of = match &self.constraints {
                None => (0..goal.n_classes as u32).collect(),
                Some(ConstraintInput { limits, counted: Counted::Classes { class_of } })
                    if limits.is_empty() =>
                {
                    class_of.clone()
                }
                Some(_) => return Err(Error::invalid("a front of sums has no constraints")),
            };
            if self.feature_costs.is_some() || self.regrets.is_some() {
                return Err(Error::invalid(
                    "a front of sums has no feature costs and no reference",
                ));
            }
            let (columns, points) = (self.columns.clone(), self.points.clone());
            let problem = SumFrontProblem::new(columns, points, goal, class_of, axes, self.shape)?;
            match path_rules::context(&self.all_rules(), &self.columns)? {
                Some(context) => problem.with_context(context),
                None => Ok(problem),
            }
        })
    }
}
