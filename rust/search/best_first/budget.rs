//! What a subtree may still use, and the names of nodes and of their splits.

use crate::problem::Shape;
use crate::view::Fingerprint;

/// What a subtree may still use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Budget {
    /// `UNLIMITED`, or the depth left.
    pub depth: u32,
    /// `UNLIMITED`, or the leaves left (at least 1).
    pub leaves: u32,
}

pub const UNLIMITED: u32 = u32::MAX;

impl Budget {
    pub fn of(shape: &Shape) -> Budget {
        // Kernels refuse small leaves (`Ask::min_rows`).
        let Shape { max_depth, max_leaves, min_leaf_rows: _ } = *shape;
        let [depth, leaves] = [max_depth, max_leaves].map(|most| most.unwrap_or(UNLIMITED));
        Budget { depth, leaves }.tight()
    }

    /// These trees in the fewest words: a depth allows 2^depth leaves, k leaves a depth of k −
    /// 1.
    pub fn tight(self) -> Budget {
        let depth = match self.leaves {
            UNLIMITED => self.depth,
            leaves => self.depth.min(leaves - 1),
        };
        let most = Budget { depth, leaves: UNLIMITED }.most_leaves();
        Budget { depth, leaves: if self.leaves >= most { UNLIMITED } else { self.leaves } }
    }

    /// A child's budget, if it may have `leaves` of them.
    pub fn child(self, leaves: u32) -> Budget {
        let depth = if self.depth == UNLIMITED { UNLIMITED } else { self.depth - 1 };
        Budget { depth, leaves }.tight()
    }

    /// Budgets that allow all trees of this one and more leaves: the next few, and all that the
    /// depth allows.
    pub fn larger(self) -> impl Iterator<Item = Budget> {
        let more = |more| Budget { leaves: self.leaves.saturating_add(more), ..self }.tight();
        let deeper = Budget { depth: self.depth.saturating_add(1), leaves: UNLIMITED };
        let few = [more(1), more(2), Budget { leaves: UNLIMITED, ..self }, deeper];
        few.into_iter().filter(move |larger| self.leaves != UNLIMITED && *larger != self)
    }

    /// The most leaves that a tree may have.
    pub fn most_leaves(self) -> u32 {
        1u32.checked_shl(self.depth).unwrap_or(UNLIMITED).min(self.leaves)
    }

    /// Whether a tree with this many leaves, all at this depth or above, is within the budget.
    pub fn allows(self, depth: u32, leaves: u32) -> bool {
        depth <= self.depth && leaves <= self.leaves
    }

    /// Whether the depth-two look-ahead sees every tree.
    pub fn is_small(self) -> bool {
        self.depth <= 2 || self.leaves <= 3
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeKey {
    pub rows: Fingerprint,
    pub budget: Budget,
}

/// The split that gave a node its upper bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Choice {
    pub question: u32,
    /// Leaves that the 0 side may have.
    pub left_leaves: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_tight() {
        let tight = |depth, leaves| Budget { depth, leaves }.tight();
        assert_eq!(tight(3, 8), Budget { depth: 3, leaves: UNLIMITED });
        assert_eq!(tight(9, 3), Budget { depth: 2, leaves: 3 });
        assert_eq!(tight(UNLIMITED, 2), Budget { depth: 1, leaves: UNLIMITED });
        assert_eq!(tight(UNLIMITED, 1), Budget { depth: 0, leaves: UNLIMITED });
        assert_eq!(tight(0, 5), Budget { depth: 0, leaves: UNLIMITED });
        assert_eq!(tight(40, UNLIMITED), Budget { depth: 40, leaves: UNLIMITED });
    }
}
