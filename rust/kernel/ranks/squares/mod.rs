//! Regression on ranks: trees of up to two levels by squared error.
//!
//! Reading order: [`tables`] (blocks of pairs of axes, in floats: where may a good tree be?) → [`scan`] (all cuts
//! of one axis, decided in integers) → [`two`] (which to look at, and when it is enough). Sums are integers
//! throughout (`task/squares.rs`); a float is only ever made of a finished sum, and what it may be off by is
//! taken from bounds.

mod scan;
mod tables;
mod two;

use super::{Halt, RankKernel};
use crate::cost::Cost;
use crate::problem::Problem;
use crate::task::{Squares, Task};
use crate::tree::Plan;
use crate::view::{Part, RankNode};
use scan::{Blocks, Line, Scratch, Side, bound, scan};
pub use two::Two;

/// Of the root's rows, which are the points.
pub struct SquaresKernel<'a> {
    task: &'a Squares,
    leaf_cost: Cost,
    /// Blocks of an axis, if they are not chosen by the number of rows.
    blocks: Option<usize>,
}

/// A node's rows by blocks of each axis, and their statistics: weight, sums, q, and a floor if there are floors.
pub struct Grid {
    axes: Vec<GridAxis>,
    /// By statistic, then local row.
    stats: Vec<Vec<i64>>,
}

struct GridAxis {
    /// By local row: its block.
    code: Vec<u8>,
    /// By block: its last rank. The cut after it is a boundary.
    last: Vec<u32>,
    /// By block: whether there is a cut within.
    open: Vec<bool>,
}

impl<'a> SquaresKernel<'a> {
    /// `None` for other tasks.
    pub fn new(problem: &'a Problem, blocks: Option<usize>) -> Option<Self> {
        let task = problem.task.squares()?;
        Some(SquaresKernel { task, leaf_cost: problem.leaf_cost, blocks })
    }

    fn outputs(&self) -> usize {
        self.task.n_outputs()
    }

    /// Statistics of a row.
    fn width(&self) -> usize {
        self.task.width()
    }

    /// Rows with these statistics as one leaf, without its penalty.
    fn cost(&self, stats: &[i64]) -> Cost {
        self.task.leaf(stats).cost
    }

    fn most_blocks(&self, node: &RankNode) -> usize {
        self.blocks.unwrap_or(match node.len() {
            ..200 => 8,
            200..2000 => 16,
            _ => 32,
        })
    }

    /// What floats and rounded gains of rows with this much q may be off by, for two leaves. A gain is off by
    /// a few roundings for each output, q by one.
    fn margin(&self, q: Cost) -> f64 {
        let m = self.outputs() as f64;
        2.0 * m + 2.0 + (16.0 + m) * f64::EPSILON * q as f64
    }
}

impl GridAxis {
    /// Blocks of about as many rows each.
    fn of(node: &RankNode, axis: usize, most: usize) -> Self {
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

    fn n(&self) -> usize {
        self.last.len()
    }

    /// The cut at a boundary: 0 has nothing left of it.
    fn cut(&self, boundary: usize) -> i64 {
        if boundary == 0 { -1 } else { i64::from(self.last[boundary - 1]) }
    }
}

impl Grid {
    fn bytes(&self) -> usize {
        let axis = |axis: &GridAxis| axis.code.capacity() + 5 * axis.last.capacity();
        self.axes.iter().map(axis).sum::<usize>()
            + self.stats.iter().map(|stats| 8 * stats.capacity()).sum::<usize>()
    }
}

impl RankKernel for SquaresKernel<'_> {
    type Grid = Grid;
    type Two = Two;

    /// Costs hardly ever tie: halves would take many steps. What one side cannot give, the other must.
    fn share(&self, short: Cost, [own, other]: [Cost; 2], asked: usize) -> Cost {
        match asked {
            0 => {
                let share = own.max(1) as f64 / (own.max(1) as f64 + other.max(0) as f64);
                ((short as f64 * share) as Cost).clamp(1, short)
            }
            _ => short,
        }
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

    fn grid(&self, node: &RankNode) -> Grid {
        let most = self.most_blocks(node).clamp(1, 255);
        let of = |s: usize| move |&row: &u32| self.task.stats(row as usize)[s];
        Grid {
            axes: (0..node.axes.len()).map(|axis| GridAxis::of(node, axis, most)).collect(),
            stats: (0..self.width()).map(|s| node.rows.iter().map(of(s)).collect()).collect(),
        }
    }

    fn grid_bytes(&self, grid: &Grid) -> usize {
        grid.bytes()
    }

    fn bytes_for(&self, node: &RankNode) -> [usize; 2] {
        let (n, p, width) = (node.len(), node.axes.len(), self.width());
        let blocks = self.most_blocks(node) + 1;
        let lattice = blocks * blocks.next_multiple_of(tables::LANES);
        let grid = n * (p + 8 * width) + p * blocks * 5;
        // Codes and statistics of the rows, tables, bounds by pair of axes and by block of an axis, and all lines
        // with their sums.
        let two = n * (4 + p + 8 * width)
            + lattice * 8 * (width * (p * (p + 1) / 2 + 1) + 4)
            + 2 * p * p * blocks * 8
            + p * (blocks + tables::LANES) * 8 * (width + 6)
            + n * (p + 1) * (4 + 8 + 8 * 2 * width);
        [grid, two]
    }

    fn begin(&self, part: Part, grid: &Grid, two: &mut Two, halt: Halt) {
        two.begin(self, part, grid, halt);
    }

    fn raise(&self, part: Part, grid: &Grid, two: &mut Two, below: Cost, halt: Halt) {
        two.raise(self, part, grid, below, halt);
    }

    fn lower(&self, two: &Two) -> Cost {
        two.lower
    }

    fn upper(&self, two: &Two) -> Cost {
        two.upper
    }

    fn two_bytes(&self, two: &Two) -> usize {
        two.bytes()
    }

    fn plan(&self, _part: Part, _grid: &Grid, two: &mut Two) -> (Cost, Plan) {
        (two.upper, two.plan.clone())
    }
}
