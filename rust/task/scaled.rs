//! A task as searches take it, with its unit.

use std::sync::Arc;

use super::contract::Task;
use super::feature_costs::FeatureCosts;
use super::stated::Stated;
use crate::cost::{Cost, Scale};

/// A task together with the unit its costs are in.
pub struct Scaled {
    pub task: Box<dyn Task>,
    /// λ in units.
    pub leaf_cost: Cost,
    pub scale: Scale,
    /// What splits cost beside their leaves, if they do.
    pub feature_costs: Option<FeatureCosts>,
    /// The caller's own numbers; without them, a tree's objective is its cost in units.
    pub stated: Option<Arc<dyn Stated>>,
}
