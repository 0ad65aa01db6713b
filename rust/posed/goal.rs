//! Goals, which a tree is asked to do well, as plain data.
//!
//! All tasks whose costs add up over leaves and that know no labels are one goal, so that a new one
//! changes nothing here: it is a line in the registry of `task`. To add a goal of another kind:
//! write its input in `task`, give it an arm in [`Goal`], in `Posed` (`problem.rs`) and in the
//! tests of what is saved, and a row in `combinations.rs` that says what it can be combined with.

use std::sync::Arc;

use crate::confusion::{MatrixInput, MatrixMetric, OneClass};
use crate::error::{Error, Result};
use crate::metric::{Metric, MetricInput};
use crate::serial::{Reader, Saved, Writer, damaged};
use crate::task::{AdditiveInput, ClassInput, Scaled, SquaresInput};

/// Costs by point and label.
#[derive(Debug, Clone)]
pub struct RowCostInput {
    pub n_labels: usize,
    /// By point and label, each summed over the point's rows.
    pub costs: Vec<f64>,
    /// Row weight by point, which pays for tests.
    pub weights: Vec<f64>,
    /// What the sizes of all rows' costs add up to, which tells how far rounding can take their
    /// sums.
    pub size: f64,
    /// The objective is divided by this.
    pub normalizer: f64,
    pub leaf_penalty: f64,
}

/// The area under the ROC convex hull up to a false positive rate.
#[derive(Debug, Clone)]
pub struct RankingAreaInput {
    /// By point, of both classes.
    pub weights: Vec<f64>,
    /// Which of the classes is the positive one.
    pub positive: usize,
    pub max_fpr: f64,
    pub leaf_penalty: f64,
}

/// A goal whose leaf costs are code of the user's own.
pub trait OwnGoal: Send + Sync {
    fn build(&self) -> Result<Scaled>;

    /// Row weight by point, which pays for tests; none where nothing does.
    fn row_weights(&self) -> &[f64];

    /// What of it is data, for a digest.
    fn describe(&self, out: &mut Writer);
}

/// Any of the goals. Clones share the data.
#[derive(Clone)]
pub enum Goal {
    Classes(Arc<ClassInput>),
    RowCosts(Arc<RowCostInput>),
    Squares(Arc<SquaresInput>),
    Metric(Arc<MetricInput>),
    Matrix(Arc<MatrixInput>),
    RankingArea(Arc<RankingAreaInput>),
    Additive(Arc<AdditiveInput>),
    Custom(Arc<dyn OwnGoal>),
}

impl Goal {
    /// Its name in the table of combinations.
    pub fn name(&self) -> &'static str {
        match self {
            Goal::Classes(_) => "Classes",
            Goal::RowCosts(_) => "RowCosts",
            Goal::Squares(_) => "Squares",
            Goal::Metric(_) => "Metric",
            Goal::Matrix(_) => "Matrix",
            Goal::RankingArea(_) => "RankingArea",
            Goal::Additive(_) => "Additive",
            Goal::Custom(_) => "Custom",
        }
    }

    /// All that it holds, as far as that is data.
    pub(super) fn describe(&self, out: &mut Writer) {
        match self {
            Goal::Classes(input) => tagged(0, input.as_ref(), out),
            Goal::RowCosts(input) => tagged(1, input.as_ref(), out),
            Goal::Squares(input) => tagged(2, input.as_ref(), out),
            Goal::Metric(input) => tagged(3, input.as_ref(), out),
            Goal::RankingArea(input) => tagged(4, input.as_ref(), out),
            Goal::Additive(input) => tagged(5, input.as_ref(), out),
            Goal::Matrix(input) => tagged(6, input.as_ref(), out),
            Goal::Custom(own) => {
                out.byte(u8::MAX);
                own.describe(out);
            }
        }
    }

    /// An error if a part of it is code.
    pub(super) fn check_is_data(&self) -> Result<()> {
        let is_code = match self {
            Goal::Custom(_) => true,
            Goal::Matrix(input) => matches!(input.metric, MatrixMetric::Own(_)),
            _ => false,
        };
        match is_code {
            true => Err(Error::invalid(
                "a task of your own is code, which cannot be saved: save what it is made of, and \
                 make the problem again",
            )),
            false => Ok(()),
        }
    }

    pub(super) fn read(from: &mut Reader) -> Result<Goal> {
        Ok(match from.byte()? {
            0 => Goal::Classes(Saved::read(from).map(Arc::new)?),
            1 => Goal::RowCosts(Saved::read(from).map(Arc::new)?),
            2 => Goal::Squares(Saved::read(from).map(Arc::new)?),
            3 => Goal::Metric(Saved::read(from).map(Arc::new)?),
            4 => Goal::RankingArea(Saved::read(from).map(Arc::new)?),
            5 => Goal::Additive(Saved::read(from).map(Arc::new)?),
            6 => Goal::Matrix(Saved::read(from).map(Arc::new)?),
            _ => return Err(damaged("there is no such goal")),
        })
    }
}

fn tagged(tag: u8, input: &impl Saved, out: &mut Writer) {
    out.byte(tag);
    input.write(out);
}

impl Saved for RowCostInput {
    fn write(&self, out: &mut Writer) {
        let RowCostInput { n_labels, costs, weights, size, normalizer, leaf_penalty } = self;
        out.size(*n_labels);
        out.floats(costs);
        out.floats(weights);
        [size, normalizer, leaf_penalty].into_iter().for_each(|&number| out.float(number));
    }

    fn read(from: &mut Reader) -> Result<RowCostInput> {
        Ok(RowCostInput {
            n_labels: from.short()? as usize,
            costs: from.floats()?,
            weights: from.floats()?,
            size: from.float()?,
            normalizer: from.float()?,
            leaf_penalty: from.float()?,
        })
    }
}

impl Saved for MetricInput {
    fn write(&self, out: &mut Writer) {
        let MetricInput { classes, metric, positive } = self;
        classes.write(out);
        match metric {
            Metric::FBeta(beta) => {
                out.byte(0);
                out.float(*beta);
            }
            Metric::Jaccard => out.byte(1),
            Metric::Matthews => out.byte(2),
        }
        out.size(*positive);
    }

    fn read(from: &mut Reader) -> Result<MetricInput> {
        let classes = ClassInput::read(from)?;
        let metric = match from.byte()? {
            0 => Metric::FBeta(from.float()?),
            1 => Metric::Jaccard,
            2 => Metric::Matthews,
            _ => return Err(damaged("there is no such metric")),
        };
        Ok(MetricInput { classes, metric, positive: from.below(2, "class")? as usize })
    }
}

impl Saved for MatrixInput {
    fn write(&self, out: &mut Writer) {
        let MatrixInput { classes, metric } = self;
        classes.write(out);
        match metric {
            MatrixMetric::MacroF1 => out.byte(0),
            MatrixMetric::WeightedF1 => out.byte(1),
            MatrixMetric::Matthews => out.byte(2),
            MatrixMetric::OfOne(OneClass { class, b, c, d }) => {
                out.byte(3);
                out.size(*class);
                [b, c, d].into_iter().for_each(|&number| out.float(number));
            }
            MatrixMetric::Own(own) => {
                out.byte(u8::MAX);
                own.describe(out);
            }
        }
    }

    fn read(from: &mut Reader) -> Result<MatrixInput> {
        let classes = ClassInput::read(from)?;
        let metric = match from.byte()? {
            0 => MatrixMetric::MacroF1,
            1 => MatrixMetric::WeightedF1,
            2 => MatrixMetric::Matthews,
            3 => MatrixMetric::OfOne(OneClass {
                class: from.below(2, "class")? as usize,
                b: from.float()?,
                c: from.float()?,
                d: from.float()?,
            }),
            _ => return Err(damaged("there is no such metric of a matrix")),
        };
        Ok(MatrixInput { classes, metric })
    }
}

impl Saved for RankingAreaInput {
    fn write(&self, out: &mut Writer) {
        let RankingAreaInput { weights, positive, max_fpr, leaf_penalty } = self;
        out.floats(weights);
        out.size(*positive);
        out.float(*max_fpr);
        out.float(*leaf_penalty);
    }

    fn read(from: &mut Reader) -> Result<RankingAreaInput> {
        Ok(RankingAreaInput {
            weights: from.floats()?,
            positive: from.below(2, "class")? as usize,
            max_fpr: from.float()?,
            leaf_penalty: from.float()?,
        })
    }
}
