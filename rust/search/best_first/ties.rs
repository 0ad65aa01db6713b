//! Which of several splits that cost the same a finished search takes.
//!
//! A search proves that no split costs less than the optimum; which others cost as much it knows of
//! some only, and of which depends on the order of its steps. So once it is done, splits are tried
//! in an order that depends on their rows alone, and the search goes on for each until it is known
//! whether it costs the optimum or more. All that was proved so far stays true and helps.

use hashbrown::HashMap;

use super::alternatives::{Alternative, Alternatives, Pick};
use super::budget::{Choice, NodeKey, UNLIMITED};
use super::descend::Worker;
use super::frame::Frame;
use super::look::child_budgets;
use super::node::Node;
use super::table::Entry;
use crate::bounds::scope;
use crate::cost::Cost;
use crate::search::common::sync::lock;

impl Worker<'_, '_> {
    /// The first of the splits that cost `value`, the optimum of the node in frame `at`. `None` if
    /// the search did not finish or was stopped meanwhile, or if depth is limited.
    pub fn first_among_equals(
        &mut self,
        at: usize,
        frame: &mut Frame,
        key: NodeKey,
        value: Cost,
    ) -> Option<Choice> {
        // With a depth limit, to tell the optimum from one error more can cost more than the search
        // did.
        let unlimited = key.budget.depth == UNLIMITED;
        if !unlimited || !self.shared.root.solved() || !self.goes_on() {
            return None;
        }
        let rules = &self.shared.rules;
        let all = Alternatives::<Node>::all(frame, key.budget, rules, value);
        let mut open: Vec<Alternative> =
            all.map(|(_, found)| found).filter(|found| found.sum_lower() <= value).collect();
        open.sort_by_key(|found| (found.sum_upper(), found.question, found.left_leaves));
        self.recall(key, &mut open);
        for mut alternative in open {
            if self.costs(at, frame, key, &mut alternative, value)? {
                return Some(alternative.choice());
            }
        }
        None
    }

    /// Take over what the node, if it is kept, knows of its splits. That changes what is left to
    /// do, not the answer.
    fn recall(&self, key: NodeKey, splits: &mut [Alternative]) {
        let Some(Entry::Open(node)) = self.shared.table.get(&key) else { return };
        let state = lock(&node.state);
        let Some(all) = state.alternatives.as_ref() else { return };
        let known: HashMap<Choice, [Cost; 2]> =
            all.list.iter().map(|known| (known.choice(), known.lower)).collect();
        for split in splits {
            if let Some(lower) = known.get(&split.choice()) {
                for side in 0..2 {
                    split.tighten(side, lower[side], split.upper[side]);
                }
            }
        }
    }

    /// Whether a split costs `value`. It costs no less.
    fn costs(
        &mut self,
        at: usize,
        frame: &mut Frame,
        key: NodeKey,
        alternative: &mut Alternative,
        value: Cost,
    ) -> Option<bool> {
        let column = frame.find(alternative.question)?;
        let budgets = child_budgets(key.budget, alternative.left_leaves);
        let rows = self.fingerprints(frame, column);
        let prices = [0, 1].map(|side| frame.price(alternative.question, side));
        for side in 0..2 {
            let child = NodeKey { rows: rows[side], budget: budgets[side] };
            let (lower, upper) = match self.shared.table.get(&child) {
                Some(Entry::Solved(value)) => (value, value),
                Some(Entry::Open(node)) => (node.lower(), node.upper()),
                None => continue,
            };
            alternative.tighten(side, lower + prices[side], upper + prices[side]);
        }
        while alternative.sum_lower() <= value && alternative.sum_lower() < alternative.sum_upper()
        {
            let side = alternative.weaker(key.budget);
            let pick = Pick {
                child: None,
                index: 0,
                side,
                question: alternative.question,
                budget: budgets[side],
                target: scope::of_child(value + 1 - prices[side], alternative.lower[1 - side]),
                lower: alternative.lower[side] - prices[side],
                price: prices[side],
            };
            // This is search again, and the limits of a search hold.
            self.extracts = false;
            let bounds = self.child(at, frame, &pick);
            self.extracts = true;
            let (lower, upper, _) = bounds.ok().filter(|_| self.goes_on())?;
            alternative.tighten(side, lower + prices[side], upper + prices[side]);
        }
        Some(alternative.sum_lower() <= value)
    }
}
