//! All cuts of one axis, for the rows on both sides of a cut of another.
//!
//! Gains are computed in floats, a few cuts at a time, and only those that may beat what is known are computed
//! again in integers, which decide (as in `kernel/squares.rs`, where the limit is explained).

use super::{Grid, SquaresKernel};
use crate::bits::Level;
use crate::cost::Cost;
use crate::tree::Plan;
use crate::view::{Axis, Part, RankNode};

/// Cuts at a time.
const CUTS: usize = 16;

/// A part's rows in the order of one axis.
#[derive(Default)]
pub struct Line {
    pub rows: Vec<u32>,
    /// By row: 0 if the next one has a higher rank, so that there is a cut behind it; else −∞.
    behind: Vec<f64>,
    /// By statistic, then row; and added up before each block of rows.
    stats: Vec<Vec<i64>>,
    starts: Vec<Vec<i64>>,
    /// Where each block of the grid begins, and where the last one ends; by statistic, what is before.
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
    /// By statistic: sums of the rows left of another axis's cut that are before each block, and of all of them.
    pub before: Vec<Vec<i64>>,
    /// What rows before each block cost, and those from it on.
    costs: [Vec<f64>; 2],
    /// By side and block: what a stump costs at least.
    least: [Vec<f64>; 2],
}

#[derive(Default)]
pub struct Scratch {
    /// The blocks of the grid.
    pub coarse: Blocks,
    /// A few rows of one of them at a time, and which of the rows are left: all bits if so, else none.
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
        self.stats.resize_with(grid.stats.len(), Vec::new);
        self.starts.resize_with(grid.stats.len(), Vec::new);
        self.totals.clear();
        for ((of, stats), starts) in grid.stats.iter().zip(&mut self.stats).zip(&mut self.starts) {
            stats.clear();
            stats.extend(self.rows.iter().map(|&row| of[row as usize]));
            starts.clear();
            let mut sum = 0;
            starts.push(sum);
            for block in stats.chunks(CUTS) {
                sum += block.iter().sum::<i64>();
                starts.push(sum);
            }
            self.totals.push(sum);
        }
        self.filled = true;
        let (blocks, code) = (grid.axes[g].n(), &grid.axes[g].code);
        let begin =
            |block: usize| self.rows.partition_point(|&row| (code[row as usize] as usize) < block);
        let ends: Vec<u32> = (0..=blocks).map(|block| begin(block) as u32).collect();
        let of = ends.iter().map(|&end| self.first(end as usize));
        let mut all = vec![Vec::with_capacity(blocks + 1); grid.stats.len()];
        for sums in of {
            for (all, sum) in all.iter_mut().zip(sums) {
                all.push(sum);
            }
        }
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
        self.coarse.bytes()
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

/// Take in the stumps along `line`, of axis `g`, for the rows up to a cut of another axis and for those behind
/// it; without a cut, all rows are on the first side. `scratch.coarse` has what is known of the grid's blocks.
///
/// Block by block: the cuts in one cost at least what the rows before and those behind it cost (as in
/// `tables.rs`), and mostly that is enough. Where it is not, the same is asked of a few rows at a time.
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
            coarse.bound(kernel, &line.all, 0, sides);
            // What must be beaten falls soonest where the bounds are least.
            let first = [0, 1].map(|side| coarse.lowest(side));
            for block in first.into_iter().chain(0..coarse.len()) {
                if !coarse.may(block, sides) {
                    continue;
                }
                let start = fine.divide(line, cut, (coarse, block), left);
                fine.bound(kernel, &line.starts, start, sides);
                for at in 0..fine.len() {
                    if fine.may(at, sides) {
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
    fn len(&self) -> usize {
        self.least[0].len()
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
        left.resize(rows.len(), -1);
        if let Some((axis, cut)) = cut {
            // Ranks are below 2^32; a cut of −1 has nothing left of it.
            let below = (cut + 1) as u64;
            for (left, &row) in left.iter_mut().zip(rows) {
                *left = -i64::from(u64::from(axis.rank[row as usize]) < below);
            }
        }
        self.before.resize_with(line.stats.len(), Vec::new);
        for (s, before) in self.before.iter_mut().enumerate() {
            let stats = &line.stats[s][start..start + rows.len()];
            let skipped = (0..from - start).map(|at| stats[at] & left[at]).sum::<i64>();
            let mut sum = coarse.before[s][block] - skipped;
            before.clear();
            before.push(sum);
            let whole = rows.len() / CUTS * CUTS;
            for from in (0..whole).step_by(CUTS) {
                let (stats, left) = (&stats[from..from + CUTS], &left[from..from + CUTS]);
                for l in 0..CUTS {
                    sum += stats[l] & left[l];
                }
                before.push(sum);
            }
            if whole < rows.len() {
                for at in whole..rows.len() {
                    sum += stats[at] & left[at];
                }
                before.push(sum);
            }
        }
        first
    }

    /// What the stumps of each block cost at least on each side, without penalties. `all`: by statistic, the
    /// sums of all rows before each block, of which the first is number `start`.
    #[inline(always)]
    fn bound(&mut self, kernel: &SquaresKernel, all: &[Vec<i64>], start: usize, sides: &[Side; 2]) {
        let m = kernel.outputs();
        let Blocks { least, before, costs } = self;
        let n = before[0].len() - 1;
        for side in 0..2 {
            let margin = kernel.margin(sides[side].totals[m + 1]);
            // Of the rows before each block, and of those from it on.
            for (behind, costs) in costs.iter_mut().enumerate() {
                costs.clear();
                costs.resize(n + 1, 0.0);
                let of = |s: usize| {
                    (&before[s][..=n], &all[s][start..=start + n], sides[side].totals[s])
                };
                let sum = |(left, all): (i64, i64), total: i64| {
                    let sum = if side == 0 { left } else { all - left };
                    if behind == 1 { total - sum } else { sum }
                };
                for o in 0..m {
                    let (left, all, total) = of(o + 1);
                    let factor = kernel.task.factor(o);
                    for block in 0..=n {
                        let s = sum((left[block], all[block]), total) as f64;
                        costs[block] += s * s * factor;
                    }
                }
                let ((left, all, total), (q_left, q_all, q_total)) = (of(0), of(m + 1));
                for block in 0..=n {
                    let weight = sum((left[block], all[block]), total).max(1) as f64;
                    let q = sum((q_left[block], q_all[block]), q_total) as f64;
                    costs[block] = q - costs[block] / weight;
                }
            }
            let least = &mut least[side];
            least.clear();
            least.resize(n, 0.0);
            for block in 0..n {
                least[block] = costs[0][block] + costs[1][block + 1] - margin;
            }
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

    /// Whether a stump of a block may be cheaper than what is known.
    #[inline(always)]
    fn may(&self, block: usize, known: &[Side; 2]) -> bool {
        self.least[0][block] < known[0].stump || self.least[1][block] < known[1].stump
    }

    fn bytes(&self) -> usize {
        let lists = self.costs.iter().chain(&self.least);
        self.before.iter().map(|list| 8 * list.capacity()).sum::<usize>()
            + lists.map(|list| 8 * list.capacity()).sum::<usize>()
    }
}

/// Take in the stumps among a few rows: axis g, the first such few of the coarse block, and which of them. `M`:
/// the number of outputs if the compiler is to know it, else 0.
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
    let some = CUTS.min(line.rows.len() - from);
    // Sums along the block: of the left rows, and of all.
    sums.clear();
    sums.resize(m + 1, [[0; CUTS]; 2]);
    for s in 0..=m {
        let (mut of_left, mut of_all) = (fine.before[s][at], line.starts[s][block]);
        for l in 0..some {
            let stat = line.stats[s][from + l];
            of_left += stat & left[at * CUTS + l];
            of_all += stat;
            (sums[s][0][l], sums[s][1][l]) = (of_left, of_all - of_left);
        }
    }
    for side in 0..2 {
        if fine.least[side][at] >= sides[side].stump {
            continue;
        }
        // Weights, and squared sums, on both sides of the cut.
        let (mut w, mut squares) = ([[0.0; CUTS]; 2], [[0.0; CUTS]; 2]);
        for s in 0..=m {
            let total = sides[side].totals[s];
            let factor = if s > 0 { kernel.task.factor(s - 1) } else { 0.0 };
            for l in 0..CUTS {
                let a = sums[s][side][l];
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
        for l in 0..some {
            // An empty side is no split: it gains too little here, which does no harm.
            let (w0, w1) = (w[0][l].max(1.0), w[1][l].max(1.0));
            let gain = (squares[0][l] * w[1][l] + squares[1][l] * w[0][l]) / (w0 * w1);
            gains[l] = gain + line.behind[from + l];
        }
        // Only those that may be the largest of the block.
        let most = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let close = most - most.abs() * 2.0 * (8 + m) as f64 * f64::EPSILON - 2.0 * m as f64 - 2.0;
        for l in 0..some {
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
