//! The trees one after the other, the best first, and no more of them than are asked for.
//!
//! Each node has a list of its trees in the order of their cost, which grows as it is asked for.
//! Its next tree is the cheapest of: its leaf, and of each split the cheapest pair of trees of both
//! sides that was not taken yet. When the pair (i, j) is taken, (i, j + 1) may be next, and (i + 1,
//! 0) if j is 0, so that each pair comes up once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use super::graph::{Child, Graph};
use crate::cost::Cost;
use crate::tree::Plan;

/// A tree, and its labels from left to right.
#[derive(Debug)]
pub struct Listed {
    pub cost: Cost,
    pub plan: Plan,
    pub labels: Vec<u32>,
}

/// How a tree of a node is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// The place of its answer.
    Leaf(u32),
    /// A split of the node, and the places of both sides' trees.
    Split(u32, u32, u32),
}

#[derive(Debug, Clone, Copy)]
struct Tree {
    cost: Cost,
    leaves: u32,
    way: Way,
}

#[derive(Debug, Default)]
struct Stream {
    found: Vec<Tree>,
    /// What a tree costs, or may cost, and how it is made.
    open: BinaryHeap<Reverse<(Cost, Way)>>,
}

/// The trees of a graph, in order.
#[derive(Debug, Default)]
pub struct Listing {
    streams: HashMap<u32, Stream>,
    next: usize,
}

impl Listing {
    /// The next tree within the graph's budget.
    pub fn next(&mut self, graph: &Graph) -> Option<Listed> {
        if graph.nodes.is_empty() {
            return None;
        }
        let tree = self.tree(graph, Child::Node(0), self.next)?;
        self.next += 1;
        let mut labels = Vec::new();
        let plan = self.plan(graph, Child::Node(0), tree.way, &mut labels);
        Some(Listed { cost: tree.cost, plan, labels })
    }

    /// The tree of a child at a place in its order.
    fn tree(&mut self, graph: &Graph, child: Child, place: usize) -> Option<Tree> {
        let Child::Node(node) = child else { return leaf(graph, child, place) };
        if !self.streams.contains_key(&node) {
            self.streams.insert(node, Stream::begin(graph, node));
        }
        loop {
            let stream = self.streams.get_mut(&node)?;
            if let Some(&tree) = stream.found.get(place) {
                return Some(tree);
            }
            let Reverse((cost, way)) = stream.open.pop()?;
            let Some(tree) = self.made(graph, node, way) else { continue };
            if tree.cost > cost {
                // A bound stood for the cost.
                self.offer(graph, node, tree);
                continue;
            }
            if let Way::Split(split, i, j) = way {
                self.follow(graph, node, split, (i, j + 1));
                if j == 0 {
                    self.follow(graph, node, split, (i + 1, 0));
                }
            }
            if tree.leaves <= graph.max_leaves.unwrap_or(u32::MAX) {
                self.streams.get_mut(&node)?.found.push(tree);
            }
        }
    }

    fn made(&mut self, graph: &Graph, node: u32, way: Way) -> Option<Tree> {
        match way {
            Way::Leaf(place) => {
                let mut tree = leaf(graph, Child::Node(node), place as usize)?;
                tree.way = way;
                Some(tree)
            }
            Way::Split(split, i, j) => {
                let split = graph.splits_of(node)[split as usize];
                let left = self.tree(graph, split.left, i as usize)?;
                let right = self.tree(graph, split.right, j as usize)?;
                let (cost, leaves) = (left.cost + right.cost, left.leaves + right.leaves);
                Some(Tree { cost, leaves, way })
            }
        }
    }

    fn follow(&mut self, graph: &Graph, node: u32, split: u32, (i, j): (u32, u32)) {
        if let Some(tree) = self.made(graph, node, Way::Split(split, i, j)) {
            self.offer(graph, node, tree);
        }
    }

    fn offer(&mut self, graph: &Graph, node: u32, tree: Tree) {
        if tree.cost <= graph.nodes[node as usize].budget
            && let Some(stream) = self.streams.get_mut(&node)
        {
            stream.open.push(Reverse((tree.cost, tree.way)));
        }
    }

    fn plan(&mut self, graph: &Graph, child: Child, way: Way, labels: &mut Vec<u32>) -> Plan {
        match (way, child) {
            (Way::Split(split, i, j), Child::Node(node)) => {
                let split = graph.splits_of(node)[split as usize];
                let (cut, _) = graph.questions[split.question as usize];
                let [left, right] = [(split.left, i), (split.right, j)].map(|(child, place)| {
                    let tree = self.tree(graph, child, place as usize);
                    tree.map_or(Plan::Leaf, |tree| self.plan(graph, child, tree.way, labels))
                });
                Plan::split(cut.feature, cut.cut, left, right)
            }
            (Way::Leaf(place), _) => {
                labels.push(graph.answers_of(child)[place as usize].1);
                Plan::Leaf
            }
            (Way::Split(..), Child::Leaf(_)) => Plan::Leaf,
        }
    }
}

impl Stream {
    fn begin(graph: &Graph, node: u32) -> Stream {
        let budget = graph.nodes[node as usize].budget;
        let answers = graph.answers_of(Child::Node(node)).iter().enumerate();
        let leaves = answers.map(|(place, &(cost, _))| (cost, Way::Leaf(place as u32)));
        let splits = graph.splits_of(node).iter().enumerate().map(|(at, split)| {
            // What both sides cost at least, so that none is looked at before it is its turn.
            let least = graph.least_of(split.left) + graph.least_of(split.right);
            (least, Way::Split(at as u32, 0, 0))
        });
        let open = leaves.chain(splits).filter(|(cost, _)| *cost <= budget).map(Reverse);
        Stream { found: Vec::new(), open: open.collect() }
    }
}

/// The answer at a place, in the order of costs; as a leaf, answers keep their own places.
fn leaf(graph: &Graph, child: Child, place: usize) -> Option<Tree> {
    let answers = graph.answers_of(child);
    let place = match child {
        Child::Node(_) => place,
        Child::Leaf(_) => {
            let mut order: Vec<usize> = (0..answers.len()).collect();
            order.sort_by_key(|&at| answers[at].0);
            *order.get(place)?
        }
    };
    let cost = answers.get(place)?.0;
    Some(Tree { cost, leaves: 1, way: Way::Leaf(place as u32) })
}
