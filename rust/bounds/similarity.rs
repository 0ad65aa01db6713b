//! Similarity: rows that differ by little cost about the same.
//!
//! Statement: opt(T) ≥ opt(S) − W(S∖T), for the same budget.
//!
//! Proof: take the best tree for T and send S down it. What S and T share costs what it cost, and
//! the rows that T lacks cost at most W(S∖T); leaves that stay empty are cut off. So opt(S) ≤
//! opt(T) + W(S∖T). For regression, T's tree answers with means of T's points: `task/squares.rs`.
//!
//! Used from a node to its children (S∖T is the sibling), between children of one node, and from an
//! alternative of one node to the same alternative of another, whose rows are sets as any others.
//! So are the rows on one side of a cut, within two nodes.
//!
//! Invalid where questions cost something (the rows of S∖T would pay for those of T's tree, and S
//! and T may have bought different tests above), or with constraints. With a path context it is
//! valid only where the state of S covers that of T (`Context::covers`), because T's tree must be
//! allowed for S; and with a minimum of rows in a leaf only where T ⊆ S, because else T's leaves
//! may hold too few rows of S.

use crate::cost::Cost;

/// What T costs at least, if S costs at least `known` and the rows of S∖T at most `lost`.
#[inline]
pub fn at_least(known: Cost, lost: Cost) -> Cost {
    known - lost
}

#[cfg(test)]
mod tests {
    #[test]
    fn lost_rows_may_have_been_all_the_cost() {
        assert_eq!(super::at_least(10, 3), 7);
        assert!(super::at_least(10, 30) < 0, "a bound that says nothing");
    }
}
