//! Tasks whose values are only partly ordered: of two subtrees for the same rows neither need be
//! the better one.

use crate::cost::Cost;

/// A task whose values are only partly ordered, such as errors by group, or sums that must stay
/// within limits.
///
/// A *value* says what a subtree is worth. The task says which values a leaf can have, how the
/// values of two subtrees side by side join, which of two values is needed by no tree, and what a
/// whole tree costs. That is all a search has to know: see
/// [`FrontProblem`](crate::pareto::FrontProblem). What must hold:
///
/// - *Joining is associative and commutative*, and says the same each time.
/// - *Joining preserves dominance*: if `no_worse(a, b)`, then `no_worse(join(a, c), join(b, c))`
///   for every value c of other points; and then a is feasible if b is, and a whole tree of value a
///   is allowed if one of value b is, and costs no more.
/// - *Joining never repairs*: what is not feasible stays so, whatever it is joined with.
/// - A whole tree costs at least 0 and at most [`MAX_TOTAL`](crate::cost::MAX_TOTAL).
///
/// [`testing::obeys_front`](super::testing::obeys_front) tries these clauses on random sets of
/// points, for the tests of a new task.
///
/// # Relaxations
///
/// A search that knows nothing else builds all values that may be needed. A *relaxation* is an
/// additive [`Task`](super::Task) that tells early which ones are not: the costs of a tree's leaves
/// in it, added up, bound the tree's cost from below. It is optional: see
/// [`FrontProblem::with_relaxation`](crate::pareto::FrontProblem::with_relaxation). Where its unit
/// is that of `cost`, nothing more is to be said. Else `budget` and `at_least` convert between
/// them.
pub trait FrontTask: Send + Sync {
    type Value: Clone + Send + Sync;

    /// How many points the task knows the statistics of.
    fn n_points(&self) -> usize;

    /// How many statistics describe a set of points.
    fn width(&self) -> usize;

    /// The statistics of one point; `width()` of them.
    fn stats(&self, point: usize) -> &[i64];

    /// The values that a leaf with these summed statistics can have: one or several, each with a
    /// label of its own. A leaf without any value is not allowed.
    fn leaf(&self, sums: &[i64], push: &mut dyn FnMut(u32, Self::Value));

    /// The value of two subtrees side by side.
    fn join(&self, a: &Self::Value, b: &Self::Value) -> Self::Value;

    /// True if no tree needs b where it can have a. Both are values of the same points.
    fn no_worse(&self, a: &Self::Value, b: &Self::Value) -> bool;

    /// The cost of a whole tree without its leaf penalties; `None` if it is not allowed.
    fn cost(&self, value: &Self::Value) -> Option<Cost>;

    /// True if a part of an allowed tree can have this value.
    fn feasible(&self, _value: &Self::Value) -> bool {
        true
    }

    /// A leaf's cost in the relaxation under this label, if that is known to be more than the cost
    /// of the relaxation's best answer; it must not be less.
    fn bound(&self, _sums: &[i64], _label: u32, _value: &Self::Value) -> Option<Cost> {
        None
    }

    /// Every allowed tree that costs less than `upper` costs at most this in the relaxation;
    /// penalties of leaves included in both.
    fn budget(&self, upper: Cost) -> Cost {
        upper - 1
    }

    /// Every allowed tree that costs at least `bound` in the relaxation costs at least this;
    /// penalties of leaves included in both.
    fn at_least(&self, bound: Cost) -> Cost {
        bound
    }

    /// The numbers that a tree shows at a node with these summed statistics.
    fn shown(&self, sums: &[i64]) -> Vec<f64> {
        sums.iter().map(|&s| s as f64).collect()
    }

    /// Bytes that a value holds beside itself.
    fn value_bytes(&self, _value: &Self::Value) -> usize {
        0
    }

    /// The summed statistics of some points.
    fn sum_of(&self, points: &[u32]) -> Vec<i64> {
        let mut sums = vec![0; self.width()];
        for &point in points {
            sums.iter_mut().zip(self.stats(point as usize)).for_each(|(sum, s)| *sum += s);
        }
        sums
    }
}
