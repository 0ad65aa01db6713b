//! Searches of parts of a problem, in a slice of the time.

use std::time::{Duration, Instant};

use super::part::Part;
use crate::cost::{Cost, INFINITE};
use crate::problem::Problem;
use crate::route::Route;
use crate::run::{Progress, Run};
use crate::tree::Plan;

/// A slice of a run's time.
#[derive(Clone, Copy)]
pub struct Help<'r, 'run> {
    run: &'r Run<'run>,
    end: Instant,
}

/// What came of a search.
pub struct Searched {
    /// A tree that costs less than the cutoff.
    pub plan: Option<Plan>,
    /// Whether no better tree is left to be found.
    pub is_complete: bool,
}

impl<'r, 'run> Help<'r, 'run> {
    pub fn new(run: &'r Run<'run>, time: Duration) -> Self {
        Help { run, end: Instant::now() + time }
    }

    pub fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// One of so many equal shares of what is left.
    pub fn share(&self, of: u32) -> Self {
        Help { end: Instant::now() + self.left() / of.max(1), ..*self }
    }

    /// Tells the run that time passes, so that progress and Ctrl-C go on, too.
    pub fn goes_on(&self) -> bool {
        self.run.tell(0, INFINITE).is_none() && !self.left().is_zero()
    }

    /// As above, beyond the slice.
    pub fn is_within_run(&self) -> bool {
        self.run.tell(0, INFINITE).is_none()
    }

    /// Whether there is room for so many bytes.
    pub fn fits(&self, bytes: usize) -> bool {
        self.run.fits(bytes as u64)
    }

    /// Tell of a tree that costs so much.
    pub fn found(&self, cost: Cost) {
        self.run.found_aside(cost);
    }

    /// A tree of the problem that costs less than `cutoff`, the best one if there is time.
    pub fn search(&self, problem: &Problem, cutoff: Cost) -> Searched {
        let run = self.run;
        let pulse = |_: &Progress| run.tell(0, INFINITE).is_none();
        let helper = run.helper(self.left(), Box::new(pulse));
        let found = Route::of(problem).search(problem, &helper, cutoff, None);
        run.absorb_help(&helper);
        // Without room for it, there is no such search.
        let Ok((found, _)) = found else { return Searched { plan: None, is_complete: true } };
        let plan = (found.upper < cutoff).then_some(found.plan);
        Searched { plan, is_complete: helper.stopped().is_none() }
    }

    /// As above, of a part: the plan is one of the whole, and so is the cutoff.
    pub fn search_part(&self, part: &Part, cutoff: Cost) -> Searched {
        let cutoff = if cutoff < INFINITE { cutoff + part.more } else { INFINITE };
        let found = self.search(&part.problem, cutoff);
        Searched { plan: found.plan.map(|plan| part.plan(plan)), ..found }
    }
}
