//! Three leaves: no tree of three leaves serves both of two classes well.
//!
//! Statement: call a side of a split of S a half of a class c if it holds less than x of the other
//! class. If each of two classes c weighs at least 2h(c) + x in S, where h(c) is the most of c in
//! any half of it, a tree of three leaves makes at least x errors.
//!
//! Proof: two of its leaves have the same label c, or it is a smaller tree. The first is a side A
//! of the root's split, the second a part of a side B of another. With less than x errors both are
//! halves of c, as what B holds of the other class is wrong wherever it ends; and what neither
//! holds of c is wrong too: c − h(c) − h(c) < x.
//!
//! Invalid for more than two classes, for errors that do not all cost the same, and where questions
//! cost something (it would hold there, but says little).

use crate::cost::Cost;

/// Whether a tree of three leaves makes at least `few` errors: by class, its weight, and the most
/// of it in any of its halves.
#[inline]
pub fn fail(classes: [(Cost, Cost); 2], few: Cost) -> bool {
    classes.iter().all(|&(weight, most)| weight >= 2 * most + few)
}

#[cfg(test)]
mod tests {
    use super::fail;

    #[test]
    fn both_classes_must_be_out_of_reach() {
        assert!(fail([(11, 4), (9, 3)], 3));
        assert!(!fail([(10, 4), (9, 3)], 3));
        assert!(!fail([(11, 4), (8, 3)], 3));
    }
}
