//! No leaf penalty and no limit on depth, leaves or rows: any tree that tells all points apart is
//! optimal.
//!
//! By `bounds::equivalent_points` the least cost is the sum, over the groups of points that no
//! question tells apart, of what each group costs as a leaf, and a tree with a leaf for every group
//! attains it: as long as neither leaves nor splits cost something and nothing is limited.
//!
//! So there is nothing to search. Splits are chosen greedily, by the Gini index or the squared
//! errors that are left, to keep the tree small.

mod group;
mod purity;

use std::cmp::Ordering;

use crate::bounds::Bound;
use crate::cost::Cost;
use crate::ids::FeatureId;
use crate::problem::Problem;
use crate::run::{Held, Run};
use crate::search::common::Found;
use crate::tree::Plan;
use group::Group;
use purity::Purity;

/// Below this depth splits are chosen for balance: purity alone may peel off one group at a time.
const DEEP: u32 = 40;

/// Whether this problem is one of these.
pub fn applies(problem: &Problem) -> bool {
    problem.leaf_cost == 0
        && problem.feature_costs.is_none()
        && problem.context.is_none()
        && problem.shape.is_unlimited()
}

/// An optimal tree; if the run is stopped, as much of it as there is.
pub fn solve(problem: &Problem, run: &Run) -> Found {
    let mut grower = Grower::new(problem);
    let _held = Held::of(run, grower.bytes());
    let lower = grower.groups.iter().map(|group| group.cost).sum();
    let mut upper = grower.leaf(0..grower.points.len());
    let mut nodes = vec![Branch::Leaf];
    let mut open = vec![Open { node: 0, groups: 0..grower.groups.len(), leaf: upper, depth: 0 }];
    while let Some(Open { node, groups, leaf, depth }) = open.pop() {
        if run.report(lower, upper).is_some() {
            break;
        }
        run.add_nodes(1);
        let least: Cost = grower.order[groups.clone()].iter().map(|&g| grower.cost(g)).sum();
        if leaf == least {
            run.decided(Bound::EquivalentPoints);
            continue;
        }
        let Some(split) = grower.choose(&grower.order[groups.clone()], depth >= DEEP) else {
            continue;
        };
        let middle = grower.part(groups.clone(), &split);
        let sides = [groups.start..middle, middle..groups.end];
        nodes[node] = Branch::Split(split.feature, split.cut, nodes.len());
        upper -= leaf;
        for groups in sides {
            let leaf = grower.leaf_of(&grower.order[groups.clone()]);
            upper += leaf;
            open.push(Open { node: nodes.len(), groups, leaf, depth: depth + 1 });
            nodes.push(Branch::Leaf);
        }
    }
    Found { plan: plan(nodes), upper, lower }
}

/// A node of the tree; the children of a split are side by side.
enum Branch {
    Leaf,
    Split(FeatureId, u32, usize),
}

struct Open {
    node: usize,
    groups: std::ops::Range<usize>,
    leaf: Cost,
    depth: u32,
}

/// Children come after their parents. No recursion: the tree may be as deep as there are groups.
fn plan(nodes: Vec<Branch>) -> Plan {
    let mut plans: Vec<Option<Plan>> = Vec::new();
    plans.resize_with(nodes.len(), || None);
    for (at, node) in nodes.into_iter().enumerate().rev() {
        plans[at] = Some(match node {
            Branch::Leaf => Plan::Leaf,
            Branch::Split(feature, cut, child) => {
                let mut take = |at: usize| plans[at].take().expect("a child has one parent");
                Plan::split(feature, cut, take(child), take(child + 1))
            }
        });
    }
    plans[0].take().expect("there is a root")
}

struct Split {
    column: usize,
    feature: FeatureId,
    cut: u32,
}

struct Grower<'a> {
    problem: &'a Problem,
    /// By column: its first feature.
    features: Vec<Option<usize>>,
    /// Sorted by codes.
    points: Vec<u32>,
    groups: Vec<Group>,
    /// The groups of every node side by side.
    order: Vec<u32>,
}

impl<'a> Grower<'a> {
    fn new(problem: &'a Problem) -> Self {
        let mut features = vec![None; problem.columns.len()];
        for (index, feature) in problem.features.iter().enumerate() {
            features[feature.column.index()].get_or_insert(index);
        }
        let compare = |a: &u32, b: &u32| {
            let codes = |column| problem.points.codes(column);
            (0..problem.columns.len())
                .map(|c| codes(c).get(*a as usize).cmp(&codes(c).get(*b as usize)))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        };
        let mut points: Vec<u32> = (0..problem.points.len() as u32).collect();
        points.sort_unstable_by(compare);
        let n_labels = problem.task.structure().n_labels();
        let mut groups = Vec::new();
        let mut start = 0;
        for end in 1..=points.len() {
            if end == points.len() || compare(&points[start], &points[end]).is_ne() {
                let members = points[start..end].iter().map(|&p| p as usize);
                let stats = problem.stats(members.clone());
                let leaf = problem.task.leaf(&stats);
                let worst: Cost = members.filter_map(|point| problem.task.worst(point)).sum();
                let weight = (worst - leaf.cost) as f64;
                groups.push(Group {
                    points: start..end,
                    label: leaf.label,
                    cost: leaf.cost,
                    weight,
                    stats: if n_labels == 0 { stats } else { Vec::new() },
                });
                start = end;
            }
        }
        let order = (0..groups.len() as u32).collect();
        Grower { problem, features, points, groups, order }
    }

    fn bytes(&self) -> usize {
        // Splitting sorts a copy of a node's groups by code.
        let stats = self.groups.first().map_or(0, |group| group.stats.len() * 8);
        self.points.len() * 4 + self.groups.len() * (size_of::<Group>() + stats + 4 + 8)
    }

    fn cost(&self, group: u32) -> Cost {
        self.groups[group as usize].cost
    }

    fn leaf(&self, points: std::ops::Range<usize>) -> Cost {
        let points = self.points[points].iter().map(|&point| point as usize);
        self.problem.task.leaf(&self.problem.stats(points)).cost
    }

    fn leaf_of(&self, groups: &[u32]) -> Cost {
        let points =
            groups.iter().flat_map(|&g| self.points[self.groups[g as usize].points.clone()].iter());
        self.problem.task.leaf(&self.problem.stats(points.map(|&point| point as usize))).cost
    }

    fn code(&self, column: usize, group: u32) -> u32 {
        let first = self.points[self.groups[group as usize].points.start];
        self.problem.points.codes(column).get(first as usize)
    }

    /// The split with the purest sides, if asked for among the most even ones; the first among
    /// equals.
    fn choose(&self, groups: &[u32], even: bool) -> Option<Split> {
        let mut sums = Purity::new(self.problem.task.as_ref());
        for &group in groups {
            sums.all(&self.groups[group as usize]);
        }
        let mut best: Option<((usize, f64), Split)> = None;
        let mut sorted: Vec<(u32, u32)> = Vec::with_capacity(groups.len());
        for column in 0..self.problem.columns.len() {
            let Some(first) = self.features[column] else { continue };
            sorted.clear();
            sorted.extend(groups.iter().map(|&group| (self.code(column, group), group)));
            sorted.sort_unstable();
            let of = &self.problem.columns[column];
            let category = of.has_no_order();
            sums.clear();
            let (mut start, n) = (0, sorted.len());
            while start < n {
                let code = sorted[start].0;
                let end = start + sorted[start..].partition_point(|&(c, _)| c == code);
                for &(_, group) in &sorted[start..end] {
                    sums.add(&self.groups[group as usize]);
                }
                // Those up to this code, or, of a category, those with it.
                let taken = if category { end - start } else { end };
                // No question takes out the values that are not asked for.
                let place = if category { of.place_of_code(code) } else { Some(0) };
                if let Some(place) = place.filter(|_| taken < n) {
                    let evenness = if even { taken.min(n - taken) } else { 0 };
                    let score = (evenness, sums.score());
                    if best.as_ref().is_none_or(|(known, _)| score > *known) {
                        let (feature, cut) = match category {
                            true => (first + place as usize, 0),
                            false => (first, code + (sorted[end].0 - code - 1) / 2),
                        };
                        let feature = FeatureId::from(feature);
                        best = Some((score, Split { column, feature, cut }));
                    }
                }
                if category {
                    sums.clear();
                }
                start = end;
            }
        }
        best.map(|(_, split)| split)
    }

    /// Put the groups that go left first, and return where the others begin.
    fn part(&mut self, groups: std::ops::Range<usize>, split: &Split) -> usize {
        let order = self.problem.features.get(split.feature.index()).order;
        let goes_left = |group: u32| order.rank(self.code(split.column, group)) <= split.cut;
        let (lefts, rights): (Vec<u32>, Vec<u32>) =
            self.order[groups.clone()].iter().partition(|&&group| goes_left(group));
        let middle = groups.start + lefts.len();
        self.order[groups.start..middle].copy_from_slice(&lefts);
        self.order[middle..groups.end].copy_from_slice(&rights);
        middle
    }
}
