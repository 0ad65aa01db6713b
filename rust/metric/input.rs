//! A metric as it is posed.

use super::loss::Metric;
use crate::task::ClassInput;

/// Two classes of rows, and the metric that is to be best.
pub struct MetricInput {
    /// Two classes, and costs of 1 for errors.
    pub classes: ClassInput,
    pub metric: Metric,
    /// Which of the classes is the positive one.
    pub positive: usize,
}
