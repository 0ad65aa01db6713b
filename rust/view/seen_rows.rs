//! Whether equal fingerprints mean equal rows, checked where debug assertions are on. In a release
//! build this holds nothing and does nothing.

#[cfg(debug_assertions)]
use std::collections::HashMap;
#[cfg(debug_assertions)]
use std::sync::Mutex;

use super::bit_view::Fingerprint;

/// Sets of rows that were seen under some fingerprint, no more than a few thousand of them.
#[derive(Debug, Default)]
pub struct SeenRows {
    /// By fingerprint: how many rows, and a sum that fingerprints have no part in.
    #[cfg(debug_assertions)]
    sets: Mutex<HashMap<Fingerprint, (usize, u128)>>,
}

#[cfg(debug_assertions)]
const MOST: usize = 1 << 13;

impl SeenRows {
    /// `rows`: their keys or numbers, in any order.
    #[cfg(debug_assertions)]
    pub fn check(&self, known_by: Fingerprint, rows: impl Iterator<Item = u128>) {
        // A product with an odd number spreads what an XOR of keys could hide.
        let spread = |row: u128| {
            let row = row.wrapping_mul(0x2d99_787a_5f36_17ad_9e37_79b9_7f4a_7c15);
            (row ^ row >> 61).wrapping_mul(0x1319_8a2e_0370_7344_a409_3822_299f_31d1)
        };
        let set = rows.fold((0, 0u128), |(n, sum), row| (n + 1, sum.wrapping_add(spread(row))));
        let mut sets = self.sets.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if sets.len() < MOST || sets.contains_key(&known_by) {
            let known = *sets.entry(known_by).or_insert(set);
            assert!(known == set, "equal fingerprints mean equal rows: {known:?} and {set:?}");
        }
    }

    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub fn check(&self, _known_by: Fingerprint, _rows: impl Iterator<Item = u128>) {}
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn the_same_rows_may_come_in_any_order() {
        let seen = SeenRows::default();
        seen.check(1, [3, 4, 5].into_iter());
        seen.check(1, [5, 3, 4].into_iter());
        seen.check(2, [3, 4].into_iter());
    }

    #[test]
    #[should_panic(expected = "equal fingerprints mean equal rows")]
    fn other_rows_of_the_same_fingerprint_are_noticed() {
        let seen = SeenRows::default();
        seen.check(1, [3, 4, 5].into_iter());
        seen.check(1, [3, 4, 6].into_iter());
    }
}
