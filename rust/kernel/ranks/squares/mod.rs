//! Regression on ranks: trees of up to two levels by squared error.
//!
//! Reading order: [`tables`] (blocks of pairs of axes, in floats: where may a good tree be?) →
//! [`together`] (some cuts at once, in [`units`] of single precision) → [`scan`] (all cuts of one
//! axis, decided in integers) → [`two`] (which to look at, and when it is
//! enough). Sums are integers throughout (`task/squares.rs`); a float is only ever made of a
//! finished sum, and what it may be off by is taken from bounds.

mod kernel;
mod line;
mod many_cuts;
mod scan;
mod tables;
mod together;
mod two;
mod units;

pub use kernel::SquaresKernel;

use std::ops::Range;

use crate::bounds::Decisions;
use crate::cost::Cost;
use crate::kernel::look::Halt;
use crate::kernel::ranks::blocks::Grid;
use crate::kernel::ranks::rank_kernel::{Cheapest, RankKernel, share_by_gaps};
use crate::task::Task;
use crate::tree::Plan;
use crate::view::{Part, RankNode};
use scan::{Blocks, Line, Scratch, Side, bound, scan};
use together::Together;
pub use two::Two;

impl RankKernel for SquaresKernel<'_> {
    type Grid = Grid;
    type Two = Two;

    fn share(&self, short: Cost, gaps: [Cost; 2], raises: usize) -> Cost {
        share_by_gaps(short, gaps, raises)
    }

    fn leaf_cost(&self) -> Cost {
        self.leaf_cost
    }

    fn leaf(&self, rows: &[u32]) -> Cost {
        let mut sums = vec![0; self.width()];
        for &row in rows {
            for (sum, s) in sums.iter_mut().zip(self.task.stats(row as usize)) {
                *sum += s;
            }
        }
        self.cost(&sums) + self.leaf_cost
    }

    fn floor(&self, part: Part) -> Cost {
        if part.node.axes.is_empty() || self.width() == self.outputs() + 2 {
            return 0;
        }
        let of = |&row: &u32| self.task.least(part.node.rows[row as usize] as usize);
        part.rows().iter().map(of).sum()
    }

    fn stump(&self, node: &RankNode, grid: &Grid) -> (Cost, Plan) {
        let part = Part::all(node);
        let (mut line, mut scratch) = (Line::default(), Scratch::default());
        let mut whole = None;
        for g in 0..node.axes.len() {
            line.fill(part, g, grid);
            let side = whole.get_or_insert_with(|| {
                [Side::new(self, &line.totals, Cost::MAX), Side::none(self)]
            });
            // One block, before which is nothing.
            line.divide(vec![0, line.rows.len() as u32]);
            scratch.coarse.resize_with(g + 1, Blocks::default);
            let coarse = &mut scratch.coarse[g];
            coarse.start(1, self.width());
            for (before, &total) in coarse.before.iter_mut().zip(&line.totals) {
                before[1] = total;
            }
            bound(self, &line, g, side, &mut scratch);
            scan(self, &line, None, g, side, &mut scratch);
        }
        let Some([side, _]) = whole else { return (self.leaf(&node.rows), Plan::Leaf) };
        (side.cost, side.plan(node))
    }

    fn cheapest(&self, rows: &[u32], ends: &[u32], enough: Range<usize>) -> [Cheapest; 2] {
        line::cheapest(self, rows, ends, enough)
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
        let lattice = blocks * blocks.next_multiple_of(kernel::LANES);
        let grid = n * (p + 8 * width) + p * blocks * 5;
        // Codes and statistics of the rows, tables, bounds by pair of axes and by block of an axis,
        // and all lines with their sums.
        let two = n * (4 + p + 8 * width)
            + lattice * 8 * (width + 4)
            + self.pair_bytes(node).bytes()
            + p * (blocks + kernel::LANES) * 8 * (width + 6)
            + n * (p + 1) * (4 + 8 + 8 * 2 * width)
            + p * 4 * width * (n + blocks)
            + Together::bytes_for(blocks);
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
