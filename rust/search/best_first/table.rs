//! The memo: every node that was chosen once, by its rows and budget.

use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Mutex};

use hashbrown::HashMap;

use super::node::{Node, NodeKey};
use crate::cost::Cost;
use crate::run::Run;

/// What is known of a set of rows and a budget.
#[derive(Debug, Clone)]
pub enum Entry {
    /// The optimum, of nodes that one kernel call solves.
    Solved(Cost),
    Open(Arc<Node>),
}

/// Sharded by fingerprint, so that workers rarely wait for each other.
pub struct Table {
    shards: Vec<Mutex<HashMap<NodeKey, Entry, Fingerprints>>>,
}

const SHARDS: usize = 64;

/// What an entry takes, with the map's load factor, and what an open node takes beside it.
const ENTRY_BYTES: i64 = (size_of::<(NodeKey, Entry)>() + 1) as i64 * 8 / 7 * 3 / 2;
const NODE_BYTES: i64 = size_of::<Node>() as i64 + 32;

impl Table {
    pub fn new() -> Table {
        let shards = (0..SHARDS).map(|_| Mutex::new(HashMap::with_hasher(Fingerprints))).collect();
        Table { shards }
    }

    fn shard(&self, key: &NodeKey) -> &Mutex<HashMap<NodeKey, Entry, Fingerprints>> {
        &self.shards[(key.rows >> 64) as usize % SHARDS]
    }

    pub fn get(&self, key: &NodeKey) -> Option<Entry> {
        lock(self.shard(key)).get(key).cloned()
    }

    pub fn insert_solved(&self, key: NodeKey, value: Cost, run: &Run) {
        if lock(self.shard(&key)).insert(key, Entry::Solved(value)).is_none() {
            run.add_bytes(ENTRY_BYTES);
            run.add_nodes(1);
        }
    }

    /// The node of a key, made now if it is new.
    pub fn open(&self, key: NodeKey, run: &Run) -> Entry {
        let mut shard = lock(self.shard(&key));
        shard
            .entry(key)
            .or_insert_with(|| {
                run.add_bytes(ENTRY_BYTES + NODE_BYTES);
                run.add_nodes(1);
                Entry::Open(Arc::new(Node::unknown(key)))
            })
            .clone()
    }
}

/// A poisoned lock means that another worker panicked; the panic itself is reported by its thread.
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Fingerprints are random already: hashing is taking some of their bits.
#[derive(Debug, Clone, Copy, Default)]
struct Fingerprints;

#[derive(Debug, Default)]
struct Mixer(u64);

impl BuildHasher for Fingerprints {
    type Hasher = Mixer;

    fn build_hasher(&self) -> Mixer {
        Mixer(0)
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u32(&mut self, x: u32) {
        self.write_u64(u64::from(x));
    }

    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(5) ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_u128(&mut self, x: u128) {
        self.0 ^= x as u64;
    }
}
