//! All trees within a budget, as a graph that shares subtrees.

use crate::cost::Cost;
use crate::ids::ColumnId;
use crate::view::Cut;

/// What a leaf may answer, and what it costs then, with its penalty.
pub type Answers = Vec<(Cost, u32)>;

/// One side of a split: a node, or nothing but a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    Node(u32),
    Leaf(u32),
}

#[derive(Debug, Clone, Copy)]
pub struct Split {
    /// An index into `Graph::questions`.
    pub question: u32,
    pub left: Child,
    pub right: Child,
}

/// Some rows, with what their tree may cost where they are cheapest above.
#[derive(Debug, Clone)]
pub struct Node {
    pub budget: Cost,
    /// What their best tree costs.
    pub least: Cost,
    /// An index into `Graph::answers`.
    pub leaf: u32,
    /// A range of `Graph::splits`.
    pub splits: (u32, u32),
}

/// Every path from node 0 down that stays within the budget is a tree of the set, and there is no
/// other tree in it.
#[derive(Debug, Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub splits: Vec<Split>,
    pub answers: Vec<Answers>,
    /// What splits ask, and of which column.
    pub questions: Vec<(Cut, ColumnId)>,
    /// Nodes in an order in which none comes before a node above it.
    pub order: Vec<u32>,
    /// The most leaves of a tree, where that is limited.
    pub max_leaves: Option<u32>,
    /// Whether all trees are there. If the search was stopped, some are not.
    pub is_complete: bool,
}

impl Graph {
    pub fn splits_of(&self, node: u32) -> &[Split] {
        let (from, to) = self.nodes[node as usize].splits;
        &self.splits[from as usize..to as usize]
    }

    /// What a leaf of this node, or this leaf, may answer.
    pub fn answers_of(&self, child: Child) -> &Answers {
        let leaf = match child {
            Child::Node(node) => self.nodes[node as usize].leaf,
            Child::Leaf(leaf) => leaf,
        };
        &self.answers[leaf as usize]
    }

    /// What the best tree of a child costs.
    pub fn least_of(&self, child: Child) -> Cost {
        match child {
            Child::Node(node) => self.nodes[node as usize].least,
            Child::Leaf(leaf) => {
                let costs = self.answers[leaf as usize].iter().map(|&(cost, _)| cost);
                costs.min().unwrap_or(Cost::MAX)
            }
        }
    }

    pub fn column_of(&self, split: &Split) -> ColumnId {
        self.questions[split.question as usize].1
    }

    /// The bytes of nodes, splits and answers.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.splits.capacity() * size_of::<Split>()
            + self.answers.capacity() * (size_of::<Answers>() + size_of::<(Cost, u32)>())
            + self.order.capacity() * size_of::<u32>()
    }
}
