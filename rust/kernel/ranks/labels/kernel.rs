//! The rows of a problem as labels and gains, and the kernel that holds them.

use super::unit::{LANES, Unit, most};
use crate::bits::Level;
use crate::cost::{Cost, gcd};
use crate::kernel::ranks::rank_kernel::RankRows;
use crate::task::Labelled;
use crate::view::RankNode;

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
    pub fn of(task: &dyn Labelled) -> Self {
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
        for point in 0..task.n_points() {
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

    /// The rows of a view of them.
    pub fn as_rows(&self) -> RankRows {
        let (points, worst) = (self.points.clone(), self.worst.clone());
        RankRows { points, worst, base: self.base, bytes: self.bytes() }
    }

    /// Bytes of the rows and of a kernel's copy of them.
    fn bytes(&self) -> usize {
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
    pub(super) label: Vec<Label>,
    pub(super) gain: Vec<T>,
    pub(super) worst: Vec<T>,
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

    pub(super) fn most_blocks(&self, node: &RankNode) -> usize {
        self.blocks.unwrap_or_else(|| blocks(node.len(), self.n_labels))
    }
}

/// As many blocks as pay, in whole groups of lanes. The cells of a pair are looked at whether they
/// are needed or not, so there are fewer of them than rows to count into them. With more than two
/// labels a block costs more, beside what it saves.
fn blocks(rows: usize, n_labels: usize) -> usize {
    let root = rows.isqrt();
    let (most, groups) = match n_labels {
        2 => (255, (root / 2 + 1).div_ceil(LANES)),
        _ => (95, ((root + 1) / LANES).max(1)),
    };
    (groups * LANES - 1).min(most)
}
