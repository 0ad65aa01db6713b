//! Kernels on bits: one call looks at every pair of a node's columns.
//!
//! A kernel is one way to sum what the rows of a pair add up to, and to cost the four cells that it
//! makes. All of them give the same [`Lookahead`]; they differ in what they ask of the task and of
//! the node. [`candidates`] is the only place that chooses: it lists the kernels of a task, the
//! fastest first, and a look goes to the first one that takes the node. To add a kernel, write one
//! file with a type that implements [`BitKernel`], and list it there.

mod bit_kernel;
mod by_values;
mod cells;
mod class_costs;
mod class_sums;
mod column_sets;
mod counts;
mod fingerprints;
mod glance;
mod lanes;
mod listed_rows;
mod pair_sums;
mod pair_tables;
mod priced;
mod rough_sets;
mod row_costs;
mod set_values;
mod sets;
mod side_masses;
mod squares;
mod sums;
mod tally;
mod three_values;
mod two_costs;
mod uniform;

pub use by_values::ByValues;
pub use counts::Counts;

use crate::bits::Level;
use crate::kernel::look::{Ask, BothSides, Halt, Lookahead, Unfinished};
use crate::task::{Structure, Task};
use crate::view::{BitView, Fingerprint, Offer, View};
use bit_kernel::{BitKernel, Look};
use lanes::{Blocks, lanes_of};

/// The kernels that a task offers, the fastest first. The last one takes every node.
fn candidates<'a>(
    bits: &'a BitView,
    task: &'a dyn Task,
    by_values: ByValues,
) -> Vec<Box<dyn BitKernel + 'a>> {
    let mut kernels: Vec<Box<dyn BitKernel + 'a>> = Vec::new();
    kernels.extend(by_values::kernel(bits, task, by_values));
    match task.structure() {
        Structure::Classes(classes) => {
            if let Some(kernel) = three_values::ThreeValues::new(bits, classes) {
                kernels.push(Box::new(kernel));
            }
            if let Some(kernel) = uniform::Uniform::new(classes) {
                kernels.push(Box::new(kernel));
            }
            if let Some(kernel) = two_costs::TwoCosts::new(classes) {
                kernels.push(Box::new(kernel));
            }
            if let Some(rates) = priced::Rates::new(classes, bits) {
                kernels.push(Box::new(priced::Priced::<u32>::new(rates.clone())));
                kernels.push(Box::new(priced::Priced::<u64>::new(rates)));
            }
            kernels.push(Box::new(class_costs::ClassCounts::new(classes)));
        }
        Structure::Squares(squares) => kernels.push(Box::new(squares::Squared::new(squares))),
        Structure::Labels(_) => kernels.push(Box::new(row_costs::RowCostSums::default())),
        Structure::Counts => kernels.push(Box::new(class_sums::ClassSums::new(task))),
        Structure::Sums => kernels.push(Box::new(sums::NumberSums::new(task))),
    }
    kernels
}

/// One worker's kernels with their scratch memory.
pub struct Kernel<'a> {
    bits: &'a BitView,
    level: Level,
    candidates: Vec<Box<dyn BitKernel + 'a>>,
    blocks: Blocks,
    /// Whether these are of the view that was looked at last.
    has_lanes: bool,
    fingerprints: fingerprints::Scratch,
}

impl<'a> Kernel<'a> {
    pub fn new(bits: &'a BitView, task: &'a dyn Task, level: Level) -> Self {
        Kernel::with(bits, task, level, ByValues::default())
    }

    /// As above, with a switch for tests.
    pub fn with(bits: &'a BitView, task: &'a dyn Task, level: Level, by_values: ByValues) -> Self {
        Kernel {
            bits,
            level,
            candidates: candidates(bits, task, by_values),
            blocks: Blocks::default(),
            has_lanes: false,
            fingerprints: fingerprints::Scratch::default(),
        }
    }

    /// Bytes of scratch memory held.
    pub fn bytes(&self) -> usize {
        self.blocks.bytes()
            + self.fingerprints.bytes()
            + self.candidates.iter().map(|kernel| kernel.bytes()).sum::<usize>()
    }

    /// Bytes of scratch memory that a look at such a view takes, at least.
    pub fn bytes_for(&self, view: &View) -> usize {
        let beside = self.candidates.iter().map(|kernel| kernel.bytes_for_look(view));
        lanes_of(view) + beside.max().unwrap_or(0)
    }

    /// Look at a node. Only columns that vary in the view should be in it; others cost time. `halt`
    /// is asked now and then: once it says so, the look ends without a result.
    pub fn look(
        &mut self,
        view: &View,
        ask: Ask,
        offer: Option<&Offer>,
        halt: Halt,
        out: &mut Lookahead,
    ) -> Result<(), Unfinished> {
        let result = self.look_at(view, ask, offer, halt, out);
        if result.is_err() {
            out.clear(0);
        }
        result
    }

    fn look_at(
        &mut self,
        view: &View,
        ask: Ask,
        offer: Option<&Offer>,
        halt: Halt,
        out: &mut Lookahead,
    ) -> Result<(), Unfinished> {
        out.clear(view.columns.len());
        if let Some(offer) = offer.filter(|offer| offer.forbids()) {
            out.forbid((0..view.columns.len()).map(|column| offer.is_forbidden(column)));
        }
        let Kernel { bits, level, candidates, blocks, has_lanes, .. } = self;
        let (bits, level) = (*bits, *level);
        *has_lanes = false;
        let look = Look { bits, view, blocks, level, ask, offer, halt };
        let kernel = chosen(candidates, &look);
        if kernel.glance(&look, out) {
            return Ok(());
        }
        if kernel.counts_lanes() {
            blocks.fill(view, level)?;
            *has_lanes = true;
        }
        kernel.look(&Look { bits, view, blocks, level, ask, offer, halt }, out)
    }

    /// How many bytes `both_sides` takes for a view; none where it has nothing to say.
    pub fn bytes_for_both_sides(&self, view: &View, ask: Ask, levels: usize) -> Option<usize> {
        let kernel = self.candidates.first().filter(|_| self.bits.context.is_none())?;
        kernel.bytes_for_both_sides(view, ask, levels)
    }

    /// What both sides of every column cost as the best trees of `levels` − 1 levels, if the kernel
    /// knows a faster way to them than to look at each side. `seen` is the look at the same view.
    pub fn both_sides(
        &mut self,
        view: &View,
        ask: Ask,
        levels: usize,
        halt: Halt,
        seen: &Lookahead,
    ) -> Result<Option<BothSides>, Unfinished> {
        let Kernel { bits, level, candidates, blocks, .. } = self;
        let look = Look { bits, view, blocks, level: *level, ask, offer: None, halt };
        match candidates.first_mut() {
            Some(kernel) => kernel.both_sides(&look, levels, seen),
            None => Ok(None),
        }
    }

    /// The first part of `look` alone: turn rows into lanes, if they are to be counted so.
    pub fn fill(&mut self, view: &View) -> Result<(), Unfinished> {
        match self.candidates.iter().any(|kernel| kernel.counts_lanes()) {
            true => self.blocks.fill(view, self.level),
            false => Ok(()),
        }
    }

    /// The part of `look` that sums the rows of every pair, alone, for benches. `fill` comes first.
    pub fn sum_pairs(&mut self, view: &View, ask: Ask) {
        let Kernel { bits, level, candidates, blocks, .. } = self;
        let halt: Halt = &|| false;
        let look = Look { bits, view, blocks, level: *level, ask, offer: None, halt };
        chosen(candidates, &look).sum_pairs(&look);
    }

    /// Whether all of a node's fingerprints come cheaper at once than one by one: only from lanes
    /// by entry, and where there are lanes.
    fn prints_all(&self) -> bool {
        self.bits.width == 0 && self.has_lanes
    }

    /// Bytes of scratch memory that `fingerprints` takes beyond what there is.
    pub fn fingerprint_bytes(&self) -> usize {
        if self.prints_all() { self.fingerprints.bytes_for(&self.blocks) } else { 0 }
    }

    /// The fingerprints of both sides of every column of the view that was looked at last. Tasks
    /// without classes leave them to whoever asks.
    pub fn fingerprints(&mut self, view: &View, out: &mut Vec<Option<[Fingerprint; 2]>>) {
        if self.prints_all() {
            fingerprints::fingerprints(&self.blocks, view, &mut self.fingerprints, out);
        }
    }
}

/// The first kernel that takes the node.
fn chosen<'k, 'a>(
    candidates: &'k mut [Box<dyn BitKernel + 'a>],
    look: &Look,
) -> &'k mut (dyn BitKernel + 'a) {
    let taking = candidates.iter_mut().position(|kernel| kernel.takes(look));
    let last = candidates.len() - 1;
    debug_assert!(taking.is_some(), "the last kernel of a task takes every node");
    candidates[taking.unwrap_or(last)].as_mut()
}
