//! The finished tree: tests on the user's columns, and what each node holds.

use super::plan::Plan;
use crate::data::{Column, ColumnKind, Features, Points, Threshold};
use crate::ids::{ColumnId, TreeNodeId};
use crate::task::Task;

/// What a split asks. "Yes" goes left for `AtMost` and right for the other two.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    AtMost(Threshold),
    IsTrue,
    Is(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    pub column: ColumnId,
    pub test: Test,
    pub left: TreeNodeId,
    pub right: TreeNodeId,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub split: Option<Split>,
    /// The best single label for the node's rows; 0 where answers are no labels.
    pub label: u32,
    pub rows: u64,
    /// Row weight by class; what each label costs beyond the least possible, by label; or the mean
    /// of each target, which is the answer.
    pub value: Vec<f64>,
    /// What the node's rows add to the tree's loss if it is a leaf.
    pub loss: f64,
}

/// Nodes in preorder: the root first, a left subtree before its right one.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    pub nodes: Vec<Node>,
}

impl Tree {
    /// Route the training points through a plan. `units`: units in a loss of 1.
    pub fn grow(
        plan: &Plan,
        columns: &[Column],
        features: &Features,
        points: &Points,
        task: &dyn Task,
        units: f64,
    ) -> Tree {
        let mut grower = Grower { units, columns, features, points, task, nodes: Vec::new() };
        grower.add(plan, (0..points.len() as u32).collect());
        Tree { nodes: grower.nodes }
    }

    pub fn leaves(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.split.is_none())
    }

    pub fn n_leaves(&self) -> usize {
        self.leaves().count()
    }
}

struct Grower<'a> {
    columns: &'a [Column],
    features: &'a Features,
    points: &'a Points,
    task: &'a dyn Task,
    units: f64,
    nodes: Vec<Node>,
}

impl Grower<'_> {
    fn add(&mut self, plan: &Plan, points: Vec<u32>) -> TreeNodeId {
        let id = TreeNodeId::from(self.nodes.len());
        self.nodes.push(self.node(&points));
        if let Plan::Split { feature, cut, left, right } = plan {
            let feature = self.features.get(feature.index());
            let (lefts, rights) =
                points.iter().partition(|&&p| feature.goes_left(self.points, p as usize, *cut));
            drop(points);
            let left = self.add(left, lefts);
            let right = self.add(right, rights);
            let test = match &self.columns[feature.column.index()].kind {
                ColumnKind::Ordered(cuts) => Test::AtMost(cuts[*cut as usize]),
                ColumnKind::Boolean => Test::IsTrue,
                ColumnKind::Category(values) => {
                    Test::Is(values[feature.value.unwrap_or(0) as usize].clone())
                }
            };
            self.nodes[id.index()].split =
                Some(Split { column: feature.column, test, left, right });
        }
        id
    }

    fn node(&self, points: &[u32]) -> Node {
        let mut stats = vec![0; self.task.width()];
        let mut rows = 0;
        for &point in points {
            rows += self.points.rows(point as usize);
            for (total, s) in stats.iter_mut().zip(self.task.stats(point as usize)) {
                *total += s;
            }
        }
        let leaf = self.task.leaf(&stats);
        Node {
            split: None,
            label: leaf.label,
            rows,
            value: self.task.shown(points, &stats),
            loss: self.task.loss_shown(&stats) as f64 / self.units,
        }
    }
}
