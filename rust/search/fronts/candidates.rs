//! Candidates of one node. Needless ones are dropped whenever there have come to be many.

use super::front::{Candidate, Front};
use super::node_front::NodeFront;
use super::place_by_key::PlaceByKey;
use super::shared::Shared;
use super::stopped::Stopped;
use super::subtree::SubtreeSketch;
use crate::bounds::{Bound, Decisions};
use crate::cost::Cost;
use crate::run::{Held, Pace, Status};

/// The list of candidates, with what must be known to drop the needless ones.
pub struct Candidates<'w, 'a, 'run, F: Front> {
    shared: &'w Shared<'a, 'run, F>,
    /// The summed statistics of the node's rows.
    sums: Vec<i64>,
    list: Vec<Candidate<F::Value>>,
    /// Their places, by key.
    places: PlaceByKey,
    /// Bytes that their values hold beside themselves, and how many of those the run knows of.
    value_bytes: usize,
    told: usize,
    held: Held<'a, 'run>,
    /// Needless candidates are dropped when the list is as long as this.
    full: usize,
    /// There was no room for all candidates.
    over: bool,
    /// How often each bound decided here.
    decided: Decisions,
}

const FIRST_FULL: usize = 256;

/// Bytes of values that the run is not told of one by one.
const UNTOLD: usize = 1 << 14;

impl<'w, 'a, 'run, F: Front> Candidates<'w, 'a, 'run, F> {
    pub fn new(shared: &'w Shared<'a, 'run, F>, sums: Vec<i64>) -> Self {
        Candidates {
            shared,
            sums,
            list: Vec::new(),
            places: PlaceByKey::default(),
            value_bytes: 0,
            told: 0,
            held: Held::new(shared.run),
            full: FIRST_FULL,
            over: false,
            decided: Decisions::default(),
        }
    }

    /// Add a candidate. `sketch` is called only if the value is needed so far.
    pub fn push(
        &mut self,
        bound: Cost,
        leaves: u32,
        value: F::Value,
        sketch: impl FnOnce() -> SubtreeSketch,
    ) {
        let front = self.shared.front;
        if self.over || !self.make_room() {
            return;
        }
        if let Some((key, cost)) = front.interchangeable(&value, leaves) {
            let place = *self.places.place_of(key, self.list.len() as u32) as usize;
            if let Some(known) = self.list.get_mut(place) {
                self.decided.count(Bound::Dominance);
                let dearer = |(_, other)| cost < other;
                if front.interchangeable(&known.value, known.leaves).is_some_and(dearer) {
                    *known = Candidate { bound, leaves, value, sketch: sketch() };
                }
                return;
            }
        }
        self.value_bytes += front.value_bytes(&value);
        self.list.push(Candidate { bound, leaves, value, sketch: sketch() });
        if self.list.len() >= self.full && self.drop_needless() {
            self.full = (2 * self.list.len()).max(FIRST_FULL);
            self.find_places();
        }
    }

    fn find_places(&mut self) {
        let front = self.shared.front;
        let key = |c: &Candidate<F::Value>| front.interchangeable(&c.value, c.leaves);
        let has_keys = self.list.first().is_some_and(|c| key(c).is_some());
        self.places =
            if has_keys { PlaceByKey::with_room(self.full) } else { PlaceByKey::default() };
        for (place, (key, _)) in self.list.iter().filter_map(key).enumerate() {
            self.places.place_of(key, place as u32);
        }
    }

    fn bytes(&self) -> usize {
        let list = self.list.capacity() * size_of::<Candidate<F::Value>>();
        list + self.places.bytes() + self.value_bytes
    }

    /// Before one more candidate. Past the memory limit known fronts are forgotten; if that is not
    /// enough, there is no room.
    fn make_room(&mut self) -> bool {
        let is_full = self.list.len() == self.list.capacity();
        let more = if is_full { self.list.len().max(16) } else { 0 };
        let grown = more * size_of::<Candidate<F::Value>>() + self.places.growth();
        if grown > 0 || self.value_bytes > self.told + UNTOLD {
            self.told = self.value_bytes;
            self.held.set(self.bytes() + grown);
            self.over = !self.shared.has_room();
            self.list.reserve_exact(if self.over { 0 } else { more });
        }
        !self.over
    }

    /// Drop candidates that no whole tree needs; `false` if there was no room to find them.
    fn drop_needless(&mut self) -> bool {
        self.held.set(self.bytes() + self.shared.front.scratch_bytes(self.list.len()));
        self.over = !self.shared.has_room();
        if self.over {
            return false;
        }
        let pace = &mut Pace::new(self.shared.run);
        self.shared.front.drop_needless(&self.sums, &mut self.list, &mut self.decided, pace);
        self.value_bytes = self.list.iter().map(|c| self.shared.front.value_bytes(&c.value)).sum();
        self.told = self.value_bytes;
        self.held.set(self.bytes());
        true
    }

    /// The front, if there was room for it. `decided` is told why candidates were dropped.
    pub fn done(
        mut self,
        budget: Cost,
        decided: &mut Decisions,
    ) -> Result<NodeFront<'a, 'run, F::Value>, Stopped> {
        let is_done = !self.over && self.drop_needless();
        decided.add_all(&self.decided);
        if !is_done {
            self.shared.run.stop(Status::MemoryLimit);
            return Err(Stopped);
        }
        Ok(NodeFront::new(budget, self.list, self.shared.front, self.shared.run))
    }
}
