//! How large a problem is, and what is soon done with it.

use std::time::Duration;

use crate::problem::Problem;
use crate::task::Structure;

/// The first sketch asks about so many questions, because a look at all pairs of them takes little
/// time then, with so many cuts of each column. Sums of numbers take several times as long as
/// counts of classes.
const QUESTIONS: usize = 256;
const QUESTIONS_OF_SUMS: usize = 64;
const FEWEST_CUTS: usize = 8;
const MOST_CUTS: usize = 64;

/// A greedy tree over all cuts comes first where there are at most so many values, because it
/// takes some hundredths of a second then.
const FEW_VALUES: usize = 1 << 20;

/// A search for the best tree of few cuts sets up for so long for each point and question, about.
/// One that has less time finds nothing.
const SET_UP: Duration = Duration::from_nanos(8);
const SET_UP_OF_SUMS: Duration = Duration::from_nanos(25);

/// With more depth than this, the best tree over few cuts takes too long to come right after the
/// greedy one.
const SOON_SEARCHED: u32 = 3;

/// Whether a greedy tree over all cuts takes little time.
pub fn is_small(problem: &Problem) -> bool {
    problem.points.len().saturating_mul(problem.features.len()) <= FEW_VALUES
}

/// Whether the best tree over few cuts takes little time.
pub fn is_shallow(problem: &Problem) -> bool {
    problem.shape.max_depth.is_some_and(|most| most <= SOON_SEARCHED)
}

/// The most cuts that a column has.
pub fn most_cuts(problem: &Problem) -> usize {
    problem.features.iter().map(|feature| feature.cuts as usize).max().unwrap_or(0)
}

fn is_of_sums(problem: &Problem) -> bool {
    match problem.task.structure() {
        Structure::Classes(_) | Structure::Labels(_) => false,
        Structure::Squares(_) | Structure::Sums | Structure::Counts => true,
    }
}

/// How long a search cut by cut takes to begin.
pub fn set_up(problem: &Problem) -> Duration {
    let questions: usize = problem.features.iter().map(|feature| feature.cuts as usize).sum();
    let each = if is_of_sums(problem) { SET_UP_OF_SUMS } else { SET_UP };
    each.mul_f64(problem.points.len() as f64 * questions as f64)
}

/// The cuts of each column that the first sketch has.
pub fn few_cuts(problem: &Problem) -> usize {
    let questions = if is_of_sums(problem) { QUESTIONS_OF_SUMS } else { QUESTIONS };
    let few = (questions / problem.features.len().max(1)).clamp(FEWEST_CUTS, MOST_CUTS);
    if few < most_cuts(problem) { few } else { FEWEST_CUTS / 2 }
}
