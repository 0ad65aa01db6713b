//! What the sides of a node's splits tell of sides that hold them, by `bounds::parts`.

use super::alternatives::{Alternatives, Bounded, Next, Pick};
use super::budget::{Budget, UNLIMITED};
use super::descend::Worker;
use super::frame::Frame;
use super::look::Rules;
use super::node::Node;
use super::proved::Proved;
use crate::bounds::Bound;
use crate::bounds::parts::{Part, at_least};
use crate::cost::Cost;
use crate::view::{SideOf, Three, other_sides};

impl Rules {
    /// Whether sides are bounded by their parts in a node with this budget.
    fn bounds_by_parts(&self, budget: Budget) -> bool {
        self.parts && budget.depth != UNLIMITED && budget.leaves == UNLIMITED
    }

    /// What parts cost together at least, each with such a budget.
    fn together(&self, parts: impl Iterator<Item = Part>, budget: Budget) -> Cost {
        let leaves = Cost::from(budget.most_leaves());
        at_least(parts, leaves, self.leaf_cost, self.rounding)
    }
}

/// What is known of a side.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Where its split stands among the alternatives, if it does.
    place: Option<usize>,
    part: Part,
    upper: Cost,
}

impl<N: Bounded> Alternatives<N> {
    /// Where a question stands, if it does. Where depth is limited, each does once, in order.
    fn place_of(&self, question: u32) -> Option<usize> {
        self.list.binary_search_by_key(&question, |other| other.question).ok()
    }

    /// What is known of a side, whose split need not be listed.
    fn known(&self, frame: &Frame, rules: &Rules, (question, side): SideOf) -> Known {
        let column = frame.find(question);
        let least = column.map_or(0, |column| rules.least(&frame.look.sides[column][side]));
        let place = self.place_of(question);
        match place.map(|place| &self.list[place]) {
            Some(split) => Known {
                place,
                part: Part { least, lower: split.lower[side] },
                upper: split.upper[side],
            },
            None => Known { place, part: Part { least, lower: least }, upper: Cost::MAX },
        }
    }

    /// Raise each side of three splits that holds the other two. Returns how many splits that
    /// closes, because they cost `upper` then.
    fn unite(
        &mut self,
        frame: &Frame,
        rules: &Rules,
        budget: Budget,
        three: &Three,
        upper: Cost,
    ) -> u64 {
        let child = budget.child(UNLIMITED);
        let mut closed = 0;
        for (third, &(question, side)) in three.iter().enumerate() {
            let Some(place) = self.place_of(question) else { continue };
            let parts = other_sides(three, third).map(|side| self.known(frame, rules, side).part);
            let lower = rules.together(parts.into_iter(), child);
            closed += u64::from(self.list[place].closes(1 - side, lower, upper));
        }
        closed
    }

    /// The work on a side that holds two others may be less on these: they are smaller, and wanted
    /// for their own splits too. That is of use only if they can raise the side to its target.
    fn through_parts(
        &self,
        frame: &Frame,
        rules: &Rules,
        held: impl Iterator<Item = [SideOf; 2]>,
        pick: &Pick<N>,
    ) -> Option<Pick<N>> {
        let mut best: Option<(Cost, [Known; 2], [SideOf; 2])> = None;
        for sides in held {
            let both = sides.map(|side| self.known(frame, rules, side));
            if both.iter().any(|known| known.place.is_none()) {
                continue;
            }
            let most = both.iter().map(|known| Part { lower: known.upper, ..known.part });
            if rules.together(most, pick.budget) < pick.target {
                continue;
            }
            let lower = rules.together(both.iter().map(|known| known.part), pick.budget);
            if lower < pick.target && best.as_ref().is_none_or(|(most, ..)| lower > *most) {
                best = Some((lower, both, sides));
            }
        }
        let (lower, both, sides) = best?;
        let gap = |known: &Known| known.upper - known.part.lower;
        let first = usize::from(gap(&both[1]) > gap(&both[0]));
        let (known, (question, side)) = (both[first], sides[first]);
        if gap(&known) == 0 {
            return None;
        }
        let index = known.place?;
        Some(Pick {
            child: self.children.get(index).and_then(|children| children[side].clone()),
            index,
            side,
            question,
            budget: pick.budget,
            target: known.part.lower + pick.target - lower,
            lower: known.part.lower,
            price: 0,
        })
    }

    /// Take over what two nodes proved of their splits, whose rows are those of this one together.
    fn inherit_from_parts(
        &mut self,
        rules: &Rules,
        budget: Budget,
        parts: [&Proved; 2],
        upper: Cost,
    ) -> u64 {
        let child = budget.child(UNLIMITED);
        let mut closed = 0;
        let mut known = parts.map(|proved| proved.bounds.iter().peekable());
        for alternative in &mut self.list {
            let split = (alternative.question, alternative.left_leaves);
            let found = known.each_mut().map(|known| {
                while known.next_if(|(known, _)| *known < split).is_some() {}
                known.peek().filter(|(known, _)| *known == split).map(|(_, lower)| *lower)
            });
            let [Some(a), Some(b)] = found else { continue };
            for side in 0..2 {
                let parts = [a, b].map(|lower| Part { least: 0, lower: lower[side] });
                let lower = rules.together(parts.into_iter(), child);
                closed += u64::from(alternative.closes(side, lower, upper));
            }
        }
        closed
    }
}

impl Worker<'_, '_> {
    /// Rather work on the parts of a side, where that may be enough.
    pub(super) fn through_parts(
        &self,
        all: &Alternatives<Node>,
        frame: &Frame,
        budget: Budget,
        next: Next<Node>,
    ) -> Next<Node> {
        let rules = &self.shared.rules;
        let Next::Work(pick) = next else { return next };
        if !rules.bounds_by_parts(budget) {
            return Next::Work(pick);
        }
        let held = self.shared.bits.thirds.held_by((pick.question, pick.side));
        let part = all.through_parts(frame, rules, held, &pick);
        Next::Work(part.unwrap_or(pick))
    }

    /// Tell what is known of a split to the splits whose sides hold its own.
    pub(super) fn unite(
        &mut self,
        all: &mut Alternatives<Node>,
        frame: &Frame,
        node: &Node,
        question: u32,
    ) {
        let rules = &self.shared.rules;
        if rules.bounds_by_parts(node.key.budget) {
            for three in self.shared.bits.thirds.of_question(question) {
                let closed = all.unite(frame, rules, node.key.budget, three, node.upper());
                self.decided.add(Bound::Parts, closed);
            }
        }
    }

    /// Start a new node from what its parts proved of their splits, if both were worked on.
    pub(super) fn inherit_from_parts(
        &mut self,
        parent: &Frame,
        (column, side): (usize, usize),
        all: &mut Alternatives<Node>,
        node: &Node,
    ) {
        let (rules, budget) = (&self.shared.rules, node.key.budget);
        if !rules.bounds_by_parts(budget) {
            return;
        }
        let question = parent.view.columns[column];
        for sides in self.shared.bits.thirds.held_by((question, side)) {
            let proved = sides.map(|(question, side)| {
                let column = parent.find(question)?;
                let is = |s: &&Proved| (s.column, s.side, s.budget) == (column, side, budget);
                parent.siblings.iter().find(is)
            });
            if let [Some(a), Some(b)] = proved {
                let closed = all.inherit_from_parts(rules, budget, [a, b], node.upper());
                self.decided.add(Bound::Parts, closed);
            }
        }
    }
}
