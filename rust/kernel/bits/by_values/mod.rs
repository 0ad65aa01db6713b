//! Looks by value, where columns offer all sets of their values (`view::FreeColumns`) and a leaf
//! answers with one of two labels.
//!
//! Of a column of 12 values there are 2,047 questions, and of eight such columns 134 million pairs
//! of questions; but 28 pairs of columns with 144 pairs of values each say as much. Reading order:
//! [`partitions`] → [`tables`] → [`stumps`] (a look) → [`both_sides`] (two levels below every
//! question).

mod both_sides;
mod partitions;
mod stumps;
mod tables;

use super::bit_kernel::{BitKernel, Look};
use crate::kernel::look::{Ask, BothSides, Lookahead, Unfinished, vec_bytes};
use crate::task::ClassCosts;
use crate::view::{BitView, View};
use both_sides::{BATCH, TwoLevels};
use partitions::{Partitions, Sizes};
use stumps::{NONE, Stumps};
use tables::{Sums, Table};

/// When to look by value: a switch for tests. All give the same bounds, or truer ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ByValues {
    #[default]
    WherePaid,
    Always,
    Never,
}

/// The kernel of tasks with two labels and free columns.
pub struct SumsByValue<'a> {
    bits: &'a BitView,
    classes: &'a ClassCosts,
    when: ByValues,
    segments: Vec<Sums>,
    partitions: Partitions,
    table: Table,
    stumps: Stumps,
    two_levels: TwoLevels,
    /// Columns in the order of their partitions.
    order: Vec<u32>,
}

impl<'a> SumsByValue<'a> {
    /// `None` where there is nothing to sum by value.
    pub fn new(bits: &'a BitView, classes: &'a ClassCosts, when: ByValues) -> Option<Self> {
        let applies = !bits.free.is_empty() && classes.n_labels() == 2 && bits.context.is_none();
        (applies && when != ByValues::Never).then(|| SumsByValue {
            bits,
            classes,
            when,
            segments: Vec::new(),
            partitions: Partitions::default(),
            table: Table::default(),
            stumps: Stumps::default(),
            two_levels: TwoLevels::default(),
            order: Vec::new(),
        })
    }

    /// Whether the rows have their values with them.
    fn has_values(&self, view: &View) -> bool {
        view.values.len() == view.len() * self.bits.free.len()
    }

    fn fill(&mut self, look: &Look) -> Result<(), Unfinished> {
        Sums::by_segment(look, self.classes, &mut self.segments);
        self.partitions.fill(look);
        self.table.fill(look, &self.partitions, &self.segments)
    }

    /// Both sides of every column, and the best stumps on them.
    #[inline(always)]
    fn look_at(&mut self, look: &Look, out: &mut Lookahead) -> Result<(), Unfinished> {
        self.fill(look)?;
        let SumsByValue { partitions, table, stumps, order, .. } = self;
        out.whole = table.whole.side();
        order.clear();
        order.extend(0..partitions.columns.len() as u32);
        order.sort_by_key(|&column| partitions.columns[column as usize].0);
        for columns in order
            .chunk_by(|&a, &b| partitions.columns[a as usize].0 == partitions.columns[b as usize].0)
        {
            let of = &partitions.ranges[partitions.columns[columns[0] as usize].0 as usize];
            if look.ask.stumps {
                stumps.find(look, partitions, table, of)?;
            }
            let all = (1 << of.len()) - 1;
            for &column in columns {
                let right = partitions.columns[column as usize].1;
                let sides = table.sides(of, right);
                out.sides[column as usize] = sides.map(|sums| sums.side());
                if !look.ask.stumps {
                    continue;
                }
                for (side, set) in [all & !right, right].into_iter().enumerate() {
                    let gain = stumps.gains[set as usize];
                    if gain != NONE {
                        out.stumps[column as usize][side] = (sides[side].total - gain) / 2;
                    } else if look.ask.min_rows <= 1 {
                        // No rows: any split of them costs nothing.
                        out.stumps[column as usize][side] = 0;
                    }
                }
            }
        }
        Ok(())
    }
}

impl BitKernel for SumsByValue<'_> {
    fn takes(&mut self, look: &Look) -> bool {
        let ask = look.ask;
        if ask.overlaps || look.offer.is_some() || !self.has_values(look.view) {
            return false;
        }
        // What pairs of questions say of trees of three leaves is worth some steps.
        let worth = if ask.stumps && ask.leaf_cost > 0 { 16 } else { 1 };
        let pays = || {
            let sizes = Sizes::of(look.bits, look.view);
            sizes.steps_of_look().saturating_mul(worth) < sizes.steps_by_question(1)
        };
        let pays = || !Sizes::are_too_many(look.bits, look.view) && pays();
        self.when == ByValues::Always || pays()
    }

    fn counts_lanes(&self) -> bool {
        false
    }

    fn look(&mut self, look: &Look, out: &mut Lookahead) -> Result<(), Unfinished> {
        look.level.run(
            #[inline(always)]
            || self.look_at(look, out),
        )
    }

    fn both_sides(
        &mut self,
        look: &Look,
        _levels: usize,
        _seen: &Lookahead,
    ) -> Result<Option<BothSides>, Unfinished> {
        self.fill(look)?;
        let SumsByValue { partitions, table, two_levels, segments, .. } = self;
        look.level.run(
            #[inline(always)]
            || two_levels.find(look, partitions, table, segments).map(Some),
        )
    }

    fn bytes_for_both_sides(&self, view: &View, _ask: Ask, levels: usize) -> Option<usize> {
        let sizes = Sizes::of(self.bits, view);
        let pays = || sizes.steps_of_both_sides(BATCH) < sizes.steps_of_looks();
        let is_served =
            levels == 3 && self.has_values(view) && (self.when == ByValues::Always || pays());
        is_served.then(|| {
            TwoLevels::bytes_for(&sizes, view.columns.len())
                + Partitions::bytes_for(&sizes)
                + Table::bytes_for(&sizes, true)
        })
    }

    fn bytes_for_look(&self, view: &View) -> usize {
        let sizes = Sizes::most(self.bits, view);
        Partitions::bytes_for(&sizes)
            + Table::bytes_for(&sizes, true)
            + Stumps::bytes_for(&sizes)
            + view.columns.len() * 4
    }

    fn sum_pairs(&mut self, look: &Look) {
        // Without memory there is nothing to time.
        let _ = self.fill(look);
    }

    fn bytes(&self) -> usize {
        vec_bytes(&self.segments)
            + vec_bytes(&self.order)
            + self.partitions.bytes()
            + self.table.bytes()
            + self.stumps.bytes()
            + self.two_levels.bytes()
    }
}
