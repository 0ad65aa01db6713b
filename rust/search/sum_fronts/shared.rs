//! The state that all workers of one search share.

use super::axes::Axes;
use super::known::KnownFronts;
use crate::kernel::Unfinished;
use crate::problem::{Problem, Shape};
use crate::run::{Run, Status};
use crate::view::BitView;

/// The run was stopped, so that nothing is known of what was being worked on.
#[derive(Debug)]
pub struct Stopped;

pub struct Shared<'a, 'run> {
    pub axes: &'a Axes,
    pub bits: &'a BitView,
    pub run: &'a Run<'run>,
    pub known: KnownFronts<'a, 'run>,
    pub min_rows: i64,
    pub depth: u32,
    /// Whether trees are told apart by their leaves: they are an axis, or their number is limited.
    pub counts_leaves: bool,
    /// Whether rows that are alike have fronts that are alike.
    pub has_similarity: bool,
    max_leaves: u32,
}

impl<'a, 'run> Shared<'a, 'run> {
    pub fn new(
        problem: &'a Problem,
        axes: &'a Axes,
        bits: &'a BitView,
        run: &'a Run<'run>,
    ) -> Self {
        let Shape { max_depth: _, max_leaves, min_leaf_rows } = problem.shape;
        let max_leaves = max_leaves.unwrap_or(u32::MAX);
        let depth = depth_of(problem);
        let all = 1u32.checked_shl(depth).unwrap_or(u32::MAX);
        Shared {
            axes,
            bits,
            run,
            known: KnownFronts::new(run),
            min_rows: min_leaf_rows.min(i64::MAX as u64) as i64,
            depth,
            counts_leaves: axes.leaves || max_leaves < all,
            has_similarity: min_leaf_rows <= 1 && problem.context.is_none(),
            max_leaves,
        }
    }

    /// The number of leaves of one leaf, as entries count them.
    pub fn one_leaf(&self) -> u32 {
        u32::from(self.counts_leaves)
    }

    /// The most leaves of a subtree with so many levels of splits: each level above it has a leaf
    /// of its own at least.
    pub fn most_leaves(&self, depth: u32) -> u32 {
        let all = 1u32.checked_shl(depth).unwrap_or(u32::MAX);
        all.min(self.max_leaves.saturating_sub(self.depth - depth)).max(1)
    }

    /// As above; 0 where leaves do not count.
    pub fn counted_leaves(&self, depth: u32) -> u32 {
        if self.counts_leaves { self.most_leaves(depth) } else { 0 }
    }

    /// Go on if there is memory, if need be without the fronts that are known.
    pub fn check_room(&self) -> Result<(), Stopped> {
        if !self.run.fits(0) {
            self.known.clear();
            if !self.run.fits(0) {
                self.run.stop(Status::MemoryLimit);
                return Err(Stopped);
            }
        }
        Ok(())
    }

    /// End the search because a kernel did not come to its end.
    pub fn give_up(&self, why: Unfinished) -> Stopped {
        match why {
            Unfinished::NoMemory => self.run.stop(Status::MemoryLimit),
            Unfinished::Stopped | Unfinished::TaskFailed => self.run.stop(Status::Interrupted),
        }
        Stopped
    }
}

/// How many levels of splits a tree can have.
pub fn depth_of(problem: &Problem) -> u32 {
    let by_leaves = problem.shape.max_leaves.map_or(u32::MAX, |most| most.saturating_sub(1));
    problem.shape.max_depth.unwrap_or(u32::MAX).min(by_leaves)
}
