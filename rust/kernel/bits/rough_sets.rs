//! What both sides of every column cost at least as the best trees of a few levels, from all sets
//! of so many columns at once, in single precision.
//!
//! Sets, cells and values are those of `column_sets`. But cells are costed by the task's rough
//! losses (`task/rough.rs`), 16 smallest columns at a time: sums, losses and what they lower stay
//! in registers. What the numbers round is taken off at the end, so that lower bounds come out.
//! They leave open the splits that cost about as little as the best one, and the search looks at
//! those.

use super::bit_kernel::Look;
use super::lanes::lanes_of;
use super::pair_tables::{PairTable, SumsPairs, clear};
use super::set_values::{Others, SetCost, Values, lower_all, without};
use crate::bits::{LANES, Level};
use crate::cost::Cost;
use crate::kernel::look::{Lookahead, Unfinished, vec_bytes};
use crate::task::{AT_ONCE, Rough, RoughFormula, RoughLeaves, Sums};
use crate::view::View;

/// Scratch memory.
#[derive(Debug, Default)]
pub struct RoughSets {
    /// By columns of a set but one.
    values: [Values<f32>; 4],
    /// Sums as they are added up: over all rows, and over some.
    whole: PairTable,
    part: PairTable,
    /// Sums over all rows, those with one column, with two, and with three.
    all: Table,
    with: Vec<Table>,
    with_two: Vec<Table>,
    with_three: Table,
    /// The rows with the largest column of a set, with the two largest, and with three.
    views: [View; 3],
    /// All rows with the statistics that leaves are costed by, where rows have any.
    root: Option<View>,
    mask: Vec<u64>,
    ones: Vec<Sums>,
}

/// Sums over single columns and pairs of columns, in 31 bits.
#[derive(Debug, Default)]
struct Table {
    width: usize,
    chunks: usize,
    totals: Vec<i32>,
    /// By chunk of columns, then statistic.
    ones: Vec<Sums>,
    /// By column, then chunk of the smaller columns, then statistic.
    both: Vec<Sums>,
}

/// More columns than this are not gone through by sets of three, which take the square of it in
/// memory, nor by sets of four and five, which take the third and fourth power.
const MOST_COLUMNS: usize = 512;
const MOST_COLUMNS_OF_FOUR: usize = 160;
const MOST_COLUMNS_OF_FIVE: usize = 80;

/// How many statistics leaves are costed by: those of four classes if there are three.
fn width_of(formula: RoughFormula) -> usize {
    match formula {
        RoughFormula::GiniOfTwo(_) | RoughFormula::EntropyOfTwo(_) | RoughFormula::Ratio(_) => 2,
        RoughFormula::GiniOfFour(_) | RoughFormula::EntropyOfFour(_) => 4,
    }
}

/// A chunk of columns, without the last bits of their sums.
#[inline(always)]
fn chunk(row: &[i64; LANES], chunk: usize, shift: u32) -> Sums {
    let from = chunk % (LANES / AT_ONCE) * AT_ONCE;
    let mut sums = [0; AT_ONCE];
    for l in 0..AT_ONCE {
        sums[l] = (row[from + l] >> shift) as i32;
    }
    sums
}

impl Table {
    /// Statistics that the sums do not have are 0.
    fn fill(&mut self, sums: &PairTable, limit: usize, rough: &Rough, level: Level) {
        level.run(
            #[inline(always)]
            || self.take_over(sums, limit, rough),
        );
    }

    #[inline(always)]
    fn take_over(&mut self, sums: &PairTable, limit: usize, rough: &Rough) {
        let (width, chunks) = (width_of(rough.formula), limit.div_ceil(AT_ONCE));
        (self.width, self.chunks) = (width, chunks);
        clear(&mut self.totals, width, 0);
        clear(&mut self.ones, chunks * width, [0; AT_ONCE]);
        // All that is read is written, unless there are statistics more.
        if width > rough.width {
            self.both.clear();
        }
        self.both.resize(limit * chunks * width, [0; AT_ONCE]);
        for s in 0..rough.width {
            let shift = rough.shifts[s];
            self.totals[s] = (sums.totals[s] >> shift) as i32;
            for at in 0..chunks {
                let row = sums.one(at * AT_ONCE / LANES, s);
                self.ones[at * width + s] = chunk(row, at, shift);
            }
            for column in 0..limit {
                for at in 0..column.div_ceil(AT_ONCE) {
                    let row = sums.pair(column, at * AT_ONCE / LANES, s);
                    self.both[(column * chunks + at) * width + s] = chunk(row, at, shift);
                }
            }
        }
    }

    #[inline(always)]
    fn both<const W: usize>(&self, column: usize, chunk: usize) -> &[Sums; W] {
        let at = (column * self.chunks + chunk) * W;
        self.both[at..].first_chunk().expect("a column has all chunks of the smaller ones")
    }

    fn bytes(&self) -> usize {
        vec_bytes(&self.totals) + vec_bytes(&self.ones) + vec_bytes(&self.both)
    }

    fn bytes_for(limit: usize, width: usize) -> usize {
        (limit + 1) * limit.div_ceil(AT_ONCE) * width * size_of::<Sums>()
    }
}

/// The place of two columns; of the only one, if there is but one.
fn pair(column: usize, larger: usize, places: usize) -> usize {
    (larger * (larger - 1) / 2 + column).min(places - 1)
}

impl RoughSets {
    /// Bytes that this takes for so many levels, of tasks of `width` statistics; none where the
    /// view has too many columns.
    pub fn bytes_for(view: &View, levels: usize, rough: &Rough, width: usize) -> Option<usize> {
        let n = view.columns.len();
        let most = match n {
            0..2 => 0,
            2..=MOST_COLUMNS_OF_FIVE => 5,
            _ if n <= MOST_COLUMNS_OF_FOUR => 4,
            _ if n <= MOST_COLUMNS => 3,
            _ => 0,
        };
        let values: usize = (1..levels).map(|m| Values::<f32>::bytes_for(n, m)).sum();
        let table = |limit: usize| Table::bytes_for(limit, width_of(rough.formula));
        let tables = match levels {
            ..=3 => 4 * table(n),
            4 => (n + 3) * table(n),
            // Of two columns, one of each smaller one and all larger ones.
            _ => {
                (n + 2) * table(n)
                    + (0..n).map(|column| (n - column) * table(column)).sum::<usize>()
            }
        };
        // All rows, those with one column, with two and with three, and the lanes of some of them.
        let views = 4 * view.bytes() + lanes_of(view);
        let own = values + 2 * PairTable::bytes_for(n, width) + tables;
        (levels <= most).then_some(own + views)
    }

    pub fn bytes(&self) -> usize {
        let tables = self.with.iter().chain(&self.with_two).chain([&self.all, &self.with_three]);
        self.values.iter().map(Values::bytes).sum::<usize>()
            + tables.map(Table::bytes).sum::<usize>()
            + self.whole.bytes()
            + self.part.bytes()
            + self.views.iter().chain(&self.root).map(View::bytes).sum::<usize>()
            + vec_bytes(&self.ones)
    }

    /// What both sides of every column cost at least as trees of `levels` − 1 levels, with leaf
    /// penalties. `seen` is the look at the same view.
    pub fn least(
        &mut self,
        look: &Look,
        rough: &Rough,
        sums: &mut dyn SumsPairs,
        levels: usize,
        seen: &Lookahead,
    ) -> Result<Vec<[Cost; 2]>, Unfinished> {
        let n = look.view.columns.len();
        sums.begin(look);
        for m in 1..levels {
            self.values[m - 1].clear(n, m);
        }
        self.with.resize_with(if levels > 3 { n } else { 1 }, Table::default);
        self.with_two.resize_with(if levels > 4 { n * n / 2 } else { 1 }, Table::default);
        sums.sum(look, look.view, n, &mut self.whole)?;
        self.all.fill(&self.whole, n, rough, look.level);
        sums.keep(rough.width);
        self.root = (!look.view.costs.is_empty()).then(|| look.view.with_costs(rough.width));
        self.go_through(look, rough, &[], levels);
        for column in 2..n {
            self.go_on(look, rough, sums, &[column], levels)?;
        }
        for larger in (3..n).filter(|_| levels > 3) {
            self.take_rows(look, sums, larger, 0);
            for column in 2..larger {
                self.go_on(look, rough, sums, &[column, larger], levels)?;
            }
        }
        for largest in (4..n).filter(|_| levels > 4) {
            self.take_rows(look, sums, largest, 0);
            for larger in 3..largest {
                self.take_rows(look, sums, larger, 1);
                for column in 2..larger {
                    self.go_on(look, rough, sums, &[column, larger, largest], levels)?;
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
        let leaf_cost = look.ask.leaf_cost;
        let bound = |column: usize, side: usize| {
            let summed = side ^ 1 ^ sums.side(column);
            let value = self.values[0].of_side(column, summed);
            let of_side = |s: usize| {
                let one = self.whole.one(column / LANES, s)[column % LANES];
                if summed == 1 { one } else { self.whole.totals[s] - one }
            };
            let own: Vec<i64> = (0..self.whole.totals.len()).map(of_side).collect();
            // A single leaf is known exactly.
            let leaf = seen.sides[column][side].leaf + leaf_cost;
            leaf.min(rough.bound(&own, value, leaf_cost))
        };
        Ok((0..n).map(|column| [0, 1].map(|side| bound(column, side))).collect())
    }

    /// Take the rows with a column, of all rows or of those that were taken at the place before.
    fn take_rows(&mut self, look: &Look, sums: &dyn SumsPairs, column: usize, place: usize) {
        let (before, to) = self.views.split_at_mut(place);
        let of = before.last().or(self.root.as_ref()).unwrap_or(look.view);
        of.child((column, sums.side(column)), false, look.level, &mut to[0], &mut self.mask);
    }

    /// Sum the rows with some columns, of which those with all but the smallest one are taken, and
    /// go through all sets that have two smaller columns more.
    fn go_on(
        &mut self,
        look: &Look,
        rough: &Rough,
        sums: &mut dyn SumsPairs,
        columns: &[usize],
        levels: usize,
    ) -> Result<(), Unfinished> {
        if (look.halt)() {
            return Err(Unfinished::Stopped);
        }
        let place = columns.len() - 1;
        self.take_rows(look, sums, columns[0], place);
        sums.sum(look, &self.views[place], columns[0], &mut self.part)?;
        let table = match *columns {
            [column] => {
                let at = column.min(self.with.len() - 1);
                &mut self.with[at]
            }
            [column, larger] => {
                let at = pair(column, larger, self.with_two.len());
                &mut self.with_two[at]
            }
            _ => &mut self.with_three,
        };
        table.fill(&self.part, columns[0], rough, look.level);
        self.go_through(look, rough, columns, levels);
        Ok(())
    }

    /// Cost the cells of `columns` and two columns more that are smaller.
    fn go_through(&mut self, look: &Look, rough: &Rough, columns: &[usize], levels: usize) {
        let RoughSets { values, all, with, with_two, with_three, ones, .. } = self;
        let all = &*all;
        let one = |column: usize| &with[column.min(with.len() - 1)];
        let two = |column: usize, larger: usize| &with_two[pair(column, larger, with_two.len())];
        let tables: [&Table; 8] = match *columns {
            [] => [all; 8],
            [b] => [all, one(b), all, all, all, all, all, all],
            [b, c] => [all, one(b), one(c), two(b, c), all, all, all, all],
            [b, c, d] => [all, one(b), one(c), two(b, c), one(d), two(b, d), two(c, d), with_three],
            _ => unreachable!("sets hold at most five columns"),
        };
        let mut set = Set {
            tables,
            others: Others::of(columns),
            limit: columns.first().copied().unwrap_or(look.view.columns.len()),
            beside: beside(rough.penalty(look.ask.leaf_cost)),
            is_last: columns.len() + 2 == levels,
            values: &mut values[columns.len()..],
            ones,
        };
        match rough.formula {
            RoughFormula::GiniOfTwo(leaves) => set.go_through(look.level, leaves),
            RoughFormula::GiniOfFour(leaves) => set.go_through(look.level, leaves),
            RoughFormula::EntropyOfTwo(leaves) => set.go_through(look.level, leaves),
            RoughFormula::EntropyOfFour(leaves) => set.go_through(look.level, leaves),
            RoughFormula::Ratio(leaves) => set.go_through(look.level, leaves),
        }
    }
}

/// The sets of some columns and two that are smaller.
struct Set<'t> {
    /// By which of the columns rows have: sums over the rows that have these.
    tables: [&'t Table; 8],
    others: Others,
    /// The smallest of the columns.
    limit: usize,
    /// What leaves cost beside their losses, where so many columns of a chunk are smaller: of the
    /// others, too much.
    beside: [Costs; AT_ONCE + 1],
    is_last: bool,
    /// Of sets with one column more than the others, and with two.
    values: &'t mut [Values<f32>],
    /// Sums over single columns: by chunk, cell of the others, and statistic.
    ones: &'t mut Vec<Sums>,
}

/// From sums over the rows that have some columns: over those that have these, and not the others.
#[inline(always)]
fn exclude<const N: usize, const W: usize>(cells: &mut [[Sums; W]; N]) {
    let mut bit = 1;
    while bit < N {
        for cell in 0..N {
            if cell & bit == 0 {
                for s in 0..W {
                    cells[cell][s] = less(&cells[cell][s], &cells[cell | bit][s]);
                }
            }
        }
        bit *= 2;
    }
}

type Costs = [f32; AT_ONCE];

fn beside(penalty: f32) -> [Costs; AT_ONCE + 1] {
    let of = |n: usize, l: usize| if l < n { penalty } else { f32::MOST };
    std::array::from_fn(|n| std::array::from_fn(|l| of(n, l)))
}

#[inline(always)]
fn lower(to: &mut [f32], a: &Costs, b: &Costs) {
    let to: &mut Costs = to.first_chunk_mut().expect("values are whole chunks");
    let known = *to;
    let mut lowered = [0.0; AT_ONCE];
    for l in 0..AT_ONCE {
        lowered[l] = known[l].lesser(a[l] + b[l]);
    }
    *to = lowered;
}

#[inline(always)]
fn plus(a: &Costs, b: &Costs) -> Costs {
    let mut sum = [0.0; AT_ONCE];
    for l in 0..AT_ONCE {
        sum[l] = a[l] + b[l];
    }
    sum
}

#[inline(always)]
fn less(a: &Sums, b: &Sums) -> Sums {
    let mut rest = [0; AT_ONCE];
    for l in 0..AT_ONCE {
        // Places of no column hold any numbers.
        rest[l] = a[l].wrapping_sub(b[l]);
    }
    rest
}

#[inline(always)]
fn least_of(costs: &Costs) -> f32 {
    let (mut least, mut n) = (*costs, AT_ONCE);
    while n > 1 {
        n /= 2;
        for l in 0..n {
            least[l] = least[l].lesser(least[l + n]);
        }
    }
    least[0]
}

impl Set<'_> {
    fn go_through<F: RoughLeaves<W>, const W: usize>(&mut self, level: Level, leaves: F) {
        match self.others.n {
            0 => level.run(
                #[inline(always)]
                || self.by_cells::<F, W, 1>(leaves),
            ),
            1 => level.run(
                #[inline(always)]
                || self.by_cells::<F, W, 2>(leaves),
            ),
            2 => level.run(
                #[inline(always)]
                || self.by_cells::<F, W, 4>(leaves),
            ),
            _ => level.run(
                #[inline(always)]
                || self.by_cells::<F, W, 8>(leaves),
            ),
        }
    }

    /// `N`: cells of the other columns.
    #[inline(always)]
    fn by_cells<F: RoughLeaves<W>, const W: usize, const N: usize>(&mut self, leaves: F) {
        let totals: [[i32; W]; N] = {
            let of = |cell: usize, s: usize| [self.tables[cell].totals[s]; AT_ONCE];
            let mut cells: [[Sums; W]; N] =
                std::array::from_fn(|cell| std::array::from_fn(|s| of(cell, s)));
            exclude(&mut cells);
            cells.map(|cell| cell.map(|sums| sums[0]))
        };
        let chunks = self.limit.div_ceil(AT_ONCE);
        clear(self.ones, chunks * N * W, [0; AT_ONCE]);
        for (chunk, to) in self.ones.chunks_exact_mut(N * W).enumerate() {
            let of = |cell: usize, s: usize| self.tables[cell].ones[chunk * W + s];
            let mut cells: [[Sums; W]; N] =
                std::array::from_fn(|cell| std::array::from_fn(|s| of(cell, s)));
            exclude(&mut cells);
            for (to, cell) in to.chunks_exact_mut(W).zip(&cells) {
                to.copy_from_slice(cell);
            }
        }
        for column in 1..self.limit {
            self.with_column::<F, W, N>(column, &totals, leaves);
        }
    }

    /// All sets of the others, a column, and a smaller one.
    #[inline(always)]
    fn with_column<F: RoughLeaves<W>, const W: usize, const N: usize>(
        &mut self,
        column: usize,
        totals: &[[i32; W]; N],
        leaves: F,
    ) {
        let own = &self.ones[column / AT_ONCE * N * W..][..N * W];
        let mut one = [[0; W]; N];
        for cell in 0..N {
            for s in 0..W {
                one[cell][s] = own[cell * W + s][column % AT_ONCE];
            }
        }
        let mut least = [[[f32::MOST; AT_ONCE]; 2]; N];
        for chunk in 0..column.div_ceil(AT_ONCE) {
            let from = chunk * AT_ONCE;
            // Columns that are not smaller are left out.
            let beside = self.beside[(column - from).min(AT_ONCE)];
            let mut both = [[[0; AT_ONCE]; W]; N];
            for (both, table) in both.iter_mut().zip(self.tables) {
                *both = *table.both(column, chunk);
            }
            exclude(&mut both);
            let mut costs = [[[0.0; AT_ONCE]; 4]; N];
            for cell in 0..N {
                let at = (chunk * N + cell) * W;
                let ones: &[Sums; W] = self.ones[at..].first_chunk().expect("one for each cell");
                // By side of the column, then of the smaller one.
                let mut sums = [[[0; AT_ONCE]; W]; 4];
                sums[3] = both[cell];
                for s in 0..W {
                    let (with, without) = (one[cell][s], totals[cell][s] - one[cell][s]);
                    sums[1][s] = less(&ones[s], &sums[3][s]);
                    sums[2][s] = less(&[with; AT_ONCE], &sums[3][s]);
                    sums[0][s] = less(&[without; AT_ONCE], &sums[1][s]);
                }
                for side in 0..4 {
                    costs[cell][side] = plus(&leaves.losses(&sums[side]), &beside);
                }
            }
            if self.is_last {
                self.lower::<N>((column, from), &costs, &mut least);
            } else {
                let (others, values) = (self.others.and(column), &mut self.values[1]);
                for (cell, costs) in costs.as_flattened().iter().enumerate() {
                    let at = values.at(others.list(), cell) + from;
                    values.costs[at..][..AT_ONCE].copy_from_slice(costs);
                }
            }
        }
        if self.is_last {
            let values = &mut self.values[0];
            for (cell, least) in least.as_flattened().iter().enumerate() {
                let at = values.at(self.others.list(), cell) + column;
                let known = &mut values.costs[at];
                *known = known.lesser(least_of(least));
            }
        }
    }

    /// Lower the sets without one of the columns. `least`: those without the smallest one.
    #[inline(always)]
    fn lower<const N: usize>(
        &mut self,
        (column, from): (usize, usize),
        costs: &[[Costs; 4]; N],
        least: &mut [[Costs; 2]; N],
    ) {
        let (others, values) = (self.others, &mut self.values[0]);
        for cell in 0..N {
            for side in 0..2 {
                lower(&mut least[cell][side], &costs[cell][2 * side], &costs[cell][2 * side + 1]);
                let at = values.at(others.list(), cell << 1 | side) + from;
                lower(&mut values.costs[at..], &costs[cell][side], &costs[cell][2 | side]);
            }
        }
        for place in 0..others.n {
            let (rest, bit) = (others.but(place).and(column), 1 << place);
            for cell in (0..N).filter(|cell| cell & bit == 0) {
                for sides in 0..4 {
                    let at = values.at(rest.list(), without(cell << 2 | sides, place + 2)) + from;
                    lower(&mut values.costs[at..], &costs[cell][sides], &costs[cell | bit][sides]);
                }
            }
        }
    }
}
