//! Prediction: from typed columns of values to the node each row ends in.

use super::{Test, Tree};
use crate::data::Threshold;
use crate::error::{Error, Result};

/// One column of values as it lies in memory. Floats and integers are compared exactly, in their own type.
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

/// A tree's tests, ready to route rows. Each split reads one slot: the caller hands in one array of
/// values for each slot, Boolean "is value" arrays for categories.
#[derive(Debug, Clone)]
pub struct Router<'a> {
    tree: &'a Tree,
    slots: &'a [usize],
}

impl<'a> Router<'a> {
    /// `slots[node]`: which array the node's test reads (ignored at leaves).
    pub fn new(tree: &'a Tree, slots: &'a [usize]) -> Self {
        Router { tree, slots }
    }

    /// The leaf (as an index into the tree's nodes) of each row.
    pub fn apply(&self, arrays: &[Values<'_>], n_rows: usize) -> Result<Vec<u32>> {
        let mut out = Vec::with_capacity(n_rows);
        for row in 0..n_rows {
            let mut at = 0;
            while let Some(split) = &self.tree.nodes[at].split {
                let array =
                    arrays.get(self.slots[at]).ok_or_else(|| Error::invalid("too few columns"))?;
                let left = goes_left(&split.test, array, row)?;
                at = if left { split.left } else { split.right }.index();
            }
            out.push(at as u32);
        }
        Ok(out)
    }
}

fn goes_left(test: &Test, array: &Values<'_>, row: usize) -> Result<bool> {
    Ok(match (test, array) {
        (Test::IsTrue | Test::Is(_), Values::Bool(v)) => !v[row],
        (Test::AtMost(Threshold::Float(t)), Values::F64(v)) => v[row] <= *t,
        _ => return Err(Error::invalid("a column has the wrong type")),
    })
}
