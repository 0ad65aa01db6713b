//! Columns of three values, for two classes whose errors all cost the same.
//!
//! Of a column with missing values three questions stand for each cut (`view/thirds.rs`), which
//! make nine pairs with the three of another column. All follow from the nine cells of both
//! columns' values, and these from four counts. A stump below a side sends each value to the class
//! that has more of it there, because all ways to part three values are questions. So four counts
//! and some hundred steps for 32 columns serve what nine pairs take nine counts and twice the steps
//! for.
//!
//! A column that is asked one question has two values: its third one is empty.

use super::bit_kernel::{BitKernel, Look};
use super::lanes::lanes_of;
use super::uniform;
use crate::bits::{LANES, Lanes, Level};
use crate::cost::{Cost, INFINITE};
use crate::kernel::look::{Lookahead, Unfinished, vec_bytes};
use crate::task::ClassCosts;
use crate::view::{BitView, View};

/// The kernel of tables in which most columns have three values.
pub struct ThreeValues {
    /// What an error costs.
    unit: Cost,
    counts: uniform::Scratch,
    scratch: Scratch,
}

impl ThreeValues {
    /// `None` for other tasks, and where no columns have three values.
    pub fn new(bits: &BitView, classes: &ClassCosts) -> Option<Self> {
        let unit = classes.uniform().filter(|_| classes.n_classes() == 2)?;
        let new = || ThreeValues { unit, counts: Default::default(), scratch: Scratch::default() };
        (!bits.thirds.is_empty()).then(new)
    }
}

impl BitKernel for ThreeValues {
    /// It says nothing of overlaps, of halves, or of leaves with few rows.
    fn takes(&mut self, look: &Look) -> bool {
        let ask = look.ask;
        let asks_less = ask.stumps && !ask.overlaps && ask.leaf_cost == 0 && ask.min_rows <= 1;
        if !asks_less || look.offer.is_some() || !look.fits_16_bits() {
            return false;
        }
        self.scratch.group(look.bits, look.view);
        // Nine cells take four times the work of four.
        2 * self.scratch.columns.len() < look.view.columns.len()
    }

    fn look(&mut self, look: &Look, out: &mut Lookahead) -> Result<(), Unfinished> {
        let ThreeValues { unit, counts, scratch } = self;
        look.level.run(
            #[inline(always)]
            || {
                uniform::singles(look, 2, *unit, counts, out);
                scratch.fill(look);
                scratch.pairs(look, [counts.totals[0], counts.totals[1]])
            },
        )?;
        for (index, of) in scratch.columns.iter().enumerate() {
            let best = |side: usize| scratch.best[index / LANES][side].0[index % LANES];
            for (question, sides) in of.questions.iter().zip(SIDES) {
                let Some(question) = question else { continue };
                for (stump, side) in out.stumps[*question].iter_mut().zip(sides) {
                    let errors = best(side);
                    let cost = if errors == NONE { INFINITE } else { Cost::from(errors) * *unit };
                    *stump = cost.min(*stump);
                }
            }
        }
        Ok(())
    }

    /// Two values of less than half as many columns.
    fn bytes_for_look(&self, view: &View) -> usize {
        lanes_of(view)
    }

    fn sum_pairs(&mut self, look: &Look) {
        self.scratch.group(look.bits, look.view);
        look.level.run(
            #[inline(always)]
            || {
                self.scratch.fill(look);
                let mut tile = Tile::ZERO;
                for (first, j_block) in self.scratch.tiles() {
                    self.scratch.count(look, first, j_block, &mut tile);
                    std::hint::black_box(&mut tile);
                }
            },
        );
    }

    fn bytes(&self) -> usize {
        self.counts.bytes() + self.scratch.bytes()
    }
}

/// No stump is known; larger than any number of errors.
const NONE: u16 = u16::MAX;

/// The sides that columns are split into: x, y and z are the rows with each of the three values,
/// and after them come x or y, x or z, y or z.
const N_SIDES: usize = 6;

/// The values of each of the last three.
const UNIONS: [[usize; 2]; 3] = [[0, 1], [0, 2], [1, 2]];

/// By question of a column, its 0 and its 1 side: is it x, is it y, is it one of both.
const SIDES: [[usize; 2]; 3] = [[5, 0], [4, 1], [2, 3]];

/// Which columns of the view ask whether a value is x, whether it is y, and whether it is one of
/// both. One of the first two is there.
#[derive(Debug, Clone, Copy)]
struct Column {
    questions: [Option<usize>; 3],
}

/// By class: the weights of rows that have x or y of four columns, and x or y of 32 others.
struct Tile([[[Lanes; 4]; 4]; 2]);

impl Tile {
    const ZERO: Tile = Tile([[[Lanes::ZERO; 4]; 4]; 2]);
}

#[derive(Debug, Default)]
struct Scratch {
    columns: Vec<Column>,
    /// By question: the column of the view that asks it.
    asked: Vec<u32>,
    /// By column block and group of rows: which rows have x, and y.
    values: [Vec<Lanes>; 2],
    groups: usize,
    /// By column block: the weight of x and y, by class.
    ones: Vec<[[Lanes; 2]; 2]>,
    /// By column block and side: the least errors of a stump.
    best: Vec<[Lanes; N_SIDES]>,
}

impl Scratch {
    fn bytes(&self) -> usize {
        vec_bytes(&self.columns)
            + vec_bytes(&self.asked)
            + self.values.iter().map(vec_bytes).sum::<usize>()
            + vec_bytes(&self.ones)
            + vec_bytes(&self.best)
    }

    /// Find the questions of the view that belong together.
    fn group(&mut self, bits: &BitView, view: &View) {
        self.asked.clear();
        self.asked.resize(bits.questions.len(), u32::MAX);
        for (column, &question) in view.columns.iter().enumerate() {
            self.asked[question as usize] = column as u32;
        }
        self.columns.clear();
        for (column, &question) in view.columns.iter().enumerate() {
            let mut is_grouped = false;
            for three in bits.thirds.of_question(question) {
                let asked = three.map(|(question, _)| {
                    let column = self.asked[question as usize];
                    (column != u32::MAX).then_some(column as usize)
                });
                let Some(both) = three.iter().position(|&(_, side)| side == 0) else { continue };
                let [x, y] = [(both + 1) % 3, (both + 2) % 3];
                // With one of them alone, a column has two values here.
                if three[x].1 == 0 || three[y].1 == 0 || asked.iter().flatten().count() < 2 {
                    continue;
                }
                is_grouped = true;
                if asked.iter().flatten().min() == Some(&column) {
                    self.columns.push(Column { questions: [asked[x], asked[y], asked[both]] });
                }
            }
            if !is_grouped {
                self.columns.push(Column { questions: [Some(column), None, None] });
            }
        }
    }

    fn n_blocks(&self) -> usize {
        self.columns.len().div_ceil(LANES)
    }

    /// Put the rows of x and y side by side.
    #[inline(always)]
    fn fill(&mut self, look: &Look) {
        let Look { blocks, level, .. } = *look;
        self.groups = blocks.segments.last().map_or(0, |&(_, _, end)| end);
        let n = self.n_blocks() * self.groups;
        for rows in &mut self.values {
            rows.clear();
            rows.resize(n, Lanes::ZERO);
        }
        for (index, Column { questions }) in self.columns.iter().enumerate() {
            let (start, lane) = (index / LANES * self.groups, index % LANES);
            let words = questions.map(|column| {
                let column = column.map(|c| (blocks.block(c / LANES, 0, self.groups), c % LANES));
                move |group: usize| column.map(|(words, lane)| words[group].0[lane])
            });
            for group in 0..self.groups {
                let [x, y, both] = words.each_ref().map(|word| word(group));
                let both = both.unwrap_or(0);
                self.values[0][start + group].0[lane] = x.unwrap_or(both & !y.unwrap_or(0));
                self.values[1][start + group].0[lane] = y.unwrap_or(both & !x.unwrap_or(0));
            }
        }
        self.ones.clear();
        self.ones.resize(self.n_blocks(), [[Lanes::ZERO; 2]; 2]);
        for (block, ones) in self.ones.iter_mut().enumerate() {
            for &(index, from, to) in &blocks.segments {
                let segment = &look.bits.segments[index];
                for (value, rows) in self.values.iter().enumerate() {
                    let rows = &rows[block * self.groups + from..block * self.groups + to];
                    let counts = level.count_columns(rows);
                    let sum = &mut ones[segment.class as usize][value];
                    for l in 0..LANES {
                        sum.0[l] += counts.0[l] * segment.weight as u16;
                    }
                }
            }
        }
    }

    /// Four columns from the first on, and each block of columns that pairs with them.
    fn tiles(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (n, n_blocks) = (self.columns.len(), self.n_blocks());
        (0..n).step_by(4).flat_map(move |first| (first / LANES..n_blocks).map(move |j| (first, j)))
    }

    /// The weights of a tile.
    #[inline(always)]
    fn count(&self, look: &Look, first: usize, j_block: usize, tile: &mut Tile) {
        let (block, lane) = (first / LANES, first % LANES);
        *tile = Tile::ZERO;
        let rows = |value: usize, block: usize, from: usize, to: usize| {
            &self.values[value][block * self.groups + from..block * self.groups + to]
        };
        for &(index, from, to) in &look.blocks.segments {
            let segment = &look.bits.segments[index];
            let sums = &mut tile.0[segment.class as usize];
            for (pair, sums) in sums.iter_mut().enumerate() {
                let left = rows(pair / 2, block, from, to);
                let right = rows(pair % 2, j_block, from, to);
                look.level.add_pairs(left, lane, right, segment.weight as u16, sums);
            }
        }
    }

    /// The best stump on each side of each column.
    #[inline(always)]
    fn pairs(&mut self, look: &Look, totals: [u16; 2]) -> Result<(), Unfinished> {
        let level = look.level;
        self.best.clear();
        self.best.resize(self.n_blocks(), [Lanes::MAX; N_SIDES]);
        let mut tile = Tile::ZERO;
        for (first, j_block) in self.tiles() {
            let (i_block, i_lane) = (first / LANES, first % LANES);
            if j_block == i_block && (look.halt)() {
                return Err(Unfinished::Stopped);
            }
            self.count(look, first, j_block, &mut tile);
            for t in 0..(self.columns.len() - first).min(4) {
                let lane = i_lane + t;
                let i = [0, 1].map(|class| self.ones[i_block][class].map(|ones| ones.0[lane]));
                let pairs = [0, 1].map(|class| [0, 1, 2, 3].map(|p: usize| &tile.0[class][p][t]));
                let mut of_i = [Lanes::MAX; N_SIDES];
                let of_j = &mut self.best[j_block];
                nine_cells(pairs, (i, totals), &self.ones[j_block], &mut of_i, of_j);
                self.take(level, (i_block, lane), &of_i);
            }
        }
        Ok(())
    }

    /// Take in the stumps on the sides of one column.
    #[inline(always)]
    fn take(&mut self, level: Level, (block, lane): (usize, usize), of_i: &[Lanes; N_SIDES]) {
        for (best, found) in self.best[block].iter_mut().zip(of_i) {
            best.0[lane] = level.least(found).min(best.0[lane]);
        }
    }
}

/// Take in the stumps that nine cells make: on the sides of column i, and of 32 columns j. All by
/// class: the weights of pairs of x and y, of x and y of i with all rows, and of x and y of j.
#[inline(always)]
fn nine_cells(
    pairs: [[&Lanes; 4]; 2],
    (i, totals): ([[u16; 2]; 2], [u16; 2]),
    ones: &[[Lanes; 2]; 2],
    of_i: &mut [Lanes; N_SIDES],
    of_j: &mut [Lanes; N_SIDES],
) {
    for l in 0..LANES {
        // By class, value of i and value of j.
        let mut cells = [[[0u16; 3]; 3]; 2];
        for class in 0..2 {
            let [xx, xy, yx, yy] = pairs[class].map(|pair| pair.0[l]);
            let [x, y] = ones[class].each_ref().map(|ones| ones.0[l]);
            let z = totals[class] - x - y;
            let [of_x, of_y] = i[class];
            let (xz, yz) = (of_x - xx - xy, of_y - yx - yy);
            cells[class] = [[xx, xy, xz], [yx, yy, yz], [x - xx - yx, y - xy - yy, z - xz - yz]];
        }
        let errors = |a: u16, b: u16| a.min(b);
        let [a, b] = &cells;
        for value in 0..3 {
            let row = [0, 1, 2].map(|other| errors(a[value][other], b[value][other]));
            let column = [0, 1, 2].map(|other| errors(a[other][value], b[other][value]));
            of_i[value].0[l] = of_i[value].0[l].min(row[0] + row[1] + row[2]);
            of_j[value].0[l] = of_j[value].0[l].min(column[0] + column[1] + column[2]);
        }
        for (union, [u, v]) in UNIONS.into_iter().enumerate() {
            let (mut row, mut column) = (0, 0);
            for other in 0..3 {
                row += errors(a[u][other] + a[v][other], b[u][other] + b[v][other]);
                column += errors(a[other][u] + a[other][v], b[other][u] + b[other][v]);
            }
            of_i[3 + union].0[l] = of_i[3 + union].0[l].min(row);
            of_j[3 + union].0[l] = of_j[3 + union].0[l].min(column);
        }
    }
}
