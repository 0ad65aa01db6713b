//! The shortest description: how many bits it takes to say the tree, and then the classes of all
//! rows.
//!
//! - Data: Σ over leaves and classes of w_c · log2(w / w_c), the entropy of each leaf.
//! - A leaf takes 1 bit to say that it is one, and (K − 1) / 2 · log2(n) bits for the shares of K
//!   classes among n rows (Rissanen, 1983; Quinlan and Rivest, 1989).
//! - A split takes 1 bit to say that it is one, and log2(cuts) bits to name one of the cuts there
//!   are.
//!
//! A tree of k leaves has k − 1 splits, so what the tree takes is k · (leaf + split) − split: a
//! penalty for each leaf, and a constant. Everything is divided by the rows, and so is a number of
//! bits per row.

use std::f64::consts::LN_2;

use super::additive::AdditiveTask;
use super::class_input::ClassInput;
use super::impurity::{Impurity, classes};
use super::scaled::Scaled;
use crate::cost::sum;
use crate::error::{Error, Result};

pub(super) static MDL: AdditiveTask = AdditiveTask {
    name: "mdl",
    words: "bits that describe the tree and the classes of all rows",
    columns: &["weights", "class_weights", "balanced", "n_cuts"],
    build: |input| classes(input)?.build_description(input.whole_number("n_cuts")?),
};

impl ClassInput {
    /// What each leaf adds in bits per row, and what is taken off each tree, where there are
    /// `n_cuts` to name.
    pub fn description_bits(&self, n_cuts: u64) -> (f64, f64) {
        let rows = sum(self.weights.iter().copied());
        let leaf = 1.0 + (self.n_classes as f64 - 1.0) / 2.0 * rows.max(1.0).log2();
        let split = 1.0 + (n_cuts.max(1) as f64).log2();
        ((leaf + split) / rows, split / rows)
    }

    /// These rows by the bits that describe them and the tree. The leaf penalty follows from the
    /// data: the input's own must be 0.
    fn build_description(mut self, n_cuts: u64) -> Result<Scaled> {
        if self.leaf_penalty != 0.0 {
            return Err(Error::invalid("a description length has no leaf penalty beside its own"));
        }
        let (leaf, constant) = self.description_bits(n_cuts);
        // The impurity is in natural units, of which ln 2 make a bit.
        self.leaf_penalty = leaf * LN_2;
        let mut scaled = self.build_impurity(Impurity::Entropy)?;
        scaled.scale.units *= LN_2;
        scaled.scale.offset -= (constant * scaled.scale.units).ceil() as i128;
        Ok(scaled)
    }
}
