//! Leaf: opt(S) ≤ leaf(S) + ℓ.
//!
//! A single leaf is a tree within every budget. Nothing else is said, so it always holds.

use crate::cost::Cost;

/// What S costs, at most.
#[inline]
pub fn at_most(leaf: Cost, leaf_cost: Cost) -> Cost {
    leaf + leaf_cost
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_leaf_pays_for_itself() {
        assert_eq!(super::at_most(7, 2), 9);
    }
}
