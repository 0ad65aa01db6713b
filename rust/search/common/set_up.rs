//! The view that a search begins with.

use super::workers::with_room;
use crate::error::{Error, Result, in_words};
use crate::problem::Problem;
use crate::run::{Held, Run};
use crate::view::{BitView, Layout};

/// The bit view, and how many workers there is memory for.
pub struct SetUp<'a, 'run> {
    pub bits: BitView,
    pub threads: usize,
    /// The bytes of the view.
    pub held: Held<'a, 'run>,
}

/// The bit view; `None` if the run was stopped meanwhile. It is an error if not even one worker
/// fits: nothing large has been allocated then.
pub fn set_up<'a, 'run>(
    problem: &Problem,
    run: &'a Run<'run>,
    halt: &dyn Fn() -> bool,
) -> Result<Option<SetUp<'a, 'run>>> {
    set_up_counting(problem, run, problem.shape.min_leaf_rows > 1, halt)
}

/// The bit view as [`set_up`] makes it. `count_rows`: whether rows are counted, and every point is
/// in the view, though it may cost nothing.
pub fn set_up_counting<'a, 'run>(
    problem: &Problem,
    run: &'a Run<'run>,
    count_rows: bool,
    halt: &dyn Fn() -> bool,
) -> Result<Option<SetUp<'a, 'run>>> {
    if halt() {
        return Ok(None);
    }
    let (features, points) = (&problem.features, &problem.points);
    let paths = (problem.feature_costs.as_ref(), problem.context.as_ref());
    let layout = Layout::new(features, points, problem.task.as_ref(), count_rows, paths, halt);
    let Some(layout) = layout else { return Ok(None) };
    let mut held = Held::of(run, layout.bytes());
    let (view, n) = (layout.view_bytes() as u64, layout.n_questions() as u64);
    // A worker has the root, a child of it and the kernel's copy of either; and for each question
    // what is known of both sides, and alternatives.
    let worker = view.saturating_mul(3).saturating_add(n * 256);
    let Some(threads) = with_room(run, run.limits().threads, view, worker) else {
        return Err(too_large(problem, run, run.bytes() + view + worker));
    };
    let Some(bits) = layout.fill(halt) else {
        if run.stopped().is_none() {
            return Err(too_large(problem, run, run.bytes() + view + worker));
        }
        return Ok(None);
    };
    held.set(bits.bytes());
    Ok(Some(SetUp { bits, threads, held }))
}

/// The refusal of a problem that does not fit into memory even to begin with.
pub fn too_large(problem: &Problem, run: &Run, bytes: u64) -> Error {
    let rows: u64 = (0..problem.points.len()).map(|point| problem.points.rows(point)).sum();
    let cuts: u64 = problem.features.iter().map(|feature| u64::from(feature.cuts)).sum();
    let has = match run.limits().memory {
        Some(limit) => format!("memory_limit allows {limit}: raise it"),
        None => format!("this machine can spare {}: use a larger one", in_words(run.memory())),
    };
    Error::invalid(format!(
        "a search of {rows} rows with {cuts} cuts begins with {bytes} bytes ({}), but {has}, or ask for \
         fewer cuts with thresholds= an int",
        in_words(bytes)
    ))
}
