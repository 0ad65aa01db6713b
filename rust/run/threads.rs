//! Threads that all end, whatever happens in them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread::{Builder, scope};
use std::time::Duration;

use crate::error::{Error, Result};

/// Paths are as deep as trees, and trees without a depth limit can be deep.
const STACK: usize = 256 << 20;

/// How long the watcher sleeps at most.
const NAP: Duration = Duration::from_millis(10);

/// Paths of so many nodes fit on any stack.
const SHALLOW: usize = 64;

/// Run `work` on a stack that is deep enough for any tree whose paths have so many nodes at most,
/// because plans are walked, and dropped, by recursion.
pub fn on_deep_stack<I: Send, T: Send>(
    longest_path: usize,
    input: I,
    work: impl Fn(I) -> T + Sync,
) -> Result<T> {
    let input = Mutex::new(Some(input));
    let take = || lock(&input).take();
    if longest_path <= SHALLOW {
        return Ok(here(|| take().map(&work))?.expect("this is the one that takes the input"));
    }
    let mut results = on_threads(1, || take().map(&work), || {}, || {})?;
    Ok(results.pop().flatten().expect("one thread takes the one input"))
}

/// Run `work` on this thread. A panic in it is an error here.
pub fn here<T>(work: impl Fn() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| Error::panicked(panic.as_ref()))
}

/// Run `work` on `n` threads, or as many as the system gives, and `watch` now and then on this one
/// until all have ended. A panic in any of them is an error here, and `stop` tells the others to
/// end.
pub fn on_threads<T: Send>(
    n: usize,
    work: impl Fn() -> T + Sync,
    stop: impl Fn() + Sync,
    mut watch: impl FnMut(),
) -> Result<Vec<T>> {
    let running = (Mutex::new(0usize), Condvar::new());
    scope(|scope| {
        let mut handles = Vec::new();
        let mut refused = None;
        for _ in 0..n {
            let body = || {
                // Tells the watcher, even after a panic.
                let _done = OnDrop(|| {
                    *lock(&running.0) -= 1;
                    running.1.notify_all();
                });
                let result = catch_unwind(AssertUnwindSafe(&work));
                if result.is_err() {
                    stop();
                }
                result
            };
            *lock(&running.0) += 1;
            match Builder::new().name("certree".into()).stack_size(STACK).spawn_scoped(scope, body)
            {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    *lock(&running.0) -= 1;
                    refused = Some(error);
                    break;
                }
            }
        }
        if let (true, Some(error)) = (handles.is_empty(), refused) {
            return Err(Error::Failed(format!("the system starts no thread: {error}")));
        }
        // The scope waits for the threads even if the watcher panics, so they must be told.
        let watched = catch_unwind(AssertUnwindSafe(|| until_done(&running, &mut watch)));
        if watched.is_err() {
            stop();
        }
        let mut results = Vec::new();
        let mut failed = watched.err();
        for handle in handles {
            match handle.join().and_then(|result| result) {
                Ok(result) => results.push(result),
                Err(panic) => failed = Some(panic),
            }
        }
        match failed {
            None => Ok(results),
            Some(panic) => Err(Error::panicked(panic.as_ref())),
        }
    })
}

fn until_done((running, changed): &(Mutex<usize>, Condvar), watch: &mut impl FnMut()) {
    let mut left = lock(running);
    let mut nap = Duration::from_millis(1);
    while *left > 0 {
        left = changed.wait_timeout(left, nap).unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        nap = (nap * 2).min(NAP);
        if *left > 0 {
            drop(left);
            watch();
            left = lock(running);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn all_results_come_back() {
        let count = AtomicUsize::new(0);
        let results =
            on_threads(5, || count.fetch_add(1, Ordering::Relaxed), || unreachable!(), || {});
        let mut results = results.unwrap();
        results.sort_unstable();
        assert_eq!(results, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn paths_that_are_short_need_no_thread() {
        let thread = |path| on_deep_stack(path, (), |()| std::thread::current().id()).unwrap();
        assert_eq!(thread(SHALLOW), std::thread::current().id());
        assert_ne!(thread(SHALLOW + 1), std::thread::current().id());
        let error = on_deep_stack(1, 7, |input| panic!("out of {input}")).map(|(): ()| ());
        assert!(error.unwrap_err().to_string().contains("the search failed: out of 7"));
    }

    #[test]
    fn a_panic_is_an_error_and_ends_the_others() {
        let (stopped, first) = (AtomicBool::new(false), AtomicBool::new(true));
        let work = || {
            if first.swap(false, Ordering::Relaxed) {
                panic!("out of luck");
            }
            while !stopped.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        };
        let stop = || stopped.store(true, Ordering::Relaxed);
        let error = on_threads(3, work, stop, || {}).unwrap_err();
        assert!(error.to_string().contains("the search failed: out of luck; this is a defect"));
    }

    #[test]
    fn a_watcher_that_panics_ends_the_threads() {
        let stopped = AtomicBool::new(false);
        let work = || {
            while !stopped.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        };
        let stop = || stopped.store(true, Ordering::Relaxed);
        let error = on_threads(2, work, stop, || panic!("who watches")).unwrap_err();
        assert!(error.to_string().contains("who watches"));
    }
}
