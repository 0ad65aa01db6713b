//! What to change of a metric's numbers where they have no room.

use super::loss::{Metric, TOO_FINE};
use crate::error::Error;

/// What to change of numbers that there is no room for. `fits`: whether others can be searched.
pub fn too_fine(metric: Metric, penalty: f64, fits: impl Fn(Metric, f64) -> bool) -> Error {
    if penalty > 1.0 && fits(metric, 1.0) {
        return Error::invalid(format!(
            "leaf_penalty={penalty:e} is too large to be added to this objective: take 1, with which a single \
             leaf is best already"
        ));
    }
    if let Metric::FBeta(beta) = metric {
        let round = |digits: usize| format!("{beta:.digits$e}").parse().unwrap_or(beta);
        let near =
            (0..8).rev().map(round).find(|&near| near > 0.0 && fits(Metric::FBeta(near), penalty));
        if let Some(near) = near {
            return Error::invalid(format!(
                "beta={beta} has too many digits for these weights and this leaf_penalty: round it to {near}"
            ));
        }
        if !fits(Metric::FBeta(1.0), penalty) {
            return Error::invalid(TOO_FINE);
        }
        return Error::invalid(format!(
            "beta={beta:e} is too far from 1 for these weights: with it, only one kind of error counts"
        ));
    }
    Error::invalid(TOO_FINE)
}
