//! Ratios A / D of linear functions of the sums, with λ for each leaf (Dinkelbach).
//!
//! The lines, and what they say of trees with more leaves, are `bounds::ratio_line`.

use crate::bounds::Bound;
use crate::cost::INFINITE;
use crate::error::{Error, Result};
use crate::metric::ask::Subproblem;
use crate::metric::loss::{Ratio, TOO_FINE};
use crate::metric::state::State;

/// How often a number of leaves is tried with a penalty on leaves before they are limited.
const PENALTIES: u32 = 5;

pub fn close(state: &mut State<'_, '_>, ratio: &Ratio) -> Result<()> {
    // A penalty on leaves may do between these, which belong to the leaf count that is worked on.
    let (mut low, mut high) = (0, INFINITE);
    let mut last = None;
    while state.goes_on() {
        let first = state.counts.iter().position(|count| !count.closed);
        let index = first.expect("something is open");
        let leaves = state.counts[index].leaves;
        if last != Some(leaves) {
            (last, low, high) = (Some(leaves), 0, INFINITE);
        }
        let room = state.exact_room(ratio, leaves);
        if room.0 <= 0 {
            state.run().decided(Bound::AffordableLeaves);
            state.counts[index].closed = true;
            continue;
        }
        let fine = || Error::invalid(TOO_FINE);
        let (weights, bound, shared) = ratio.line(room).ok_or_else(fine)?;
        let lambda = state.lambda();
        let tries = state.counts[index].tries;
        let together = tries == 0;
        let unit = room.1 as f64 / shared as f64;
        let limited = lambda > 0.0 && tries > PENALTIES;
        let penalty = if lambda == 0.0 || limited {
            0
        } else if together {
            (lambda * unit * ratio.least_under(state.loss().totals(), weights, bound)) as i64
        } else {
            let start = lambda * unit * ratio.parts(state.best.errors).1 as f64;
            next_penalty(low, high, start as i64)
        };
        let paid = penalty.checked_mul(i64::from(leaves)).ok_or_else(fine)?;
        let cutoff = bound.checked_add(paid).ok_or_else(fine)?;
        let max_leaves = limited.then_some(leaves);
        let subproblem = Subproblem { penalty, max_leaves, cutoff, ..Subproblem::of(weights) };
        let (told, improved) = state.ask(subproblem)?;
        if told.lower >= cutoff {
            state.run().decided(Bound::RatioLine);
            let end = if together { state.counts.len() } else { index + 1 };
            state.counts[index..end].iter_mut().for_each(|count| count.closed = true);
        } else if improved {
            state.counts.iter_mut().for_each(|count| count.tries = 0);
            last = None;
        } else {
            state.counts[index].tries += 1;
            let small = told.found.is_some_and(|found| found.best.leaves < leaves);
            match together {
                true => low = penalty,
                false if small => high = penalty,
                false => low = penalty,
            }
        }
    }
    Ok(())
}

/// A penalty above which trees have too few leaves and below which too many.
fn next_penalty(low: i64, high: i64, start: i64) -> i64 {
    if high < INFINITE {
        low + (high - low) / 2
    } else if start > low {
        start
    } else {
        (low + low / 4).max(low + 1)
    }
}
