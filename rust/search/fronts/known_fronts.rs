//! The fronts that are known, by rows and depth. Shared by all workers.

use std::sync::{Arc, Mutex, MutexGuard};

use hashbrown::HashMap;

use super::node_front::NodeFront;
use crate::cost::Cost;
use crate::run::{Counted, Run};
use crate::view::{Fingerprint, SeenRows};

const SHARDS: usize = 64;

type Shard<'a, 'run, V> = HashMap<(Fingerprint, u32), Arc<NodeFront<'a, 'run, V>>>;

pub struct KnownFronts<'a, 'run, V> {
    run: &'a Run<'run>,
    shards: Vec<Mutex<Counted<'a, 'run, Shard<'a, 'run, V>>>>,
    /// For debug assertions alone.
    pub seen: SeenRows,
}

impl<'a, 'run, V> KnownFronts<'a, 'run, V> {
    pub fn new(run: &'a Run<'run>) -> Self {
        let shard = || Mutex::new(Counted::new(run, HashMap::new()));
        let shards = (0..SHARDS).map(|_| shard()).collect();
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
            shard.change(|shard| *shard = HashMap::new());
            if !self.run.fits(0) {
                return;
            }
        }
        shard.change(|shard| shard.insert(key, front));
    }

    /// Forget all of them.
    pub fn clear(&self) {
        for shard in &self.shards {
            lock(shard).change(|shard| *shard = HashMap::new());
        }
    }

    fn shard(&self, key: Fingerprint) -> MutexGuard<'_, Counted<'a, 'run, Shard<'a, 'run, V>>> {
        lock(&self.shards[key as usize % SHARDS])
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
