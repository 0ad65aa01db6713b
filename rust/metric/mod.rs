//! Metrics of two classes that are no sum over rows: F_β, Jaccard and Matthews' correlation.
//!
//! Such a metric is a function of two sums, the weight of positives that are *missed* and of
//! negatives that are false *alarms*. Weighting the two makes an additive problem, which the
//! best-first search solves; its optimum says that no tree lies below a line in the plane of the
//! two sums. A few well chosen lines fence off all that would be better than the best tree found:
//! then it is proved.
//!
//! Under limits the additive problems are those of [`crate::pareto::Constrained`], and all that is
//! said of trees is said of those that keep them.
//!
//! Reading order: [`loss`] (the metrics and their level lines) → [`scored`] (data and a metric) →
//! [`ask`] (one additive problem) → [`state`] (the best tree so far, and what is open) → [`ratio`]
//! (F_β, Jaccard) and [`hull`] (Matthews) → [`solve`]. Lines and what they leave are in
//! `bounds::fence`.

mod advice;
mod ask;
mod candidate;
mod chords;
mod given;
mod hull;
mod input;
mod loss;
mod ratio;
mod refined;
mod rounded;
mod scored;
mod solve;
mod state;
mod worse;

pub use input::MetricInput;
pub use loss::Metric;
pub use scored::Scored;
