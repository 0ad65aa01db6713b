//! Child support: a side that can save no more than a leaf costs need not be split off.
//!
//! Statement: a side A of a split with W(A) − E(A) ≤ ℓ is in no tree that is needed: some tree
//! without that split costs no more, is no deeper, and has no more leaves.
//!
//! Proof: send A's rows down the tree of the other side instead: that costs at most W(A) for them,
//! where A's own tree cost at least E(A) + ℓ. The new tree is less deep, has fewer leaves, and they
//! hold no fewer rows. For regression it holds because W is of any mean of points
//! (`task/squares.rs`).
//!
//! Invalid where questions cost something (A's rows would pay for those of the other tree), with
//! constraints, or for fronts. With a path context it is valid only where that sheds
//! (`Context::sheds`): the other tree moves up in place of the split, and must be allowed there.

use crate::cost::Cost;

/// Whether a side may be worth its leaf.
#[inline]
pub fn may_pay(worst: Cost, least: Cost, leaf_cost: Cost) -> bool {
    worst - least > leaf_cost
}

#[cfg(test)]
mod tests {
    use super::may_pay;

    #[test]
    fn a_side_must_be_able_to_save_more_than_its_leaf() {
        assert!(may_pay(6, 0, 5));
        assert!(!may_pay(5, 0, 5), "what only breaks even can be left out");
        assert!(!may_pay(9, 4, 5));
        assert!(!may_pay(0, 0, 0), "a side where nothing can go wrong");
    }
}
