//! A task as searches take it, with its unit.

use std::sync::Arc;

use super::contract::Task;
use super::feature_costs::FeatureCosts;
use super::stated::Stated;
use crate::cost::{Cost, Scale};
use crate::error::{Error, Result};

/// Far above any loss, and small enough that its products with sums of losses are finite.
const MOST_PENALTY: f64 = 1e200;

/// An error unless λ is one.
pub(super) fn check_penalty(leaf_penalty: f64) -> Result<()> {
    if (0.0..=MOST_PENALTY).contains(&leaf_penalty) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "leaf_penalty must be finite, not negative, and at most {MOST_PENALTY:e}, and is {leaf_penalty:e}"
    )))
}

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
