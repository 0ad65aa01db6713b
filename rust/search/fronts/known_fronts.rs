//! The fronts that are known, by rows and depth. Shared by all workers.

use std::sync::{Arc, Mutex, MutexGuard};

use hashbrown::HashMap;

use super::node_front::NodeFront;
use crate::cost::Cost;
use crate::run::Run;
use crate::view::{Fingerprint, SeenRows};

const SHARDS: usize = 64;

type Shard<'a, 'run, V> = HashMap<(Fingerprint, u32), Arc<NodeFront<'a, 'run, V>>>;

pub struct KnownFronts<'a, 'run, V> {
    run: &'a Run<'run>,
    shards: Vec<Mutex<Shard<'a, 'run, V>>>,
    /// For debug assertions alone.
    pub seen: SeenRows,
}

impl<'a, 'run, V> KnownFronts<'a, 'run, V> {
    pub fn new(run: &'a Run<'run>) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::new(HashMap::new())).collect();
        KnownFronts { run, shards, seen: SeenRows::default() }
    }

    /// A front that is complete up to the budget.
    pub fn get(
        &self,
        key: (Fingerprint, u32),
        budget: Cost,
    ) -> Option<Arc<NodeFront<'a, 'run, V>>> {
        self.shard(key.0).get(&key).filter(|front| front.budget >= budget).cloned()
    }

    /// Remember a front. Past the memory limit all others of its shard are forgotten, which is
    /// slower but never wrong.
    pub fn put(&self, key: (Fingerprint, u32), front: Arc<NodeFront<'a, 'run, V>>) {
        let mut shard = self.shard(key.0);
        if !self.run.fits(0) {
            self.empty(&mut shard);
            if !self.run.fits(0) {
                return;
            }
        }
        let before = shard.allocation_size() as i64;
        shard.insert(key, front);
        self.run.add_bytes(shard.allocation_size() as i64 - before);
    }

    /// Forget all of them, and give all bytes back to the run.
    pub fn clear(&self) {
        self.shards.iter().for_each(|shard| self.empty(&mut lock(shard)));
    }

    fn empty(&self, shard: &mut Shard<'a, 'run, V>) {
        let freed = shard.allocation_size() as i64;
        *shard = HashMap::new();
        self.run.add_bytes(-freed);
    }

    fn shard(&self, key: Fingerprint) -> MutexGuard<'_, Shard<'a, 'run, V>> {
        lock(&self.shards[key as usize % SHARDS])
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
