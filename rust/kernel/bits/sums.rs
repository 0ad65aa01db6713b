//! Any task whose statistics add up: sums over pairs of columns, costed by the task itself.

use super::bit_kernel::{BitKernel, Look};
use super::cells::{Cells, Stumps};
use super::pair_sums::{self, PairSums, Tile};
use super::pair_tables::{PairTable, SumsPairs};
use super::sets::Sets;
use super::side_masses::SideMasses;
use crate::bits::LANES;
use crate::cost::Cost;
use crate::kernel::look::{Ask, BothSides, Halt, Lookahead, Side, Unfinished, vec_bytes};
use crate::task::Task;
use crate::view::View;

/// How many numbers of an entry stand between its statistics and its masses: its worst and its
/// least cost, and its rows, which count where questions cost something.
const MASSES: usize = 3;

/// The kernel of tasks of which nothing is known but what leaves cost.
pub struct NumberSums<'a> {
    task: &'a dyn Task,
    sums: pair_sums::Scratch,
    cells: Cells,
    /// Statistics side by side, and costs, of single columns.
    singles: Vec<i64>,
    costs: Vec<Cost>,
    /// On the 0 sides and on the 1 sides of columns, turned or not.
    best: Stumps,
    /// What pays for questions, if they cost something.
    masses: SideMasses,
    sets: Sets,
}

impl<'a> NumberSums<'a> {
    pub fn new(task: &'a dyn Task) -> Self {
        NumberSums {
            task,
            sums: Default::default(),
            cells: Cells::default(),
            singles: Vec::new(),
            costs: Vec::new(),
            best: Stumps::default(),
            masses: SideMasses::default(),
            sets: Sets::default(),
        }
    }

    /// The statistics that pairs are summed of: those of leaves, and rows where a leaf must hold
    /// some. Worst and least costs stand between them.
    fn summed(&self, look: &Look) -> usize {
        if look.ask.min_rows > 1 { look.bits.n_stats + 3 } else { look.bits.n_stats }
    }

    /// Costs and bounds of all rows, and of both sides of every column.
    fn sides(&mut self, look: &Look, out: &mut Lookahead) {
        let (n, n_stats) = (look.view.columns.len(), look.bits.n_stats);
        let width = look.bits.width;
        let mut sums = PairSums::new(look, &mut self.sums);
        look.level.run(
            #[inline(always)]
            || {
                sums.turn();
                match width {
                    ..=4 => sums.add_singles::<4>(),
                    _ => sums.add_singles::<8>(),
                }
            },
        );
        // All rows, then by column the rows with it, turned or not, and the others.
        let leaves = 2 * n + 1;
        let at = |statistic: usize, column: usize| {
            sums.scratch.ones[column / LANES * width + statistic][column % LANES]
        };
        self.singles.clear();
        for statistic in 0..n_stats {
            let total = sums.scratch.totals[statistic];
            self.singles.push(total);
            self.singles.extend((0..n).map(|column| at(statistic, column)));
            self.singles.extend((0..n).map(|column| total - at(statistic, column)));
        }
        self.costs.clear();
        self.costs.resize(leaves, 0);
        self.task.leaf_costs(&self.singles, &mut self.costs);
        let side = |leaf: Cost, sum: &dyn Fn(usize) -> i64| Side {
            leaf,
            least: sum(n_stats + 1),
            worst: sum(n_stats),
            rows: if width > n_stats + 2 { sum(n_stats + 2) } else { 0 },
        };
        let totals = &sums.scratch.totals;
        out.whole = side(self.costs[0], &|s| totals[s]);
        for (column, sides) in out.sides.iter_mut().enumerate() {
            let [with, without] = [self.costs[1 + column], self.costs[1 + n + column]];
            self.task.check_union(out.whole.leaf, with, without);
            let turned = sums.turned(column);
            sides[1 ^ turned] = side(with, &|s| at(s, column));
            sides[turned] = side(without, &|s| totals[s] - at(s, column));
        }
        if let Some(offer) = look.prices() {
            let first = n_stats + MASSES;
            self.masses.begin(n, totals[first..width].iter().copied());
            for column in 0..n {
                (first..width).for_each(|s| self.masses.put(column, s - first, at(s, column)));
            }
            self.masses.write(offer, |column| sums.turned(column), out);
        }
    }

    /// Where leaves may be empty, a split is the best of stumps if it splits nothing.
    fn start_stumps(&mut self, look: &Look, out: &Lookahead) {
        let n = out.sides.len();
        self.best.begin(n);
        for column in (0..n).filter(|_| look.ask.min_rows <= 1) {
            self.best.lower(column, 1, self.costs[1 + column]);
            self.best.lower(column, 0, self.costs[1 + n + column]);
        }
    }

    /// The best stumps of all pairs of columns.
    fn pairs(&mut self, look: &Look) -> Result<(), Unfinished> {
        let n = look.view.columns.len();
        for tiles in PairSums::new(look, &mut self.sums).pairs_of_tiles() {
            match self.summed(look) {
                ..=2 => self.sum::<2>(look, tiles.clone())?,
                3..=4 => self.sum::<4>(look, tiles.clone())?,
                _ => self.sum::<8>(look, tiles.clone())?,
            }
            for (i, j) in pair_sums::blocks(tiles.clone()) {
                let columns: Vec<usize> = (i * LANES..n.min((i + 1) * LANES)).collect();
                for columns in columns.chunks(Cells::columns_at_once(self.task, 1)) {
                    if (look.halt)() {
                        return Err(Unfinished::Stopped);
                    }
                    self.evaluate(look, &tiles, columns, j);
                }
            }
        }
        Ok(())
    }

    fn sum<const W: usize>(&mut self, look: &Look, tiles: (Tile, Tile)) -> Result<(), Unfinished> {
        let (summed, halt): (usize, Halt) = (self.summed(look), look.halt);
        let mut sums = PairSums::new(look, &mut self.sums);
        look.level.run(
            #[inline(always)]
            || sums.sum::<W>(tiles, summed, halt),
        )
    }

    /// Take in the stumps of some columns of one block with those of another.
    fn evaluate(&mut self, look: &Look, (i, j): &(Tile, Tile), columns: &[usize], block: usize) {
        let (width, n_stats, summed) = (look.bits.width, look.bits.n_stats, self.summed(look));
        let count_rows = look.ask.min_rows > 1;
        // Of its own block, only the columns behind a column are summed with it.
        let n = look.view.columns.len();
        let last = LANES.min(n - block * LANES);
        let first = |column: usize| if column / LANES == block { column % LANES + 1 } else { 0 };
        self.cells.begin(columns.iter().map(|&column| first(column)..last), n_stats, count_rows);
        for (place, &column) in columns.iter().enumerate() {
            let mut sums = PairSums::new(look, &mut self.sums);
            match summed {
                ..=2 => sums.gather::<2>((i, j), (column, block), summed),
                3..=4 => sums.gather::<4>((i, j), (column, block), summed),
                _ => sums.gather::<8>((i, j), (column, block), summed),
            }
            let pair_sums::Scratch { totals, ones, both, .. } = &self.sums;
            let parts = |s: usize| {
                let one = ones[column / LANES * width + s][column % LANES];
                ([one, totals[s] - one], &ones[block * width + s], &both[s])
            };
            for s in 0..n_stats {
                let (of_i, with_j, both) = parts(s);
                self.cells.put(s, place, of_i, with_j, both);
            }
            if count_rows {
                let (of_i, with_j, both) = parts(n_stats + 2);
                self.cells.put_rows(place, of_i, with_j, both);
            }
        }
        self.cells.evaluate(self.task, look.ask.min_rows);
        for (place, &column) in columns.iter().enumerate() {
            let beside = self.masses.beside_leaves(look, column, block);
            self.best.take(beside.as_ref(), &self.cells, place, (column, block));
        }
    }
}

impl BitKernel for NumberSums<'_> {
    fn takes(&mut self, _look: &Look) -> bool {
        true
    }

    fn counts_lanes(&self) -> bool {
        false
    }

    fn look(&mut self, look: &Look, out: &mut Lookahead) -> Result<(), Unfinished> {
        self.sides(look, out);
        if look.ask.stumps && !look.view.columns.is_empty() {
            self.start_stumps(look, out);
            self.pairs(look)?;
            let sums = PairSums::new(look, &mut self.sums);
            for (column, stumps) in out.stumps.iter_mut().enumerate() {
                let turned = sums.turned(column);
                for side in 0..2 {
                    stumps[side] = self.best.best(column, side ^ turned);
                }
            }
        }
        match self.task.failure() {
            None => Ok(()),
            Some(_) => Err(Unfinished::TaskFailed),
        }
    }

    fn both_sides(
        &mut self,
        look: &Look,
        levels: usize,
        seen: &Lookahead,
    ) -> Result<Option<BothSides>, Unfinished> {
        let n_stats = look.bits.n_stats;
        let rows = (look.ask.min_rows > 1).then_some(n_stats + 2);
        let kept = (0..n_stats).chain(rows).collect();
        let mut sums = Tables { sums: &mut self.sums, kept, width: look.bits.width };
        self.sets.both_sides(look, self.task, &mut sums, levels, seen)
    }

    fn bytes_for_both_sides(&self, view: &View, ask: Ask, levels: usize) -> Option<usize> {
        self.sets.bytes_for(view, ask, levels, self.task)
    }

    fn sum_pairs(&mut self, look: &Look) {
        let summed = self.summed(look);
        let mut sums = PairSums::new(look, &mut self.sums);
        sums.turn();
        match summed {
            ..=2 => sums.sum_all::<2>(summed),
            3..=4 => sums.sum_all::<4>(summed),
            _ => sums.sum_all::<8>(summed),
        }
    }

    fn bytes(&self) -> usize {
        self.sums.bytes()
            + self.cells.bytes()
            + vec_bytes(&self.singles)
            + vec_bytes(&self.costs)
            + self.best.bytes()
            + self.masses.bytes()
            + self.sets.bytes()
    }
}

/// The sums of pairs for sets of columns.
struct Tables<'s> {
    sums: &'s mut pair_sums::Scratch,
    /// Which numbers of an entry are summed.
    kept: Vec<usize>,
    /// How many numbers an entry has.
    width: usize,
}

impl SumsPairs for Tables<'_> {
    fn width(&self) -> usize {
        self.kept.len()
    }

    fn keep(&mut self, n: usize) {
        self.kept.truncate(n);
        self.width = n;
    }

    fn begin(&mut self, look: &Look) {
        PairSums::new(look, self.sums).turn();
    }

    fn side(&self, column: usize) -> usize {
        1 ^ (self.sums.turned[column / LANES] >> (column % LANES) & 1) as usize
    }

    fn sum(
        &mut self,
        look: &Look,
        view: &View,
        limit: usize,
        table: &mut PairTable,
    ) -> Result<(), Unfinished> {
        let mut sums = PairSums::new(&Look { view, ..*look }, self.sums);
        sums.width = self.width;
        look.level.run(
            #[inline(always)]
            || match self.kept.len() {
                ..=2 => sums.tabulate::<2>(limit, &self.kept, table, look.halt),
                3..=4 => sums.tabulate::<4>(limit, &self.kept, table, look.halt),
                _ => sums.tabulate::<8>(limit, &self.kept, table, look.halt),
            },
        )
    }
}
