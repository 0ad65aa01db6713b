//! The best split of rows in a given order, by what either side gains with its best label.

use std::ops::Range;

use super::kernel::LabelKernel;
use super::unit::Unit;
use crate::cost::Cost;
use crate::kernel::ranks::rank_kernel::Cheapest;
use crate::kernel::ranks::stumps::cheapest;

/// What the rows gain with their best label, at each of the places where they are halted.
fn gains<T: Unit>(
    kernel: &LabelKernel<T>,
    rows: impl Iterator<Item = u32>,
    mut ends: impl Iterator<Item = u32>,
    sums: &mut [Cost],
    mut take: impl FnMut(Cost),
) {
    sums.fill(0);
    let (mut best, mut next) = (0, ends.next());
    for (at, row) in rows.enumerate() {
        if next == Some(at as u32) {
            take(best);
            next = ends.next();
            if next.is_none() {
                return;
            }
        }
        let sum = &mut sums[usize::from(kernel.label[row as usize])];
        *sum += kernel.gain[row as usize].cost();
        best = best.max(*sum);
    }
}

impl<T: Unit> LabelKernel<T> {
    /// The cheapest split, and the cheapest with an end in `enough`. `rows`: of the view.
    pub(super) fn cheapest_split(
        &self,
        rows: &[u32],
        ends: &[u32],
        enough: Range<usize>,
    ) -> [Cheapest; 2] {
        if self.n_labels == 2 {
            return cheapest(&self.splits_of_two(rows, ends), enough);
        }
        let worst: Cost = rows.iter().map(|&row| self.worst[row as usize].cost()).sum();
        let mut sums = vec![0; self.n_labels];
        let mut costs = Vec::with_capacity(ends.len());
        gains(self, rows.iter().copied(), ends.iter().copied(), &mut sums, |gain| {
            costs.push(worst - gain);
        });
        let n = rows.len() as u32;
        let mut at = ends.len();
        let backwards = ends.iter().rev().map(|end| n - end);
        gains(self, rows.iter().rev().copied(), backwards, &mut sums, |gain| {
            at -= 1;
            costs[at] = (costs[at] - gain) * self.unit + 2 * self.leaf_cost;
        });
        cheapest(&costs, enough)
    }

    /// The costs of all splits of two labels, in one walk.
    fn splits_of_two(&self, rows: &[u32], ends: &[u32]) -> Vec<Cost> {
        let gains = |row: u32| {
            let gain = self.gain[row as usize].cost();
            let second = -Cost::from(self.label[row as usize]);
            [gain & !second, gain & second]
        };
        let (mut all, mut worst) = ([0; 2], 0);
        for &row in rows {
            let [first, second] = gains(row);
            all = [all[0] + first, all[1] + second];
            worst += self.worst[row as usize].cost();
        }
        let (mut left, mut done) = ([0; 2], 0);
        let cost = |&end: &u32| {
            for &row in &rows[done..end as usize] {
                let [first, second] = gains(row);
                left = [left[0] + first, left[1] + second];
            }
            done = end as usize;
            let gain = left[0].max(left[1]) + (all[0] - left[0]).max(all[1] - left[1]);
            (worst - gain) * self.unit + 2 * self.leaf_cost
        };
        ends.iter().map(cost).collect()
    }
}
