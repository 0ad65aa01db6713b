//! The rows of a problem as labels and gains, and the kernel that holds them.

use super::unit::{LANES, Unit, most};
use crate::bits::Level;
use crate::cost::{Cost, gcd};
use crate::kernel::ranks::pair_room::PairBytes;
use crate::kernel::ranks::rank_kernel::RankRows;
use crate::task::Labelled;
use crate::view::RankNode;

pub type Label = u16;

/// The blocks that a byte can number, but for one of missing values.
const MOST_BLOCKS: usize = 255;

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
    /// `all`: whether points that cost the same with any label have a row, too, which gains
    /// nothing. It counts where leaves must hold some rows.
    pub fn of(task: &dyn Labelled, all: bool) -> Self {
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
            let gains_nothing = first == 0;
            for (label, loss) in losses.iter().enumerate() {
                let gain = worst - loss;
                if gain > 0 || (all && gains_nothing && label == 0) {
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

    /// The unit of sums of 32 bits that filter those of 64, if losses fit into no fewer than 64
    /// bits and hardly anything is lost: rounding takes less than a thousandth of what half of the
    /// points can lose, and there are not so many points that it adds up.
    pub fn narrow_unit(&self) -> Option<Cost> {
        const SMALLEST: Cost = 1 << 10;
        const MOST_POINTS: usize = 1 << 17;
        if self.fits::<i32>() {
            return None;
        }
        let unit = self.worst.iter().sum::<Cost>() / most::<i32>() + 1;
        let mut points: Vec<Cost> = self.worst.iter().copied().filter(|&worst| worst > 0).collect();
        let middle = points.len() / 2;
        let (_, &mut usual, _) = points.select_nth_unstable(middle);
        (usual / unit >= SMALLEST && points.len() <= MOST_POINTS).then_some(unit)
    }

    /// Losses in units of `unit`, rounded down: the gain and the worst loss of each row.
    fn rounded(&self, unit: Cost) -> (Vec<i32>, Vec<i32>) {
        let mut worst_of_point = 0;
        let rows = self.gain.iter().zip(&self.worst).map(|(&gain, &worst)| {
            if worst > 0 {
                worst_of_point = worst;
            }
            let lost = (worst_of_point - gain) / unit;
            ((worst_of_point / unit - lost) as i32, (worst / unit) as i32)
        });
        rows.unzip()
    }

    /// Bytes of the rows and of a kernel's copies of them.
    fn bytes(&self) -> usize {
        let narrow = if self.narrow_unit().is_some() {
            size_of::<Label>() + 2 * size_of::<i32>()
        } else {
            0
        };
        self.label.len() * (size_of::<Label>() + 2 * size_of::<Cost>() + narrow)
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
    /// These rows without rounding, where this kernel rounds losses down to its unit.
    ///
    /// Statement: a tree costs at least what it does here, and beyond that less than a unit for
    /// each point.
    ///
    /// Proof: a tree loses one loss of each point, and each is rounded down by less than a unit.
    pub(super) exact: Option<Box<LabelKernel<Cost>>>,
    /// Blocks of an axis, if they are not chosen by the number of rows.
    blocks: Option<usize>,
    /// Bytes that a subproblem may take for what it knows by pair of axes.
    room: usize,
    pub(super) level: Level,
}

impl<T: Unit> LabelKernel<T> {
    pub fn new(
        rows: &LabelRows,
        leaf_cost: Cost,
        (blocks, room): (Option<usize>, usize),
        level: Level,
    ) -> Self {
        let unit = rows.unit().max(1);
        LabelKernel {
            n_labels: rows.n_labels,
            label: rows.label.clone(),
            gain: rows.gain.iter().map(|&gain| T::of(gain / unit)).collect(),
            worst: rows.worst.iter().map(|&worst| T::of(worst / unit)).collect(),
            unit,
            leaf_cost,
            exact: None,
            blocks,
            room,
            level,
        }
    }

    /// What is known by pair of a node's axes: bounds alone.
    pub(super) fn pair_bytes(&self, node: &RankNode) -> PairBytes {
        let width = (self.most_blocks(node) + 1).next_multiple_of(LANES);
        let bounds = 2 * node.axes.len().pow(2) * width * size_of::<T>();
        PairBytes { tables: 0, bounds, room: self.room }
    }

    pub(super) fn most_blocks(&self, node: &RankNode) -> usize {
        self.blocks.unwrap_or_else(|| {
            let blocks = blocks(node.len(), self.n_labels);
            let ranks = node.axes.iter().map(|axis| axis.n_ranks()).max().unwrap_or(0);
            // Where each rank can be a block, and there are still fewer cells than rows, no cut
            // is left within a block that would have to be scanned.
            let alone = self.exact.is_some() && ranks <= MOST_BLOCKS && ranks.pow(2) <= node.len();
            if alone { blocks.max(ranks) } else { blocks }
        })
    }
}

impl LabelKernel<i32> {
    /// A kernel that rounds losses down, with an exact one behind it.
    pub fn narrowed(
        (rows, unit): (&LabelRows, Cost),
        leaf_cost: Cost,
        (blocks, room): (Option<usize>, usize),
        level: Level,
    ) -> Self {
        let (gain, worst) = rows.rounded(unit);
        LabelKernel {
            n_labels: rows.n_labels,
            label: rows.label.clone(),
            gain,
            worst,
            unit,
            leaf_cost,
            exact: Some(Box::new(LabelKernel::new(rows, leaf_cost, (blocks, room), level))),
            blocks,
            room,
            level,
        }
    }
}

/// As many blocks as pay, in whole groups of lanes. The cells of a pair are looked at whether they
/// are needed or not, so there are fewer of them than rows to count into them. With more than two
/// labels a block costs more, beside what it saves.
fn blocks(rows: usize, n_labels: usize) -> usize {
    let root = rows.isqrt();
    let (most, groups) = match n_labels {
        2 => (MOST_BLOCKS, (root / 2 + 1).div_ceil(LANES)),
        _ => (95, ((root + 1) / LANES).max(1)),
    };
    (groups * LANES - 1).min(most)
}
