//! Points that no question tells apart.

use crate::cost::Cost;

/// Points that no question tells apart.
pub struct Group {
    /// Where they are in `Grower::points`.
    pub points: std::ops::Range<usize>,
    pub label: u32,
    /// As a leaf.
    pub cost: Cost,
    /// What another label may cost beyond that.
    pub weight: f64,
    /// Its points' statistics, where answers are no labels.
    pub stats: Vec<i64>,
}
