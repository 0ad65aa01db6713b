//! What a kernel on bits is given, and what it must do.

use super::lanes::Blocks;
use crate::bits::Level;
use crate::kernel::look::{Ask, BothSides, Halt, Lookahead, Unfinished};
use crate::view::{Bans, BitView, Offer, View};

/// One look: the node, and what is to be found out.
#[derive(Clone, Copy)]
pub struct Look<'v> {
    pub bits: &'v BitView,
    pub view: &'v View,
    /// The view's bits by column. Empty for kernels that count no lanes.
    pub blocks: &'v Blocks,
    pub level: Level,
    pub ask: Ask,
    /// What the columns cost and which are allowed below which, if that is not nothing, and all.
    pub offer: Option<&'v Offer>,
    pub halt: Halt<'v>,
}

/// One way to look at a node. A kernel keeps its scratch memory from look to look.
pub trait BitKernel {
    /// Whether this kernel can look at the node: whether its numbers fit, and whether it knows
    /// prices.
    fn takes(&mut self, look: &Look) -> bool;

    /// Whether the kernel counts rows in lanes, which are filled before it looks.
    fn counts_lanes(&self) -> bool {
        true
    }

    /// What every tree costs at least, where that is enough and can be told before any lane is
    /// filled.
    fn glance(&mut self, _look: &Look, _out: &mut Lookahead) -> bool {
        false
    }

    /// Fill in what the columns and their pairs tell.
    fn look(&mut self, look: &Look, out: &mut Lookahead) -> Result<(), Unfinished>;

    /// The costs of both sides of every column as the best trees of `levels` − 1 levels, where a
    /// kernel finds them for less than it takes to look at each side. `seen` is the look at the
    /// same view.
    fn both_sides(
        &mut self,
        _look: &Look,
        _levels: usize,
        _seen: &Lookahead,
    ) -> Result<Option<BothSides>, Unfinished> {
        Ok(None)
    }

    /// How many bytes that takes, of a view; none where the kernel does not find them, or not for
    /// less.
    fn bytes_for_both_sides(&self, _view: &View, _ask: Ask, _levels: usize) -> Option<usize> {
        None
    }

    /// Bytes that a look takes beside lanes, at most.
    fn bytes_for_look(&self, _view: &View) -> usize {
        0
    }

    /// The part of `look` that sums the rows of every pair, alone, for benches.
    fn sum_pairs(&mut self, look: &Look);

    /// Bytes of scratch memory held.
    fn bytes(&self) -> usize;
}

impl<'v> Look<'v> {
    /// What the columns cost, where questions cost something.
    pub fn prices(&self) -> Option<&'v Offer> {
        self.offer.filter(|offer| offer.has_prices)
    }

    /// Which columns may not be asked below which others, if there are such pairs.
    pub fn bans(&self) -> Option<&'v Bans> {
        self.offer.and_then(|offer| offer.bans())
    }

    /// Whether the weight of an entry is its rows.
    pub fn weights_are_rows(&self) -> bool {
        self.bits.segments.iter().all(|segment| segment.rows == segment.weight)
    }

    /// Whether weights sum to less than 2^16, and rows, if they matter, are weights.
    pub fn fits_16_bits(&self) -> bool {
        if (self.ask.min_rows > 1 || self.bits.all_rows) && !self.weights_are_rows() {
            return false;
        }
        let (view, segments) = (self.view, &self.bits.segments);
        let total: i64 =
            (0..view.ends.len()).map(|s| view.segment(s).len() as i64 * segments[s].weight).sum();
        total < 1 << 16
    }

    /// The weight of every class in the view.
    pub fn weigh_classes(&self, weights: &mut [i64]) {
        weights.fill(0);
        for (index, segment) in self.bits.segments.iter().enumerate() {
            weights[segment.class as usize] +=
                self.view.segment(index).len() as i64 * segment.weight;
        }
    }
}
