//! Nodes that were searched, and what is known of their cuts, so that a node that has most rows of
//! one of them need not begin anew: the cuts of a node's column are searched one after the other,
//! and columns that say the same split off about the same rows.
//!
//! Statement: let N and T be nodes, and u a cut of a feature. What is left of u in T costs at least
//! what is left of u in N does, less the worst losses of the rows there that T lacks; what is right
//! of it likewise; and T costs at least what N does, less the worst losses of all rows that T
//! lacks.
//!
//! Proof: `bounds::similarity`, of the rows left of u, right of u, and of all.
//!
//! Invalid with a minimum of rows for a leaf, where nodes miss cuts and trees of more rows may have
//! leaves that are too small for fewer. Budgets are those of the node.

use std::sync::Arc;

use super::budget::Budget;
use crate::bounds::neighbouring_cuts::Edge;
use crate::bounds::similarity;
use crate::cost::Cost;
use crate::ids::FeatureId;
use crate::view::{Axis, Fingerprint, RankNode, RankView};

/// As many nodes are held. Looking through more took longer than they saved.
const MOST_NODES: usize = 512;

/// From so many of them, the most similar, a node takes over what is known.
const MOST_SOURCES: usize = 8;

/// The rows of a node among those of the view, as bits.
pub struct RowSet(Vec<u64>);

/// What is known of a node that was searched.
pub struct SearchedNode {
    rows: RowSet,
    name: Fingerprint,
    budget: Budget,
    /// What its best tree costs at least.
    lower: Cost,
    cuts: Vec<KnownCuts>,
}

/// What both sides of a feature's cuts cost at least, by the feature's own number of the cut,
/// ascending.
struct KnownCuts {
    feature: FeatureId,
    sides: Vec<(u32, [Cost; 2])>,
}

/// The nodes that were searched last.
#[derive(Default)]
pub struct SearchedNodes {
    nodes: Vec<Arc<SearchedNode>>,
    /// Where the next one is put.
    next: usize,
    bytes: usize,
}

impl RowSet {
    pub fn of(node: &RankNode, view: &RankView) -> RowSet {
        let mut bits = vec![0; view.root.len().div_ceil(64)];
        for &row in &node.rows {
            bits[row as usize / 64] |= 1 << (row % 64);
        }
        RowSet(bits)
    }

    /// The rows that are in this set and not in the other one.
    fn without<'a>(&'a self, other: &'a RowSet) -> impl Iterator<Item = usize> {
        self.0.iter().zip(&other.0).enumerate().flat_map(|(word, (own, other))| {
            let mut rest = own & !other;
            std::iter::from_fn(move || {
                let row = (rest != 0).then(|| word * 64 + rest.trailing_zeros() as usize);
                rest &= rest.wrapping_sub(1);
                row
            })
        })
    }
}

impl SearchedNode {
    /// `edges`: by axis and cut of the node, what its sides cost at least.
    pub fn new(
        (node, view): (&RankNode, &RankView),
        (rows, name): (RowSet, Fingerprint),
        (budget, lower): (Budget, Cost),
        edges: impl Iterator<Item = (usize, Edge)>,
    ) -> SearchedNode {
        debug_assert!(view.least_rows.is_none(), "bounds do not survive a minimum of rows");
        let of = |axis: &Axis| KnownCuts { feature: axis.feature, sides: Vec::new() };
        let mut cuts: Vec<KnownCuts> = node.axes.iter().map(of).collect();
        for (index, edge) in edges {
            let axis = &node.axes[index];
            if (0..axis.n_ranks() as i64 - 1).contains(&edge.cut) {
                let cut = axis.cuts[edge.cut as usize];
                cuts[index].sides.push((cut, [edge.left, edge.right]));
            }
        }
        cuts.iter_mut().for_each(|cuts| cuts.sides.sort_unstable());
        SearchedNode { rows, name, budget, lower, cuts }
    }

    pub fn bytes(&self) -> usize {
        let cuts = |cuts: &KnownCuts| cuts.sides.capacity() * size_of::<(u32, [Cost; 2])>();
        size_of::<SearchedNode>()
            + 8 * self.rows.0.capacity()
            + self.cuts.capacity() * size_of::<KnownCuts>()
            + self.cuts.iter().map(cuts).sum::<usize>()
    }

    /// What this says of the cuts of a node with these rows, added by axis.
    pub fn say(&self, view: &RankView, node: &RankNode, rows: &RowSet, edges: &mut [Vec<Edge>]) {
        let lacks: Vec<usize> = self.rows.without(rows).collect();
        let mut values: Vec<(u32, Cost)> = Vec::with_capacity(lacks.len());
        for (axis, edges) in node.axes.iter().zip(edges) {
            let Ok(known) = self.cuts.binary_search_by_key(&axis.feature, |cuts| cuts.feature)
            else {
                continue;
            };
            let of_root = view.root.axes.binary_search_by_key(&axis.feature, |of| of.feature);
            let of_root = &view.root.axes[of_root.expect("the root has every axis")];
            values.clear();
            let value = |row: usize| of_root.cuts[of_root.rank[row] as usize];
            values.extend(lacks.iter().map(|&row| (value(row), view.worst[row])));
            values.sort_unstable();
            let lost = |of: &[(u32, Cost)]| {
                of.iter().fold(0, |sum: Cost, &(_, worst)| sum.saturating_add(worst))
            };
            for &(cut, [left, right]) in &self.cuts[known].sides {
                let at = axis.cuts.partition_point(|&own| own <= cut) as i64 - 1;
                if !(0..axis.n_ranks() as i64 - 1).contains(&at) {
                    continue;
                }
                let (before, behind) =
                    values.split_at(values.partition_point(|&(value, _)| value <= cut));
                let left = similarity::at_least(left, lost(before));
                let right = similarity::at_least(right, lost(behind));
                edges.push(Edge { cut: at, left, right });
            }
        }
    }
}

impl SearchedNodes {
    /// The nodes that say most of one with these rows and this budget, and what they say that it
    /// costs at least.
    pub fn most_similar(
        &self,
        rows: &RowSet,
        budget: Budget,
        view: &RankView,
    ) -> (Cost, Vec<Arc<SearchedNode>>) {
        let mut found: Vec<(Cost, usize)> = Vec::new();
        for (at, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.budget == budget) {
            let mut lower = node.lower;
            for row in node.rows.without(rows) {
                lower = lower.saturating_sub(view.worst[row]);
                if lower <= 0 {
                    break;
                }
            }
            if lower > 0 {
                found.push((lower, at));
            }
        }
        found.sort_unstable_by_key(|&(lower, _)| std::cmp::Reverse(lower));
        let lower = found.first().map_or(0, |&(lower, _)| lower);
        let nodes = found.iter().take(MOST_SOURCES).map(|&(_, at)| self.nodes[at].clone());
        (lower, nodes.collect())
    }

    /// Hold a node, in place of what is held of the same rows, or of the oldest.
    pub fn keep(&mut self, node: SearchedNode) {
        self.bytes += node.bytes();
        let same = |held: &Arc<SearchedNode>| held.name == node.name && held.budget == node.budget;
        let at = match self.nodes.iter().position(same) {
            Some(at) => at,
            None if self.nodes.len() < MOST_NODES => {
                self.nodes.push(Arc::new(node));
                return;
            }
            None => {
                self.next = (self.next + 1) % MOST_NODES;
                self.next
            }
        };
        self.bytes -= self.nodes[at].bytes();
        self.nodes[at] = Arc::new(node);
    }

    pub fn bytes(&self) -> usize {
        self.bytes + self.nodes.capacity() * size_of::<Arc<SearchedNode>>()
    }
}
