//! Another split somewhere in a tree, and what is best below it then.
//!
//! Where each subtree of depth two is the best one, and no split alone can be moved, a tree is
//! still only as good as the splits above these. So a node is drawn by lot, it gets one of the
//! splits that look best there, what is below is grown again or kept, and then repaired. What a
//! subtree costs is a matter of its own points, so that it is judged by itself, and a node with
//! few points takes little time.

use super::alternate::{self, alternated};
use super::fit::{Room, fitted, parted};
use super::greedy::{self, Scorer};
use super::help::Help;
use super::subtrees::{Repair, Solved};
use crate::ids::FeatureId;
use crate::problem::Problem;
use crate::tree::Plan;

/// Subtrees of so much depth are repaired, and need no other split.
const REPAIRED: u32 = 2;

/// A split is one of so many that look best, of different features.
const CHOICES: usize = 16;

/// Without limits, what is grown anew has up to so many times as many leaves as before.
const MORE_LEAVES: u32 = 4;

/// Numbers that look random and are the same in every run (SplitMix64).
pub struct Lot(u64);

impl Lot {
    pub fn new() -> Self {
        Lot(0)
    }

    /// Below `n`.
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % n.max(1) as u64) as usize
    }
}

pub struct Shake<'a> {
    pub of: &'a Problem,
    pub scorer: &'a Scorer<'a>,
    pub solved: &'a mut Solved,
    pub lot: &'a mut Lot,
}

/// What came of one try.
pub enum Shaken {
    Better(Plan),
    NoBetter,
    /// No node is worth a try.
    Nowhere,
}

impl Shake<'_> {
    /// Try one node of a plan that has all of the room.
    pub fn once(&mut self, help: Help, plan: &Plan, (points, room): (Vec<u32>, Room)) -> Shaken {
        let nodes = count(plan, room.depth);
        if nodes == 0 {
            return Shaken::Nowhere;
        }
        let mut spare = room.leaves.saturating_sub(plan.leaves());
        if room.leaves == u32::MAX {
            spare = u32::MAX;
        }
        let at = self.lot.below(nodes);
        match self.at(help, plan, at, (points, room), spare) {
            Some(plan) => Shaken::Better(plan),
            None => Shaken::NoBetter,
        }
    }

    /// The plan with a better subtree at the node of this number, if there is one.
    fn at(
        &mut self,
        help: Help,
        plan: &Plan,
        at: usize,
        (points, room): (Vec<u32>, Room),
        spare: u32,
    ) -> Option<Plan> {
        let Plan::Split { feature, cut, left, right } = plan else { return None };
        if at == 0 {
            return self.subtree(help, plan, (points, room), spare);
        }
        let below = room.below();
        let [lefts, rights] = parted(self.of, (*feature, *cut), &points);
        let on_left = count(left, below.depth);
        if at <= on_left {
            let left = self.at(help, left, at - 1, (lefts, below), spare)?;
            return Some(Plan::split(*feature, *cut, left, (**right).clone()));
        }
        let right = self.at(help, right, at - 1 - on_left, (rights, below), spare)?;
        Some(Plan::split(*feature, *cut, (**left).clone(), right))
    }

    fn subtree(
        &mut self,
        help: Help,
        plan: &Plan,
        (points, room): (Vec<u32>, Room),
        spare: u32,
    ) -> Option<Plan> {
        let is_limited = spare < u32::MAX;
        let leaves = if is_limited { plan.leaves() + spare } else { u32::MAX };
        let room = Room { leaves, ..room };
        let before = fitted(self.of, plan, &points, room).0;
        let other = self.other(help, plan, &points, room)?;
        let mut other = fitted(self.of, &other, &points, room).1;
        if alternate::applies(self.of) {
            other = alternated(self.of, &other, &points, room, &|| help.goes_on());
        }
        let mut spare = if is_limited { leaves.saturating_sub(other.leaves()) } else { 0 };
        let solved = &mut *self.solved;
        let mut repair = Repair { of: self.of, levels: REPAIRED, solved, is_complete: true };
        let other = repair.plan(help, other, (&points, room), &mut spare);
        let (after, other) = fitted(self.of, &other, &points, room);
        (after < before).then_some(other)
    }

    /// Another split than that of the plan, with what is below it now, or with greedy trees.
    fn other(&mut self, help: Help, plan: &Plan, points: &[u32], room: Room) -> Option<Plan> {
        let Plan::Split { feature, cut, left, right } = plan else { return None };
        let mut splits: Vec<(f64, FeatureId, u32)> = Vec::new();
        let is_new = |f, c| (f, c) != (*feature, *cut);
        self.scorer.each_best(points.to_vec(), &|| help.goes_on(), |gain, f, c| {
            if is_new(f, c) {
                splits.push((gain, f, c));
            }
        });
        splits.sort_by(|a, b| b.0.total_cmp(&a.0));
        splits.truncate(CHOICES);
        // Better ones more often.
        let most = self.lot.below(splits.len()) + 1;
        let &(_, feature, cut) = splits.get(self.lot.below(most))?;
        if self.lot.below(2) == 0 {
            return Some(Plan::split(feature, cut, (**left).clone(), (**right).clone()));
        }
        let leaves = plan.leaves().saturating_mul(MORE_LEAVES).min(room.leaves);
        let below = Room { leaves, ..room.below() };
        let grown = parted(self.of, (feature, cut), points)
            .map(|side| greedy::grow(self.scorer, side, below, &|| help.goes_on()));
        let [left, right] = grown;
        Some(Plan::split(feature, cut, left, right))
    }
}

/// How many splits have more levels to use than are repaired.
fn count(plan: &Plan, depth: u32) -> usize {
    match plan {
        Plan::Split { left, right, .. } if depth > REPAIRED => {
            let below = if depth == u32::MAX { depth } else { depth - 1 };
            1 + count(left, below) + count(right, below)
        }
        _ => 0,
    }
}
