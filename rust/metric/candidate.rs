//! A tree that may be the best.

use super::loss::Errors;
use crate::tree::Plan;

/// A tree with labels, and what it adds up to.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub plan: Plan,
    /// Of its leaves, from left to right.
    pub labels: Vec<u32>,
    pub errors: Errors,
    pub leaves: u32,
}
