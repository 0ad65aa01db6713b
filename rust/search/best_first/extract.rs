//! From bounds back to a tree: the plan that attains a node's upper bound.
//!
//! The fixed order among equals: fewer leaves, then the lower question.

use super::descend::{Frame, Worker};
use super::look::child_budgets;
use super::node::{Budget, NodeKey, UNLIMITED};
use super::table::{Entry, lock};
use crate::cost::Cost;
use crate::tree::Plan;

impl Worker<'_, '_> {
    /// The best plan known for the whole problem, and its cost.
    pub fn extract(&mut self) -> (Plan, Cost) {
        let root = self.shared.root.key;
        self.plan(0, root)
    }

    fn plan(&mut self, at: usize, key: NodeKey) -> (Plan, Cost) {
        let mut frame = self.take_frame(at);
        self.look(&mut frame, key.budget);
        let plan = self.plan_in(at, &frame, key);
        self.put_frame(at, frame);
        plan
    }

    fn plan_in(&mut self, at: usize, frame: &Frame, key: NodeKey) -> (Plan, Cost) {
        let rules = &self.shared.rules;
        let look = &frame.look;
        let leaf = look.whole.leaf + rules.leaf_cost;
        let shallow = rules.whole(look, key.budget).upper;
        if leaf <= shallow.min(self.upper_of(key)) {
            return (Plan::Leaf, leaf);
        }
        // A split that some worker chose below the look-ahead's reach, if it is better than it.
        let deep = (self.upper_of(key) < shallow).then(|| self.choice_of(key)).flatten();
        let (column, left_leaves) = match deep {
            Some(choice) => (frame.column(choice.question), choice.left_leaves),
            None => rules
                .splits(look, key.budget)
                .find(|&(column, share)| {
                    let [a, b] = rules.children(look, column, share, key.budget);
                    a.upper + b.upper == shallow
                })
                .expect("the look-ahead's bound is attained"),
        };
        let budgets = child_budgets(key.budget, left_leaves);
        let rows = frame.view.fingerprints(column, self.level);
        let mut sides = [0, 1].map(|side| {
            self.build(
                at + 1,
                frame,
                (column, side),
                Budget { depth: UNLIMITED, leaves: UNLIMITED },
            );
            self.plan(at + 1, NodeKey { rows: rows[side], budget: budgets[side] })
        });
        let question = self.shared.bits.questions[frame.view.columns[column] as usize];
        let [(left, a), (right, b)] =
            std::mem::replace(&mut sides, [(Plan::Leaf, 0), (Plan::Leaf, 0)]);
        (Plan::split(question.feature, question.cut, left, right), a + b)
    }

    fn upper_of(&self, key: NodeKey) -> Cost {
        match self.shared.table.get(&key) {
            Some(Entry::Solved(value)) => value,
            Some(Entry::Open(node)) => node.upper(),
            None => Cost::MAX,
        }
    }

    fn choice_of(&self, key: NodeKey) -> Option<super::node::Choice> {
        match self.shared.table.get(&key) {
            Some(Entry::Open(node)) => lock(&node.state).choice,
            _ => None,
        }
    }
}

/// The budget of the whole problem is the root's.
pub fn root_key(view: &crate::view::View, budget: Budget) -> NodeKey {
    NodeKey { rows: view.fingerprint(), budget }
}
