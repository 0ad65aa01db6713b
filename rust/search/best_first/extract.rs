//! From bounds back to a tree: the plan that attains a node's upper bound.
//!
//! The order among equals is fixed, so that the tree is the same whichever worker came first: a
//! leaf, then the first split with which the look-ahead attains the optimum; else the split that
//! looks best to it, and of these the first question. What the search left open of splits that come
//! first, `ties` decides. When time is up, the splits that the search chose are taken without
//! another look at the pairs.

use super::budget::{Budget, Choice, NodeKey, UNLIMITED};
use super::descend::Worker;
use super::frame::Frame;
use super::look::child_budgets;
use super::table::Entry;
use crate::cost::Cost;
use crate::search::common::sync::lock;
use crate::tree::Plan;

impl Worker<'_, '_> {
    /// The best plan known for the whole problem, and its cost.
    pub fn extract(&mut self) -> (Plan, Cost) {
        let root = self.shared.root.key;
        self.plan(0, root)
    }

    fn plan(&mut self, at: usize, key: NodeKey) -> (Plan, Cost) {
        let mut frame = self.take_frame(at);
        if self.look(&mut frame, key.budget, 0).is_err() {
            self.glance(&mut frame);
        }
        let plan = self.plan_in(at, &mut frame, key);
        self.put_frame(at, frame);
        plan
    }

    fn plan_in(&mut self, at: usize, frame: &mut Frame, key: NodeKey) -> (Plan, Cost) {
        let rules = &self.shared.rules;
        let leaf = frame.look.whole.leaf + rules.leaf_cost;
        let shallow = rules.whole(&frame.look, key.budget).upper;
        let (upper, choice) = self.known(key);
        if leaf <= shallow.min(upper) {
            return (Plan::Leaf, leaf);
        }
        // Better than what one look finds is only what some worker found.
        let chosen = match choice {
            Some(choice) if upper < shallow => {
                Some(self.first_among_equals(at, frame, key, upper).unwrap_or(choice))
            }
            _ => None,
        };
        let chosen =
            chosen.and_then(|choice| Some((frame.find(choice.question)?, choice.left_leaves)));
        let look = &frame.look;
        let Some((column, left_leaves)) = chosen.or_else(|| rules.best(look, key.budget, shallow))
        else {
            return (Plan::Leaf, leaf);
        };
        let leaf_cost = rules.leaf_cost;
        let budgets = child_budgets(key.budget, left_leaves);
        let price: Cost = [0, 1].iter().map(|&side| frame.look.price(column, side).this).sum();
        let rows = self.fingerprints(frame, column);
        let [(left, a), (right, b)] = [0, 1].map(|side| {
            let all = Budget { depth: UNLIMITED, leaves: UNLIMITED };
            if self.build(at + 1, frame, (column, side), all).is_err() {
                // No room for these rows: what is known of them from here is that they can be a
                // leaf.
                return (Plan::Leaf, frame.look.sides[column][side].leaf + leaf_cost);
            }
            self.plan(at + 1, NodeKey { rows: rows[side], budget: budgets[side] })
        });
        let question = self.shared.bits.questions[frame.view.columns[column] as usize];
        (Plan::split(question.feature, question.cut, left, right), a + b + price)
    }

    /// A node's upper bound, and the split that has it if there is one.
    fn known(&self, key: NodeKey) -> (Cost, Option<Choice>) {
        match self.shared.table.get(&key) {
            Some(Entry::Solved(value)) => (value, None),
            Some(Entry::Open(node)) => (node.upper(), lock(&node.state).choice),
            None => (Cost::MAX, None),
        }
    }
}

/// The budget of the whole problem is the root's.
pub fn root_key(view: &crate::view::View, budget: Budget) -> NodeKey {
    NodeKey { rows: view.fingerprint(), budget }
}
