//! What the children of one node tell of each other, by similarity.

use super::budget::UNLIMITED;
use super::descend::Worker;
use super::frame::Frame;
use super::node::Node;
use crate::bounds::Bound;
use crate::cost::Cost;
use crate::search::common::sync::lock;

/// How many siblings a new node learns from.
pub(super) const SIBLINGS: usize = 8;

impl Worker<'_, '_> {
    /// Start a new node from what its most similar siblings have proved of their alternatives.
    pub(super) fn inherit(&mut self, parent: &Frame, to: (usize, usize), node: &Node) {
        if !parent.look.has_overlaps() || parent.siblings.is_empty() {
            return;
        }
        let mut state = lock(&node.state);
        let Some(all) = state.alternatives.as_mut() else { return };
        let budget = node.key.budget;
        let context = self.shared.bits.context.as_ref();
        let below = |column: usize| {
            context.map(|context| context.enter(&parent.state, parent.view.columns[column]))
        };
        let own = below(to.0);
        let covers = |sibling: usize| match (context, &own, below(sibling)) {
            (Some(context), Some(own), Some(sibling)) => context.takes_trees_of(&sibling, own),
            _ => true,
        };
        let mut near: Vec<(Cost, usize)> = (parent.siblings.iter().enumerate())
            .filter(|(_, s)| s.budget == budget && covers(s.column))
            .map(|(i, s)| (parent.look.difference(s.column, s.side, to.0, to.1), i))
            .filter(|&(lost, _)| lost < node.upper())
            .collect();
        near.sort_unstable();
        for &(_, index) in near.iter().take(SIBLINGS) {
            let sibling = &parent.siblings[index];
            let (from, bits) = ((sibling.column, sibling.side), self.shared.bits);
            let total = parent.view.lost(&bits.segments, bits.n_stats, from, to, &mut self.lost);
            let column = |question| parent.column(question);
            let closed = all.inherit(sibling, column, (&self.lost, total), node.upper());
            self.decided.add(Bound::Similarity, closed);
        }
        self.inherit_from_parts(parent, to, all, node);
        self.settle(&mut state, node);
    }

    /// Keep what a child has proved for the siblings that come after it, and give back a solved
    /// child's alternatives.
    pub(super) fn leave(
        &mut self,
        parent: &mut Frame,
        (column, side): (usize, usize),
        node: &Node,
    ) {
        let mut state = lock(&node.state);
        let Some(all) = state.alternatives.as_mut() else { return };
        if parent.look.has_overlaps() && node.key.budget.depth != UNLIMITED {
            let proved = all.proved(column, side, node.key.budget);
            if self.shared.run.fits(proved.bytes() as u64) {
                parent.keep(proved);
            }
        }
        self.settle(&mut state, node);
        if node.solved() && state.alternatives.as_ref().is_some_and(|all| all.idle()) {
            self.shared.account.change(&mut *state, |state| state.alternatives = None);
        }
        drop(state);
        self.count(parent);
    }
}
