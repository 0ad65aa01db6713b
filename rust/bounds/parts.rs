//! Parts: rows cost at least what their parts cost, each as if it were alone.
//!
//! Statement: let S hold disjoint sets A₁ … Aₘ, let no tree have more than k leaves, and let
//! dividing a leaf raise its cost by r at most, because of rounding. With the penalties of one part
//! alone, opt(S) ≥ opt(A₁) + Σ max(E(Aⱼ), opt(Aⱼ) − kℓ) − (m − 1)kr, where j goes from 2 to m.
//!
//! Proof: send each part down the best tree for S. Its leaves are divided m − 1 times each, which
//! raises the cost by (m − 1)kr at most, and the losses then are those of the parts. A₁ with all
//! penalties pays opt(A₁) or more; Aⱼ pays at least E(Aⱼ), and opt(Aⱼ) less the penalties.
//!
//! Used between the sides of a node's splits: rows above a cut, those below it and those whose
//! value is missing are a side of three questions each, and together the other side of another.
//!
//! Invalid with floors, which a leaf may pay for one part and not for the other, where questions
//! cost something or allow others below them, and with a minimum of rows in a leaf, because parts
//! of a leaf hold less.

use crate::cost::Cost;

/// What is known of the rows of one part.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// E: the sum over its points of the least that each costs in any leaf.
    pub least: Cost,
    /// What the best tree for these rows alone costs at least, leaf penalties and all.
    pub lower: Cost,
}

/// A lower bound on the best tree for rows that hold these parts. A tree may have up to `leaves`,
/// each of which costs a penalty of `leaf_cost`. Dividing a leaf may raise its cost by up to
/// `rounding`.
pub fn at_least(
    parts: impl Iterator<Item = Part>,
    leaves: Cost,
    leaf_cost: Cost,
    rounding: Cost,
) -> Cost {
    let (mut sum, mut most_more, mut n) = (0, 0, 0);
    for Part { least, lower } in parts {
        let alone = least.max(lower - leaves.saturating_mul(leaf_cost));
        sum += alone;
        most_more = most_more.max(lower - alone);
        n += 1;
    }
    sum + most_more - Cost::max(n - 1, 0).saturating_mul(leaves.saturating_mul(rounding))
}

#[cfg(test)]
mod tests {
    use super::{Part, at_least};

    #[test]
    fn penalties_are_paid_for_one_part_alone() {
        let parts = [Part { least: 2, lower: 20 }, Part { least: 1, lower: 9 }];
        assert_eq!(at_least(parts.into_iter(), 4, 0, 0), 29);
        assert_eq!(at_least(parts.into_iter(), 4, 1, 0), 25);
        assert_eq!(at_least(parts.into_iter(), 4, 5, 0), 21);
        assert_eq!(at_least(parts.into_iter(), 4, 5, 1), 17);
        assert_eq!(at_least(parts.into_iter().take(1), 4, 5, 1), 20);
    }
}
