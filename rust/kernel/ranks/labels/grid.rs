//! Each axis of a node in a few blocks of neighbouring ranks, so that pairs of axes can be counted.

use super::kernel::{Label, LabelKernel};
use super::unit::Unit;
use crate::cost::Cost;
use crate::view::{Axis, Missing, RankNode};

/// A node's rows as block numbers, with what they are worth.
pub struct Grid<T> {
    pub axes: Vec<GridAxis<T>>,
    /// By local row.
    pub label: Vec<Label>,
    pub gain: Vec<T>,
    pub worst: Vec<T>,
    /// Gains without rounding, where the kernel rounds; else empty.
    pub exact: [Vec<Cost>; 2],
}

pub struct GridAxis<T> {
    /// By local row: its block.
    pub code: Vec<u8>,
    /// By block: its last rank. The cut after it is a boundary.
    pub last: Vec<u32>,
    /// By block: all bits if there is a cut within, else none.
    pub open: Vec<T>,
    /// Missing values are a block of their own.
    pub missing: Option<Missing>,
}

impl<T: Unit> GridAxis<T> {
    pub fn n(&self) -> usize {
        self.last.len()
    }

    /// Blocks of about the same number of rows; missing values that are highest are one more.
    fn of(axis: &Axis, most: usize) -> Self {
        let (n_known, n_ranks) = (axis.n_known(), axis.n_ranks());
        let most = most.saturating_sub(n_ranks - n_known).max(1);
        // Rows before missing ones.
        let n = axis.ends[n_known - 1] as usize;
        let mut last = Vec::with_capacity(most.min(n_known) + 1);
        if n_known <= most {
            last.extend(0..n_known as u32);
        } else {
            let mut rank = 0;
            for block in 0..most {
                if rank == n_known {
                    break;
                }
                // Up to the rank that ends nearest behind this share of the rows.
                let share = n * (block + 1) / most;
                let left = most - block - 1;
                let mut at = axis.ends.partition_point(|&end| (end as usize) < share).max(rank);
                if left == 0 || at >= n_known {
                    at = n_known - 1;
                }
                last.push(at as u32);
                rank = at + 1;
            }
        }
        last.extend(n_known as u32..n_ranks as u32);
        let mut code = vec![0; axis.order.len()];
        let mut open = Vec::with_capacity(last.len());
        let mut first = 0;
        for (block, &last) in last.iter().enumerate() {
            let start = if first == 0 { 0 } else { axis.ends[first as usize - 1] as usize };
            for &row in &axis.order[start..axis.ends[last as usize] as usize] {
                code[row as usize] = block as u8;
            }
            open.push(if last > first { T::ONES } else { T::default() });
            first = last + 1;
        }
        GridAxis { code, last, open, missing: axis.missing }
    }

    /// The blocks of this axis with missing values in the first one.
    fn turned(&self) -> Self {
        let n = self.n() - 1;
        let code = |&code: &u8| if usize::from(code) == n { 0 } else { code };
        GridAxis {
            code: self.code.iter().map(code).collect(),
            last: self.last[..n].to_vec(),
            open: self.open[..n].to_vec(),
            missing: Some(Missing::Lowest),
        }
    }
}

impl<T: Unit> Grid<T> {
    /// `most`: blocks of an axis, up to 256.
    pub fn of(node: &RankNode, most: usize, kernel: &LabelKernel<T>) -> Self {
        let LabelKernel { label, gain, worst, .. } = kernel;
        let exact = |of: fn(&LabelKernel<Cost>) -> &[Cost]| match &kernel.exact {
            Some(exact) => node.rows.iter().map(|&row| of(exact)[row as usize]).collect(),
            None => Vec::new(),
        };
        let rows = || node.rows.iter().map(|&row| row as usize);
        let mut axes: Vec<GridAxis<T>> = Vec::with_capacity(node.axes.len());
        for axis in &node.axes {
            let lowest = axis.missing == Some(Missing::Lowest);
            let turned = axes.last().filter(|_| lowest).map(GridAxis::turned);
            axes.push(turned.unwrap_or_else(|| GridAxis::of(axis, most.clamp(1, 256))));
        }
        Grid {
            axes,
            label: rows().map(|row| label[row]).collect(),
            gain: rows().map(|row| gain[row]).collect(),
            worst: rows().map(|row| worst[row]).collect(),
            exact: [exact(|kernel| &kernel.gain), exact(|kernel| &kernel.worst)],
        }
    }

    /// Rows as leaves are costed by.
    pub fn rows(&self) -> Rows<'_, T> {
        Rows { label: &self.label, gain: &self.gain, worst: &self.worst }
    }

    /// As above, where the kernel rounds: without rounding.
    pub fn exact_rows(&self) -> Rows<'_, Cost> {
        let [gain, worst] = &self.exact;
        Rows { label: &self.label, gain, worst }
    }

    pub fn bytes(&self) -> usize {
        let axis = |axis: &GridAxis<T>| {
            axis.code.capacity() + 4 * axis.last.capacity() + size_of::<T>() * axis.open.capacity()
        };
        self.axes.iter().map(axis).sum::<usize>()
            + self.axes.capacity() * size_of::<GridAxis<T>>()
            + self.label.capacity() * size_of::<Label>()
            + (self.gain.capacity() + self.worst.capacity()) * size_of::<T>()
            + self.exact.iter().map(|exact| exact.capacity() * size_of::<Cost>()).sum::<usize>()
    }
}

/// What leaves of local rows cost.
#[derive(Clone, Copy)]
pub struct Rows<'a, T> {
    pub label: &'a [Label],
    pub gain: &'a [T],
    pub worst: &'a [T],
}

impl<T: Unit> Rows<'_, T> {
    /// What some rows lose as one leaf.
    pub fn leaf(&self, rows: &[u32], n_labels: usize) -> T {
        let mut gains = vec![T::default(); n_labels];
        let mut worst = T::default();
        for row in rows.iter().map(|&row| row as usize) {
            gains[usize::from(self.label[row])] += self.gain[row];
            worst += self.worst[row];
        }
        worst - gains.into_iter().max().unwrap_or_default()
    }
}
