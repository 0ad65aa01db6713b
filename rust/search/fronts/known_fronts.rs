//! The fronts that are known, by rows, state and depth. Shared by all workers.

use hashbrown::HashMap;

use super::node_front::NodeFront;
use crate::cost::Cost;
use crate::run::{Counted, Run};
use crate::search::common::shards::Shards;
use crate::search::common::sync::Arc;
use crate::view::{Fingerprint, SeenRows};

type Shard<'a, 'run, V> = HashMap<(Fingerprint, u32), Arc<NodeFront<'a, 'run, V>>>;

pub struct KnownFronts<'a, 'run, V> {
    run: &'a Run<'run>,
    shards: Shards<Counted<'a, 'run, Shard<'a, 'run, V>>>,
    /// For debug assertions alone.
    pub seen: SeenRows,
}

impl<'a, 'run, V> KnownFronts<'a, 'run, V> {
    pub fn new(run: &'a Run<'run>) -> Self {
        let shards = Shards::new(|| Counted::new(run, HashMap::new()));
        KnownFronts { run, shards, seen: SeenRows::default() }
    }

    /// A front that is complete up to the budget.
    pub fn get(
        &self,
        key: (Fingerprint, u32),
        budget: Cost,
    ) -> Option<Arc<NodeFront<'a, 'run, V>>> {
        self.shards.of(key.0).get(&key).filter(|front| front.budget >= budget).cloned()
    }

    /// Remember a front. Past the memory limit all others of its shard are forgotten, which is
    /// slower but never wrong.
    pub fn put(&self, key: (Fingerprint, u32), front: Arc<NodeFront<'a, 'run, V>>) {
        let mut shard = self.shards.of(key.0);
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
        for mut shard in self.shards.each() {
            shard.change(|shard| *shard = HashMap::new());
        }
    }
}
