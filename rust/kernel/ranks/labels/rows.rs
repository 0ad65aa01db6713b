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
    /// Without rounding, where the kernel rounds; else empty.
    exact_worst: Vec<Cost>,
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
        self.worst.extend(rows.clone().map(|row| grid.worst[row]));
        self.exact_worst.clear();
        let [_, worst] = &grid.exact;
        if !worst.is_empty() {
            self.exact_worst.extend(rows.map(|row| worst[row]));
        }
    }

    /// What the rows cost as one leaf, without rounding.
    pub fn leaf(&self, kernel: &LabelKernel<T>, grid: &Grid<T>) -> Cost {
        let n_labels = kernel.n_labels;
        let lost = match &kernel.exact {
            Some(exact) => grid.exact_rows().leaf(&self.row, n_labels) * exact.unit,
            None => grid.rows().leaf(&self.row, n_labels).cost() * kernel.unit,
        };
        lost + kernel.leaf_cost
    }

    /// Worst losses before each boundary of an axis of `n` blocks, without rounding: a row has
    /// some, so they tell whether there are rows between two boundaries.
    pub fn lost(&self, axis: usize, n: usize, kernel: &LabelKernel<T>) -> Vec<Cost> {
        let mut lost = vec![0; n + 1];
        let codes = &self.codes[axis * self.n..][..self.n];
        if let Some(exact) = &kernel.exact {
            for (&code, &worst) in codes.iter().zip(&self.exact_worst) {
                lost[usize::from(code) + 1] += worst * exact.unit;
            }
        } else {
            for (&code, &worst) in codes.iter().zip(&self.worst) {
                lost[usize::from(code) + 1] += worst.cost() * kernel.unit;
            }
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
            + self.exact_worst.capacity() * size_of::<Cost>()
    }
}
