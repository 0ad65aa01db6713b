//! Told: what another process proved of the same rows and limits.
//!
//! Statement: a lower bound that a search of the same problem proved of some rows and a budget
//! holds for these rows and this budget here.
//!
//! Proof: both searches speak of the same set of trees, those of the budget, on the same rows, and
//! each tree costs the same in both.
//!
//! Invalid for the root of a search of a part of the trees, whose bounds are of that part alone;
//! and between searches whose costs differ in any way.

use crate::cost::Cost;

/// What the rows cost at least, from what is known here and what was told.
pub fn at_least(known: Cost, told: Option<Cost>) -> Cost {
    known.max(told.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_known_here_is_not_lowered() {
        assert_eq!((super::at_least(7, None), super::at_least(0, None)), (7, 0));
        assert_eq!(super::at_least(7, Some(5)), 7);
        assert_eq!(super::at_least(7, Some(9)), 9);
    }
}
