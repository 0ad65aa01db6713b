//! The rows of a part, one beside the other, as counting wants them.

use super::grid::Grid;
use super::kernel::{Label, LabelKernel};
use super::unit::Unit;
use crate::cost::Cost;
use crate::view::Part;

/// The rows of the part, one beside the other.
#[derive(Default)]
pub struct PartRows<T> {
    pub n: usize,
    pub row: Vec<u32>,
    /// By axis, then row.
    pub codes: Vec<u8>,
    pub label: Vec<Label>,
    pub gain: Vec<T>,
    pub worst: Vec<T>,
}

impl<T: Unit> PartRows<T> {
    pub fn take(&mut self, part: Part, grid: &Grid<T>) {
        self.row.clear();
        self.row.extend_from_slice(part.rows());
        self.n = self.row.len();
        let rows = self.row.iter().map(|&row| row as usize);
        self.codes.clear();
        for axis in &grid.axes {
            self.codes.extend(rows.clone().map(|row| axis.code[row]));
        }
        self.label.clear();
        self.label.extend(rows.clone().map(|row| grid.label[row]));
        self.gain.clear();
        self.gain.extend(rows.clone().map(|row| grid.gain[row]));
        self.worst.clear();
        self.worst.extend(rows.map(|row| grid.worst[row]));
    }

    pub fn leaf(&self, kernel: &LabelKernel<T>) -> Cost {
        let mut gains = vec![T::default(); kernel.n_labels];
        for (&label, &gain) in self.label.iter().zip(&self.gain) {
            gains[usize::from(label)] += gain;
        }
        let worst = self.worst.iter().fold(T::default(), |sum, &worst| sum + worst);
        let most = gains.into_iter().max().unwrap_or_default();
        (worst - most).cost() * kernel.unit + kernel.leaf_cost
    }

    /// Worst losses before each boundary of an axis of `n` blocks.
    pub fn lost(&self, axis: usize, n: usize, unit: Cost) -> Vec<Cost> {
        let mut lost = vec![0; n + 1];
        for (&code, &worst) in self.codes[axis * self.n..][..self.n].iter().zip(&self.worst) {
            lost[usize::from(code) + 1] += worst.cost() * unit;
        }
        for at in 1..lost.len() {
            lost[at] += lost[at - 1];
        }
        lost
    }

    pub fn bytes(&self) -> usize {
        4 * self.row.capacity()
            + self.codes.capacity()
            + self.label.capacity() * size_of::<Label>()
            + (self.gain.capacity() + self.worst.capacity()) * size_of::<T>()
    }
}
