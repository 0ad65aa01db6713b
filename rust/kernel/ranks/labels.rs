//! Tasks that choose a label for each leaf: cost(S) = min over labels of the sum of each row's loss.
//!
//! Only what a point's losses are beyond its least one counts here; the rest is paid by every tree. Turned
//! around, a row *gains* when its leaf takes its label: cost(S) = Σ worst − max over labels k of Σ gain of
//! label k. A point of one class gains with one label only, so it is one row for any number of classes.

use super::flags::Flags;
use super::grid::{Grid, LANES};
use super::two::Two;
use super::unit::{Unit, most};
use super::{Halt, RankKernel, scan, stump_plan};
use crate::bits::Level;
use crate::cost::{Cost, gcd};
use crate::problem::Problem;
use crate::tree::Plan;
use crate::view::{Part, RankNode};

pub type Label = u16;

/// The labels that a row can name.
pub const MOST_LABELS: usize = 1 << 16;

/// A problem's rows as labels and gains.
pub struct LabelRows {
    /// By row: its point. A point has a row for each label that it gains with.
    pub points: Vec<u32>,
    pub label: Vec<Label>,
    pub gain: Vec<Cost>,
    /// The most that a point can cost beyond the least; with its first row.
    pub worst: Vec<Cost>,
    /// What every tree costs.
    pub base: Cost,
    pub n_labels: usize,
}

impl LabelRows {
    pub fn of(problem: &Problem) -> Self {
        let task = problem.task.as_ref();
        let n_labels = task.n_labels();
        debug_assert!((1..=MOST_LABELS).contains(&n_labels));
        let mut rows = LabelRows {
            points: Vec::new(),
            label: Vec::new(),
            gain: Vec::new(),
            worst: Vec::new(),
            base: 0,
            n_labels,
        };
        let mut losses = vec![0; n_labels];
        for point in 0..problem.points.len() {
            task.losses(point, &mut losses);
            let least = losses.iter().copied().min().unwrap_or(0);
            let worst = losses.iter().copied().max().unwrap_or(0);
            rows.base += least;
            let mut first = worst - least;
            for (label, loss) in losses.iter().enumerate() {
                let gain = worst - loss;
                if gain > 0 {
                    rows.points.push(point as u32);
                    rows.label.push(label as Label);
                    rows.gain.push(gain);
                    rows.worst.push(std::mem::take(&mut first));
                }
            }
        }
        rows
    }

    /// What divides all losses.
    fn unit(&self) -> Cost {
        self.gain.iter().chain(&self.worst).filter(|&&x| x > 0).fold(0, |unit, &x| match unit {
            0 => x,
            1 => 1,
            _ => gcd(unit, x),
        })
    }

    /// Whether sums of all losses fit.
    pub fn fits<T: Unit>(&self) -> bool {
        self.worst.iter().sum::<Cost>() / self.unit().max(1) <= most::<T>()
    }

    /// Bytes of the rows and of a kernel's copy of them.
    pub fn bytes(&self) -> usize {
        self.label.len() * (size_of::<Label>() + 2 * size_of::<Cost>())
            + self.points.capacity() * 4
            + self.label.capacity() * size_of::<Label>()
            + (self.gain.capacity() + self.worst.capacity()) * size_of::<Cost>()
    }
}

/// The kernel of such tasks. Sums of losses are whole numbers of units.
pub struct LabelKernel<T> {
    pub(super) n_labels: usize,
    /// By row of the view.
    label: Vec<Label>,
    gain: Vec<T>,
    worst: Vec<T>,
    pub(super) unit: Cost,
    pub(super) leaf_cost: Cost,
    /// Blocks of an axis, if they are not chosen by the number of rows.
    blocks: Option<usize>,
    pub(super) level: Level,
}

impl<T: Unit> LabelKernel<T> {
    pub fn new(rows: &LabelRows, leaf_cost: Cost, blocks: Option<usize>, level: Level) -> Self {
        let unit = rows.unit().max(1);
        LabelKernel {
            n_labels: rows.n_labels,
            label: rows.label.clone(),
            gain: rows.gain.iter().map(|&gain| T::of(gain / unit)).collect(),
            worst: rows.worst.iter().map(|&worst| T::of(worst / unit)).collect(),
            unit,
            leaf_cost,
            blocks,
            level,
        }
    }

    fn most_blocks(&self, node: &RankNode) -> usize {
        self.blocks.unwrap_or_else(|| blocks(node.len(), self.n_labels))
    }
}

/// As many blocks as pay, in whole groups of lanes. The cells of a pair are looked at whether they are needed or not,
/// so there are fewer of them than rows to count into them. With more than two labels a block costs more, beside what
/// it saves.
fn blocks(rows: usize, n_labels: usize) -> usize {
    let root = rows.isqrt();
    let (most, groups) = match n_labels {
        2 => (255, (root / 2 + 1).div_ceil(LANES)),
        _ => (95, ((root + 1) / LANES).max(1)),
    };
    (groups * LANES - 1).min(most)
}

impl<T: Unit> RankKernel for LabelKernel<T> {
    type Grid = Grid<T>;
    type Two = Two<T>;

    fn leaf_cost(&self) -> Cost {
        self.leaf_cost
    }

    fn leaf(&self, rows: &[u32]) -> Cost {
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
        let (cost, split) = scan::best(self, node, grid, all, unknown);
        (cost, stump_plan(split))
    }

    fn grid(&self, node: &RankNode) -> Grid<T> {
        Grid::of(node, self.most_blocks(node), (&self.label, &self.gain, &self.worst))
    }

    fn grid_bytes(&self, grid: &Grid<T>) -> usize {
        grid.bytes()
    }

    fn bytes_for(&self, node: &RankNode) -> [usize; 2] {
        let (n, p, one) = (node.len(), node.axes.len(), size_of::<T>());
        let most = self.most_blocks(node);
        let width = (most + 1).next_multiple_of(LANES);
        let row = size_of::<Label>() + 2 * one;
        let grid = p * n + n * row + p * most * (4 + one);
        // Codes and rows, bounds by pair of axes, all lines, and a counted pair or what is walked along.
        let all = p * n + n * (row + 4) + 2 * p * p * width * one;
        let two = if self.n_labels == 2 {
            let flags = node.axes.iter().filter(|axis| axis.n_ranks() == 2).count();
            let flags = Flags::<T>::bytes_for(p, flags, n, most);
            all + 4 * most * width * one + p * n * (5 + 5 * one) + flags
        } else {
            let labels = self.n_labels.min(n) + 1;
            all + p * n * (13 + 3 * one)
                + p * (labels + 1) * width * one
                + 2 * n * (4 + one)
                + labels * (4 * most + 7 * one + 4)
        };
        [grid, two]
    }

    fn begin(&self, part: Part, grid: &Grid<T>, two: &mut Two<T>, halt: Halt) {
        two.begin(self, part, grid, halt);
    }

    fn raise(&self, part: Part, grid: &Grid<T>, two: &mut Two<T>, below: Cost, halt: Halt) {
        two.raise(self, part, grid, below, halt);
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
