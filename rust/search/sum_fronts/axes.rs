//! What is summed: so much for each class under each label.

use super::entry::{Entry, LEAF, MOST_SUMS};
use crate::cost::MAX_TOTAL;
use crate::error::{Error, Result};

/// The sums of a search, and whether leaves are an axis too.
#[derive(Debug, Clone)]
pub struct Axes {
    n_classes: usize,
    n_labels: usize,
    /// By sum, class and label; none below zero.
    costs: Vec<Vec<i64>>,
    /// By sum and class: the most that any label adds.
    worst: Vec<Vec<i64>>,
    /// Whether a tree of fewer leaves is better for that alone.
    pub leaves: bool,
}

impl Axes {
    /// `costs`: by sum, class and label. `totals`: the weight of all rows by class.
    pub fn new(
        (n_classes, n_labels): (usize, usize),
        costs: Vec<Vec<i64>>,
        leaves: bool,
        totals: &[i64],
    ) -> Result<Axes> {
        if costs.len() > MOST_SUMS || costs.is_empty() {
            return Err(Error::invalid(format!(
                "a front has one to {MOST_SUMS} sums, and not {}",
                costs.len()
            )));
        }
        let most = |sum: &Vec<i64>| -> Vec<i64> {
            sum.chunks_exact(n_labels).map(|row| row.iter().max().copied().unwrap_or(0)).collect()
        };
        for sum in &costs {
            if sum.len() != n_classes * n_labels || sum.iter().any(|&cost| cost < 0) {
                return Err(Error::invalid(
                    "a sum of a front adds a number of at least 0 for each class and label",
                ));
            }
            let all = most(sum).iter().zip(totals).try_fold(0i64, |all, (&most, &total)| {
                all.checked_add(most.checked_mul(total)?).filter(|&all| all < MAX_TOTAL)
            });
            if all.is_none() {
                return Err(Error::invalid(
                    "a sum of this front is too large for its weights to be added exactly: give \
                     weights, or numbers by label, with fewer digits",
                ));
            }
        }
        let worst = costs.iter().map(most).collect();
        Ok(Axes { n_classes, n_labels, costs, worst, leaves })
    }

    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    pub fn n_sums(&self) -> usize {
        self.costs.len()
    }

    /// What one sum adds for a class under a label.
    pub fn cost(&self, sum: usize, class: usize, label: usize) -> i64 {
        self.costs[sum][class * self.n_labels + label]
    }

    /// The sums of rows with these weights under one label.
    pub fn leaf(&self, weights: &[i64], label: usize) -> [i64; MOST_SUMS] {
        let mut sums = [0; MOST_SUMS];
        for (sum, costs) in sums.iter_mut().zip(&self.costs) {
            let each = weights.iter().zip(costs.iter().skip(label).step_by(self.n_labels));
            *sum = each.map(|(weight, cost)| weight * cost).sum();
        }
        sums
    }

    /// No tree sums up to more for rows with these weights.
    pub fn worst(&self, weights: &[i64]) -> [i64; MOST_SUMS] {
        let mut sums = [0; MOST_SUMS];
        for (sum, worst) in sums.iter_mut().zip(&self.worst) {
            *sum = weights.iter().zip(worst).map(|(weight, most)| weight * most).sum();
        }
        sums
    }

    /// The entries of a leaf, one for each label. `leaves`: 1 where leaves are counted, else 0.
    pub fn leaf_entries(&self, weights: &[i64], leaves: u32) -> impl Iterator<Item = Entry> {
        (0..self.n_labels).map(move |label| Entry {
            sums: self.leaf(weights, label),
            leaves,
            question: LEAF,
        })
    }
}
