//! Two labels: a split with two leaves loses all that no two labels gain.
//!
//! Statement: rows with worst losses W, of which the labels that gain most gain G₁ and G₂, lose at
//! least W − G₁ − G₂ in any two leaves.
//!
//! Proof: each leaf takes one label, which gains no more of the leaf's rows than it gains of all.
//! The gains of two labels, or of one label in both leaves, are at most G₁ + G₂.
//!
//! Invalid for trees of more leaves. For two labels it says nothing.

use std::ops::Sub;

/// What two leaves lose at least: a number, or one of several lanes.
#[inline(always)]
pub fn at_least<T: Sub<Output = T>>(worst: T, most: T, second: T) -> T {
    worst - most - second
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_two_leaves_lose_less() {
        let rows = [0, 1, 1, 2, 0, 0, 2, 1, 0, 3];
        let gain = |rows: &[usize], label| rows.iter().filter(|&&row| row == label).count() as i64;
        let leaf = |rows: &[usize]| {
            rows.len() as i64 - (0..4).map(|label| gain(rows, label)).max().unwrap()
        };
        let mut gains: Vec<i64> = (0..4).map(|label| gain(&rows, label)).collect();
        gains.sort_unstable();
        let bound = super::at_least(rows.len() as i64, gains[3], gains[2]);
        assert_eq!(bound, 3);
        assert!((0..=rows.len()).all(|cut| leaf(&rows[..cut]) + leaf(&rows[cut..]) >= bound));
    }
}
