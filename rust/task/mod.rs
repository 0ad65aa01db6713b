//! What a tree is asked to do well. A task turns a set of points into the cost of one leaf.
//!
//! To add a task whose cost is a sum over rows: write one file with its formula on top, implement
//! [`Task`] in it, and add it to the list below. Nothing else needs to know: searches, bounds and the
//! checker see only the trait.

mod classes;
mod counted;
mod grouped;
mod rows;
mod squares;
mod test_costs;
mod twofold;

pub use classes::{ClassCosts, ClassInput};
pub use counted::{CountedInput, SHARES};
pub use grouped::Grouped;
pub use rows::{RowCosts, Weighed};
pub use squares::{Squares, SquaresInput};
pub use test_costs::{Price, PriceInput, PriceList, TestCosts};

use crate::cost::{Cost, Scale};

/// The cheapest answer for a set of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    pub cost: Cost,
    pub label: u32,
}

/// A task whose cost is a sum over leaves. A leaf's is a function of its points' summed statistics, which are
/// integers, and dividing a leaf never raises it: cost(A ∪ B) ≥ cost(A) + cost(B).
///
/// Most tasks answer with one of a few labels: cost(S) = min over labels of the sum of each point's loss.
/// Losses are never negative, and some point may have none that is zero (equal rows of two classes).
/// Regression answers with a number and has no labels.
pub trait Task: Send + Sync {
    /// How many points the task knows the losses of.
    fn n_points(&self) -> usize;

    /// How many statistics describe a set of points.
    fn width(&self) -> usize;

    /// The statistics of one point; `width()` of them.
    fn stats(&self, point: usize) -> &[i64];

    /// The best label for points with these summed statistics; the lowest label among equals, and 0 where
    /// there are none.
    fn leaf(&self, stats: &[i64]) -> Leaf;

    /// What a leaf that holds these points and answers `label` costs, from each point by itself: what
    /// `check` trusts.
    fn cost(&self, points: &[u32], label: u32) -> Cost {
        points.iter().map(|&point| self.loss(point as usize, label)).sum()
    }

    /// How many labels there are; 0 where the answer is a number.
    fn n_labels(&self) -> usize {
        0
    }

    /// The loss of one point under a label, which is below `n_labels()`.
    fn loss(&self, _point: usize, label: u32) -> Cost {
        unreachable!("label {label} of a task without labels")
    }

    /// The losses of one point under all labels.
    fn losses(&self, point: usize, out: &mut [Cost]) {
        for (label, loss) in out.iter_mut().enumerate() {
            *loss = self.loss(point, label as u32);
        }
    }

    /// The least loss that any label gives this point: E of the equivalent-points bound. Or its floor, where a reference
    /// gave it one (`guess.rs`).
    fn least(&self, point: usize) -> Cost {
        (0..self.n_labels() as u32).map(|label| self.loss(point, label)).min().unwrap_or(0)
    }

    /// The largest loss that any label, or the mean of any points, gives this point.
    fn worst(&self, point: usize) -> Cost {
        (0..self.n_labels() as u32).map(|label| self.loss(point, label)).max().unwrap_or(0)
    }

    /// What a tree shows at a node with these points and their summed statistics, in the user's units: row
    /// weight by class, cost beyond the least possible by label, or means.
    fn shown(&self, points: &[u32], stats: &[i64]) -> Vec<f64>;

    /// The class structure, if statistics are class counts: the bit kernels count instead of adding.
    fn classes(&self) -> Option<&ClassCosts> {
        None
    }

    /// The squared errors, if statistics are sums of numbers.
    fn squares(&self) -> Option<&Squares> {
        None
    }
}

/// A task together with the unit its costs are in.
pub struct Scaled {
    pub task: Box<dyn Task>,
    /// λ in units.
    pub leaf_cost: Cost,
    pub scale: Scale,
    /// What splits cost beside their leaves, if they do.
    pub test_costs: Option<TestCosts>,
}
