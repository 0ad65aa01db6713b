//! A task of sums or counts in units that are so many times finer, so that what rows pay beside its
//! leaves can be told in them.

use super::contract::{Structure, Task};
use super::leaf::Leaf;
use crate::cost::Cost;
use crate::error::Error;

pub(super) struct Finer {
    inner: Box<dyn Task>,
    times: Cost,
}

impl Finer {
    pub(super) fn new(inner: Box<dyn Task>, times: Cost) -> Finer {
        debug_assert!(times > 0, "a unit has parts");
        Finer { inner, times }
    }

    /// A cost that is none stays one, for whoever checks them.
    fn finer(&self, cost: Cost) -> Cost {
        cost.saturating_mul(self.times)
    }
}

impl Task for Finer {
    fn n_points(&self) -> usize {
        self.inner.n_points()
    }

    fn width(&self) -> usize {
        self.inner.width()
    }

    fn stats(&self, point: usize) -> &[i64] {
        self.inner.stats(point)
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
        let leaf = self.inner.leaf(stats);
        Leaf { cost: self.finer(leaf.cost), ..leaf }
    }

    fn leaf_costs(&self, sums: &[i64], costs: &mut [Cost]) {
        self.inner.leaf_costs(sums, costs);
        costs.iter_mut().for_each(|cost| *cost = self.finer(*cost));
    }

    fn leaves_at_once(&self) -> usize {
        self.inner.leaves_at_once()
    }

    fn takes_empty_leaves(&self) -> bool {
        self.inner.takes_empty_leaves()
    }

    fn rounding(&self) -> Cost {
        self.finer(self.inner.rounding())
    }

    fn worst(&self, point: usize) -> Option<Cost> {
        self.inner.worst(point).map(|cost| self.finer(cost))
    }

    fn shown(&self, points: &[u32], stats: &[i64]) -> Vec<f64> {
        self.inner.shown(points, stats)
    }

    fn structure(&self) -> Structure<'_> {
        match self.inner.structure() {
            Structure::Counts => Structure::Counts,
            _ => Structure::Sums,
        }
    }

    fn failure(&self) -> Option<Error> {
        self.inner.failure()
    }
}
