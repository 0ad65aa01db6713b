//! The best tree for a metric: ask additive problems until a fence keeps out all that is better.

use super::candidate::Candidate;
use super::hull;
use super::loss::{Kind, TOO_FINE};
use super::ratio;
use super::refined::refine;
use super::scored::{Scored, UNITS};
use super::state::State;
use crate::answer::{Answer, confirm_paths, exactly};
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::exact::Ratio;
use crate::finish::labelled;
use crate::route::Route;
use crate::run::{Run, Status};

/// The depth of the first trees that are looked for, to begin with a good one.
const FIRST: u32 = 2;

impl Scored {
    /// A panic anywhere below is an error here.
    pub fn solve(&self, run: &Run) -> Result<Answer> {
        Error::guard(|| self.answer(run)).map_err(|error| {
            if error == Error::invalid(TOO_FINE) { self.too_fine() } else { error }
        })
    }

    fn answer(&self, run: &Run) -> Result<Answer> {
        let mut state = State::new(self, self.first(run)?, run);
        for depth in FIRST..self.problem.shape.max_depth.unwrap_or(FIRST + 1) {
            begin(&mut state, depth)?;
        }
        state.note();
        close(&mut state)?;
        let (lower, upper) = (state.lower(), state.upper());
        let proved = state.counts.iter().all(|count| count.closed);
        let Candidate { plan, labels, errors, .. } = state.best;
        let tree = labelled(&self.problem, plan, &labels)?;
        self.confirm(&tree, errors)?;
        self.attained(&tree)?;
        let known = match self.loss.kind {
            Kind::Ratio(_) if proved => upper,
            // Roots are rounded.
            _ => (lower.min(upper) - 16.0 * f64::EPSILON).max(0.0),
        };
        let status = match run.stopped() {
            _ if proved => Status::Optimal,
            Some(status) => status,
            None => Status::Interrupted,
        };
        let [below, above] = [known, upper].map(|x| (x * UNITS) as Cost);
        let curve = run.curve(below, above);
        let (tree, objective, lower_bound) = match &self.rounded {
            None => {
                let loss = self.loss.exactly(errors);
                let leaves = Ratio::from(tree.n_leaves() as i64);
                let exact = &loss + &(&Ratio::written(self.leaf_penalty) * &leaves);
                let objective = exact.nearest();
                let same = proved && matches!(self.loss.kind, Kind::Ratio(_));
                (tree, objective, if same { objective } else { known.min(objective) })
            }
            Some((rounded, given)) => {
                let known = (known - rounded.off).max(0.0);
                let refined = refine(self, given, tree, (known, proved), run)?;
                (refined.tree, refined.objective.nearest(), refined.lower)
            }
        };
        confirm_paths(&self.problem, &tree)?;
        let mut answer = Answer {
            tree,
            route: Route::WeightedErrors,
            objective,
            lower_bound,
            status,
            seconds: run.seconds(),
            work: run.work(),
            curve,
        };
        exactly::close(&mut answer);
        // Losses are shares of 1.
        Ok(exactly::ended(answer, exactly::TOLERANCE, run))
    }
}

/// The best tree of a smaller depth takes little time to find, and with a good one there is
/// less to ask.
fn begin(state: &mut State<'_, '_>, depth: u32) -> Result<()> {
    let mut less = State::new(state.scored, state.best.clone(), state.run());
    less.asker.max_depth = Some(depth);
    less.told = Some(state.known());
    less.refresh();
    close(&mut less)?;
    state.best = less.best;
    state.refresh();
    Ok(())
}

fn close(state: &mut State<'_, '_>) -> Result<()> {
    match state.loss().kind {
        Kind::Ratio(ratio) => ratio::close(state, &ratio),
        Kind::Matthews => hull::close(state),
    }
}
