//! Work on the side: while a search goes on, its workers wait at a gate, and the caller's thread
//! looks for a better tree than the search has found. Searches that end before it is due pay
//! nothing for it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Where workers wait. A run shares it with its parts.
#[derive(Default)]
pub struct Gate {
    is_shut: AtomicBool,
    lock: Mutex<()>,
    opened: Condvar,
}

impl Gate {
    /// Wait while the gate is shut.
    #[inline]
    pub fn pass(&self) {
        if self.is_shut.load(Ordering::Relaxed) {
            self.wait();
        }
    }

    #[cold]
    fn wait(&self) {
        let mut guard = lock(&self.lock);
        while self.is_shut.load(Ordering::Relaxed) {
            guard = self.opened.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    /// Do something while all others wait. It must not pass the gate itself.
    fn alone<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Opens the gate, even after a panic.
        struct Open<'a>(&'a Gate);
        impl Drop for Open<'_> {
            fn drop(&mut self) {
                let _guard = lock(&self.0.lock);
                self.0.is_shut.store(false, Ordering::Relaxed);
                self.0.opened.notify_all();
            }
        }
        self.is_shut.store(true, Ordering::Relaxed);
        let _open = Open(self);
        work()
    }
}

/// What is to be done on the side, and when.
pub struct Side<W> {
    /// Nanoseconds from the start of the run; the largest number if nothing is due.
    due: AtomicU64,
    work: Mutex<Option<W>>,
    gate: Arc<Gate>,
}

impl<W> Side<W> {
    pub fn new(gate: Arc<Gate>) -> Self {
        Side { due: AtomicU64::new(u64::MAX), work: Mutex::new(None), gate }
    }

    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// From now on, at this time of the run, do this.
    pub fn set(&self, due: Duration, work: W) {
        *lock(&self.work) = Some(work);
        self.due.store(nanoseconds(due), Ordering::Relaxed);
    }

    pub fn clear(&self) {
        self.due.store(u64::MAX, Ordering::Relaxed);
        *lock(&self.work) = None;
    }

    pub fn is_due(&self, elapsed: Duration) -> bool {
        let due = self.due.load(Ordering::Relaxed);
        due < u64::MAX && nanoseconds(elapsed) >= due
    }

    /// Do what is due while all workers wait. `step` says when it is due again, if ever; while it
    /// is done nothing is due.
    pub fn step(&self, step: impl FnOnce(&mut W) -> Option<Duration>) {
        self.due.store(u64::MAX, Ordering::Relaxed);
        let Some(mut work) = lock(&self.work).take() else { return };
        if let Some(due) = self.gate.alone(|| step(&mut work)) {
            self.set(due, work);
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX - 1)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_wait_until_the_work_is_done() {
        let side = Side::new(Arc::<Gate>::default());
        side.set(Duration::ZERO, AtomicBool::new(false));
        let gate = side.gate();
        let (seen, done) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                while !gate.is_shut.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                seen.store(true, Ordering::SeqCst);
                gate.pass();
                done.load(Ordering::SeqCst)
            });
            assert!(side.is_due(Duration::ZERO));
            side.step(|_| {
                while !seen.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                std::thread::sleep(Duration::from_millis(10));
                done.store(true, Ordering::SeqCst);
                None
            });
            assert!(worker.join().unwrap());
        });
        // It is done once, because it named no other time.
        assert!(!side.is_due(Duration::MAX));
        side.gate().pass();
    }
}
