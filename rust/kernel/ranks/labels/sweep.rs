//! Both sides' exact stumps for two labels, a vector of rows at a time.
//!
//! Each lane takes a run of neighbouring rows of its own, so that sums grow within lanes and
//! nothing is moved between them: the rows of one vector lie as far apart as a run is long.

use super::pairs::{each, lanes};
use super::unit::{LANES, Unit};

/// Rows in the order of an axis, run beside run, padded with rows that gain nothing.
#[derive(Default)]
pub struct Swept<T> {
    /// What label 1 gains less what label 0 does, and the same added up over all rows before.
    gain: Vec<T>,
    sum: Vec<T>,
    /// All bits where there is a cut after the row.
    last: Vec<T>,
    /// By lane: whether there is a cut in its run.
    cuts: [bool; LANES],
}

/// The least and most that sums of gains are at cuts, on the left and on the right, and their ends.
pub struct Range<T> {
    pub least: [T; 2],
    pub most: [T; 2],
    pub sum: [T; 2],
}

impl<T: Unit> Range<T> {
    /// Rows whose value is missing and that gain so much, behind all others or before them,
    /// whichever is better; see `pairs.rs`.
    pub fn put_missing(&mut self, gain: [T; 2]) {
        let none = T::default();
        for side in 0..2 {
            self.least[side] += gain[side].min(none);
            self.most[side] += gain[side].max(none);
            self.sum[side] += gain[side];
        }
    }
}

/// Where rows are put: `n` of them, in runs of this length, and room for all runs.
fn run(n: usize) -> usize {
    n.div_ceil(LANES)
}

/// The place of a row.
fn place(at: usize, run: usize) -> usize {
    at % run * LANES + at / run
}

/// Something of each row, laid out as `Swept` is.
pub fn lay_out<V: Copy>(mut rows: impl ExactSizeIterator<Item = V>, rest: V, out: &mut Vec<V>) {
    let (run, start) = (run(rows.len()), out.len());
    out.resize(start + run * LANES, rest);
    // Dividing for the place of each row would take longer than all the rest.
    for lane in 0..LANES {
        for (group, value) in out[start..].chunks_exact_mut(LANES).zip(&mut rows) {
            group[lane] = value;
        }
    }
}

impl<T: Unit> Swept<T> {
    pub fn fill(&mut self, gains: &[T], last: &[bool]) {
        let zero = T::default();
        self.clear();
        lay_out(gains.iter().copied(), zero, &mut self.gain);
        lay_out(last.iter().map(|&last| T::mask(last)), zero, &mut self.last);
        let run = run(gains.len());
        self.cuts =
            std::array::from_fn(|lane| last.iter().skip(lane * run).take(run).any(|&last| last));
        let (mut sum, all) = (zero, gains.iter().fold(zero, |sum, &gain| sum + gain));
        let sums = gains.iter().map(|&gain| {
            sum += gain;
            sum
        });
        lay_out(sums, all, &mut self.sum);
    }

    pub fn clear(&mut self) {
        self.gain.clear();
        self.sum.clear();
        self.last.clear();
    }

    /// The gains of the first `n` rows of `all`.
    pub fn sum(&self, n: usize, all: usize) -> T {
        if n == 0 { T::default() } else { self.sum[place(n - 1, run(all))] }
    }

    pub fn bytes(&self) -> usize {
        (self.gain.capacity() + self.sum.capacity() + self.last.capacity()) * size_of::<T>()
    }

    /// `ranks`: of another axis, laid out alike; those up to `cut` are left.
    #[inline(always)]
    pub fn range(&self, ranks: &[u16], cut: u16) -> Range<T> {
        let zero = T::default();
        // What is left in the run so far, and the least and most at its cuts: short of what is left
        // in the runs before it, on the left, and beyond by as much on the right.
        let mut left = [zero; LANES];
        let mut least = [[T::MAX; LANES]; 2];
        let mut most = [[zero - T::MAX; LANES]; 2];
        for from in (0..self.gain.len()).step_by(LANES) {
            let ranks: &[u16; LANES] =
                ranks[from..from + LANES].try_into().expect("whole groups of lanes");
            let (gain, sum, last) =
                (lanes(&self.gain, from), lanes(&self.sum, from), lanes(&self.last, from));
            left = each(|l| left[l] + (gain[l] & T::mask(ranks[l] <= cut)));
            let sides = [left, each(|l| sum[l] - left[l])];
            for side in 0..2 {
                let (low, high, x) = (least[side], most[side], sides[side]);
                let cut = |l: usize| last[l] != zero;
                least[side] = each(|l| if cut(l) { low[l].min(x[l]) } else { low[l] });
                most[side] = each(|l| if cut(l) { high[l].max(x[l]) } else { high[l] });
            }
        }
        let mut range = Range { least: [zero; 2], most: [zero; 2], sum: [zero; 2] };
        let mut before = zero;
        for lane in 0..LANES {
            if self.cuts[lane] {
                for (side, shift) in [before, zero - before].into_iter().enumerate() {
                    range.least[side] = range.least[side].min(least[side][lane] + shift);
                    range.most[side] = range.most[side].max(most[side][lane] + shift);
                }
            }
            before += left[lane];
        }
        // The last place is of the last row, or of what follows it.
        let all = self.sum.last().copied().unwrap_or_default();
        range.sum = [before, all - before];
        range
    }
}
