//! Each axis of a node in a few blocks of neighbouring ranks, so that pairs of axes can be counted.

use super::kernel::Label;
use super::unit::Unit;
use crate::view::{Axis, RankNode};

/// A node's rows as block numbers, with what they are worth.
pub struct Grid<T> {
    pub axes: Vec<GridAxis<T>>,
    /// By local row.
    pub label: Vec<Label>,
    pub gain: Vec<T>,
    pub worst: Vec<T>,
}

pub struct GridAxis<T> {
    /// By local row: its block.
    pub code: Vec<u8>,
    /// By block: its last rank. The cut after it is a boundary.
    pub last: Vec<u32>,
    /// By block: all bits if there is a cut within, else none.
    pub open: Vec<T>,
}

impl<T: Unit> GridAxis<T> {
    pub fn n(&self) -> usize {
        self.last.len()
    }

    /// Blocks of about the same number of rows.
    fn of(axis: &Axis, most: usize) -> Self {
        let (n, n_ranks) = (axis.order.len(), axis.n_ranks());
        let mut last = Vec::with_capacity(most.min(n_ranks));
        if n_ranks <= most {
            last.extend(0..n_ranks as u32);
        } else {
            let mut rank = 0;
            for block in 0..most {
                if rank == n_ranks {
                    break;
                }
                // Up to the rank that ends nearest behind this share of the rows.
                let share = n * (block + 1) / most;
                let left = most - block - 1;
                let mut at = axis.ends.partition_point(|&end| (end as usize) < share).max(rank);
                if left == 0 || at >= n_ranks {
                    at = n_ranks - 1;
                }
                last.push(at as u32);
                rank = at + 1;
            }
        }
        let mut code = vec![0; n];
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
        GridAxis { code, last, open }
    }
}

impl<T: Unit> Grid<T> {
    /// `most`: blocks of an axis, up to 256.
    pub fn of(node: &RankNode, most: usize, (label, gain, worst): (&[Label], &[T], &[T])) -> Self {
        let rows = || node.rows.iter().map(|&row| row as usize);
        Grid {
            axes: node.axes.iter().map(|axis| GridAxis::of(axis, most.clamp(1, 256))).collect(),
            label: rows().map(|row| label[row]).collect(),
            gain: rows().map(|row| gain[row]).collect(),
            worst: rows().map(|row| worst[row]).collect(),
        }
    }

    pub fn bytes(&self) -> usize {
        let axis = |axis: &GridAxis<T>| {
            axis.code.capacity() + 4 * axis.last.capacity() + size_of::<T>() * axis.open.capacity()
        };
        self.axes.iter().map(axis).sum::<usize>()
            + self.axes.capacity() * size_of::<GridAxis<T>>()
            + self.label.capacity() * size_of::<Label>()
            + (self.gain.capacity() + self.worst.capacity()) * size_of::<T>()
    }
}
