//! The front of many candidates with two small sums: by first sum, the least second sum.
//!
//! Its numbers have half the size of those in [`Gather`](super::gather::Gather), and there are no
//! questions, because the table is made and walked through twice for each column.

use super::entry::{Entry, MOST_SUMS};

const EMPTY: u32 = u32::MAX;

/// First sums are below this.
const MOST_CELLS: i64 = 1 << 16;

#[derive(Debug, Default)]
pub struct Flat {
    cells: Vec<u32>,
}

impl Flat {
    /// Begin with no candidates. No sum will be above `worst`. False where that does not fit.
    #[inline(always)]
    pub fn begin(&mut self, worst: [i64; MOST_SUMS], leaves: u32, n_sums: usize) -> bool {
        let [x, y, _] = worst;
        if n_sums != 2 || leaves > 0 || x >= MOST_CELLS || y >= i64::from(EMPTY) {
            return false;
        }
        self.cells.clear();
        self.cells.resize(x as usize + 1, EMPTY);
        true
    }

    #[inline(always)]
    pub fn push(&mut self, entry: &Entry) {
        let cell = &mut self.cells[entry.sums[0] as usize];
        *cell = (*cell).min(entry.sums[1] as u32);
    }

    /// Candidates with these sums, each of which is a list, where `is_open`.
    #[inline(always)]
    pub fn push_all(&mut self, sums: &[Vec<i64>; MOST_SUMS], is_open: impl Fn(usize) -> bool) {
        let cells = &mut self.cells[..];
        for (at, (&x, &y)) in sums[0].iter().zip(&sums[1]).enumerate() {
            if is_open(at) {
                let cell = &mut cells[x as usize];
                *cell = (*cell).min(y as u32);
            }
        }
    }

    /// The front of all candidates, into a list that is wiped.
    #[inline(always)]
    pub fn front_into(&self, entries: &mut Vec<Entry>) {
        const RUN: usize = 32;
        entries.clear();
        let mut least = EMPTY;
        for (run, cells) in self.cells.chunks(RUN).enumerate() {
            // Most runs have nothing that is lower, which one comparison of vectors tells.
            if cells.iter().fold(EMPTY, |a, &b| a.min(b)) >= least {
                continue;
            }
            for (at, &cell) in cells.iter().enumerate() {
                if cell < least {
                    least = cell;
                    let sums = [(run * RUN + at) as i64, i64::from(cell), 0];
                    entries.push(Entry { sums, leaves: 0, question: 0 });
                }
            }
        }
    }

    pub fn bytes(&self) -> usize {
        self.cells.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::super::gather::Gather;
    use super::*;

    #[test]
    fn it_has_the_front_that_gather_has() {
        let mut state = 3u64;
        let mut below = |n: i64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as i64 % n
        };
        for _ in 0..500 {
            let (x, y, n) = (1 + below(200), 1 + below(200), 1 + below(60) as usize);
            let lists = [&x, &y].map(|&most| (0..n).map(|_| below(most + 1)).collect::<Vec<_>>());
            let [xs, ys] = lists;
            let sums = [xs, ys, Vec::new()];
            let (mut flat, mut gather) = (Flat::default(), Gather::default());
            assert!(flat.begin([x, y, 0], 0, 2));
            gather.begin([x, y, 0], 0);
            flat.push_all(&sums, |at| at % 3 > 0 || n < 3);
            gather.push_all(&sums, 0, |at| at % 3 > 0 || n < 3);
            let (mut found, mut wanted) = (Vec::new(), Vec::new());
            flat.front_into(&mut found);
            gather.front_into(&mut wanted);
            assert_eq!(found, wanted);
        }
    }
}
