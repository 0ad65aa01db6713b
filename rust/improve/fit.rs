//! What a plan costs on some points, and the best of the plans that are left when some of its
//! splits become leaves.

use crate::cost::{Cost, INFINITE};
use crate::ids::FeatureId;
use crate::problem::{Problem, Shape};
use crate::tree::Plan;

/// What a plan may still use.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// The largest number without a limit.
    pub depth: u32,
    pub leaves: u32,
}

impl Room {
    pub fn of(problem: &Problem) -> Room {
        // Whether leaves are large enough is not a matter of room.
        let Shape { max_depth, max_leaves, min_leaf_rows: _ } = problem.shape;
        Room { depth: max_depth.unwrap_or(u32::MAX), leaves: max_leaves.unwrap_or(u32::MAX) }
    }

    pub fn below(self) -> Room {
        let depth = if self.depth == u32::MAX { u32::MAX } else { self.depth.saturating_sub(1) };
        Room { depth, ..self }
    }
}

/// What a single leaf costs on these points.
pub fn leaf(of: &Problem, points: &[u32]) -> Cost {
    of.task.leaf(&of.stats(points.iter().map(|&point| point as usize))).cost + of.leaf_cost
}

/// The points on both sides of a split.
pub fn parted(of: &Problem, (feature, cut): (FeatureId, u32), points: &[u32]) -> [Vec<u32>; 2] {
    let feature = of.features.get(feature.index());
    let goes_left = |&&point: &&u32| feature.goes_left(&of.points, point as usize, cut);
    let (left, right) = points.iter().partition(goes_left);
    [left, right]
}

fn has_room(of: &Problem, points: &[u32]) -> bool {
    let rows: u64 = points.iter().map(|&point| of.points.rows(point as usize)).sum();
    rows >= of.shape.min_leaf_rows.max(1)
}

/// The best plan that is left of this one within some room, with enough rows in each leaf of a
/// split; and what it costs.
pub fn fitted(of: &Problem, plan: &Plan, points: &[u32], room: Room) -> (Cost, Plan) {
    if room.leaves == u32::MAX {
        return without_limit(of, plan, points, room);
    }
    let fits = Fits::of(of, plan, points, room);
    let leaves = fits.costs.len();
    (fits.costs[leaves - 1], fits.plan(leaves))
}

fn without_limit(of: &Problem, plan: &Plan, points: &[u32], room: Room) -> (Cost, Plan) {
    let here = leaf(of, points);
    let (Plan::Split { feature, cut, left, right }, 1..) = (plan, room.depth) else {
        return (here, Plan::Leaf);
    };
    let sides = parted(of, (*feature, *cut), points);
    match [0, 1].map(|side: usize| has_room(of, &sides[side])) {
        [true, true] => {}
        // All go down the other side.
        [true, false] => return without_limit(of, left, points, room),
        [false, true] => return without_limit(of, right, points, room),
        [false, false] => return (here, Plan::Leaf),
    }
    let (a, left) = without_limit(of, left, &sides[0], room.below());
    let (b, right) = without_limit(of, right, &sides[1], room.below());
    match a + b < here {
        true => (a + b, Plan::split(*feature, *cut, left, right)),
        false => (here, Plan::Leaf),
    }
}

/// What is left of a plan with at most 1, 2, … leaves.
struct Fits {
    /// By leaves less 1: never more than the one before.
    costs: Vec<Cost>,
    /// How many of the leaves are on the left; 0 for a single leaf.
    lefts: Vec<u32>,
    split: Option<(FeatureId, u32, Box<[Fits; 2]>)>,
}

impl Fits {
    fn of(of: &Problem, plan: &Plan, points: &[u32], room: Room) -> Fits {
        let here = leaf(of, points);
        let mut fits = Fits { costs: vec![here], lefts: vec![0], split: None };
        let Plan::Split { feature, cut, left, right } = plan else { return fits };
        if room.depth == 0 || room.leaves < 2 {
            return fits;
        }
        let sides = parted(of, (*feature, *cut), points);
        match [0, 1].map(|side: usize| has_room(of, &sides[side])) {
            [true, true] => {}
            [true, false] => return Fits::of(of, left, points, room),
            [false, true] => return Fits::of(of, right, points, room),
            [false, false] => return fits,
        }
        let below = Room { leaves: room.leaves - 1, ..room.below() };
        let a = Fits::of(of, left, &sides[0], below);
        let b = Fits::of(of, right, &sides[1], below);
        let all = (room.leaves as usize).min(a.costs.len() + b.costs.len());
        for leaves in 2..=all {
            let least = leaves.saturating_sub(b.costs.len()).max(1);
            let most = (leaves - 1).min(a.costs.len());
            let (mut cost, mut lefts) = (INFINITE, 0);
            for own in least..=most {
                let sum = a.costs[own - 1] + b.costs[leaves - own - 1];
                if sum < cost {
                    (cost, lefts) = (sum, own as u32);
                }
            }
            let (before, by) = (fits.costs[leaves - 2], fits.lefts[leaves - 2]);
            fits.costs.push(cost.min(before));
            fits.lefts.push(if cost < before { lefts } else { by });
        }
        fits.split = Some((*feature, *cut, Box::new([a, b])));
        fits
    }

    /// The best with at most so many leaves.
    fn plan(&self, leaves: usize) -> Plan {
        // The fewest leaves at this cost.
        let cost = self.costs[leaves - 1];
        let at = self.costs.partition_point(|&other| other > cost);
        match (&self.split, self.lefts[at]) {
            (None, _) | (_, 0) => Plan::Leaf,
            (Some((feature, cut, sides)), lefts) => {
                let [left, right] = &**sides;
                let lefts = lefts as usize;
                Plan::split(*feature, *cut, left.plan(lefts), right.plan(at + 1 - lefts))
            }
        }
    }
}
