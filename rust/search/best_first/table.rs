//! The memo: every node that was chosen once, by its rows and budget.

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashMap;

use super::budget::NodeKey;
use super::node::Node;
use crate::cost::Cost;
use crate::run::{Account, HeapBytes, Held};
use crate::search::common::shards::Shards;
use crate::search::common::sync::{Arc, Mutex, lock};
use crate::view::SeenRows;

/// What is known of a set of rows and a budget.
#[derive(Debug, Clone)]
pub enum Entry {
    /// The optimum, of nodes that one kernel call solves. It can be found again, so it may be
    /// dropped.
    Solved(Cost),
    /// Dropped only where the look-ahead can find its upper bound again: the tree is read from
    /// these.
    Open(Arc<Node>),
}

impl Entry {
    /// No tree of the rows and the budget costs less.
    pub fn lower(&self) -> Cost {
        match self {
            Entry::Solved(value) => *value,
            Entry::Open(node) => node.lower(),
        }
    }
}

#[derive(Default)]
struct Shard {
    entries: HashMap<NodeKey, Entry, Fingerprints>,
    /// How many of the entries are open.
    open: usize,
}

impl HeapBytes for Shard {
    /// Nodes count their alternatives themselves.
    fn heap_bytes(&self) -> usize {
        self.entries.allocation_size() + self.open * NODE_BYTES
    }
}

/// Every node by its key. Workers share it.
pub struct Table {
    shards: Shards<Shard>,
    /// One worker at a time gives memory back.
    shedding: Mutex<()>,
    /// For debug assertions alone.
    pub(super) seen: SeenRows,
}

/// What an open node takes beside its entry.
const NODE_BYTES: usize = size_of::<Node>() + 2 * size_of::<usize>();

/// No more alternatives are kept for a search that may never go on.
const MOST_AT_REST: usize = 256 << 20;

/// Ages are told apart this well when the oldest nodes are looked for.
const AGES: usize = 256;

impl Default for Table {
    fn default() -> Self {
        Table::new()
    }
}

impl Table {
    pub fn new() -> Table {
        let shards = Shards::new(Shard::default);
        Table { shards, shedding: Mutex::new(()), seen: SeenRows::default() }
    }

    /// The search is over for now: of much, keep bounds alone.
    pub fn rest(&self, account: &Account) {
        if self.heap_bytes() > MOST_AT_REST {
            self.shed_alternatives(usize::MAX, account);
        }
    }

    pub fn get(&self, key: &NodeKey) -> Option<Entry> {
        self.shards.of(key.rows).entries.get(key).cloned()
    }

    pub fn insert_solved(&self, key: NodeKey, value: Cost, account: &Account) {
        self.entry(
            key,
            account,
            || Entry::Solved(value),
            |entry| {
                // Somebody opened it meanwhile, on a path that knew less.
                if let Entry::Open(node) = entry {
                    node.lower_to(value);
                    node.raise(value);
                }
            },
        );
    }

    /// The node of a key, made now if it is new.
    pub fn open(&self, key: NodeKey, account: &Account) -> Entry {
        let make = || Entry::Open(Arc::new(Node::unknown(key)));
        self.entry(key, account, make, |entry| entry.clone())
    }

    /// Nothing is known of a node any more. No run counts the table now.
    pub(super) fn forget(&self, key: &NodeKey) {
        let mut shard = self.shards.of(key.rows);
        if let Some(Entry::Open(_)) = shard.entries.remove(key) {
            shard.open -= 1;
        }
    }

    /// A table that no run knows of yet takes an entry; `false` if it has the key already.
    pub(super) fn put_new(&self, key: NodeKey, entry: Entry) -> bool {
        let mut shard = self.shards.of(key.rows);
        shard.open += usize::from(matches!(entry, Entry::Open(_)));
        shard.entries.insert(key, entry).is_none()
    }

    fn entry<T>(
        &self,
        key: NodeKey,
        account: &Account,
        make: impl FnOnce() -> Entry,
        read: impl FnOnce(&Entry) -> T,
    ) -> T {
        let mut shard = self.shards.of(key.rows);
        let n = shard.entries.len();
        let result = account.change(&mut *shard, |shard| {
            let open = &mut shard.open;
            let make = || {
                let entry = make();
                *open += usize::from(matches!(entry, Entry::Open(_)));
                entry
            };
            read(shard.entries.entry(key).or_insert_with(make))
        });
        account.run().add_nodes((shard.entries.len() - n) as u64);
        result
    }

    /// Reserve `more` bytes for `held`, after giving back what can be found again: the alternatives
    /// of the nodes that were visited least lately, then solved entries, then nodes. `false` if
    /// they do not fit even so, or if so little came back that the search would do nothing else
    /// from now on.
    pub fn make_room(&self, more: usize, held: &mut Held, account: &Account) -> bool {
        if held.reserve(more) {
            return true;
        }
        let _one_at_a_time = lock(&self.shedding);
        // Another worker may have done it meanwhile.
        if held.reserve(more) {
            return true;
        }
        let (run, more_bytes) = (account.run(), more as u64);
        let most = run.memory();
        let wanted = || {
            let wanted = run.bytes().saturating_add(more_bytes).saturating_sub(most / 4 * 3);
            usize::try_from(wanted).unwrap_or(usize::MAX)
        };
        self.shed_alternatives(wanted(), account);
        let enough = more_bytes.saturating_add(most / 16);
        if !run.fits(enough) {
            self.shed_solved(account);
        }
        if !run.fits(enough) {
            self.shed_nodes(wanted(), account);
        }
        run.fits(enough) && held.reserve(more)
    }

    pub(super) fn shed_alternatives(&self, wanted: usize, account: &Account) {
        let now = account.run().clock();
        let oldest = self.oldest(now, wanted, |node| node.idle_bytes());
        self.each_open(|node| {
            if age(node, now) >= oldest {
                node.shed(account);
            }
        });
    }

    pub(super) fn shed_solved(&self, account: &Account) {
        self.retain(account, |entry| matches!(entry, Entry::Open(_)));
    }

    /// Bounds of a dropped node are lost, but for what the nodes above know of it. Those that
    /// workers are below stay, so every worker still comes to an end.
    pub(super) fn shed_nodes(&self, wanted: usize, account: &Account) {
        let now = account.run().clock();
        let each = NODE_BYTES + size_of::<(NodeKey, Entry)>();
        let droppable = |node: &Arc<Node>| {
            // Nobody else has it, and nobody can get it while its shard is locked.
            Arc::strong_count(node) == 1 && node.is_shallow()
        };
        let oldest = self.oldest(now, wanted, |node| if droppable(node) { each } else { 0 });
        self.retain(account, |entry| match entry {
            Entry::Open(node) if age(node, now) >= oldest && droppable(node) => {
                node.shed(account);
                false
            }
            _ => true,
        });
    }

    /// The least age for which all nodes of this age or more have `wanted` bytes together.
    fn oldest(&self, now: u32, wanted: usize, bytes: impl Fn(&Arc<Node>) -> usize) -> usize {
        let mut by_age = [0; AGES];
        self.each_open(|node| by_age[age(node, now)] += bytes(node));
        let (mut oldest, mut sum) = (AGES, 0);
        while oldest > 0 && sum < wanted {
            oldest -= 1;
            sum += by_age[oldest];
        }
        oldest
    }

    pub(super) fn each_open(&self, mut visit: impl FnMut(&Arc<Node>)) {
        for shard in self.shards.each() {
            for entry in shard.entries.values() {
                if let Entry::Open(node) = entry {
                    visit(node);
                }
            }
        }
    }

    /// Every entry, in no order.
    pub fn each(&self, mut visit: impl FnMut(&NodeKey, &Entry)) {
        for shard in self.shards.each() {
            shard.entries.iter().for_each(|(key, entry)| visit(key, entry));
        }
    }

    fn retain(&self, account: &Account, keep: impl Fn(&Entry) -> bool) {
        for mut shard in self.shards.each() {
            account.change(&mut *shard, |shard| {
                let Shard { entries, open } = shard;
                *open = 0;
                entries.retain(|_, entry| {
                    let keeps = keep(entry);
                    *open += usize::from(keeps && matches!(entry, Entry::Open(_)));
                    keeps
                });
                entries.shrink_to_fit();
            });
        }
    }
}

impl HeapBytes for Table {
    /// With all that its nodes hold.
    fn heap_bytes(&self) -> usize {
        let mut bytes = self.shards.each().map(|shard| shard.heap_bytes()).sum();
        self.each_open(|node| bytes += node.idle_bytes());
        bytes
    }
}

/// How long ago a node was visited, as a share of the run.
fn age(node: &Node, now: u32) -> usize {
    let age = now.wrapping_sub(node.visited()) as usize;
    (age.saturating_mul(AGES) / (now as usize + 1)).min(AGES - 1)
}

/// Fingerprints are random already: hashing is taking some of their bits.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fingerprints;

#[derive(Debug, Default)]
pub struct Mixer(u64);

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
