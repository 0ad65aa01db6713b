//! Searches of parts of a problem, in a slice of the time.

use std::time::{Duration, Instant};

use super::part::Part;
use crate::cost::{Cost, INFINITE};
use crate::problem::Problem;
use crate::route::{Route, SavedSearch};
use crate::run::{Progress, Run, Status};
use crate::tree::Plan;

/// A slice of a run's time.
#[derive(Clone, Copy)]
pub struct Help<'r, 'run> {
    run: &'r Run<'run>,
    end: Instant,
    /// Whether costs are those of another problem than the run's.
    of_other: bool,
}

/// A greedy tree may take so much longer than the run has, because without it there is nothing to
/// show.
const GRACE: Duration = Duration::from_millis(100);

/// What came of a search.
pub struct Searched {
    /// A tree that costs less than the cutoff.
    pub plan: Option<Plan>,
    /// What it costs, or no less than the cutoff if there is none.
    pub upper: Cost,
    /// Whether no better tree is left to be found.
    pub is_complete: bool,
}

impl<'r, 'run> Help<'r, 'run> {
    pub fn new(run: &'r Run<'run>, time: Duration) -> Self {
        Help { run, end: Instant::now() + time, of_other: false }
    }

    pub fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// One of so many equal shares of what is left.
    pub fn share(&self, of: u32) -> Self {
        self.within(self.left() / of.max(1))
    }

    /// So much of what is left.
    pub fn within(&self, time: Duration) -> Self {
        Help { end: self.end.min(Instant::now() + time), ..*self }
    }

    /// For trees of another problem: the run is not told what they cost.
    pub fn of_other(&self) -> Self {
        Help { of_other: true, ..*self }
    }

    /// Tells the run that time passes, so that progress and Ctrl-C go on, too.
    pub fn goes_on(&self) -> bool {
        self.run.tell(0, INFINITE).is_none() && !self.left().is_zero()
    }

    /// As above, beyond the slice.
    pub fn is_within_run(&self) -> bool {
        self.run.tell(0, INFINITE).is_none()
    }

    /// Whether nothing but the time ends the run.
    pub fn may_begin(&self) -> bool {
        let status = self.run.tell(0, INFINITE);
        !self.run.interrupted() && matches!(status, None | Some(Status::TimeLimit))
    }

    /// Whether something that began then may still be ended, a little beyond the end of the run.
    pub fn may_end(&self, start: Instant) -> bool {
        self.is_within_run() || self.may_begin() && start.elapsed() < GRACE
    }

    /// Whether there is room for so many bytes.
    pub fn fits(&self, bytes: usize) -> bool {
        self.run.fits(bytes as u64)
    }

    /// Tell of a tree that costs so much.
    pub fn found(&self, cost: Cost) {
        if !self.of_other {
            self.run.found_aside(cost);
        }
    }

    /// A tree of the problem that costs less than `cutoff`, the best one if there is time.
    pub fn search(&self, problem: &Problem, cutoff: Cost) -> Searched {
        self.search_on(problem, cutoff, None).0
    }

    /// As above, from what an earlier search of this very problem left behind.
    pub fn search_on(
        &self,
        problem: &Problem,
        cutoff: Cost,
        saved: Option<SavedSearch>,
    ) -> (Searched, Option<SavedSearch>) {
        let run = self.run;
        let pulse = |_: &Progress| run.tell(0, INFINITE).is_none();
        let helper = run.helper(self.left(), Box::new(pulse));
        let found = Route::of(problem).search(problem, &helper, cutoff, saved);
        run.absorb_help(&helper);
        // Without room for it, there is no such search.
        let Ok((found, saved)) = found else {
            return (Searched { plan: None, upper: cutoff, is_complete: true }, None);
        };
        let plan = (found.upper < cutoff).then_some(found.plan);
        let is_complete = helper.stopped().is_none();
        (Searched { plan, upper: found.upper, is_complete }, saved)
    }

    /// As above, of a part: the plan is one of the whole, and so is the cutoff.
    pub fn search_part(&self, part: &Part, cutoff: Cost) -> Searched {
        let cutoff = if cutoff < INFINITE { cutoff + part.more } else { INFINITE };
        let found = self.search(&part.problem, cutoff);
        let upper = if found.upper < INFINITE { found.upper - part.more } else { INFINITE };
        Searched { plan: found.plan.map(|plan| part.plan(plan)), upper, ..found }
    }
}
