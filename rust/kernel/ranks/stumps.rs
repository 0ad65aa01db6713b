//! The best trees of one level of a part: with any leaves, and with leaves that hold enough rows.
//!
//! Kernels find the former faster, by block and lane. This walks along every axis once, and is for
//! the parts of searches that know limits which kernels do not.

use std::ops::Range;

use super::rank_kernel::{Cheapest, Cut, RankKernel};
use crate::cost::Cost;
use crate::view::{Part, RankView};

/// A tree of at most one level: a leaf without a cut.
#[derive(Debug, Clone, Copy)]
pub struct Stump {
    pub cost: Cost,
    pub cut: Option<Cut>,
}

/// The best stumps of a part: of all, and of those whose leaves hold `least` rows.
pub fn stumps<K: RankKernel>(kernel: &K, part: Part, view: &RankView, least: u64) -> [Stump; 2] {
    let node = part.node;
    let all: Vec<u32> = part.rows().iter().map(|&row| node.rows[row as usize]).collect();
    let leaf = Stump { cost: kernel.leaf(&all), cut: None };
    let mut best = [leaf; 2];
    let (mut rows, mut ends, mut ranks) = (Vec::new(), Vec::new(), Vec::new());
    for axis in &node.axes {
        rows.clear();
        ends.clear();
        ranks.clear();
        for &row in axis.order.iter().filter(|&&row| part.holds(row)) {
            let rank = axis.rank[row as usize];
            if ranks.last() != Some(&rank) {
                if !ranks.is_empty() {
                    ends.push(rows.len() as u32);
                }
                ranks.push(rank);
            }
            rows.push(node.rows[row as usize]);
        }
        if ends.is_empty() {
            continue;
        }
        let enough = enough((view, least), &rows, &ends);
        for (best, cheapest) in best.iter_mut().zip(kernel.cheapest(&rows, &ends, enough)) {
            if let Some((cost, at)) = cheapest
                && cost < best.cost
            {
                let cut = (axis.feature, axis.cuts[ranks[at] as usize]);
                *best = Stump { cost, cut: Some(cut) };
            }
        }
    }
    best
}

/// The boundaries that leave enough rows on both sides.
fn enough((view, least): (&RankView, u64), rows: &[u32], ends: &[u32]) -> Range<usize> {
    let Some(least_rows) = &view.least_rows else { return 0..ends.len() };
    let before = least_rows.places(least, rows.iter().copied());
    let behind = least_rows.places(least, rows.iter().rev().copied());
    let start = ends.partition_point(|&end| (end as usize) < before);
    let stop = ends.partition_point(|&end| end as usize + behind <= rows.len());
    start..stop.max(start)
}

/// The least of the costs at all boundaries, and of those within a range.
pub fn cheapest(costs: &[Cost], enough: Range<usize>) -> [Cheapest; 2] {
    let least = |range: Range<usize>| range.map(|at| (costs[at], at)).min();
    [least(0..costs.len()), least(enough)]
}
