//! What the fronts of known sides say of other sides of a node's splits.

use super::axes::Axes;
use super::entry::{Entry, Front, LEAF, MOST_SUMS};
use super::shared::Shared;
use crate::bounds::similarity;
use crate::kernel::Counts;
use crate::search::common::sync::Arc;

/// By column and side: the front, if it is known.
pub type Sides = Vec<[Option<Arc<Front>>; 2]>;

/// A side of a column.
type Side = (usize, usize);

/// How much weight of each class two columns share, for all pairs of a node's columns.
#[derive(Debug, Default)]
pub struct Overlap {
    whole: Vec<i64>,
    /// By class and column.
    ones: Vec<i64>,
    /// By column, class and other column. Empty where nothing is to be told from other sides.
    both: Vec<i64>,
    n_columns: usize,
}

/// Pairs of more columns than this are not kept.
const MOST_COLUMNS: usize = 2048;

/// A front of more entries is bounded by this many, because pairs of entries are compared.
pub const MOST_ENTRIES: usize = 100;

/// These entries, or at most `most` of which one dominates each.
pub fn at_most(entries: &[Entry], most: usize) -> Vec<Entry> {
    if entries.len() <= most {
        return entries.to_vec();
    }
    let least = |a: Entry, b: &Entry| Entry {
        sums: std::array::from_fn(|at| a.sums[at].min(b.sums[at])),
        leaves: a.leaves.min(b.leaves),
        question: LEAF,
    };
    let neighbours = entries.chunks(entries.len().div_ceil(most));
    neighbours.map(|few| few.iter().fold(few[0], least)).collect()
}

impl Overlap {
    /// Of a view that `counts` was filled with.
    pub fn new(shared: &Shared, counts: &Counts, level: crate::bits::Level, n: usize) -> Overlap {
        let n_classes = shared.axes.n_classes();
        let mut overlap = Overlap {
            whole: counts.whole[..n_classes].to_vec(),
            ones: (0..n_classes)
                .flat_map(|class| (0..n).map(move |column| counts.ones(column)[class]))
                .collect(),
            both: Vec::new(),
            n_columns: n,
        };
        if !shared.has_similarity || n > MOST_COLUMNS {
            return overlap;
        }
        let (padded, mut pairs) = (counts.padded(), Vec::new());
        for first in (0..n).step_by(4) {
            counts.pairs(shared.bits, level, first, false, &mut pairs);
            let width = pairs.len() / 4 / padded;
            for place in 0..4.min(n - first) {
                for class in 0..n_classes {
                    let from = (place * width + class) * padded;
                    overlap.both.extend_from_slice(&pairs[from..from + n]);
                }
            }
        }
        overlap
    }

    /// The weight of a class on a side.
    fn weight(&self, class: usize, (column, side): Side) -> i64 {
        let ones = self.ones[class * self.n_columns + column];
        if side == 1 { ones } else { self.whole[class] - ones }
    }

    /// The weight of a class that one side has and another one lacks.
    fn lacking(&self, class: usize, of: Side, other: Side) -> i64 {
        let n_classes = self.whole.len();
        let both = self.both[(of.0 * n_classes + class) * self.n_columns + other.0];
        let ones = |column: usize| self.ones[class * self.n_columns + column];
        let shared = match (of.1, other.1) {
            (1, 1) => both,
            (1, _) => ones(of.0) - both,
            (_, 1) => ones(other.0) - both,
            _ => self.whole[class] - ones(of.0) - ones(other.0) + both,
        };
        self.weight(class, of) - shared
    }

    /// The most that any tree sums up to for the rows that one side has and another one lacks.
    fn lost(&self, axes: &Axes, of: Side, other: Side, weights: &mut Vec<i64>) -> [i64; MOST_SUMS] {
        weights.clear();
        weights.extend((0..self.whole.len()).map(|class| self.lacking(class, of, other)));
        axes.worst(weights)
    }

    /// For each tree of a side there is an entry here that dominates what it sums up to.
    pub fn bound(&self, axes: &Axes, sides: &Sides, side: Side, one_leaf: u32) -> Vec<Entry> {
        if let Some(front) = &sides[side.0][side.1] {
            return front.entries.clone();
        }
        let mut nearest: Option<([i64; MOST_SUMS], &Front)> = None;
        if !self.both.is_empty() {
            let mut weights = Vec::new();
            for (other, fronts) in sides.iter().enumerate() {
                for (of, front) in fronts.iter().enumerate() {
                    let Some(front) = front else { continue };
                    let lost = self.lost(axes, (other, of), side, &mut weights);
                    if nearest
                        .is_none_or(|(known, _)| lost.iter().sum::<i64>() < known.iter().sum())
                    {
                        nearest = Some((lost, front));
                    }
                }
            }
        }
        let Some((lost, front)) = nearest else {
            return vec![Entry { sums: [0; MOST_SUMS], leaves: one_leaf, question: LEAF }];
        };
        let lower = |e: &Entry| {
            let sums = std::array::from_fn(|at| similarity::at_least(e.sums[at], lost[at]).max(0));
            Entry { sums, ..*e }
        };
        let known = at_most(&front.entries, MOST_ENTRIES);
        Front::of_few(known.iter().map(lower).collect()).entries
    }

    /// How well a column tells the classes apart: more is better.
    pub fn purity(&self, column: usize) -> f64 {
        let side = |side: usize| {
            let weights = (0..self.whole.len()).map(|c| self.weight(c, (column, side)) as f64);
            let (mut sum, mut squares) = (0.0, 0.0);
            for weight in weights {
                sum += weight;
                squares += weight * weight;
            }
            if sum > 0.0 { squares / sum } else { 0.0 }
        };
        side(0) + side(1)
    }

    /// The side of a column that weighs less.
    pub fn lighter_side(&self, column: usize) -> usize {
        let weight = |side| (0..self.whole.len()).map(|c| self.weight(c, (column, side))).sum();
        let [zero, one]: [i64; 2] = [weight(0), weight(1)];
        usize::from(one < zero)
    }

    pub fn bytes(&self) -> usize {
        (self.whole.capacity() + self.ones.capacity() + self.both.capacity()) * 8
    }
}
