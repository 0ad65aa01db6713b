//! What a task says of itself, and what must hold of it.

use std::sync::Arc;

use super::class_costs::ClassCosts;
use super::leaf::Leaf;
use super::rough::Rough;
use super::squares::Squares;
use crate::cost::Cost;
use crate::error::Error;

/// A task whose cost adds up over leaves. What a leaf costs is a function of its points' summed
/// statistics.
///
/// Four methods say what the task is: how many points and statistics there are, the statistics of a
/// point, and the cost of a leaf with these sums. Two more say what may be assumed
/// ([`rounding`](Task::rounding) and [`worst`](Task::worst)); both have a default that is always
/// right. What must hold:
///
/// - A leaf never costs less than 0, and the cost depends on nothing but the sums.
/// - *Dividing a leaf never raises its cost*: cost(A ∪ B) ≥ cost(A) + cost(B) − `rounding()` for
///   any two sets of points.
/// - All points as one leaf cost less than [`MAX_TOTAL`](crate::cost::MAX_TOTAL) divided by the
///   number of points.
///
/// [`testing::obeys`](crate::task::testing::obeys) tries these clauses on random sets of points,
/// for the tests of a new task. A search checks them wherever it looks, and refuses a task that
/// breaks one with an error that names it.
pub trait Task: Send + Sync {
    /// How many points the task knows the statistics of.
    fn n_points(&self) -> usize;

    /// How many statistics describe a set of points.
    fn width(&self) -> usize;

    /// The statistics of one point; `width()` of them.
    fn stats(&self, point: usize) -> &[i64];

    /// The best answer for at least one point with these summed statistics; the lowest label among
    /// equals.
    fn leaf(&self, stats: &[i64]) -> Leaf;

    /// The costs of many leaves at once: what [`leaf`](Task::leaf) says of each. Statistic s of
    /// leaf k stands at `sums[s * costs.len() + k]`, so that whole vectors of leaves can be costed
    /// together.
    fn leaf_costs(&self, sums: &[i64], costs: &mut [Cost]) {
        let n = costs.len();
        let mut own = vec![0; self.width()];
        for (leaf, cost) in costs.iter_mut().enumerate() {
            own.iter_mut().enumerate().for_each(|(s, sum)| *sum = sums[s * n + leaf]);
            *cost = self.leaf(&own).cost;
        }
    }

    /// About how many leaves [`leaf_costs`](Task::leaf_costs) is best asked about at once: few
    /// enough to stay in the processor's first cache, or more where a call is dear.
    fn leaves_at_once(&self) -> usize {
        1 << 10
    }

    /// Whether [`leaf_costs`](Task::leaf_costs) may be asked about leaves without points, as long
    /// as nobody reads what it says of them. Otherwise a leaf with points stands in for each.
    fn takes_empty_leaves(&self) -> bool {
        false
    }

    /// What leaves lose in single precision, by their first statistics, if that is known: who only
    /// wants to know which trees may be best costs their leaves so.
    fn rough(&self) -> Option<&Rough> {
        None
    }

    /// By how many units dividing a leaf may raise its cost, because leaf costs are rounded.
    fn rounding(&self) -> Cost {
        0
    }

    /// The least that any tree pays for this point: what it costs as a leaf of its own. Or its
    /// floor, where a reference gave it one (`guess.rs`).
    fn least(&self, point: usize) -> Cost {
        self.leaf(self.stats(point)).cost
    }

    /// The most that any tree can save by losing this point, if that is known: for losses by label,
    /// the largest one.
    fn worst(&self, _point: usize) -> Option<Cost> {
        None
    }

    /// What a leaf that holds these points and answers `label` costs: what `check` trusts.
    fn cost(&self, points: &[u32], _label: u32) -> Cost {
        if points.is_empty() { 0 } else { self.leaf(&self.sum_of(points)).cost }
    }

    /// What a leaf with these sums adds to the loss that is shown.
    fn loss_shown(&self, stats: &[i64]) -> Cost {
        self.leaf(stats).cost
    }

    /// What a tree shows at a node with these points and their summed statistics, in the user's
    /// units: row weight by class, cost beyond the least possible by label, or means.
    fn shown(&self, points: &[u32], stats: &[i64]) -> Vec<f64>;

    /// What is known of the statistics beyond this contract: there are faster kernels for some.
    fn structure(&self) -> Structure<'_> {
        Structure::Sums
    }

    /// Called with the cost of a leaf and of its two parts wherever a kernel has all three.
    fn check_union(&self, _union: Cost, _a: Cost, _b: Cost) {}

    /// The task that this one stands for, if it does for another.
    fn inner(&self) -> Option<Arc<dyn Task>> {
        None
    }

    /// Why the task cannot go on, if so: it broke its contract, or what it calls has failed.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// The summed statistics of some points.
    fn sum_of(&self, points: &[u32]) -> Vec<i64> {
        let mut sum = vec![0; self.width()];
        for &point in points {
            sum.iter_mut().zip(self.stats(point as usize)).for_each(|(sum, s)| *sum += s);
        }
        sum
    }
}

/// A task that answers with one of a few labels: cost(S) = min over labels of the sum of each
/// point's loss. Losses are never negative, and some point may have none that is zero (equal rows
/// of two classes).
pub trait Labelled: Task {
    fn n_labels(&self) -> usize;

    /// The loss of one point under a label, which is below `n_labels()`.
    fn loss(&self, point: usize, label: u32) -> Cost;

    /// The losses of one point under all labels.
    fn losses(&self, point: usize, out: &mut [Cost]) {
        for (label, loss) in out.iter_mut().enumerate() {
            *loss = self.loss(point, label as u32);
        }
    }
}

/// What statistics are, so that kernels can be chosen: `kernel::bits` and `kernel::ranks` do, each
/// in one place.
#[derive(Clone, Copy)]
pub enum Structure<'a> {
    /// Numbers that add up, and nothing more.
    Sums,
    /// Whole numbers of at least 0 that count rows, such as weights by class: kernels count bits
    /// instead of adding.
    Counts,
    /// Losses by label.
    Labels(&'a dyn Labelled),
    /// Weights by class: rows are counted instead of added.
    Classes(&'a ClassCosts),
    /// Weights, sums and squares of numbers.
    Squares(&'a Squares),
}

impl<'a> Structure<'a> {
    /// The losses by label, if answers are labels.
    pub fn labelled(self) -> Option<&'a dyn Labelled> {
        match self {
            Structure::Labels(task) => Some(task),
            Structure::Classes(task) => Some(task),
            _ => None,
        }
    }

    pub fn classes(self) -> Option<&'a ClassCosts> {
        if let Structure::Classes(classes) = self { Some(classes) } else { None }
    }

    pub fn squares(self) -> Option<&'a Squares> {
        if let Structure::Squares(squares) = self { Some(squares) } else { None }
    }

    /// How many labels there are; 0 where the answer is no label.
    pub fn n_labels(self) -> usize {
        self.labelled().map_or(0, |task| task.n_labels())
    }
}
