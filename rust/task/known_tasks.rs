//! The two tasks that kernels know by name, as tasks: classes, and squares.
//!
//! Both say what they are in their own files (`class_costs.rs`, `squares.rs`); here each method
//! only passes on, so that [`Structure`] can name their types without a cycle of imports.

use super::class_costs::ClassCosts;
use super::contract::{Labelled, Structure, Task};
use super::leaf::Leaf;
use super::squares::Squares;
use crate::cost::Cost;

impl Task for ClassCosts {
    fn n_points(&self) -> usize {
        ClassCosts::n_points(self)
    }

    fn width(&self) -> usize {
        self.n_classes()
    }

    fn stats(&self, point: usize) -> &[i64] {
        self.weights(point)
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
        ClassCosts::leaf(self, stats)
    }

    fn least(&self, point: usize) -> Cost {
        ClassCosts::least(self, point)
    }

    fn worst(&self, point: usize) -> Option<Cost> {
        (0..self.n_labels() as u32).map(|label| self.loss(point, label)).max()
    }

    fn cost(&self, points: &[u32], label: u32) -> Cost {
        points.iter().map(|&point| self.loss(point as usize, label)).sum()
    }

    fn shown(&self, _points: &[u32], stats: &[i64]) -> Vec<f64> {
        stats.iter().map(|&s| s as f64 / self.weight_units()).collect()
    }

    fn structure(&self) -> Structure<'_> {
        Structure::Classes(self)
    }
}

impl Labelled for ClassCosts {
    fn n_labels(&self) -> usize {
        ClassCosts::n_labels(self)
    }

    fn loss(&self, point: usize, label: u32) -> Cost {
        ClassCosts::loss(self, point, label)
    }

    fn losses(&self, point: usize, out: &mut [Cost]) {
        ClassCosts::losses(self, point, out);
    }
}

impl Task for Squares {
    fn n_points(&self) -> usize {
        Squares::n_points(self)
    }

    fn width(&self) -> usize {
        Squares::width(self)
    }

    fn stats(&self, point: usize) -> &[i64] {
        Squares::stats(self, point)
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
        Squares::leaf(self, stats)
    }

    fn cost(&self, points: &[u32], _label: u32) -> Cost {
        Squares::cost(self, points)
    }

    fn least(&self, point: usize) -> Cost {
        self.floor(self.stats(point))
    }

    fn worst(&self, point: usize) -> Option<Cost> {
        Some(self.worst_of(point))
    }

    fn shown(&self, points: &[u32], stats: &[i64]) -> Vec<f64> {
        Squares::shown(self, points, stats)
    }

    fn structure(&self) -> Structure<'_> {
        Structure::Squares(self)
    }
}
