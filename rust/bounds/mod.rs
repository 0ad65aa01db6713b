//! Bounds: what can be said of the best tree for a set of rows S without searching for it.
//!
//! One file each: the statement, why it holds, and when it does not. opt(S) is the least cost of a
//! tree for S within some budget of depth and leaves, ℓ (`leaf_cost`) the penalty of each leaf,
//! E(S) (`least`) the sum over rows of the least loss that any label gives, W(S) (`worst`) of the
//! largest that any label or mean of points gives. `tests/rust/bounds.rs` holds every statement
//! against the oracle, on any sets of points.

pub mod child_support;
pub mod equivalent_points;
pub mod k_means;
pub mod leaf;
pub mod look_ahead;
pub mod scope;
pub mod similarity;
pub mod three_leaves;
