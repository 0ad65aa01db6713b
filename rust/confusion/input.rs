//! A loss of the confusion matrix as it is posed.

use std::sync::Arc;

use crate::error::Error;
use crate::metric::{Metric, MetricInput};
use crate::serial::Writer;
use crate::task::ClassInput;

/// A loss that is code of the user's own.
///
/// It is a function of the weights by true class and label (class-major), and falls or stays as it
/// is where weight of a class moves from another label to its own.
pub trait OwnLoss: Send + Sync {
    /// The loss of a matrix; not a number once the code has failed.
    fn loss(&self, matrix: &[f64]) -> f64;

    /// Why the code has failed.
    fn failure(&self) -> Option<Error>;

    /// What of it is data, for a digest.
    fn describe(&self, out: &mut Writer);
}

/// What is made of a confusion matrix.
#[derive(Clone)]
pub enum MatrixMetric {
    /// 1 − the mean F1 of the classes.
    MacroF1,
    /// 1 − the mean F1 of the classes, each by its weight.
    WeightedF1,
    /// 1 − Matthews' correlation of labels and classes; that of a tree that answers all alike is 0.
    Matthews,
    /// 1 − F_β or Jaccard's index of one of two classes.
    OfOne(OneClass),
    Own(Arc<dyn OwnLoss>),
}

/// (b·x + y) / (c·P − d·x + y), where x is what is missed of the class, y what is falsely given its
/// label, and P its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneClass {
    pub class: usize,
    pub b: f64,
    pub c: f64,
    pub d: f64,
}

impl From<&MetricInput> for MatrixInput {
    /// A metric of two classes as a loss of their matrix.
    fn from(input: &MetricInput) -> MatrixInput {
        let one = |b, c, d| MatrixMetric::OfOne(OneClass { class: input.positive, b, c, d });
        let metric = match input.metric {
            Metric::FBeta(beta) => one(beta * beta, 1.0 + beta * beta, 1.0),
            Metric::Jaccard => one(1.0, 1.0, 0.0),
            Metric::Matthews => MatrixMetric::Matthews,
        };
        MatrixInput { classes: input.classes.clone(), metric }
    }
}

/// Classes of rows, and the loss that is to be least.
#[derive(Clone)]
pub struct MatrixInput {
    /// As many labels as classes. Their costs are not looked at.
    pub classes: ClassInput,
    pub metric: MatrixMetric,
}
