//! The oracle: every tree, for tiny inputs. Readable, and nothing like the searches it judges.

use std::collections::HashMap;

use super::Found;
use crate::cost::{Cost, INFINITE};
use crate::ids::FeatureId;
use crate::problem::Problem;
use crate::tree::Plan;

/// The most points the oracle takes: a set of points is one word.
pub const MAX_POINTS: usize = 64;

/// The best tree of all; the first one found among equals.
pub fn solve(problem: &Problem) -> Found {
    assert!(problem.points.len() <= MAX_POINTS, "too many points for the oracle");
    let n = problem.points.len();
    let all = if n == 64 { u64::MAX } else { (1 << n) - 1 };
    let depth = problem.shape.max_depth.unwrap_or(n as u32).min(n as u32);
    let leaves = problem.shape.max_leaves.map(|leaves| leaves.min(n as u32));
    let mut brute = Brute { problem, memo: HashMap::new() };
    let (cost, plan) = brute.best(all, depth, leaves);
    Found { plan, upper: cost, lower: cost }
}

struct Brute<'a> {
    problem: &'a Problem,
    memo: HashMap<(u64, u32, Option<u32>), (Cost, Plan)>,
}

impl Brute<'_> {
    fn best(&mut self, set: u64, depth: u32, leaves: Option<u32>) -> (Cost, Plan) {
        let key = (set, depth, leaves);
        if let Some(known) = self.memo.get(&key) {
            return known.clone();
        }
        let mut best = (self.leaf(set), Plan::Leaf);
        if depth > 0 && leaves != Some(1) {
            for (index, feature) in self.problem.features.iter().enumerate() {
                for cut in 0..feature.cuts {
                    let left = points_of(set)
                        .filter(|&p| feature.goes_left(&self.problem.points, p, cut))
                        .fold(0, |set, p| set | 1 << p);
                    let right = set & !left;
                    if !self.allowed(left) || !self.allowed(right) {
                        continue;
                    }
                    for (left_leaves, right_leaves) in shares(leaves) {
                        let (a, plan_a) = self.best(left, depth - 1, left_leaves);
                        let (b, plan_b) = self.best(right, depth - 1, right_leaves);
                        if a + b < best.0 {
                            let plan = Plan::split(FeatureId::from(index), cut, plan_a, plan_b);
                            best = (a + b, plan);
                        }
                    }
                }
            }
        }
        self.memo.insert(key, best.clone());
        best
    }

    fn leaf(&self, set: u64) -> Cost {
        let stats = self.problem.stats(points_of(set));
        let cost = self.problem.task.leaf(&stats).cost + self.problem.leaf_cost;
        cost.min(INFINITE)
    }

    fn allowed(&self, set: u64) -> bool {
        let rows: u64 = points_of(set).map(|p| self.problem.points.rows(p)).sum();
        set != 0 && rows >= self.problem.shape.min_leaf_rows
    }
}

fn points_of(set: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |p| set >> p & 1 == 1)
}

/// Every way to share a budget of leaves between two sides.
fn shares(leaves: Option<u32>) -> Vec<(Option<u32>, Option<u32>)> {
    match leaves {
        None => vec![(None, None)],
        Some(leaves) => (1..leaves).map(|left| (Some(left), Some(leaves - left))).collect(),
    }
}
