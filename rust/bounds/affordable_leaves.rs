//! Affordable leaves: a tree that costs less than some amount has no more leaves than it can pay
//! for, and is no deeper than these allow.
//!
//! Statement: if a tree's losses are at least E and it costs less than E + `room`, it has at most
//! ⌈`room` / ℓ⌉ − 1 leaves, and k leaves make a tree of at most k − 1 levels.
//!
//! Proof: k leaves cost kℓ beside the losses, so that kℓ < `room`. Each split adds a leaf, and a
//! path has no more splits than the tree.
//!
//! Invalid where E is not paid by every tree that is meant. Where leaves cost nothing it only says
//! that a tree needs some room.

use crate::cost::Cost;

/// The most levels that a tree may have, and no more than `depth`, if its penalties must cost less
/// than `room`.
pub fn levels(depth: u32, leaf_cost: Cost, room: Cost) -> u32 {
    if leaf_cost == 0 {
        return if room > 0 { depth } else { 0 };
    }
    let leaves = (room - 1).max(0) / leaf_cost;
    depth.min(u32::try_from(leaves.saturating_sub(1).max(0)).unwrap_or(u32::MAX))
}

/// No tree of an objective below `objective` has more leaves, if each costs `leaf_penalty` > 0 and
/// losses are not negative. It may be one more than the largest number, because floats round.
pub fn most(objective: f64, leaf_penalty: f64) -> u32 {
    (objective / leaf_penalty).min(1e9) as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_end_where_penalties_do() {
        // Two leaves cost 20, which is not less than 20.
        assert_eq!(levels(9, 10, 20), 0);
        assert_eq!(levels(9, 10, 21), 1);
        assert_eq!(levels(9, 10, 1_000), 9);
        assert_eq!(levels(9, 10, -5), 0);
        assert_eq!((levels(9, 0, 1), levels(9, 0, 0)), (9, 0));
    }

    #[test]
    fn more_leaves_cost_more_than_the_objective() {
        for leaves in 1..50u32 {
            let most = most(f64::from(leaves) * 0.1, 0.1);
            assert!(most >= leaves && f64::from(most) * 0.1 <= f64::from(leaves) * 0.1 + 0.11);
        }
    }
}
