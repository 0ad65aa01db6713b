//! A split of a node, with a bound on both sides in the relaxation.

use std::cmp::{Ordering, Reverse};

use crate::bounds::{leaf, look_ahead};
use crate::cost::{Cost, INFINITE};
use crate::kernel::Side;
use crate::search::common::open_work::Work;

/// A split that may be part of a tree within the budget.
#[derive(Debug, Clone, Copy)]
pub struct Alternative {
    pub column: usize,
    pub sides: [Side; 2],
    /// The least that each side costs in the relaxation.
    pub lower: [Cost; 2],
    /// What both sides pay for the question.
    pub price: Cost,
}

impl Work for Alternative {
    fn bound(&self) -> Cost {
        self.lower[0] + self.lower[1] + self.price
    }
}

impl Alternative {
    /// The first column of those with the least bound is next.
    fn order(&self) -> Reverse<(Cost, usize)> {
        Reverse((self.bound(), self.column))
    }
}

impl Ord for Alternative {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Alternative {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Alternative {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Alternative {}

/// The least that a side costs in the relaxation, with so many levels below it. Its next question
/// costs at least `next`.
pub fn lower(side: &Side, stump: Cost, next: Cost, depth: u32, leaf_cost: Cost) -> Cost {
    let mut known = leaf::at_most(side.leaf, leaf_cost);
    if depth == 0 {
        return known;
    }
    if stump < INFINITE {
        known = known.min(stump + 2 * leaf_cost);
    }
    if depth == 1 {
        return known;
    }
    look_ahead::at_least(known, side.least + next, look_ahead::BEYOND_DEPTH_ONE, leaf_cost)
}
