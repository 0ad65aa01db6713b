//! Looks by value, where columns offer all sets of their values (`view::FreeColumns`) and a leaf
//! answers with a label or a mean.
//!
//! Of a column of 12 values there are 2,047 questions, and of eight such columns 134 million pairs
//! of questions; but 28 pairs of columns with 144 pairs of values each say as much. Reading order:
//! [`partitions`] → [`tables`] → [`answers`] (what a task says of such sums: [`two_labels`],
//! [`labels`], [`squares`]) → [`stumps`] (a look) → [`both_sides`] (two levels below every
//! question).

mod answers;
mod both_sides;
mod labels;
mod parted;
mod partitions;
mod squares;
mod stumps;
mod tables;
mod two_labels;

use super::bit_kernel::{BitKernel, Look};
use crate::kernel::look::{Ask, BothSides, Lookahead, Unfinished, vec_bytes};
use crate::task::{Structure, Task};
use crate::view::{BitView, View};
use answers::Summed;
use both_sides::{OfTwoLevels, TwoLevels};
use labels::{CostsFrom, Labels};
use partitions::{Partitions, Sizes};
use squares::Means;
use stumps::Stumps;
use tables::{Numbers, Table};
use two_labels::TwoLabels;

/// When to look by value: a switch for tests. All give the same bounds, or truer ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ByValues {
    #[default]
    WherePaid,
    Always,
    Never,
}

/// The kernel that sums by value, if there is one for a task, and something to sum by value.
pub fn kernel<'a>(
    bits: &'a BitView,
    task: &'a dyn Task,
    when: ByValues,
) -> Option<Box<dyn BitKernel + 'a>> {
    if bits.free.is_empty() || bits.context.is_some() || when == ByValues::Never {
        return None;
    }
    Some(match task.structure() {
        Structure::Classes(classes) if classes.n_labels() == 2 => {
            Box::new(SumsByValue::new(bits, TwoLabels { classes }, when))
        }
        Structure::Classes(classes) => {
            let labels = Labels::new(CostsFrom::Classes(classes), classes.n_labels());
            Box::new(SumsByValue::new(bits, labels, when))
        }
        Structure::Labels(task) => {
            let labels = Labels::new(CostsFrom::Rows, task.n_labels());
            Box::new(SumsByValue::new(bits, labels, when))
        }
        Structure::Squares(task) => Box::new(SumsByValue::new(bits, Means::new(task), when)),
        Structure::Counts | Structure::Sums => return None,
    })
}

/// The kernel of free columns.
struct SumsByValue<'a, A> {
    bits: &'a BitView,
    answers: A,
    when: ByValues,
    numbers: Numbers,
    partitions: Partitions,
    table: Table,
    stumps: Stumps,
    two_levels: TwoLevels,
    /// Columns in the order of their partitions.
    order: Vec<u32>,
    /// Sums of the rows on both sides of a column.
    sides: [Vec<i64>; 2],
}

impl<'a, A: OfTwoLevels> SumsByValue<'a, A> {
    fn new(bits: &'a BitView, answers: A, when: ByValues) -> Self {
        SumsByValue {
            bits,
            answers,
            when,
            numbers: Numbers::default(),
            partitions: Partitions::default(),
            table: Table::default(),
            stumps: Stumps::default(),
            two_levels: TwoLevels::default(),
            order: Vec::new(),
            sides: Default::default(),
        }
    }

    /// Whether the rows have their values with them.
    fn has_values(&self, view: &View) -> bool {
        view.values.len() == view.len() * self.bits.free.len()
    }

    fn fill(&mut self, look: &Look) -> Result<(), Unfinished> {
        self.answers.fill(look, &mut self.numbers);
        self.partitions.fill(look);
        self.table.fill(look, &self.partitions, &self.numbers)
    }

    /// Both sides of every column, and the best stumps on them.
    #[inline(always)]
    fn look_at(&mut self, look: &Look, out: &mut Lookahead) -> Result<(), Unfinished> {
        self.fill(look)?;
        let SumsByValue { answers, numbers, partitions, table, stumps, order, .. } = self;
        let summed = Summed { look, numbers, partitions, table };
        out.whole = answers.side(&table.whole);
        order.clear();
        order.extend(0..partitions.columns.len() as u32);
        order.sort_by_key(|&column| partitions.columns[column as usize].0);
        let [zeros, ones] = &mut self.sides;
        for columns in order
            .chunk_by(|&a, &b| partitions.columns[a as usize].0 == partitions.columns[b as usize].0)
        {
            let of = &partitions.ranges[partitions.columns[columns[0] as usize].0 as usize];
            if look.ask.stumps {
                stumps.find(answers, summed, of)?;
            }
            let all = (1 << of.len()) - 1;
            for &column in columns {
                let right = partitions.columns[column as usize].1;
                table.ones(of, right, ones);
                zeros.clear();
                zeros.extend(table.whole.iter().zip(&*ones).map(|(all, one)| all - one));
                out.sides[column as usize] = [answers.side(zeros), answers.side(ones)];
                if look.ask.stumps {
                    let sets = [all & !right, right];
                    out.stumps[column as usize] = sets.map(|set| stumps.costs[set as usize]);
                }
            }
        }
        Ok(())
    }
}

impl<A: OfTwoLevels> BitKernel for SumsByValue<'_, A> {
    fn takes(&mut self, look: &Look) -> bool {
        let ask = look.ask;
        if ask.overlaps || look.offer.is_some() || !self.has_values(look.view) {
            return false;
        }
        // What pairs of questions say of trees of three leaves is worth some steps.
        let worth = if ask.stumps && ask.leaf_cost > 0 { 16 } else { 1 };
        let pays = || {
            let (sizes, steps) = (Sizes::of(look.bits, look.view), self.answers.steps());
            sizes.steps_of_look(steps).saturating_mul(worth) < sizes.steps_by_question(1)
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
        let SumsByValue { answers, numbers, partitions, table, two_levels, .. } = self;
        let summed = Summed { look, numbers, partitions, table };
        look.level.run(
            #[inline(always)]
            || answers.two_levels(two_levels, summed),
        )
    }

    fn bytes_for_both_sides(&self, view: &View, _ask: Ask, levels: usize) -> Option<usize> {
        if levels != 3 || !self.answers.sees_two_levels() || !self.has_values(view) {
            return None;
        }
        let (sizes, steps) = (Sizes::of(self.bits, view), self.answers.steps());
        let pays = || sizes.steps_of_both_sides(steps) < sizes.steps_of_looks(steps);
        (self.when == ByValues::Always || pays()).then(|| {
            TwoLevels::bytes_for(&sizes, steps.tables, view.columns.len())
                + self.bytes_of_sums(&sizes)
        })
    }

    fn bytes_for_look(&self, view: &View) -> usize {
        let (sizes, steps) = (Sizes::most(self.bits, view), self.answers.steps());
        if self.when == ByValues::WherePaid && sizes.have_too_many_partitions(steps) {
            return 0;
        }
        self.bytes_of_sums(&sizes)
            + Stumps::bytes_for(&sizes, steps.tables)
            + view.columns.len() * size_of::<u32>()
    }

    fn sum_pairs(&mut self, look: &Look) {
        // Without memory there is nothing to time.
        let _ = self.fill(look);
    }

    fn bytes(&self) -> usize {
        vec_bytes(&self.order)
            + self.sides.iter().map(vec_bytes).sum::<usize>()
            + self.answers.bytes()
            + self.numbers.bytes()
            + self.partitions.bytes()
            + self.table.bytes()
            + self.stumps.bytes()
            + self.two_levels.bytes()
    }
}

impl<A: OfTwoLevels> SumsByValue<'_, A> {
    /// Bytes of the sums of a view, and of what its rows add.
    fn bytes_of_sums(&self, sizes: &Sizes) -> usize {
        let tables = self.answers.steps().tables;
        Numbers::bytes_for(sizes, tables)
            + Partitions::bytes_for(sizes)
            + Table::bytes_for(sizes, tables)
    }
}
