//! Trees that are made of the best subtrees of little depth: from the root down, each split is that
//! of the best tree of depth two; and subtrees of a tree that is known are searched again.

use std::collections::HashMap;
use std::time::Duration;

use super::fit::{Room, fitted, parted};
use super::greedy::{self, Scorer};
use super::help::Help;
use super::part::{Cuts, Part};
use crate::cost::INFINITE;
use crate::problem::{Problem, Shape};
use crate::tree::Plan;

/// How deep the best tree is that each split is taken from.
const LOOK_AHEAD: u32 = 2;

/// No tree is grown beyond this.
const DEEPEST: u32 = 24;

/// What is known of subtrees, by what their points hash to and what they may spend: how long they
/// were searched in vain, the longest time for those that were found to be the best.
pub type Solved = HashMap<(u64, u32, u32), Duration>;

/// What was searched in vain is searched again with so many times the time.
const LONGER: u32 = 2;

fn hash(points: &[u32]) -> u64 {
    let mixed = |&point: &u32| {
        let hash = (u64::from(point) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (hash ^ (hash >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
    };
    points.iter().map(mixed).fold(0, u64::wrapping_add)
}

fn shape(of: &Problem, depth: u32, leaves: u32) -> Shape {
    let never_reached = depth < 31 && leaves >= 1 << depth;
    Shape {
        max_depth: Some(depth),
        max_leaves: (!never_reached && leaves < u32::MAX).then_some(leaves),
        ..of.shape
    }
}

/// A tree whose every split is the first of the best tree of depth two there, among these cuts.
/// Where time is over, it goes on as a greedy tree.
pub fn look_ahead(
    scorer: &Scorer,
    of: &Problem,
    help: Help,
    (points, room): (&[u32], Room),
    cuts: &Cuts,
) -> Plan {
    if room.depth == 0 || points.len() < 2 {
        return Plan::Leaf;
    }
    if !help.goes_on() || room.depth > DEEPEST && of.shape.max_depth.is_some() {
        return greedy::grow(scorer, points.to_vec(), room, &|| help.goes_on());
    }
    let depth = room.depth.min(LOOK_AHEAD);
    let found = Part::new(of, points, cuts, shape(of, depth, u32::MAX))
        .map(|part| help.share(2).search_part(&part, INFINITE).plan);
    let Ok(Some(Plan::Split { feature, cut, left, right })) = found else { return Plan::Leaf };
    if room.depth <= LOOK_AHEAD {
        return Plan::split(feature, cut, *left, *right);
    }
    let below = match room.depth {
        u32::MAX => Room { depth: DEEPEST, ..room },
        _ => room.below(),
    };
    let [lefts, rights] = parted(of, (feature, cut), points);
    let left = look_ahead(scorer, of, help.share(2), (&lefts, below), cuts);
    let right = look_ahead(scorer, of, help, (&rights, below), cuts);
    Plan::split(feature, cut, left, right)
}

/// Searches the subtrees of a tree again.
pub struct Repair<'a> {
    pub of: &'a Problem,
    /// Subtrees of so much depth are searched again.
    pub levels: u32,
    pub solved: &'a mut Solved,
    /// Whether all of them were searched to the end.
    pub is_complete: bool,
}

impl Repair<'_> {
    /// The plan with its subtrees as good as can be. `spare`: leaves that it may have more.
    pub fn plan(
        &mut self,
        help: Help,
        plan: Plan,
        (points, room): (&[u32], Room),
        spare: &mut u32,
    ) -> Plan {
        if room.depth == 0 || points.len() < 2 {
            return plan;
        }
        if room.depth <= self.levels || plan.depth() <= self.levels {
            return self.subtree(help, plan, (points, room), spare);
        }
        let Plan::Split { feature, cut, left, right } = plan else { return plan };
        let sides = parted(self.of, (feature, cut), points);
        let left = self.plan(help, *left, (&sides[0], room.below()), spare);
        let right = self.plan(help, *right, (&sides[1], room.below()), spare);
        Plan::split(feature, cut, left, right)
    }

    fn subtree(
        &mut self,
        help: Help,
        plan: Plan,
        (points, room): (&[u32], Room),
        spare: &mut u32,
    ) -> Plan {
        let is_limited = room.leaves < u32::MAX;
        let depth = room.depth.min(self.levels);
        let before = plan.leaves();
        let leaves = if is_limited { before + *spare } else { u32::MAX };
        let key = (hash(points), depth, leaves);
        let in_vain = self.solved.get(&key).copied().unwrap_or_default();
        if in_vain == Duration::MAX || leaves == 1 {
            return plan;
        }
        // One that takes long leaves time for others.
        let help = if self.levels > LOOK_AHEAD { help.share(2) } else { help };
        let time = help.left();
        if time < in_vain.saturating_mul(LONGER) || !help.goes_on() {
            self.is_complete = false;
            return plan;
        }
        // What the subtree costs, whatever its own depth is.
        let any = Room { depth: u32::MAX, leaves: u32::MAX };
        let (cost, plan) = fitted(self.of, &plan, points, any);
        let part = Part::new(self.of, points, &Cuts::All, shape(self.of, depth, leaves));
        let Ok(part) = part else { return plan };
        let found = help.search_part(&part, cost);
        self.solved.insert(key, if found.is_complete { Duration::MAX } else { time });
        self.is_complete &= found.is_complete;
        let Some(better) = found.plan else { return plan };
        let (after, better) = fitted(self.of, &better, points, Room { depth, leaves });
        if after >= cost {
            return plan;
        }
        if is_limited {
            *spare = (*spare + before).saturating_sub(better.leaves());
        }
        better
    }
}
