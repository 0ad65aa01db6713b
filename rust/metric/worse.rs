//! Matthews' correlation where limits allow no single leaf, and what they do allow may correlate
//! below zero.
//!
//! The correlation has the sign of PN − Nx − Py. If the least Nx + Py is at most PN, its tree is
//! one of no negative correlation, and the hull's corners do. If not, level sets bend the other
//! way, and the best tree may be no corner. But `bounds::fewer_misses` leaves, beside the tree of
//! least y, only trees that miss less than that one. So step by step all trees are found that no
//! other one is better than on both.

use crate::bounds::{Bound, fewer_misses};
use crate::error::Result;
use crate::metric::ask::Subproblem;
use crate::metric::loss::reduced;
use crate::metric::state::State;

/// Close the leaf count, or find a tree of it whose loss is at most 1.
pub fn close(state: &mut State<'_, '_>, index: usize, limit: Option<u32>) -> Result<()> {
    let (leaves, loss) = (state.counts[index].leaves, *state.loss());
    let weights = reduced([loss.negatives, loss.positives]);
    let (told, _) = state.ask(Subproblem { max_leaves: limit, ..Subproblem::of(weights) })?;
    if state.run().stopped().is_some() {
        return Ok(());
    }
    let uncorrelated = weights[0] * loss.positives;
    match told.found {
        Some(found) if found.upper <= uncorrelated => {
            // Not asked again, however losses are rounded.
            state.counts[index].tries += 1;
            return Ok(());
        }
        Some(_) => {}
        None => {
            state.counts[index].closed = true;
            return Ok(());
        }
    }
    let mut most_missed = Some(loss.positives);
    while most_missed.is_some() {
        let subproblem = Subproblem { max_leaves: limit, most_missed, ..Subproblem::of([0, 1]) };
        let (told, _) = state.ask(subproblem)?;
        if state.run().stopped().is_some() {
            return Ok(());
        }
        let least = fewer_misses::at_least(told.lower, |sums| loss.value(sums));
        let better = least < state.room(leaves);
        let found = told.found.filter(|_| better);
        if found.is_some() {
            state.run().decided(Bound::FewerMisses);
        }
        most_missed = found.and_then(|found| fewer_misses::most_beside(found.cheapest.missed));
    }
    state.counts[index].closed = true;
    Ok(())
}
