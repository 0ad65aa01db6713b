//! How many trees there are, by what they cost.

use hashbrown::HashMap;

use super::count::Count;
use super::graph::{Child, Graph, Split};
use crate::cost::Cost;
use crate::ids::ColumnId;
use crate::run::{Held, Run, Status};

/// How many trees have a cost, and so many leaves where these are limited (else 0).
#[derive(Debug, Clone)]
pub struct Entry {
    pub leaves: u32,
    pub cost: Cost,
    pub count: Count,
}

/// In the order of leaves, then costs.
pub type Curve = Vec<Entry>;

/// The curve of each node but the root, whose trees are only counted: where each tree costs
/// something of its own, there are as many costs as trees.
pub struct Curves<'a> {
    pub graph: &'a Graph,
    pub of_node: Vec<Curve>,
    /// By leaf.
    of_leaf: Vec<Curve>,
    /// Splits on this column are left out.
    pub without: Option<ColumnId>,
    pub is_complete: bool,
}

/// Memory is counted once in so many nodes.
const OFTEN: usize = 256;

impl<'a> Curves<'a> {
    /// If the run is stopped, the curves of nodes that were not reached are empty: then there are
    /// more trees than they say.
    pub fn new(graph: &'a Graph, without: Option<ColumnId>, run: &Run) -> Curves<'a> {
        let leaves = u32::from(graph.max_leaves.is_some());
        let of_leaf = graph.answers.iter().map(|answers| {
            let costs = answers.iter().map(|&(cost, _)| ((leaves, cost), Count::ONE));
            sorted(added(costs))
        });
        let of_leaf = of_leaf.collect();
        let of_node = vec![Curve::new(); graph.nodes.len()];
        let mut curves = Curves { graph, of_node, of_leaf, without, is_complete: true };
        let mut held = Held::new(run);
        let mut bytes = 0;
        for (at, &node) in graph.order.iter().rev().enumerate() {
            if node == 0 {
                continue;
            }
            curves.of_node[node as usize] = curves.curve(node);
            bytes += curves.of_node[node as usize].capacity() * size_of::<Entry>();
            if at.is_multiple_of(OFTEN) {
                held.set(bytes);
                if !run.fits(0) {
                    run.stop(Status::MemoryLimit);
                }
                if run.check_time().is_some() {
                    curves.is_complete = false;
                    break;
                }
                run.report(0, crate::cost::INFINITE);
            }
        }
        curves
    }

    /// The splits of a node that count.
    pub fn splits_of(&self, node: u32) -> impl Iterator<Item = &'a Split> + use<'a> {
        let (graph, without) = (self.graph, self.without);
        graph.splits_of(node).iter().filter(move |split| Some(graph.column_of(split)) != without)
    }

    pub fn of(&self, child: Child) -> &Curve {
        match child {
            Child::Node(node) => &self.of_node[node as usize],
            Child::Leaf(leaf) => &self.of_leaf[leaf as usize],
        }
    }

    /// What a leaf of the node itself may cost.
    pub fn as_leaf(&self, node: u32) -> &Curve {
        &self.of_leaf[self.graph.nodes[node as usize].leaf as usize]
    }

    fn most_leaves(&self) -> u32 {
        self.graph.max_leaves.unwrap_or(u32::MAX)
    }

    /// The curve of a node, of what is within its budget.
    pub fn curve(&self, node: u32) -> Curve {
        let budget = self.graph.nodes[node as usize].budget;
        let own = self.as_leaf(node).iter().filter(|entry| entry.cost <= budget);
        let mut all = added(own.map(|entry| ((entry.leaves, entry.cost), entry.count.clone())));
        for split in self.splits_of(node) {
            let right = self.of(split.right);
            for a in self.of(split.left) {
                for b in right {
                    let key = (a.leaves + b.leaves, a.cost + b.cost);
                    if key.1 > budget || key.0 > self.most_leaves() {
                        if a.leaves == 0 {
                            // Costs ascend.
                            break;
                        }
                        continue;
                    }
                    all.entry(key).or_insert(Count::ZERO).add(&a.count.times(&b.count));
                }
            }
        }
        sorted(all)
    }

    /// By entry of the curve of the left side: how many trees the split makes with it that are
    /// within this budget.
    pub fn by_left(&self, split: &Split, budget: Cost) -> Vec<Count> {
        let groups = Sums::of(self.of(split.right));
        let most = self.most_leaves();
        let left = self.of(split.left).iter();
        left.map(|a| a.count.times(&groups.within(budget - a.cost, most - a.leaves))).collect()
    }

    /// How many trees the root's leaf and each of its splits have, within this budget.
    pub fn of_root(&self, budget: Cost) -> (Count, Vec<Count>) {
        let mut leaf = Count::ZERO;
        self.as_leaf(0).iter().filter(|e| e.cost <= budget).for_each(|e| leaf.add(&e.count));
        let split = |split: &'a Split| {
            let mut sum = Count::ZERO;
            self.by_left(split, budget).iter().for_each(|count| sum.add(count));
            sum
        };
        (leaf, self.splits_of(0).map(split).collect())
    }

    /// How many trees there are within this budget.
    pub fn count(&self, budget: Cost) -> Count {
        let (mut sum, splits) = self.of_root(budget);
        splits.iter().for_each(|count| sum.add(count));
        sum
    }
}

/// How many trees of a curve cost at most something, by leaves.
struct Sums<'c> {
    groups: Vec<(u32, &'c [Entry], Vec<Count>)>,
}

impl<'c> Sums<'c> {
    fn of(curve: &'c [Entry]) -> Sums<'c> {
        let groups = curve.chunk_by(|a, b| a.leaves == b.leaves).map(|entries| {
            let mut sum = Count::ZERO;
            let sums = entries.iter().map(|entry| {
                sum.add(&entry.count);
                sum.clone()
            });
            (entries[0].leaves, entries, sums.collect())
        });
        Sums { groups: groups.collect() }
    }

    fn within(&self, budget: Cost, most_leaves: u32) -> Count {
        let mut all = Count::ZERO;
        for (leaves, entries, sums) in &self.groups {
            let n = entries.partition_point(|entry| entry.cost <= budget);
            if *leaves <= most_leaves && n > 0 {
                all.add(&sums[n - 1]);
            }
        }
        all
    }
}

fn added(entries: impl Iterator<Item = ((u32, Cost), Count)>) -> HashMap<(u32, Cost), Count> {
    let mut all: HashMap<(u32, Cost), Count> = HashMap::new();
    for (key, count) in entries {
        all.entry(key).or_insert(Count::ZERO).add(&count);
    }
    all
}

fn sorted(all: HashMap<(u32, Cost), Count>) -> Curve {
    let entry = |((leaves, cost), count)| Entry { leaves, cost, count };
    let mut curve: Curve = all.into_iter().map(entry).collect();
    curve.sort_unstable_by_key(|entry| (entry.leaves, entry.cost));
    curve
}
