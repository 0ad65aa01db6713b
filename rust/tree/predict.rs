//! Prediction: from typed columns of values to the node each row ends in.
//!
//! Rows go through the tree a block at a time. At each node the block's rows are parted in place
//! into those that go left and those that go right, without a branch on the outcome: the type of a
//! column is looked at once for a node and block instead of once for a row, and a row costs a few
//! cycles for each level, whatever the tree's shape.

use super::cutoff::Cutoff;
use super::finished::{Split, Test, Tree};
use crate::error::{Error, Result};
use crate::ids::Side;

/// Rows in a block: few enough for their part of some columns to stay in the fastest cache.
const BLOCK: usize = 1024;

/// One column of values as it lies in memory. Floats and integers are compared exactly, in their
/// own type.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    F64(&'a [f64]),
    F32(&'a [f32]),
    I64(&'a [i64]),
    I32(&'a [i32]),
    I16(&'a [i16]),
    I8(&'a [i8]),
    U64(&'a [u64]),
    U32(&'a [u32]),
    U16(&'a [u16]),
    U8(&'a [u8]),
    Bool(&'a [bool]),
}

/// Runs the same code for numbers of any type, with `Bool` told apart.
macro_rules! by_type {
    ($values:expr, $numbers:pat => $on_numbers:expr, $bools:pat => $on_bools:expr) => {
        match $values {
            Values::F64($numbers) => $on_numbers,
            Values::F32($numbers) => $on_numbers,
            Values::I64($numbers) => $on_numbers,
            Values::I32($numbers) => $on_numbers,
            Values::I16($numbers) => $on_numbers,
            Values::I8($numbers) => $on_numbers,
            Values::U64($numbers) => $on_numbers,
            Values::U32($numbers) => $on_numbers,
            Values::U16($numbers) => $on_numbers,
            Values::U8($numbers) => $on_numbers,
            Values::Bool($bools) => $on_bools,
        }
    };
}

impl Values<'_> {
    fn len(&self) -> usize {
        by_type!(self, numbers => numbers.len(), bools => bools.len())
    }
}

/// A tree's tests, ready to route rows. Each split reads one slot: the caller hands in one array of
/// values for each slot, Boolean "is value" arrays for categories.
#[derive(Debug, Clone)]
pub struct Router<'a> {
    tree: &'a Tree,
    slots: &'a [usize],
    /// By slot: which values are missing, if any are.
    missing: &'a [Option<&'a [bool]>],
}

impl<'a> Router<'a> {
    /// `slots[node]`: which array the node's test reads (ignored at leaves).
    pub fn new(tree: &'a Tree, slots: &'a [usize]) -> Self {
        Router { tree, slots, missing: &[] }
    }

    /// Where values are missing: `missing[slot]` says which, if any are. What stands there
    /// instead makes no difference.
    pub fn with_missing(self, missing: &'a [Option<&'a [bool]>]) -> Self {
        Router { missing, ..self }
    }

    fn missing(&self, slot: usize) -> Option<&'a [bool]> {
        self.missing.get(slot).copied().flatten()
    }

    /// The leaf (as an index into the tree's nodes) of each row.
    ///
    /// Thresholds ask for numbers and the other tests for Booleans: neither is converted to the
    /// other.
    pub fn apply(&self, arrays: &[Values<'_>], n_rows: usize) -> Result<Vec<u32>> {
        self.check(arrays, n_rows)?;
        let mut leaves = vec![0; n_rows];
        let mut block = Block::new();
        for (index, leaves) in leaves.chunks_mut(BLOCK).enumerate() {
            block.route(self, arrays, index * BLOCK, leaves);
        }
        Ok(leaves)
    }

    /// Everything that could go wrong later does so here, before the first row.
    fn check(&self, arrays: &[Values<'_>], n_rows: usize) -> Result<()> {
        let nodes = &self.tree.nodes;
        if nodes.is_empty() || self.slots.len() != nodes.len() {
            return Err(Error::invalid(format!(
                "{} slots are given for a tree of {} nodes",
                self.slots.len(),
                nodes.len()
            )));
        }
        if !self.missing.is_empty() && self.missing.len() != arrays.len() {
            return Err(Error::invalid("missing values are not told of each column"));
        }
        let told = self.missing.iter().flatten().map(|missing| missing.len());
        if let Some(len) = arrays.iter().map(Values::len).chain(told).find(|&len| len != n_rows) {
            return Err(Error::invalid(format!(
                "columns must have equal lengths: one has {} values, but there are {n_rows} rows",
                len
            )));
        }
        for (at, node) in nodes.iter().enumerate() {
            if let Some(split) = &node.split {
                self.check_split(at, split, arrays)?;
            }
        }
        Ok(())
    }

    fn check_split(&self, at: usize, split: &Split, arrays: &[Values<'_>]) -> Result<()> {
        // Children after their parent: every row's way ends.
        for child in [split.left, split.right] {
            if child.index() <= at || child.index() >= self.tree.nodes.len() {
                return Err(Error::invalid(format!("node {at} has no child {}", child.index())));
            }
        }
        let Some(array) = arrays.get(self.slots[at]) else {
            return Err(Error::invalid(format!(
                "node {at} reads array {}, but only {} are given",
                self.slots[at],
                arrays.len()
            )));
        };
        let numeric = matches!(split.test, Test::AtMost(_));
        let given = by_type!(array, _ => true, _ => false);
        if numeric != given {
            let name = |numeric| if numeric { "numbers" } else { "Booleans" };
            return Err(Error::invalid(format!(
                "the tree asks column {} for {}, but its values are {}",
                split.column.index(),
                name(numeric),
                name(given)
            )));
        }
        Ok(())
    }
}

/// The rows of one block on their way down, and room to move them.
struct Block {
    /// Grouped by the node they have come to: a permutation of the block's rows.
    rows: [u16; BLOCK],
    spare: [u16; BLOCK],
    /// Nodes still to be split or written: (node, from, to) in `rows`. A stack of our own, since a
    /// tree may be as deep as it likes.
    todo: Vec<(usize, usize, usize)>,
}

impl Block {
    fn new() -> Self {
        Block { rows: [0; BLOCK], spare: [0; BLOCK], todo: Vec::new() }
    }

    fn route(&mut self, router: &Router<'_>, arrays: &[Values<'_>], first: usize, out: &mut [u32]) {
        for (index, row) in self.rows.iter_mut().enumerate() {
            *row = index as u16;
        }
        self.todo.push((0, 0, out.len()));
        while let Some((at, from, to)) = self.todo.pop() {
            let rows = &mut self.rows[from..to];
            let Some(split) = &router.tree.nodes[at].split else {
                for &row in rows.iter() {
                    out[usize::from(row)] = at as u32;
                }
                continue;
            };
            let block = first..first + out.len();
            let slot = router.slots[at];
            let spare = &mut self.spare;
            // First those whose value is missing, to one end; then the others.
            let lost = router.missing(slot).map_or(0, |missing| {
                let missing = &missing[block.clone()];
                part(rows, spare, |row| missing[row])
            });
            let known = &mut rows[lost..];
            let left = by_type!(&arrays[slot],
                numbers => left_of_threshold(&split.test, &numbers[block], known, spare),
                bools => {
                    let bools = &bools[block];
                    part(known, spare, |row| !bools[row])
                }
            );
            let left = match router.tree.way_of_missing(split) {
                _ if lost == 0 => left,
                Side::Left => lost + left,
                Side::Right => {
                    rows.rotate_left(lost);
                    left
                }
            };
            if left > 0 {
                self.todo.push((split.left.index(), from, from + left));
            }
            if from + left < to {
                self.todo.push((split.right.index(), from + left, to));
            }
        }
    }
}

fn left_of_threshold<T: Cutoff>(
    test: &Test,
    values: &[T],
    rows: &mut [u16],
    spare: &mut [u16; BLOCK],
) -> usize {
    // Only thresholds come here: `check` has seen to it.
    let Test::AtMost(threshold) = test else { return 0 };
    match T::at_most(*threshold) {
        Some(cutoff) => part(rows, spare, |row| values[row] <= cutoff),
        None => 0,
    }
}

/// Moves some rows to the front, keeping the order of these and of the others; how many there are.
#[inline(always)]
fn part(rows: &mut [u16], spare: &mut [u16; BLOCK], goes_first: impl Fn(usize) -> bool) -> usize {
    let mut first = 0;
    for at in 0..rows.len() {
        let row = rows[at];
        let yes = goes_first(usize::from(row));
        // Written to both ends; the end that it does not belong to is overwritten by the next row.
        rows[first] = row;
        spare[at - first] = row;
        first += usize::from(yes);
    }
    let others = rows.len() - first;
    rows[first..].copy_from_slice(&spare[..others]);
    first
}
