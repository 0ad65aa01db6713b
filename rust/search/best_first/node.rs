//! A node: a set of rows and what is left to spend, with bounds that only ever tighten.

use super::alternatives::{Alternatives, Bounded};
use super::budget::{Choice, NodeKey};
use crate::cost::{Cost, INFINITE};
use crate::run::{Account, HeapBytes};
use crate::search::common::sync::{AtomicI64, AtomicU32, Mutex, Ordering};

/// Shared by all workers. `lower` never falls, `upper` never rises, and `lower <= optimum <= upper`
/// at every moment.
#[derive(Debug)]
pub struct Node {
    pub key: NodeKey,
    lower: AtomicI64,
    upper: AtomicI64,
    /// Workers that are below this node now: its alternatives stay.
    busy: AtomicU32,
    /// When a worker last came here, by the run's clock.
    visited: AtomicU32,
    pub state: Mutex<State>,
}

#[derive(Debug, Default)]
pub struct State {
    /// `None` before the node is expanded, and again once it is solved. At the memory limit also in
    /// between: then `expanded` is `false` again.
    pub alternatives: Option<Box<Alternatives<Node>>>,
    pub expanded: bool,
    /// Set with every fall of `upper` that comes from a split.
    pub choice: Option<Choice>,
    /// Whether `upper` was ever lowered by what lies deeper than the look-ahead sees.
    pub deep: bool,
    /// Whether a worker takes the bounds of all alternatives from sets of columns, or did.
    pub summed: bool,
}

impl Node {
    pub fn new(key: NodeKey, lower: Cost, upper: Cost) -> Node {
        Node {
            key,
            lower: AtomicI64::new(lower),
            upper: AtomicI64::new(upper),
            busy: AtomicU32::new(0),
            visited: AtomicU32::new(0),
            state: Mutex::new(State::default()),
        }
    }

    pub fn unknown(key: NodeKey) -> Node {
        Node::new(key, 0, INFINITE)
    }

    pub fn lower(&self) -> Cost {
        self.lower.load(Ordering::Acquire)
    }

    pub fn upper(&self) -> Cost {
        self.upper.load(Ordering::Acquire)
    }

    pub fn raise(&self, lower: Cost) {
        self.lower.fetch_max(lower, Ordering::AcqRel);
    }

    pub fn lower_to(&self, upper: Cost) {
        self.upper.fetch_min(upper, Ordering::AcqRel);
    }

    pub fn solved(&self) -> bool {
        self.lower() >= self.upper()
    }

    /// A worker goes below this node.
    pub fn arrive(&self, clock: u32) {
        self.busy.fetch_add(1, Ordering::Relaxed);
        self.visited.store(clock, Ordering::Relaxed);
    }

    pub fn depart(&self) {
        self.busy.fetch_sub(1, Ordering::Relaxed);
    }

    pub fn visited(&self) -> u32 {
        self.visited.load(Ordering::Relaxed)
    }

    /// Bytes of alternatives that nobody is in.
    pub fn idle_bytes(&self) -> usize {
        // A node whose state is locked is in use.
        match self.state.try_lock() {
            Ok(state) if self.busy.load(Ordering::Relaxed) == 0 => state.idle_bytes(),
            _ => 0,
        }
    }

    /// Whether no worker is below this node or in one of its alternatives.
    #[cfg(all(test, shuttle))]
    pub fn is_idle(&self) -> bool {
        let state = crate::search::common::sync::lock(&self.state);
        let busy = self.busy.load(Ordering::Relaxed) > 0;
        !busy && state.alternatives.as_ref().is_none_or(|all| all.idle())
    }

    /// Whether the look-ahead can find this node's upper bound again.
    pub fn is_shallow(&self) -> bool {
        self.state.try_lock().is_ok_and(|state| !state.deep)
    }

    /// Drop the alternatives if nobody is in them. They come back when the node is next chosen;
    /// bounds and choice stay.
    pub fn shed(&self, account: &Account) {
        let Ok(mut state) = self.state.try_lock() else { return };
        if self.busy.load(Ordering::Relaxed) == 0 && state.idle_bytes() > 0 {
            account.change(&mut *state, |state| state.alternatives = None);
            state.expanded = false;
        }
    }
}

impl Bounded for Node {
    fn bounds(&self) -> (Cost, Cost) {
        (self.lower(), self.upper())
    }
}

impl State {
    fn idle_bytes(&self) -> usize {
        self.alternatives.as_ref().filter(|all| all.idle()).map_or(0, |all| all.heap_bytes())
    }
}

impl HeapBytes for State {
    fn heap_bytes(&self) -> usize {
        self.alternatives.as_ref().map_or(0, |all| all.heap_bytes())
    }
}
