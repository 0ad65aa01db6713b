//! All parts that a problem is built from, as plain data and as bytes.

use super::combinations;
use super::goal::{Goal, RowCostInput};
use super::path_rules::{self, PathRule};
use crate::data::{Column, Points};
use crate::error::Result;
use crate::ids::ColumnId;
use crate::pareto::{LimitInput, Term};
use crate::problem::Shape;
use crate::serial::{self, Kind, Reader, Saved, Writer, damaged};
use crate::task::FeatureCostList;

/// Data, a goal, what trees may be, and what they must keep to.
#[derive(Clone)]
pub struct ProblemInput {
    pub columns: Vec<Column>,
    pub points: Points,
    pub goal: Goal,
    pub shape: Shape,
    pub constraints: Option<ConstraintInput>,
    pub feature_costs: Option<FeatureCostList>,
    /// What the columns of paths keep to; all of these hold.
    pub path_rules: Vec<PathRule>,
    /// By point, what a reference loses beyond the least, as a share of the objective.
    pub regrets: Option<Vec<f64>>,
    /// Columns that may be asked only below another: each, and the one that must be asked above it.
    /// Missing values have a branch of their own so: what is missing in the one tells the other.
    pub after: Vec<(ColumnId, ColumnId)>,
}

/// Limits on shares of rows, and what they count.
#[derive(Debug, Clone)]
pub struct ConstraintInput {
    pub limits: Vec<LimitInput>,
    pub counted: Counted,
}

#[derive(Debug, Clone)]
pub enum Counted {
    /// Classes, which are cut into groups: the user's class of each. Further classes of the goal,
    /// which cost nothing, are sums that limits count.
    Classes { class_of: Vec<u32> },
    /// Row weights by point and group.
    Groups { n_groups: usize, weights: Vec<f64> },
}

impl ProblemInput {
    /// An error if the goal cannot be combined with the other parts, if rules for paths contradict
    /// each other, or if the points are none of the columns.
    pub fn check(&self) -> Result<()> {
        let given = [
            ("constraints", self.constraints.is_some()),
            ("feature_costs", self.feature_costs.is_some()),
            ("path_rules", !self.path_rules.is_empty()),
            ("reference", self.regrets.is_some()),
            ("missing", !self.after.is_empty()),
        ];
        let given: Vec<&str> = given.iter().filter(|part| part.1).map(|part| part.0).collect();
        combinations::check(self.goal.name(), &given)?;
        path_rules::context(&self.all_rules(), &self.columns)?;
        self.points.check(&self.columns)
    }

    /// Those of the user, and what may be asked only where no value is missing.
    pub(super) fn all_rules(&self) -> Vec<PathRule> {
        let rule = |&(column, above): &(ColumnId, ColumnId)| PathRule::After {
            column,
            above: vec![above],
        };
        self.path_rules.iter().cloned().chain(self.after.iter().map(rule)).collect()
    }

    /// Differs where anything that the problem holds does, but for `shape` and `regrets`.
    pub fn digest(&self) -> u128 {
        Writer::digest(|out| self.write_data(out))
    }

    /// An error if a part of it is code.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.goal.check_is_data()?;
        let mut out = Writer::new();
        self.write_data(&mut out);
        self.shape.write(&mut out);
        out.option(self.regrets.as_ref(), |out, regrets| out.floats(regrets));
        Ok(serial::seal(Kind::Problem, out))
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<ProblemInput> {
        let from = &mut serial::open(Kind::Problem, bytes)?;
        let input = ProblemInput {
            columns: from.list(Column::read)?,
            points: Points::read(from)?,
            goal: Goal::read(from)?,
            constraints: from.option(ConstraintInput::read)?,
            feature_costs: from.option(FeatureCostList::read)?,
            path_rules: from.list(PathRule::read)?,
            after: from.list(|from| Ok((ColumnId(from.short()?), ColumnId(from.short()?))))?,
            shape: Shape::read(from)?,
            regrets: from.option(Reader::floats)?,
        };
        from.finish()?;
        input.check()?;
        input.check_sizes()?;
        Ok(input)
    }

    fn write_data(&self, out: &mut Writer) {
        let ProblemInput {
            columns,
            points,
            goal,
            constraints,
            feature_costs,
            path_rules,
            after,
            shape: _,
            regrets: _,
        } = self;
        out.list(columns.iter(), |out, column| column.write(out));
        points.write(out);
        goal.describe(out);
        out.option(constraints.as_ref(), |out, constraints| constraints.write(out));
        out.option(feature_costs.as_ref(), |out, costs| costs.write(out));
        out.list(path_rules.iter(), |out, rule| rule.write(out));
        out.list(after.iter(), |out, (column, above)| {
            out.short(column.0);
            out.short(above.0);
        });
    }

    /// Whether goals are of as many points as there are, before anything is built that is as large
    /// as they say.
    fn check_sizes(&self) -> Result<()> {
        let n = self.points.len();
        let each = |width: usize| width.checked_mul(n);
        let fits = match &self.goal {
            Goal::Classes(input) => each(input.n_classes) == Some(input.weights.len()),
            Goal::Metric(input) => {
                each(input.classes.n_classes) == Some(input.classes.weights.len())
            }
            Goal::Matrix(input) => {
                each(input.classes.n_classes) == Some(input.classes.weights.len())
            }
            Goal::RowCosts(input) => {
                let RowCostInput { n_labels, costs, weights, .. } = input.as_ref();
                each(*n_labels) == Some(costs.len()) && weights.len() == n
            }
            Goal::Squares(input) => input.n_points == n,
            Goal::Additive(input) => {
                let paying = input.row_weights.len();
                input.n_points == n && (paying == 0 || paying == n)
            }
            Goal::RankingArea(input) => each(2) == Some(input.weights.len()),
            Goal::Custom(_) => true,
        };
        let counted = match self.constraints.as_ref().map(|constraints| &constraints.counted) {
            Some(Counted::Groups { n_groups, weights }) => each(*n_groups) == Some(weights.len()),
            _ => true,
        };
        match fits && counted {
            true => Ok(()),
            false => Err(damaged("weights or costs are not given for each point")),
        }
    }
}

impl Saved for ConstraintInput {
    fn write(&self, out: &mut Writer) {
        let ConstraintInput { limits, counted } = self;
        out.list(limits.iter(), |out, limit| {
            let LimitInput { name, terms, least, most, is_strict } = limit;
            out.text(name);
            out.list(terms.iter(), |out, Term { counts, of, factor }| {
                out.shorts(&counts.iter().map(|count| count.0).collect::<Vec<_>>());
                out.shorts(&counts.iter().map(|count| count.1).collect::<Vec<_>>());
                out.shorts(of);
                out.float(*factor);
            });
            out.float(*least);
            out.float(*most);
            out.flag(*is_strict);
        });
        match counted {
            Counted::Classes { class_of } => {
                out.byte(0);
                out.shorts(class_of);
            }
            Counted::Groups { n_groups, weights } => {
                out.byte(1);
                out.size(*n_groups);
                out.floats(weights);
            }
        }
    }

    fn read(from: &mut Reader) -> Result<ConstraintInput> {
        let limits = from.list(|from| {
            Ok(LimitInput {
                name: from.text()?,
                terms: from.list(|from| {
                    let (classes, labels) = (from.shorts()?, from.shorts()?);
                    if classes.len() != labels.len() {
                        return Err(damaged("a class that is counted has no label"));
                    }
                    let counts = classes.into_iter().zip(labels).collect();
                    Ok(Term { counts, of: from.shorts()?, factor: from.float()? })
                })?,
                least: from.float()?,
                most: from.float()?,
                is_strict: from.flag()?,
            })
        })?;
        let counted = match from.byte()? {
            0 => Counted::Classes { class_of: from.shorts()? },
            1 => Counted::Groups { n_groups: from.short()? as usize, weights: from.floats()? },
            _ => return Err(damaged("constraints count nothing that is known")),
        };
        Ok(ConstraintInput { limits, counted })
    }
}
