//! Equal splits: of splits whose sides differ in rows that can cost nothing, one is enough.
//!
//! Statement: let A be a side of one split of S, and B a side of another. If W(A∖B) = 0 and W(B∖A)
//! = 0, both splits cost the same with any budgets.
//!
//! Proof: by similarity, opt(A) ≥ opt(B) − W(B∖A) = opt(B), and the other way round. The other two
//! sides differ in the same rows.
//!
//! Invalid where the two questions do not cost the same or do not allow the same questions below
//! them, where the worst losses are not exact, and with a minimum of rows in a leaf, because rows
//! that cost nothing count there.

use crate::cost::Cost;

/// True if the rows of either side that the other one lacks can cost nothing. `lost`: the most that
/// these rows lose, by side.
#[inline]
pub fn are_equal(lost: [Cost; 2]) -> bool {
    lost[0] <= 0 && lost[1] <= 0
}

#[cfg(test)]
mod tests {
    use super::are_equal;

    #[test]
    fn both_differences_must_be_free() {
        assert!(are_equal([0, 0]));
        assert!(!are_equal([0, 1]) && !are_equal([1, 0]));
    }
}
