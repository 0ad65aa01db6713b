//! How deep a tree may be and how many leaves it may have, and how many of them are on either side
//! of a cut.

/// What a node's tree may have, in the fewest levels and leaves that mean the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Budget {
    pub depth: u32,
    /// At most 2^depth; `u32::MAX` where that is more than can be written.
    pub leaves: u32,
}

/// The leaves that the left side of a cut may have: `least`, or up to `most` of them. The right
/// side has the rest of the budget.
///
/// What is proved of a cut with a division holds for every division within it: a side is bounded
/// with the most leaves that it may have, and fewer leaves never cost less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Division {
    pub least: u32,
    pub most: u32,
}

/// With more levels than these it is a penalty that keeps trees from being deep.
const LIMITED: u32 = 8;

/// The leaves of a full tree of this depth.
fn full(depth: u32) -> u32 {
    1u32.checked_shl(depth).unwrap_or(u32::MAX)
}

impl Budget {
    pub fn tight(depth: u32, leaves: u32) -> Budget {
        let leaves = leaves.min(full(depth));
        let depth = depth.min(leaves.saturating_sub(1));
        Budget { depth, leaves }
    }

    /// Any tree of this depth.
    pub fn of_depth(depth: u32) -> Budget {
        Budget { depth, leaves: full(depth) }
    }

    /// Whether the depth alone limits the leaves.
    pub fn is_full(self) -> bool {
        self.leaves == full(self.depth)
    }

    /// Whether depth is limited, and not by penalties alone. What is limited is raised at once as
    /// far as it must be, because steps took longer: four times on raisin at depth 4 with a penalty
    /// of 0.01.
    pub fn is_limited(self) -> bool {
        self.depth <= LIMITED
    }

    /// Whether it allows at most three quarters of the leaves that its depth has room for.
    pub fn is_short(self) -> bool {
        u64::from(self.leaves) * 4 <= u64::from(full(self.depth)) * 3
    }

    /// This budget with less depth.
    pub fn within(self, depth: u32) -> Budget {
        Budget::tight(self.depth.min(depth), self.leaves)
    }

    /// All divisions of the leaves between the sides of a cut.
    pub fn divisions(self) -> Division {
        let side = full(self.depth - 1);
        match self.is_full() {
            true => Division { least: side, most: side },
            false => Division {
                least: self.leaves.saturating_sub(side).max(1),
                most: side.min(self.leaves - 1),
            },
        }
    }

    /// The most that the left and the right side of a cut may have.
    pub fn of_sides(self, division: Division) -> [Budget; 2] {
        let depth = self.depth - 1;
        match self.is_full() {
            true => [Budget::of_depth(depth); 2],
            false => {
                let right = self.leaves - division.least;
                [division.most, right].map(|leaves| Budget::tight(depth, leaves))
            }
        }
    }
}

impl Division {
    pub fn is_one(self) -> bool {
        self.least == self.most
    }

    /// Two divisions that are this one together.
    pub fn halves(self) -> [Division; 2] {
        debug_assert!(!self.is_one(), "one division has no halves");
        let middle = self.least + (self.most - self.least) / 2;
        [
            Division { least: self.least, most: middle },
            Division { least: middle + 1, most: self.most },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_division_is_in_one_half_and_keeps_to_the_budget() {
        for depth in 1..6 {
            for leaves in 2..=full(depth) {
                let budget = Budget::tight(depth, leaves);
                assert!(budget.depth < budget.leaves && budget.leaves <= full(budget.depth));
                let mut open = vec![budget.divisions()];
                let mut ones = Vec::new();
                while let Some(division) = open.pop() {
                    let [left, right] = budget.of_sides(division);
                    assert!(left.depth < budget.depth && right.depth < budget.depth);
                    if division.is_one() {
                        assert_eq!(left.leaves + right.leaves, budget.leaves);
                        ones.push(division.least);
                    } else {
                        open.extend(division.halves());
                    }
                }
                ones.sort_unstable();
                let all: Vec<u32> = (1..budget.leaves)
                    .filter(|&left| left.max(budget.leaves - left) <= full(budget.depth - 1))
                    .collect();
                assert_eq!(ones, all);
            }
        }
    }

    #[test]
    fn no_limit_is_more_than_can_be_written() {
        let budget = Budget::tight(u32::MAX, u32::MAX);
        assert!(budget.is_full() && budget.divisions().is_one());
        let side = budget.of_sides(budget.divisions())[0];
        assert_eq!(side, Budget::of_depth(budget.depth - 1));
    }
}
