//! Points in the order of each feature that has many cuts: sorted once, and then parted as a tree's
//! nodes are.
//!
//! A walk along a feature takes a step for each point then. A table of sums by rank takes one for
//! each rank, and nodes with few points have most of the ranks of a long feature empty.

use crate::data::{Feature, Order};
use crate::problem::Problem;

/// Features with fewer cuts than this are walked along by a table.
const LONG: u32 = 64;

/// Nothing is sorted where so many numbers would have to be held.
const MOST: usize = 1 << 24;

/// Where there are at most so many ranks for each point, points are counted by rank to sort them.
const DENSE: usize = 4;

/// Points of a node, and their orders if they are sorted.
pub struct Members {
    pub points: Vec<u32>,
    /// The points by rank of each long feature, one feature after the other.
    orders: Vec<u32>,
}

impl Members {
    pub fn unsorted(points: Vec<u32>) -> Members {
        Members { points, orders: Vec::new() }
    }

    /// The points in the order of the long feature of this number.
    pub fn order(&self, long: usize) -> &[u32] {
        let n = self.points.len();
        &self.orders[long * n..][..n]
    }
}

/// Sorts points, and parts them.
pub struct Sorter {
    /// By feature: its number among the long ones, if it is one.
    long: Vec<Option<usize>>,
    n_long: usize,
    /// By point of the problem, while members are parted.
    is_left: Vec<bool>,
}

impl Sorter {
    /// For nodes of these points. `pays`: whether anybody walks along orders.
    pub fn new(of: &Problem, points: &[u32], pays: bool) -> Sorter {
        let is_long = |feature: &Feature| {
            matches!(feature.order, Order::Codes | Order::MissingLowest(_)) && feature.cuts >= LONG
        };
        let n_long = of.features.iter().filter(|feature| is_long(feature)).count();
        let pays = pays && points.len().saturating_mul(n_long) <= MOST;
        let mut next = 0;
        let number = |feature: &Feature| {
            let own = (pays && is_long(feature)).then_some(next);
            next += usize::from(own.is_some());
            own
        };
        let long: Vec<Option<usize>> = of.features.iter().map(number).collect();
        let is_left = if next > 0 { vec![false; of.points.len()] } else { Vec::new() };
        Sorter { long, n_long: next, is_left }
    }

    /// The feature's number among the long ones, if it is one.
    pub fn long(&self, feature: usize) -> Option<usize> {
        self.long[feature]
    }

    pub fn sorted(&self, of: &Problem, points: Vec<u32>) -> Members {
        let mut orders = Vec::with_capacity(points.len() * self.n_long);
        let mut ranks = Vec::new();
        for (feature, long) in of.features.iter().zip(&self.long) {
            if long.is_some() {
                feature.ranks(&of.points, &points, &mut ranks);
                add_order(&points, &ranks, feature.cuts as usize + 1, &mut orders);
            }
        }
        Members { points, orders }
    }

    /// The orders of both sides, each of which keeps the order of the whole.
    pub fn part(&mut self, whole: &Members, sides: [Vec<u32>; 2]) -> [Members; 2] {
        sides[0].iter().for_each(|&point| self.is_left[point as usize] = true);
        let room = |side: &Vec<u32>| Vec::with_capacity(side.len() * self.n_long);
        let (mut left, mut right) = (room(&sides[0]), room(&sides[1]));
        for &point in &whole.orders {
            match self.is_left[point as usize] {
                true => left.push(point),
                false => right.push(point),
            }
        }
        sides[0].iter().for_each(|&point| self.is_left[point as usize] = false);
        let [lefts, rights] = sides;
        [Members { points: lefts, orders: left }, Members { points: rights, orders: right }]
    }

    /// Whether there is anything to part.
    pub fn sorts(&self) -> bool {
        self.n_long > 0
    }
}

/// Adds the points in ascending order of their ranks, of which there are so many.
fn add_order(points: &[u32], ranks: &[u32], n_ranks: usize, orders: &mut Vec<u32>) {
    let from = orders.len();
    if n_ranks > points.len().saturating_mul(DENSE) {
        let both = ranks.iter().zip(points);
        let mut both: Vec<u64> =
            both.map(|(&rank, &point)| u64::from(rank) << 32 | u64::from(point)).collect();
        both.sort_unstable();
        orders.extend(both.into_iter().map(|both| both as u32));
        return;
    }
    let mut next = vec![0u32; n_ranks + 1];
    ranks.iter().for_each(|&rank| next[rank as usize + 1] += 1);
    for rank in 1..next.len() {
        next[rank] += next[rank - 1];
    }
    orders.resize(from + points.len(), 0);
    for (&rank, &point) in ranks.iter().zip(points) {
        let place = &mut next[rank as usize];
        orders[from + *place as usize] = point;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_and_compared_orders_ascend() {
        let points: Vec<u32> = (0..50).collect();
        let ranks: Vec<u32> = points.iter().map(|point| point * 7 % 13).collect();
        for n_ranks in [13, 5000] {
            let mut orders = vec![99];
            add_order(&points, &ranks, n_ranks, &mut orders);
            assert_eq!(orders[0], 99);
            let in_order: Vec<u32> =
                orders[1..].iter().map(|&point| ranks[point as usize]).collect();
            assert!(in_order.is_sorted());
            let mut all = orders[1..].to_vec();
            all.sort_unstable();
            assert_eq!(all, points);
        }
    }
}
