//! Any task whose statistics are counts: rows are counted in lanes, and cells costed by the task
//! itself.

use super::bit_kernel::{BitKernel, Look};
use super::cells::{Cells, Row, Stumps};
use super::lanes::Blocks;
use super::pair_tables::{PairTable, SumsPairs};
use super::sets::Sets;
use super::side_masses::SideMasses;
use super::tally::{ClassTally, Tile};
use crate::bits::LANES;
use crate::cost::Cost;
use crate::kernel::look::{Ask, BothSides, Lookahead, Side, Unfinished, vec_bytes};
use crate::task::Task;
use crate::view::View;

/// The kernel of tasks that cost counts: impurities, errors of several targets, histograms.
pub struct ClassSums<'a> {
    task: &'a dyn Task,
    totals: Vec<i64>,
    /// By block and statistic: sums over the rows with each column.
    ones: Vec<Row>,
    tile: Vec<Tile>,
    cells: Cells,
    /// Statistics side by side, and costs, of single columns.
    singles: Vec<i64>,
    costs: Vec<Cost>,
    best: Stumps,
    sets: Sets,
    /// The lanes of some rows of a view.
    blocks: Blocks,
}

impl<'a> ClassSums<'a> {
    pub fn new(task: &'a dyn Task) -> Self {
        ClassSums {
            task,
            totals: Vec::new(),
            ones: Vec::new(),
            tile: Vec::new(),
            cells: Cells::default(),
            singles: Vec::new(),
            costs: Vec::new(),
            best: Stumps::default(),
            sets: Sets::default(),
            blocks: Blocks::default(),
        }
    }

    /// Costs and bounds of all rows, and of both sides of every column.
    fn sides(&mut self, tally: &ClassTally, out: &mut Lookahead) {
        let (n, width, n_stats) = (tally.n_columns(), tally.width(), self.task.width());
        let n_blocks = n.div_ceil(LANES);
        self.totals.clear();
        self.totals.resize(width, 0);
        tally.totals(&mut self.totals);
        self.ones.clear();
        self.ones.resize(n_blocks * width, [0; LANES]);
        for (block, ones) in self.ones.chunks_exact_mut(width).enumerate() {
            tally.singles(block, ones);
        }
        let at = |statistic: usize, column: usize| {
            self.ones[column / LANES * width + statistic][column % LANES]
        };
        self.singles.clear();
        for (statistic, &total) in self.totals[..n_stats].iter().enumerate() {
            self.singles.push(total);
            self.singles.extend((0..n).map(|column| at(statistic, column)));
            self.singles.extend((0..n).map(|column| total - at(statistic, column)));
        }
        self.costs.clear();
        self.costs.resize(2 * n + 1, 0);
        self.task.leaf_costs(&self.singles, &mut self.costs);
        // What losing rows can save is not known, but it is no more than what the node costs as one
        // leaf, and nothing where there are none.
        let whole = self.costs[0];
        let worst = |counts: i64| if counts > 0 { whole } else { 0 };
        let all: i64 = self.totals[..n_stats].iter().sum();
        let (all_least, all_rows) = (tally.least(None)[0], self.totals[n_stats]);
        out.whole = Side { leaf: whole, least: all_least, worst: worst(all), rows: all_rows };
        for block in 0..n_blocks {
            let least = tally.least(Some(block));
            for column in block * LANES..n.min((block + 1) * LANES) {
                let (least, rows) = (least[column % LANES], at(n_stats, column));
                let counts = (0..n_stats).map(|s| at(s, column)).sum::<i64>();
                let [with, without] = [self.costs[1 + column], self.costs[1 + n + column]];
                self.task.check_union(out.whole.leaf, with, without);
                out.sides[column] = [
                    Side {
                        leaf: without,
                        least: all_least - least,
                        worst: worst(all - counts),
                        rows: all_rows - rows,
                    },
                    Side { leaf: with, least, worst: worst(counts), rows },
                ];
            }
        }
    }

    /// Where leaves may be empty, a split is the best of stumps if it splits nothing.
    fn start_stumps(&mut self, look: &Look, out: &Lookahead) {
        self.best.begin(out.sides.len());
        for (column, sides) in out.sides.iter().enumerate().filter(|_| look.ask.min_rows <= 1) {
            for side in 0..2 {
                self.best.lower(column, side, sides[side].leaf);
            }
        }
    }

    /// The best stumps of all pairs: of four columns at a time, or of several times four, against
    /// all later blocks.
    fn pairs(&mut self, look: &Look, tally: &ClassTally) -> Result<(), Unfinished> {
        let n = tally.n_columns();
        let mut from = 0;
        while from < n {
            let blocks = n.div_ceil(LANES) - from / LANES;
            let columns = Cells::columns_at_once(self.task, blocks).next_multiple_of(4);
            // Columns of one block have as many blocks before them.
            let to = (from + columns).min(n).min((from / LANES + 1) * LANES);
            self.evaluate(look, tally, (from, to))?;
            from = to;
        }
        Ok(())
    }

    fn evaluate(
        &mut self,
        look: &Look,
        tally: &ClassTally,
        (from, to): (usize, usize),
    ) -> Result<(), Unfinished> {
        let (width, n_stats) = (tally.width(), self.task.width());
        let (own, n_blocks) = (from / LANES, tally.n_columns().div_ceil(LANES));
        let blocks = n_blocks - own;
        let count_rows = look.ask.min_rows > 1;
        let n = tally.n_columns();
        // The pairs with an earlier column of its own block are that column's.
        let lanes = (from..to).flat_map(|column| {
            (own..n_blocks).map(move |block| {
                let first = if block == own { column % LANES + 1 } else { 0 };
                first..LANES.min(n - block * LANES)
            })
        });
        self.cells.begin(lanes, n_stats, count_rows);
        self.tile.clear();
        self.tile.resize(width, [[0; LANES]; 4]);
        for first in (from..to).step_by(4) {
            for block in own..n_blocks {
                if (look.halt)() {
                    return Err(Unfinished::Stopped);
                }
                let ClassSums { totals, ones, tile, cells, .. } = self;
                look.level.run(
                    #[inline(always)]
                    || {
                        tally.pairs(first, block, tile);
                        for column in first..to.min(first + 4) {
                            let place = (column - from) * blocks + block - own;
                            let parts = |s: usize| {
                                let one = ones[own * width + s][column % LANES];
                                let of_i = [one, totals[s] - one];
                                (of_i, &ones[block * width + s], &tile[s][column - first])
                            };
                            for s in 0..n_stats {
                                let (of_i, with_j, both) = parts(s);
                                cells.put(s, place, of_i, with_j, both);
                            }
                            if count_rows {
                                let (of_i, with_j, both) = parts(n_stats);
                                cells.put_rows(place, of_i, with_j, both);
                            }
                        }
                    },
                );
            }
        }
        self.cells.evaluate(self.task, look.ask.min_rows);
        for column in from..to {
            for block in own..n_blocks {
                let place = (column - from) * blocks + block - own;
                let beside = SideMasses::default().beside_leaves(look, column, block);
                self.best.take(beside.as_ref(), &self.cells, place, (column, block));
            }
        }
        Ok(())
    }
}

impl BitKernel for ClassSums<'_> {
    /// Where rows pay for questions, tasks are not those of counts (`Summed`).
    fn takes(&mut self, look: &Look) -> bool {
        debug_assert!(look.prices().is_none(), "counts have no masses");
        true
    }

    fn look(&mut self, look: &Look, out: &mut Lookahead) -> Result<(), Unfinished> {
        let tally = ClassTally::new(look, self.task.width());
        self.sides(&tally, out);
        if look.ask.stumps && !look.view.columns.is_empty() {
            self.start_stumps(look, out);
            self.pairs(look, &tally)?;
            for (column, stumps) in out.stumps.iter_mut().enumerate() {
                for side in 0..2 {
                    stumps[side] = self.best.best(column, side);
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
        let ClassSums { task, tile, blocks, sets, .. } = self;
        let mut sums = Tables { n_stats: task.width(), min_rows: look.ask.min_rows, tile, blocks };
        sets.both_sides(look, *task, &mut sums, levels, seen)
    }

    fn bytes_for_both_sides(&self, view: &View, ask: Ask, levels: usize) -> Option<usize> {
        self.sets.bytes_for(view, ask, levels, self.task)
    }

    fn sum_pairs(&mut self, look: &Look) {
        let tally = ClassTally::new(look, self.task.width());
        self.tile.clear();
        self.tile.resize(tally.width(), [[0; LANES]; 4]);
        let n = tally.n_columns();
        for first in (0..n).step_by(4) {
            for block in first / LANES..n.div_ceil(LANES) {
                tally.pairs(first, block, &mut self.tile);
                std::hint::black_box(&mut self.tile);
            }
        }
    }

    fn bytes(&self) -> usize {
        vec_bytes(&self.totals)
            + vec_bytes(&self.ones)
            + vec_bytes(&self.tile)
            + self.cells.bytes()
            + vec_bytes(&self.singles)
            + vec_bytes(&self.costs)
            + self.best.bytes()
            + self.sets.bytes()
            + self.blocks.bytes()
    }
}

/// The sums of pairs for sets of columns.
struct Tables<'s> {
    n_stats: usize,
    min_rows: i64,
    tile: &'s mut Vec<Tile>,
    blocks: &'s mut Blocks,
}

impl SumsPairs for Tables<'_> {
    fn width(&self) -> usize {
        self.n_stats + usize::from(self.min_rows > 1)
    }

    /// All are counted anyway.
    fn keep(&mut self, _n: usize) {}

    fn begin(&mut self, _look: &Look) {}

    fn side(&self, _column: usize) -> usize {
        1
    }

    fn sum(
        &mut self,
        look: &Look,
        view: &View,
        limit: usize,
        table: &mut PairTable,
    ) -> Result<(), Unfinished> {
        self.blocks.fill(view, look.level)?;
        let tally = ClassTally::new(&Look { view, blocks: self.blocks, ..*look }, self.n_stats);
        let width = self.width();
        table.clear(limit, width);
        let mut totals = vec![0; tally.width()];
        tally.totals(&mut totals);
        table.totals.copy_from_slice(&totals[..width]);
        let mut ones = vec![[0; LANES]; tally.width()];
        for block in 0..limit.div_ceil(LANES) {
            ones.fill([0; LANES]);
            tally.singles(block, &mut ones);
            table.of_block(block).copy_from_slice(&ones[..width]);
        }
        let tile = &mut *self.tile;
        tile.clear();
        tile.resize(tally.width(), [[0; LANES]; 4]);
        look.level.run(
            #[inline(always)]
            || {
                for first in (0..limit).step_by(4) {
                    for block in 0..=first / LANES {
                        tally.pairs(first, block, tile);
                        for column in first..limit.min(first + 4) {
                            let both = table.both(column, block);
                            for s in 0..width {
                                both[s] = tile[s][column - first];
                            }
                        }
                    }
                }
            },
        );
        Ok(())
    }
}
