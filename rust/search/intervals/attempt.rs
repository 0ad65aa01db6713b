//! A look at one cut: bounds on both sides, and the best tree with it, or the proof that all cost
//! at least a target.
//!
//! Where leaves must hold enough rows, or only so many leaves are allowed, the cut is looked at
//! without these limits first, because that is cheaper and mostly enough. Bounds on neighbouring
//! cuts survive a limit of leaves, but not a minimum of rows: with one they are those without it,
//! and what is proved with it holds for the cut alone.

use super::budget::Budget;
use super::descend::{Frame, Worker, solved};
use super::kept::kept;
use super::open_intervals::{OpenIntervals, Then, Try};
use crate::bounds::neighbouring_cuts::Edge;
use crate::bounds::{Bound, fewer_rows, scope};
use crate::cost::Cost;
use crate::ids::Side;
use crate::kernel::ranks::{RankKernel, Stump, stump_plan, stumps};
use crate::run::{Held, Status};
use crate::search::common::Found;
use crate::tree::Plan;
use crate::view::{Part, RankNode};

/// What came of looking at a cut.
pub struct Tried {
    /// Bounds on the sides that neighbouring cuts can be bounded with.
    pub edge: Edge,
    /// What the cut costs at least.
    pub bound: Cost,
    pub then: Then,
    pub found: Option<(Cost, Plan)>,
}

impl Tried {
    /// Take this in as what came of the cut.
    pub fn give<K: RankKernel>(self, open: &mut OpenIntervals, frame: &Frame<K>, tried: &Try) {
        if let Some((cost, plan)) = self.found {
            open.offer(cost, plan);
        }
        open.give(frame.node, tried, (self.edge, self.bound), self.then);
    }
}

/// Whether nothing more is to be done.
pub fn settled_if(settled: bool) -> Then {
    if settled { Then::Settle } else { Then::Again }
}

/// Both parts of a node that a cut makes.
pub fn sides<'n, K: RankKernel>(frame: &Frame<'n, K>, tried: &Try) -> [Part<'n>; 2] {
    [Side::Left, Side::Right].map(|side| {
        let cut = Some((tried.axis, tried.edge.cut as u32, side));
        Part { node: frame.node, cut }
    })
}

impl<K: RankKernel> Worker<'_, '_, '_, K> {
    /// Look at one cut until both sides cost at least `target` or are solved.
    pub fn attempt(&mut self, frame: &Frame<K>, tried: &Try, target: Cost) -> Tried {
        let budgets = frame.budget.of_sides(tried.division);
        if let Some(group) = tried.group {
            return self.attempt_group(frame, budgets, (tried, group), target);
        }
        // Where trees below the target have three levels at most, deeper sides cost as much as it.
        let reach = frame.reach(self.shared.kernel.leaf_cost(), target);
        let outcome = match budgets.map(|budget| budget.depth) {
            [2, 2] => self.attempt_two(frame, tried, (target, false)),
            [a, b] if a.min(b) >= 2 && reach <= 3 => self.attempt_two(frame, tried, (target, true)),
            _ => self.attempt_sides(frame, budgets, tried, target),
        };
        match frame.is_plain() {
            true => outcome,
            false => self.with_limits(frame, (budgets, tried), target, outcome),
        }
    }

    /// Look at one cut as if leaves were not limited, until all trees with it cost at least
    /// `relaxed` or the best of them is known. What it costs comes second; the tree is brought
    /// within the limits.
    pub fn attempt_relaxed(
        &mut self,
        frame: &Frame<K>,
        tried: &Try,
        relaxed: Cost,
    ) -> (Tried, Option<Cost>) {
        let budget = Budget::of_depth(frame.budget.depth);
        let plain = Frame { budget, least_rows: 1, ..*frame };
        let mut outcome = self.attempt(&plain, tried, relaxed);
        let found = outcome.found.take();
        outcome.found = found.as_ref().map(|(_, plan)| self.kept(frame, plan));
        (outcome, found.map(|(cost, _)| cost))
    }

    /// What came of a cut without the limits on leaves, and what they make of it.
    fn with_limits(
        &mut self,
        frame: &Frame<K>,
        (budgets, tried): ([Budget; 2], &Try),
        target: Cost,
        mut outcome: Tried,
    ) -> Tried {
        let mut own_target = target;
        let mut is_best = false;
        if let Some((_, plan)) = outcome.found.take() {
            let (kept_cost, plan) = self.kept(frame, &plan);
            is_best = kept_cost <= outcome.edge.bound();
            if kept_cost < target {
                own_target = kept_cost;
                outcome.found = Some((kept_cost, plan));
            }
        }
        let is_refuted = outcome.edge.bound() >= target;
        self.decided.add_if(is_refuted, Some(Bound::FewerLimits));
        if is_refuted || is_best || self.stopped() {
            return Tried { then: settled_if(is_refuted || is_best), ..outcome };
        }
        if !tried.division.is_one() {
            return Tried { then: Then::Divide, ..outcome };
        }
        if frame.least_rows > 1 {
            return Tried { then: self.grouping(frame, tried), ..outcome };
        }
        self.attempt_limited(frame, (budgets, tried), own_target, outcome)
    }

    /// The tree of a node within its limits.
    fn kept(&self, frame: &Frame<K>, plan: &Plan) -> (Cost, Plan) {
        let shared = (self.shared.kernel, self.shared.view);
        kept(shared, frame.node, (frame.budget, frame.least_rows), plan)
    }

    /// Cuts with few rows between them are bounded together from now on; others one by one.
    fn grouping(&self, frame: &Frame<K>, tried: &Try) -> Then {
        match tried.inner() {
            Some((first, last))
                if self.rows_between(frame, tried, first, last) <= frame.least_rows / 2 =>
            {
                Then::Group
            }
            _ => Then::Apart,
        }
    }

    /// The rows between two cuts of an axis.
    fn rows_between(&self, frame: &Frame<K>, tried: &Try, first: i64, last: i64) -> u64 {
        let axis = &frame.node.axes[tried.axis];
        let [start, stop] = [first, last].map(|cut| axis.ends[cut as usize] as usize);
        let rows = axis.order[start..stop].iter().map(|&row| frame.node.rows[row as usize]);
        self.shared.view.least_rows.as_ref().map_or(0, |of| of.count(rows))
    }

    /// Look at a group of neighbouring cuts, whose leaves must hold some rows: what is left of the
    /// first of them and right of the last bounds all, with a minimum that is less by the rows in
    /// between. One cut has none in between, and is searched itself.
    fn attempt_group(
        &mut self,
        frame: &Frame<K>,
        budgets: [Budget; 2],
        (tried, (first, last)): (&Try, (i64, i64)),
        target: Cost,
    ) -> Tried {
        let Try { axis, edge, .. } = *tried;
        let between = self.rows_between(frame, tried, first, last);
        let least_rows = fewer_rows::least(frame.least_rows, between);
        let part =
            |cut: i64, side: Side| Part { node: frame.node, cut: Some((axis, cut as u32, side)) };
        let parts = [part(first, Side::Left), part(last, Side::Right)];
        let (known, [left, right]) =
            self.sides_limited(frame, (parts, budgets, least_rows), (edge, [0; 2]), target);
        let bound = left + right;
        let is_solved = first == last && known.iter().all(is_exact);
        let is_refuted = bound >= target;
        self.decided.add_if(is_refuted && first < last, Some(Bound::FewerRows));
        let mut found = tree(frame.node, tried, known, target);
        if first < last {
            found = found.map(|(_, plan)| self.kept(frame, &plan)).filter(|kept| kept.0 < target);
        }
        let edge = Edge { left, right, ..edge };
        Tried { edge, bound, then: settled_if(is_refuted || is_solved), found }
    }

    /// Search both sides of a cut within a limit of leaves.
    fn attempt_limited(
        &mut self,
        frame: &Frame<K>,
        (budgets, tried): ([Budget; 2], &Try),
        target: Cost,
        outcome: Tried,
    ) -> Tried {
        let parts = sides(frame, tried);
        let asked = (outcome.edge, tried.closing(target));
        let (known, [left, right]) = self.sides_limited(frame, (parts, budgets, 1), asked, target);
        let exact = known.iter().all(is_exact);
        let found = tree(frame.node, tried, known, target).or(outcome.found);
        let edge = Edge { left, right, ..outcome.edge };
        let then = settled_if(exact || edge.bound() >= target);
        Tried { edge, bound: edge.bound(), then, found }
    }

    /// The best trees of two parts within limits, and lower bounds on them, which start from an
    /// edge's, until together they reach the target and each of them what it is to close.
    fn sides_limited(
        &mut self,
        frame: &Frame<K>,
        (parts, budgets, least_rows): ([Part; 2], [Budget; 2], u64),
        (edge, closing): (Edge, [Cost; 2]),
        target: Cost,
    ) -> ([Option<Found>; 2], [Cost; 2]) {
        let mut lower = [edge.left, edge.right];
        let mut known: [Option<Found>; 2] = [None, None];
        let first = first_side(&parts, budgets);
        for side in [first, 1 - first, first] {
            let own_target = closing[side].max(scope::of_child(target, lower[1 - side]));
            if is_exact(&known[side]) || lower[side] >= own_target || self.stopped() {
                continue;
            }
            let asked = (parts[side], budgets[side], least_rows);
            let Some(answer) = self.side_limited(frame.node, asked, own_target) else { break };
            lower[side] = lower[side].max(answer.lower);
            known[side] = Some(answer);
        }
        (known, lower)
    }

    /// The best tree of one side within the limits; none if memory does not last.
    fn side_limited(
        &mut self,
        node: &RankNode,
        (part, budget, least_rows): (Part, Budget, u64),
        target: Cost,
    ) -> Option<Found> {
        if budget.depth <= 1 {
            return Some(self.shallow(part, budget, least_rows));
        }
        if !self.has_room_for_child(node) {
            return None;
        }
        let child = RankNode::child_with_least_rows(part, self.shared.view, least_rows);
        let _held = Held::of(self.shared.run, child.bytes());
        Some(self.solve(&child, budget, target, least_rows))
    }

    /// A leaf, or the best tree of one level.
    pub fn shallow(&self, part: Part, budget: Budget, least_rows: u64) -> Found {
        let (kernel, view) = (self.shared.kernel, self.shared.view);
        if budget.depth == 0 {
            let rows = part.rows().iter().map(|&row| part.node.rows[row as usize]);
            return solved(kernel.leaf(&rows.collect::<Vec<u32>>()), Plan::Leaf);
        }
        self.shared.run.add_kernel_calls(1);
        let [any, enough] = stumps(kernel, part, view, least_rows);
        let Stump { cost, cut } = if least_rows <= 1 { any } else { enough };
        solved(cost, stump_plan(cut))
    }

    /// Whether there is room for a child of a node, which is no larger than its parent.
    pub fn has_room_for_child(&self, node: &RankNode) -> bool {
        let has_room = self.shared.run.fits(node.bytes() as u64);
        if !has_room {
            self.shared.run.stop(Status::MemoryLimit);
        }
        has_room
    }

    /// Look at one cut whose sides are both of depth two, as if leaves were not limited.
    /// `is_deeper`: they may be deeper, but not below the target.
    fn attempt_two(
        &mut self,
        frame: &Frame<K>,
        tried: &Try,
        (mut target, is_deeper): (Cost, bool),
    ) -> Tried {
        let (node, grid) = (frame.node, frame.blocks());
        let (kernel, run) = (self.shared.kernel, self.shared.run);
        let halt = || run.check_time().is_some();
        let (asked, parts) = (target, sides(frame, tried));
        let mut lower = self.at_least(&parts, tried);
        let caps = match is_deeper {
            true => [0, 1].map(|side| self.deeper(parts[side]).max(lower[side])),
            false => [Cost::MAX; 2],
        };
        let mut upper = [Cost::MAX / 4; 2];
        let closing = tried.closing(target);
        // The smaller side is cheaper to ask.
        let first = usize::from(parts[1].rows().len() < parts[0].rows().len());
        for side in [first, 1 - first] {
            run.add_kernel_calls(1);
            let own_target = scope::of_child(target, lower[1 - side]).max(closing[side]);
            kernel.begin(parts[side], grid, &mut self.twos[side], own_target, &halt);
            lower[side] = lower[side].max(kernel.lower(&self.twos[side]));
            upper[side] = kernel.upper(&self.twos[side]);
        }
        let (mut found, mut best) = (None, target.max(tried.upper));
        if upper[0] + upper[1] < best {
            let (a, left) = kernel.plan(parts[0], grid, &mut self.twos[0]);
            let (b, right) = kernel.plan(parts[1], grid, &mut self.twos[1]);
            best = a + b;
            target = target.min(best);
            found = Some((best, split(node, tried, left, right)));
        }
        let (mut side, mut raises) = (first, 0);
        loop {
            let short = target - lower[0] - lower[1];
            if short <= 0 {
                let why = if raises == 0 { Bound::Blocks } else { Bound::Scope };
                let exact = lower[0] >= upper[0] && lower[1] >= upper[1];
                self.decided.add_if(!exact, Some(why));
                break;
            }
            if halt() {
                break;
            }
            let spent = [0, 1].map(|s| kernel.is_spent(&self.twos[s]) || lower[s] >= upper[s]);
            if spent[side] {
                side = 1 - side;
            }
            if spent[side] {
                for (side, two) in self.twos.iter_mut().enumerate() {
                    if kernel.is_spent(two) {
                        kernel.settle(parts[side], grid, two, &halt);
                        lower[side] = lower[side].max(kernel.lower(two));
                        upper[side] = kernel.upper(two);
                    }
                }
                break;
            }
            let gaps = [side, 1 - side].map(|side| upper[side] - lower[side]);
            let own_target = lower[side] + kernel.share(short, gaps, raises);
            raises += 1;
            kernel.raise(parts[side], grid, &mut self.twos[side], own_target, &halt);
            lower[side] = lower[side].max(kernel.lower(&self.twos[side]));
            upper[side] = kernel.upper(&self.twos[side]);
            side = 1 - side;
        }
        let closing = tried.closing(target.min(upper[0] + upper[1]));
        for (side, own_target) in closing.into_iter().enumerate() {
            if lower[side] < own_target {
                kernel.raise(parts[side], grid, &mut self.twos[side], own_target, &halt);
                lower[side] = lower[side].max(kernel.lower(&self.twos[side]));
                upper[side] = kernel.upper(&self.twos[side]);
            }
        }
        if upper[0] + upper[1] < best {
            let (a, left) = kernel.plan(parts[0], grid, &mut self.twos[0]);
            let (b, right) = kernel.plan(parts[1], grid, &mut self.twos[1]);
            found = Some((a + b, split(node, tried, left, right)));
        }
        // Bounds from neighbours may be above what this part's own search has found.
        let [left, right] = [0, 1].map(|side| lower[side].min(caps[side]));
        let edge = Edge { cut: tried.edge.cut, left, right };
        let exact = lower[0] >= upper[0] && lower[1] >= upper[1];
        self.tell(0..2);
        let both = lower[0] + lower[1];
        let bound = if is_deeper { both.min(asked) } else { both };
        Tried { edge, bound, then: settled_if(exact || both >= target), found }
    }
}

/// Whether nothing is open of a side.
fn is_exact(side: &Option<Found>) -> bool {
    side.as_ref().is_some_and(|known| known.lower >= known.upper)
}

/// The side that is cheaper to ask: of less depth, or else smaller.
pub fn first_side(parts: &[Part; 2], budgets: [Budget; 2]) -> usize {
    let effort = |side: usize| (budgets[side].depth, parts[side].rows().len());
    usize::from(effort(1) < effort(0))
}

/// The tree of both sides, if it costs less than `target`.
fn tree(
    node: &RankNode,
    tried: &Try,
    known: [Option<Found>; 2],
    target: Cost,
) -> Option<(Cost, Plan)> {
    let [Some(left), Some(right)] = known else { return None };
    let cost = left.upper + right.upper;
    (cost < target).then(|| (cost, split(node, tried, left.plan, right.plan)))
}

pub fn split(node: &RankNode, tried: &Try, left: Plan, right: Plan) -> Plan {
    let axis = &node.axes[tried.axis];
    Plan::split(axis.feature, axis.cuts[tried.edge.cut as usize], left, right)
}
