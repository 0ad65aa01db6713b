//! Lists of values: candidates while a node is worked on, entries once it is done.

use std::sync::Arc;

use super::node::Stopped;
use super::solve::Shared;
use super::{Alike, Front};
use crate::cost::Cost;
use crate::run::{Held, Run, Status};
use crate::tree::Plan;
use crate::view::Question;

/// A subtree. Leaves and stumps stand where they are used; deeper ones are shared by all that they are part of.
#[derive(Debug, Clone)]
pub enum Grown {
    Leaf(u32),
    Stump { question: u32, labels: [u32; 2] },
    Split(Arc<Split>),
}

#[derive(Debug, Clone)]
pub struct Split {
    pub question: u32,
    pub children: [Grown; 2],
}

impl Grown {
    /// The plan, and the labels of its leaves from left to right.
    pub fn plan(&self, questions: &[Question], labels: &mut Vec<u32>) -> Plan {
        let split = |question: u32, left: Plan, right: Plan| {
            let question = questions[question as usize];
            Plan::split(question.feature, question.cut, left, right)
        };
        match self {
            Grown::Leaf(label) => {
                labels.push(*label);
                Plan::Leaf
            }
            Grown::Stump { question, labels: both } => {
                labels.extend(both);
                split(*question, Plan::Leaf, Plan::Leaf)
            }
            Grown::Split(node) => {
                let [left, right] = &node.children;
                let left = left.plan(questions, labels);
                let right = right.plan(questions, labels);
                split(node.question, left, right)
            }
        }
    }

    /// Beside itself.
    fn bytes(&self) -> usize {
        // A shared one has two counts.
        if matches!(self, Grown::Split(_)) { 16 + size_of::<Split>() } else { 0 }
    }
}

/// What a candidate is made of; what is shared of it is only made for those that stay.
#[derive(Debug, Clone)]
pub enum Made {
    Leaf(u32),
    Stump { question: u32, labels: [u32; 2] },
    Split(Split),
}

impl Made {
    pub fn grow(self) -> Grown {
        match self {
            Made::Leaf(label) => Grown::Leaf(label),
            Made::Stump { question, labels } => Grown::Stump { question, labels },
            Made::Split(split) => Grown::Split(Arc::new(split)),
        }
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
    pub tree: Grown,
}

/// A node's front as far as a budget goes: every value within it is here, or one that is no worse.
pub struct List<'a, 'run, V> {
    pub budget: Cost,
    /// By bound.
    pub entries: Vec<Entry<V>>,
    /// The run knows of it for as long as anybody has it.
    _held: Held<'a, 'run>,
}

impl<'a, 'run, V> List<'a, 'run, V> {
    fn new(
        budget: Cost,
        candidates: Vec<Candidate<V>>,
        of: &impl Front<Value = V>,
        run: &'a Run<'run>,
    ) -> Self {
        let mut entries: Vec<Entry<V>> = (candidates.into_iter())
            .map(|c| Entry {
                bound: c.bound,
                leaves: c.leaves,
                value: c.value,
                tree: c.made.grow(),
            })
            .collect();
        entries.shrink_to_fit();
        entries.sort_unstable_by_key(|entry| entry.bound);
        let each = |entry: &Entry<V>| of.bytes(&entry.value) + entry.tree.bytes();
        let own = size_of::<Self>() + entries.capacity() * size_of::<Entry<V>>();
        let mut held = Held::new(run);
        held.set(own + entries.iter().map(each).sum::<usize>());
        List { budget, entries, _held: held }
    }

    /// The least bound of all entries, if there are any within `budget`.
    pub fn least(&self, budget: Cost) -> Option<Cost> {
        self.entries.first().map(|entry| entry.bound).filter(|&bound| bound <= budget)
    }
}

/// Candidates of one node, thinned whenever they have become many.
pub struct Pile<'w, 'a, 'run, F: Front> {
    shared: &'w Shared<'a, 'run, F>,
    /// Class weights of the node's rows.
    weights: Vec<i64>,
    list: Vec<Candidate<F::Value>>,
    /// Their places, by key.
    alike: Alike,
    /// What their values hold beside themselves, and how much of that the run knows.
    values: usize,
    told: usize,
    held: Held<'a, 'run>,
    /// Thin at this length.
    full: usize,
    /// There was no room for all candidates.
    over: bool,
}

const FIRST_FULL: usize = 256;

/// Bytes of values that the run is not told of one by one.
const UNTOLD: usize = 1 << 14;

impl<'w, 'a, 'run, F: Front> Pile<'w, 'a, 'run, F> {
    pub fn new(shared: &'w Shared<'a, 'run, F>, weights: Vec<i64>) -> Self {
        Pile {
            shared,
            weights,
            list: Vec::new(),
            alike: Alike::default(),
            values: 0,
            told: 0,
            held: Held::new(shared.run),
            full: FIRST_FULL,
            over: false,
        }
    }

    /// `made`: asked only if the value is needed.
    pub fn push(&mut self, bound: Cost, leaves: u32, value: F::Value, made: impl FnOnce() -> Made) {
        let front = self.shared.front;
        if self.over || !self.make_room() {
            return;
        }
        if let Some((key, cost)) = front.alike(&value, leaves) {
            let place = *self.alike.known(key, self.list.len() as u32) as usize;
            if let Some(known) = self.list.get_mut(place) {
                let dearer = |(_, other)| cost < other;
                if front.alike(&known.value, known.leaves).is_some_and(dearer) {
                    *known = Candidate { bound, leaves, value, made: made() };
                }
                return;
            }
        }
        self.values += front.bytes(&value);
        self.list.push(Candidate { bound, leaves, value, made: made() });
        if self.list.len() >= self.full && self.thin() {
            self.full = (2 * self.list.len()).max(FIRST_FULL);
            self.alike = Alike::default();
            if self.list.first().is_some_and(|c| front.alike(&c.value, c.leaves).is_some()) {
                self.alike = Alike::with_room(self.full);
            }
            let keys = self.list.iter().filter_map(|c| front.alike(&c.value, c.leaves));
            for (place, (key, _)) in keys.enumerate() {
                self.alike.known(key, place as u32);
            }
        }
    }

    fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Candidate<F::Value>>() + self.alike.bytes() + self.values
    }

    /// Before one more candidate. Past the memory limit known fronts are forgotten, and then there is no room.
    fn make_room(&mut self) -> bool {
        let is_full = self.list.len() == self.list.capacity();
        let more = if is_full { self.list.len().max(16) } else { 0 };
        let grown = more * size_of::<Candidate<F::Value>>() + self.alike.growth();
        if grown > 0 || self.values > self.told + UNTOLD {
            self.told = self.values;
            self.held.set(self.bytes() + grown);
            self.over = !self.shared.has_room();
            self.list.reserve_exact(if self.over { 0 } else { more });
        }
        !self.over
    }

    /// Whether there was room to.
    fn thin(&mut self) -> bool {
        self.held.set(self.bytes() + self.shared.front.thin_bytes(self.list.len()));
        self.over = !self.shared.has_room();
        if self.over {
            return false;
        }
        self.shared.front.thin(&self.weights, &mut self.list);
        self.values = self.list.iter().map(|c| self.shared.front.bytes(&c.value)).sum();
        self.told = self.values;
        self.held.set(self.bytes());
        true
    }

    /// The front, if there was room for it.
    pub fn done(mut self, budget: Cost) -> Result<List<'a, 'run, F::Value>, Stopped> {
        if self.over || !self.thin() {
            self.shared.run.stop(Status::MemoryLimit);
            return Err(Stopped);
        }
        Ok(List::new(budget, self.list, self.shared.front, self.shared.run))
    }
}
