//! Lists of values: candidates while a node is worked on, entries once it is done.

use std::sync::Arc;

use super::{Alike, Front};
use crate::cost::Cost;
use crate::tree::Plan;
use crate::view::Question;

/// A subtree: shared by all the trees that it is part of.
#[derive(Debug)]
pub enum Grown {
    Leaf(u32),
    Split { question: u32, children: [Arc<Grown>; 2] },
}

impl Grown {
    /// The plan, and the labels of its leaves from left to right.
    pub fn plan(&self, questions: &[Question], labels: &mut Vec<u32>) -> Plan {
        match self {
            Grown::Leaf(label) => {
                labels.push(*label);
                Plan::Leaf
            }
            Grown::Split { question, children: [left, right] } => {
                let question = questions[*question as usize];
                let left = left.plan(questions, labels);
                let right = right.plan(questions, labels);
                Plan::split(question.feature, question.cut, left, right)
            }
        }
    }
}

/// What a candidate is made of; the tree is only built for those that stay.
#[derive(Debug, Clone)]
pub enum Made {
    Leaf(u32),
    Stump { question: u32, labels: [u32; 2] },
    Split { question: u32, children: [Arc<Grown>; 2] },
}

impl Made {
    pub fn grow(self) -> Arc<Grown> {
        Arc::new(match self {
            Made::Leaf(label) => Grown::Leaf(label),
            Made::Stump { question, labels } => {
                let children = labels.map(|label| Arc::new(Grown::Leaf(label)));
                Grown::Split { question, children }
            }
            Made::Split { question, children } => Grown::Split { question, children },
        })
    }
}

/// A value that may belong to a node's front.
#[derive(Debug, Clone)]
pub struct Candidate<V> {
    /// Its cost in the relaxation, leaf penalties included.
    pub bound: Cost,
    pub leaves: u32,
    pub value: V,
    pub made: Made,
}

#[derive(Debug)]
pub struct Entry<V> {
    pub bound: Cost,
    pub leaves: u32,
    pub value: V,
    pub tree: Arc<Grown>,
}

/// A node's front as far as a budget goes: every value within it is here, or one that is no worse.
#[derive(Debug)]
pub struct List<V> {
    pub budget: Cost,
    /// By bound.
    pub entries: Vec<Entry<V>>,
}

impl<V> List<V> {
    pub fn new(budget: Cost, candidates: Vec<Candidate<V>>) -> List<V> {
        let mut entries: Vec<Entry<V>> = (candidates.into_iter())
            .map(|c| Entry {
                bound: c.bound,
                leaves: c.leaves,
                value: c.value,
                tree: c.made.grow(),
            })
            .collect();
        entries.sort_by_key(|entry| entry.bound);
        List { budget, entries }
    }

    /// The least bound of all entries, if there are any within `budget`.
    pub fn least(&self, budget: Cost) -> Option<Cost> {
        self.entries.first().map(|entry| entry.bound).filter(|&bound| bound <= budget)
    }

    pub fn bytes(&self, of: &impl Front<Value = V>) -> usize {
        // A tree is a node, its count, and often two leaves of its own.
        let each = size_of::<Entry<V>>() + 3 * (size_of::<Grown>() + 16);
        let values: usize = self.entries.iter().map(|entry| of.bytes(&entry.value)).sum();
        size_of::<Self>() + self.entries.capacity() * each + values
    }
}

/// Candidates of one node, thinned whenever they have become many.
pub struct Pile<'a, F: Front> {
    front: &'a F,
    /// Class weights of the node's rows.
    weights: &'a [i64],
    list: Vec<Candidate<F::Value>>,
    /// Their places, by key.
    alike: Alike,
    /// Thin at this length.
    full: usize,
}

const FIRST_FULL: usize = 256;

impl<'a, F: Front> Pile<'a, F> {
    pub fn new(front: &'a F, weights: &'a [i64]) -> Self {
        Pile { front, weights, list: Vec::new(), alike: Alike::default(), full: FIRST_FULL }
    }

    /// `made`: asked only if the value is needed.
    pub fn push(&mut self, bound: Cost, leaves: u32, value: F::Value, made: impl FnOnce() -> Made) {
        if let Some((key, cost)) = self.front.alike(&value, leaves) {
            let place = *self.alike.known(key, self.list.len() as u32) as usize;
            if let Some(known) = self.list.get_mut(place) {
                let dearer = |(_, other)| cost < other;
                if self.front.alike(&known.value, known.leaves).is_some_and(dearer) {
                    *known = Candidate { bound, leaves, value, made: made() };
                }
                return;
            }
        }
        self.list.push(Candidate { bound, leaves, value, made: made() });
        if self.list.len() >= self.full {
            self.front.thin(self.weights, &mut self.list);
            self.full = (2 * self.list.len()).max(FIRST_FULL);
            self.alike = Alike::default();
            for (place, kept) in self.list.iter().enumerate() {
                if let Some((key, _)) = self.front.alike(&kept.value, kept.leaves) {
                    self.alike.known(key, place as u32);
                }
            }
        }
    }

    pub fn done(mut self, budget: Cost) -> List<F::Value> {
        self.front.thin(self.weights, &mut self.list);
        List::new(budget, self.list)
    }
}
