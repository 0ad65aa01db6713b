//! Both sides' exact stumps for two labels, a vector of rows at a time.

use super::grid::LANES;
use super::pairs::{add_within, each, lanes};
use super::unit::Unit;

/// Rows in the order of an axis, padded to whole groups of lanes with rows that gain nothing.
#[derive(Default)]
pub struct Swept<T> {
    /// What label 1 gains less what label 0 does, and the same added up.
    gain: Vec<T>,
    sum: Vec<T>,
    /// All bits where there is a cut after the row.
    last: Vec<T>,
}

/// The least and most that sums of gains are at cuts, on the left and on the right, and their ends.
pub struct Range<T> {
    pub least: [T; 2],
    pub most: [T; 2],
    pub sum: [T; 2],
}

impl<T: Unit> Swept<T> {
    pub fn fill(&mut self, gains: &[T], last: &[bool]) {
        let zero = T::default();
        let n = gains.len().next_multiple_of(LANES);
        self.clear();
        self.gain.extend_from_slice(gains);
        self.gain.resize(n, zero);
        self.last.extend(last.iter().map(|&last| if last { T::ONES } else { zero }));
        self.last.resize(n, zero);
        let mut sum = zero;
        self.sum.extend(self.gain.iter().map(|&gain| {
            sum += gain;
            sum
        }));
    }

    pub fn clear(&mut self) {
        self.gain.clear();
        self.sum.clear();
        self.last.clear();
    }

    /// The gains of the first `n` rows.
    pub fn sum(&self, n: usize) -> T {
        if n == 0 { T::default() } else { self.sum[n - 1] }
    }

    pub fn bytes(&self) -> usize {
        (self.gain.capacity() + self.sum.capacity() + self.last.capacity()) * size_of::<T>()
    }

    /// `ranks`: of another axis, in this order; those up to `cut` are left.
    #[inline(always)]
    pub fn range(&self, ranks: &[u16], cut: u16) -> Range<T> {
        let zero = [T::default(); LANES];
        let (mut least, mut most) = ([zero; 2], [zero; 2]);
        let mut left = T::default();
        for from in (0..self.gain.len()).step_by(LANES) {
            let ranks: &[u16; LANES] =
                ranks[from..from + LANES].try_into().expect("whole groups of lanes");
            let (gain, sum, last) =
                (lanes(&self.gain, from), lanes(&self.sum, from), lanes(&self.last, from));
            let held = each(|l| gain[l] & T::mask(ranks[l] <= cut));
            let before = left;
            let lefts = add_within(held);
            let lefts = each(|l| lefts[l] + before);
            left = lefts[LANES - 1];
            let sides = [each(|l| lefts[l] & last[l]), each(|l| (sum[l] - lefts[l]) & last[l])];
            for side in 0..2 {
                least[side] = each(|l| least[side][l].min(sides[side][l]));
                most[side] = each(|l| most[side][l].max(sides[side][l]));
            }
        }
        let all = self.sum.last().copied().unwrap_or_default();
        let fold = |of: [T; LANES], take: fn(T, T) -> T| of.into_iter().fold(T::default(), take);
        Range {
            least: least.map(|of| fold(of, T::min)),
            most: most.map(|of| fold(of, T::max)),
            sum: [left, all - left],
        }
    }
}
