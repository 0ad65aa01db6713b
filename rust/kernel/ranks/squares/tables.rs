//! Two axes in blocks: what the rows of every quadrant cost as one leaf, and so bounds on all
//! stumps beside the boundaries of either axis: of cuts within a block by `bounds::blocks`. A
//! boundary is a cut itself.

use super::kernel::{LANES, SquaresKernel};
use crate::bounds::blocks;
use crate::kernel::ranks::blocks::GridAxis;

/// Squared errors by quadrant, at each pair of boundaries (k of axis g, j of axis f).
#[derive(Default)]
pub struct Table {
    /// Boundaries of f, padded.
    stride: usize,
    /// By statistic: sums of the rows before both boundaries.
    sums: Vec<Vec<i64>>,
    /// Before or behind k, before or behind j.
    costs: [[Vec<f64>; 2]; 2],
}

/// For each boundary of one axis: the least that a stump along another costs before it and behind
/// it, and the least whose cut is a boundary, too.
#[derive(Default)]
pub struct Least {
    pub any: [Vec<f64>; 2],
    pub at_boundary: [Vec<f64>; 2],
}

impl Table {
    pub fn bytes(&self) -> usize {
        self.sums.iter().map(|sums| 8 * sums.capacity()).sum::<usize>()
            + self.costs.iter().flatten().map(|costs| 8 * costs.capacity()).sum::<usize>()
    }

    /// Sum the rows with these blocks, and cost them. `stats`: by statistic, then row.
    #[inline(always)]
    pub fn fill(
        &mut self,
        kernel: &SquaresKernel,
        (nf, f): (usize, &[u8]),
        (ng, g): (usize, &[u8]),
        stats: &[Vec<i64>],
    ) {
        let (stride, height) = ((nf + 1).next_multiple_of(LANES), ng + 1);
        self.stride = stride;
        self.sums.resize_with(stats.len(), Vec::new);
        for (sums, stats) in self.sums.iter_mut().zip(stats) {
            sums.clear();
            sums.resize(stride * height, 0);
            for ((&f, &g), &s) in f.iter().zip(g).zip(stats) {
                sums[(usize::from(g) + 1) * stride + usize::from(f) + 1] += s;
            }
            for k in 1..height {
                let (done, row) = sums.split_at_mut(k * stride);
                let above = &done[(k - 1) * stride..];
                let mut sum = 0;
                for j in 0..stride {
                    sum += row[j];
                    row[j] = above[j] + sum;
                }
            }
        }
        for costs in self.costs.iter_mut().flatten() {
            costs.clear();
            costs.resize(stride * height, 0.0);
        }
        let m = kernel.outputs();
        for k in 0..height {
            for from in (0..stride).step_by(LANES) {
                let mut squares = [[[0.0; LANES]; 2]; 2];
                for o in 0..m {
                    let factor = kernel.task.factor(o);
                    let cells = self.cells(o + 1, k, from, nf);
                    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                        for l in 0..LANES {
                            let s = cells[a][b][l] as f64;
                            squares[a][b][l] += s * s * factor;
                        }
                    }
                }
                let (w, q) = (self.cells(0, k, from, nf), self.cells(m + 1, k, from, nf));
                for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let costs = &mut self.costs[a][b][k * stride + from..][..LANES];
                    for l in 0..LANES {
                        let gain = squares[a][b][l] / w[a][b][l].max(1) as f64;
                        costs[l] = q[a][b][l] as f64 - gain;
                    }
                }
            }
        }
    }

    /// A statistic of all quadrants at a few boundaries of f.
    #[inline(always)]
    fn cells(&self, s: usize, k: usize, from: usize, nf: usize) -> [[[i64; LANES]; 2]; 2] {
        let (sums, stride) = (&self.sums[s], self.stride);
        let here = &sums[k * stride + from..][..LANES];
        let all = &sums[sums.len() - stride + from..][..LANES];
        let (row, total) = (sums[k * stride + nf], sums[sums.len() - stride + nf]);
        let mut cells = [[[0; LANES]; 2]; 2];
        for l in 0..LANES {
            cells[0][0][l] = here[l];
            cells[0][1][l] = row - here[l];
            cells[1][0][l] = all[l] - here[l];
            cells[1][1][l] = total - row - all[l] + here[l];
        }
        cells
    }

    /// Give the sums away, for what was there before.
    pub fn give(&mut self, sums: &mut Vec<Vec<i64>>) {
        std::mem::swap(&mut self.sums, sums);
    }

    /// What the rows before (0) and behind (1) boundary j of f cost as one leaf.
    pub fn leaf(&self, side: usize, j: usize) -> f64 {
        // Behind the first boundary of g is everything.
        self.costs[1][side][j]
    }

    /// Stumps along g, before and behind each boundary of f.
    #[inline(always)]
    pub fn along_g(&self, nf: usize, g: &GridAxis, least: &mut Least) {
        for side in 0..2 {
            let (any, exact) = (&mut least.any[side], &mut least.at_boundary[side]);
            reset(any, self.stride);
            reset(exact, self.stride);
            for k in 0..g.n() {
                let before = &self.costs[0][side][k * self.stride..][..self.stride];
                let behind = &self.costs[1][side][k * self.stride..][..self.stride];
                let next = &self.costs[1][side][(k + 1) * self.stride..][..self.stride];
                if k > 0 {
                    for j in 0..self.stride {
                        exact[j] = exact[j].min(before[j] + behind[j]);
                    }
                }
                if g.open[k] {
                    for j in 0..self.stride {
                        any[j] = any[j].min(blocks::at_least(before[j], next[j]));
                    }
                }
            }
            for j in 0..self.stride {
                any[j] = any[j].min(exact[j]);
            }
            any.truncate(nf + 1);
            exact.truncate(nf + 1);
        }
    }

    /// Stumps along f, before and behind each boundary of g.
    #[inline(always)]
    pub fn along_f(&self, f: &GridAxis, ng: usize, least: &mut Least) {
        for side in 0..2 {
            let (any, exact) = (&mut least.any[side], &mut least.at_boundary[side]);
            reset(any, ng + 1);
            reset(exact, ng + 1);
            for k in 0..=ng {
                let before = &self.costs[side][0][k * self.stride..][..self.stride];
                let behind = &self.costs[side][1][k * self.stride..][..self.stride];
                for j in 0..f.n() {
                    if j > 0 {
                        exact[k] = exact[k].min(before[j] + behind[j]);
                    }
                    if f.open[j] {
                        any[k] = any[k].min(blocks::at_least(before[j], behind[j + 1]));
                    }
                }
                any[k] = any[k].min(exact[k]);
            }
        }
    }
}

fn reset(list: &mut Vec<f64>, n: usize) {
    list.clear();
    list.resize(n, f64::INFINITY);
}

impl Least {
    pub fn bytes(&self) -> usize {
        self.any.iter().chain(&self.at_boundary).map(|list| 8 * list.capacity()).sum()
    }
}
