//! A task on fewer points: some are left out, and some stand together as one.
//!
//! Statistics add up, so a point that stands for several has the sum of theirs, and a leaf costs
//! what it did. What dividing a leaf may do is the same of any sets of points.

use std::sync::Arc;

use super::contract::{Structure, Task};
use super::leaf::Leaf;
use super::merging::Merging;
use super::rough::Rough;
use super::rows::RowCosts;
use crate::cost::Cost;
use crate::error::Error;

/// The task on these points. Floors, which are a guess, are left behind.
pub fn merged(task: &Arc<dyn Task>, merging: &Merging) -> Box<dyn Task> {
    match task.structure() {
        Structure::Classes(classes) => Box::new(classes.merged(merging)),
        Structure::Squares(squares) => Box::new(squares.merged(merging)),
        Structure::Labels(labelled) => {
            let n_labels = labelled.n_labels();
            let mut losses = vec![0; task.n_points() * n_labels];
            for (point, losses) in losses.chunks_exact_mut(n_labels).enumerate() {
                labelled.losses(point, losses);
            }
            let of = |point: usize| &losses[point * n_labels..][..n_labels];
            Box::new(RowCosts::of_regrets(n_labels, merging.sums(n_labels, of)))
        }
        Structure::Sums | Structure::Counts => {
            // What rounding is worth is charged again.
            Box::new(Merged::new(task.inner().unwrap_or_else(|| task.clone()), merging))
        }
    }
}

/// Any task of sums or counts on fewer points.
struct Merged {
    inner: Arc<dyn Task>,
    stats: Vec<i64>,
    /// By point, if the task knows them.
    worst: Vec<Option<Cost>>,
}

impl Merged {
    fn new(inner: Arc<dyn Task>, merging: &Merging) -> Merged {
        let stats = merging.sums(inner.width(), |point| inner.stats(point));
        let mut worst = vec![Some(0); merging.n];
        for (&point, &new) in merging.points.iter().zip(merging.new) {
            let of_all: &mut Option<Cost> = &mut worst[new as usize];
            // Whoever loses all of them loses one after the other.
            *of_all = of_all.zip(inner.worst(point as usize)).map(|(a, b)| a.saturating_add(b));
        }
        Merged { inner, stats, worst }
    }
}

impl Task for Merged {
    fn n_points(&self) -> usize {
        self.worst.len()
    }

    fn width(&self) -> usize {
        self.inner.width()
    }

    fn stats(&self, point: usize) -> &[i64] {
        &self.stats[point * self.width()..][..self.width()]
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
        self.inner.leaf(stats)
    }

    fn leaf_costs(&self, sums: &[i64], costs: &mut [Cost]) {
        self.inner.leaf_costs(sums, costs);
    }

    fn leaves_at_once(&self) -> usize {
        self.inner.leaves_at_once()
    }

    fn takes_empty_leaves(&self) -> bool {
        self.inner.takes_empty_leaves()
    }

    /// Statistics are those of points, or sums of them.
    fn rough(&self) -> Option<&Rough> {
        self.inner.rough()
    }

    fn rounding(&self) -> Cost {
        self.inner.rounding()
    }

    fn worst(&self, point: usize) -> Option<Cost> {
        self.worst[point]
    }

    /// Nobody sees a tree of fewer points.
    fn shown(&self, _points: &[u32], _stats: &[i64]) -> Vec<f64> {
        Vec::new()
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
