//! Pairs of axes, counted by blocks: bounds on the stumps on both sides of every boundary of one
//! axis. Here for two labels; `many.rs` has the same for any number.
//!
//! Statement: a cut of axis g within a block costs no less than the rows before the block as one
//! leaf and the rows behind it as another. Proof: dropping rows from a leaf never makes it cost
//! more. At a boundary between blocks the same sum, with nothing dropped, is exact.

use super::grid::Grid;
use super::rows::PartRows;
use super::unit::{LANES, Unit};

/// The gains of one pair of axes: by label, by block of the one axis (lines), and added up over the
/// blocks before each boundary of the other (lanes).
#[derive(Default)]
pub struct Sums<T> {
    /// By label, then line, then lane.
    pub cells: Vec<T>,
    pub lines: usize,
    /// Lanes, padded.
    pub width: usize,
    /// The lane of all rows.
    pub all: usize,
    /// Whether lanes are added up already.
    is_added: bool,
}

impl<T: Unit> Sums<T> {
    /// These gains with missing values in the first block of the lanes' axis, instead of one of
    /// their own behind all others.
    pub fn turn(&mut self, highest: &Sums<T>) {
        debug_assert!(!highest.is_added, "missing values are moved from cell to cell");
        (self.lines, self.width, self.all) = (highest.lines, highest.width, highest.all - 1);
        self.is_added = false;
        self.cells.clear();
        self.cells.extend_from_slice(&highest.cells);
        for line in self.cells.chunks_exact_mut(self.width) {
            let missing = std::mem::take(&mut line[highest.all]);
            line[1] += missing;
        }
    }

    /// This pair with its axes exchanged, as long as nothing is added up.
    pub fn exchange(&self, out: &mut Sums<T>) {
        debug_assert!(!self.is_added, "cells are exchanged one by one");
        out.begin((self.lines, self.all));
        let lines = self.cells.chunks_exact(self.width).enumerate();
        for (at, line) in lines {
            let (label, block) = (at / self.lines, at % self.lines);
            for (lane, &cell) in line[1..=self.all].iter().enumerate() {
                *out.cell(label, lane, block) = cell;
            }
        }
    }

    /// Nothing is counted of so many blocks in lanes and lines.
    pub fn begin(&mut self, (lanes, lines): (usize, usize)) {
        let width = (lanes + 1).next_multiple_of(LANES);
        (self.lines, self.width, self.all) = (lines, width, lanes);
        self.is_added = false;
        self.cells.clear();
        self.cells.resize(2 * lines * width, T::default());
    }

    /// As above, for cells that are all written, with lanes added up.
    pub fn begin_added(&mut self, (lanes, lines): (usize, usize)) {
        let width = (lanes + 1).next_multiple_of(LANES);
        (self.lines, self.width, self.all) = (lines, width, lanes);
        self.is_added = true;
        self.cells.resize(2 * lines * width, T::default());
    }

    /// Where the gains of a label are counted, of a block in lines and one in lanes.
    #[inline(always)]
    pub fn cell(&mut self, label: usize, line: usize, lane: usize) -> &mut T {
        &mut self.cells[(label * self.lines + line) * self.width + lane + 1]
    }

    /// Gains by block: of lane axis `f` and line axis `g`. A block is counted in the lane of the
    /// boundary behind it; `stumps` adds them up.
    pub fn count(&mut self, rows: &PartRows<T>, (f, g): (usize, usize), grid: &Grid<T>) {
        let lines = grid.axes[g].n();
        self.begin((grid.axes[f].n(), lines));
        let (n, width, cells) = (rows.n, self.width, &mut self.cells[..]);
        let (a, b) = (&rows.codes[f * n..][..n], &rows.codes[g * n..][..n]);
        let rows = a.iter().zip(b).zip(&rows.label).zip(&rows.gain);
        for (((&a, &b), &label), &gain) in rows {
            let line = usize::from(label) * lines + usize::from(b);
            cells[line * width + usize::from(a) + 1] += gain;
        }
    }
}

/// Split costs by lane: at boundaries (`upper`), and bounds with the cuts between them (`lower`).
#[derive(Default)]
pub struct Stumps<T> {
    pub lower: [Vec<T>; 2],
    pub upper: [Vec<T>; 2],
    /// As one leaf.
    pub leaf: [Vec<T>; 2],
}

impl<T: Unit> Stumps<T> {
    fn resize(&mut self, width: usize) {
        for side in 0..2 {
            for lanes in [&mut self.lower[side], &mut self.upper[side], &mut self.leaf[side]] {
                lanes.resize(width, T::default());
            }
        }
    }
}

impl<T: Unit> Stumps<T> {
    /// No pair is taken yet.
    pub fn begin_least(&mut self, width: usize) {
        self.begin(width);
        self.leaf.iter_mut().for_each(Vec::clear);
    }

    /// Nothing is known of any lane.
    pub fn begin(&mut self, width: usize) {
        self.resize(width);
        for side in 0..2 {
            self.lower[side].fill(T::MAX);
            self.upper[side].fill(T::MAX);
        }
    }

    /// Whether a pair was taken since it was begun.
    pub fn is_known(&self) -> bool {
        !self.leaf[0].is_empty()
    }

    /// Take the better stumps of these and those of another pair, beside the same boundaries.
    pub fn take_least(&mut self, other: &Stumps<T>) {
        for side in 0..2 {
            let pairs = [(&mut self.lower, &other.lower), (&mut self.upper, &other.upper)];
            for (known, more) in pairs {
                for (known, &more) in known[side].iter_mut().zip(&more[side]) {
                    *known = more.min(*known);
                }
            }
            if self.leaf[side].is_empty() {
                self.leaf[side].extend_from_slice(&other.leaf[side]);
            }
        }
    }

    /// Splits at some of the places along the lines' axis, and between them.
    #[inline(always)]
    pub fn take(&mut self, side: usize, lane: usize, upper: T, within: T) {
        let (low, high) = (&mut self.lower[side][lane], &mut self.upper[side][lane]);
        *high = upper.min(*high);
        *low = within.min(*low).min(*high);
    }

    /// A lane with the same rows as the one before.
    #[inline(always)]
    pub fn repeat(&mut self, lane: usize) {
        for side in 0..2 {
            for lanes in [&mut self.lower[side], &mut self.upper[side], &mut self.leaf[side]] {
                lanes[lane] = lanes[lane - 1];
            }
        }
    }
}

impl<T> Stumps<T> {
    pub fn bytes(&self) -> usize {
        let all = self.lower.iter().chain(&self.upper).chain(&self.leaf);
        all.map(|lanes| lanes.capacity() * size_of::<T>()).sum()
    }
}

pub type Lanes<T> = [T; LANES];

#[inline(always)]
pub fn lanes<T: Unit>(of: &[T], at: usize) -> &Lanes<T> {
    of[at..at + LANES].try_into().expect("whole groups of lanes")
}

#[inline(always)]
pub fn each<T: Unit>(f: impl Fn(usize) -> T) -> Lanes<T> {
    let mut out = [T::default(); LANES];
    for lane in 0..LANES {
        out[lane] = f(lane);
    }
    out
}

/// Both sides' stumps along the axis of the lines, for every lane. `open`: lines with cuts within.
/// `known`: the lines before the one of missing values, if these may stand before all others, too.
#[inline(always)]
pub fn stumps<T: Unit>(
    sums: &mut Sums<T>,
    (open, known): (&[T], Option<usize>),
    out: &mut Stumps<T>,
) {
    out.resize(sums.width);
    if !std::mem::replace(&mut sums.is_added, true) {
        add_up(&mut sums.cells, sums.width);
    }
    for from in (0..sums.width).step_by(LANES) {
        of_two(sums, (open, known), out, from);
    }
}

/// Sums along each line of lanes, in place. One by one: shifts between lanes go through memory
/// where the compiler does not see them as shuffles, and then take longer.
#[inline(always)]
fn add_up<T: Unit>(cells: &mut [T], width: usize) {
    for line in cells.chunks_exact_mut(width) {
        let mut before = T::default();
        for cell in line {
            before += *cell;
            *cell = before;
        }
    }
}

#[inline(always)]
fn of_two<T: Unit>(
    sums: &Sums<T>,
    (open, known): (&[T], Option<usize>),
    out: &mut Stumps<T>,
    from: usize,
) {
    for side in 0..2 {
        // One side after the other, so that all of a walk stays in registers.
        let mut walk = Walk::new();
        for line in 0..known.unwrap_or(sums.lines) {
            let [zero, one] = gains(sums, (line, side), from);
            walk.step(&zero, &one, open[line]);
        }
        if let Some(missing) = known {
            let [zero, one] = gains(sums, (missing, side), from);
            walk.put_missing(&zero, &one);
        }
        let Walk { sum, ones, least, most, within_least, within_most } = walk;
        let zeros: Lanes<T> = each(|l| ones[l] - sum[l]);
        let upper: Lanes<T> = each(|l| (zeros[l] + least[l]).min(ones[l] - most[l]));
        let within: Lanes<T> = each(|l| (zeros[l] + within_least[l]).min(ones[l] - within_most[l]));
        let to = from..from + LANES;
        out.upper[side][to.clone()].copy_from_slice(&upper);
        out.lower[side][to.clone()].copy_from_slice(&each(|l| upper[l].min(within[l])));
        out.leaf[side][to].copy_from_slice(&each(|l| zeros[l].min(ones[l])));
    }
}

/// What either label gains in a line on one side, by lane.
#[inline(always)]
fn gains<T: Unit>(sums: &Sums<T>, (line, side): (usize, usize), from: usize) -> [Lanes<T>; 2] {
    let at = [line * sums.width, (sums.lines + line) * sums.width];
    let (zero, one) = (lanes(&sums.cells, at[0] + from), lanes(&sums.cells, at[1] + from));
    if side == 0 {
        return [*zero, *one];
    }
    let (all_zero, all_one) = (sums.cells[at[0] + sums.all], sums.cells[at[1] + sums.all]);
    [each(|l| all_zero - zero[l]), each(|l| all_one - one[l])]
}

/// Sums along the lines, for each lane: one side of its boundary.
struct Walk<T> {
    /// What label 1 gains less what label 0 does so far.
    sum: Lanes<T>,
    /// What label 1 gains.
    ones: Lanes<T>,
    /// The least and most that `sum` has been at boundaries, and can have been within blocks.
    least: Lanes<T>,
    most: Lanes<T>,
    within_least: Lanes<T>,
    within_most: Lanes<T>,
}

impl<T: Unit> Walk<T> {
    #[inline(always)]
    fn new() -> Self {
        let zero = [T::default(); LANES];
        Walk {
            sum: zero,
            ones: zero,
            least: zero,
            most: zero,
            within_least: zero,
            within_most: zero,
        }
    }

    /// The next line's gains of either label. Vectors by themselves, for the compiler to keep them
    /// in registers.
    #[inline(always)]
    fn step(&mut self, zero: &Lanes<T>, one: &Lanes<T>, open: T) {
        let (start, ones) = (self.sum, self.ones);
        let (low, high) = (self.within_least, self.within_most);
        self.within_least = each(|l| low[l].min(start[l] - (zero[l] & open)));
        self.within_most = each(|l| high[l].max(start[l] + (one[l] & open)));
        let sum = each(|l| start[l] + one[l] - zero[l]);
        let (low, high) = (self.least, self.most);
        self.least = each(|l| low[l].min(sum[l]));
        self.most = each(|l| high[l].max(sum[l]));
        self.ones = each(|l| ones[l] + one[l]);
        self.sum = sum;
    }

    /// Missing values, behind all others or before them, whichever is better.
    ///
    /// Statement: the least of all sums, with either place, is the least without them, and less by
    /// what they lower it; the most likewise. Proof: behind all others they change no sum before
    /// them, and before all others they change every sum by the same amount.
    #[inline(always)]
    fn put_missing(&mut self, zero: &Lanes<T>, one: &Lanes<T>) {
        let none = T::default();
        let gain = each(|l| one[l] - zero[l]);
        for least in [&mut self.least, &mut self.within_least] {
            *least = each(|l| least[l] + gain[l].min(none));
        }
        for most in [&mut self.most, &mut self.within_most] {
            *most = each(|l| most[l] + gain[l].max(none));
        }
        self.ones = each(|l| self.ones[l] + one[l]);
        self.sum = each(|l| self.sum[l] + gain[l]);
    }
}
