//! Any additive task on ranks: trees of up to two levels by what the task says that leaves cost.
//!
//! Reading order: [`kernel`] (rows, and leaves costed many at a time) → [`tables`] (blocks of pairs
//! of axes: where may a good tree be?) → [`line`] (all cuts of one axis) → [`two`] (which to look
//! at, and when it is enough). All that the bounds need is that dividing a leaf never raises its
//! cost (`bounds::blocks`).

mod kernel;
mod line;
mod tables;
mod two;

pub use kernel::SumsKernel;

use std::ops::Range;

use crate::bounds::Decisions;
use crate::cost::Cost;
use crate::kernel::look::Halt;
use crate::kernel::ranks::blocks::Grid;
use crate::kernel::ranks::rank_kernel::{Cheapest, RankKernel, share_by_gaps};
use crate::kernel::ranks::stumps::cheapest;
use crate::tree::Plan;
use crate::view::{Part, RankNode};
use kernel::Leaves;
use two::Two;

impl RankKernel for SumsKernel<'_> {
    type Grid = Grid;
    type Two = Two;

    fn share(&self, short: Cost, gaps: [Cost; 2], raises: usize) -> Cost {
        share_by_gaps(short, gaps, raises)
    }

    fn leaf_cost(&self) -> Cost {
        self.leaf_cost
    }

    fn leaf(&self, rows: &[u32]) -> Cost {
        self.task.leaf(&self.task.sum_of(rows)).cost + self.leaf_cost
    }

    fn floor(&self, part: Part) -> Cost {
        if !self.has_floor || part.node.axes.is_empty() {
            return 0;
        }
        let least = |&row: &u32| self.task.least(part.node.rows[row as usize] as usize);
        part.rows().iter().map(least).sum()
    }

    fn stump(&self, node: &RankNode, grid: &Grid) -> (Cost, Plan) {
        two::stump(self, node, grid)
    }

    fn cheapest(&self, rows: &[u32], ends: &[u32], enough: Range<usize>) -> [Cheapest; 2] {
        let mut leaves = Leaves::default();
        let mut left = vec![0; self.width()];
        let mut right = left.clone();
        let of = |row: &u32| self.task.stats(*row as usize);
        rows.iter().for_each(|row| right.iter_mut().zip(of(row)).for_each(|(sum, s)| *sum += s));
        let mut done = 0;
        for &end in ends {
            for row in &rows[done..end as usize] {
                for ((left, right), s) in left.iter_mut().zip(&mut right).zip(of(row)) {
                    *left += s;
                    *right -= s;
                }
            }
            done = end as usize;
            leaves.push(left.iter().copied());
            leaves.push(right.iter().copied());
        }
        let both = |pair: &[Cost]| pair[0] + pair[1] + 2 * self.leaf_cost;
        let costs: Vec<Cost> = leaves.cost(self.task).chunks_exact(2).map(both).collect();
        cheapest(&costs, enough)
    }

    fn grid(&self, node: &RankNode) -> Grid {
        let stat = |s: usize, row: u32| self.task.stats(row as usize)[s];
        Grid::of(node, self.most_blocks(node), self.width(), stat)
    }

    fn grid_bytes(&self, grid: &Grid) -> usize {
        grid.bytes()
    }

    fn bytes_for(&self, node: &RankNode) -> [usize; 2] {
        let (n, p, width) = (node.len(), node.axes.len(), self.width());
        let blocks = self.most_blocks(node) + 1;
        let grid = n * (p + 8 * width) + p * blocks * 5;
        // Codes and statistics of the rows, tables, bounds by pair of axes, all lines with their
        // sums, and a batch.
        let two = n * (4 + p + 8 * width)
            + blocks * blocks * 8 * (5 * width + 4)
            + self.pair_bytes(node).bytes()
            + p * (n * 5 + blocks * 8 * (width + 1))
            + 8 * (width + 1) * (kernel::BATCH + 4 * n);
        [grid, two]
    }

    fn begin(&self, part: Part, grid: &Grid, two: &mut Two, _target: Cost, halt: Halt) {
        two.begin(self, part, grid, halt);
    }

    fn raise(&self, part: Part, grid: &Grid, two: &mut Two, target: Cost, halt: Halt) {
        two.raise(self, part, grid, target, halt);
    }

    fn decided(&self, two: &Two) -> Decisions {
        two.cuts.decided()
    }

    fn lower(&self, two: &Two) -> Cost {
        two.cuts.lower
    }

    fn upper(&self, two: &Two) -> Cost {
        two.cuts.upper
    }

    fn two_bytes(&self, two: &Two) -> usize {
        two.bytes()
    }

    fn plan(&self, _part: Part, _grid: &Grid, two: &mut Two) -> (Cost, Plan) {
        (two.cuts.upper, two.cuts.plan.clone())
    }
}
