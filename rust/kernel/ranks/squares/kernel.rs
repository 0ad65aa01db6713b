//! The kernel of squared errors, and a node's rows by blocks of each axis.

use crate::cost::Cost;
use crate::task::{Squares, Task};
use crate::view::RankNode;

/// Of the root's rows, which are the points.
pub struct SquaresKernel<'a> {
    pub(super) task: &'a Squares,
    pub(super) leaf_cost: Cost,
    /// Blocks of an axis, if they are not chosen by the number of rows.
    blocks: Option<usize>,
}

/// A node's rows by blocks of each axis, and their statistics: weight, sums, q, and a floor if there are floors.
pub struct Grid {
    pub(super) axes: Vec<GridAxis>,
    /// By statistic, then local row.
    pub(super) stats: Vec<Vec<i64>>,
}

pub(super) struct GridAxis {
    /// By local row: its block.
    pub(super) code: Vec<u8>,
    /// By block: its last rank. The cut after it is a boundary.
    pub(super) last: Vec<u32>,
    /// By block: whether there is a cut within.
    pub(super) open: Vec<bool>,
}

impl<'a> SquaresKernel<'a> {
    pub fn new(task: &'a Squares, leaf_cost: Cost, blocks: Option<usize>) -> Self {
        SquaresKernel { task, leaf_cost, blocks }
    }

    pub(super) fn outputs(&self) -> usize {
        self.task.n_outputs()
    }

    /// Statistics of a row.
    pub(super) fn width(&self) -> usize {
        self.task.width()
    }

    /// Rows with these statistics as one leaf, without its penalty.
    pub(super) fn cost(&self, stats: &[i64]) -> Cost {
        self.task.leaf(stats).cost
    }

    pub(super) fn most_blocks(&self, node: &RankNode) -> usize {
        self.blocks.unwrap_or(match node.len() {
            ..200 => 8,
            200..2000 => 16,
            _ => 32,
        })
    }

    /// What floats and rounded gains of rows with this much q may be off by, for two leaves. A gain is off by
    /// a few roundings for each output, q by one.
    pub(super) fn margin(&self, q: Cost) -> f64 {
        let m = self.outputs() as f64;
        2.0 * m + 2.0 + (16.0 + m) * f64::EPSILON * q as f64
    }
}

impl GridAxis {
    /// Blocks of about as many rows each.
    pub(super) fn of(node: &RankNode, axis: usize, most: usize) -> Self {
        let axis = &node.axes[axis];
        let (n, ranks) = (node.len(), axis.n_ranks());
        let mut grid = GridAxis { code: vec![0; n], last: Vec::new(), open: Vec::new() };
        let mut start = 0;
        for block in 1..=most {
            if start == ranks {
                break;
            }
            let share = n * block / most;
            let end = axis.ends.partition_point(|&end| (end as usize) < share).max(start);
            let end = if block == most { ranks - 1 } else { end.min(ranks - 1) };
            grid.last.push(end as u32);
            grid.open.push(end > start);
            let from = if start == 0 { 0 } else { axis.ends[start - 1] as usize };
            for &row in &axis.order[from..axis.ends[end] as usize] {
                grid.code[row as usize] = grid.last.len() as u8 - 1;
            }
            start = end + 1;
        }
        grid
    }

    pub(super) fn n(&self) -> usize {
        self.last.len()
    }

    /// The cut at a boundary: 0 has nothing left of it.
    pub(super) fn cut(&self, boundary: usize) -> i64 {
        if boundary == 0 { -1 } else { i64::from(self.last[boundary - 1]) }
    }
}

impl Grid {
    pub(super) fn bytes(&self) -> usize {
        let axis = |axis: &GridAxis| axis.code.capacity() + 5 * axis.last.capacity();
        self.axes.iter().map(axis).sum::<usize>()
            + self.stats.iter().map(|stats| 8 * stats.capacity()).sum::<usize>()
    }
}
