//! How a problem is searched, decided once.
//!
//! Every search takes some problems only, or is fast on some only. [`Route::of`] is the one place
//! that knows which search a problem gets; whoever does something of its own for one of them asks
//! the route, and the answer shows it.

mod looks;

use crate::cost::Cost;
use crate::error::Result;
use crate::problem::Problem;
use crate::run::{HeapBytes, Run};
use crate::search::best_first::{self, Options, Table};
use crate::search::{Found, intervals, separate, stumps};
use crate::task::Structure;

/// The way in which a problem is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Route {
    /// Nothing limits the tree and leaves cost nothing: points are told apart greedily, and there
    /// is nothing to search.
    Separation,
    /// Trees of one split at most: all cuts of a column are costed in one walk along it.
    OneSplit,
    /// Intervals of a column's cuts are bounded together, and halved where that is too weak.
    Intervals,
    /// Each cut is looked at by itself, the most promising first. This takes every additive
    /// problem.
    CutByCut,
    /// Additive relaxations, each with a route of its own, and then fronts of values that are only
    /// partly ordered: constraints, areas under curves, and tasks with fronts.
    Fronts,
    /// Additive problems that weigh two kinds of errors, each with a route of its own, until no
    /// better value of a metric is left.
    WeightedErrors,
}

/// All that a search of an additive problem leaves behind, so that no node is searched twice.
pub enum SavedSearch {
    Nodes(Table),
    Intervals(intervals::SavedSearch),
}

impl HeapBytes for SavedSearch {
    fn heap_bytes(&self) -> usize {
        match self {
            SavedSearch::Nodes(table) => table.heap_bytes(),
            SavedSearch::Intervals(saved) => saved.heap_bytes(),
        }
    }
}

impl Route {
    pub const ALL: [Route; 6] = [
        Route::Separation,
        Route::OneSplit,
        Route::Intervals,
        Route::CutByCut,
        Route::Fronts,
        Route::WeightedErrors,
    ];

    /// The route of an additive problem.
    pub fn of(problem: &Problem) -> Route {
        if separate::applies(problem) {
            Route::Separation
        } else if stumps::applies(problem) {
            Route::OneSplit
        } else if !has_many_cuts(problem) {
            Route::CutByCut
        } else if intervals::applies(problem) {
            Route::Intervals
        } else {
            Route::CutByCut
        }
    }

    /// The name that users read.
    pub fn name(self) -> &'static str {
        match self {
            Route::Separation => "greedy separation",
            Route::OneSplit => "one split",
            Route::Intervals => "intervals of cuts",
            Route::CutByCut => "cut by cut",
            Route::Fronts => "relaxations, then fronts",
            Route::WeightedErrors => "weighted errors",
        }
    }

    /// Search an additive problem, whose route this is. Trees that cost `cutoff` or more are of no
    /// use: where there is no other, the plan is any, and costs no less. `saved` is left behind by
    /// an earlier search of this very problem, or of the same problem with more leaves.
    pub fn search(
        self,
        problem: &Problem,
        run: &Run,
        cutoff: Cost,
        saved: Option<SavedSearch>,
    ) -> Result<(Found, Option<SavedSearch>)> {
        match self {
            Route::Separation => Ok((separate::solve(problem, run), None)),
            Route::OneSplit => Ok((stumps::solve(problem, run)?, None)),
            Route::Intervals => {
                let options = intervals::Options { cutoff, ..Default::default() };
                let saved = match saved {
                    Some(SavedSearch::Intervals(saved)) => saved,
                    _ => Default::default(),
                };
                let (found, saved) = intervals::go_on(problem, run, &options, saved)?;
                Ok((found, Some(SavedSearch::Intervals(saved))))
            }
            // The last two pose additive problems that have routes of their own. One that is given
            // to them itself is searched cut by cut, because that search takes all.
            Route::CutByCut | Route::Fronts | Route::WeightedErrors => {
                let options = Options { cutoff, ..Default::default() };
                let table = nodes(saved).unwrap_or_default();
                let (found, table) = best_first::go_on(problem, run, &options, table)?;
                Ok((found, table.map(SavedSearch::Nodes)))
            }
        }
    }
}

/// The best tree of an additive problem as a search finds it, by the route of the problem. Trees
/// that cost `cutoff` or more are of no use, as for [`Route::search`].
pub fn search(problem: &Problem, run: &Run, cutoff: Cost) -> Result<Found> {
    Ok(Route::of(problem).search(problem, run, cutoff, None)?.0)
}

fn nodes(saved: Option<SavedSearch>) -> Option<Table> {
    match saved {
        Some(SavedSearch::Nodes(table)) => Some(table),
        _ => None,
    }
}

/// True if the search over intervals is likely to take less time than the one that looks at every
/// cut by itself, because the latter's kernel counts all pairs of cuts and the former's a few
/// blocks of each feature. `benches/views.rs` has both; see `docs/decisions/choice-of-view.md`.
fn has_many_cuts(problem: &Problem) -> bool {
    // Costs by row have a kernel of their own on bits, where all depends on the rows.
    let by_row = matches!(problem.task.structure(), Structure::Labels(_));
    if by_row && problem.shape.max_depth.is_some() && intervals::applies(problem) {
        return looks::are_shorter_on_ranks(problem);
    }
    let cuts: usize = problem.features.iter().map(|feature| feature.cuts as usize).sum();
    let each = |least: usize| cuts >= least * problem.features.len();
    // Without pair matrices all is slower. So it is if a few columns have nearly all cuts.
    let long = || problem.features.iter().map(|feature| feature.cuts as usize);
    let are_in_few = || 4 * long().filter(|&cuts| cuts >= 192).sum::<usize>() >= 3 * cuts;
    match problem.task.structure().n_labels() {
        _ if cuts >= 4096 => each(16) || are_in_few(),
        0 => cuts >= 96 && each(16),
        2 => cuts >= 512 && each(96),
        _ => cuts >= 512 && each(192),
    }
}
