//! Blocks: a cut within a block of neighbouring ranks costs at least what the rows before the block
//! cost as one leaf, and those behind it as another.
//!
//! Statement: for a stump whose cut lies between boundaries a < b of an axis, leaf(left) +
//! leaf(right) ≥ leaf(before a) + leaf(behind b).
//!
//! Proof: its left leaf holds the rows before a and its right one those behind b. Dividing a leaf
//! never raises its cost and no leaf costs less than 0, so a part of a leaf costs no more than the
//! leaf. For two labels the same is turned around in `kernel/ranks/labels/pairs.rs`, where a leaf
//! takes the label that gains most.
//!
//! Invalid with a minimum leaf size only in that the bound could be better. Where leaf costs are
//! floats, what they may be off by comes off the bound.

use std::ops::Add;

/// What both leaves of a cut in a block cost at least: a number, or one of several lanes.
#[inline(always)]
pub fn at_least<T: Add<Output = T>>(before: T, behind: T) -> T {
    before + behind
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_within_the_block_cost_nothing() {
        // Errors of two labels as one leaf.
        let leaf = |rows: &[bool]| {
            let ones = rows.iter().filter(|&&one| one).count();
            ones.min(rows.len() - ones)
        };
        let rows = [true, false, true, true, false, false, true, false, false];
        for a in 0..rows.len() {
            for b in a..=rows.len() {
                let bound = super::at_least(leaf(&rows[..a]), leaf(&rows[b..]));
                assert!((a..=b).all(|cut| leaf(&rows[..cut]) + leaf(&rows[cut..]) >= bound));
            }
        }
    }
}
