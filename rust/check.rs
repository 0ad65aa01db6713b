//! The judge of answers: what a finished tree costs, from the points alone.
//!
//! It knows nothing of searches, bounds or kernels, so that a mistake in them cannot hide here.

use crate::context::Context;
use crate::cost::Cost;
use crate::data::{Codes, Column, ColumnKind, Points};
use crate::error::{Error, Result};
use crate::ids::{ColumnId, Side};
use crate::task::{FeatureCosts, FrontTask, Task};
use crate::tree::{Split, Test, Tree};

/// The tree's cost with `leaf_cost` for each leaf: every point is sent through the tree's own
/// tests, and each leaf costs what the task says of the points that arrive there.
pub fn recompute(
    tree: &Tree,
    columns: &[Column],
    points: &Points,
    task: &dyn Task,
    leaf_cost: Cost,
) -> Cost {
    let mut held = vec![Vec::new(); tree.nodes.len()];
    for (point, leaf) in leaves(tree, columns, points).into_iter().enumerate() {
        held[leaf].push(point as u32);
    }
    let full = (tree.nodes.iter().zip(&held)).filter(|(_, points)| !points.is_empty());
    let losses = full.map(|(node, points)| task.cost(points, node.label));
    leaf_cost * tree.n_leaves() as Cost + losses.sum::<Cost>()
}

/// What the points pay for the columns that they are asked for, each by itself on its way down.
pub fn spent(tree: &Tree, columns: &[Column], points: &Points, costs: &FeatureCosts) -> Cost {
    let price = |&(test, known): &(u32, bool)| {
        let test = &costs.tests[test as usize];
        if known { test.discounted } else { test.full }
    };
    let bought = bought(tree, columns, points, costs);
    let paid = |(point, bought): (usize, &Vec<_>)| {
        bought.iter().map(|test| costs.paid(point, price(test))).sum::<Cost>()
    };
    bought.iter().enumerate().map(paid).sum()
}

/// By point: the tests that it buys on its way down, in their order, and whether another test of
/// the group was bought before.
pub fn bought(
    tree: &Tree,
    columns: &[Column],
    points: &Points,
    costs: &FeatureCosts,
) -> Vec<Vec<(u32, bool)>> {
    let splits = answered(tree, columns, points);
    let bought = |point| {
        let (mut at, mut seen) = (0, Vec::new());
        while let (Some(split), Some(answered)) = (&tree.nodes[at].split, &splits[at]) {
            if let Some(test) = costs.of_column[split.column.index()]
                && !seen.iter().any(|&(other, _)| other == test)
            {
                let group = |test: u32| costs.tests[test as usize].group;
                let same = |&(other, _): &(u32, bool)| group(other) == group(test);
                let known = group(test).is_some() && seen.iter().any(same);
                seen.push((test, known));
            }
            at = answered.next(point);
        }
        seen
    };
    (0..points.len()).map(bought).collect()
}

/// An error if the tree asks for a column where its context forbids it, by the statement of the
/// context alone: from the columns of each path, and without the states that searches carry.
pub fn allowed(tree: &Tree, context: &dyn Context) -> Result<()> {
    // Nodes to look at, with the columns of the path to them, each once.
    let mut open: Vec<(usize, Vec<ColumnId>)> = vec![(0, Vec::new())];
    while let Some((node, mut path)) = open.pop() {
        let Some(split) = &tree.nodes[node].split else { continue };
        if context.cost_after(&path, split.column).is_none() {
            return Err(Error::Forbidden { node, column: split.column.index() });
        }
        if !path.contains(&split.column) {
            path.push(split.column);
        }
        open.push((split.left.index(), path.clone()));
        open.push((split.right.index(), path));
    }
    Ok(())
}

/// The label that each point arrives at.
pub fn labels(tree: &Tree, columns: &[Column], points: &Points) -> Vec<u32> {
    leaves(tree, columns, points).into_iter().map(|leaf| tree.nodes[leaf].label).collect()
}

/// The leaf that each point arrives at, as a node of the tree.
pub fn leaves(tree: &Tree, columns: &[Column], points: &Points) -> Vec<usize> {
    let splits = answered(tree, columns, points);
    let leaf = |point| {
        let mut at = 0;
        while let Some(split) = &splits[at] {
            at = split.next(point);
        }
        at
    };
    (0..points.len()).map(leaf).collect()
}

fn answered<'a>(tree: &Tree, columns: &[Column], points: &'a Points) -> Vec<Option<Answered<'a>>> {
    let of = |split| Answered::of(split, columns, points);
    tree.nodes.iter().map(|node| node.split.as_ref().map(of)).collect()
}

/// An error unless the tree costs what the search said.
pub fn confirm(claimed: Cost, recomputed: Cost) -> Result<()> {
    if claimed == recomputed {
        return Ok(());
    }
    Err(Error::Mismatch { searched: claimed.to_string(), recomputed: recomputed.to_string() })
}

/// The value of a tree of a partly ordered task, if its cost without penalties is as claimed. Every
/// point is sent through the tree's own tests, and values are the task's own, of leaves and of
/// joins. If the cost is another one, the error blames the task where that contradicts itself, and
/// the search otherwise.
pub fn confirm_front<T: FrontTask>(
    claimed: Cost,
    tree: &Tree,
    columns: &[Column],
    points: &Points,
    task: &T,
) -> Result<T::Value> {
    let mut held = vec![Vec::new(); tree.nodes.len()];
    for (point, leaf) in leaves(tree, columns, points).into_iter().enumerate() {
        held[leaf].push(point as u32);
    }
    let value = value_of(tree, &held, task)?;
    let cost = front_cost(&value, task);
    if cost == Some(claimed) {
        let other = front_cost(&value_by_leaf(tree, &held, task)?, task);
        return if other == cost { Ok(value) } else { Err(order_matters(cost, other)) };
    }
    let again = front_cost(&value_of(tree, &held, task)?, task);
    if again != cost {
        return Err(Error::task(format!(
            "`leaf`, `join` and `cost` say the same each time, but one tree costs {} and then {}",
            shown(cost),
            shown(again)
        )));
    }
    Err(Error::Mismatch { searched: claimed.to_string(), recomputed: shown(cost) })
}

fn order_matters(one: Option<Cost>, other: Option<Cost>) -> Error {
    Error::task(format!(
        "joining is associative and commutative, but one tree costs {} or {}, by the order of joins",
        shown(one),
        shown(other)
    ))
}

fn shown(cost: Option<Cost>) -> String {
    cost.map_or("nothing, since it is not allowed".to_owned(), |cost| cost.to_string())
}

fn front_cost<T: FrontTask>(value: &T::Value, task: &T) -> Option<Cost> {
    task.cost(value).filter(|_| task.feasible(value))
}

/// The value of a leaf that holds these points and answers `label`.
fn leaf_value<T: FrontTask>(points: &[u32], label: u32, task: &T) -> Result<T::Value> {
    let mut found = Vec::new();
    task.leaf(&task.sum_of(points), &mut |offered, value| {
        if offered == label {
            found.push(value);
        }
    });
    match (found.pop(), found.len()) {
        (Some(value), 0) => Ok(value),
        (Some(_), _) => Err(Error::task(format!(
            "the values of a leaf have different labels, but several have the label {label}"
        ))),
        (None, _) => Err(Error::task(format!(
            "a leaf has the same values each time, but none with the label {label} when it is \
             asked again"
        ))),
    }
}

/// Joined as the tree is: children stand behind their parent.
fn value_of<T: FrontTask>(tree: &Tree, held: &[Vec<u32>], task: &T) -> Result<T::Value> {
    let mut values: Vec<Option<T::Value>> = vec![None; tree.nodes.len()];
    for (at, node) in tree.nodes.iter().enumerate().rev() {
        let joined = node.split.as_ref().and_then(|split| {
            let [left, right] = [split.left, split.right].map(|child| values[child.index()].take());
            Some(task.join(&left?, &right?))
        });
        values[at] = match joined {
            Some(value) => Some(value),
            None => Some(leaf_value(&held[at], node.label, task)?),
        };
    }
    Ok(values.swap_remove(0).expect("a tree has a root"))
}

/// Joined leaf by leaf, from the last one on.
fn value_by_leaf<T: FrontTask>(tree: &Tree, held: &[Vec<u32>], task: &T) -> Result<T::Value> {
    let mut all: Option<T::Value> = None;
    for (at, node) in tree.nodes.iter().enumerate().rev().filter(|(_, node)| node.split.is_none()) {
        let value = leaf_value(&held[at], node.label, task)?;
        all = Some(all.map_or(value.clone(), |all| task.join(&all, &value)));
    }
    Ok(all.expect("a tree has a leaf"))
}

/// A split with its test answered for each code that its column can have.
struct Answered<'a> {
    codes: &'a Codes,
    left: Lefts,
    /// The code of missing values, and whether they go left.
    missing: Option<(u32, bool)>,
    children: [usize; 2],
}

/// Which codes of known values go left.
#[derive(Clone, Copy)]
enum Lefts {
    /// Those up to this one; `None` do if the column has no such cut.
    UpTo(Option<u32>),
    AllBut(Option<u32>),
    /// As bits, those that go right.
    NotIn(u64),
}

impl<'a> Answered<'a> {
    fn of(split: &Split, columns: &[Column], points: &'a Points) -> Self {
        let column = split.column.index();
        let index = |found: Option<usize>| found.map(|index| index as u32);
        let left = match (&split.test, &columns[column].kind) {
            (Test::AtMost(threshold), ColumnKind::Ordered(cuts)) => {
                Lefts::UpTo(index(cuts.iter().position(|cut| cut == threshold)))
            }
            (Test::IsTrue, ColumnKind::Boolean) => Lefts::UpTo(Some(0)),
            (Test::Is(value), ColumnKind::Category(values)) => {
                Lefts::AllBut(index(values.iter().position(|known| known == value)))
            }
            (Test::In { right, .. }, ColumnKind::Sets(values)) => {
                let place = |value: &String| values.iter().position(|known| known == value);
                Lefts::NotIn(right.iter().filter_map(place).map(|place| 1 << place).sum())
            }
            (Test::IsMissing, _) => Lefts::AllBut(None),
            // A test that does not fit its column holds for no point.
            _ => Lefts::UpTo(None),
        };
        let missing = columns[column].missing_code();
        let missing = missing.map(|code| (code, split.missing == Some(Side::Left)));
        let children = [split.left.index(), split.right.index()];
        Answered { codes: points.codes(column), left, missing, children }
    }

    fn next(&self, point: usize) -> usize {
        let code = self.codes.get(point);
        let left = match (self.missing, self.left) {
            (Some((missing, left)), _) if code == missing => left,
            (_, Lefts::UpTo(cut)) => cut.is_some_and(|cut| code <= cut),
            (_, Lefts::AllBut(value)) => Some(code) != value,
            (_, Lefts::NotIn(right)) => right >> code & 1 == 0,
        };
        self.children[usize::from(!left)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Threshold;
    use crate::ids::TreeNodeId;
    use crate::task::RowCosts;
    use crate::tree::Node;

    /// What a stump costs beside its leaves, if its left leaf answers 1 and its right leaf 0.
    fn cost(kind: ColumnKind, codes: [u32; 4], test: Test) -> Cost {
        cost_with(kind, codes, test, None)
    }

    fn cost_with(kind: ColumnKind, codes: [u32; 4], test: Test, missing: Option<Side>) -> Cost {
        let columns = [Column { name: "a".into(), kind, missing: missing.is_some() }];
        let points = Points::new(&columns, vec![codes.to_vec()], vec![1; 4]).unwrap();
        // Regrets 1, 2, 4, 8 for answering 1; answering 0 is free.
        let costs = [0.0, 1.0, 0.0, 2.0, 0.0, 4.0, 0.0, 8.0];
        let scaled = RowCosts::build(2, &costs, 15.0, 0.0, None).unwrap();
        let unit = scaled.task.structure().labelled().expect("labels").loss(0, 1);
        let leaf = |label| Node { split: None, label, rows: 0, value: Vec::new(), loss: 0.0 };
        let (left, right) = (TreeNodeId(1), TreeNodeId(2));
        let split = Split { column: ColumnId(0), test, missing, left, right };
        let root = Node { split: Some(split), ..leaf(0) };
        let tree = Tree { nodes: vec![root, leaf(1), leaf(0)] };
        let with_leaves = recompute(&tree, &columns, &points, scaled.task.as_ref(), 5 * unit);
        // Rounding moves each regret by half a unit of 2^-56 of them all.
        ((with_leaves - 10 * unit) as f64 / unit as f64).round() as Cost
    }

    #[test]
    fn points_pay_where_the_tests_send_them() {
        let cuts = ColumnKind::Ordered(vec![Threshold::Float(0.5), Threshold::Float(1.5)]);
        let at_most = |t| Test::AtMost(Threshold::Float(t));
        assert_eq!(cost(cuts.clone(), [0, 1, 2, 0], at_most(0.5)), 1 + 8);
        assert_eq!(cost(cuts.clone(), [0, 1, 2, 0], at_most(1.5)), 1 + 2 + 8);
        assert_eq!(cost(ColumnKind::Boolean, [0, 1, 1, 0], Test::IsTrue), 1 + 8);
        let values = ColumnKind::Category(vec!["r".into(), "g".into(), "b".into()]);
        assert_eq!(cost(values.clone(), [0, 1, 2, 1], Test::Is("g".into())), 1 + 4);
        // A value that the column does not know is nobody's; a cut that it does not have, too.
        assert_eq!(cost(values, [0, 1, 2, 1], Test::Is("x".into())), 15);
        assert_eq!(cost(cuts.clone(), [0, 1, 2, 0], at_most(0.7)), 0);
        assert_eq!(cost(cuts.clone(), [0, 1, 2, 0], Test::IsTrue), 0);
        // The last code is that of missing values.
        let [left, right] = [Some(Side::Left), Some(Side::Right)];
        assert_eq!(cost_with(cuts.clone(), [0, 3, 2, 3], at_most(0.5), left), 1 + 2 + 8);
        assert_eq!(cost_with(cuts.clone(), [0, 3, 2, 3], at_most(0.5), right), 1);
        assert_eq!(cost_with(cuts, [0, 3, 2, 3], Test::IsMissing, right), 1 + 4);
    }

    #[test]
    fn a_claim_that_is_off_by_one_is_a_mismatch() {
        assert_eq!(confirm(7, 7), Ok(()));
        let error = confirm(7, 8).unwrap_err().to_string();
        assert!(error.contains("costs 8 but the search claimed 7"), "{error}");
    }
}
