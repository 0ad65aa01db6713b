//! From a problem to an answer: decide its route, search, check what the search says.
//!
//! Reading order: [`solve`] → [`Route`] (which search it is) → [`Answer`] →
//! [`Incumbent`] (how a search goes on later) → [`exactly`] (the objective in the caller's own
//! numbers).

mod conclude;
pub mod exactly;
mod incumbent;
mod part;
mod saved;
mod share;

use crate::cost::INFINITE;
use crate::error::{Error, Result};
use crate::finish::grow;
use crate::improve::Beside;
use crate::problem::Problem;
use crate::route::{Route, SavedSearch};
use crate::run::{HeapBytes, Held, Run};

pub use conclude::{Answer, conclude, confirm, confirm_paths, leaves};
pub use incumbent::Incumbent;
pub use part::Part;
pub use share::{Known, Share};

/// The best tree of a problem, within the limits of the run. A panic anywhere below is an error
/// here.
pub fn solve(problem: &Problem, run: &Run) -> Result<Answer> {
    Ok(go_on(problem, None, run)?.0)
}

/// Search until the tree that is known is proved to be the best, or a better one is, within the
/// run's limits.
pub fn go_on(
    problem: &Problem,
    known: Option<&Incumbent>,
    run: &Run,
) -> Result<(Answer, Incumbent)> {
    Error::guard(|| {
        let route = Route::of(problem);
        let cutoff = known.map_or(INFINITE, |known| known.upper);
        if let Some(known) = known {
            run.begin_with(known.lower, known.upper);
        }
        let beside = Beside::begin(problem, route, run, cutoff, known.map(|known| &known.tree));
        let searched = route.search(problem, run, cutoff, known.and_then(Incumbent::take));
        let better = beside.and_then(|beside| beside.end(run));
        // A task that failed explains whatever came of it.
        problem.task.failure().map_or(Ok(()), Err)?;
        let (mut found, saved) = searched?;
        if let Some((plan, upper)) = better
            && upper < found.upper
        {
            (found.plan, found.upper) = (plan, upper);
        }
        // A saved search stays in memory while the answer is refined.
        let _held = Held::of(run, saved.as_ref().map_or(0, SavedSearch::heap_bytes));
        let lower = found.lower.max(run.known_lower());
        let known = match known {
            Some(known) if found.upper >= known.upper => {
                Incumbent::new(known.tree.clone(), (lower, known.upper), saved)
            }
            _ => {
                let tree = grow(problem, found.plan)?;
                problem.task.failure().map_or(Ok(()), Err)?;
                confirm(problem, &tree, found.upper)?;
                Incumbent::new(tree, (lower, found.upper), saved)
            }
        };
        let bounds = (known.lower, known.upper);
        let answer = conclude(known.tree.clone(), route, bounds, problem.scale, run);
        Ok((exactly::settle_finely(problem, answer, run)?, known))
    })
}

/// The best tree of at most so many leaves, from a search that allowed more: all that it proved of
/// nodes holds here too.
pub fn with_most_leaves(
    problem: &Problem,
    most: u32,
    known: &Incumbent,
    run: &Run,
) -> Result<(Problem, Answer, Incumbent)> {
    let smaller = problem.with_most_leaves(most);
    let (answer, known) = go_on(&smaller, Some(&known.of_smaller_trees()), run)?;
    Ok((smaller, answer, known))
}
