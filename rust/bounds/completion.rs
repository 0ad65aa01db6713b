//! Completion: a part of a tree may cost what a better whole tree may cost, less what the rest
//! costs at least.
//!
//! Statement: let every tree that is better than the best one known cost at most B in an additive
//! relaxation. Then no such tree has a subtree that costs more there than B less a lower bound on
//! all other leaves.
//!
//! Proof: costs of the relaxation add up over leaves. So a subtree that costs more, with any rest,
//! costs more than B.
//!
//! Invalid where the relaxation costs a tree more than `budget` of its true cost says, which
//! `pareto` checks; and B must not fall below what trees cost that are still wanted, as where all
//! values of a front are.

use crate::cost::Cost;

/// What is left of a budget for a part, if the rest costs at least `rest`.
#[inline]
pub fn left_for_part(budget: Cost, rest: Cost) -> Cost {
    budget - rest
}

/// Whether something that costs `bound` in the relaxation may be a part of a better tree.
#[inline]
pub fn is_within(bound: Cost, budget: Cost) -> bool {
    bound <= budget
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_together_are_within_the_budget() {
        for (a, b) in [(3, 9), (5, 7), (6, 7), (12, 0)] {
            assert_eq!(is_within(a, left_for_part(12, b)), a + b <= 12);
        }
    }
}
