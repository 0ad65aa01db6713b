//! What the trees of some points may be.

/// How deep trees may be, and of how many leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Budget {
    pub depth: Option<u32>,
    pub leaves: Option<u32>,
}

impl Budget {
    /// Neither limit is larger than the other one lets trees be.
    pub fn new(depth: Option<u32>, leaves: Option<u32>) -> Budget {
        let Some(leaves) = leaves else { return Budget { depth, leaves } };
        let depth = depth.map_or(leaves - 1, |depth| depth.min(leaves - 1));
        Budget { depth: Some(depth), leaves: Some(leaves.min(1 << depth.min(31))) }
    }

    /// What both sides of a split may be, for each way to share the leaves. Ways that leave over
    /// leaves which a side has no depth for are left out, because others give these to the other
    /// side.
    pub fn halves(self) -> Vec<[Budget; 2]> {
        let depth = self.depth.map(|depth| depth - 1);
        let Some(leaves) = self.leaves else { return vec![[Budget { depth, leaves: None }; 2]] };
        let most = depth.map_or(leaves - 1, |depth| (leaves - 1).min(1 << depth.min(31)));
        let way = |left: u32| [left, leaves - left].map(|n| Budget::new(depth, Some(n)));
        (leaves - most..=most).map(way).collect()
    }

    /// Whether a look at pairs of questions counts all its trees on the sides of each question.
    pub fn is_in_pairs(self) -> bool {
        self.depth.is_some_and(|depth| depth <= 1)
    }

    /// Whether all its trees are counted by one look.
    pub fn is_small(self) -> bool {
        self.depth.is_some_and(|depth| depth <= 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ways_to_share_leaves_cover_all_trees_and_no_more() {
        for (depth, leaves) in (1..5).flat_map(|depth| (2..20).map(move |n| (depth, n))) {
            let budget = Budget::new(Some(depth), Some(leaves));
            let ways = budget.halves();
            let most = leaves.min(1 << depth);
            for left in 1..most {
                for right in 1..=most - left {
                    let is_tree = left.max(right) <= 1 << (depth - 1);
                    let fits = |way: &[Budget; 2]| {
                        way[0].leaves >= Some(left) && way[1].leaves >= Some(right)
                    };
                    assert_eq!(ways.iter().any(fits), is_tree, "{budget:?}: {left}, {right}");
                }
            }
        }
    }
}
