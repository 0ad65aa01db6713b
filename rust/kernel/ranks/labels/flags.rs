//! Axes of one cut, such as Boolean columns, counted with another axis all at once, for two labels:
//! which of them a row has is a word of bits, and its gain is added to 32 of them as one vector.
//! Where all rows gain the same, pairs of such axes are counted by words of 64 rows.

use super::grid::{Grid, GridAxis};
use super::pairs::{Lanes, Sums, each};
use super::rows::PartRows;
use super::unit::{LANES, Unit};
use crate::bits::Level;
use crate::cost::Cost;
use crate::view::Missing;

/// From so many such axes on it takes less time than one pair after the other.
const FEW: usize = 2;

#[derive(Default)]
pub struct Flags<T> {
    /// By axis: its number among those of one cut.
    flag: Vec<Option<usize>>,
    /// How many vectors hold them.
    groups: usize,
    /// By group, then row: which of its axes the row has the upper rank of.
    words: Vec<u32>,
    /// By axis: where its label 0 begins among `all`.
    starts: Vec<usize>,
    /// By axis, label and block: the gains of its rows.
    all: Vec<T>,
    /// As above, then by group: the gains of those with the upper rank of each axis of one cut.
    upper: Vec<Lanes<T>>,
    /// By axis of one cut, and then by label: which rows have its upper rank, or the label.
    columns: Vec<u64>,
    /// By side of a cut, then group: what stumps lose.
    lost: Vec<Lanes<T>>,
}

impl<T: Unit> Flags<T> {
    /// Count every axis of the grid with all axes of one cut, if there are some.
    pub fn count(&mut self, rows: &PartRows<T>, grid: &Grid<T>, level: Level) {
        self.flag.clear();
        let mut flags = 0;
        for axis in &grid.axes {
            let is_flag = axis.n() == 2
                && axis.missing.is_none()
                && axis.open.iter().all(|&open| open == T::default());
            self.flag.push(is_flag.then_some(flags));
            flags += usize::from(is_flag);
        }
        if flags < FEW {
            self.flag.fill(None);
            return;
        }
        self.groups = flags.div_ceil(LANES);
        self.words.clear();
        self.words.resize(self.groups * rows.n, 0);
        for (axis, flag) in self.flag.iter().enumerate() {
            let Some(flag) = flag else { continue };
            let words = &mut self.words[flag / LANES * rows.n..][..rows.n];
            for (word, &code) in words.iter_mut().zip(&rows.codes[axis * rows.n..]) {
                *word |= u32::from(code) << (flag % LANES);
            }
        }
        self.starts.clear();
        let mut end = 0;
        for axis in &grid.axes {
            self.starts.push(end);
            end += 2 * axis.n();
        }
        self.all.clear();
        self.all.resize(end, T::default());
        self.upper.clear();
        self.upper.resize(end * self.groups, [T::default(); LANES]);
        let gain = rows.gain.first().copied().filter(|first| rows.gain.iter().all(|g| g == first));
        level.run(
            #[inline(always)]
            || match gain {
                Some(gain) => {
                    self.count_bits(rows, gain);
                    self.add(rows, grid, false);
                }
                None => self.add(rows, grid, true),
            },
        );
    }

    /// Count the pairs of axes of one cut, where all rows gain the same: rows are bits of words, of
    /// which those are counted that two axes and a label have in common.
    #[inline(always)]
    fn count_bits(&mut self, rows: &PartRows<T>, gain: T) {
        let axes: Vec<usize> = self.axes().collect();
        let width = rows.n.div_ceil(64);
        let bits = |has: &mut dyn FnMut(usize) -> bool, out: &mut [u64]| {
            (0..rows.n).for_each(|at| out[at / 64] |= u64::from(has(at)) << (at % 64));
        };
        self.columns.clear();
        self.columns.resize((axes.len() + 2) * width, 0);
        let (columns, labels) = self.columns.split_at_mut(axes.len() * width);
        for (column, axis) in columns.chunks_exact_mut(width).zip(&axes) {
            let codes = &rows.codes[axis * rows.n..][..rows.n];
            bits(&mut |at| codes[at] == 1, column);
        }
        for (label, of) in labels.chunks_exact_mut(width).enumerate() {
            bits(&mut |at| usize::from(rows.label[at]) == label, of);
        }
        let worth = |count: u32| T::of(Cost::from(count) * gain.cost());
        let common = |a: &[u64], b: &[u64]| -> u32 {
            a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum()
        };
        let mut both = vec![0; width];
        for (label, of) in labels.chunks_exact(width).enumerate() {
            let all: Vec<u32> = columns.chunks_exact(width).map(|g| common(of, g)).collect();
            let n: u32 = of.iter().map(|word| word.count_ones()).sum();
            for (f, column) in columns.chunks_exact(width).enumerate() {
                for ((both, a), b) in both.iter_mut().zip(of).zip(column) {
                    *both = a & b;
                }
                let cells = self.starts[axes[f]] + 2 * label;
                (self.all[cells], self.all[cells + 1]) = (worth(n - all[f]), worth(all[f]));
                let lower = cells * self.groups;
                for (g, other) in columns.chunks_exact(width).enumerate() {
                    let (group, lane) = (g / LANES, g % LANES);
                    let count = common(&both, other);
                    self.upper[lower + group][lane] = worth(all[g] - count);
                    self.upper[lower + self.groups + group][lane] = worth(count);
                }
            }
        }
    }

    /// Add up the gains of rows, also of pairs of axes of one cut if these are not counted.
    #[inline(always)]
    fn add(&mut self, rows: &PartRows<T>, grid: &Grid<T>, adds_flags: bool) {
        let Flags { flag, groups, words, starts, all, upper, .. } = self;
        // What is counted with missing values highest is turned where they are lowest.
        let counted = |of: &GridAxis<T>| of.missing != Some(Missing::Lowest);
        for (axis, of) in grid.axes.iter().enumerate().filter(|(_, of)| counted(of)) {
            if !adds_flags && flag[axis].is_some() {
                continue;
            }
            let cell =
                |label, block| starts[axis] + usize::from(label) * of.n() + usize::from(block);
            let codes = &rows.codes[axis * rows.n..][..rows.n];
            let rows_of = || codes.iter().zip(&rows.label).zip(&rows.gain);
            for ((&block, &label), &gain) in rows_of() {
                all[cell(label, block)] += gain;
            }
            for group in 0..*groups {
                let words = &words[group * rows.n..][..rows.n];
                for (((&block, &label), &gain), &word) in rows_of().zip(words) {
                    let lanes = &mut upper[cell(label, block) * *groups + group];
                    for lane in 0..LANES {
                        lanes[lane] += T::mask(word >> lane & 1 == 1) & gain;
                    }
                }
            }
        }
    }

    /// The gains of a pair of axes, as `Sums::count` has them, if one of the two has one cut.
    pub fn sum(&self, (f, g): (usize, usize), grid: &Grid<T>, sums: &mut Sums<T>) -> bool {
        let (many, flag, turned) = match (self.flag[f], self.flag[g]) {
            (_, Some(flag)) => (f, flag, false),
            (Some(flag), _) => (g, flag, true),
            _ => return false,
        };
        sums.begin((grid.axes[f].n(), grid.axes[g].n()));
        let blocks = grid.axes[many].n();
        for label in 0..2 {
            for block in 0..blocks {
                let at = self.starts[many] + label * blocks + block;
                let upper = self.upper[at * self.groups + flag / LANES][flag % LANES];
                let both = [self.all[at] - upper, upper];
                for (bit, gain) in both.into_iter().enumerate() {
                    let (lane, line) = if turned { (bit, block) } else { (block, bit) };
                    *sums.cell(label, line, lane) = gain;
                }
            }
        }
        true
    }

    /// Whether an axis is counted as one of one cut.
    pub fn holds(&self, axis: usize) -> bool {
        self.flag[axis].is_some()
    }

    /// The axes of one cut.
    fn axes(&self) -> impl Iterator<Item = usize> {
        self.flag.iter().enumerate().filter(|(_, flag)| flag.is_some()).map(|(axis, _)| axis)
    }

    /// What the best stumps lose along each axis of one cut, on both sides of the cut of axis `f`,
    /// which is one of them: given to `take` with the axis. What the sides lose as leaves.
    ///
    /// The sums are those of `pairs::stumps` for one line before the cut and one behind it, of 32
    /// axes at once.
    pub fn stumps(
        &mut self,
        f: usize,
        level: Level,
        mut take: impl FnMut(usize, [T; 2]),
    ) -> [T; 2] {
        let mut out = std::mem::take(&mut self.lost);
        out.clear();
        out.resize(2 * self.groups, [T::default(); LANES]);
        let leaves = level.run(
            #[inline(always)]
            || self.lost_beside(f, &mut out),
        );
        for (flag, axis) in self.axes().enumerate() {
            let lost = |side: usize| out[side * self.groups + flag / LANES][flag % LANES];
            take(axis, [lost(0), lost(1)]);
        }
        self.lost = out;
        leaves
    }

    #[inline(always)]
    fn lost_beside(&self, f: usize, out: &mut [Lanes<T>]) -> [T; 2] {
        let start = self.starts[f];
        [0, 1].map(|side| {
            // An axis of one cut has two blocks for each label.
            let [zeros, ones] = [start + side, start + 2 + side];
            let (zero, one) = (self.all[zeros], self.all[ones]);
            for group in 0..self.groups {
                let [zero_up, one_up] =
                    [zeros, ones].map(|cell| &self.upper[cell * self.groups + group]);
                out[side * self.groups + group] = each(|lane| {
                    let all = one - zero;
                    let low = all - (one_up[lane] - zero_up[lane]);
                    let (least, most) =
                        (low.min(all).min(T::default()), low.max(all).max(T::default()));
                    (zero + least).min(one - most)
                });
            }
            zero.min(one)
        })
    }

    /// What `count` needs for axes of `most` blocks, at most.
    pub fn bytes_for(axes: usize, flags: usize, rows: usize, most: usize) -> usize {
        if flags < FEW {
            return 0;
        }
        let groups = flags.div_ceil(LANES);
        let columns = 8 * (flags + 2) * rows.div_ceil(64);
        columns
            + 4 * groups * rows
            + 2 * (axes * most * (1 + groups * LANES) + groups * LANES) * size_of::<T>()
    }

    pub fn bytes(&self) -> usize {
        16 * self.flag.capacity()
            + 8 * self.starts.capacity()
            + 4 * self.words.capacity()
            + 8 * self.columns.capacity()
            + self.all.capacity() * size_of::<T>()
            + (self.upper.capacity() + self.lost.capacity()) * size_of::<Lanes<T>>()
    }
}
