//! The ways to part the values of a column in two leaves that need some rows.

use crate::cost::Cost;

/// The values of a column: what the second label costs more than the first one for the rows of
/// each, and how many rows these are.
#[derive(Clone, Copy)]
pub struct Parted<'a> {
    pub of: &'a [Cost],
    pub counts: &'a [i64],
    pub min_rows: i64,
}

impl Parted<'_> {
    /// The most that two leaves gain, one with each label; or `best`, if that is more. Where the
    /// values that a label likes have too few rows, all ways are gone through, but only if asked.
    pub fn best(self, goes_through_all: bool, best: Cost) -> Cost {
        let (mut most, mut all, mut first) = (0, 0, 0);
        for (difference, rows) in self.of.iter().zip(self.counts) {
            most += difference.abs();
            all += rows;
            first += if *difference > 0 { *rows } else { 0 };
        }
        if most <= best {
            best
        } else if first >= self.min_rows && all - first >= self.min_rows {
            most
        } else if goes_through_all && all >= 2 * self.min_rows {
            self.better(0, [0; 2], (0, most), best)
        } else {
            best
        }
    }

    /// The most that values from `at` on make of a gain, where leaves have so many rows so far, and
    /// `rest` is what these values bring at most; or `best`, if that is more.
    fn better(&self, at: usize, rows: [i64; 2], (gain, rest): (Cost, Cost), best: Cost) -> Cost {
        if gain + rest <= best {
            return best;
        }
        let left: i64 = self.counts[at..].iter().sum();
        let missing = |leaf: usize| (self.min_rows - rows[leaf]).max(0);
        if missing(0) + missing(1) > left {
            return best;
        }
        let Some(&difference) = self.of.get(at) else { return gain };
        let rest = rest - difference.abs();
        // The leaf that it likes better comes first.
        let likes = usize::from(difference <= 0);
        let mut best = best;
        for leaf in [likes, 1 - likes] {
            let mut rows = rows;
            rows[leaf] += self.counts[at];
            let more = if leaf == likes { difference.abs() } else { -difference.abs() };
            best = self.better(at + 1, rows, (gain + more, rest), best);
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways to part the values; nothing where no leaves are so large.
    fn every(of: &[Cost], counts: &[i64], min_rows: i64) -> Option<Cost> {
        (0..1u32 << of.len())
            .filter_map(|set| {
                let is_in = |at: &usize| set >> at & 1 == 1;
                let rows: i64 = (0..of.len()).filter(is_in).map(|at| counts[at]).sum();
                let gain = |at| if is_in(&at) { of[at] } else { -of[at] };
                let all: i64 = counts.iter().sum();
                (rows >= min_rows && all - rows >= min_rows).then(|| (0..of.len()).map(gain).sum())
            })
            .max()
    }

    #[test]
    fn large_leaves_gain_the_most_of_all() {
        let mut state = 7u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) % n
        };
        for _ in 0..3_000 {
            let n = 1 + below(8) as usize;
            let of: Vec<Cost> = (0..n).map(|_| below(9) as i64 - 4).collect();
            let counts: Vec<i64> = (0..n).map(|_| below(5) as i64).collect();
            let min_rows = 2 + below(8) as i64;
            let leaf = of.iter().sum::<i64>().abs();
            let found = Parted { of: &of, counts: &counts, min_rows }.best(true, leaf);
            let wanted = every(&of, &counts, min_rows).map_or(leaf, |most| most.max(leaf));
            assert_eq!(found, wanted, "{of:?} {counts:?} {min_rows}");
        }
    }
}
