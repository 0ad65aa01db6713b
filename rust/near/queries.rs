//! Questions about all trees of a graph that need no list of them.

use super::graph::{Child, Graph, Split};
use super::listed::Listed;
use crate::cost::Cost;
use crate::ids::ColumnId;
use crate::tree::Plan;

/// More than any tree costs.
const NONE: Cost = Cost::MAX / 4;

/// What the best tree of the graph costs that does not ask for this column, if there is one. Trees
/// that limits of leaves forbid are not told apart, so that none of a limited graph is asked for.
pub fn least_without(graph: &Graph, column: ColumnId) -> Option<Cost> {
    let leaves = by_leaves(graph, Some(column));
    let root = leaves.first()?;
    let most = graph.max_leaves.map_or(usize::MAX, |most| most as usize);
    let budget = graph.nodes.first()?.budget;
    root.iter().take(most).copied().min().filter(|&cost| cost <= budget)
}

/// The tree of the fewest leaves, and of those the cheapest.
pub fn sparsest(graph: &Graph) -> Option<Listed> {
    let of_node = by_leaves(graph, None);
    let budget = graph.nodes.first()?.budget;
    let n = of_node.first()?.iter().position(|&cost| cost <= budget)? + 1;
    let mut labels = Vec::new();
    let plan = plan(graph, &of_node, Child::Node(0), n, &mut labels);
    Some(Listed { cost: of_node[0][n - 1], plan, labels })
}

/// By node: what its best tree costs of one leaf, two leaves, and so on.
fn by_leaves(graph: &Graph, without: Option<ColumnId>) -> Vec<Vec<Cost>> {
    let mut of_node = vec![Vec::new(); graph.nodes.len()];
    for &node in graph.order.iter().rev() {
        let own = Node { graph, of_node: &of_node };
        let budget = graph.nodes[node as usize].budget;
        let mut costs = vec![own.as_leaf(Child::Node(node))];
        let asked = |split: &&Split| Some(graph.column_of(split)) != without;
        for split in graph.splits_of(node).iter().filter(asked) {
            let (left, right) = (own.costs(split.left), own.costs(split.right));
            for (i, &a) in left.iter().enumerate() {
                for (j, &b) in right.iter().enumerate().filter(|(_, b)| a + *b <= budget) {
                    if costs.len() < i + j + 2 {
                        costs.resize(i + j + 2, NONE);
                    }
                    costs[i + j + 1] = costs[i + j + 1].min(a + b);
                }
            }
        }
        of_node[node as usize] = costs;
    }
    of_node
}

struct Node<'a> {
    graph: &'a Graph,
    of_node: &'a [Vec<Cost>],
}

impl Node<'_> {
    fn as_leaf(&self, child: Child) -> Cost {
        let costs = self.graph.answers_of(child).iter().map(|&(cost, _)| cost);
        costs.min().unwrap_or(NONE)
    }

    fn costs(&self, child: Child) -> Vec<Cost> {
        match child {
            Child::Node(node) => self.of_node[node as usize].clone(),
            Child::Leaf(_) => vec![self.as_leaf(child)],
        }
    }
}

/// The cheapest tree of so many leaves.
fn plan(
    graph: &Graph,
    of_node: &[Vec<Cost>],
    child: Child,
    n: usize,
    labels: &mut Vec<u32>,
) -> Plan {
    let own = Node { graph, of_node };
    let Child::Node(node) = child else {
        labels.push(cheapest(graph, child));
        return Plan::Leaf;
    };
    let cost = of_node[node as usize][n - 1];
    for split in graph.splits_of(node).iter().filter(|_| n > 1) {
        let (left, right) = (own.costs(split.left), own.costs(split.right));
        for i in 1..n {
            let sum = left.get(i - 1).zip(right.get(n - i - 1)).map(|(a, b)| a + b);
            if sum == Some(cost) {
                let (cut, _) = graph.questions[split.question as usize];
                let a = plan(graph, of_node, split.left, i, labels);
                let b = plan(graph, of_node, split.right, n - i, labels);
                return Plan::split(cut.feature, cut.cut, a, b);
            }
        }
    }
    labels.push(cheapest(graph, child));
    Plan::Leaf
}

fn cheapest(graph: &Graph, child: Child) -> u32 {
    graph.answers_of(child).iter().min().map_or(0, |&(_, label)| label)
}

/// Which columns any tree asks for, by column.
pub fn asked(graph: &Graph, n_columns: usize) -> Vec<bool> {
    let mut asked = vec![false; n_columns];
    graph.splits.iter().for_each(|split| asked[graph.column_of(split).index()] = true);
    asked
}
