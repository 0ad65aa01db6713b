//! A table that workers share.

use super::sync::{Mutex, MutexGuard, lock};
use crate::view::Fingerprint;

const SHARDS: usize = 64;

/// Parts of a table by fingerprint, so that workers rarely wait for each other.
pub struct Shards<S> {
    shards: Vec<Mutex<S>>,
}

impl<S> Shards<S> {
    pub fn new(make: impl Fn() -> S) -> Shards<S> {
        Shards { shards: (0..SHARDS).map(|_| Mutex::new(make())).collect() }
    }

    /// The part that knows of these rows.
    pub fn of(&self, rows: Fingerprint) -> MutexGuard<'_, S> {
        // Hash tables use the low bits.
        lock(&self.shards[(rows >> 64) as usize % SHARDS])
    }

    /// One part after the other.
    pub fn each(&self) -> impl Iterator<Item = MutexGuard<'_, S>> {
        self.shards.iter().map(lock)
    }
}
