//! Tasks that choose a label for each leaf: cost(S) = min over labels of the sum of each row's
//! loss.
//!
//! Only what a point's losses are beyond its least one counts here; the rest is paid by every tree.
//! Turned around, a row *gains* when its leaf takes its label: cost(S) = Σ worst − max over labels
//! k of Σ gain of label k. A point of one class gains with one label only, so it is one row for any
//! number of classes.

mod added;
mod axes;
mod flags;
mod grid;
mod kernel;
mod known;
mod label_pairs;
mod line;
mod look;
mod many;
mod pairs;
mod rows;
mod scan;
mod sweep;
mod two;
mod unit;

pub use kernel::{LabelKernel, LabelRows, MOST_LABELS};

use std::ops::Range;

use crate::bounds::Decisions;
use crate::cost::Cost;
use crate::kernel::look::Halt;
use crate::kernel::ranks::rank_kernel::{Cheapest, RankKernel, stump_plan};
use crate::tree::Plan;
use crate::view::{Part, RankNode};
use flags::Flags;
use grid::Grid;
use kernel::Label;
use pairs::Stumps;
use two::{Question, Two};
use unit::{LANES, Unit};

impl<T: Unit> RankKernel for LabelKernel<T> {
    type Grid = Grid<T>;
    type Two = Two<T>;

    fn leaf_cost(&self) -> Cost {
        self.leaf_cost
    }

    fn leaf(&self, rows: &[u32]) -> Cost {
        if let Some(exact) = &self.exact {
            return exact.leaf(rows);
        }
        let mut gains = vec![0; self.n_labels];
        let mut worst = 0;
        for &row in rows {
            gains[usize::from(self.label[row as usize])] += self.gain[row as usize].cost();
            worst += self.worst[row as usize].cost();
        }
        let most = gains.into_iter().max().unwrap_or(0);
        (worst - most) * self.unit + self.leaf_cost
    }

    fn stump(&self, node: &RankNode, grid: &Grid<T>) -> (Cost, Plan) {
        let (all, unknown) = (|_| true, |_| 0);
        let (cost, split) = scan::best_stump(self, node, grid, all, unknown);
        (cost, stump_plan(split))
    }

    fn cheapest(&self, rows: &[u32], ends: &[u32], enough: Range<usize>) -> [Cheapest; 2] {
        self.cheapest_split(rows, ends, enough)
    }

    fn grid(&self, node: &RankNode) -> Grid<T> {
        Grid::of(node, self.most_blocks(node), self)
    }

    fn grid_bytes(&self, grid: &Grid<T>) -> usize {
        grid.bytes()
    }

    fn bytes_for(&self, node: &RankNode) -> [usize; 2] {
        let (n, p, one) = (node.len(), node.axes.len(), size_of::<T>());
        let most = self.most_blocks(node);
        let width = (most + 1).next_multiple_of(LANES);
        let exact = if self.exact.is_some() { 2 * size_of::<Cost>() } else { 0 };
        let row = size_of::<Label>() + 2 * one + exact;
        let grid = p * n + n * row + p * most * (4 + one);
        // Codes and rows, bounds by pair of axes, all lines, and a counted pair or what is walked
        // along.
        let best = p * (6 * width * one + size_of::<Stumps<T>>());
        let all = p * n + n * (row + 4) + best + self.pair_bytes(node).bytes();
        let two = if self.n_labels == 2 {
            let flags = node.axes.iter().filter(|axis| axis.n_ranks() == 2).count();
            let flags = Flags::<T>::bytes_for(p, flags, n, most);
            let added = LANES * LANES * one + p * (4 * n + 16 * (most + 1));
            all + 6 * most * width * one + p * n * (5 + 5 * one) + added + flags
        } else {
            let labels = self.n_labels.min(n) + 1;
            all + p * n * (13 + 3 * one)
                + p * (labels + 3) * width * one
                + p * p
                + 2 * n * (4 + one)
                + labels * (4 * most + 7 * one + 4)
        };
        [grid, two]
    }

    fn begin(&self, part: Part, grid: &Grid<T>, two: &mut Two<T>, target: Cost, halt: Halt) {
        two.begin(Question { kernel: self, part, grid }, target, halt);
    }

    fn raise(&self, part: Part, grid: &Grid<T>, two: &mut Two<T>, target: Cost, halt: Halt) {
        two.raise(Question { kernel: self, part, grid }, target, halt);
    }

    fn is_spent(&self, two: &Two<T>) -> bool {
        two.rests || two.lower >= two.upper
    }

    fn settle(&self, part: Part, grid: &Grid<T>, two: &mut Two<T>, halt: Halt) {
        two.settle(Question { kernel: self, part, grid }, halt);
    }

    fn decided(&self, two: &Two<T>) -> Decisions {
        two.decided()
    }

    fn lower(&self, two: &Two<T>) -> Cost {
        two.lower
    }

    fn upper(&self, two: &Two<T>) -> Cost {
        two.upper
    }

    fn two_bytes(&self, two: &Two<T>) -> usize {
        two.bytes()
    }

    fn plan(&self, part: Part, grid: &Grid<T>, two: &mut Two<T>) -> (Cost, Plan) {
        let (cost, plan) = two.plan(self, part, grid);
        two.upper = two.upper.min(cost);
        (cost, plan)
    }
}
