//! Pairs of axes of parts with few rows, for two labels, counted with lanes added up already: each
//! row counts at all boundaries behind it, a vector at a time. To count rows one by one and to add
//! up afterwards takes longer there, because adding up passes every cell.

use super::grid::Grid;
use super::pairs::{Lanes, Sums, each};
use super::rows::PartRows;
use super::unit::{LANES, Unit};

#[derive(Default)]
pub struct Added<T> {
    /// By block: all bits in the lanes of the boundaries behind it, and none in those before.
    behind: Vec<Lanes<T>>,
    /// By axis: the rows in the order of their labels, and then of their blocks.
    order: Vec<u32>,
    /// By axis: where its ends are.
    starts: Vec<usize>,
    /// By axis, label and block: how many rows come before those of the next block.
    ends: Vec<u32>,
    /// How many rows there are, if they are few.
    n: Option<usize>,
}

impl<T: Unit> Added<T> {
    /// Put the rows of a part in order, if they are few: the lanes are one group, and there are no
    /// more vectors to add than there are cells.
    pub fn begin(&mut self, rows: &PartRows<T>, grid: &Grid<T>) {
        let most = grid.axes.iter().map(|axis| axis.n()).max().unwrap_or(0);
        let are_few = most < LANES && rows.n * size_of::<T>() <= 2 * most * LANES;
        self.n = are_few.then_some(rows.n);
        self.order.clear();
        self.starts.clear();
        self.ends.clear();
        if !are_few {
            return;
        }
        if self.behind.is_empty() {
            self.behind.extend((0..LANES).map(|block| each(|lane| T::mask(lane > block))));
        }
        let n = rows.n;
        self.order.resize(grid.axes.len() * n, 0);
        for (f, axis) in grid.axes.iter().enumerate() {
            let start = self.ends.len();
            self.starts.push(start);
            self.ends.resize(start + 2 * axis.n() + 1, 0);
            let ends = &mut self.ends[start..];
            let place = |at: usize| {
                usize::from(rows.label[at]) * axis.n() + usize::from(rows.codes[f * n + at])
            };
            (0..n).for_each(|at| ends[place(at) + 1] += 1);
            (1..ends.len()).for_each(|at| ends[at] += ends[at - 1]);
            for at in 0..n {
                let end = &mut ends[place(at)];
                self.order[f * n + *end as usize] = at as u32;
                *end += 1;
            }
            // By now each is where its own rows end.
            self.ends.pop();
        }
    }

    /// Whether pairs of an axis are counted here.
    pub fn counts(&self, f: usize, grid: &Grid<T>) -> bool {
        self.n.is_some() && grid.axes[f].missing.is_none()
    }

    /// The gains of lane axis `f` and line axis `g`, with lanes added up.
    #[inline(always)]
    pub fn count(
        &self,
        rows: &PartRows<T>,
        (f, g): (usize, usize),
        grid: &Grid<T>,
        sums: &mut Sums<T>,
    ) {
        let n = rows.n;
        sums.begin_added((grid.axes[f].n(), grid.axes[g].n()));
        let (codes, gains) = (&rows.codes[f * n..][..n], &rows.gain[..n]);
        let order = &self.order[g * n..][..n];
        let ends = &self.ends[self.starts[g]..];
        let behind: &[Lanes<T>; LANES] = self.behind[..].try_into().expect("one for each block");
        let mut start = 0;
        for (cell, &end) in sums.cells.chunks_exact_mut(LANES).zip(ends) {
            let mut sum = [T::default(); LANES];
            for &at in &order[start..end as usize] {
                let (code, gain) = (codes[at as usize], gains[at as usize]);
                let behind = &behind[usize::from(code) % LANES];
                let before = sum;
                sum = each(|lane| before[lane] + (behind[lane] & gain));
            }
            cell.copy_from_slice(&sum);
            start = end as usize;
        }
    }

    pub fn bytes(&self) -> usize {
        self.behind.capacity() * size_of::<Lanes<T>>()
            + 4 * (self.order.capacity() + self.ends.capacity())
            + self.starts.capacity() * size_of::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid::GridAxis;
    use super::super::pairs::{Stumps, stumps};
    use super::*;

    fn random(state: &mut u64, below: usize) -> usize {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize % below
    }

    #[test]
    fn stumps_are_those_of_rows_that_are_counted_one_by_one() {
        let mut state = 7;
        let mut added = Added::<i16>::default();
        for case in 0..300 {
            let (n, p) = (random(&mut state, 90), 1 + random(&mut state, 4));
            let mut rows = PartRows::<i16>::default();
            rows.n = n;
            rows.label = (0..n).map(|_| random(&mut state, 2) as u16).collect();
            rows.gain = (0..n).map(|_| 1 + random(&mut state, 5) as i16).collect();
            let mut grid = Grid::<i16> {
                axes: Vec::new(),
                label: Vec::new(),
                gain: Vec::new(),
                worst: Vec::new(),
                exact: Default::default(),
            };
            for _ in 0..p {
                let blocks = 1 + random(&mut state, LANES - 1);
                rows.codes.extend((0..n).map(|_| random(&mut state, blocks) as u8));
                let open = (0..blocks).map(|_| i16::mask(random(&mut state, 2) == 1)).collect();
                let last = (0..blocks as u32).collect();
                grid.axes.push(GridAxis { code: Vec::new(), last, open, missing: None });
            }
            added.begin(&rows, &grid);
            for (f, g) in (0..p).flat_map(|f| (0..p).map(move |g| (f, g))) {
                let most = grid.axes.iter().map(|axis| axis.n()).max().unwrap_or(0);
                assert_eq!(added.counts(f, &grid), n <= most * LANES, "case {case}");
                if !added.counts(f, &grid) {
                    continue;
                }
                let (mut at_once, mut one_by_one) = (Sums::default(), Sums::default());
                added.count(&rows, (f, g), &grid, &mut at_once);
                one_by_one.count(&rows, (f, g), &grid);
                let [a, b] = [&mut at_once, &mut one_by_one].map(|sums| {
                    let mut out = Stumps::default();
                    stumps(sums, (&grid.axes[g].open, None), &mut out);
                    (out.lower, out.upper, out.leaf)
                });
                assert_eq!(a, b, "case {case}");
                assert_eq!(at_once.cells, one_by_one.cells, "case {case}");
            }
        }
    }
}
