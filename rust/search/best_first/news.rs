//! What processes that divide a search tell each other: lower bounds of nodes.
//!
//! Nodes have the same names in every process, because keys of points are fixed. A bound goes out
//! once, and again where it has risen.

use hashbrown::HashMap;

use super::budget::NodeKey;
use super::saved::{read_key, write_key};
use super::table::{Fingerprints, Table};
use crate::cost::Cost;
use crate::error::Result;
use crate::run::HeapBytes;
use crate::serial::{Kind, Writer, open, seal};

/// Bounds that were told by others, or to them.
pub struct News {
    lower: HashMap<NodeKey, Cost, Fingerprints>,
    /// New nodes are neither told nor taken in beyond so many bytes.
    pub most: usize,
}

impl Default for News {
    fn default() -> News {
        News { lower: HashMap::default(), most: usize::MAX }
    }
}

impl HeapBytes for News {
    fn heap_bytes(&self) -> usize {
        self.lower.allocation_size()
    }
}

impl News {
    pub fn lower(&self, key: &NodeKey) -> Option<Cost> {
        self.lower.get(key).copied()
    }

    /// What the table knows beyond what was told already, as bytes for other processes. `large`:
    /// only of nodes that take more than one look.
    pub fn of(&mut self, table: &Table, large: bool) -> Vec<u8> {
        let mut fresh = Vec::new();
        table.each(|key, entry| {
            if large && key.budget.is_small() {
                return;
            }
            let lower = entry.lower();
            if lower > self.lower(key).unwrap_or(0) {
                fresh.push((*key, lower));
            }
        });
        fresh.retain(|(key, lower)| self.note(*key, *lower));
        let mut out = Writer::new();
        out.list(fresh.into_iter(), |out, (key, lower)| {
            write_key(key, out);
            out.signed(lower);
        });
        seal(Kind::News, out)
    }

    /// Take in what another process told.
    pub fn learn(&mut self, bytes: &[u8]) -> Result<()> {
        let mut from = open(Kind::News, bytes)?;
        for _ in 0..from.size()? {
            let key = read_key(&mut from)?;
            let lower = from.signed()?;
            self.note(key, lower);
        }
        from.finish()
    }

    /// `false` if there is no room for a node that is new.
    fn note(&mut self, key: NodeKey, lower: Cost) -> bool {
        let is_full =
            self.lower.len() == self.lower.capacity() && 2 * self.heap_bytes() > self.most;
        match self.lower.get_mut(&key) {
            Some(known) => *known = lower.max(*known),
            None if is_full => return false,
            None => _ = self.lower.insert(key, lower),
        }
        true
    }
}
