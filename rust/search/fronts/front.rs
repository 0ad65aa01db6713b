//! The contract between this search and a task whose values are only partly ordered.

use super::subtree::SubtreeSketch;
use crate::bounds::Decisions;
use crate::cost::Cost;
use crate::error::Error;
use crate::run::Pace;

/// A task with partly ordered values, as the search takes it. Users write a
/// [`FrontTask`](crate::task::FrontTask), which [`pareto`](crate::pareto) turns into one of these.
///
/// This must hold for values a and b of the same rows and any value c of the other rows: if
/// `drop_needless` drops b because of a, and the tree b ∪ c is allowed, then a ∪ c is allowed and
/// costs no more. Bounds add up over leaves and prices, and a leaf's bound is at least the cost of
/// the relaxation's best answer there.
///
/// Sums are those of the relaxation's statistics: weights by class, counts, losses by label, or any
/// other numbers.
pub trait Front: Sync {
    type Value: Clone + Send + Sync;

    /// The values that a leaf with these sums can have: label, bound without the leaf's penalty,
    /// value.
    fn leaf(&self, sums: &[i64], push: &mut dyn FnMut(u32, Cost, Self::Value));

    /// No value of a leaf with these sums has a lower bound, without its penalty.
    fn leaf_bound(&self, _sums: &[i64]) -> Cost {
        0
    }

    /// The value of two subtrees side by side.
    fn join(&self, a: &Self::Value, b: &Self::Value) -> Self::Value;

    /// The value of a subtree whose root's question costs so much in the relaxation, which is not
    /// 0. Only fronts of problems with feature costs are asked.
    fn pay(&self, _value: Self::Value, _price: Cost) -> Self::Value {
        unreachable!("values of problems with feature costs are paid for")
    }

    /// A key and a cost, if of all values of a node with an equal key only one that costs least is
    /// needed.
    fn interchangeable(&self, _value: &Self::Value, _leaves: u32) -> Option<(i64, Cost)> {
        None
    }

    /// Drop all values that no whole tree needs, and count why. All candidates are values of the
    /// same rows, which have these sums. Comparing many takes long: when `pace` is over, those that
    /// were not compared stay, because a value too many is no mistake.
    fn drop_needless(
        &self,
        sums: &[i64],
        list: &mut Vec<Candidate<Self::Value>>,
        decided: &mut Decisions,
        pace: &mut Pace,
    );

    /// The cost of a whole tree; `None` if it is not allowed.
    fn cost(&self, value: &Self::Value, leaves: u32) -> Option<Cost>;

    /// Every allowed tree that costs less than `upper` has a bound of at most this.
    fn budget(&self, upper: Cost) -> Cost;

    /// Every allowed tree whose bound is at least `bound` costs at least this.
    fn at_least(&self, bound: Cost) -> Cost;

    /// False if no relaxation costs anything: without one, no stumps are compared in
    /// it.
    fn has_relaxation(&self) -> bool {
        true
    }

    /// True if the view must hold every point, because a leaf is not described by its class weights
    /// alone: a leaf without weight is one, too.
    fn needs_every_point(&self) -> bool {
        true
    }

    /// Bytes that `drop_needless` takes beside a list of so many candidates.
    fn scratch_bytes(&self, _candidates: usize) -> usize {
        0
    }

    /// Bytes that a value holds beside itself.
    fn value_bytes(&self, _value: &Self::Value) -> usize {
        0
    }

    /// The clause of its contract that the task was seen to break, if there is one.
    fn failure(&self) -> Option<Error> {
        None
    }
}

/// A value that may belong to a node's front.
#[derive(Debug, Clone)]
pub struct Candidate<V> {
    /// Its cost in the relaxation, leaf penalties and prices included.
    pub bound: Cost,
    pub leaves: u32,
    pub value: V,
    pub sketch: SubtreeSketch,
}
