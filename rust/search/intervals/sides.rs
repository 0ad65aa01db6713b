//! A look at a cut whose sides are not both of depth two. Where nothing but a penalty limits depth,
//! they are raised in turn, each a little further, because a side that must reach what the other
//! one leaves open has to be searched to its end as long as nothing is known of the other one.

use super::attempt::{Tried, first_side, settled_if, sides, split};
use super::budget::Budget;
use super::descend::{Begun, Frame, Worker};
use super::open_intervals::Try;
use crate::bounds::neighbouring_cuts::Edge;
use crate::bounds::{Bound, affordable_leaves, equivalent_points, scope};
use crate::cost::{Cost, INFINITE};
use crate::kernel::ranks::RankKernel;
use crate::run::Held;
use crate::search::common::Found;
use crate::tree::Plan;
use crate::view::{Part, RankNode};

/// How often a side is raised by a share of what is missing, before it has to give all of it: each
/// share is half of what is left, so that many of them would be steps that hardly matter.
const MOST_SHARES: usize = 4;

/// Both sides of a cut while they are searched.
struct Sides<'n, 'a, 'run, K: RankKernel> {
    parts: [Part<'n>; 2],
    budgets: [Budget; 2],
    /// What their trees cost at least beside penalties.
    floors: [Cost; 2],
    lower: [Cost; 2],
    /// The best trees known, and what they cost.
    upper: [Cost; 2],
    plans: [Plan; 2],
    /// Sides of three or more levels, which can be raised further.
    deep: [Option<Deep<'a, 'run, K>>; 2],
}

struct Deep<'a, 'run, K: RankKernel> {
    node: RankNode,
    begun: Begun<'a, 'run, K>,
    _held: Held<'a, 'run>,
}

impl<K: RankKernel> Sides<'_, '_, '_, K> {
    fn bound(&self) -> Cost {
        self.lower[0] + self.lower[1]
    }

    fn cost(&self) -> Cost {
        self.upper[0] + self.upper[1]
    }

    fn is_exact(&self, side: usize) -> bool {
        self.lower[side] >= self.upper[side]
    }
}

impl<'a, 'run, K: RankKernel> Worker<'_, 'a, 'run, K> {
    /// Look at one cut whose sides are not both of depth two: without limits on leaves, but for
    /// those that a budget without levels means.
    pub fn attempt_sides(
        &mut self,
        frame: &Frame<K>,
        budgets: [Budget; 2],
        tried: &Try,
        target: Cost,
    ) -> Tried {
        let mut both = self.sides(frame, budgets, tried);
        let closing = tried.closing(target);
        let (mut goal, mut raises) = (target, 0);
        let mut side = first_side(&both.parts, budgets);
        while !self.stopped() && both.bound() < goal {
            if both.is_exact(side) {
                side = 1 - side;
            }
            let own_target = self.own_target(&both, side, (goal, closing[side]), raises);
            if both.is_exact(side) || !self.raise_side(frame, &mut both, side, own_target) {
                break;
            }
            raises += 1;
            goal = goal.min(both.cost());
            side = 1 - side;
        }
        for (side, own_target) in tried.closing(goal).into_iter().enumerate() {
            if both.lower[side] < own_target && !both.is_exact(side) {
                self.raise_side(frame, &mut both, side, own_target);
            }
        }
        let [left, right] = both.lower;
        let edge = Edge { cut: tried.edge.cut, left, right };
        let is_refuted = edge.bound() >= goal;
        let exact = both.is_exact(0) && both.is_exact(1);
        self.decided.add_if(is_refuted && !exact, Some(Bound::Scope));
        let (cost, [left, right]) = (both.cost(), both.plans);
        let found = (cost < tried.upper).then(|| (cost, split(frame.node, tried, left, right)));
        Tried { edge, bound: edge.bound(), then: settled_if(is_refuted || exact), found }
    }

    /// What is known of both sides of a cut before they are searched.
    fn sides<'n>(
        &self,
        frame: &Frame<'n, K>,
        budgets: [Budget; 2],
        tried: &Try,
    ) -> Sides<'n, 'a, 'run, K> {
        let parts = sides(frame, tried);
        let kernel = self.shared.kernel;
        let floors = parts.map(|part| kernel.floor(part));
        let lower = self.at_least(&parts, tried);
        let (upper, plans) = ([INFINITE / 4; 2], [Plan::Leaf, Plan::Leaf]);
        Sides { parts, budgets, floors, lower, upper, plans, deep: [None, None] }
    }

    /// How far a side is raised next. What is searched anew each time goes as far as it must.
    fn own_target(
        &self,
        both: &Sides<K>,
        side: usize,
        (goal, closing): (Cost, Cost),
        raises: usize,
    ) -> Cost {
        let kernel = self.shared.kernel;
        let scope = scope::of_child(goal, both.lower[1 - side]);
        let depth = both.budgets[side].depth;
        let room = scope - both.floors[side];
        let is_shallow = affordable_leaves::levels(depth, kernel.leaf_cost(), room) <= 2;
        if is_shallow || both.budgets[side].is_limited() || raises >= MOST_SHARES {
            return scope.max(closing);
        }
        let gaps = [side, 1 - side].map(|side| both.upper[side] - both.lower[side]);
        let short = scope - both.lower[side];
        // Bounds rise by about a penalty at a time where penalties are what limits depth.
        let share = kernel.share(short, gaps, raises).max(kernel.leaf_cost());
        both.lower[side] + share.min(short)
    }

    /// Search one side until it costs at least `target`, or its best tree is known: with leaves of
    /// any rows, and with all leaves that its depth allows where a kernel knows those. Whether that
    /// was done.
    fn raise_side(
        &mut self,
        frame: &Frame<K>,
        both: &mut Sides<'_, 'a, 'run, K>,
        side: usize,
        target: Cost,
    ) -> bool {
        let (part, budget) = (both.parts[side], both.budgets[side]);
        let known = match budget.depth {
            0 | 1 => self.shallow(part, budget, 1),
            2 => self.two_of(part, frame.blocks(), side, target),
            _ => {
                if both.deep[side].is_none() {
                    if !self.has_room_for_child(frame.node) {
                        return false;
                    }
                    let node = RankNode::child(part, self.shared.view);
                    let held = Held::of(self.shared.run, node.bytes());
                    let begun = self.begin(&node);
                    both.deep[side] = Some(Deep { node, begun, _held: held });
                }
                let deep = both.deep[side].as_mut().expect("begun");
                self.raise(&deep.node, &mut deep.begun, (budget, 1), target);
                let Found { lower, upper, plan } = &deep.begun.found;
                Found { lower: *lower, upper: *upper, plan: plan.clone() }
            }
        };
        both.lower[side] = both.lower[side].max(known.lower);
        if known.upper < both.upper[side] {
            (both.upper[side], both.plans[side]) = (known.upper, known.plan);
        }
        both.lower[side] >= target || both.is_exact(side)
    }

    /// Lower bounds on both sides of a cut before they are looked at.
    pub fn at_least(&self, parts: &[Part; 2], tried: &Try) -> [Cost; 2] {
        let kernel = self.shared.kernel;
        let [left, right] = parts
            .map(|part| equivalent_points::at_least(kernel.floor(part), 1, kernel.leaf_cost()));
        [tried.edge.left.max(left), tried.edge.right.max(right)]
    }

    /// What a tree of a part costs at least that is deeper than two levels: it has four leaves.
    pub fn deeper(&self, part: Part) -> Cost {
        let kernel = self.shared.kernel;
        equivalent_points::at_least(kernel.floor(part), 4, kernel.leaf_cost())
    }
}
