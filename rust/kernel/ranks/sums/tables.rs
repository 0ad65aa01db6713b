//! Two axes in blocks: what the rows of every quadrant cost as one leaf, and so bounds on all
//! stumps beside the boundaries of either axis: of cuts within a block by `bounds::blocks`. A
//! boundary is a cut itself.

use crate::bounds::blocks;
use crate::cost::{Cost, INFINITE};
use crate::kernel::ranks::blocks::GridAxis;
use crate::task::Task;

/// Costs by quadrant, at each pair of boundaries (k of axis g, j of axis f).
#[derive(Default)]
pub struct Table {
    /// Boundaries of f.
    stride: usize,
    /// By statistic: sums of the rows before both boundaries.
    pub sums: Vec<Vec<i64>>,
    cells: Vec<i64>,
    /// By quadrant (before or behind k, before or behind j), then k and j.
    costs: Vec<Cost>,
}

/// For each boundary of one axis: the least that a stump along another costs before it and behind
/// it, and the least whose cut is a boundary, too. Without penalties.
#[derive(Default)]
pub struct Least {
    pub any: [Vec<Cost>; 2],
    pub at_boundary: [Vec<Cost>; 2],
}

/// The blocks of a part's rows along one axis, and how many blocks there are.
pub type Codes<'a> = (usize, &'a [u8]);

impl Table {
    pub fn bytes(&self) -> usize {
        8 * (self.sums.iter().map(Vec::capacity).sum::<usize>()
            + self.cells.capacity()
            + self.costs.capacity())
    }

    /// Sum the rows with these blocks, and cost them. `stats`: by statistic, then row.
    pub fn fill(&mut self, task: &dyn Task, (nf, f): Codes, (ng, g): Codes, stats: &[Vec<i64>]) {
        let (stride, height) = (nf + 1, ng + 1);
        let n = stride * height;
        self.stride = stride;
        self.sums.resize_with(stats.len(), Vec::new);
        self.cells.clear();
        self.cells.resize(4 * n * stats.len(), 0);
        for (s, (sums, stats)) in self.sums.iter_mut().zip(stats).enumerate() {
            sums.clear();
            sums.resize(n, 0);
            for ((&f, &g), &value) in f.iter().zip(g).zip(stats) {
                sums[(usize::from(g) + 1) * stride + usize::from(f) + 1] += value;
            }
            for k in 1..height {
                let (done, row) = sums.split_at_mut(k * stride);
                let mut sum = 0;
                for (sums, above) in row.iter_mut().zip(&done[(k - 1) * stride..]) {
                    sum += *sums;
                    *sums = above + sum;
                }
            }
            let cells = &mut self.cells[4 * n * s..][..4 * n];
            let last = &sums[ng * stride..];
            for k in 0..height {
                let (row, total) = (sums[k * stride + nf], last[nf]);
                for j in 0..stride {
                    let (at, here) = (k * stride + j, sums[k * stride + j]);
                    cells[at] = here;
                    cells[n + at] = row - here;
                    cells[2 * n + at] = last[j] - here;
                    cells[3 * n + at] = total - row - last[j] + here;
                }
            }
        }
        self.costs.clear();
        self.costs.resize(4 * n, 0);
        task.leaf_costs(&self.cells, &mut self.costs);
    }

    /// Rows on a side of k and a side of j as one leaf.
    fn cost(&self, (side_k, k): (usize, usize), (side_j, j): (usize, usize)) -> Cost {
        let n = self.costs.len() / 4;
        self.costs[(2 * side_k + side_j) * n + k * self.stride + j]
    }

    /// What the rows before (0) and behind (1) boundary j of f cost as one leaf.
    pub fn leaf(&self, side: usize, j: usize) -> Cost {
        // Behind the first boundary of g is everything.
        self.cost((1, 0), (side, j))
    }

    /// Stumps along g, before and behind each boundary of f.
    pub fn along_g(&self, g: &GridAxis, least: &mut Least) {
        least.reset(self.stride);
        for side in 0..2 {
            for k in 0..g.n() {
                for j in 0..self.stride {
                    let before = self.cost((0, k), (side, j));
                    if k > 0 {
                        least.take(side, j, before + self.cost((1, k), (side, j)), true);
                    }
                    if g.open[k] {
                        let behind = self.cost((1, k + 1), (side, j));
                        least.take(side, j, blocks::at_least(before, behind), false);
                    }
                }
            }
        }
    }

    /// Stumps along f, before and behind each boundary of g.
    pub fn along_f(&self, f: &GridAxis, ng: usize, least: &mut Least) {
        least.reset(ng + 1);
        for side in 0..2 {
            for k in 0..=ng {
                for j in 0..f.n() {
                    let before = self.cost((side, k), (0, j));
                    if j > 0 {
                        least.take(side, k, before + self.cost((side, k), (1, j)), true);
                    }
                    if f.open[j] {
                        let behind = self.cost((side, k), (1, j + 1));
                        least.take(side, k, blocks::at_least(before, behind), false);
                    }
                }
            }
        }
    }
}

impl Least {
    fn reset(&mut self, n: usize) {
        for list in self.any.iter_mut().chain(&mut self.at_boundary) {
            list.clear();
            list.resize(n, INFINITE);
        }
    }

    #[inline(always)]
    fn take(&mut self, side: usize, at: usize, cost: Cost, is_boundary: bool) {
        let any = &mut self.any[side][at];
        *any = cost.min(*any);
        if is_boundary {
            let exact = &mut self.at_boundary[side][at];
            *exact = cost.min(*exact);
        }
    }

    pub fn bytes(&self) -> usize {
        self.any.iter().chain(&self.at_boundary).map(|list| 8 * list.capacity()).sum()
    }
}
