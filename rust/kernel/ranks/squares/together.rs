//! Some neighbouring cuts of one axis, looked at together: bounds on the stumps beside each of
//! them, along any other axis.
//!
//! The cuts stand in lanes. A row is added to the lanes whose cut it is left of, so that its rank
//! is compared with 16 cuts at once, and what leaves cost is a few operations for 16 cuts. Along
//! the other axis rows are taken in by its blocks first, which bounds the stumps in each
//! (`bounds::blocks`), and one by one in blocks that may hold one that is cheap enough. Numbers are
//! rounded (`units.rs`): these are bounds, and trees are found elsewhere.

use super::scan::Line;
use super::units::Units;
use crate::bounds::blocks;
use crate::kernel::ranks::blocks::GridAxis;

/// Cuts that are looked at together.
pub const AT_ONCE: usize = 16;

/// Statistics of a row at most: weight, q, and the sums of two outputs.
const MOST_WIDTH: usize = 4;

pub type Lanes<T> = [T; AT_ONCE];

/// A part's rows in the order of an axis, with rounded numbers.
#[derive(Default)]
pub struct RoughLine {
    /// By statistic, then row.
    stats: Vec<Vec<i32>>,
    /// By statistic: the rows before each block of the grid, and before its end.
    blocks: Vec<Vec<i32>>,
}

/// The cuts: by lane the last rank that is left of it. Lanes without a cut of their own repeat the
/// last one.
pub struct Cuts<'a> {
    pub cuts: Lanes<u32>,
    pub ranks: &'a [u32],
    /// The rows that are left of all cuts, and then those that are left of some.
    pub of_all: &'a [u32],
    pub of_some: &'a [u32],
}

/// What is known along an axis beside the cuts.
#[derive(Default)]
pub struct Together {
    /// By block, then statistic: the rows of the block that are left of all cuts.
    base: Vec<[i32; MOST_WIDTH]>,
    /// By block, then statistic: the rows before the block that are left of each cut.
    before: Vec<[Lanes<i32>; MOST_WIDTH]>,
    /// By side: what the stumps in each block cost at least, and those between blocks.
    inside: [Vec<Lanes<f32>>; 2],
    between: [Lanes<f32>; 2],
}

impl RoughLine {
    pub fn fill(&mut self, units: &Units, line: &Line) {
        let n = line.rows.len();
        self.stats.resize_with(units.width(), Vec::new);
        self.blocks.resize_with(units.width(), Vec::new);
        for (s, (stats, blocks)) in self.stats.iter_mut().zip(&mut self.blocks).enumerate() {
            stats.clear();
            stats.extend(line.stats[s][..n].iter().map(|&x| units.rounded(s, x)));
            blocks.clear();
            let (mut sum, mut from) = (0, 0);
            for &end in &line.ends {
                sum += stats[from..end as usize].iter().sum::<i32>();
                from = end as usize;
                blocks.push(sum);
            }
        }
    }

    pub fn bytes(&self) -> usize {
        4 * self.stats.iter().chain(&self.blocks).map(Vec::capacity).sum::<usize>()
    }
}

/// Whether rows with so many statistics can be looked at so.
pub fn takes(width: usize) -> bool {
    width <= MOST_WIDTH
}

impl Together {
    pub fn bytes(&self) -> usize {
        let inside = self.inside.iter().map(Vec::capacity).sum::<usize>();
        4 * MOST_WIDTH * (self.base.capacity() + AT_ONCE * self.before.capacity())
            + 4 * AT_ONCE * inside
    }

    pub fn bytes_for(blocks: usize) -> usize {
        4 * (blocks + 1) * (MOST_WIDTH * (1 + AT_ONCE) + 2 * AT_ONCE)
    }

    /// Bound the stumps along an axis by its blocks. `of_cuts`: along the axis of the cuts.
    #[inline(always)]
    pub fn by_block(
        &mut self,
        units: &Units,
        cuts: &Cuts,
        of_cuts: &RoughLine,
        (grid, rough): (&GridAxis, &RoughLine),
    ) {
        match units.width() {
            3 => self.bound::<3>(units, cuts, of_cuts, (grid, rough)),
            _ => self.bound::<4>(units, cuts, of_cuts, (grid, rough)),
        }
    }

    #[inline(always)]
    fn bound<const W: usize>(
        &mut self,
        units: &Units,
        cuts: &Cuts,
        of_cuts: &RoughLine,
        (grid, rough): (&GridAxis, &RoughLine),
    ) {
        let n = grid.n();
        let Together { base, before, inside, between } = self;
        base.clear();
        base.resize(n + 1, [0; MOST_WIDTH]);
        before.clear();
        before.resize(n + 1, [[0; AT_ONCE]; MOST_WIDTH]);
        let (of_all, of_some) = (cuts.of_all.len(), cuts.of_some.len());
        let stats: [&[i32]; W] = std::array::from_fn(|s| &of_cuts.stats[s][..of_all + of_some]);
        let mut sums = [0; W];
        for (at, &row) in cuts.of_all.iter().enumerate() {
            let base = &mut base[usize::from(grid.code[row as usize])];
            for s in 0..W {
                base[s] += stats[s][at];
                sums[s] += stats[s][at];
            }
        }
        let mut totals = sums.map(|sum| [sum; AT_ONCE]);
        for (at, &row) in cuts.of_some.iter().enumerate() {
            let before = &mut before[usize::from(grid.code[row as usize])];
            let rank = cuts.ranks[row as usize];
            let mut is_left = [0; AT_ONCE];
            for l in 0..AT_ONCE {
                is_left[l] = -i32::from(rank <= cuts.cuts[l]);
            }
            for s in 0..W {
                let x = stats[s][of_all + at];
                for l in 0..AT_ONCE {
                    before[s][l] += x & is_left[l];
                }
                for l in 0..AT_ONCE {
                    totals[s][l] += x & is_left[l];
                }
            }
        }
        let all: [[Lanes<i32>; W]; 2] =
            std::array::from_fn(|side| sides(side, &totals, |s| rough.blocks[s][n]));
        for side in 0..2 {
            inside[side].resize(n, [0.0; AT_ONCE]);
            between[side] = [f32::INFINITY; AT_ONCE];
        }
        let mut sum = [[0; AT_ONCE]; W];
        let mut ahead = [[0.0; AT_ONCE]; 2];
        for block in 0..=n {
            for s in 0..W {
                let (own, base) = (&mut before[block][s], base[block][s]);
                let in_block = std::mem::replace(own, sum[s]);
                for l in 0..AT_ONCE {
                    sum[s][l] += in_block[l] + base;
                }
            }
            for side in 0..2 {
                let own = sides(side, &before[block], |s| rough.blocks[s][block]);
                let now: Lanes<f32> = leaf::<W>(units, &own);
                let behind = leaf(units, &difference(&all[side], &own));
                if block > 0 {
                    // Where there is no cut in a block, nothing is looked for.
                    let closed = if grid.open[block - 1] { 0.0 } else { f32::INFINITY };
                    let inside = &mut inside[side][block - 1];
                    for l in 0..AT_ONCE {
                        inside[l] = blocks::at_least(ahead[side][l], behind[l]) + closed;
                    }
                }
                if block > 0 && block < n {
                    for l in 0..AT_ONCE {
                        let cost = now[l] + behind[l];
                        let least = &mut between[side][l];
                        *least = if cost < *least { cost } else { *least };
                    }
                }
                ahead[side] = now;
            }
        }
    }

    /// What the rows on a side cost as one leaf.
    pub fn leaf(&self, units: &Units, side: usize, rough: &RoughLine) -> Lanes<f32> {
        let n = self.before.len() - 1;
        let all = |s: usize| rough.blocks[s][n];
        match units.width() {
            3 => leaf::<3>(units, &sides(side, &self.before[n], all)),
            _ => leaf::<4>(units, &sides(side, &self.before[n], all)),
        }
    }

    /// What stumps along the axis cost at least on a side.
    pub fn least(&self, side: usize) -> Lanes<f32> {
        let mut least = self.between[side];
        for lanes in &self.inside[side] {
            for l in 0..AT_ONCE {
                least[l] = if lanes[l] < least[l] { lanes[l] } else { least[l] };
            }
        }
        least
    }

    /// Look closely at blocks where stumps may cost less than what is asked, by side and lane.
    #[inline(always)]
    pub fn closely(
        &mut self,
        units: &Units,
        cuts: &Cuts,
        (line, rough): (&Line, &RoughLine),
        asked: &[Lanes<f32>; 2],
    ) {
        match units.width() {
            3 => self.look::<3>(units, cuts, (line, rough), asked),
            _ => self.look::<4>(units, cuts, (line, rough), asked),
        }
    }

    #[inline(always)]
    fn look<const W: usize>(
        &mut self,
        units: &Units,
        cuts: &Cuts,
        (line, rough): (&Line, &RoughLine),
        asked: &[Lanes<f32>; 2],
    ) {
        let n = self.inside[0].len();
        let all: [[Lanes<i32>; W]; 2] =
            std::array::from_fn(|side| sides(side, &self.before[n], |s| rough.blocks[s][n]));
        for block in 0..n {
            let is_open = |side: usize| {
                let (inside, asked) = (&self.inside[side][block], &asked[side]);
                (0..AT_ONCE).map(|l| i32::from(inside[l] < asked[l])).sum::<i32>() > 0
            };
            let open = [is_open(0), is_open(1)];
            if open == [false; 2] {
                continue;
            }
            let mut least = [[f32::INFINITY; AT_ONCE]; 2];
            let mut left: [Lanes<i32>; W] = std::array::from_fn(|s| self.before[block][s]);
            let mut both: [i32; W] = std::array::from_fn(|s| rough.blocks[s][block]);
            let (from, to) = (line.ends[block] as usize, line.ends[block + 1] as usize);
            for at in from..to {
                let rank = cuts.ranks[line.rows[at] as usize];
                for s in 0..W {
                    let x = rough.stats[s][at];
                    both[s] += x;
                    for l in 0..AT_ONCE {
                        left[s][l] += if rank <= cuts.cuts[l] { x } else { 0 };
                    }
                }
                // The cut behind the last row is between blocks.
                if at + 1 == to || line.behind[at] != 0.0 {
                    continue;
                }
                for side in (0..2).filter(|&side| open[side]) {
                    let own = sides(side, &left, |s| both[s]);
                    let (a, b) = (leaf(units, &own), leaf(units, &difference(&all[side], &own)));
                    for l in 0..AT_ONCE {
                        let cost = a[l] + b[l];
                        let least = &mut least[side][l];
                        *least = if cost < *least { cost } else { *least };
                    }
                }
            }
            for side in (0..2).filter(|&side| open[side]) {
                let inside = &mut self.inside[side][block];
                for l in 0..AT_ONCE {
                    inside[l] = if least[side][l] > inside[l] { least[side][l] } else { inside[l] };
                }
            }
        }
    }
}

/// The statistics of rows on a side of each cut, from those of the rows to its left and of all.
#[inline(always)]
fn sides<const W: usize>(
    side: usize,
    left: &[Lanes<i32>],
    all: impl Fn(usize) -> i32,
) -> [Lanes<i32>; W] {
    let mut own = [[0; AT_ONCE]; W];
    for s in 0..W {
        let all = all(s);
        for l in 0..AT_ONCE {
            own[s][l] = if side == 0 { left[s][l] } else { all - left[s][l] };
        }
    }
    own
}

#[inline(always)]
fn difference<const W: usize>(all: &[Lanes<i32>; W], own: &[Lanes<i32>; W]) -> [Lanes<i32>; W] {
    let mut rest = *all;
    for s in 0..W {
        for l in 0..AT_ONCE {
            rest[s][l] -= own[s][l];
        }
    }
    rest
}

/// What rows with these statistics cost as one leaf.
#[inline(always)]
pub fn leaf<const W: usize>(units: &Units, stats: &[Lanes<i32>; W]) -> Lanes<f32> {
    let mut squares = [0.0; AT_ONCE];
    for o in 0..W - 2 {
        let factor = units.factors[o];
        for l in 0..AT_ONCE {
            let sum = stats[o + 1][l] as f32;
            squares[l] += sum * sum * factor;
        }
    }
    let mut cost = [0.0; AT_ONCE];
    for l in 0..AT_ONCE {
        cost[l] = stats[W - 1][l] as f32 - squares[l] / stats[0][l].max(1) as f32;
    }
    cost
}
