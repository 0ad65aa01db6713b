//! Good trees early: while a search has not ended, look for a better tree than it has found.
//!
//! A search that proves the best tree may find good ones late. So if it has not ended after a short
//! while, it waits now and then, and a slice of the time goes into trees that are found without any
//! proof ([`steps`]): greedy ones, the best ones of less depth or over fewer cuts, and the best
//! subtrees of what is known. Whatever a tree was found on, it is a tree of the problem, its cost
//! is computed again from all points, and the search goes on with it as its cutoff. Lower bounds
//! are those of the search alone.
//!
//! Reading order: [`clock`] (when) → [`steps`] (what), [`turns`] (which of them is next), [`sizes`]
//! (what is soon done) → [`help`] (a search within a slice) → [`part`] (a part of a problem),
//! [`pursuit`] (a search that goes on) → [`greedy`] ([`sorted`], [`line`]), [`subtrees`],
//! [`alternate`], [`shake`] → [`fit`]; [`start`] (a tree that the user has).

mod alternate;
mod clock;
mod fit;
mod greedy;
mod help;
mod line;
mod part;
mod pursuit;
mod shake;
mod sizes;
mod sorted;
mod start;
mod steps;
mod subtrees;
mod turns;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::cost::{Cost, INFINITE};
use crate::problem::Problem;
use crate::route::Route;
use crate::run::Run;
use crate::tree::{Plan, Tree};
use clock::Clock;
pub use start::fitted_plan;
use steps::Steps;

/// What is looked for beside a search.
pub struct Beside {
    steps: Arc<Mutex<Steps>>,
}

impl Beside {
    /// From now on, look for trees of the problem that cost less than `cutoff`, beside the run's
    /// search of it. `known`: a tree that costs so much. `None` where a search needs no help, and
    /// where memory is limited, because what is looked for beside it is not counted.
    pub fn begin(
        problem: &Problem,
        route: Route,
        run: &Run,
        cutoff: Cost,
        known: Option<&Tree>,
    ) -> Option<Beside> {
        match route {
            Route::Intervals | Route::CutByCut => {}
            _ => return None,
        }
        if run.limits().memory.is_some() {
            return None;
        }
        let steps = Arc::new(Mutex::new(Steps::new(problem, cutoff, known)));
        let values = problem.points.len().saturating_mul(problem.features.len());
        let mut clock = Clock::new(run.limits().time, known.is_some(), values);
        let (mut due, own) = (clock.due(), steps.clone());
        let mut work = move |run: &Run<'_>| {
            let (start, time) = (run.elapsed(), clock.slice(run.elapsed(), run.known_share()));
            let mut steps = own.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let goes_on = steps.take(run, time);
            clock.took(start, run.elapsed());
            goes_on.then(|| clock.due()).flatten()
        };
        if due == Some(Duration::ZERO) {
            // Nobody has told of a tree yet, and a leaf is one.
            run.tell(0, problem.as_one_leaf());
            due = work(run);
        }
        if let Some(due) = due {
            run.set_aside(due, Box::new(work));
        }
        Some(Beside { steps })
    }

    /// Look no more. The best tree that was found, if it costs less than the cutoff, and its cost.
    pub fn end(self, run: &Run) -> Option<(Plan, Cost)> {
        run.clear_aside();
        let mut steps = self.steps.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        steps.take_best()
    }
}

/// The best tree that is found in so much time, without any proof, and its cost.
pub fn good_tree(problem: &Problem, run: &Run, time: Duration) -> Option<(Plan, Cost)> {
    let mut steps = Steps::new(problem, INFINITE, None);
    steps.take(run, time);
    steps.take_best()
}
