//! The alternatives of an expanded node: its splits, with bounds on both children.

use std::sync::Arc;

use super::descend::Frame;
use super::look::{Rules, child_budgets};
use super::node::{Budget, Choice, Node, UNLIMITED};
use crate::cost::Cost;

/// One entry of each list for each split that may still be best. Children are virtual, bounds only,
/// until they are chosen.
#[derive(Debug, Default)]
pub struct Alternatives {
    /// Views of the same rows differ in the columns that repeat others, by the path that led to them, but
    /// the first question of every set of equal ones is in all of them.
    pub questions: Vec<u32>,
    pub left_leaves: Vec<u32>,
    pub lower: [Vec<Cost>; 2],
    pub upper: [Vec<Cost>; 2],
    pub children: Vec<[Option<Arc<Node>>; 2]>,
    /// Workers inside this alternative.
    pub busy: Vec<u32>,
}

/// Lower bounds on the children of every split of one child of a node.
#[derive(Debug)]
pub struct Proved {
    /// Which child.
    pub column: usize,
    pub side: usize,
    questions: Vec<u32>,
    lower: [Vec<Cost>; 2],
}

/// What to do next in a node.
#[derive(Debug, Clone, Copy)]
pub struct Pick {
    pub index: usize,
    pub side: usize,
    pub question: u32,
    pub budget: Budget,
    /// Raise the child's lower bound to this, or solve it.
    pub target: Cost,
    /// What is known of the child.
    pub lower: Cost,
}

impl Alternatives {
    /// The splits whose lower bound is below `upper`.
    pub fn new(
        frame: &Frame,
        budget: Budget,
        rules: &Rules,
        lower: Cost,
        upper: Cost,
    ) -> Alternatives {
        let look = &frame.look;
        let without = rules.without_sibling(look, budget, lower);
        let mut all = Alternatives::default();
        for (column, left_leaves) in rules.splits(look, budget) {
            if frame.repeats(column) || !rules.supports(&look.sides[column]) {
                continue;
            }
            let mut bounds = rules.children(look, column, left_leaves, budget);
            for side in 0..2 {
                let least = without - look.sides[column][1 - side].worst;
                bounds[side].lower = bounds[side].lower.max(least.min(bounds[side].upper));
            }
            if bounds[0].lower + bounds[1].lower >= upper {
                continue;
            }
            all.questions.push(frame.view.columns[column]);
            all.left_leaves.push(left_leaves);
            for (s, bounds) in bounds.iter().enumerate() {
                all.lower[s].push(bounds.lower);
                all.upper[s].push(bounds.upper);
            }
            all.children.push([None, None]);
            all.busy.push(0);
        }
        all
    }

    pub fn len(&self) -> usize {
        self.questions.len()
    }

    pub fn bytes(&self) -> i64 {
        (self.questions.capacity() * (4 + 4 + 32 + 16 + 4)) as i64
    }

    /// Take over what other paths have proved about the children.
    pub fn refresh(&mut self, index: usize) {
        for side in 0..2 {
            if let Some(node) = &self.children[index][side] {
                self.lower[side][index] = self.lower[side][index].max(node.lower());
                self.upper[side][index] = self.upper[side][index].min(node.upper());
            }
        }
    }

    /// The lowest bound of all, and the lowest upper bound with its split.
    pub fn bounds(&self) -> (Cost, Cost, usize) {
        let (mut lower, mut upper, mut best) = (Cost::MAX, Cost::MAX, 0);
        for i in 0..self.len() {
            lower = lower.min(self.lower[0][i] + self.lower[1][i]);
            let sum = self.upper[0][i] + self.upper[1][i];
            if sum < upper {
                (upper, best) = (sum, i);
            }
        }
        (lower, upper, best)
    }

    pub fn choice(&self, index: usize) -> Choice {
        Choice { question: self.questions[index], left_leaves: self.left_leaves[index] }
    }

    /// The alternative to work on next and, in it, the child with the larger gap; `None` if every
    /// alternative has reached `target`. Alternatives that others are in come last.
    ///
    /// Without a depth limit that is the least lower bound, and a little beyond it (`patience`). With one,
    /// lower bounds start out weak and all alternatives must reach the target anyway: then a good upper
    /// bound counts too, since it lowers the target for all others.
    pub fn pick(&mut self, target: Cost, budget: Budget, patience: Cost) -> Option<Pick> {
        loop {
            let weight = Cost::from(budget.depth != UNLIMITED);
            let mut first: Option<(u32, Cost, usize)> = None;
            let (mut least, mut second) = (Cost::MAX, Cost::MAX);
            for i in 0..self.len() {
                let lower = self.lower[0][i] + self.lower[1][i];
                if lower >= target {
                    continue;
                }
                let order =
                    (self.busy[i], lower + weight * (self.upper[0][i] + self.upper[1][i]), i);
                if first.is_none_or(|best| order < best) {
                    first = Some(order);
                    (least, second) = (lower, second.min(least));
                } else {
                    second = second.min(lower);
                }
            }
            let index = first?.2;
            let lower = least;
            self.refresh(index);
            if self.lower[0][index] + self.lower[1][index] > lower {
                continue;
            }
            let gap = |s: usize| self.upper[s][index] - self.lower[s][index];
            let side = usize::from(gap(1) > gap(0));
            let reach = target.min((second.saturating_add(1)).max(lower + patience));
            let left_leaves = self.left_leaves[index];
            return Some(Pick {
                index,
                side,
                question: self.questions[index],
                budget: child_budgets(budget, left_leaves)[side],
                target: reach - self.lower[1 - side][index],
                lower: self.lower[side][index],
            });
        }
    }

    /// Similarity: a child is worth at least a solved one less the worst loss of the rows it lacks.
    pub fn spread(&mut self, frame: &Frame, budget: Budget, pick: &Pick, lower: Cost) {
        let from = frame.column(pick.question);
        for i in 0..self.len() {
            let budgets = child_budgets(budget, self.left_leaves[i]);
            for side in 0..2 {
                if budgets[side] == pick.budget {
                    let column = frame.column(self.questions[i]);
                    let lost = frame.look.difference(from, pick.side, column, side);
                    let known = &mut self.lower[side][i];
                    // Bounds may meet but not cross: both are true of the same optimum.
                    *known = (*known).max((lower - lost).min(self.upper[side][i]));
                }
            }
        }
    }

    /// What a sibling of this node's set proved of its alternatives holds here, less the worst loss of
    /// the rows it had and this one lacks: `lost` by column and in all, of the alternative's side.
    pub fn inherit(
        &mut self,
        proved: &Proved,
        column: impl Fn(u32) -> usize,
        by_column: &[Cost],
        total: Cost,
    ) {
        let mut at = 0;
        for i in 0..self.len() {
            let question = self.questions[i];
            while at < proved.questions.len() && proved.questions[at] < question {
                at += 1;
            }
            if proved.questions.get(at) != Some(&question) {
                continue;
            }
            let ones = by_column[column(question)];
            for (side, lost) in [total - ones, ones].into_iter().enumerate() {
                let least = (proved.lower[side][at] - lost).min(self.upper[side][i]);
                self.lower[side][i] = self.lower[side][i].max(least);
            }
        }
    }

    /// What has been proved so far.
    pub fn proved(&self, column: usize, side: usize) -> Proved {
        Proved { column, side, questions: self.questions.clone(), lower: self.lower.clone() }
    }

    /// Forget the splits that cannot beat `upper`, unless somebody is in one.
    pub fn prune(&mut self, upper: Cost) {
        if self.busy.iter().any(|&busy| busy > 0) {
            return;
        }
        let keep: Vec<bool> =
            (0..self.len()).map(|i| self.lower[0][i] + self.lower[1][i] < upper).collect();
        fn retain<T>(list: &mut Vec<T>, keep: &[bool]) {
            let mut at = 0;
            list.retain(|_| {
                at += 1;
                keep[at - 1]
            });
        }
        retain(&mut self.questions, &keep);
        retain(&mut self.left_leaves, &keep);
        retain(&mut self.children, &keep);
        retain(&mut self.busy, &keep);
        for side in 0..2 {
            retain(&mut self.lower[side], &keep);
            retain(&mut self.upper[side], &keep);
        }
    }
}
