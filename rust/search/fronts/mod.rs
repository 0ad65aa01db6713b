//! The second search: for tasks whose values are only partly ordered.
//!
//! A *value* is what a subtree contributes: sums under constraints, or a ROC curve. What a node can
//! reach is a *front*: all values that no other one makes superfluous, whatever the rest of the tree
//! does. A front of a split joins every value of one side with every value of the other.
//!
//! What keeps fronts small is a *relaxation*: an additive task with the same rows, whose cost says of
//! every tree how good it can be at best. The problem that this search is given is the relaxation; each
//! value carries its cost in it, its *bound*. A whole tree better than the best one known costs at
//! most some budget there; a node's budget is that less the least that the rest costs; what is beyond
//! it is not built. The closer the relaxation is to the truth, the less there is to search: the caller
//! finds a good one first, and a good tree.
//!
//! Reading order: this file, `front` (lists of values), `node` (one node), `solve` (the root, workers).

mod alike;
mod front;
mod memo;
mod node;
mod solve;

pub use alike::Alike;
pub use front::{Candidate, Made};
pub use solve::{Best, Start, solve};

use crate::cost::Cost;

/// A task with partly ordered values.
///
/// What must hold, for values a and b of the same rows and any value c of the other rows: if `thin` drops
/// b for a, and the tree b ∪ c is allowed, then a ∪ c is allowed and no worse. Bounds add up over leaves,
/// and a leaf's bound is at least what the relaxation's best label costs there.
pub trait Front: Sync {
    type Value: Clone + Send + Sync;

    /// The values that a leaf with these class weights can have: label, bound without the leaf's
    /// penalty, value.
    fn leaf(&self, weights: &[i64], push: &mut dyn FnMut(u32, Cost, Self::Value));

    /// The least bound of a leaf, without its penalty.
    fn leaf_bound(&self, weights: &[i64]) -> Cost;

    /// The value of two subtrees side by side.
    fn join(&self, a: &Self::Value, b: &Self::Value) -> Self::Value;

    /// A key and a cost, if of all values of a node with the same key only one that costs least is needed.
    fn alike(&self, _value: &Self::Value, _leaves: u32) -> Option<(i64, Cost)> {
        None
    }

    /// Drop what no whole tree needs. All candidates are values of rows with these class weights.
    fn thin(&self, weights: &[i64], list: &mut Vec<Candidate<Self::Value>>);

    /// What a whole tree costs; `None` if it is not allowed.
    fn judge(&self, value: &Self::Value, leaves: u32) -> Option<Cost>;

    /// Every allowed tree that costs less than `upper` has a bound of at most this.
    fn budget(&self, upper: Cost) -> Cost;

    /// Every allowed tree whose bound is at least this costs at least what is returned.
    fn at_least(&self, bound: Cost) -> Cost;

    /// Bytes that thinning a list of so many candidates takes.
    fn thin_bytes(&self, len: usize) -> usize;

    /// Bytes that a value holds beside itself.
    fn bytes(&self, value: &Self::Value) -> usize;
}
