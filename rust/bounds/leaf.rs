//! Leaf: rows cost no more than they do as one leaf.
//!
//! Statement: opt(S) ≤ leaf(S) + ℓ.
//!
//! Proof: a single leaf is a tree within every budget.
//!
//! Invalid nowhere but where limits forbid a leaf (`pareto`), because nothing else is said.

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
