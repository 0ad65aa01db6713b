//! Equivalent points: rows that no cut tells apart share a leaf.
//!
//! Statement: a tree with at least k leaves costs at least E(S) + kℓ. Where questions cost
//! something, a tree with a split also costs at least the least price of S's first one.
//!
//! Proof: every row is in some leaf, whose label costs it no less than its best label does. Rows of
//! one point share a leaf, so that E is taken by point: of its classes, all but the best served are
//! wrong. Prices of deeper splits are not below 0. Where leaves cost nothing and nothing is
//! limited, a tree with a leaf for each group of points that no question tells apart attains the
//! bound (`search/separate`).
//!
//! For regression E is 0, since what a point's rows differ by is left out of all costs. With floors
//! in its place, it bounds R_F instead of costs (`floors`).
//!
//! Invalid where losses can be negative, or where a leaf is not one answer for all its rows.

use crate::cost::Cost;

/// What a tree with at least `leaves` leaves costs, at least.
#[inline]
pub fn at_least(least: Cost, leaves: Cost, leaf_cost: Cost) -> Cost {
    least + leaves * leaf_cost
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_leaf_adds_its_penalty() {
        assert_eq!(super::at_least(3, 4, 10), 43);
        assert_eq!(super::at_least(3, 4, 0), 3);
    }
}
