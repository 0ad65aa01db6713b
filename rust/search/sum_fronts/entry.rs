//! What a tree sums up to, and fronts of that.

use crate::bounds::dominance;

/// More sums than this are not searched at once. Leaves are no sum: they are counted beside.
pub const MOST_SUMS: usize = 3;

/// What stands in place of a question where the tree is a leaf.
pub const LEAF: u32 = u32::MAX;

/// What one tree sums up to. Sums that are not asked for are 0, and so are leaves where neither an
/// axis nor a limit counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub sums: [i64; MOST_SUMS],
    pub leaves: u32,
    /// What the tree asks at its root.
    pub question: u32,
}

impl Entry {
    /// Whether no sum of this one, nor its leaves, is above the other's.
    #[inline(always)]
    pub fn dominates(&self, other: &Entry) -> bool {
        (0..MOST_SUMS).all(|at| self.sums[at] <= other.sums[at]) && self.leaves <= other.leaves
    }

    /// Of two trees that stand for each other.
    pub fn equals(&self, other: &Entry) -> bool {
        self.sums == other.sums && self.leaves == other.leaves
    }

    /// Both sides of a split by `question`.
    #[inline(always)]
    pub fn join(&self, other: &Entry, question: u32) -> Entry {
        let sums = std::array::from_fn(|at| self.sums[at] + other.sums[at]);
        Entry { sums, leaves: self.leaves + other.leaves, question }
    }

    /// An order in which no entry comes before one that dominates it, but for equal ones.
    pub fn key(&self) -> (u32, i64, i64, i64) {
        let [x, y, z] = self.sums;
        (self.leaves, z, x, y)
    }
}

/// Entries that do not dominate each other, in the order of their keys.
#[derive(Debug, Clone, Default)]
pub struct Front {
    pub entries: Vec<Entry>,
    /// Whether entries differ in nothing but the first two sums, so that the second one falls from
    /// entry to entry.
    is_flat: bool,
}

impl Front {
    /// Of entries that do not dominate each other and stand in their order.
    pub fn of_sorted(entries: Vec<Entry>) -> Front {
        let flat = |e: &Entry| e.sums[2..].iter().all(|&sum| sum == 0) && e.leaves == 0;
        let is_flat = entries.iter().all(flat);
        debug_assert!(!is_flat || entries.is_sorted_by(|a, b| a.sums[1] > b.sums[1]));
        Front { entries, is_flat }
    }

    /// The front of any few entries.
    pub fn of_few(mut entries: Vec<Entry>) -> Front {
        dominance::keep_undominated(&mut entries, Entry::dominates, |_| false);
        entries.sort_unstable_by_key(Entry::key);
        Front::of_sorted(entries)
    }

    /// Whether some entry here dominates this one.
    pub fn dominates(&self, entry: &Entry) -> bool {
        if self.is_flat {
            // Of those with at most this first sum, the last one has the least second sum.
            let end = self.entries.partition_point(|e| e.sums[0] <= entry.sums[0]);
            return self.entries[..end].last().is_some_and(|last| last.dominates(entry));
        }
        self.entries.iter().any(|known| known.dominates(entry))
    }

    /// Where this entry stands, whatever it asks.
    pub fn find(&self, entry: &Entry) -> Option<&Entry> {
        let at = self.entries.binary_search_by_key(&entry.key(), Entry::key).ok()?;
        Some(&self.entries[at])
    }

    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(sums: [i64; 3], leaves: u32) -> Entry {
        Entry { sums, leaves, question: 0 }
    }

    #[test]
    fn a_front_dominates_what_one_of_its_entries_does() {
        for flat in [true, false] {
            let mut state = 1u64;
            let mut below = |n: i64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as i64 % n
            };
            for _ in 0..500 {
                let mut any = || {
                    let (z, leaves) = if flat { (0, 0) } else { (below(3), below(3) as u32) };
                    entry([below(9), below(9), z], leaves)
                };
                let all: Vec<Entry> = (0..12).map(|_| any()).collect();
                let front = Front::of_few(all.clone());
                assert!(front.entries.is_sorted_by_key(Entry::key));
                let asked = any();
                let wanted = all.iter().any(|one| one.dominates(&asked));
                assert_eq!(front.dominates(&asked), wanted);
                assert_eq!(front.find(&asked).is_some(), front.entries.contains(&asked));
            }
        }
    }
}
