//! Which kernel on ranks a task is searched with.

use super::labels::{LabelKernel, LabelRows, MOST_LABELS};
use super::rank_kernel::{RankKernel, RankRows};
use super::squares::SquaresKernel;
use super::sums::SumsKernel;
use crate::bits::Level;
use crate::cost::Cost;
use crate::error::Result;
use crate::problem::{Problem, Shape};
use crate::task::{Labelled, Structure, Task};

/// What is done with the kernel of a problem.
pub trait WithKernel {
    type Output;

    /// Asked before the kernel is made: an error if there is no room for these rows.
    fn prepare(&mut self, rows: &RankRows) -> Result<()>;

    /// Bytes that a subproblem may take for what it knows by pair of axes.
    fn room_for_pairs(&self) -> usize;

    /// Whether kernels may look at neighbouring cuts together.
    fn together(&self) -> bool;

    fn run<K: RankKernel>(self, rows: RankRows, kernel: &K) -> Result<Self::Output>;
}

/// Whether there is a kernel for the task.
pub fn takes(task: &dyn Task) -> bool {
    match task.structure() {
        Structure::Squares(_) | Structure::Sums | Structure::Counts => true,
        Structure::Labels(_) | Structure::Classes(_) => {
            (1..=MOST_LABELS).contains(&task.structure().n_labels())
        }
    }
}

/// Run `work` with the kernel of a problem that one `takes`. `blocks`: how many the cuts of a
/// feature are put into, if that is not left to the kernel.
pub fn with_kernel<W: WithKernel>(
    problem: &Problem,
    blocks: Option<usize>,
    level: Level,
    mut work: W,
) -> Result<W::Output> {
    let (task, leaf_cost) = (problem.task.as_ref(), problem.leaf_cost);
    if let Structure::Squares(squares) = task.structure() {
        let rows = points_as_rows(task);
        work.prepare(&rows)?;
        let how = (work.room_for_pairs(), work.together());
        let kernel = SquaresKernel::new(squares, leaf_cost, blocks, how);
        return work.run(rows, &kernel);
    }
    if let Structure::Sums | Structure::Counts = task.structure() {
        let rows = points_as_rows(task);
        work.prepare(&rows)?;
        let kernel = SumsKernel::new(task, leaf_cost, blocks, work.room_for_pairs());
        return work.run(rows, &kernel);
    }
    let labelled: &dyn Labelled = problem.labelled().expect("a task that has a kernel");
    let Shape { max_depth: _, max_leaves, min_leaf_rows } = problem.shape;
    let limits_leaves = min_leaf_rows > 1 || max_leaves.is_some();
    let labels = LabelRows::of(labelled, min_leaf_rows > 1);
    let rows = labels.as_rows();
    work.prepare(&rows)?;
    let blocks = (blocks, work.room_for_pairs());
    if labels.fits::<i16>() {
        work.run(rows, &LabelKernel::<i16>::new(&labels, leaf_cost, blocks, level))
    } else if labels.fits::<i32>() {
        work.run(rows, &LabelKernel::<i32>::new(&labels, leaf_cost, blocks, level))
    } else if let Some(unit) = labels.narrow_unit().filter(|_| !limits_leaves) {
        // Only questions of depth two are settled exactly, and limits ask for smaller ones, too.
        work.run(rows, &LabelKernel::narrowed((&labels, unit), leaf_cost, blocks, level))
    } else {
        work.run(rows, &LabelKernel::<i64>::new(&labels, leaf_cost, blocks, level))
    }
}

/// A row for each point.
fn points_as_rows(task: &dyn Task) -> RankRows {
    let points: Vec<u32> = (0..task.n_points() as u32).collect();
    let worst = points.iter().map(|&p| task.worst(p as usize).unwrap_or(Cost::MAX)).collect();
    RankRows { points, worst, base: 0, bytes: 0 }
}
