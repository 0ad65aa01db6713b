//! Workers: how many there is room for, and threads that end together.

use crate::error::Result;
use crate::run::{Run, Status, on_threads};

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
