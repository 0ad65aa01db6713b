//! Workers: how many there is room for, where they work, and threads that end together.

use crate::error::Result;
use crate::problem::Problem;
use crate::run::{Run, Status, here, on_threads};
use crate::task::Structure;

/// Nanoseconds, about, of a search that is over before a thread of its own would pay: on a busy
/// machine a thread waits for milliseconds until it gets its turn.
const SMALL: f64 = 1e6;

/// How many of `wanted` workers there is room for: `each` bytes for each of them, beside `fixed`
/// ones. At least one is wanted; `None` if there is no room even for that.
pub fn with_room(run: &Run, wanted: usize, fixed: u64, each: u64) -> Option<usize> {
    let fits = |n: &usize| run.fits(fixed.saturating_add(each.saturating_mul(*n as u64)));
    (1..=wanted.max(1)).rev().find(fits)
}

/// Workers on so many threads, until all have ended; this thread calls `watch` now and then. If one
/// panics, the others are told to stop.
pub fn work<T: Send>(
    run: &Run,
    threads: usize,
    worker: impl Fn() -> T + Sync,
    watch: impl FnMut(),
) -> Result<Vec<T>> {
    on_threads(threads, worker, || run.stop(Status::Interrupted), watch)
}

/// One worker: on this thread if all that it can do is soon done, so that nobody has to watch.
pub fn work_alone<T: Send>(
    run: &Run,
    is_small: bool,
    worker: impl Fn() -> T + Sync,
    watch: impl FnMut(),
) -> Result<T> {
    if is_small {
        return here(worker);
    }
    let mut found = work(run, 1, worker, watch)?;
    Ok(found.pop().expect("one thread gives one result"))
}

/// Whether looking at all trees is soon done, if a look at all trees of depth two takes so many
/// nanoseconds, about. What tasks of sums take for a leaf nobody knows: users write them.
pub fn is_small(problem: &Problem, look: f64) -> bool {
    if matches!(problem.task.structure(), Structure::Sums) {
        return false;
    }
    let cuts: u64 = problem.features.iter().map(|feature| u64::from(feature.cuts)).sum();
    // A look ends where two levels are left, and a leaf.
    let levels = problem.longest_path().saturating_sub(3).min(64);
    look * (2.0 * cuts as f64).powi(levels as i32) <= SMALL
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, ColumnKind, Points};
    use crate::problem::Shape;
    use crate::run::Limits;
    use crate::task::ClassInput;

    fn problem(max_depth: Option<u32>) -> Problem {
        let column =
            |name: &str| Column { name: name.into(), kind: ColumnKind::Boolean, missing: false };
        let columns = vec![column("a"), column("b")];
        let codes = vec![vec![0, 0, 1, 1, 0, 0], vec![0, 1, 0, 1, 0, 1]];
        let points = Points::new(&columns, codes, vec![1; 6]).unwrap();
        let task = ClassInput {
            n_classes: 2,
            n_labels: 2,
            weights: [1., 0.].repeat(6),
            costs: vec![0., 1., 1., 0.],
            class_weights: vec![1., 1.],
            balanced: false,
            leaf_penalty: 0.0,
        };
        let shape = Shape { max_depth, ..Shape::default() };
        Problem::new(columns, points, task.build().unwrap(), shape).unwrap()
    }

    #[test]
    fn small_is_what_all_levels_take_together() {
        assert!(is_small(&problem(Some(2)), SMALL));
        // Two cuts, each with two sides.
        assert!(is_small(&problem(Some(3)), SMALL / 4.0));
        assert!(!is_small(&problem(Some(3)), SMALL / 3.9));
        assert!(is_small(&problem(Some(4)), SMALL / 16.0));
        // Six points have paths of six nodes at most.
        assert!(is_small(&problem(None), SMALL / 64.0));
        assert!(!is_small(&problem(None), SMALL / 63.0));
    }

    #[test]
    fn a_small_search_is_on_this_thread_and_a_panic_in_it_an_error() {
        let problem = problem(Some(2));
        let run = Run::new(Limits::default(), problem.scale, None);
        let thread =
            |is_small| work_alone(&run, is_small, || std::thread::current().id(), || {}).unwrap();
        assert_eq!(thread(true), std::thread::current().id());
        assert_ne!(thread(false), std::thread::current().id());
        let error = work_alone(&run, true, || -> u32 { panic!("out of luck") }, || {}).unwrap_err();
        assert!(error.to_string().contains("the search failed: out of luck; this is a defect"));
    }
}
