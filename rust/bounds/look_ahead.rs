//! Look-ahead: a tree that is deeper than all that were seen has more leaves than they.
//!
//! Statement: if `known` is the best tree of depth ≤ 1 within the budget, then opt(S) ≥
//! min(known, E(S) + 3ℓ); of depth ≤ 2, opt(S) ≥ min(known, E(S) + 4ℓ). Where questions cost
//! something, `known` counts what they cost, and deeper trees add at least the least price of their
//! first split to E.
//!
//! Proof: a tree is among those that `known` is the best of, or it is deeper. Deeper than 1, it has
//! at least 3 leaves; deeper than 2, at least 4. The rest is equivalent points. A budget that
//! allows nothing deeper makes `known` the optimum.
//!
//! Invalid unless `known` is the best of *all* trees of its depth that constraints and contexts
//! allow, and if more leaves are asked than a deeper tree must have.

use super::equivalent_points;
use crate::cost::Cost;

/// Leaves of a tree that is deeper than this.
pub const BEYOND_DEPTH_ONE: Cost = 3;
pub const BEYOND_DEPTH_TWO: Cost = 4;

/// What S costs at least, if every tree costs `known` or has so many leaves.
#[inline]
pub fn at_least(known: Cost, least: Cost, leaves: Cost, leaf_cost: Cost) -> Cost {
    known.min(equivalent_points::at_least(least, leaves, leaf_cost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_tree_or_a_larger_one() {
        assert_eq!(at_least(25, 0, BEYOND_DEPTH_ONE, 10), 25);
        assert_eq!(at_least(35, 0, BEYOND_DEPTH_ONE, 10), 30);
        assert_eq!(at_least(45, 2, BEYOND_DEPTH_TWO, 10), 42);
    }
}
