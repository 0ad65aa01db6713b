//! The best stump on every set of a column's values.
//!
//! A leaf answers with one of two labels. Let d be what a row costs more under the second label
//! than under the first, and t what both cost together: rows whose sums are D and T cost (T − |D|)
//! / 2 as a leaf. So they cost (T − Σ |D_v|) / 2 as the best stump on a free column, where v goes
//! through its values: each value goes to the label that suits it. Where leaves must have some
//! rows, that is a lower bound, and exact if both labels have as many.

use std::ops::Range;

use super::partitions::{Partitions, Sizes, changes};
use super::tables::Table;
use crate::cost::Cost;
use crate::kernel::bits::bit_kernel::Look;
use crate::kernel::look::{Unfinished, vec_bytes};

/// Sets between two questions whether to go on.
const SETS_AT_ONCE: usize = 1 << 12;

/// Scratch memory.
#[derive(Debug, Default)]
pub struct Stumps {
    /// By cell: d, and rows, of the set's rows.
    differences: Vec<Cost>,
    rows: Vec<i64>,
    /// By set: Σ |D_v| of its best stump; `NONE` where no stump is better than a leaf.
    pub gains: Vec<Cost>,
}

pub const NONE: Cost = -1;

impl Stumps {
    /// Go through all sets of the cells of a partition.
    #[inline(always)]
    pub fn find(
        &mut self,
        look: &Look,
        partitions: &Partitions,
        table: &Table,
        of: &Range<usize>,
    ) -> Result<(), Unfinished> {
        let Stumps { differences, rows, gains } = self;
        let n = partitions.n_cells();
        for list in [&mut *differences, &mut *rows] {
            list.clear();
            list.resize(n, 0);
        }
        gains.clear();
        gains.resize(1 << of.len(), NONE);
        let counts_rows = look.ask.min_rows > 1;
        let (mut set, mut total) = (0usize, 0);
        for (at, (cell, has)) in changes(of.len()).enumerate() {
            if at % SETS_AT_ONCE == 0 && (look.halt)() {
                return Err(Unfinished::Stopped);
            }
            set ^= 1 << cell;
            let cell = of.start + cell;
            let sign = if has { 1 } else { -1 };
            add(differences, table.differences(cell), sign);
            total += sign * table.cells[cell].difference;
            if counts_rows {
                add(rows, table.rows(cell), sign);
            }
            gains[set] = match counts_rows {
                false => best(&partitions.ranges, differences),
                true => {
                    let known = (&differences[..], &rows[..]);
                    best_of_large(&partitions.ranges, known, look.ask.min_rows, total.abs())
                }
            };
        }
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        vec_bytes(&self.differences) + vec_bytes(&self.rows) + vec_bytes(&self.gains)
    }

    pub fn bytes_for(sizes: &Sizes) -> usize {
        (2 * sizes.n_cells() + (1 << sizes.most_cells())) * size_of::<Cost>()
    }
}

#[inline(always)]
fn add(to: &mut [i64], more: &[i64], sign: i64) {
    for (to, more) in to.iter_mut().zip(more) {
        *to += sign * more;
    }
}

/// The most that Σ |D_v| is for any column.
#[inline(always)]
fn best(ranges: &[Range<usize>], differences: &[Cost]) -> Cost {
    let sum = |range: &Range<usize>| {
        differences[range.clone()].iter().fold(0, |sum, difference| sum + difference.abs())
    };
    ranges.iter().fold(0, |best, range| best.max(sum(range)))
}

/// As above, where both leaves need so many rows; `NONE` unless that is more than `leaf`.
fn best_of_large(
    ranges: &[Range<usize>],
    (differences, rows): (&[Cost], &[i64]),
    min_rows: i64,
    leaf: Cost,
) -> Cost {
    let mut best = leaf;
    // What each label likes best, where its rows are enough; and then what is better only perhaps.
    for only_perhaps in [false, true] {
        for range in ranges {
            let (of, counts) = (&differences[range.clone()], &rows[range.clone()]);
            let (mut most, mut all, mut first) = (0, 0, 0);
            for (difference, rows) in of.iter().zip(counts) {
                most += difference.abs();
                all += rows;
                first += if *difference > 0 { *rows } else { 0 };
            }
            if most <= best {
                continue;
            }
            if first >= min_rows && all - first >= min_rows {
                best = most;
            } else if only_perhaps && all >= 2 * min_rows {
                best = Parted { of, counts, min_rows }.better(0, [0; 2], (0, most), best);
            }
        }
    }
    if best > leaf { best } else { NONE }
}

/// The ways to part the values of a column in two leaves.
struct Parted<'a> {
    of: &'a [Cost],
    counts: &'a [i64],
    min_rows: i64,
}

impl Parted<'_> {
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

    /// All ways to part the values.
    fn every(of: &[Cost], counts: &[i64], min_rows: i64) -> Cost {
        (0..1u32 << of.len())
            .filter_map(|set| {
                let is_in = |at: &usize| set >> at & 1 == 1;
                let rows: i64 = (0..of.len()).filter(is_in).map(|at| counts[at]).sum();
                let gain = |at| if is_in(&at) { of[at] } else { -of[at] };
                let all: i64 = counts.iter().sum();
                (rows >= min_rows && all - rows >= min_rows).then(|| (0..of.len()).map(gain).sum())
            })
            .max()
            .unwrap_or(NONE)
    }

    #[test]
    fn stumps_with_large_leaves_are_the_best_of_all() {
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
            let found =
                best_of_large(std::slice::from_ref(&(0..n)), (&of, &counts), min_rows, leaf);
            let wanted = every(&of, &counts, min_rows);
            assert_eq!(found.max(leaf), wanted.max(leaf), "{of:?} {counts:?} {min_rows}");
        }
    }
}
