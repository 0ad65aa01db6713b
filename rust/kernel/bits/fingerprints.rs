//! Fingerprints of both sides of every column at once.
//!
//! Four rows have 16 subsets: with the XOR of the keys of each in a table, a column's fingerprint
//! is one look-up for every four rows instead of a step for each row.

use super::lanes::Blocks;
use crate::bits::{LANES, ROWS};
use crate::kernel::look::vec_bytes;
use crate::view::{Fingerprint, View};

/// Subsets of four rows.
type Table = [Fingerprint; 16];

#[derive(Debug, Default)]
pub struct Scratch {
    tables: Vec<Table>,
}

impl Scratch {
    pub fn bytes(&self) -> usize {
        vec_bytes(&self.tables)
    }
}

/// One for every four rows, blocks being whole.
fn n_tables(blocks: &Blocks) -> usize {
    blocks.segments.iter().map(|&(_, from, to)| to - from).sum::<usize>() * (ROWS / 4)
}

impl Scratch {
    /// Bytes that `fingerprints` takes beyond what it has.
    pub fn bytes_for(&self, blocks: &Blocks) -> usize {
        (n_tables(blocks) * size_of::<Table>()).saturating_sub(self.bytes())
    }
}

/// `blocks` were filled from `view`.
pub fn fingerprints(
    blocks: &Blocks,
    view: &View,
    scratch: &mut Scratch,
    out: &mut Vec<Option<[Fingerprint; 2]>>,
) {
    scratch.tables.clear();
    scratch.tables.reserve_exact(n_tables(blocks));
    for &(segment, ..) in &blocks.segments {
        let rows = view.segment(segment);
        for first in rows.clone().step_by(ROWS) {
            for four in (first..first + ROWS).step_by(4) {
                let mut table = [0; 16];
                for row in four..(four + 4).min(rows.end.max(four)) {
                    let (size, key) = (1 << (row - four), view.key(row));
                    for subset in 0..size {
                        table[size + subset] = table[subset] ^ key;
                    }
                }
                scratch.tables.push(table);
            }
        }
    }
    let whole = view.fingerprint();
    out.clear();
    for block in 0..blocks.n_blocks() {
        let mut sums = [0; LANES];
        let words = blocks.block(block, 0, scratch.tables.len() / 4);
        for (words, tables) in words.iter().zip(scratch.tables.chunks_exact(4)) {
            for (sum, &word) in sums.iter_mut().zip(&words.0) {
                for (nibble, table) in tables.iter().enumerate() {
                    *sum ^= table[usize::from(word >> (4 * nibble) & 15)];
                }
            }
        }
        let columns = LANES.min(blocks.n_columns - block * LANES);
        out.extend(sums[..columns].iter().map(|&ones| Some([whole ^ ones, ones])));
    }
}
