//! Fewer rows: leaves that must hold some rows hold nearly as many of slightly fewer rows.
//!
//! Statement: opt(T, m) ≥ opt(S, m − k), if S is T without points that stand for k rows, and every
//! leaf of a split must hold m rows, or m − k. So all cuts from a to b of one axis, with k rows in
//! between, cost at least what is left of a and what is right of b do with a minimum of m − k.
//!
//! Proof: the best tree of T has at least m rows in each leaf, and loses at most k of them where T
//! loses k. So it is a tree of S with the smaller minimum, and costs no more there. What is left of
//! a cut from a to b is what is left of a with at most k rows more, and so on the right.
//!
//! Invalid where rows that leave can make a tree dearer, as neighbouring cuts are.

/// The minimum with which fewer rows bound more of them.
pub fn least(least_rows: u64, lacking: u64) -> u64 {
    least_rows.saturating_sub(lacking).max(1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_leaf_holds_at_least_a_row() {
        assert_eq!((super::least(5, 2), super::least(5, 5), super::least(5, 9)), (3, 1, 1));
    }
}
