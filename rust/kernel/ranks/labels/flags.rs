//! Axes of one cut, such as Boolean columns, counted with another axis all at once, for two labels:
//! which of them a row has is a word of bits, and its gain is added to 32 of them as one vector.

use super::grid::{Grid, GridAxis};
use super::pairs::{Lanes, Sums};
use super::rows::PartRows;
use super::unit::{LANES, Unit};
use crate::bits::Level;
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
        level.run(
            #[inline(always)]
            || self.add(rows, grid),
        );
    }

    #[inline(always)]
    fn add(&mut self, rows: &PartRows<T>, grid: &Grid<T>) {
        let Flags { groups, words, starts, all, upper, .. } = self;
        // What is counted with missing values highest is turned where they are lowest.
        let counted = |of: &GridAxis<T>| of.missing != Some(Missing::Lowest);
        for (axis, of) in grid.axes.iter().enumerate().filter(|(_, of)| counted(of)) {
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

    /// What `count` needs for axes of `most` blocks, at most.
    pub fn bytes_for(axes: usize, flags: usize, rows: usize, most: usize) -> usize {
        if flags < FEW {
            return 0;
        }
        let groups = flags.div_ceil(LANES);
        4 * groups * rows + 2 * axes * most * (1 + groups * LANES) * size_of::<T>()
    }

    pub fn bytes(&self) -> usize {
        16 * self.flag.capacity()
            + 8 * self.starts.capacity()
            + 4 * self.words.capacity()
            + self.all.capacity() * size_of::<T>()
            + self.upper.capacity() * size_of::<Lanes<T>>()
    }
}
