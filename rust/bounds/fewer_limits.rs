//! Fewer limits: no tree within some limits costs less than the best tree without them.
//!
//! Statement: the optimum without a minimum of rows for each leaf, or without a limit of leaves, or
//! with a larger one, is at most the optimum with them; so is any lower bound on it.
//!
//! Proof: every tree within the limits is one of the trees without them, and costs the same.
//!
//! Invalid where a limit changes what a tree costs, which none does.

use crate::cost::Cost;

/// What every tree within the limits costs at least, if `relaxed` bounds all trees without them and
/// `found` is the cost of one within them.
pub fn at_least(relaxed: Cost, found: Cost) -> Cost {
    relaxed.min(found)
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_bound_is_above_a_tree_that_was_found() {
        assert_eq!(super::at_least(7, 9), 7);
        assert_eq!(super::at_least(12, 9), 9, "nothing below 12 was of use");
    }
}
