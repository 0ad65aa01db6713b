//! What the best leaf for a set of points costs, and answers.

use crate::cost::Cost;

/// The cheapest answer for a set of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    pub cost: Cost,
    /// The answer, if it is one of a few labels; 0 where it is a number or a list of numbers.
    pub label: u32,
}
