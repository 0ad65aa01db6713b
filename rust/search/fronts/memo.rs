//! The fronts that are known, by rows and depth. Shared by all workers.

use std::sync::{Arc, Mutex, MutexGuard};

use hashbrown::HashMap;

use super::Front;
use super::front::List;
use crate::cost::Cost;
use crate::run::Run;
use crate::view::Key;

const SHARDS: usize = 64;

type Shard<V> = HashMap<(Key, u32), Arc<List<V>>>;

pub struct Memo<V> {
    shards: Vec<Mutex<Shard<V>>>,
}

impl<V> Memo<V> {
    pub fn new() -> Self {
        Memo { shards: (0..SHARDS).map(|_| Mutex::new(HashMap::new())).collect() }
    }

    /// A front that is complete up to the budget.
    pub fn get(&self, key: (Key, u32), budget: Cost) -> Option<Arc<List<V>>> {
        self.shard(key.0).get(&key).filter(|list| list.budget >= budget).cloned()
    }

    /// Remember a front. Past the memory limit all others of its shard are forgotten: slower, never wrong.
    pub fn put<F: Front<Value = V>>(
        &self,
        key: (Key, u32),
        list: Arc<List<V>>,
        front: &F,
        run: &Run,
    ) {
        let bytes = |list: &List<V>| (list.bytes(front) + size_of::<((Key, u32), usize)>()) as i64;
        let new = bytes(&list);
        let mut shard = self.shard(key.0);
        if !run.fits(new as u64) {
            let freed: i64 = shard.drain().map(|(_, list)| bytes(&list)).sum();
            shard.shrink_to_fit();
            run.add_bytes(-freed);
            if !run.fits(new as u64) {
                return;
            }
        }
        run.add_bytes(new);
        if let Some(old) = shard.insert(key, list) {
            run.add_bytes(-bytes(&old));
        }
    }

    /// Give all bytes back to the run.
    pub fn clear<F: Front<Value = V>>(&self, front: &F, run: &Run) {
        for shard in &self.shards {
            let mut shard = lock(shard);
            let bytes = |list: &List<V>| list.bytes(front) + size_of::<((Key, u32), usize)>();
            let freed: usize = shard.drain().map(|(_, list)| bytes(&list)).sum();
            run.add_bytes(-(freed as i64));
        }
    }

    fn shard(&self, key: Key) -> MutexGuard<'_, Shard<V>> {
        lock(&self.shards[key as usize % SHARDS])
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
