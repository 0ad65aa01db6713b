//! Where nearly all splits of a node are open, and few levels are left: what both sides of each
//! cost, from one pass over all sets of columns (`kernel::bits::column_sets`).
//!
//! That says what a split costs, but not by which tree. So these are lower bounds for the search,
//! which then looks only at splits that cost no more than any other.

use super::alternatives::{Alternative, Alternatives};
use super::budget::UNLIMITED;
use super::descend::Worker;
use super::frame::Frame;
use super::node::Node;
use crate::cost::INFINITE;
use crate::kernel::{Ask, BothSides, Unfinished};
use crate::run::Status;
use crate::search::common::sync::lock;

/// Unless one in so many splits is open, each is looked at by itself.
const OPEN: usize = 4;

/// More rows than this are not gone through by sets of four columns, or of five: that takes long,
/// and nothing is known before its end.
const MOST_ROWS: usize = 1 << 16;

impl Worker<'_, '_> {
    /// Raise the lower bounds of all splits of a node in `frame`, if that is worth it. Only one
    /// worker does so, and others go on meanwhile.
    pub(super) fn bound_both_sides(
        &mut self,
        frame: &mut Frame,
        node: &Node,
    ) -> Result<(), Unfinished> {
        let Some(levels) = self.levels_at_once(frame, node) else { return Ok(()) };
        let ask = self.ask_for_sides();
        let run = self.shared.run;
        let halt = || run.stopped().is_some();
        let found = self.kernel.both_sides(&frame.view, ask, levels, &halt, &frame.look);
        run.add_kernel_calls(1);
        self.count(frame);
        if let Err(Unfinished::TaskFailed) = found {
            run.stop(Status::Interrupted);
        }
        let Some(BothSides { costs, are_exact }) = found? else { return Ok(()) };
        let mut state = lock(&node.state);
        let Some(all) = state.alternatives.as_mut() else { return Ok(()) };
        for alternative in &mut all.list {
            let costs = costs[frame.column(alternative.question)];
            for (side, cost) in costs.into_iter().enumerate() {
                alternative.tighten(side, cost, alternative.upper[side]);
            }
        }
        let least = all.list.iter().map(Alternative::sum_lower).min().unwrap_or(INFINITE);
        if are_exact {
            // The others cost more than one of these.
            let prune = |all: &mut Alternatives<Node>| all.prune(least.saturating_add(1));
            self.shared.account.change(&mut **all, prune);
        }
        let least = least.min(node.upper());
        node.raise(least);
        self.shared.check(node);
        Ok(())
    }

    /// What `both_sides` of a kernel is asked.
    pub(super) fn ask_for_sides(&self) -> Ask {
        let rules = &self.shared.rules;
        Ask { min_rows: rules.min_rows, leaf_cost: rules.leaf_cost, ..Ask::default() }
    }

    /// How many levels of trees for a node to go through at once, if so.
    fn levels_at_once(&mut self, frame: &Frame, node: &Node) -> Option<usize> {
        let budget = node.key.budget;
        let levels = match budget.depth {
            3 => 3,
            levels @ 4..=5 if frame.view.len() <= MOST_ROWS => levels as usize,
            _ => return None,
        };
        if self.extracts || budget.leaves != UNLIMITED || !frame.is_seen() {
            return None;
        }
        let bytes = self.kernel.bytes_for_both_sides(&frame.view, self.ask_for_sides(), levels)?;
        let mut state = lock(&node.state);
        let all = state.alternatives.as_ref()?;
        let is_open = |split: &&Alternative| split.sum_lower() < split.sum_upper();
        let n_open = all.list.iter().filter(is_open).count();
        // Splits that are not listed would stay unknown.
        let unlisted = all.beyond < node.upper();
        if state.summed || unlisted || n_open * OPEN < frame.view.columns.len() {
            return None;
        }
        state.summed = true;
        drop(state);
        self.reserve(bytes.saturating_sub(self.kernel.bytes())).then_some(levels)
    }
}
