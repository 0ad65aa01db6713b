//! Ratios A / D of linear functions of the sums, with λ for each leaf (Dinkelbach).
//!
//! The lines, and what they say of trees with more leaves, are `bounds::ratio_line`.

use crate::bounds::Bound;
use crate::cost::INFINITE;
use crate::error::{Error, Result};
use crate::metric::ask::Question;
use crate::metric::loss::{Ratio, TOO_FINE};
use crate::metric::solve::State;

/// How often a level is tried with a price on leaves before they are limited.
const PRICES: u32 = 5;

pub fn close(state: &mut State<'_, '_>, ratio: &Ratio) -> Result<()> {
    // Between these a price on leaves may do; they belong to the level that is worked on.
    let (mut low, mut high) = (0, INFINITE);
    let mut last = None;
    while state.goes_on() {
        let first = state.levels.iter().position(|level| !level.closed);
        let index = first.expect("something is open");
        let leaves = state.levels[index].leaves;
        if last != Some(leaves) {
            (last, low, high) = (Some(leaves), 0, INFINITE);
        }
        let room = state.exact_room(ratio, leaves);
        if room.0 <= 0 {
            state.run().decided(Bound::AffordableLeaves);
            state.levels[index].closed = true;
            continue;
        }
        let fine = || Error::invalid(TOO_FINE);
        let (weights, bound, shared) = ratio.line(room).ok_or_else(fine)?;
        let lambda = state.lambda();
        let tries = state.levels[index].tries;
        let together = tries == 0;
        let unit = room.1 as f64 / shared as f64;
        let limited = lambda > 0.0 && tries > PRICES;
        let penalty = if lambda == 0.0 || limited {
            0
        } else if together {
            (lambda * unit * ratio.least_under(state.loss().totals(), weights, bound)) as i64
        } else {
            let start = lambda * unit * ratio.parts(state.best.errors).1 as f64;
            next_price(low, high, start as i64)
        };
        let paid = penalty.checked_mul(i64::from(leaves)).ok_or_else(fine)?;
        let below = bound.checked_add(paid).ok_or_else(fine)?;
        let max_leaves = limited.then_some(leaves);
        let question = Question { penalty, max_leaves, below, ..Question::of(weights) };
        let (told, improved) = state.ask(question)?;
        if told.lower >= below {
            state.run().decided(Bound::RatioLine);
            let end = if together { state.levels.len() } else { index + 1 };
            state.levels[index..end].iter_mut().for_each(|level| level.closed = true);
        } else if improved {
            state.levels.iter_mut().for_each(|level| level.tries = 0);
            last = None;
        } else {
            state.levels[index].tries += 1;
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

/// A price above which trees have too few leaves and below which too many.
fn next_price(low: i64, high: i64, start: i64) -> i64 {
    if high < INFINITE {
        low + (high - low) / 2
    } else if start > low {
        start
    } else {
        (low + low / 4).max(low + 1)
    }
}
