//! Exact stumps: rows in the order of an axis, one after the other.

use super::grid::{Grid, Rows};
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
    pub gain: Vec<T>,
    pub label: Vec<u32>,
    pub worst: Vec<T>,
    /// Whether there is a cut after the row.
    last: Vec<bool>,
    /// Worst losses up to the row.
    pub lost: Vec<T>,
    /// These rows for two labels.
    swept: Swept<T>,
}

impl<T: Unit> Line<T> {
    /// `planes`: of labels, for other than two of them.
    pub fn fill(&mut self, part: Part, axis: &Axis, grid: &Grid<T>, planes: &[u32]) {
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
    }

    /// The rows of two labels: their numbers, what the second label gains less what the first does,
    /// and whether there is a cut after each and before the next.
    pub fn of_labels(
        &self,
        (first, second): (u32, u32),
        (row, gain, last): (&mut Vec<u32>, &mut Vec<T>, &mut Vec<bool>),
    ) {
        let n = self.row.len();
        row.resize(n + 1, 0);
        gain.resize(n + 1, T::default());
        last.resize(n + 1, false);
        // As in `take`, every row is written, and what is not held is written over.
        let (mut held, mut cut) = (0, false);
        for at in 0..n {
            let (label, amount) = (self.label[at], self.gain[at]);
            let holds = (label == first) | (label == second);
            row[held] = self.row[at];
            gain[held] = if label == second { amount } else { T::default() - amount };
            last[held] = cut;
            held += usize::from(holds);
            cut = (cut & !holds) | self.last[at];
        }
        row.truncate(held);
        gain.truncate(held);
        last.truncate(held);
        last.copy_within(1.min(held).., 0);
        if let Some(last) = last.last_mut() {
            *last = true;
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
    }

    pub fn bytes(&self) -> usize {
        self.swept.bytes()
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

/// The best stump of the local rows that are held, without rounding, with its split: the first
/// among equals. `least`: what stumps along an axis cost at least.
pub fn best_stump<T: Unit>(
    kernel: &LabelKernel<T>,
    node: &RankNode,
    grid: &Grid<T>,
    holds: impl Fn(u32) -> bool,
    least: impl Fn(usize) -> Cost,
) -> (Cost, Option<Cut>) {
    match &kernel.exact {
        Some(exact) => best(exact, node, grid.exact_rows(), holds, least),
        None => best(kernel, node, grid.rows(), holds, least),
    }
}

fn best<T: Unit>(
    kernel: &LabelKernel<T>,
    node: &RankNode,
    of: Rows<T>,
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
            leaf.add(0, of.label[row], of.gain[row], of.worst[row]);
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
