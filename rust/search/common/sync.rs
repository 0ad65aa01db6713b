//! What workers share, they share through these: the standard library's, or, to explore schedules
//! (`--cfg shuttle`), ones that hand over to another thread at every step.

#[cfg(not(all(test, shuttle)))]
pub use std::sync::{
    Arc, Condvar, Mutex, MutexGuard,
    atomic::{AtomicI64, AtomicU32, Ordering},
};

#[cfg(all(test, shuttle))]
pub use shuttle::sync::{
    Arc, Condvar, Mutex, MutexGuard,
    atomic::{AtomicI64, AtomicU32, Ordering},
};

/// A poisoned lock means that another worker panicked; the panic itself is reported by its thread.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The content of a lock that nobody holds any more.
pub fn unlocked<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}
