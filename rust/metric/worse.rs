//! Matthews' correlation where limits allow no single leaf, and what they do allow may correlate
//! below zero.
//!
//! The correlation has the sign of PN − Nx − Py. If the least Nx + Py is at most PN, its tree is
//! one of no negative correlation, and the hull's corners do. If not, level sets bend the other
//! way, and the best tree may be no corner. But loss grows with x and with y: the least y of all
//! trees that miss at most so many leaves to look at, beside its tree, only trees that miss less
//! than that one. So step by step all trees are found that no other one is better than on both.

use crate::error::Result;
use crate::metric::ask::Subproblem;
use crate::metric::loss::reduced;
use crate::metric::solve::State;

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
        let better = loss.value([0.0, told.lower as f64]) < state.room(leaves);
        let missed = told.found.map(|found| found.cheapest.missed);
        most_missed = missed.filter(|&missed| better && missed > 0).map(|missed| missed - 1);
    }
    state.counts[index].closed = true;
    Ok(())
}
