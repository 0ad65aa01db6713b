//! The kernel of any additive task, and leaves that are costed many at a time.

use crate::cost::Cost;
use crate::kernel::ranks::pair_room::PairBytes;
use crate::task::Task;
use crate::view::RankNode;

/// Leaves are costed together once there are so many: a task may be asked at some expense.
pub const BATCH: usize = 1 << 12;

/// Of the root's rows, which are the points.
pub struct SumsKernel<'a> {
    pub(super) task: &'a dyn Task,
    pub(super) leaf_cost: Cost,
    /// Whether some point costs something as a leaf of its own.
    pub(super) has_floor: bool,
    /// Blocks of an axis, if they are not chosen by the number of rows.
    blocks: Option<usize>,
    /// Bytes that a subproblem may take for what it knows by pair of axes.
    room: usize,
}

impl<'a> SumsKernel<'a> {
    pub fn new(task: &'a dyn Task, leaf_cost: Cost, blocks: Option<usize>, room: usize) -> Self {
        let has_floor = (0..task.n_points()).any(|point| task.least(point) > 0);
        SumsKernel { task, leaf_cost, has_floor, blocks, room }
    }

    pub(super) fn width(&self) -> usize {
        self.task.width()
    }

    pub(super) fn most_blocks(&self, node: &RankNode) -> usize {
        self.blocks.unwrap_or(match node.len() {
            ..200 => 8,
            200..2000 => 16,
            _ => 32,
        })
    }

    /// What is known by pair of a node's axes.
    pub(super) fn pair_bytes(&self, node: &RankNode) -> PairBytes {
        let boundaries = self.most_blocks(node) + 1;
        let cells = boundaries * boundaries;
        PairBytes::of_tables(node.axes.len(), boundaries, (cells, self.width()), self.room)
    }
}

/// Leaves side by side, statistic by statistic, until they are costed.
#[derive(Default)]
pub struct Leaves {
    /// By leaf, then statistic: a leaf is pushed as one.
    pushed: Vec<i64>,
    sums: Vec<i64>,
    pub costs: Vec<Cost>,
}

impl Leaves {
    pub fn clear(&mut self) {
        self.pushed.clear();
        self.costs.clear();
    }

    pub fn push(&mut self, sums: impl Iterator<Item = i64>) {
        self.pushed.extend(sums);
    }

    pub fn len(&self, width: usize) -> usize {
        self.pushed.len() / width
    }

    /// What each leaf costs, without penalties, in the order in which they were pushed.
    pub fn cost(&mut self, task: &dyn Task) -> &[Cost] {
        let width = task.width();
        let n = self.len(width);
        self.sums.clear();
        for statistic in 0..width {
            self.sums.extend(self.pushed.iter().skip(statistic).step_by(width));
        }
        self.costs.clear();
        self.costs.resize(n, 0);
        if n > 0 {
            task.leaf_costs(&self.sums, &mut self.costs);
        }
        &self.costs
    }

    pub fn bytes(&self) -> usize {
        8 * (self.pushed.capacity() + self.sums.capacity() + self.costs.capacity())
    }
}
