//! Exact stumps: rows in the order of an axis, one after the other.

use super::grid::Grid;
use super::kernel::LabelKernel;
use super::sweep::{Range, Swept, lay_out};
use super::unit::Unit;
use crate::bits::Level;
use crate::cost::Cost;
use crate::ids::Side;
use crate::kernel::ranks::rank_kernel::Cut;
use crate::view::{Axis, Missing, Part, RankNode};

/// The rows of a part in the order of one axis.
#[derive(Default)]
pub struct Line<T> {
    pub filled: bool,
    pub row: Vec<u32>,
    /// How many of them come before those whose value is missing, where these may stand before all
    /// others, too; else all.
    known: usize,
    /// For two labels: what label 1 gains less what label 0 does. For more: the gain, and the
    /// label's plane.
    gain: Vec<T>,
    label: Vec<u32>,
    worst: Vec<T>,
    /// Whether there is a cut after the row.
    last: Vec<bool>,
    /// Worst losses up to the row.
    pub lost: Vec<T>,
    /// These rows for two labels.
    swept: Swept<T>,
    /// For more, where they are few and gains small: by group of rows, label's plane, and bit of
    /// the gain, which rows have it. Else empty.
    masks: Vec<u64>,
    /// Of the largest gain.
    bits: usize,
}

impl<T: Unit> Line<T> {
    /// `planes`: of labels, for other than two of them; and how many.
    pub fn fill(
        &mut self,
        part: Part,
        axis: &Axis,
        grid: &Grid<T>,
        (planes, labels): (&[u32], usize),
    ) {
        let two = planes.is_empty();
        self.clear();
        self.filled = true;
        let n = part.rows().len();
        match part.cut {
            None => self.take(axis, n, |_| true),
            Some((other, cut, side)) => {
                let (rank, left) = (&part.node.axes[other].rank, side == Side::Left);
                self.take(axis, n, |row| (rank[row as usize] <= cut) == left);
            }
        }
        let rows = self.row.iter().map(|&row| row as usize);
        let mut lost = T::default();
        self.lost.extend(rows.clone().map(|row| {
            lost += grid.worst[row];
            lost
        }));
        if two {
            let zero = T::default();
            let gain = |row: usize| match grid.label[row] {
                1 => grid.gain[row],
                _ => zero - grid.gain[row],
            };
            self.gain.extend(rows.map(gain));
            if axis.missing == Some(Missing::Highest) {
                let missing = axis.n_known() as u32;
                self.known = self.row.partition_point(|&row| axis.rank[row as usize] < missing);
            }
            self.swept.fill(&self.gain[..self.known], &self.last[..self.known]);
            return;
        }
        self.gain.extend(rows.clone().map(|row| grid.gain[row]));
        self.label.extend(rows.clone().map(|row| planes[usize::from(grid.label[row])]));
        self.worst.extend(rows.map(|row| grid.worst[row]));
        self.mark(labels);
    }

    /// Fill the masks, if they are of use.
    fn mark(&mut self, labels: usize) {
        let most = self.gain.iter().max().map_or(0, |most| most.cost());
        self.bits = (Cost::BITS - most.leading_zeros()) as usize;
        if labels * self.bits > MOST_MASKS || self.gain != self.worst {
            return;
        }
        let width = labels * self.bits;
        self.masks.resize(self.row.len().div_ceil(ROWS) * width, 0);
        for (at, (&label, &gain)) in self.label.iter().zip(&self.gain).enumerate() {
            let masks = &mut self.masks[at / ROWS * width + label as usize * self.bits..];
            for (bit, mask) in masks[..self.bits].iter_mut().enumerate() {
                *mask |= (gain.cost() as u64 >> bit & 1) << (at % ROWS);
            }
        }
    }

    /// The `n` rows that are held, and where cuts are.
    #[inline(always)]
    fn take(&mut self, axis: &Axis, n: usize, holds: impl Fn(u32) -> bool) {
        // Every row is written, and what is not held is written over by the next: there is no
        // pattern to guess.
        self.row.resize(n + 1, 0);
        self.last.resize(n + 1, false);
        let (mut held, mut rank, mut before) = (0, 0, 0);
        for (at, &row) in axis.order.iter().enumerate() {
            rank += usize::from(axis.ends[rank] as usize == at);
            (self.row[held], self.last[held]) = (row, rank != before);
            let holds = holds(row);
            before = if holds { rank } else { before };
            held += usize::from(holds);
        }
        debug_assert_eq!(held, n);
        self.row.truncate(n);
        self.last.truncate(n);
        // So far that is whether there is a cut before the row.
        self.last.copy_within(1.min(n).., 0);
        if let Some(last) = self.last.last_mut() {
            // There is nothing to split off, but the sum that is looked at there is a leaf's.
            *last = true;
        }
        self.known = n;
    }

    pub fn clear(&mut self) {
        self.filled = false;
        self.known = 0;
        self.row.clear();
        self.gain.clear();
        self.label.clear();
        self.worst.clear();
        self.last.clear();
        self.lost.clear();
        self.swept.clear();
        self.masks.clear();
    }

    pub fn bytes(&self) -> usize {
        self.swept.bytes()
            + 8 * self.masks.capacity()
            + 4 * self.row.capacity()
            + 4 * self.label.capacity()
            + self.last.capacity()
            + size_of::<T>() * (self.gain.capacity() + self.worst.capacity() + self.lost.capacity())
    }

    /// For two labels, the best splits along this axis of the rows up to `cut` of another axis, and
    /// of those behind, with missing values on either side of the split. `worst`: the worst losses
    /// of either, added up. `ranks`: of the other axis in this order, if there are.
    pub fn both(
        &self,
        other: &Axis,
        cut: u32,
        worst: [T; 2],
        ranks: Option<&[u16]>,
        level: Level,
    ) -> [T; 2] {
        let mut range = match ranks {
            None => self.range(&other.rank, cut),
            Some(ranks) => level.run(
                #[inline(always)]
                || self.swept.range(ranks, cut as u16),
            ),
        };
        let rows = &self.row[self.known..];
        if !rows.is_empty() {
            let gains = match ranks {
                None => self.missing(rows.iter().map(|&row| other.rank[row as usize] <= cut)),
                Some(ranks) => {
                    let ranks = &ranks[ranks.len() - rows.len()..];
                    level.run(
                        #[inline(always)]
                        || self.missing(ranks.iter().map(|&rank| rank <= cut as u16)),
                    )
                }
            };
            range.put_missing(gains);
        }
        // Label 0 before the cut and 1 behind it: label 1's gain before, and label 0's behind, is
        // lost.
        std::array::from_fn(|side| {
            let twice = worst[side].cost() - range.sum[side].cost();
            let zeros = T::of(twice / 2);
            (zeros + range.least[side]).min(worst[side] - zeros - range.most[side])
        })
    }

    /// For two labels, the first `n` rows and the others as leaves: their costs and worst losses.
    pub fn leaves(&self, n: usize) -> [[T; 2]; 2] {
        let at = |sums: &[T], n: usize| if n == 0 { T::default() } else { sums[n - 1] };
        // No cut is among the rows whose value is missing.
        let sum = |n: usize| {
            let missing = &self.gain[self.known..n.max(self.known)];
            let known = self.swept.sum(n.min(self.known), self.known);
            missing.iter().fold(known, |sum, &gain| sum + gain)
        };
        let (rows, of) = (self.row.len(), |n: usize| (at(&self.lost, n), sum(n)));
        let ((worst, sum), (all_worst, all)) = (of(n), of(rows));
        let leaf = |worst: T, sum: T| {
            let zeros = T::of((worst.cost() - sum.cost()) / 2);
            zeros.min(worst - zeros)
        };
        let (worst_right, right) = (all_worst - worst, all - sum);
        [[leaf(worst, sum), leaf(worst_right, right)], [worst, worst_right]]
    }

    /// Ranks of another axis as they are laid out for a sweep, and behind them those of the rows
    /// whose value is missing; there are fewer than 2^16.
    pub fn see(&self, other: &Axis, out: &mut Vec<u16>) {
        let (known, missing) = self.row.split_at(self.known);
        let rank = |&row: &u32| other.rank[row as usize] as u16;
        lay_out(known.iter().map(rank), u16::MAX, out);
        out.extend(missing.iter().map(rank));
    }

    /// As above, one after the other, up to a whole group of rows; for other than two labels.
    pub fn see_in_order(&self, other: &Axis, out: &mut Vec<u16>) {
        out.extend(self.row.iter().map(|&row| other.rank[row as usize] as u16));
        out.resize(self.row.len().next_multiple_of(ROWS), u16::MAX);
    }

    /// Whether rows are counted, a group at a time.
    pub fn counts(&self) -> bool {
        !self.masks.is_empty()
    }

    fn range(&self, rank: &[u32], cut: u32) -> Range<T> {
        let zero = T::default();
        // Sums of gains so far, and the least and most they have been where there is a cut.
        let (mut left, mut right) = (zero, zero);
        let (mut least, mut most) = ([zero; 2], [zero; 2]);
        let known = &self.row[..self.known];
        let lanes = known.iter().zip(&self.gain).zip(&self.last);
        for ((&row, &gain), &last) in lanes {
            let gain_left = if rank[row as usize] <= cut { gain } else { zero };
            left += gain_left;
            right += gain - gain_left;
            let at = if last { [left, right] } else { [zero; 2] };
            for side in 0..2 {
                least[side] = least[side].min(at[side]);
                most[side] = most[side].max(at[side]);
            }
        }
        Range { least, most, sum: [left, right] }
    }

    /// The gains of the rows whose value is missing: of those that are left of a cut of another
    /// axis, and of the others.
    #[inline(always)]
    fn missing(&self, lefts: impl Iterator<Item = bool>) -> [T; 2] {
        let (mut left, mut all) = (T::default(), T::default());
        for (is_left, &gain) in lefts.zip(&self.gain[self.known..]) {
            left += T::mask(is_left) & gain;
            all += gain;
        }
        [left, all - left]
    }

    /// For other than two labels: where there is a split that loses less than `best` on its side,
    /// what it loses.
    ///
    /// A few rows at a time: the cuts among them lose at least what the rows before and those
    /// behind them lose, as leaves (as in `pairs.rs`), and mostly that is enough. `seen`: ranks of
    /// the other axis in this order, if rows are counted.
    #[inline(always)]
    pub fn both_of_many(
        &self,
        (rank, seen): (&[u32], Option<&[u16]>),
        cut: u32,
        whole: &Sides<T>,
        mut best: [T; 2],
        [start, end]: &mut [Sides<T>; 2],
    ) -> [T; 2] {
        for sides in [&mut *start, &mut *end] {
            sides.clear(whole.gains[0].len());
        }
        let mut ahead = start.before();
        for from in (0..self.row.len()).step_by(ROWS) {
            let rows = from..(from + ROWS).min(self.row.len());
            end.copy(start);
            match seen {
                Some(seen) => self.count(from, &seen[from..from + ROWS], cut as u16, end),
                None => rows.clone().for_each(|at| self.add(at, rank, cut, end)),
            }
            let behind = end.behind(whole);
            if (0..2).any(|side| ahead[side] + behind[side] < best[side]) {
                for at in rows.clone() {
                    self.add(at, rank, cut, start);
                    if self.last[at] {
                        let (before, behind) = (start.before(), start.behind(whole));
                        for side in 0..2 {
                            best[side] = best[side].min(before[side] + behind[side]);
                        }
                    }
                }
            }
            ahead = end.before();
            std::mem::swap(start, end);
        }
        best
    }

    /// Add a group of rows: their gains bit by bit, of all rows that have it at a time.
    #[inline(always)]
    fn count(&self, from: usize, seen: &[u16], cut: u16, sides: &mut Sides<T>) {
        let mut left = 0;
        for (at, &rank) in seen.iter().enumerate() {
            left |= u64::from(rank <= cut) << at;
        }
        let width = sides.gains[0].len() * self.bits;
        let masks = &self.masks[from / ROWS * width..][..width];
        for (label, masks) in masks.chunks_exact(self.bits).enumerate() {
            for (side, held) in [left, !left].into_iter().enumerate() {
                let ones = |bit: usize| Cost::from((masks[bit] & held).count_ones()) << bit;
                let sum = T::of((0..self.bits).map(ones).sum());
                sides.gains[side][label] += sum;
                sides.worst[side] += sum;
            }
        }
    }

    #[inline(always)]
    fn add(&self, at: usize, rank: &[u32], cut: u32, sides: &mut Sides<T>) {
        let side = usize::from(rank[self.row[at] as usize] > cut);
        sides.gains[side][self.label[at] as usize] += self.gain[at];
        sides.worst[side] += self.worst[at];
    }

    /// All rows up to `cut` of this axis, and those behind it.
    pub fn sides(&self, rank: &[u32], cut: u32, planes: usize, sides: &mut Sides<T>) {
        sides.clear(planes);
        for at in 0..self.row.len() {
            self.add(at, rank, cut, sides);
        }
    }
}

/// Rows that are bounded together: one for each bit of a mask.
const ROWS: usize = u64::BITS as usize;

/// Masks of a group of rows, at most: then they take no more room than the rows' labels.
const MOST_MASKS: usize = 32;

/// Rows on both sides of a cut.
#[derive(Default)]
pub struct Sides<T> {
    /// By side, then plane of a label.
    gains: [Vec<T>; 2],
    pub worst: [T; 2],
}

impl<T: Unit> Sides<T> {
    fn clear(&mut self, planes: usize) {
        for gains in &mut self.gains {
            gains.clear();
            gains.resize(planes, T::default());
        }
        self.worst = Default::default();
    }

    fn copy(&mut self, other: &Self) {
        self.gains[0].copy_from_slice(&other.gains[0]);
        self.gains[1].copy_from_slice(&other.gains[1]);
        self.worst = other.worst;
    }

    /// What each side loses as a leaf.
    #[inline(always)]
    pub fn before(&self) -> [T; 2] {
        [0, 1].map(|side| {
            let most = self.gains[side].iter().fold(T::default(), |most, &gain| most.max(gain));
            self.worst[side] - most
        })
    }

    /// What the rows of each side that are not here lose as a leaf.
    #[inline(always)]
    fn behind(&self, whole: &Self) -> [T; 2] {
        [0, 1].map(|side| {
            let gains = self.gains[side].iter().zip(&whole.gains[side]);
            let most = gains.fold(T::default(), |most, (&here, &all)| most.max(all - here));
            whole.worst[side] - self.worst[side] - most
        })
    }

    pub fn bytes(&self) -> usize {
        self.gains.iter().map(|gains| gains.capacity() * size_of::<T>()).sum()
    }
}

/// Two leaves that rows are added to. Gains only grow, so the most is kept, not looked for.
struct LeafSums<T> {
    gains: Vec<[T; 2]>,
    most: [T; 2],
    worst: [T; 2],
}

impl<T: Unit> LeafSums<T> {
    fn new(n_labels: usize) -> Self {
        let zero = T::default();
        LeafSums { gains: vec![[zero; 2]; n_labels], most: [zero; 2], worst: [zero; 2] }
    }

    #[inline(always)]
    fn add(&mut self, side: usize, label: u16, gain: T, worst: T) {
        let sum = &mut self.gains[usize::from(label)][side];
        *sum += gain;
        self.most[side] = self.most[side].max(*sum);
        self.worst[side] += worst;
    }

    fn costs(&self) -> [T; 2] {
        [self.worst[0] - self.most[0], self.worst[1] - self.most[1]]
    }
}

/// The best stump of the local rows that are held, with its split: the first among equals. `least`:
/// what stumps along an axis cost at least.
pub fn best<T: Unit>(
    kernel: &LabelKernel<T>,
    node: &RankNode,
    grid: &Grid<T>,
    holds: impl Fn(u32) -> bool,
    least: impl Fn(usize) -> Cost,
) -> (Cost, Option<Cut>) {
    // With the axis of the split; a leaf comes before any.
    let mut best: Option<(Cost, Option<(usize, Cut)>)> = None;
    let mut order: Vec<(Cost, usize)> = (0..node.axes.len()).map(|g| (least(g), g)).collect();
    order.sort_unstable();
    for (bound, g) in order {
        let earlier = |split: Option<(usize, Cut)>| split.is_some_and(|(other, _)| g < other);
        if best.is_some_and(|(cost, split)| bound > cost || (bound == cost && !earlier(split))) {
            continue;
        }
        let axis = &node.axes[g];
        let rows: Vec<u32> = axis.order.iter().copied().filter(|&row| holds(row)).collect();
        let mut behind = vec![T::default(); rows.len() + 1];
        let mut leaf = LeafSums::new(kernel.n_labels);
        let add = |leaf: &mut LeafSums<T>, row: u32| {
            let row = row as usize;
            leaf.add(0, grid.label[row], grid.gain[row], grid.worst[row]);
            leaf.costs()[0]
        };
        for at in (0..rows.len()).rev() {
            behind[at] = add(&mut leaf, rows[at]);
        }
        let whole = behind[0].cost() * kernel.unit + kernel.leaf_cost;
        let (cost, split) = best.get_or_insert((whole, None));
        let mut leaf = LeafSums::new(kernel.n_labels);
        for at in 0..rows.len().saturating_sub(1) {
            let before = add(&mut leaf, rows[at]);
            let rank = |at: usize| axis.rank[rows[at] as usize];
            if rank(at) != rank(at + 1) {
                let sum = (before + behind[at + 1]).cost();
                let both = sum * kernel.unit + 2 * kernel.leaf_cost;
                if both < *cost || (both == *cost && earlier(*split)) {
                    let cut = axis.cuts[rank(at) as usize];
                    (*cost, *split) = (both, Some((g, (axis.feature, cut))));
                }
            }
        }
    }
    let (cost, split) = best.expect("a node that is asked about has axes");
    (cost, split.map(|(_, cut)| cut))
}
