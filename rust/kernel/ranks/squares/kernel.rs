//! The kernel of squared errors, and a node's rows by blocks of each axis.

use crate::cost::Cost;
use crate::kernel::ranks::pair_room::PairBytes;
use crate::task::Squares;
use crate::view::RankNode;

/// Lanes that are worked on together.
pub const LANES: usize = 8;

/// Of the root's rows, which are the points.
pub struct SquaresKernel<'a> {
    pub(super) task: &'a Squares,
    pub(super) leaf_cost: Cost,
    /// Blocks of an axis, if they are not chosen by the number of rows.
    blocks: Option<usize>,
    /// Bytes that a subproblem may take for what it knows by pair of axes.
    room: usize,
    /// Whether neighbouring cuts are looked at together.
    pub(super) together: bool,
}

impl<'a> SquaresKernel<'a> {
    pub fn new(
        task: &'a Squares,
        leaf_cost: Cost,
        blocks: Option<usize>,
        (room, together): (usize, bool),
    ) -> Self {
        SquaresKernel { task, leaf_cost, blocks, room, together }
    }

    pub(super) fn outputs(&self) -> usize {
        self.task.n_outputs()
    }

    /// Statistics of a row.
    pub(super) fn width(&self) -> usize {
        self.task.width()
    }

    /// Rows with these statistics as one leaf, without its penalty.
    pub(super) fn cost(&self, stats: &[i64]) -> Cost {
        self.task.leaf(stats).cost
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
        let cells = boundaries * boundaries.next_multiple_of(LANES);
        PairBytes::of_tables(node.axes.len(), boundaries, (cells, self.width()), self.room)
    }

    /// What floats and rounded gains of rows with this much q may be off by, for two leaves. A gain
    /// is off by a few roundings for each output, q by one.
    pub(super) fn margin(&self, q: Cost) -> f64 {
        let m = self.outputs() as f64;
        2.0 * m + 2.0 + (16.0 + m) * f64::EPSILON * q as f64
    }
}
