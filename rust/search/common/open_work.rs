//! A queue of what is still open, the least bound first.
//!
//! Statement: what is in the queue, what was taken from it and is being tried, and what was settled
//! with a bound are all there is; the least of their bounds is a lower bound of the whole, at every
//! moment, however many workers take from it. What is taken keeps its bound until
//! [`done`](OpenWork::done) says that what came of it is in the queue, or settled.

use std::collections::BinaryHeap;

use crate::cost::{Cost, INFINITE};

/// Something to do. The greatest is next: it has the least bound.
pub trait Work: Ord {
    fn bound(&self) -> Cost;
}

pub struct OpenWork<T> {
    open: BinaryHeap<T>,
    /// The bounds of what is being tried.
    trying: Vec<Cost>,
    /// The least bound of what is settled.
    settled: Cost,
}

impl<T: Work> Default for OpenWork<T> {
    fn default() -> Self {
        OpenWork::at_rest(Vec::new(), INFINITE)
    }
}

impl<T: Work> OpenWork<T> {
    /// A queue of which nothing is being tried.
    pub fn at_rest(open: Vec<T>, settled: Cost) -> OpenWork<T> {
        OpenWork { open: BinaryHeap::from(open), trying: Vec::new(), settled }
    }

    pub fn push(&mut self, work: T) {
        self.open.push(work);
    }

    /// The work with the least bound, if that is below `below`. It counts as tried from now on.
    pub fn take(&mut self, below: Cost) -> Option<T> {
        if self.open.peek()?.bound() >= below {
            return None;
        }
        let work = self.open.pop()?;
        self.trying.push(work.bound());
        Some(work)
    }

    /// Something that was taken with this bound is tried no more.
    pub fn done(&mut self, bound: Cost) {
        let at = self.trying.iter().position(|&tried| tried == bound);
        self.trying.swap_remove(at.expect("what was taken is given back once"));
    }

    /// Nothing more is to be done about something with this bound.
    pub fn settle(&mut self, bound: Cost) {
        self.settled = self.settled.min(bound);
    }

    /// The least bound of what is open or being tried.
    pub fn least(&self) -> Option<Cost> {
        let open = self.open.peek().map(Work::bound);
        open.into_iter().chain(self.trying.iter().copied()).min()
    }

    /// The least bound of what was settled.
    pub fn settled(&self) -> Cost {
        self.settled
    }

    /// Whether nothing is being tried.
    pub fn is_idle(&self) -> bool {
        self.trying.is_empty()
    }

    /// What is open, in an order from which an equal queue is made.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        self.open.iter()
    }

    pub fn bytes(&self) -> usize {
        self.open.capacity() * size_of::<T>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    struct Bound(std::cmp::Reverse<Cost>);

    impl Work for Bound {
        fn bound(&self) -> Cost {
            self.0.0
        }
    }

    #[test]
    fn what_is_tried_keeps_its_bound() {
        let mut work = OpenWork::default();
        [5, 3, 9].into_iter().for_each(|bound| work.push(Bound(std::cmp::Reverse(bound))));
        let taken = work.take(Cost::MAX).expect("three are open").bound();
        assert_eq!((taken, work.least(), work.is_idle()), (3, Some(3), false));
        assert!(work.take(5).is_none());
        work.settle(4);
        work.done(3);
        assert_eq!((work.least(), work.settled(), work.is_idle()), (Some(5), 4, true));
    }
}
