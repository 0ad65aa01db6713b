//! Scope: a side of a split need not prove more than the other side leaves open.
//!
//! Statement: to raise a split to `target`, it is enough to raise one child to `target` less the
//! other child's lower bound.
//!
//! Proof: a split costs what its children cost, so opt(child) ≥ target − lower(sibling) gives opt ≥
//! target; what a child costs beyond that makes no difference to the split. What the child's rows
//! pay for the split is taken off too: opt(child) + price is its share of the split.
//!
//! Invalid where costs of two sides do not add up, as values of fronts (`completion`).

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
