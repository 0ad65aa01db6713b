//! All cuts of one axis, for the rows on both sides of a cut of another.
//!
//! Gains are computed in floats, a few cuts at a time, and only those that may beat what is known
//! are computed again in integers, which decide (as in `kernel/squares.rs`, where the limit is
//! explained).

use super::kernel::{LANES, SquaresKernel};
use crate::bits::Level;
use crate::bounds::blocks;
use crate::cost::Cost;
use crate::kernel::ranks::blocks::Grid;
use crate::tree::Plan;
use crate::view::{Axis, Part, RankNode};

/// Cuts at a time.
const CUTS: usize = 16;

/// A part's rows in the order of one axis. Lists are filled up, so that whole vectors can be taken
/// from them.
#[derive(Default)]
pub struct Line {
    pub rows: Vec<u32>,
    /// By row: 0 if the next one has a higher rank, so that there is a cut behind it; else −∞.
    pub behind: Vec<f64>,
    /// By statistic, then row; and added up before each few rows.
    pub stats: Vec<Vec<i64>>,
    starts: Vec<Vec<i64>>,
    /// Where each block of the grid begins, and where the last one ends; by statistic, what is
    /// before.
    pub ends: Vec<u32>,
    pub all: Vec<Vec<i64>>,
    pub totals: Vec<i64>,
    pub filled: bool,
}

/// The best stump found for one side of a cut.
#[derive(Clone)]
pub struct Side {
    /// Statistics of its rows.
    totals: Vec<i64>,
    /// The cost of the best tree found if it is below what is needed, else what is needed.
    pub cost: Cost,
    /// Whether `cost` is one of a tree.
    pub found: bool,
    /// The axis of its split and the last row to its left; `None`: a leaf.
    split: Option<(usize, u32)>,
    /// What a float gain must be above to be looked at.
    limit: f64,
    /// What a stump must cost less than, without penalties.
    stump: f64,
}

/// Blocks of a line's rows, and what the cuts in each cost at least.
#[derive(Default)]
pub struct Blocks {
    n: usize,
    /// By statistic: sums of the rows left of another axis's cut that are before each block, and of
    /// all of them. Filled up as those of a line.
    pub before: Vec<Vec<i64>>,
    /// By side: what rows before each block cost, and those from it on.
    costs: [[Vec<f64>; 2]; 2],
    /// By side and block: what a stump costs at least.
    least: [Vec<f64>; 2],
}

#[derive(Default)]
pub struct Scratch {
    /// By axis: the blocks of the grid.
    pub coarse: Vec<Blocks>,
    /// A few rows of one of them at a time, and which of the rows are left: all bits if so, else
    /// none.
    fine: Blocks,
    left: Vec<i64>,
    sums: Vec<[[i64; CUTS]; 2]>,
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
        self.behind.extend((0..n).map(|at| match at + 1 < n && rank(at) < rank(at + 1) {
            true => 0.0,
            false => f64::NEG_INFINITY,
        }));
        let padded = n.next_multiple_of(CUTS);
        self.behind.resize(padded, f64::NEG_INFINITY);
        self.stats.resize_with(grid.stats.len(), Vec::new);
        self.starts.resize_with(grid.stats.len(), Vec::new);
        self.totals.clear();
        for ((of, stats), starts) in grid.stats.iter().zip(&mut self.stats).zip(&mut self.starts) {
            stats.clear();
            stats.extend(self.rows.iter().map(|&row| of[row as usize]));
            stats.resize(padded, 0);
            starts.clear();
            let mut sum = 0;
            starts.push(sum);
            for block in stats.chunks(CUTS) {
                sum += block.iter().sum::<i64>();
                starts.push(sum);
            }
            starts.resize(starts.len() + LANES, sum);
            self.totals.push(sum);
        }
        self.filled = true;
        let (blocks, code) = (grid.axes[g].n(), &grid.axes[g].code);
        let begin =
            |block: usize| self.rows.partition_point(|&row| (code[row as usize] as usize) < block);
        let ends: Vec<u32> = (0..=blocks).map(|block| begin(block) as u32).collect();
        self.divide(ends);
    }

    /// The blocks of the grid, by where they begin and end.
    pub fn divide(&mut self, ends: Vec<u32>) {
        let mut all = vec![Vec::with_capacity(ends.len() + LANES); self.stats.len()];
        for &end in &ends {
            for (all, sum) in all.iter_mut().zip(self.first(end as usize)) {
                all.push(sum);
            }
        }
        all.iter_mut().for_each(|all| all.resize(ends.len() + LANES, 0));
        (self.ends, self.all) = (ends, all);
    }

    /// The statistics of the first `n` rows.
    pub fn first(&self, n: usize) -> Vec<i64> {
        let block = n / CUTS;
        (self.stats.iter().zip(&self.starts))
            .map(|(stats, starts)| starts[block] + stats[block * CUTS..n].iter().sum::<i64>())
            .collect()
    }

    pub fn bytes(&self) -> usize {
        let lists = self.stats.iter().chain(&self.starts).chain(&self.all);
        4 * (self.rows.capacity() + self.ends.capacity())
            + 8 * (self.behind.capacity() + self.totals.capacity())
            + lists.map(|list| 8 * list.capacity()).sum::<usize>()
    }
}

impl Scratch {
    pub fn bytes(&self) -> usize {
        self.coarse.iter().map(Blocks::bytes).sum::<usize>()
            + self.fine.bytes()
            + 8 * self.left.capacity()
            + self.sums.capacity() * size_of::<[[i64; CUTS]; 2]>()
    }
}

impl Side {
    /// The best tree of rows with these statistics is sought if it costs less than `need`.
    pub fn new(kernel: &SquaresKernel, totals: &[i64], need: Cost) -> Side {
        let leaf = kernel.cost(totals) + kernel.leaf_cost;
        let mut side = Side {
            totals: totals.to_vec(),
            cost: leaf.min(need),
            found: leaf < need,
            split: None,
            limit: 0.0,
            stump: 0.0,
        };
        side.set_limit(kernel);
        side
    }

    /// A side without rows.
    pub fn none(kernel: &SquaresKernel) -> Side {
        let totals = vec![0; kernel.width()];
        Side { totals, cost: 0, found: true, split: None, limit: f64::INFINITY, stump: 0.0 }
    }

    /// A stump must gain more than this to cost less than `cost`.
    fn set_limit(&mut self, kernel: &SquaresKernel) {
        let m = kernel.outputs();
        let q = self.totals[m + 1];
        let stump = self.cost - 2 * kernel.leaf_cost;
        let gain = q - stump;
        self.stump = stump as f64;
        // Nothing gains more than q.
        self.limit = if gain >= q {
            f64::INFINITY
        } else {
            let least = (gain - 2 * m as Cost - 1) as f64;
            least - least.abs() * (8 + m) as f64 * f64::EPSILON - 1.0
        };
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

/// Bounds on the stumps along `line`, of axis `g`, by blocks of the grid: for the rows up to a cut
/// of another axis and for those behind it. `scratch.coarse` has what is before each block. Cuts
/// between blocks are taken in.
pub fn bound(
    kernel: &SquaresKernel,
    line: &Line,
    g: usize,
    sides: &mut [Side; 2],
    scratch: &mut Scratch,
) {
    Level::detect().run(
        #[inline(always)]
        || {
            let coarse = &mut scratch.coarse[g];
            coarse.bound(kernel, &line.all, 0, sides, [true; 2]);
            for (index, side) in sides.iter_mut().enumerate() {
                coarse.boundaries(kernel, line, (index, g), side);
            }
        },
    );
}

/// Take in the stumps along `line` once they are bounded; without a cut, all rows are on the first
/// side.
///
/// Block by block: the cuts in one cost at least what the rows before and those behind it cost
/// (`bounds::blocks`), and mostly that is enough. Where it is not, the same is asked of a few rows
/// at a time.
pub fn scan(
    kernel: &SquaresKernel,
    line: &Line,
    cut: Option<(&Axis, i64)>,
    g: usize,
    sides: &mut [Side; 2],
    scratch: &mut Scratch,
) {
    Level::detect().run(
        #[inline(always)]
        || {
            let Scratch { coarse, fine, left, sums } = scratch;
            let coarse = &coarse[g];
            // What must be beaten falls soonest where the bounds are least.
            let first = [0, 1].map(|side| coarse.lowest(side));
            for block in first.into_iter().chain(0..coarse.n) {
                let open = coarse.may(block, sides);
                if open == [false; 2] {
                    continue;
                }
                let start = fine.divide(line, cut, (coarse, block), left);
                fine.bound(kernel, &line.starts, start, sides, open);
                for at in 0..fine.n {
                    if fine.may(at, sides) != [false; 2] {
                        let place = (g, start, at);
                        match kernel.outputs() {
                            1 => evaluate::<1>(kernel, line, place, sides, (fine, left, sums)),
                            2 => evaluate::<2>(kernel, line, place, sides, (fine, left, sums)),
                            3 => evaluate::<3>(kernel, line, place, sides, (fine, left, sums)),
                            _ => evaluate::<0>(kernel, line, place, sides, (fine, left, sums)),
                        }
                    }
                }
            }
        },
    );
}

impl Blocks {
    /// Nothing is known of so many blocks.
    pub fn start(&mut self, n: usize, width: usize) {
        self.n = n;
        self.before.resize_with(width, Vec::new);
        for before in &mut self.before {
            before.clear();
            before.resize((n + 1).next_multiple_of(LANES), 0);
        }
    }

    /// A few rows at a time of one coarse block. Returns the first of these.
    #[inline(always)]
    fn divide(
        &mut self,
        line: &Line,
        cut: Option<(&Axis, i64)>,
        (coarse, block): (&Blocks, usize),
        left: &mut Vec<i64>,
    ) -> usize {
        let (from, to) = (line.ends[block] as usize, line.ends[block + 1] as usize);
        let (first, last) = (from / CUTS, to.div_ceil(CUTS));
        let start = first * CUTS;
        let rows = &line.rows[start..(last * CUTS).min(line.rows.len())];
        left.clear();
        left.resize(rows.len().next_multiple_of(CUTS), -1);
        if let Some((axis, cut)) = cut {
            // Ranks are below 2^32; a cut of −1 has nothing left of it.
            let below = (cut + 1) as u64;
            for (left, &row) in left.iter_mut().zip(rows) {
                *left = -i64::from(u64::from(axis.rank[row as usize]) < below);
            }
        }
        self.start(last - first, line.stats.len());
        for (s, before) in self.before.iter_mut().enumerate() {
            let stats = &line.stats[s][start..][..left.len()];
            let skipped = (0..from - start).map(|at| stats[at] & left[at]).sum::<i64>();
            let mut sum = coarse.before[s][block] - skipped;
            before[0] = sum;
            let blocks = stats.chunks_exact(CUTS).zip(left.chunks_exact(CUTS));
            for (before, (stats, left)) in before[1..].iter_mut().zip(blocks) {
                sum += stats.iter().zip(left).map(|(s, left)| s & left).sum::<i64>();
                *before = sum;
            }
        }
        first
    }

    /// What the stumps of each block cost at least on each side that is `open`, without penalties.
    /// `all`: by statistic, the sums of all rows before each block, of which the first is number
    /// `start`.
    #[inline(always)]
    fn bound(
        &mut self,
        kernel: &SquaresKernel,
        all: &[Vec<i64>],
        start: usize,
        sides: &[Side; 2],
        open: [bool; 2],
    ) {
        let m = kernel.outputs();
        let Blocks { n, least, before, costs } = self;
        for side in 0..2 {
            let (least, costs) = (&mut least[side], &mut costs[side]);
            least.clear();
            least.resize(*n, f64::INFINITY);
            if !open[side] {
                continue;
            }
            let totals = &sides[side].totals;
            costs.iter_mut().for_each(|costs| costs.resize(before[0].len(), 0.0));
            for from in (0..=*n).step_by(LANES) {
                // A statistic of the rows before each block, and of those from it on.
                let sums = |s: usize| {
                    let left = &before[s][from..][..LANES];
                    let all = &all[s][start + from..][..LANES];
                    let mut sums = [[0; LANES]; 2];
                    for l in 0..LANES {
                        let sum = if side == 0 { left[l] } else { all[l] - left[l] };
                        (sums[0][l], sums[1][l]) = (sum, totals[s] - sum);
                    }
                    sums
                };
                let mut squares = [[0.0; LANES]; 2];
                for o in 0..m {
                    let (factor, sums) = (kernel.task.factor(o), sums(o + 1));
                    for (squares, sums) in squares.iter_mut().zip(sums) {
                        for l in 0..LANES {
                            let s = sums[l] as f64;
                            squares[l] += s * s * factor;
                        }
                    }
                }
                let (w, q) = (sums(0), sums(m + 1));
                for (behind, costs) in costs.iter_mut().enumerate() {
                    let costs = &mut costs[from..][..LANES];
                    for l in 0..LANES {
                        let gain = squares[behind][l] / w[behind][l].max(1) as f64;
                        costs[l] = q[behind][l] as f64 - gain;
                    }
                }
            }
            let margin = kernel.margin(totals[m + 1]);
            let next = &costs[1][1..=*n];
            for ((least, &before), &behind) in least.iter_mut().zip(&costs[0]).zip(next) {
                *least = blocks::at_least(before, behind) - margin;
            }
        }
    }

    /// Take in the cuts between blocks of a side's rows: those before each are one leaf, those
    /// behind it the other.
    #[inline(always)]
    fn boundaries(
        &self,
        kernel: &SquaresKernel,
        line: &Line,
        (index, g): (usize, usize),
        side: &mut Side,
    ) {
        let costs = &self.costs[index];
        let cost = |block: usize| costs[0][block] + costs[1][block];
        let best = (1..self.n).reduce(|a, b| if cost(b) < cost(a) { b } else { a });
        let Some(best) = best.filter(|&best| cost(best) < side.stump) else { return };
        if let Some(&row) = line.rows[..line.ends[best] as usize].last() {
            let sum = |s: usize| match index {
                0 => self.before[s][best],
                _ => line.all[s][best] - self.before[s][best],
            };
            side.take(kernel, sum, (g, row));
        }
    }

    /// The block with the least bound on a side.
    fn lowest(&self, side: usize) -> usize {
        let least = &self.least[side];
        (1..least.len())
            .fold(0, |best, block| if least[block] < least[best] { block } else { best })
    }

    /// What every stump costs at least on a side, without penalties.
    pub fn least(&self, side: usize) -> f64 {
        self.least[side].iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// On which sides a stump of a block may be cheaper than what is known.
    #[inline(always)]
    fn may(&self, block: usize, known: &[Side; 2]) -> [bool; 2] {
        [0, 1].map(|side| self.least[side][block] < known[side].stump)
    }

    fn bytes(&self) -> usize {
        let lists = self.costs.iter().flatten().chain(&self.least);
        self.before.iter().map(|list| 8 * list.capacity()).sum::<usize>()
            + lists.map(|list| 8 * list.capacity()).sum::<usize>()
    }
}

/// Take in the stumps among a few rows: axis g, the first such few of the coarse block, and which
/// of them. `M`: the number of outputs if the compiler is to know it, else 0.
#[inline(always)]
fn evaluate<const M: usize>(
    kernel: &SquaresKernel,
    line: &Line,
    (g, start, at): (usize, usize, usize),
    sides: &mut [Side; 2],
    (fine, left, sums): (&Blocks, &[i64], &mut Vec<[[i64; CUTS]; 2]>),
) {
    let m = if M > 0 { M } else { kernel.outputs() };
    let (block, from) = (start + at, (start + at) * CUTS);
    // Sums along the block: of the left rows, and of all others.
    sums.clear();
    sums.resize(m + 1, [[0; CUTS]; 2]);
    let left = &left[at * CUTS..][..CUTS];
    for (s, sums) in sums.iter_mut().enumerate() {
        let (mut of_left, mut of_all) = (fine.before[s][at], line.starts[s][block]);
        let stats = &line.stats[s][from..][..CUTS];
        for l in 0..CUTS {
            of_left += stats[l] & left[l];
            of_all += stats[l];
            (sums[0][l], sums[1][l]) = (of_left, of_all - of_left);
        }
    }
    let behind = &line.behind[from..][..CUTS];
    for side in 0..2 {
        if fine.least[side][at] >= sides[side].stump {
            continue;
        }
        // Weights, and squared sums, on both sides of the cut.
        let (mut w, mut squares) = ([[0.0; CUTS]; 2], [[0.0; CUTS]; 2]);
        for (s, sums) in sums.iter().enumerate() {
            let total = sides[side].totals[s];
            let factor = if s > 0 { kernel.task.factor(s - 1) } else { 0.0 };
            for l in 0..CUTS {
                let a = sums[side][l];
                let (a, b) = (a as f64, (total - a) as f64);
                if s == 0 {
                    (w[0][l], w[1][l]) = (a, b);
                } else {
                    squares[0][l] += a * a * factor;
                    squares[1][l] += b * b * factor;
                }
            }
        }
        let mut gains = [f64::NEG_INFINITY; CUTS];
        let mut larger = false;
        for l in 0..CUTS {
            // An empty side is no split: it gains too little here, which does no harm.
            let (w0, w1) = (w[0][l].max(1.0), w[1][l].max(1.0));
            let gain = (squares[0][l] * w[1][l] + squares[1][l] * w[0][l]) / (w0 * w1);
            gains[l] = gain + behind[l];
            larger |= gains[l] > sides[side].limit;
        }
        if !larger {
            continue;
        }
        // Only those that may be the largest of the block.
        let most = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let close = most - most.abs() * 2.0 * (8 + m) as f64 * f64::EPSILON - 2.0 * m as f64 - 2.0;
        for l in 0..CUTS {
            if gains[l] > sides[side].limit && gains[l] >= close {
                let a = |s: usize| sums[s][side][l];
                sides[side].take(kernel, a, (g, line.rows[from + l]));
            }
        }
    }
}

impl Side {
    /// Take in a stump whose left leaf has these statistics, in integers.
    fn take(&mut self, kernel: &SquaresKernel, a: impl Fn(usize) -> i64, split: (usize, u32)) {
        let m = kernel.outputs();
        let (weight, q) = (self.totals[0], self.totals[m + 1]);
        if a(0) == 0 || a(0) == weight {
            return;
        }
        let gain: Cost = (0..m)
            .map(|o| {
                let (s, rest) = (a(o + 1), self.totals[o + 1] - a(o + 1));
                kernel.task.gain(o, s, a(0)) + kernel.task.gain(o, rest, weight - a(0))
            })
            .sum();
        let cost = q - gain + 2 * kernel.leaf_cost;
        if cost < self.cost {
            self.cost = cost;
            self.found = true;
            self.split = Some(split);
            self.set_limit(kernel);
        }
    }
}
