//! A search of a problem near ours, such as one of less depth, that goes on from slice to slice.

use super::help::{Help, Searched};
use crate::cost::{Cost, INFINITE};
use crate::problem::Problem;
use crate::route::SavedSearch;

pub struct Pursuit {
    problem: Problem,
    saved: Option<SavedSearch>,
    /// Trees that cost this or more are of no use to it: what it left behind was closed with this
    /// cutoff.
    upper: Cost,
}

impl Pursuit {
    pub fn new(problem: Problem) -> Self {
        Pursuit { problem, saved: None, upper: INFINITE }
    }

    /// A tree that costs less than all that were found before, and than `cutoff`.
    pub fn go_on(&mut self, help: Help, cutoff: Cost) -> Searched {
        let cutoff = cutoff.min(self.upper);
        let (found, saved) = help.search_on(&self.problem, cutoff, self.saved.take());
        self.saved = saved;
        self.upper = found.upper.min(cutoff);
        found
    }
}
