//! Exact stumps: rows in the order of an axis, one after the other.

use super::Cut;
use super::grid::Grid;
use super::labels::LabelKernel;
use super::unit::Unit;
use crate::cost::Cost;
use crate::view::{Axis, Part, RankNode};

/// The rows of a part in the order of one axis.
#[derive(Default)]
pub struct Line<T> {
    pub filled: bool,
    pub row: Vec<u32>,
    /// For two labels: what label 1 gains less what label 0 does. For more: the gain, and `label`.
    gain: Vec<T>,
    label: Vec<u16>,
    worst: Vec<T>,
    /// Whether there is a cut after the row.
    last: Vec<bool>,
    /// Worst losses up to the row.
    pub lost: Vec<T>,
}

impl<T: Unit> Line<T> {
    pub fn fill(&mut self, part: Part, axis: &Axis, grid: &Grid<T>, n_labels: usize) {
        self.clear();
        self.filled = true;
        self.row.extend(axis.order.iter().copied().filter(|&row| part.holds(row)));
        let rank = |at: usize| axis.rank[self.row[at] as usize];
        let n = self.row.len();
        self.last.extend((1..n).map(|at| rank(at) != rank(at - 1)));
        // Behind the last row there is nothing to split off, but the sum that is looked at there is a leaf's.
        self.last.push(true);
        let mut lost = T::default();
        for &row in &self.row {
            let row = row as usize;
            let (label, gain, worst) = (grid.label[row], grid.gain[row], grid.worst[row]);
            lost += worst;
            self.lost.push(lost);
            if n_labels == 2 {
                self.gain.push(if label == 1 { gain } else { T::default() - gain });
            } else {
                self.gain.push(gain);
                self.label.push(label);
                self.worst.push(worst);
            }
        }
    }

    pub fn clear(&mut self) {
        self.filled = false;
        self.row.clear();
        self.gain.clear();
        self.label.clear();
        self.worst.clear();
        self.last.clear();
        self.lost.clear();
    }

    pub fn bytes(&self) -> usize {
        4 * self.row.capacity()
            + 2 * self.label.capacity()
            + self.last.capacity()
            + size_of::<T>() * (self.gain.capacity() + self.worst.capacity() + self.lost.capacity())
    }

    /// The best splits along this axis of the rows up to `cut` of another axis, and of those behind it.
    /// `worst`: the worst losses of either, added up.
    pub fn both(&self, other: &Axis, cut: u32, worst: [T; 2], n_labels: usize) -> [T; 2] {
        if n_labels == 2 {
            self.both_of_two(&other.rank, cut, worst)
        } else {
            self.both_of_many(&other.rank, cut, n_labels)
        }
    }

    fn both_of_two(&self, rank: &[u32], cut: u32, worst: [T; 2]) -> [T; 2] {
        let zero = T::default();
        // Sums of gains so far, and the least and most they have been where there is a cut.
        let (mut left, mut right) = (zero, zero);
        let (mut least, mut most) = ([zero; 2], [zero; 2]);
        let lanes = self.row.iter().zip(&self.gain).zip(&self.last);
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
        // Label 0 before the cut and 1 behind it: label 1's gain before, and label 0's behind, is lost.
        let sums = [left, right];
        std::array::from_fn(|side| {
            let twice = worst[side].cost() - sums[side].cost();
            let zeros = T::of(twice / 2);
            (zeros + least[side]).min(worst[side] - zeros - most[side])
        })
    }

    fn both_of_many(&self, rank: &[u32], cut: u32, n_labels: usize) -> [T; 2] {
        let n = self.row.len();
        let zero = T::default();
        let side = |at: usize| usize::from(rank[self.row[at] as usize] > cut);
        // What the rows from here on cost as a leaf, by side.
        let mut behind = vec![[zero; 2]; n + 1];
        let mut leaf = LeafSums::new(n_labels);
        for at in (0..n).rev() {
            leaf.add(side(at), self.label[at], self.gain[at], self.worst[at]);
            behind[at] = leaf.costs();
        }
        let mut best = behind[0];
        let mut leaf = LeafSums::new(n_labels);
        for at in 0..n {
            leaf.add(side(at), self.label[at], self.gain[at], self.worst[at]);
            if self.last[at] {
                let costs = leaf.costs();
                for side in 0..2 {
                    best[side] = best[side].min(costs[side] + behind[at + 1][side]);
                }
            }
        }
        best
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

/// The best stump of the local rows that are held, with its split: the first among equals.
pub fn best<T: Unit>(
    kernel: &LabelKernel<T>,
    node: &RankNode,
    grid: &Grid<T>,
    holds: impl Fn(u32) -> bool,
) -> (Cost, Option<Cut>) {
    let mut best: Option<(Cost, Option<Cut>)> = None;
    for axis in &node.axes {
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
        let (_, (cost, split)) = (
            0,
            best.get_or_insert_with(|| (behind[0].cost() * kernel.unit + kernel.leaf_cost, None)),
        );
        let mut leaf = LeafSums::new(kernel.n_labels);
        for at in 0..rows.len().saturating_sub(1) {
            let before = add(&mut leaf, rows[at]);
            let rank = |at: usize| axis.rank[rows[at] as usize];
            if rank(at) != rank(at + 1) {
                let sum = (before + behind[at + 1]).cost();
                let both = sum * kernel.unit + 2 * kernel.leaf_cost;
                if both < *cost {
                    let cut = axis.cuts[rank(at) as usize];
                    (*cost, *split) = (both, Some((axis.feature, cut)));
                }
            }
        }
    }
    best.expect("a node that is asked about has axes")
}
