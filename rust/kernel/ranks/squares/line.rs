//! The cheapest split of rows in a given order. Floats say which may be, integers which is.

use std::ops::Range;

use super::kernel::SquaresKernel;
use crate::cost::Cost;
use crate::kernel::ranks::rank_kernel::Cheapest;

/// What is left and right of a boundary.
struct Sums {
    left: Vec<i64>,
    right: Vec<i64>,
}

impl Sums {
    fn of(kernel: &SquaresKernel, rows: &[u32]) -> Sums {
        let (left, mut right) = (vec![0; kernel.width()], vec![0; kernel.width()]);
        for &row in rows {
            for (sum, s) in right.iter_mut().zip(kernel.task.stats(row as usize)) {
                *sum += s;
            }
        }
        Sums { left, right }
    }

    fn take(&mut self, kernel: &SquaresKernel, row: u32) {
        let sums = self.left.iter_mut().zip(&mut self.right);
        for ((left, right), s) in sums.zip(kernel.task.stats(row as usize)) {
            *left += s;
            *right -= s;
        }
    }

    /// What both leaves cost, without penalties: off by no more than the kernel's margin.
    fn about(&self, kernel: &SquaresKernel) -> f64 {
        let m = kernel.outputs();
        let of = |sums: &[i64]| {
            let squares = (0..m).map(|o| {
                let sum = sums[o + 1] as f64;
                sum * sum * kernel.task.factor(o)
            });
            sums[m + 1] as f64 - squares.sum::<f64>() / sums[0].max(1) as f64
        };
        of(&self.left) + of(&self.right)
    }
}

/// As `RankKernel::cheapest`.
pub fn cheapest(
    kernel: &SquaresKernel,
    rows: &[u32],
    ends: &[u32],
    enough: Range<usize>,
) -> [Cheapest; 2] {
    let mut sums = Sums::of(kernel, rows);
    let margin = kernel.margin(sums.right[kernel.outputs() + 1]);
    let penalties = 2 * kernel.leaf_cost;
    let (mut best, mut done) = ([None::<(Cost, usize)>; 2], 0);
    for (at, &end) in ends.iter().enumerate() {
        rows[done..end as usize].iter().for_each(|&row| sums.take(kernel, row));
        done = end as usize;
        let about = sums.about(kernel) + penalties as f64;
        let may_be_below =
            |best: &Cheapest| best.is_none_or(|(cost, _)| about - margin < cost as f64);
        let asked = [may_be_below(&best[0]), enough.contains(&at) && may_be_below(&best[1])];
        if !asked[0] && !asked[1] {
            continue;
        }
        let cost = kernel.cost(&sums.left) + kernel.cost(&sums.right) + penalties;
        for (best, asked) in best.iter_mut().zip(asked) {
            if asked && best.is_none_or(|(least, _)| cost < least) {
                *best = Some((cost, at));
            }
        }
    }
    best
}
