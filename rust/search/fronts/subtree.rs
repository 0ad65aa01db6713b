//! Subtrees: as values carry them, and as they are sketched before it is known whether their value
//! stays.

use crate::search::common::sync::Arc;
use crate::tree::Plan;
use crate::view::Cut;

/// A subtree. Leaves and stumps stand where they are used; deeper ones are shared by all that they
/// are part of.
#[derive(Debug, Clone)]
pub enum Subtree {
    Leaf(u32),
    Stump { question: u32, labels: [u32; 2] },
    Split(Arc<Split>),
}

#[derive(Debug, Clone)]
pub struct Split {
    pub question: u32,
    pub children: [Subtree; 2],
}

impl Subtree {
    /// The plan. The labels of its leaves go to the end of `labels`, from left to right.
    pub fn plan(&self, questions: &[Cut], labels: &mut Vec<u32>) -> Plan {
        let split = |question: u32, left: Plan, right: Plan| {
            let question = questions[question as usize];
            Plan::split(question.feature, question.cut, left, right)
        };
        match self {
            Subtree::Leaf(label) => {
                labels.push(*label);
                Plan::Leaf
            }
            Subtree::Stump { question, labels: both } => {
                labels.extend(both);
                split(*question, Plan::Leaf, Plan::Leaf)
            }
            Subtree::Split(node) => {
                let [left, right] = &node.children;
                let left = left.plan(questions, labels);
                let right = right.plan(questions, labels);
                split(node.question, left, right)
            }
        }
    }

    /// Bytes held beside the value itself.
    pub fn bytes(&self) -> usize {
        // A shared node has two counts beside it.
        if matches!(self, Subtree::Split(_)) { 16 + size_of::<Split>() } else { 0 }
    }
}

/// The parts of a candidate's subtree. Most candidates are dropped soon, so that nothing is
/// allocated before one stays.
#[derive(Debug, Clone)]
pub enum SubtreeSketch {
    Leaf(u32),
    Stump {
        question: u32,
        labels: [u32; 2],
    },
    Split(Split),
    /// A subtree that stayed before.
    Grown(Subtree),
}

impl SubtreeSketch {
    pub fn grow(self) -> Subtree {
        match self {
            SubtreeSketch::Leaf(label) => Subtree::Leaf(label),
            SubtreeSketch::Stump { question, labels } => Subtree::Stump { question, labels },
            SubtreeSketch::Split(split) => Subtree::Split(Arc::new(split)),
            SubtreeSketch::Grown(subtree) => subtree,
        }
    }
}
