//! What both sides of every column cost as the best trees of a few levels, from all sets of so many
//! columns at once.
//!
//! The order of the questions on a path does not change the rows at its end. So a set P of m
//! columns divides the rows into 2^m *cells*, one for each way to choose a side of each column, and
//! all paths that ask these columns end in them. Let v(P, s) be the least cost of a tree of at most
//! d − m levels for the rows of cell s. Then v(P, s) = leaf(P, s) for m = d, and
//!
//! > v(P, s) = min(leaf(P, s), min over columns c of v(P ∪ {c}, s0) + v(P ∪ {c}, s1)),
//!
//! because that is what a tree is, and a column of P itself splits nothing. So every set of d
//! columns is gone through once and lowers the sets that it has one column less of; then these
//! lower the next smaller ones. A look at each node of d − 2 levels would cost a cell of d columns
//! d · (d − 1) / 2 times.
//!
//! Sums over the rows with all columns of a set are enough: the other cells follow, because the
//! rows with P but without c are those with P less those with P and c.

use super::bit_kernel::Look;
use super::cells::{Cells, Row};
use super::lanes::lanes_of;
use super::pair_tables::{PairTable, SumsPairs, clear};
use super::set_values::{Others, Values, lower, lower_all};
use crate::bits::LANES;
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::{Lookahead, Unfinished, vec_bytes};
use crate::task::Task;
use crate::view::View;

/// Scratch memory.
#[derive(Debug, Default)]
pub struct ColumnSets {
    /// By columns of a set but one.
    values: [Values<Cost>; 3],
    /// Sums over all rows, those with one column, and those with two.
    all: PairTable,
    with: Vec<PairTable>,
    with_both: PairTable,
    views: [View; 2],
    mask: Vec<u64>,
    cells: Cells,
    parts: Parts,
}

/// Sums of the cells of a few columns, over single columns.
#[derive(Debug, Default)]
struct Parts {
    /// By cell, block and statistic.
    ones: Vec<Row>,
    /// By cell and statistic.
    totals: Vec<i64>,
}

/// More columns than this are not gone through by sets of three: they take the square of it in
/// memory.
const MOST_COLUMNS: usize = 256;

/// Likewise by sets of four, which take the cube.
const MOST_COLUMNS_OF_FOUR: usize = 96;

/// How large sets may be, of so many columns.
fn most_levels(columns: usize) -> usize {
    match columns {
        0..2 => 0,
        2..=MOST_COLUMNS_OF_FOUR => 4,
        _ if columns <= MOST_COLUMNS => 3,
        _ => 0,
    }
}

impl ColumnSets {
    /// Bytes that this takes for so many levels; none where the view has too many columns.
    pub fn bytes_for(view: &View, levels: usize, width: usize) -> Option<usize> {
        let n = view.columns.len();
        let values: usize = (1..levels).map(|m| Values::<Cost>::bytes_for(n, m)).sum();
        let tables = if levels > 3 { n + 2 } else { 3 };
        // The rows with one column and with two, and the lanes of some of them.
        let views = 2 * view.bytes() + lanes_of(view);
        let own = values + tables * PairTable::bytes_for(n, width);
        (levels <= most_levels(n)).then_some(own + views)
    }

    pub fn bytes(&self) -> usize {
        self.values.iter().map(Values::bytes).sum::<usize>()
            + self
                .with
                .iter()
                .chain([&self.all, &self.with_both])
                .map(PairTable::bytes)
                .sum::<usize>()
            + self.views.iter().map(View::bytes).sum::<usize>()
            + self.cells.bytes()
            + vec_bytes(&self.parts.ones)
            + vec_bytes(&self.parts.totals)
    }

    /// The costs of both sides of every column as trees of `levels` − 1 levels, leaf penalties and
    /// all. `seen` is the look at the same view.
    pub fn best(
        &mut self,
        look: &Look,
        task: &dyn Task,
        sums: &mut dyn SumsPairs,
        levels: usize,
        seen: &Lookahead,
    ) -> Result<Vec<[Cost; 2]>, Unfinished> {
        let n = look.view.columns.len();
        sums.begin(look);
        for m in 1..levels {
            self.values[m - 1].clear(n, m);
        }
        for column in 0..n {
            for side in 0..2 {
                let leaf = seen.sides[column][side ^ 1 ^ sums.side(column)].leaf;
                let rows = seen.sides[column][side ^ 1 ^ sums.side(column)].rows;
                let allowed = look.ask.min_rows <= 1 || rows >= look.ask.min_rows;
                let cost = if allowed { leaf + look.ask.leaf_cost } else { INFINITE };
                self.values[0].set_side(column, side, cost);
            }
        }
        self.with.resize_with(if levels > 3 { n } else { 1 }, PairTable::default);
        sums.sum(look, look.view, n, &mut self.all)?;
        self.go_through(look, task, sums, &[], levels);
        for column in 2..n {
            self.add(look, sums, &[column])?;
            self.go_through(look, task, sums, &[column], levels);
        }
        if levels > 3 {
            for larger in 3..n {
                self.take_rows(look, sums, larger);
                for column in 2..larger {
                    self.add(look, sums, &[column, larger])?;
                    self.go_through(look, task, sums, &[column, larger], levels);
                }
            }
        }
        for m in (2..levels).rev() {
            let values = &mut self.values[m - 2..m];
            look.level.run(
                #[inline(always)]
                || lower_all(values),
            );
        }
        let values = &self.values[0];
        let of =
            |column: usize| [0, 1].map(|side| values.of_side(column, side ^ 1 ^ sums.side(column)));
        Ok((0..n).map(of).collect())
    }

    /// The rows with a column.
    fn take_rows(&mut self, look: &Look, sums: &dyn SumsPairs, column: usize) {
        let to = (column, sums.side(column));
        look.view.child(to, false, look.level, &mut self.views[0], &mut self.mask);
    }

    /// Sum the rows with one column, or with two, of which those of the larger one are taken.
    fn add(
        &mut self,
        look: &Look,
        sums: &mut dyn SumsPairs,
        columns: &[usize],
    ) -> Result<(), Unfinished> {
        if (look.halt)() {
            return Err(Unfinished::Stopped);
        }
        match *columns {
            [column] => {
                self.take_rows(look, sums, column);
                let at = column.min(self.with.len() - 1);
                sums.sum(look, &self.views[0], column, &mut self.with[at])
            }
            [column, _] => {
                let [with, both] = &mut self.views;
                with.child((column, sums.side(column)), false, look.level, both, &mut self.mask);
                sums.sum(look, both, column, &mut self.with_both)
            }
            _ => Ok(()),
        }
    }

    /// Cost the cells of `columns` and two columns more that are smaller.
    fn go_through(
        &mut self,
        look: &Look,
        task: &dyn Task,
        sums: &dyn SumsPairs,
        columns: &[usize],
        levels: usize,
    ) {
        let ColumnSets { values, all, with, with_both, cells, parts, .. } = self;
        let one = |column: usize| &with[column.min(with.len() - 1)];
        let tables: [&PairTable; 4] = match *columns {
            [] => [&*all; 4],
            [column] => [&*all, one(column), all, all],
            [column, larger] => [&*all, one(column), one(larger), with_both],
            _ => unreachable!("sets hold at most four columns"),
        };
        let limit = columns.first().copied().unwrap_or(look.view.columns.len());
        let set = Set {
            tables: &tables[..1 << columns.len()],
            width: sums.width(),
            n_stats: task.width(),
            others: Others::of(columns),
            limit,
        };
        look.level.run(
            #[inline(always)]
            || parts.fill(&set),
        );
        let most = task.leaves_at_once();
        let mut from = 1;
        while from < limit {
            let (mut to, mut n) = (from, 0);
            while to < limit && (n == 0 || n + ((4 * to) << columns.len()) <= most) {
                n += (4 * to) << columns.len();
                to += 1;
            }
            look.level.run(
                #[inline(always)]
                || set.put(parts, from..to, look.ask.min_rows > 1, cells),
            );
            cells.evaluate(task, look.ask.min_rows);
            let values = &mut values[columns.len()..];
            let is_last = columns.len() + 2 == levels;
            look.level.run(
                #[inline(always)]
                || set.take(from..to, look.ask.leaf_cost, cells, values, is_last),
            );
            from = to;
        }
    }
}

/// The sets of some columns and two that are smaller.
struct Set<'t> {
    /// By which of the columns rows have: sums over the rows that have these.
    tables: &'t [&'t PairTable],
    width: usize,
    n_stats: usize,
    others: Others,
    /// The smallest of the columns.
    limit: usize,
}

/// From sums over the rows that have some columns: over those that have these, and not the others.
#[inline(always)]
fn exclude<const N: usize>(rows: &mut [[i64; N]]) {
    let mut bit = 1;
    while bit < rows.len() {
        for cell in 0..rows.len() {
            if cell & bit == 0 {
                for l in 0..N {
                    rows[cell][l] -= rows[cell | bit][l];
                }
            }
        }
        bit *= 2;
    }
}

impl Parts {
    #[inline(always)]
    fn fill(&mut self, set: &Set) {
        let (n, width) = (set.tables.len(), set.width);
        let blocks = set.limit.div_ceil(LANES);
        clear(&mut self.ones, n * blocks * width, [0; LANES]);
        clear(&mut self.totals, n * width, 0);
        let mut rows = [[0; LANES]; 4];
        for at in 0..blocks * width {
            for (rows, table) in rows.iter_mut().zip(set.tables) {
                *rows = table.ones[at];
            }
            exclude(&mut rows[..n]);
            for cell in 0..n {
                self.ones[cell * blocks * width + at] = rows[cell];
            }
        }
        let mut totals = [[0]; 4];
        for s in 0..width {
            for (total, table) in totals.iter_mut().zip(set.tables) {
                *total = [table.totals[s]];
            }
            exclude(&mut totals[..n]);
            for cell in 0..n {
                self.totals[cell * width + s] = totals[cell][0];
            }
        }
    }
}

impl Set<'_> {
    /// Where the last columns stand: by column, block and cell of the others.
    #[inline(always)]
    fn places(
        &self,
        columns: std::ops::Range<usize>,
    ) -> impl Iterator<Item = (usize, usize)> + Clone + use<> {
        columns.flat_map(|column| (0..column.div_ceil(LANES)).map(move |block| (column, block)))
    }

    #[inline(always)]
    fn put(
        &self,
        parts: &Parts,
        columns: std::ops::Range<usize>,
        count_rows: bool,
        cells: &mut Cells,
    ) {
        let n = self.tables.len();
        let (width, blocks) = (self.width, self.limit.div_ceil(LANES));
        let places = self.places(columns);
        let lanes = places.clone().flat_map(|(column, block)| {
            std::iter::repeat_n(0..LANES.min(column - block * LANES), n)
        });
        cells.begin(lanes, self.n_stats, count_rows);
        let mut rows = [[0; LANES]; 4];
        for (place, (column, block)) in places.enumerate() {
            for s in 0..width {
                for (rows, table) in rows.iter_mut().zip(self.tables) {
                    *rows = *table.pair(column, block, s);
                }
                exclude(&mut rows[..n]);
                for (cell, both) in rows[..n].iter().enumerate() {
                    let ones = &parts.ones[cell * blocks * width..];
                    let one = ones[column / LANES * width + s][column % LANES];
                    let of_column = [one, parts.totals[cell * width + s] - one];
                    let (place, with) = (place * n + cell, &ones[block * width + s]);
                    match s < self.n_stats {
                        true => cells.put(s, place, of_column, with, both),
                        false => cells.put_rows(place, of_column, with, both),
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn take(
        &self,
        columns: std::ops::Range<usize>,
        leaf_cost: Cost,
        cells: &mut Cells,
        values: &mut [Values<Cost>],
        is_last: bool,
    ) {
        let n = self.tables.len();
        cells.penalize(leaf_cost);
        for (place, (column, block)) in self.places(columns).enumerate() {
            let from = block * LANES;
            let of = |cell: usize| cells.costs_of(place * n + (cell >> 2), cell & 3);
            let lanes = LANES.min(column - from);
            if is_last {
                lower(&mut values[0], self.others, (column, from), lanes, of);
            } else {
                let (others, values) = (self.others.and(column), &mut values[1]);
                for cell in 0..4 * n {
                    let at = values.at(others.list(), cell) + from;
                    values.costs[at..][..lanes].copy_from_slice(of(cell));
                }
            }
        }
    }
}
