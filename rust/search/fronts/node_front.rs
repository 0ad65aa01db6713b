//! The front of one node, once it is done.

use super::front::{Candidate, Front};
use super::stopped::Stopped;
use super::subtree::Subtree;
use crate::cost::Cost;
use crate::run::{Held, Pace, Run};

/// A value of a front with its subtree.
#[derive(Debug)]
pub struct Entry<V> {
    pub bound: Cost,
    pub leaves: u32,
    pub value: V,
    pub tree: Subtree,
}

/// A node's front as far as a budget goes: every value within it is here, or another one that makes
/// it needless.
pub struct NodeFront<'a, 'run, V> {
    pub budget: Cost,
    /// By bound.
    pub entries: Vec<Entry<V>>,
    /// The run knows of it for as long as anybody has it.
    _held: Held<'a, 'run>,
}

impl<'a, 'run, V> NodeFront<'a, 'run, V> {
    pub fn new(
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
                tree: c.sketch.grow(),
            })
            .collect();
        entries.shrink_to_fit();
        entries.sort_unstable_by_key(|entry| entry.bound);
        let each = |entry: &Entry<V>| of.value_bytes(&entry.value) + entry.tree.bytes();
        let own = size_of::<Self>() + entries.capacity() * size_of::<Entry<V>>();
        let mut held = Held::new(run);
        held.set(own + entries.iter().map(each).sum::<usize>());
        NodeFront { budget, entries, _held: held }
    }

    /// The least bound of all entries, if there are any within `budget`.
    pub fn least(&self, budget: Cost) -> Option<Cost> {
        self.entries.first().map(|entry| entry.bound).filter(|&bound| bound <= budget)
    }

    /// Call `each` with every pair of entries, one of either side, that is within the budget
    /// together.
    pub fn pairs(
        &self,
        right: &Self,
        budget: Cost,
        pace: &mut Pace,
        mut each: impl FnMut(&Entry<V>, &Entry<V>),
    ) -> Result<(), Stopped> {
        let Some(least) = right.entries.first() else { return Ok(()) };
        for a in self.entries.iter().take_while(|a| a.bound + least.bound <= budget) {
            for b in right.entries.iter().take_while(|b| a.bound + b.bound <= budget) {
                if pace.is_over(1) {
                    return Err(Stopped);
                }
                each(a, b);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cost::Scale;
    use crate::run::Limits;

    #[test]
    fn the_clock_ends_very_many_pairs() {
        let scale = Scale::new(1.0, 0, 0);
        for (time, most) in [(Some(Duration::ZERO), 2_000), (None, 4_000_000)] {
            let run = Run::new(Limits { time, ..Limits::default() }, scale, None);
            let entry = |bound| Entry { bound, leaves: 1, value: (), tree: Subtree::Leaf(0) };
            let front = NodeFront {
                budget: 4_000,
                entries: (0..2_000).map(entry).collect(),
                _held: Held::new(&run),
            };
            let (mut pairs, mut pace) = (0, Pace::new(&run));
            let done = front.pairs(&front, 4_000, &mut pace, |_, _| pairs += 1);
            assert_eq!(done.is_ok(), time.is_none());
            assert!(if time.is_none() { pairs == most } else { pairs < most }, "{pairs}");
        }
    }
}
