//! Sums of numbers by row, over every column and every pair of columns.
//!
//! A row is added to every pair of the columns that it has, all of its statistics in one vector. So
//! that this is few pairs,
//!
//! - a column that most rows have is *turned*: it stands for the rows that lack it. What the other
//!   three cells of a pair of splits hold follows from the sums over single columns;
//! - of columns that stand side by side, each within the one before (or around it), a row is added
//!   to the innermost that it has alone. Let columns l of such a *chain* have the rows R₁ ⊇ R₂ ⊇ …:
//!   the sums over R_l are those of the rows whose innermost column is l, and the sums over
//!   R_{l+1}. Of both columns of one chain, the inner one has the rows.

use std::ops::Range;

use super::bit_kernel::Look;
use crate::bits::LANES;
use crate::kernel::look::{Halt, Unfinished, vec_bytes};
use crate::view::{Nesting, View};

/// One statistic of 32 columns.
pub type Row = [i64; LANES];

/// Rows between two questions whether to stop.
pub(super) const ROWS: usize = 1 << 15;

/// Rows that tell which columns to turn.
const SAMPLE: usize = 32;

#[derive(Debug, Default)]
pub struct Scratch {
    pub totals: Vec<i64>,
    /// By block: the columns that are turned.
    pub turned: Vec<u32>,
    /// By block: the chains of its columns, turned or not.
    pub(super) chains: Vec<Chains>,
    /// By block and statistic: sums over the rows with each column, turned or not.
    pub ones: Vec<Row>,
    /// By group of statistics, column of a tile, and column of the other one: sums over the rows
    /// with both, turned or not.
    pub(super) cells: Vec<i64>,
    /// By statistic: the cells of one column with a block.
    pub both: Vec<Row>,
}

impl Scratch {
    pub fn bytes(&self) -> usize {
        vec_bytes(&self.totals)
            + vec_bytes(&self.turned)
            + vec_bytes(&self.chains)
            + vec_bytes(&self.ones)
            + vec_bytes(&self.cells)
            + vec_bytes(&self.both)
    }
}

/// Which of 32 columns continue a chain.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chains {
    /// Columns whose rows all have the column right before them.
    pub within: u32,
    /// Columns that all rows of the column right before them have. Nothing is within a column and
    /// around another at once, nor between two that are not chained themselves.
    pub around: u32,
}

impl Chains {
    /// Of the columns that a row has, those that have no other one within them.
    #[inline(always)]
    pub fn innermost(self, bits: u32) -> u32 {
        bits & !((bits & self.within) >> 1) & !((bits << 1) & self.around)
    }
}

#[inline(always)]
pub(super) fn add<const W: usize>(sums: &mut [i64; W], more: &[i64; W]) {
    for s in 0..W {
        sums[s] += more[s];
    }
}

/// Neighbouring blocks, whose columns a row is gone through for at once.
pub type Tile = Range<usize>;

/// How many blocks make a tile: the sums of all pairs of their columns stay in the processor's
/// second cache.
const TILE: usize = 4;

/// Columns of a tile.
const MOST: usize = TILE * LANES;

/// What finds the innermost columns of rows in one tile.
struct Inner {
    tile: Tile,
    turned: [u32; TILE],
    chains: [Chains; TILE],
}

impl Inner {
    #[inline(always)]
    fn new(sums: &PairSums, tile: &Tile) -> Self {
        let (mut turned, mut chains) = ([0; TILE], [Chains::default(); TILE]);
        turned[..tile.len()].copy_from_slice(&sums.scratch.turned[tile.clone()]);
        chains[..tile.len()].copy_from_slice(&sums.scratch.chains[tile.clone()]);
        Inner { tile: tile.clone(), turned, chains }
    }

    /// The innermost of the columns, turned or not, that a row has, by their place in the tile.
    #[inline(always)]
    fn columns<'l>(&self, view: &View, row: usize, list: &'l mut [u8; MOST]) -> &'l [u8] {
        let words = &view.bits[row * view.stride..][..view.stride];
        let mut n = 0;
        for place in 0..self.tile.len() {
            let bits = word(words, self.tile.start + place) ^ self.turned[place % TILE];
            let mut bits = self.chains[place % TILE].innermost(bits);
            while bits != 0 {
                list[n % MOST] = (place * LANES) as u8 + bits.trailing_zeros() as u8;
                bits &= bits - 1;
                n += 1;
            }
        }
        &list[..n]
    }

    /// Add what was added to innermost columns alone to all that they are in. Each column has
    /// `width` sums, one after the other.
    #[inline(always)]
    fn outwards<const W: usize>(&self, sums: &mut [[i64; W]], width: usize) {
        let mut add_to = |from: usize, to: usize| {
            for at in 0..width {
                let more = sums[from * width + at];
                add(&mut sums[to * width + at], &more);
            }
        };
        for place in 0..self.tile.len() {
            let Chains { within, around } = self.chains[place % TILE];
            let first = place * LANES;
            for lane in (1..LANES).rev().filter(|lane| within >> lane & 1 == 1) {
                add_to(first + lane, first + lane - 1);
            }
            for lane in (1..LANES).filter(|lane| around >> lane & 1 == 1) {
                add_to(first + lane - 1, first + lane);
            }
        }
    }
}

/// The bits of a block's columns.
#[inline(always)]
pub(super) fn word(words: &[u64], block: usize) -> u32 {
    (words[block / 2] >> (block % 2 * LANES)) as u32
}

/// The sums of one view, whose entries have `width` statistics.
pub struct PairSums<'a> {
    pub(super) nesting: &'a Nesting,
    pub view: &'a View,
    pub width: usize,
    pub scratch: &'a mut Scratch,
}

impl<'a> PairSums<'a> {
    pub fn new(look: &Look<'a>, scratch: &'a mut Scratch) -> Self {
        let Look { bits, view, .. } = *look;
        PairSums { nesting: &bits.nesting, view, width: bits.width, scratch }
    }

    pub fn n_blocks(&self) -> usize {
        self.view.columns.len().div_ceil(LANES)
    }

    pub fn turned(&self, column: usize) -> usize {
        (self.scratch.turned[column / LANES] >> (column % LANES) & 1) as usize
    }

    /// Turn the columns that most of some rows have, and find the chains.
    pub fn turn(&mut self) {
        self.scratch.turned.clear();
        self.scratch.chains.clear();
        let step = self.view.len().div_ceil(SAMPLE).max(1);
        for block in 0..self.n_blocks() {
            let (mut counts, mut n) = ([0u16; LANES], 0);
            for row in (0..self.view.len()).step_by(step) {
                let word = word(&self.view.bits[row * self.view.stride..], block);
                n += 1;
                for (l, count) in counts.iter_mut().enumerate() {
                    *count += (word >> l & 1) as u16;
                }
            }
            let most = |l: &usize| 2 * counts[*l] > n;
            let turned = (0..LANES).filter(most).map(|l| 1 << l).sum();
            self.scratch.turned.push(turned);
            self.scratch.chains.push(self.chains(block, turned));
        }
    }

    fn chains(&self, block: usize, turned: u32) -> Chains {
        let mut chains = Chains::default();
        let columns = self.view.columns.chunks(LANES).nth(block).unwrap_or_default();
        for lane in 1..columns.len() {
            let [earlier, column] = [columns[lane - 1], columns[lane]];
            let [within, around] =
                [self.nesting.is_within(column, earlier), self.nesting.is_around(column, earlier)];
            // What is within another stands around it once both are turned.
            let [within, around] = match turned >> (lane - 1) & 3 {
                0 => [within, around],
                3 => [around, within],
                _ => continue,
            };
            let before = 1 << (lane - 1);
            if within && chains.around & before == 0 {
                chains.within |= 1 << lane;
            } else if around && chains.within & before == 0 {
                chains.around |= 1 << lane;
            }
        }
        chains
    }

    #[inline(always)]
    pub fn add_singles<const W: usize>(&mut self) {
        let mut totals = std::mem::take(&mut self.scratch.totals);
        let mut ones = std::mem::take(&mut self.scratch.ones);
        let mut sums = std::mem::take(&mut self.scratch.cells);
        totals.clear();
        totals.resize(self.width, 0);
        for costs in self.view.costs.chunks_exact(self.width) {
            totals.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
        }
        ones.clear();
        ones.resize(self.n_blocks() * self.width, [0; LANES]);
        let mut list = [0; MOST];
        for tile in self.tiles() {
            let inner = Inner::new(self, &tile);
            let of_tile = &mut ones[tile.start * self.width..tile.end * self.width];
            for first in (0..self.width).step_by(W) {
                sums.clear();
                sums.resize(tile.len() * LANES * W, 0);
                let (sums, _) = sums.as_chunks_mut::<W>();
                for row in 0..self.view.len() {
                    let costs = self.statistics::<W>(row, first);
                    for &column in inner.columns(self.view, row, &mut list) {
                        add(&mut sums[usize::from(column)], &costs);
                    }
                }
                inner.outwards(sums, 1);
                for (sums, ones) in
                    sums.chunks_exact(LANES).zip(of_tile.chunks_exact_mut(self.width))
                {
                    for (s, ones) in ones[first..].iter_mut().take(W).enumerate() {
                        *ones = std::array::from_fn(|l| sums[l][s]);
                    }
                }
            }
        }
        self.scratch.totals = totals;
        self.scratch.ones = ones;
        self.scratch.cells = sums;
    }

    /// Sums over the rows that have both a column of tile i and one of tile j. Within one tile,
    /// only of columns j > i.
    #[inline(always)]
    pub fn sum<const W: usize>(
        &mut self,
        (i, j): (Tile, Tile),
        summed: usize,
        halt: Halt,
    ) -> Result<(), Unfinished> {
        let mut all = std::mem::take(&mut self.scratch.cells);
        let [of_i, of_j] = [&i, &j].map(|tile| tile.len() * LANES);
        let groups = summed.div_ceil(W);
        all.clear();
        all.resize(groups * of_i * of_j * W, 0);
        let [inner_i, inner_j] = [&i, &j].map(|tile| Inner::new(self, tile));
        let [mut list_i, mut list_j] = [[0; MOST]; 2];
        for (group, cells) in all.chunks_exact_mut(of_i * of_j * W).enumerate() {
            let (cells, _) = cells.as_chunks_mut::<W>();
            for from in (0..self.view.len()).step_by(ROWS) {
                if halt() {
                    return Err(Unfinished::Stopped);
                }
                for row in from..self.view.len().min(from + ROWS) {
                    let costs = self.statistics::<W>(row, group * W);
                    let of_row = inner_i.columns(self.view, row, &mut list_i);
                    let mut others = match i == j {
                        true => of_row,
                        false => inner_j.columns(self.view, row, &mut list_j),
                    };
                    for &a in of_row {
                        if i == j {
                            others = &others[1..];
                        }
                        let cells = &mut cells[usize::from(a) * of_j..][..of_j];
                        for &b in others {
                            add(&mut cells[usize::from(b)], &costs);
                        }
                    }
                }
            }
            inner_i.outwards(cells, of_j);
            cells.chunks_exact_mut(of_j).for_each(|cells| inner_j.outwards(cells, 1));
        }
        self.scratch.cells = all;
        Ok(())
    }

    /// `W` statistics of a row. Beyond the last are those of the next row: they are summed, and
    /// never read.
    #[inline(always)]
    pub(super) fn statistics<const W: usize>(&self, row: usize, from: usize) -> [i64; W] {
        let costs = &self.view.costs[row * self.width + from..];
        match costs.first_chunk() {
            Some(&costs) => costs,
            None => std::array::from_fn(|s| costs.get(s).copied().unwrap_or(0)),
        }
    }

    /// Of two tiles that were summed, the sums of one column and a block, by statistic.
    #[inline(always)]
    pub fn gather<const W: usize>(
        &mut self,
        (i, j): (&Tile, &Tile),
        (column, block): (usize, usize),
        summed: usize,
    ) {
        let (own, lane, width) = (column / LANES, column % LANES, self.width);
        let Scratch { cells, both, chains, ones, .. } = &mut *self.scratch;
        both.resize(summed.next_multiple_of(W), [0; LANES]);
        let [of_i, of_j] = [i, j].map(|tile| tile.len() * LANES);
        let at = (column - i.start * LANES) * of_j + (block - j.start) * LANES;
        for (group, both) in both.chunks_exact_mut(W).enumerate() {
            let (cells, _) = cells[group * of_i * of_j * W..].as_chunks::<W>();
            let cells: &[[i64; W]; LANES] =
                cells[at..].first_chunk().expect("a column has a cell for each lane");
            for (s, both) in both.iter_mut().enumerate() {
                *both = std::array::from_fn(|l| cells[l][s]);
            }
        }
        if own == block {
            // Rows were added to one column of a chain alone.
            let Chains { within, around } = chains[block];
            for (list, inner_is_later) in [(within, true), (around, false)] {
                let chained = |&later: &usize| list >> later & 1 == 1;
                for later in (lane + 1..LANES).take_while(chained) {
                    let inner = if inner_is_later { later } else { lane };
                    for (s, both) in both[..summed].iter_mut().enumerate() {
                        both[later] = ones[block * width + s][inner];
                    }
                }
            }
        }
    }

    fn tiles(&self) -> impl Iterator<Item = Tile> + Clone + use<> {
        let n = self.n_blocks();
        (0..n).step_by(TILE).map(move |from| from..n.min(from + TILE))
    }

    /// All pairs of tiles.
    pub fn pairs_of_tiles(&self) -> impl Iterator<Item = (Tile, Tile)> + use<> {
        let tiles = self.tiles();
        let pairs =
            move |(at, i): (usize, Tile)| tiles.clone().skip(at).map(move |j| (i.clone(), j));
        self.tiles().enumerate().flat_map(pairs)
    }

    /// The sums of pairs without what is done with them, for benches.
    #[inline(always)]
    pub fn sum_all<const W: usize>(&mut self, summed: usize) {
        for tiles in self.pairs_of_tiles() {
            let never = || false;
            self.sum::<W>(tiles, summed, &never).expect("nobody stops it");
            std::hint::black_box(&mut self.scratch.cells);
        }
    }
}

/// The pairs of blocks of two tiles, none of them twice.
pub fn blocks((i, j): (Tile, Tile)) -> impl Iterator<Item = (usize, usize)> {
    i.flat_map(move |a| j.clone().filter(move |&b| b >= a).map(move |b| (a, b)))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Columns of which some run up or down with the one before, as cuts do, and some are free.
    pub fn random_rows(n_rows: usize, n: usize, state: &mut u64) -> Vec<Vec<bool>> {
        let mut next = || {
            *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            *state >> 40
        };
        let kinds: Vec<u64> = (0..n).map(|_| next() % 8).collect();
        let mut row = || {
            let mut row = Vec::with_capacity(n);
            for kind in &kinds {
                let before = row.last().copied().unwrap_or_default();
                let bit = match kind {
                    0..=2 => before && next() % 8 > 0,
                    3..=5 => before || next() % 8 == 0,
                    6 => next() % 16 > 0,
                    _ => next() % 2 == 0,
                };
                row.push(bit);
            }
            row
        };
        (0..n_rows).map(|_| row()).collect()
    }

    /// Columns as the sums see them: those that most rows have stand for the others.
    pub fn has(sums: &PairSums, row: &[bool], column: usize) -> bool {
        row[column] ^ (sums.turned(column) == 1)
    }

    fn all_pairs_of<const W: usize>(n_rows: usize, n: usize, state: &mut u64) {
        let rows = random_rows(n_rows, n, state);
        let costs: Vec<i64> = (0..n_rows * W).map(|at| (at * at % 101) as i64 - 50).collect();
        let view = View::of_rows(&rows, costs);
        let nesting = Nesting::of(&view.bits, view.stride, n);
        let mut scratch = Scratch::default();
        let mut sums = PairSums { nesting: &nesting, view: &view, width: W, scratch: &mut scratch };
        sums.turn();
        sums.add_singles::<W>();
        let naive = |sums: &PairSums, s: usize, i: usize, j: usize| -> i64 {
            let both = |row: &Vec<bool>| has(sums, row, i) && has(sums, row, j);
            let with = rows.iter().zip(view.costs.chunks(W)).filter(|(row, _)| both(row));
            with.map(|(_, costs)| costs[s]).sum()
        };
        for column in 0..n {
            for s in 0..W {
                let one = sums.scratch.ones[column / LANES * W + s][column % LANES];
                assert_eq!(one, naive(&sums, s, column, column), "column {column}");
            }
        }
        let mut met = 0;
        for tiles in sums.pairs_of_tiles() {
            sums.sum::<W>(tiles.clone(), W, &|| false).unwrap();
            for (i, j) in blocks(tiles.clone()) {
                for column in i * LANES..n.min((i + 1) * LANES) {
                    sums.gather::<W>((&tiles.0, &tiles.1), (column, j), W);
                    let first = if i == j { column + 1 } else { j * LANES };
                    for other in first..n.min((j + 1) * LANES) {
                        met += 1;
                        for s in 0..W {
                            let sum = sums.scratch.both[s][other % LANES];
                            assert_eq!(sum, naive(&sums, s, column, other), "{column}, {other}");
                        }
                    }
                }
            }
        }
        assert_eq!(met, n * n.saturating_sub(1) / 2);
    }

    #[test]
    fn sums_of_pairs_are_those_of_their_rows() {
        let mut state = 7;
        for n in [1, 2, 31, 32, 33, 100, 128, 129, 200] {
            for n_rows in [1, 5, 40] {
                all_pairs_of::<2>(n_rows, n, &mut state);
                all_pairs_of::<4>(n_rows, n, &mut state);
            }
        }
        for n in 3..30 {
            all_pairs_of::<8>(20, n, &mut state);
        }
    }
}
