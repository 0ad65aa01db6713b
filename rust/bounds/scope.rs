//! Scope: to raise a split to `target`, raise one child to `target` − the other child's lower
//! bound.
//!
//! A split costs what its children cost, so opt(child) ≥ target − lower(sibling) gives opt ≥
//! target; what a child costs beyond that makes no difference to the split.
//!
//! What the child's rows pay for the split is taken off too: opt(child) + price is its share of the
//! split.

use crate::cost::Cost;

/// How far a child's lower bound needs to go.
#[inline]
pub fn of_child(target: Cost, sibling_lower: Cost) -> Cost {
    target - sibling_lower
}

#[cfg(test)]
mod tests {
    #[test]
    fn both_children_share_one_scope() {
        let target = 12;
        assert_eq!(super::of_child(target, 5) + 5, target);
    }
}
