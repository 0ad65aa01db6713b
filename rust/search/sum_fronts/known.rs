//! The fronts that are known, by rows, state and depth. Shared by all workers.

use hashbrown::HashMap;

use super::entry::Front;
use crate::run::{Counted, HeapBytes, Run};
use crate::search::common::shards::Shards;
use crate::search::common::sync::Arc;
use crate::view::{Fingerprint, SeenRows};

/// Rows and their state, and the depth below them.
pub type Key = (Fingerprint, u32);

#[derive(Default)]
struct Shard {
    fronts: HashMap<Key, Arc<Front>>,
    /// Bytes of the fronts alone.
    bytes: usize,
}

impl HeapBytes for Shard {
    fn heap_bytes(&self) -> usize {
        self.fronts.heap_bytes() + self.bytes
    }
}

pub struct KnownFronts<'a, 'run> {
    run: &'a Run<'run>,
    shards: Shards<Counted<'a, 'run, Shard>>,
    /// For debug assertions alone.
    pub seen: SeenRows,
}

impl<'a, 'run> KnownFronts<'a, 'run> {
    pub fn new(run: &'a Run<'run>) -> Self {
        let shards = Shards::new(|| Counted::new(run, Shard::default()));
        KnownFronts { run, shards, seen: SeenRows::default() }
    }

    pub fn get(&self, key: Key) -> Option<Arc<Front>> {
        self.shards.of(key.0).fronts.get(&key).cloned()
    }

    /// Remember a front. Past the memory limit all others of its shard are forgotten, which is
    /// slower but never wrong.
    pub fn put(&self, key: Key, front: Arc<Front>) {
        let mut shard = self.shards.of(key.0);
        if !self.run.fits(front.bytes() as u64) {
            shard.change(|shard| *shard = Shard::default());
            if !self.run.fits(front.bytes() as u64) {
                return;
            }
        }
        shard.change(|shard| {
            shard.bytes += front.bytes() + size_of::<Front>();
            if let Some(old) = shard.fronts.insert(key, front) {
                shard.bytes -= old.bytes() + size_of::<Front>();
            }
        });
    }

    /// Forget all of them.
    pub fn clear(&self) {
        for mut shard in self.shards.each() {
            shard.change(|shard| *shard = Shard::default());
        }
    }
}
