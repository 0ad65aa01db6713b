//! A glance at a node of two classes: may a tree of up to three leaves be cheap? That takes the
//! counts of single columns, and of those few pairs that come into question by
//! `bounds::three_leaves`, instead of all.

use super::lanes::Blocks;
use crate::bits::LANES;
use crate::bounds::{equivalent_points, leaf, look_ahead};
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::{Ask, Lookahead};
use crate::view::Segment;

/// A side of a column that holds few of one class, and its weight in the other.
#[derive(Debug, Clone, Copy)]
struct Half {
    column: usize,
    side: bool,
    weight: i64,
}

#[derive(Debug, Default)]
pub struct Scratch {
    halves: Vec<Half>,
}

/// What is known of a node without its pairs.
pub struct Singles<'a> {
    pub blocks: &'a Blocks,
    pub segments: &'a [Segment],
    /// By class.
    pub totals: [u16; 2],
    /// By column and class: weight of the 1 side.
    pub ones: &'a [u16],
}

impl Scratch {
    pub fn bytes(&self) -> usize {
        self.halves.capacity() * size_of::<Half>()
    }

    /// A lower bound on every tree, if it reaches the target of `ask`. `few` errors cost a leaf;
    /// `look` knows the sides.
    pub fn at_least(
        &mut self,
        singles: &Singles,
        look: &Lookahead,
        few: i64,
        ask: Ask,
    ) -> Option<Cost> {
        let stump = look.sides.iter().map(|[a, b]| a.leaf + b.leaf).min().unwrap_or(INFINITE);
        let stump = equivalent_points::at_least(stump, 2, ask.leaf_cost);
        let known = leaf::at_most(look.whole.leaf, ask.leaf_cost).min(stump);
        // As dear as a fourth leaf are three with few errors, too.
        let bound = look_ahead::at_least(known, 0, look_ahead::BEYOND_DEPTH_TWO, ask.leaf_cost);
        let reaches_target = bound >= ask.target
            && !(0..2).any(|class| self.three_leaves_exist(singles, class, few));
        reaches_target.then_some(bound)
    }

    /// Whether some tree of three leaves, two of them of `class`, makes fewer errors than `few`.
    fn three_leaves_exist(&mut self, singles: &Singles, class: usize, few: i64) -> bool {
        self.halves.clear();
        let all = i64::from(singles.totals[class]);
        for column in 0..singles.blocks.n_columns {
            for side in [false, true] {
                if singles.weight(column, side, 1 - class) < few {
                    let weight = singles.weight(column, side, class);
                    self.halves.push(Half { column, side, weight });
                }
            }
        }
        // Less than `few` of the class is outside of both.
        let most = self.halves.iter().map(|half| half.weight).max().unwrap_or(0);
        self.halves.retain(|half| half.weight + most > all - few);
        for (at, a) in self.halves.iter().enumerate() {
            for b in &self.halves[at + 1..] {
                if a.weight + b.weight > all - few {
                    let [own, other] = [class, 1 - class].map(|c| singles.either(a, b, c));
                    if all - own + other < few {
                        return true;
                    }
                }
            }
        }
        false
    }
}

impl Singles<'_> {
    fn weight(&self, column: usize, side: bool, class: usize) -> i64 {
        let ones = self.ones[2 * column + class];
        i64::from(if side { ones } else { self.totals[class] - ones })
    }

    /// The weight of a class in either of two halves.
    fn either(&self, a: &Half, b: &Half, class: usize) -> i64 {
        let ones = [a, b].map(|half| self.weight(half.column, true, class));
        let both = self.both(a.column, b.column, class);
        let all = i64::from(self.totals[class]);
        // All, less what is on the other side of both.
        match (a.side, b.side) {
            (true, true) => ones[0] + ones[1] - both,
            (true, false) => all - (ones[1] - both),
            (false, true) => all - (ones[0] - both),
            (false, false) => all - both,
        }
    }

    /// The weight of a class that has both columns.
    fn both(&self, a: usize, b: usize, class: usize) -> i64 {
        let mut sum = 0;
        for &(index, from, to) in &self.blocks.segments {
            let segment = &self.segments[index];
            if segment.class as usize == class {
                let x = self.blocks.block(a / LANES, from, to);
                let y = self.blocks.block(b / LANES, from, to);
                let rows =
                    x.iter().zip(y).map(|(x, y)| (x.0[a % LANES] & y.0[b % LANES]).count_ones());
                sum += i64::from(rows.sum::<u32>()) * segment.weight;
            }
        }
        sum
    }
}
