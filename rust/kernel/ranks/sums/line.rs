//! All cuts of one axis, for the rows on both sides of a cut of another.

use super::kernel::{BATCH, Leaves, SumsKernel};
use crate::bounds::blocks;
use crate::cost::Cost;
use crate::kernel::ranks::blocks::Grid;
use crate::tree::Plan;
use crate::view::{Axis, Part, RankNode};

/// A part's rows in the order of one axis.
#[derive(Default)]
pub struct Line {
    pub rows: Vec<u32>,
    /// By row: whether the next one has a higher rank, so that there is a cut behind it.
    behind: Vec<bool>,
    /// Where each block of the grid begins, and where the last one ends; by statistic, what is
    /// before.
    pub ends: Vec<u32>,
    all: Vec<Vec<i64>>,
    pub filled: bool,
}

/// The best tree of at most one level that was found for one side of a cut.
#[derive(Clone)]
pub struct Side {
    /// Statistics of its rows.
    pub totals: Vec<i64>,
    /// The cost of the best tree found if it is below what is needed, else what is needed.
    pub cost: Cost,
    /// Whether `cost` is one of a tree.
    pub found: bool,
    /// The axis of its split and the last row to its left; `None`: a leaf.
    split: Option<(usize, u32)>,
}

/// A block of an axis with a bound on the cuts in it, on both sides of a cut of another axis.
pub struct Block {
    pub axis: usize,
    block: usize,
    /// By side: what a stump costs at least, with penalties.
    least: [Cost; 2],
    /// By statistic: the sums of the rows left of the other axis's cut that are before the block.
    before: Vec<i64>,
}

impl Line {
    /// The rows of a part along axis `g`.
    pub fn fill(&mut self, part: Part, g: usize, grid: &Grid) {
        let axis = &part.node.axes[g];
        self.rows.clear();
        self.rows.extend(axis.order.iter().copied().filter(|&row| part.holds(row)));
        let rank = |at: usize| axis.rank[self.rows[at] as usize];
        let n = self.rows.len();
        self.behind.clear();
        self.behind.extend((0..n).map(|at| at + 1 < n && rank(at) < rank(at + 1)));
        let (blocks, code) = (grid.axes[g].n(), &grid.axes[g].code);
        let begin =
            |block: usize| self.rows.partition_point(|&row| (code[row as usize] as usize) < block);
        self.ends.clear();
        self.ends.extend((0..=blocks).map(|block| begin(block) as u32));
        self.all.resize_with(grid.stats.len(), Vec::new);
        for (all, stats) in self.all.iter_mut().zip(&grid.stats) {
            all.clear();
            let (mut at, mut sum) = (0, 0);
            for &end in &self.ends {
                sum += self.rows[at..end as usize].iter().map(|&r| stats[r as usize]).sum::<i64>();
                at = end as usize;
                all.push(sum);
            }
        }
        self.filled = true;
    }

    /// The statistics of the first `n` rows.
    pub fn first(&self, n: usize, grid: &Grid) -> Vec<i64> {
        let block = self.ends.partition_point(|&end| end as usize <= n).max(1) - 1;
        let rest = &self.rows[self.ends[block] as usize..n];
        (self.all.iter().zip(&grid.stats))
            .map(|(all, stats)| {
                all[block] + rest.iter().map(|&row| stats[row as usize]).sum::<i64>()
            })
            .collect()
    }

    /// Statistics of all rows before a block.
    pub fn before(&self, statistic: usize, block: usize) -> i64 {
        self.all[statistic][block]
    }

    pub fn bytes(&self) -> usize {
        4 * (self.rows.capacity() + self.ends.capacity())
            + self.behind.capacity()
            + self.all.iter().map(|all| 8 * all.capacity()).sum::<usize>()
    }
}

impl Side {
    /// The best tree of rows with these statistics, which cost `leaf` as one, is sought if it costs
    /// less than `need`.
    pub fn new(totals: Vec<i64>, leaf: Cost, need: Cost) -> Side {
        Side { totals, cost: leaf.min(need), found: leaf < need, split: None }
    }

    /// Take in a stump along an axis, whose left side ends with this row.
    fn take(&mut self, cost: Cost, split: (usize, u32)) {
        if cost < self.cost {
            (self.cost, self.found, self.split) = (cost, true, Some(split));
        }
    }

    pub fn plan(&self, node: &RankNode) -> Plan {
        match self.split {
            None => Plan::Leaf,
            Some((axis, row)) => {
                let axis = &node.axes[axis];
                let cut = axis.cuts[axis.rank[row as usize] as usize];
                Plan::split(axis.feature, cut, Plan::Leaf, Plan::Leaf)
            }
        }
    }
}

/// Bounds on the cuts in every block of an axis. `before`: by block, then statistic, the rows left
/// of the other axis's cut that are before it; the last one has all of them. Cuts between blocks
/// are taken in.
pub fn bound(
    kernel: &SumsKernel,
    (axis, line): (usize, &Line),
    before: &[Vec<i64>],
    sides: &mut [Side; 2],
    leaves: &mut Leaves,
) -> Vec<Block> {
    let n = before.len() - 1;
    leaves.clear();
    for (block, left) in before.iter().enumerate() {
        for (index, side) in sides.iter().enumerate() {
            let own = |s: usize| match index {
                0 => left[s],
                _ => line.before(s, block) - left[s],
            };
            leaves.push((0..left.len()).map(own));
            leaves.push((0..left.len()).map(|s| side.totals[s] - own(s)));
        }
    }
    let costs = leaves.cost(kernel.task);
    let part = |block: usize, side: usize, behind: usize| costs[4 * block + 2 * side + behind];
    let two_leaves = 2 * kernel.leaf_cost;
    for (index, side) in sides.iter_mut().enumerate() {
        for block in 1..n {
            let cost = part(block, index, 0) + part(block, index, 1) + two_leaves;
            if let Some(&row) = line.rows[..line.ends[block] as usize].last() {
                side.take(cost, (axis, row));
            }
        }
    }
    let least = |block: usize, side: usize| {
        blocks::at_least(part(block, side, 0), part(block + 1, side, 1)) + two_leaves
    };
    (0..n)
        .map(|block| Block {
            axis,
            block,
            least: [least(block, 0), least(block, 1)],
            before: before[block].clone(),
        })
        .collect()
}

impl Block {
    /// The least bound of both sides that may still be below what is known.
    pub fn promise(&self, sides: &[Side; 2]) -> Option<Cost> {
        let open = |&side: &usize| self.least[side] < sides[side].cost;
        (0..2).filter(open).map(|side| self.least[side] - sides[side].cost).min()
    }

    pub fn least(&self, side: usize) -> Cost {
        self.least[side]
    }
}

/// Take in all cuts of blocks that may be better than what is known, those that promise most first.
/// `cut`: of the other axis; without one, all rows are on the first side.
pub fn scan(
    kernel: &SumsKernel,
    lines: &[Line],
    cut: Option<(&Axis, i64)>,
    grid: &Grid,
    mut blocks: Vec<Block>,
    (sides, leaves): (&mut [Side; 2], &mut Leaves),
) {
    let width = kernel.width();
    blocks.sort_by_cached_key(|block| block.promise(sides).unwrap_or(0));
    let mut blocks = blocks.iter();
    let mut places = Vec::new();
    loop {
        leaves.clear();
        places.clear();
        for block in blocks.by_ref() {
            if block.promise(sides).is_some() {
                push_cuts(&lines[block.axis], block, cut, grid, sides, leaves, &mut places);
            }
            if leaves.len(width) >= BATCH {
                break;
            }
        }
        if places.is_empty() {
            return;
        }
        let costs = leaves.cost(kernel.task);
        for (&(side, axis, row), parts) in places.iter().zip(costs.chunks_exact(2)) {
            sides[side].take(parts[0] + parts[1] + 2 * kernel.leaf_cost, (axis, row));
        }
    }
}

/// Push the leaves of all cuts in a block, for each side on which they may be better than what is
/// known.
fn push_cuts(
    line: &Line,
    block: &Block,
    cut: Option<(&Axis, i64)>,
    grid: &Grid,
    sides: &[Side; 2],
    leaves: &mut Leaves,
    places: &mut Vec<(usize, usize, u32)>,
) {
    let width = grid.stats.len();
    let mut left = block.before.clone();
    let mut all: Vec<i64> = (0..width).map(|s| line.before(s, block.block)).collect();
    let open = [0, 1].map(|side: usize| block.least[side] < sides[side].cost);
    let (from, to) = (line.ends[block.block] as usize, line.ends[block.block + 1] as usize);
    for at in from..to {
        let row = line.rows[at];
        let goes_left = cut.is_none_or(|(axis, cut)| i64::from(axis.rank[row as usize]) <= cut);
        for s in 0..width {
            let value = grid.stats[s][row as usize];
            all[s] += value;
            left[s] += if goes_left { value } else { 0 };
        }
        // The last row's cut is the boundary behind the block.
        if !line.behind[at] || at + 1 == to {
            continue;
        }
        for side in (0..2).filter(|&side| open[side]) {
            let own = |s: usize| if side == 0 { left[s] } else { all[s] - left[s] };
            leaves.push((0..width).map(own));
            leaves.push((0..width).map(|s| sides[side].totals[s] - own(s)));
            places.push((side, block.axis, row));
        }
    }
}
