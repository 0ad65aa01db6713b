//! Classes cut into groups: cost(S, k) as for classes, but a class stands there once for each group
//! of rows that a constraint tells apart. What a node shows is summed over the groups again.

use super::class_costs::ClassCosts;
use super::contract::{Structure, Task};
use super::leaf::Leaf;
use crate::cost::{Cost, sum};

pub struct Grouped {
    inner: ClassCosts,
    /// By class: the class that the user knows. Those that are not listed are not shown.
    class_of: Vec<u32>,
    /// What to show instead of integer weights: row weight by point and class that the user knows.
    weights: Option<Vec<f64>>,
}

impl Grouped {
    pub fn new(inner: ClassCosts, class_of: Vec<u32>) -> Self {
        assert!(inner.n_classes() >= class_of.len());
        Grouped { inner, class_of, weights: None }
    }

    /// As above, with weights that are shown as they are: by point and class, which are cut into
    /// groups.
    pub fn showing(inner: ClassCosts, class_of: Vec<u32>, weights: Vec<f64>) -> Self {
        Grouped { inner, class_of, weights: Some(weights) }
    }
}

impl Task for Grouped {
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
        self.inner.leaf(stats)
    }

    fn least(&self, point: usize) -> Cost {
        self.inner.least(point)
    }

    fn worst(&self, point: usize) -> Option<Cost> {
        self.inner.worst(point)
    }

    fn cost(&self, points: &[u32], label: u32) -> Cost {
        Task::cost(&self.inner, points, label)
    }

    fn shown(&self, points: &[u32], stats: &[i64]) -> Vec<f64> {
        let n = self.class_of.iter().max().map_or(0, |&class| class as usize + 1);
        if let Some(weights) = &self.weights {
            let by_point =
                |&point: &u32| weights.chunks_exact(self.class_of.len()).nth(point as usize);
            let own: Vec<&[f64]> = points.iter().filter_map(by_point).collect();
            let of = |class: usize| {
                (0..self.class_of.len()).filter(move |&c| self.class_of[c] as usize == class)
            };
            let weigh = |class| sum(own.iter().flat_map(|point| of(class).map(|c| point[c])));
            return (0..n).map(weigh).collect();
        }
        let mut sums = vec![0; n];
        for (&class, weight) in self.class_of.iter().zip(stats) {
            sums[class as usize] += weight;
        }
        sums.iter().map(|&sum| sum as f64 / self.inner.weight_units()).collect()
    }

    fn structure(&self) -> Structure<'_> {
        Structure::Classes(&self.inner)
    }
}
