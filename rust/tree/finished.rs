//! The finished tree: tests on the user's columns, and what each node holds.

use std::mem::swap;

use super::plan::Plan;
use crate::data::{Column, ColumnKind, Feature, Features, Order, Points, Threshold};
use crate::ids::{ColumnId, Side, TreeNodeId};
use crate::task::Task;

/// What a split asks. "Yes" goes left for `AtMost` and right for the others; `In` names both sides.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    AtMost(Threshold),
    IsTrue,
    Is(String),
    /// The values of the training points on either side. Where all other values go, missing ones
    /// do.
    In {
        left: Vec<String>,
        right: Vec<String>,
    },
    IsMissing,
}

impl Test {
    /// What a cut of a feature asks, and where it sends missing values, if the column has any.
    pub fn of(column: &Column, feature: &Feature, cut: u32) -> (Test, Option<Side>) {
        let known = |order: Order| match (&column.kind, order) {
            (ColumnKind::Category(values), Order::Is(value) | Order::IsOrMissing([value, _])) => {
                values.get(value as usize).map(|value| Test::Is(value.clone()))
            }
            (ColumnKind::Ordered(cuts), _) => cuts.get(cut as usize).map(|&cut| Test::AtMost(cut)),
            _ => (cut < column.n_cuts()).then_some(Test::IsTrue),
        };
        let Some(test) = known(feature.order) else { return (Test::IsMissing, Some(Side::Right)) };
        let side = match feature.order {
            Order::Codes | Order::IsOrMissing(..) => Side::Right,
            Order::MissingLowest(_) | Order::Is(_) | Order::In(_) => Side::Left,
        };
        (test, column.missing.then_some(side))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    pub column: ColumnId,
    pub test: Test,
    /// Where missing values go. `None` if the column has none in training, or none that can get
    /// here, because a split above asked whether they are missing.
    pub missing: Option<Side>,
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
        let (tree, known) = (Tree { nodes: Vec::new() }, Vec::new());
        let mut grower = Grower { units, columns, features, points, task, tree, known };
        grower.add(plan, (0..points.len() as u32).collect());
        grower.tree
    }

    pub fn leaves(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.split.is_none())
    }

    pub fn n_leaves(&self) -> usize {
        self.leaves().count()
    }

    /// Where a split sends missing values: where training told it to, or else the way that more
    /// rows went, left if both are as many.
    pub fn way_of_missing(&self, split: &Split) -> Side {
        split.missing.unwrap_or_else(|| self.larger_side(split.left, split.right))
    }

    pub(super) fn larger_side(&self, left: TreeNodeId, right: TreeNodeId) -> Side {
        let rows = |node: TreeNodeId| self.nodes[node.index()].rows;
        if rows(left) < rows(right) { Side::Right } else { Side::Left }
    }
}

struct Grower<'a> {
    columns: &'a [Column],
    features: &'a Features,
    points: &'a Points,
    task: &'a dyn Task,
    units: f64,
    tree: Tree,
    /// Columns that are known to have a value in the node that is added: a split above asked
    /// whether it is missing.
    known: Vec<ColumnId>,
}

impl Grower<'_> {
    fn add(&mut self, plan: &Plan, points: Vec<u32>) -> TreeNodeId {
        let id = TreeNodeId::from(self.tree.nodes.len());
        self.tree.nodes.push(self.node(&points));
        if let Plan::Split { feature, cut, left, right } = plan {
            let feature = self.features.get(feature.index());
            let column = &self.columns[feature.column.index()];
            let any_missing = self.any_missing(&feature, &points);
            let (mut lefts, mut rights): (Vec<u32>, Vec<u32>) =
                points.iter().partition(|&&p| feature.goes_left(self.points, p as usize, *cut));
            drop(points);
            let (mut left, mut right) = (left, right);
            let (test, missing) = match &column.kind {
                ColumnKind::Sets(values) => {
                    let asked = self.parted(&feature, values, [&lefts, &rights]);
                    if asked == (Test::IsMissing, Some(Side::Left)) {
                        // Missing values go right where they are asked for.
                        swap(&mut lefts, &mut rights);
                        swap(&mut left, &mut right);
                    }
                    asked
                }
                _ => Test::of(column, &feature, *cut),
            };
            let above = self.known.len();
            self.known.extend((test == Test::IsMissing).then_some(feature.column));
            let left = self.add(left, lefts);
            self.known.truncate(above);
            let right = self.add(right, rights);
            let missing = match missing {
                // The search saw no missing value here: which way it chose says nothing.
                Some(_) if !any_missing && test != Test::IsMissing => {
                    let known = self.known.contains(&feature.column);
                    (!known).then(|| self.tree.larger_side(left, right))
                }
                _ if test == Test::IsMissing => Some(Side::Right),
                missing => missing,
            };
            self.tree.nodes[id.index()].split =
                Some(Split { column: feature.column, test, missing, left, right });
        }
        id
    }

    /// What parts these points by the sets of their values: each side's, and the side of missing
    /// values, if the column has any.
    fn parted(
        &self,
        feature: &Feature,
        values: &[String],
        sides: [&[u32]; 2],
    ) -> (Test, Option<Side>) {
        let codes = self.points.codes(feature.column.index());
        let missing = self.columns[feature.column.index()].missing_code();
        let held = sides.map(|points| {
            let mut held = vec![false; values.len() + usize::from(missing.is_some())];
            points.iter().for_each(|&point| held[codes.get(point as usize) as usize] = true);
            held
        });
        let named = |held: &[bool]| -> Vec<String> {
            values.iter().zip(held).filter(|(_, held)| **held).map(|(v, _)| v.clone()).collect()
        };
        let [left, right] = [named(&held[0]), named(&held[1])];
        let goes_right = |code: u32| held[1][code as usize];
        let side = missing.map(|code| if goes_right(code) { Side::Right } else { Side::Left });
        let test = match left.is_empty() || right.is_empty() {
            true => Test::IsMissing,
            false => Test::In { left, right },
        };
        (test, side)
    }

    fn any_missing(&self, feature: &Feature, points: &[u32]) -> bool {
        let codes = self.points.codes(feature.column.index());
        let missing = self.columns[feature.column.index()].missing_code();
        missing.is_some_and(|missing| points.iter().any(|&p| codes.get(p as usize) == missing))
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
