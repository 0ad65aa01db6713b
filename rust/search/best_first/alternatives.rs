//! The alternatives of an expanded node: its splits, with bounds on both children.

use std::cell::Cell;

use super::budget::{Budget, Choice, UNLIMITED};
use super::frame::Frame;
use super::look::{Rules, child_budgets};
use super::proved::Proved;
use crate::bounds::{Bound, Decisions, scope, similarity};
use crate::cost::Cost;
use crate::run::HeapBytes;
use crate::search::common::sync::Arc;

/// A node, as its parent's alternatives see it.
pub trait Bounded {
    /// lower <= optimum <= upper.
    fn bounds(&self) -> (Cost, Cost);
}

/// A split that may still be best. Its children are virtual, bounds only, until they are chosen.
#[derive(Debug, Clone)]
pub struct Alternative {
    /// Of each child with what its rows pay for this split.
    pub lower: [Cost; 2],
    pub upper: [Cost; 2],
    /// Views of the same rows differ in the columns that repeat others, by the path that led to
    /// them, but the first question of every set of equal ones is in all of them. So this is no
    /// column.
    pub question: u32,
    /// Leaves that the 0 side may have.
    pub left_leaves: u32,
    /// Workers inside this alternative.
    pub busy: u32,
}

impl Alternative {
    pub fn sum_lower(&self) -> Cost {
        self.lower[0] + self.lower[1]
    }

    pub fn sum_upper(&self) -> Cost {
        self.upper[0] + self.upper[1]
    }

    /// The child to work on. Under a depth limit that is the one with the larger gap. Without one
    /// it is the one with the smaller lower bound, mostly the smaller set: its bound rises with
    /// less work, and a proof that needs only a part of an alternative should take the cheaper
    /// part.
    pub fn weaker(&self, budget: Budget) -> usize {
        let gap = [self.upper[0] - self.lower[0], self.upper[1] - self.lower[1]];
        if budget.depth != UNLIMITED || gap[0] == 0 || gap[1] == 0 {
            usize::from(gap[1] > gap[0])
        } else {
            usize::from(self.lower[1] < self.lower[0])
        }
    }

    /// Bounds may meet but not cross: both are true of the same optimum.
    fn raise(&mut self, side: usize, lower: Cost) {
        self.lower[side] = self.lower[side].max(lower.min(self.upper[side]));
    }

    /// Raise a child's bound by similarity. True if that closes the split, because it then costs
    /// `upper`.
    pub(super) fn closes(&mut self, side: usize, lower: Cost, upper: Cost) -> bool {
        let before = self.sum_lower();
        self.raise(side, lower);
        before < upper && self.sum_lower() >= upper
    }

    /// Take in what is proved of a child. Only where floors are guessed may there be a tree below a
    /// lower bound: one that beats the guess, and then it counts.
    pub fn tighten(&mut self, side: usize, lower: Cost, upper: Cost) {
        self.upper[side] = self.upper[side].min(upper);
        self.lower[side] = self.lower[side].max(lower).min(self.upper[side]);
    }

    pub fn choice(&self) -> Choice {
        Choice { question: self.question, left_leaves: self.left_leaves }
    }
}

/// A split with its lower bound, and how cheap it looks by the look-ahead alone.
#[derive(Debug, Clone, Copy)]
pub struct Weakest {
    pub cost: Cost,
    pub looks: Cost,
    pub split: Choice,
}

/// In the order of questions, and of leaves of the 0 side; what is listed later comes after them.
#[derive(Debug)]
pub struct Alternatives<N> {
    pub list: Vec<Alternative>,
    /// Only splits that look cheaper than this are listed: most others are never needed.
    pub(super) limit: Cost,
    /// The least lower bound of the others.
    pub(super) beyond: Cost,
    /// The nodes of both children of each, once they were chosen; empty until then.
    pub(super) children: Vec<[Option<Arc<N>>; 2]>,
}

/// What to do next in a node.
#[derive(Debug, Clone)]
pub struct Pick<N> {
    /// The child's node, if it was chosen before.
    pub child: Option<Arc<N>>,
    pub index: usize,
    pub side: usize,
    pub question: u32,
    pub budget: Budget,
    /// Raise the child's lower bound to this, or solve it.
    pub target: Cost,
    /// What is known of the child.
    pub lower: Cost,
    /// What its rows pay for the split, which is in neither of the two.
    pub price: Cost,
}

/// What a node should do next.
#[derive(Debug)]
pub enum Next<N> {
    Work(Pick<N>),
    /// List more splits: one that is not listed may be cheaper than all that are.
    Widen,
    /// Nothing is left below the target.
    Done,
}

impl<N: Bounded> Alternatives<N> {
    /// No split is listed.
    pub fn new() -> Self {
        Alternatives { list: Vec::new(), limit: 0, beyond: 0, children: Vec::new() }
    }

    /// List the splits that look cheaper than `limit` too, but none that is proved to cost `upper`:
    /// what proved it is counted.
    pub fn widen(
        &mut self,
        frame: &Frame,
        budget: Budget,
        rules: &Rules,
        (lower, upper): (Cost, Cost),
        limit: Cost,
        decided: &mut Decisions,
    ) {
        // What looks cheaper than the limit so far is listed, or was found to be too dear.
        let (known, limit) = (self.limit, self.limit.max(limit));
        let others = || Self::all(frame, budget, rules, lower).filter(|(looks, _)| *looks >= known);
        let needless = Cell::new(0);
        let all = Self::all_but(frame, budget, rules, lower, || needless.set(needless.get() + 1));
        // Counted first: most nodes keep few of many, and there are millions of them.
        let (mut more, mut beyond) = (0, Cost::MAX);
        for (looks, alternative) in all.filter(|(looks, _)| *looks >= known) {
            if alternative.sum_lower() >= upper {
                if looks < limit {
                    let (cost, split) = (alternative.sum_lower(), alternative.choice());
                    let weak = Weakest { cost, looks, split };
                    decided.add_if(true, rules.why_split(frame, budget, &weak, upper));
                }
            } else if looks < limit {
                more += 1;
            } else {
                beyond = beyond.min(alternative.sum_lower());
            }
        }
        // Later, the same splits are left out again.
        if known == 0 {
            decided.add(Bound::ChildSupport, needless.get());
        }
        self.list.reserve_exact(more);
        let found = others().filter(|(looks, found)| *looks < limit && found.sum_lower() < upper);
        self.list.extend(found.map(|(_, found)| found));
        (self.limit, self.beyond) = (limit, beyond);
    }

    /// The split with the least lower bound.
    pub fn least(frame: &Frame, budget: Budget, rules: &Rules, lower: Cost) -> Option<Weakest> {
        let mut least: Option<Weakest> = None;
        for (looks, alternative) in Self::all(frame, budget, rules, lower) {
            let cost = alternative.sum_lower();
            if least.as_ref().is_none_or(|known| cost < known.cost) {
                least = Some(Weakest { cost, looks, split: alternative.choice() });
            }
        }
        least
    }

    /// Every split that is worth a look, with its bounds, and how cheap it looks by the look-ahead
    /// alone, which says the same each time. `lower` is known of the node.
    pub fn all<'a>(
        frame: &'a Frame,
        budget: Budget,
        rules: &'a Rules,
        lower: Cost,
    ) -> impl Iterator<Item = (Cost, Alternative)> + 'a {
        Self::all_but(frame, budget, rules, lower, || ())
    }

    /// Every split as `all` has it; `needless` is told of each that is left out because one of its
    /// sides need not be split off.
    fn all_but<'a>(
        frame: &'a Frame,
        budget: Budget,
        rules: &'a Rules,
        lower: Cost,
        needless: impl Fn() + 'a,
    ) -> impl Iterator<Item = (Cost, Alternative)> + 'a {
        let look = &frame.look;
        let without = if frame.binds { 0 } else { rules.without_sibling(look, budget, lower) };
        let supports = move |column: usize| {
            let supports = frame.binds || rules.supports(&look.sides[column]);
            if !supports {
                needless();
            }
            supports
        };
        rules
            .splits(look, budget)
            .filter(move |&(column, _)| {
                frame.part.is_none_or(|part| part.has(frame.view.columns[column]))
            })
            .filter(move |&(column, _)| !frame.repeats(column) && supports(column))
            .map(move |(column, left_leaves)| {
                let [a, b] = rules.children(look, column, left_leaves, budget);
                let mut alternative = Alternative {
                    lower: [a.lower, b.lower],
                    upper: [a.upper, b.upper],
                    question: frame.view.columns[column],
                    left_leaves,
                    busy: 0,
                };
                let looks = alternative.sum_lower();
                for side in 0..2 {
                    let sibling = look.sides[column][1 - side].worst;
                    alternative.raise(side, similarity::at_least(without, sibling));
                }
                (looks, alternative)
            })
    }

    /// The lowest bound of all.
    pub fn lower(&self) -> Cost {
        self.list.iter().map(Alternative::sum_lower).fold(self.beyond, Cost::min)
    }

    /// The alternative to work on next, and which of its children; none if every alternative has
    /// reached `target`. Alternatives that others are in come last.
    ///
    /// Without a depth limit that is the least lower bound, and a little beyond it (`patience`).
    /// With one, lower bounds start out weak and all alternatives must reach the target anyway:
    /// then a good upper bound counts too, since it lowers the target for all others.
    ///
    /// Also gives the least lower bound of all.
    pub fn pick(
        &mut self,
        frame: &Frame,
        target: Cost,
        budget: Budget,
        patience: Cost,
    ) -> (Cost, Next<N>) {
        let weight = Cost::from(budget.depth != UNLIMITED);
        loop {
            let mut first: Option<(u32, Cost, usize)> = None;
            let (mut least, mut second, mut floor) = (Cost::MAX, self.beyond, self.beyond);
            for (i, alternative) in self.list.iter().enumerate() {
                let lower = alternative.sum_lower();
                floor = floor.min(lower);
                if lower >= target {
                    continue;
                }
                let order = (alternative.busy, lower + weight * alternative.sum_upper(), i);
                if first.is_none_or(|best| order < best) {
                    first = Some(order);
                    second = second.min(least);
                    least = lower;
                } else {
                    second = second.min(lower);
                }
            }
            if self.beyond < least.min(target) {
                return (floor, Next::Widen);
            }
            let Some((.., index)) = first else { return (floor, Next::Done) };
            self.refresh(frame, index);
            let alternative = &self.list[index];
            if alternative.sum_lower() > least {
                continue;
            }
            let side = alternative.weaker(budget);
            let price = frame.price(alternative.question, side);
            let reach = target.min(second.saturating_add(1).max(least + patience));
            let pick = Pick {
                child: self.children.get(index).and_then(|children| children[side].clone()),
                index,
                side,
                question: alternative.question,
                budget: child_budgets(budget, alternative.left_leaves)[side],
                target: scope::of_child(reach - price, alternative.lower[1 - side]),
                lower: alternative.lower[side] - price,
                price,
            };
            return (floor, Next::Work(pick));
        }
    }

    /// Remember the node of a child.
    pub fn adopt(&mut self, index: usize, side: usize, node: Arc<N>) {
        self.children.resize(self.list.len(), [None, None]);
        self.children[index][side] = Some(node);
    }

    /// Take over what other paths have proved about the children.
    fn refresh(&mut self, frame: &Frame, index: usize) {
        let Some(children) = self.children.get(index) else { return };
        let alternative = &mut self.list[index];
        for (side, child) in children.iter().enumerate() {
            if let Some(node) = child {
                let price = frame.price(alternative.question, side);
                let (lower, upper) = node.bounds();
                alternative.tighten(side, lower + price, upper + price);
            }
        }
    }

    /// Similarity: a child is worth at least a solved one less the worst loss of the rows it lacks.
    /// `covers`: whether whatever is allowed below another question is allowed below this one too.
    /// Returns how many splits that closes, because they cost `upper` then.
    pub fn spread(
        &mut self,
        frame: &Frame,
        budget: Budget,
        (pick, lower): (&Pick<N>, Cost),
        upper: Cost,
        covers: impl Fn(u32) -> bool,
    ) -> u64 {
        let mut closed = 0;
        let from = frame.column(pick.question);
        for alternative in self.list.iter_mut().filter(|other| covers(other.question)) {
            let budgets = child_budgets(budget, alternative.left_leaves);
            for side in 0..2 {
                if budgets[side] == pick.budget {
                    let column = frame.column(alternative.question);
                    let lost = frame.look.difference(from, pick.side, column, side);
                    let known = similarity::at_least(lower, lost);
                    closed += u64::from(alternative.closes(side, known, upper));
                }
            }
        }
        closed
    }

    /// What a sibling of this node's set proved of its alternatives holds here, less the worst loss
    /// of the rows it had and this one lacks: `lost` by column and in all, of the alternative's
    /// side. Returns how many splits that closes, because they cost `upper` then.
    pub fn inherit(
        &mut self,
        proved: &Proved,
        column: impl Fn(u32) -> usize,
        (by_column, total): (&[Cost], Cost),
        upper: Cost,
    ) -> u64 {
        let mut closed = 0;
        let mut known = proved.bounds.iter().peekable();
        for alternative in &mut self.list {
            let split = (alternative.question, alternative.left_leaves);
            while known.next_if(|(known, _)| *known < split).is_some() {}
            let Some((known, lower)) = known.peek() else { break };
            if *known == split {
                let ones = by_column[column(alternative.question)];
                for (side, lost) in [total - ones, ones].into_iter().enumerate() {
                    let known = similarity::at_least(lower[side], lost);
                    closed += u64::from(alternative.closes(side, known, upper));
                }
            }
        }
        closed
    }

    /// What has been proved so far.
    pub fn proved(&self, column: usize, side: usize, budget: Budget) -> Proved {
        let bounds = self.list.iter().map(|a| ((a.question, a.left_leaves), a.lower)).collect();
        Proved { column, side, budget, bounds }
    }

    /// Whether no worker is inside any of the alternatives.
    pub fn idle(&self) -> bool {
        self.list.iter().all(|alternative| alternative.busy == 0)
    }

    /// Forget the splits that cannot beat `upper`, unless somebody is in one.
    pub fn prune(&mut self, upper: Cost) {
        if self.idle() {
            let keep: Vec<bool> = self.list.iter().map(|a| a.sum_lower() < upper).collect();
            let mut kept = keep.iter();
            self.children.retain(|_| *kept.next().unwrap_or(&true));
            let mut kept = keep.iter();
            self.list.retain(|_| *kept.next().unwrap_or(&true));
        }
    }
}

impl<N> HeapBytes for Alternatives<N> {
    /// With themselves, because nodes have them in a box.
    fn heap_bytes(&self) -> usize {
        let children = self.children.capacity() * size_of::<[Option<Arc<N>>; 2]>();
        size_of::<Self>() + self.list.capacity() * size_of::<Alternative>() + children
    }
}
