//! From candidates to the front of them.
//!
//! Where there are two sums, and the first one is small, a table has the least second sum for each
//! first sum, and for each number of leaves if these count: a candidate is one comparison, and a
//! walk along the table gives the front. All others are listed, sorted and walked through.

use std::collections::BTreeMap;

use super::entry::{Entry, Front, MOST_SUMS};

/// A table has at most so many cells.
const MOST_CELLS: i64 = 1 << 18;
/// Second sums in a table are below this.
const MOST_IN_CELL: i64 = 1 << 31;
/// So many more candidates are listed before those that are dominated are dropped.
const MOST_LISTED: usize = 1 << 16;

/// A cell that no candidate is in.
const EMPTY: u64 = u64::MAX;

/// Candidates for the front of one node.
#[derive(Debug, Default)]
pub struct Gather {
    /// By number of leaves and first sum: the least second sum, and behind it the question. Empty
    /// where candidates are listed.
    cells: Vec<u64>,
    width: usize,
    list: Vec<Entry>,
    /// How many of the list were left when it was last reduced.
    reduced: usize,
}

impl Gather {
    /// Begin with no candidates. No sum will be above `worst`, and no number of leaves above
    /// `leaves`, which is 0 where leaves do not count.
    pub fn begin(&mut self, worst: [i64; MOST_SUMS], leaves: u32) {
        self.cells.clear();
        self.list.clear();
        self.reduced = 0;
        let [x, y, rest @ ..] = worst;
        let n_cells = (x + 1).saturating_mul(i64::from(leaves) + 1);
        if rest.iter().all(|&sum| sum == 0) && n_cells <= MOST_CELLS && y < MOST_IN_CELL {
            self.width = x as usize + 1;
            self.cells.resize(n_cells as usize, EMPTY);
        }
    }

    #[inline(always)]
    pub fn push(&mut self, entry: Entry) {
        if self.cells.is_empty() {
            self.list.push(entry);
            if self.list.len() > 2 * self.reduced + MOST_LISTED {
                self.reduce();
            }
            return;
        }
        let at = entry.leaves as usize * self.width + entry.sums[0] as usize;
        // Of equal sums a leaf is the least.
        let cell = (entry.sums[1] as u64) << 32 | u64::from(!entry.question);
        self.cells[at] = self.cells[at].min(cell);
    }

    /// All entries of a split by `question` with one entry of either side, of at most `most`
    /// leaves.
    #[inline(always)]
    pub fn push_joined(&mut self, a: &[Entry], b: &[Entry], question: u32, most: u32) {
        if self.is_flat() {
            for one in a {
                let cells = &mut self.cells[one.sums[0] as usize..];
                let own = (one.sums[1] as u64) << 32 | u64::from(!question);
                for other in b {
                    let cell = &mut cells[other.sums[0] as usize];
                    *cell = (*cell).min(own + ((other.sums[1] as u64) << 32));
                }
            }
            return;
        }
        for one in a {
            for other in b {
                if one.leaves + other.leaves <= most {
                    self.push(one.join(other, question));
                }
            }
        }
    }

    /// Candidates with these sums, each of which is a list, where `is_open`.
    #[inline(always)]
    pub fn push_all(
        &mut self,
        sums: &[Vec<i64>; MOST_SUMS],
        leaves: u32,
        is_open: impl Fn(usize) -> bool,
    ) {
        let of = |list: &[i64], at: usize| list.get(at).copied().unwrap_or(0);
        for at in (0..sums[0].len()).filter(|&at| is_open(at)) {
            let sums = std::array::from_fn(|sum| of(&sums[sum], at));
            self.push(Entry { sums, leaves, question: 0 });
        }
    }

    /// Whether there is a table of two sums alone.
    #[inline(always)]
    pub fn is_flat(&self) -> bool {
        !self.cells.is_empty() && self.cells.len() == self.width
    }

    /// The front of all candidates so far, which stay candidates.
    pub fn front(&mut self) -> Front {
        let mut entries = Vec::new();
        self.front_into(&mut entries);
        Front::of_sorted(entries)
    }

    /// As above, into a list that is wiped.
    #[inline(always)]
    pub fn front_into(&mut self, entries: &mut Vec<Entry>) {
        entries.clear();
        if self.cells.is_empty() {
            self.reduce();
            entries.extend_from_slice(&self.list);
        } else if self.is_flat() {
            walk(&self.cells, |x, cell| entries.push(entry_of(x, cell, 0)));
        } else {
            self.walk_layers(entries);
        }
    }

    fn walk_layers(&self, entries: &mut Vec<Entry>) {
        let layers = self.cells.chunks_exact(self.width);
        // By first sum: the least second sum of fewer leaves.
        let mut fewer = vec![u64::MAX; self.width];
        for (leaves, cells) in layers.enumerate() {
            let from = entries.len();
            walk(cells, |x, cell| {
                if cell >> 32 < fewer[x] {
                    entries.push(entry_of(x, cell, leaves as u32));
                }
            });
            // The entries of a layer fall, so that each one holds up to the next.
            for at in from..entries.len() {
                let own: Entry = entries[at];
                let end = entries.get(at + 1).map_or(self.width, |e| e.sums[0] as usize);
                for least in &mut fewer[own.sums[0] as usize..end] {
                    *least = (*least).min(own.sums[1] as u64);
                }
            }
        }
    }

    fn reduce(&mut self) {
        // Nothing comes before an entry that dominates it.
        self.list.sort_unstable_by_key(|e| (e.sums[2], e.key(), !e.question));
        // By number of leaves: the staircase of first and second sums among those that came before
        // and have no more leaves.
        let leaves = self.list.iter().map(|e| e.leaves).max().map_or(0, |most| most as usize + 1);
        let mut stairs: Vec<BTreeMap<i64, i64>> = vec![BTreeMap::new(); leaves];
        self.list.retain(|e| {
            let [x, y, _] = e.sums;
            let own = &stairs[e.leaves as usize];
            if own.range(..=x).next_back().is_some_and(|(_, &least)| least <= y) {
                return false;
            }
            for more in &mut stairs[e.leaves as usize..] {
                step(more, x, y);
            }
            true
        });
        self.list.sort_unstable_by_key(Entry::key);
        self.reduced = self.list.len();
    }

    pub fn bytes(&self) -> usize {
        self.cells.capacity() * 8 + self.list.capacity() * size_of::<Entry>()
    }
}

fn entry_of(x: usize, cell: u64, leaves: u32) -> Entry {
    Entry { sums: [x as i64, (cell >> 32) as i64, 0], leaves, question: !(cell as u32) }
}

/// Each cell that is below all cells before it in its second sum.
#[inline(always)]
fn walk(cells: &[u64], mut each: impl FnMut(usize, u64)) {
    const RUN: usize = 16;
    let mut least = EMPTY;
    for (run, cells) in cells.chunks(RUN).enumerate() {
        // Most runs have nothing that is lower, which one comparison of vectors tells.
        if cells.iter().fold(EMPTY, |a, &b| a.min(b)) >> 32 >= least >> 32 {
            continue;
        }
        for (at, &cell) in cells.iter().enumerate() {
            if cell >> 32 < least >> 32 {
                least = cell;
                each(run * RUN + at, cell);
            }
        }
    }
}

/// Lower a staircase to a step at (x, y), if it is not as low there.
fn step(stairs: &mut BTreeMap<i64, i64>, x: i64, y: i64) {
    if stairs.range(..=x).next_back().is_some_and(|(_, &least)| least <= y) {
        return;
    }
    while let Some((&next, _)) = stairs.range(x..).next().filter(|(_, least)| **least >= y) {
        stairs.remove(&next);
    }
    stairs.insert(x, y);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_what_no_other_candidate_dominates() {
        let mut state = 7u64;
        let mut below = |n: i64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as i64 % n
        };
        for round in 0..2000 {
            let (has_leaves, has_third) = (round % 2 == 1, round % 4 > 1);
            let size = if round % 3 == 0 { 1 << 40 } else { 40 };
            let n = below(30);
            let mut all: Vec<Entry> = (0..n)
                .map(|question| Entry {
                    sums: [below(size), below(size), if has_third { below(4) } else { 0 }],
                    leaves: if has_leaves { below(4) as u32 } else { 0 },
                    question: question as u32,
                })
                .collect();
            let worst = [size, size, i64::from(has_third) * 4];
            let mut gather = Gather::default();
            gather.begin(worst, if has_leaves { 4 } else { 0 });
            let half = all.len() / 2;
            all[..half].iter().for_each(|&entry| gather.push(entry));
            gather.front();
            all[half..].iter().for_each(|&entry| gather.push(entry));
            let found = gather.front().entries;
            all.sort_by_key(Entry::key);
            all.dedup_by(|a, b| a.equals(b));
            let kept =
                |one: &&Entry| !all.iter().any(|other| !other.equals(one) && other.dominates(one));
            let wanted: Vec<_> = all.iter().filter(kept).map(Entry::key).collect();
            assert_eq!(found.iter().map(Entry::key).collect::<Vec<_>>(), wanted);
        }
    }
}
