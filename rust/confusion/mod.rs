//! Objectives of any number of classes that are functions of the confusion matrix: macro and
//! weighted F1, Matthews' correlation, and losses of the user's own.
//!
//! A matrix adds up over leaves, and the loss of a whole tree is a function of it. So a subtree is
//! worth the *sums* of its matrix that the loss depends on, and of two subtrees for the same rows
//! one is needless where all its sums are at least those of the other one ([`loss`]). The front
//! search keeps the others. A *plane* ([`plane`]), an additive loss that is no more than the loss
//! of any tree that is better than the best one known, tells which values are too far off.
//!
//! Reading order: [`loss`] → [`plane`] → [`values`] (the front) → [`problem`] → [`solve`], and
//! [`two_classes`], which have a front that is found faster.

mod input;
mod loss;
mod plane;
mod problem;
mod solve;
mod two_classes;
mod values;

pub use input::{MatrixInput, MatrixMetric, OneClass, OwnLoss};
pub use problem::MatrixProblem;
