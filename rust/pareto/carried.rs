//! The statistics of a partly ordered task as an additive task, alone and beside those of its
//! relaxation.

use std::sync::Arc;

use crate::cost::Cost;
use crate::error::Error;
use crate::task::{FrontTask, Leaf, Structure, Task};

/// Statistics that cost nothing: the relaxation of a task that has none.
pub struct FreeStatistics<T> {
    task: Arc<T>,
    /// True if statistics are small counts, which are cheaper to count than to add.
    counts: bool,
}

impl<T: FrontTask> FreeStatistics<T> {
    pub fn new(task: Arc<T>) -> Self {
        let n = task.n_points();
        let all = || (0..n).flat_map(|point| task.stats(point));
        // A count stands in a view once for each bit that it has.
        let bits: usize = all().map(|s| s.count_ones() as usize).sum();
        let counts = all().all(|&s| s >= 0) && bits <= 2 * n;
        FreeStatistics { task, counts }
    }
}

impl<T: FrontTask> Task for FreeStatistics<T> {
    fn n_points(&self) -> usize {
        self.task.n_points()
    }

    fn width(&self) -> usize {
        self.task.width()
    }

    fn stats(&self, point: usize) -> &[i64] {
        self.task.stats(point)
    }

    fn leaf(&self, _stats: &[i64]) -> Leaf {
        Leaf { cost: 0, label: 0 }
    }

    fn leaf_costs(&self, _sums: &[i64], costs: &mut [Cost]) {
        costs.fill(0);
    }

    fn shown(&self, _points: &[u32], stats: &[i64]) -> Vec<f64> {
        self.task.shown(stats)
    }

    fn structure(&self) -> Structure<'_> {
        if self.counts { Structure::Counts } else { Structure::Sums }
    }
}

/// The statistics of a partly ordered task, and those of its relaxation behind them. It costs what
/// the relaxation does.
pub struct Beside<T> {
    task: Arc<T>,
    relaxation: Box<dyn Task>,
    /// By point: both lists of statistics.
    stats: Vec<i64>,
}

impl<T: FrontTask> Beside<T> {
    pub fn new(task: Arc<T>, relaxation: Box<dyn Task>) -> Self {
        let both = |point| task.stats(point).iter().chain(relaxation.stats(point)).copied();
        let stats = (0..task.n_points()).flat_map(both).collect();
        Beside { task, relaxation, stats }
    }
}

impl<T: FrontTask> Task for Beside<T> {
    fn n_points(&self) -> usize {
        self.task.n_points()
    }

    fn width(&self) -> usize {
        self.task.width() + self.relaxation.width()
    }

    fn stats(&self, point: usize) -> &[i64] {
        &self.stats[point * self.width()..][..self.width()]
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
        self.relaxation.leaf(&stats[self.task.width()..])
    }

    fn leaf_costs(&self, sums: &[i64], costs: &mut [Cost]) {
        self.relaxation.leaf_costs(&sums[self.task.width() * costs.len()..], costs);
    }

    fn rounding(&self) -> Cost {
        self.relaxation.rounding()
    }

    fn least(&self, point: usize) -> Cost {
        self.relaxation.least(point)
    }

    fn worst(&self, point: usize) -> Option<Cost> {
        self.relaxation.worst(point)
    }

    fn shown(&self, _points: &[u32], stats: &[i64]) -> Vec<f64> {
        self.task.shown(&stats[..self.task.width()])
    }

    fn failure(&self) -> Option<Error> {
        self.relaxation.failure()
    }
}

/// True if a relaxation has the very statistics of a task, in the order in which a search sums
/// them.
pub fn has_statistics_of<T: FrontTask>(relaxation: &dyn Task, task: &T) -> bool {
    let points = 0..task.n_points();
    let equal = |of: &dyn Fn(usize, &[i64]) -> bool| {
        relaxation.width() == task.width()
            && points.clone().all(|point| {
                let stats = task.stats(point);
                relaxation.stats(point) == stats && of(point, stats)
            })
    };
    match relaxation.structure() {
        Structure::Classes(classes) => equal(&|point, stats| classes.weights(point) == stats),
        Structure::Labels(labelled) => equal(&|point, stats| {
            let mut losses = vec![0; labelled.n_labels()];
            labelled.losses(point, &mut losses);
            losses == stats
        }),
        Structure::Sums | Structure::Counts => relaxation.rounding() == 0 && equal(&|_, _| true),
        Structure::Squares(_) => false,
    }
}
