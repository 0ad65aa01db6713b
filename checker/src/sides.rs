//! What a look finds of the sides of questions, whatever points cost.

/// What both sides of each question cost, without penalties of leaves.
pub struct Look {
    /// As a leaf.
    pub leaves: Vec<[i64; 2]>,
    /// With the best single split, or as a leaf.
    pub stumps: Vec<[i64; 2]>,
    /// Whether no tree of exactly three leaves on the side loses less than a leaf costs.
    pub three_fail: Vec<[bool; 2]>,
}

/// The sides of two questions.
pub const QUARTERS: [(usize, usize); 4] = [(0, 0), (0, 1), (1, 0), (1, 1)];

/// More than any points cost, so that two of it fit in a sum.
pub const MUCH: i64 = 1 << 60;
