//! The oracle: every tree, for tiny inputs. Readable, and nothing like the searches it judges.

use std::collections::{BTreeSet, HashMap};

use crate::cost::{Cost, INFINITE};
use crate::ids::{ColumnId, FeatureId};
use crate::problem::{Problem, Shape};
use crate::search::common::Found;
use crate::task::FeatureCosts;
use crate::tree::Plan;

/// The most points the oracle takes: a set of points is one word.
pub const MAX_POINTS: usize = 64;

/// The best tree of all; the first one found among equals.
pub fn solve(problem: &Problem) -> Found {
    let mut brute = Brute::new(problem);
    let n = problem.points.len();
    let all = if n == 64 { u64::MAX } else { (1 << n) - 1 };
    // `allowed` says which leaves are large enough.
    let Shape { max_depth, max_leaves, min_leaf_rows: _ } = problem.shape;
    let (cost, plan) = brute.best(all, max_depth.unwrap_or(u32::MAX), max_leaves);
    Found { plan, upper: cost, lower: cost }
}

/// The oracle for any set of a problem's points.
pub struct Brute<'a> {
    problem: &'a Problem,
    memo: HashMap<Subproblem, (Cost, Plan)>,
}

/// The points, the depth and the leaves that their tree may have, and everything above that makes a
/// difference.
type Subproblem = (u64, u32, Option<u32>, Above);

/// Everything that makes a difference to a set of points: the tests that it has paid for, and if
/// something is forbidden below something else, the columns of its path, each once, in the order of
/// their first splits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Above {
    pub bought: BTreeSet<u32>,
    pub path: Vec<ColumnId>,
}

impl<'a> Brute<'a> {
    pub fn new(problem: &'a Problem) -> Self {
        assert!(problem.points.len() <= MAX_POINTS, "too many points for the oracle");
        Brute { problem, memo: HashMap::new() }
    }

    /// The best tree for some points (bits; at least one), of at most this depth and so many
    /// leaves.
    pub fn best(&mut self, set: u64, depth: u32, leaves: Option<u32>) -> (Cost, Plan) {
        self.best_after(set, depth, leaves, &Above::default())
    }

    /// As above, below other splits.
    pub fn best_after(
        &mut self,
        set: u64,
        depth: u32,
        leaves: Option<u32>,
        above: &Above,
    ) -> (Cost, Plan) {
        // Every leaf holds a point, so a tree over m of them has at most m leaves and depth m - 1:
        // what may be spent beyond that makes no difference, and the memo need not tell it apart.
        let m = set.count_ones();
        let depth = depth.min(m - 1);
        let leaves = leaves.filter(|&leaves| leaves < m);
        let key = (set, depth, leaves, above.clone());
        if let Some(known) = self.memo.get(&key) {
            return known.clone();
        }
        let mut best = (self.leaf(set), Plan::Leaf);
        if depth > 0 && leaves != Some(1) {
            let problem = self.problem;
            let allowed = |column| match &problem.context {
                Some(context) => context.cost_after(&above.path, column).is_some(),
                None => true,
            };
            let features = problem.features.iter().enumerate();
            for (index, feature) in features.filter(|(_, feature)| allowed(feature.column)) {
                for cut in 0..feature.cuts {
                    let left = points_of(set)
                        .filter(|&p| feature.goes_left(&self.problem.points, p, cut))
                        .fold(0, |set, p| set | 1 << p);
                    let right = set & !left;
                    if !self.allowed(left) || !self.allowed(right) {
                        continue;
                    }
                    let price = self.price(set, feature.column, above);
                    let below = self.below(feature.column, above);
                    for (left_leaves, right_leaves) in shares(leaves) {
                        let (a, plan_a) = self.best_after(left, depth - 1, left_leaves, &below);
                        let (b, plan_b) = self.best_after(right, depth - 1, right_leaves, &below);
                        if a + b + price < best.0 {
                            let plan = Plan::split(FeatureId::from(index), cut, plan_a, plan_b);
                            best = (a + b + price, plan);
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

    /// What the points pay to be asked for a column.
    pub fn price(&self, set: u64, column: ColumnId, above: &Above) -> Cost {
        let Some((costs, test)) = self.test_of(column) else { return 0 };
        let (price, bought) = (costs.tests[test as usize], &above.bought);
        let group = |other: &u32| costs.tests[*other as usize].group;
        let each = match bought.contains(&test) {
            true => 0,
            false if bought.iter().any(|b| price.group.is_some() && group(b) == price.group) => {
                price.discounted
            }
            false => price.full,
        };
        points_of(set).map(|point| costs.paid(point, each)).sum()
    }

    fn below(&self, column: ColumnId, above: &Above) -> Above {
        let mut below = above.clone();
        below.bought.extend(self.test_of(column).map(|(_, test)| test));
        if self.problem.context.is_some() && !below.path.contains(&column) {
            below.path.push(column);
        }
        below
    }

    fn test_of(&self, column: ColumnId) -> Option<(&FeatureCosts, u32)> {
        let costs = self.problem.feature_costs.as_ref()?;
        Some((costs, costs.of_column[column.index()]?))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, ColumnKind, Points};
    use crate::task::ClassInput;

    /// Boolean columns; `points`: codes and the class of one row each.
    fn problem(points: &[(&[u32], usize)], leaf_penalty: f64, shape: Shape) -> Problem {
        let n_columns = points[0].0.len();
        let columns: Vec<Column> = (0..n_columns)
            .map(|c| Column { name: format!("c{c}"), kind: ColumnKind::Boolean, missing: false })
            .collect();
        let codes = (0..n_columns).map(|c| points.iter().map(|p| p.0[c]).collect()).collect();
        let task = ClassInput {
            n_classes: 2,
            n_labels: 2,
            weights: points
                .iter()
                .flat_map(|p| [f64::from(p.1 == 0), f64::from(p.1 == 1)])
                .collect(),
            costs: vec![0.0, 1.0, 1.0, 0.0],
            class_weights: vec![1.0; 2],
            balanced: false,
            leaf_penalty,
        };
        let rows = vec![1; points.len()];
        let points = Points::new(&columns, codes, rows).unwrap();
        Problem::new(columns, points, task.build().unwrap(), shape).unwrap()
    }

    const XOR: [(&[u32], usize); 4] = [(&[0, 0], 0), (&[0, 1], 1), (&[1, 0], 1), (&[1, 1], 0)];

    fn objective(problem: &Problem) -> (f64, u32) {
        let found = solve(problem);
        assert_eq!(found.lower, found.upper);
        (problem.scale.objective(found.upper), found.plan.leaves())
    }

    #[test]
    fn xor_needs_two_levels() {
        let within = |shape| objective(&problem(&XOR, 0.01, shape));
        let any = Shape::default();
        assert_eq!(within(any), (0.04, 4));
        assert_eq!(within(Shape { max_depth: Some(2), ..any }), (0.04, 4));
        assert_eq!(within(Shape { max_depth: Some(1), ..any }), (0.51, 1));
        assert_eq!(within(Shape { max_depth: Some(0), ..any }), (0.51, 1));
        assert_eq!(within(Shape { max_leaves: Some(3), ..any }), (0.28, 3));
        assert_eq!(within(Shape { max_leaves: Some(2), ..any }), (0.51, 1));
        assert_eq!(within(Shape { min_leaf_rows: 2, ..any }), (0.51, 1));
    }

    #[test]
    fn a_penalty_decides_whether_to_split() {
        assert_eq!(objective(&problem(&XOR, 0.16, Shape::default())), (0.64, 4));
        assert_eq!(objective(&problem(&XOR, 0.17, Shape::default())), (0.67, 1));
    }

    #[test]
    fn among_equals_the_first_stays() {
        let both = [(&[0, 0][..], 0), (&[1, 1], 1)];
        let plan = solve(&problem(&both, 0.1, Shape::default())).plan;
        assert_eq!(plan, Plan::split(FeatureId(0), 0, Plan::Leaf, Plan::Leaf));
        // A split that saves exactly its leaf is not made.
        let plan = solve(&problem(&both, 0.5, Shape::default())).plan;
        assert_eq!(plan, Plan::Leaf);
    }
}
