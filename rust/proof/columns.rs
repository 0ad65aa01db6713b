//! The look of a proof: what all splits and all pairs of splits of some points cost.
//!
//! It counts what a checker counts, with the vectors of this machine: see `docs/proof.md`.

use crate::bits::{Best, LANES, Lanes, Level, Pair, ROWS};
use crate::cost::Cost;

/// Words of rows whose count fits in a lane.
const WORDS: usize = u16::MAX as usize / ROWS;

type Lane = [Cost; LANES];

/// More than any points cost; two of it fit in a sum.
pub const MUCH: Cost = 1 << 60;

/// By side of either question, for the questions of a block.
type Cells = [[Lane; 2]; 2];

/// Points whose gain for a label has this bit, counted in the residual's unit. The *gain* of a
/// point for a label is what it costs less under that label than under its worst one. A label
/// beyond the last one stands for the excess: what the gains of a point add up to beyond its worst
/// cost; and one beyond that for rows, where they matter.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    pub label: usize,
    pub shift: u32,
}

/// Where the rows of a segment lie in a column.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub segment: Segment,
    pub start: usize,
    pub end: usize,
}

/// What is known of all points.
#[derive(Debug)]
pub struct Sums {
    pub labels: usize,
    pub unit: Cost,
    /// Rows that each leaf of a split holds at least, or 0 if they do not matter.
    pub min_rows: Cost,
    /// By label, and the excess: their gains; then their rows.
    pub all: Vec<Cost>,
}

impl Sums {
    /// By label, and the excess, and question of a block: the gains of points of answer 1; then
    /// their rows.
    pub fn of_ones(&self, block: &[Lanes], runs: &[Run], level: Level) -> Vec<Lane> {
        let mut ones = vec![[0; LANES]; self.all.len()];
        for Run { segment, start, end } in runs {
            for words in block[*start..*end].chunks(WORDS) {
                add(&mut ones[segment.label], &level.count_columns(words), segment.shift);
            }
        }
        ones
    }

    /// Whether so many rows of answer 1 leave enough for both sides.
    pub fn is_large(&self, ones: Cost) -> bool {
        ones >= self.min_rows && self.all[self.labels + 1] - ones >= self.min_rows
    }
}

/// The answers of a node's points by question, and what sums follow from them.
pub struct Columns {
    sums: Sums,
    n: usize,
    /// Words of a column, and blocks of questions that are counted together.
    words: usize,
    blocks: usize,
    /// By block and word.
    bits: Vec<Lanes>,
    runs: Vec<Run>,
    /// By block, label, the excess, the rows, and question: sums over points of answer 1.
    ones: Vec<Lane>,
    level: Level,
}

/// What both sides of each question cost: as a leaf, and at best with one split.
pub struct Look {
    pub leaves: Vec<[Cost; 2]>,
    pub stumps: Vec<[Cost; 2]>,
    /// Whether no tree of exactly three leaves loses less than a leaf costs.
    pub three_fail: Vec<[bool; 2]>,
}

/// The sides of two questions.
const QUARTERS: [(usize, usize); 4] = [(0, 0), (0, 1), (1, 0), (1, 1)];

/// Sums over the quarters, from those over all points, those of answer 1 to either question, and
/// those of answer 1 to both.
#[inline(always)]
fn quarters(all: Cost, a: Cost, b: Cost, both: Cost) -> [[Cost; 2]; 2] {
    [[all - a - b + both, b - both], [a - both, both]]
}

impl Columns {
    pub fn new(
        sums: Sums,
        n: usize,
        words: usize,
        bits: Vec<Lanes>,
        runs: Vec<Run>,
        level: Level,
    ) -> Columns {
        let blocks = n.div_ceil(LANES);
        let of_block = |block| sums.of_ones(&bits[block * words..][..words], &runs, level);
        let ones = (0..blocks).flat_map(of_block).collect();
        Columns { sums, n, words, blocks, bits, runs, ones, level }
    }

    fn one(&self, label: usize, question: usize) -> Cost {
        self.ones_of(question / LANES)[label][question % LANES]
    }

    fn ones_of(&self, block: usize) -> &[Lane] {
        let entries = self.sums.all.len();
        &self.ones[block * entries..][..entries]
    }

    fn words(&self, block: usize, run: &Run) -> &[Lanes] {
        &self.bits[block * self.words + run.start..block * self.words + run.end]
    }

    /// By label, the excess and the rows, and by question of four from the `lane`th of block
    /// `left`: the sums over points of answer 1 to it, and to those of block `right`.
    #[inline(always)]
    fn count(&self, (left, lane): (usize, usize), right: usize, out: &mut [[Lane; 4]]) {
        out.fill([[0; LANES]; 4]);
        for run in &self.runs {
            let (left, right) = (self.words(left, run), self.words(right, run));
            for (left, right) in left.chunks(WORDS).zip(right.chunks(WORDS)) {
                let mut sums = [Lanes::ZERO; 4];
                self.level.add_pairs(left, lane, right, 1, &mut sums);
                for (out, sums) in out[run.segment.label].iter_mut().zip(&sums) {
                    add(out, sums, run.segment.shift);
                }
            }
        }
    }

    /// By question and side: the most that those points cost which are on this side of a question,
    /// but not there; and more than all points cost, where rows matter and some there are not on
    /// this side.
    pub fn lost(&self, (question, side): (usize, usize)) -> Vec<[Cost; 2]> {
        let Sums { labels, unit, ref all, .. } = self.sums;
        let (all, rows) = (all[..labels].iter().sum::<Cost>() - all[labels], all[labels + 1]);
        let own_rows = self.one(labels + 1, question);
        let own = self.worst(self.ones_of(question / LANES))[question % LANES];
        let (mut both, at) = (vec![[[0; LANES]; 4]; labels + 2], question % LANES);
        let mut out = Vec::with_capacity(self.blocks * LANES);
        self.level.run(
            #[inline(always)]
            || {
                for block in 0..self.blocks {
                    self.count((question / LANES, at / 4 * 4), block, &mut both);
                    let sums = self.ones_of(block);
                    let ones = self.worst(sums);
                    let all_both: Vec<Lane> = both.iter().map(|four| four[at % 4]).collect();
                    let both = self.worst(&all_both);
                    out.extend((0..LANES).map(|k| {
                        let [zero, one] = quarters(all, own, ones[k], both[k])[side];
                        let (one_rows, both_rows) = (sums[labels + 1][k], all_both[labels + 1][k]);
                        let more = quarters(rows, own_rows, one_rows, both_rows)[1 - side];
                        let lost = |there: usize, lost: Cost| match more[there] {
                            0 => unit * lost,
                            _ => MUCH,
                        };
                        [lost(0, one), lost(1, zero)]
                    }));
                }
            },
        );
        out.truncate(self.n);
        out
    }

    /// What points cost at their worst, in units: their gains less the excess.
    #[inline(always)]
    fn worst(&self, gains: &[Lane]) -> Lane {
        let mut out = gains[self.sums.labels].map(|excess| -excess);
        for gains in &gains[..self.sums.labels] {
            out.iter_mut().zip(gains).for_each(|(out, gain)| *out += gain);
        }
        out
    }

    /// `leaf`: what a leaf costs. `pairs`: also count pairs of questions.
    pub fn look(&self, leaf: Cost, pairs: bool) -> Look {
        let Sums { labels, unit, ref all, .. } = self.sums;
        let leaves: Vec<[Cost; 2]> = (0..self.n).map(|q| self.leaves(q)).collect();
        let mut found = Pairs::new(self.n);
        // Costs are multiples of the unit, so that one below the penalty is below this.
        let penalty = leaf / unit.max(1) + Cost::from(leaf % unit.max(1) > 0);
        let halved = labels == 2 && leaf > 0;
        if pairs {
            self.level.run(
                #[inline(always)]
                || match labels {
                    2 if all.iter().sum::<Cost>() < Cost::from(u16::MAX) => {
                        found.count_in_words(self, penalty);
                    }
                    2 => found.count(self, 2, halved.then_some(penalty)),
                    labels => found.count(self, labels, None),
                },
            );
        }
        let stump =
            |q: usize, side: usize| leaves[q][side].min(unit.saturating_mul(found.stumps[q][side]));
        let fails = |q: usize, side: usize| {
            let at_least = |label: usize| {
                let one = self.one(label, q);
                let gain = if side == 1 { one } else { all[label] - one };
                unit * gain >= 2 * unit * found.halves[q][side][label] + leaf
            };
            pairs && halved && at_least(0) && at_least(1)
        };
        let both = |q: usize| [stump(q, 0), stump(q, 1)];
        Look {
            stumps: (0..self.n).map(both).collect(),
            three_fail: (0..self.n).map(|q| [fails(q, 0), fails(q, 1)]).collect(),
            leaves,
        }
    }

    /// What both sides of a question cost as leaves.
    fn leaves(&self, question: usize) -> [Cost; 2] {
        let Sums { labels, unit, ref all, .. } = self.sums;
        let excess = self.one(labels, question);
        let (mut cost, mut most) = ([excess - all[labels], -excess], [0; 2]);
        for (label, all) in all[..labels].iter().enumerate() {
            let one = self.one(label, question);
            for (side, gain) in [(0, all - one), (1, one)] {
                cost[side] += gain;
                most[side] = gain.max(most[side]);
            }
        }
        [0, 1].map(|side| unit * (cost[side] - most[side]))
    }
}

#[inline(always)]
fn add(out: &mut Lane, sums: &Lanes, shift: u32) {
    for (out, &sum) in out.iter_mut().zip(&sums.0) {
        *out += Cost::from(sum) << shift;
    }
}

/// The cells of one question and those of a block, 00, 01, 10 and 11, from what has both, what has
/// those of the block, and the two sides of the one.
#[inline(always)]
fn cells(both: &Lanes, ones: &Lanes, one: u16, zero: u16) -> [Lanes; 4] {
    let mut cells = [Lanes::ZERO; 4];
    for l in 0..LANES {
        let (both, j) = (both.0[l], ones.0[l]);
        cells[0].0[l] = zero - (j - both);
        cells[1].0[l] = j - both;
        cells[2].0[l] = one - both;
        cells[3].0[l] = both;
    }
    cells
}

/// The lesser of stumps, and of those of a pair whose cells all have enough rows.
#[inline(always)]
fn large_stumps(
    mut stumps: [[Lanes; 2]; 2],
    pair: &Pair,
    rows: &[Lanes; 4],
    min_rows: u16,
) -> [[Lanes; 2]; 2] {
    let [x, y] = [0, 1].map(|c| cells(&pair.both[c], &pair.ones_j[c], pair.one[c], pair.zero[c]));
    let mut errors = [Lanes::ZERO; 4];
    for cell in 0..4 {
        for l in 0..LANES {
            let too_few = u16::from(rows[cell].0[l] < min_rows).wrapping_neg();
            errors[cell].0[l] = x[cell].0[l].min(y[cell].0[l]) | too_few;
        }
    }
    // The cells of the 0 side and the 1 side: of the one question, and of those of the block.
    const SIDES: [[[usize; 2]; 2]; 2] = [[[0, 1], [2, 3]], [[0, 2], [1, 3]]];
    for (stumps, sides) in stumps.iter_mut().zip(SIDES) {
        for (stump, [a, b]) in stumps.iter_mut().zip(sides) {
            for l in 0..LANES {
                let sum = errors[a].0[l].saturating_add(errors[b].0[l]);
                stump.0[l] = stump.0[l].min(sum);
            }
        }
    }
    stumps
}

/// What pairs of questions come to, in the residual's unit, by question and side. A pair may be
/// counted twice, and a question with itself or with one of answers 0 alone. That makes no stump
/// cheaper than the leaf; and a half that is a whole side, where the gain for a label is worth less
/// than a leaf, changes nothing, because the side is no case of three leaves that fail.
struct Pairs {
    stumps: Vec<[Cost; 2]>,
    /// By label: the largest gain in a half of the side where the gain for the other label is worth
    /// less than a leaf.
    halves: Vec<[[Cost; 2]; 2]>,
}

impl Pairs {
    fn new(n: usize) -> Pairs {
        Pairs { stumps: vec![[Cost::MAX; 2]; n], halves: vec![[[0; 2]; 2]; n] }
    }

    fn take_in(&mut self, question: usize, side: usize, stump: Cost, halves: [Cost; 2]) {
        let Some(known) = self.stumps.get_mut(question) else { return };
        known[side] = known[side].min(stump);
        let known = &mut self.halves[question][side];
        *known = [known[0].max(halves[0]), known[1].max(halves[1])];
    }

    /// Two labels whose gains together fit in a lane.
    #[inline(always)]
    fn count_in_words(&mut self, columns: &Columns, penalty: Cost) {
        let (level, blocks) = (columns.level, columns.blocks);
        let [few, min_rows] =
            [penalty, columns.sums.min_rows].map(|sum| sum.min(Cost::from(u16::MAX)) as u16);
        let words = |lane: &Lane| Lanes(lane.map(|sum| sum as u16));
        // Of two labels there is no excess: of each point one gain is 0.
        let ones: Vec<[Lanes; 3]> = (0..blocks)
            .map(|block| [0, 1, 3].map(|label| words(&columns.ones_of(block)[label])))
            .collect();
        let all = [0, 1, 3].map(|label| columns.sums.all[label] as u16);
        let mut of_blocks = vec![Best::NONE; blocks];
        for first in (0..columns.n).step_by(4) {
            let (left, lane) = (first / LANES, first % LANES);
            let mut own = [Best::NONE; 4];
            for right in left..blocks {
                let (mut both, mut rows) = ([[Lanes::ZERO; 4]; 2], [Lanes::ZERO; 4]);
                for run in &columns.runs {
                    let (left, right) = (columns.words(left, run), columns.words(right, run));
                    let Segment { label, shift } = run.segment;
                    let sums = if label < 2 { &mut both[label] } else { &mut rows };
                    level.add_pairs(left, lane, right, 1 << shift, sums);
                }
                for (k, own) in own.iter_mut().enumerate() {
                    let [one, other, one_rows] = ones[left].each_ref().map(|ones| ones.0[lane + k]);
                    let zero = [all[0] - one, all[1] - other];
                    let [ones_j, other_j, rows_j] = ones[right];
                    let (both, ones_j) = ([both[0][k], both[1][k]], [ones_j, other_j]);
                    let pair = Pair { both, ones_j, one: [one, other], zero };
                    let of_block = &mut of_blocks[right];
                    if min_rows == 0 {
                        level.two_classes(&pair, few, own, of_block);
                        continue;
                    }
                    // Halves may have any number of rows, but no cells of stumps.
                    let stumps = [own.stumps, of_block.stumps];
                    if few > 0 {
                        level.two_classes(&pair, few, own, of_block);
                    }
                    let rows = cells(&rows[k], &rows_j, one_rows, all[2] - one_rows);
                    [own.stumps, of_block.stumps] = large_stumps(stumps, &pair, &rows, min_rows);
                }
            }
            for (k, own) in own.iter().enumerate() {
                for side in 0..2 {
                    let most = |half: &Lanes| if few > 0 { level.most(half) } else { 0 };
                    let halves = own.halves[side].each_ref().map(|half| Cost::from(most(half)));
                    let stump = Cost::from(level.least(&own.stumps[side]));
                    self.take_in(first + k, side, stump, halves);
                }
            }
        }
        for (block, best) in of_blocks.iter().enumerate() {
            for k in 0..LANES {
                for side in 0..2 {
                    let halves = best.halves[side].map(|half| Cost::from(half.0[k]));
                    let stump = Cost::from(best.stumps[side].0[k]);
                    self.take_in(block * LANES + k, side, stump, halves);
                }
            }
        }
    }

    /// With any labels and gains.
    #[inline(always)]
    fn count(&mut self, columns: &Columns, labels: usize, penalty: Option<Cost>) {
        let mut counted = vec![[[0; LANES]; 4]; labels + 2];
        let mut both = vec![[0; LANES]; labels + 2];
        for first in (0..columns.n).step_by(4) {
            let (left, lane) = (first / LANES, first % LANES);
            for right in left..columns.blocks {
                columns.count((left, lane), right, &mut counted);
                for a in first..columns.n.min(first + 4) {
                    for (both, counted) in both.iter_mut().zip(&counted) {
                        *both = counted[a - first];
                    }
                    let cost = costs(columns, labels, a, right, &both);
                    let halves = penalty.map(|penalty| halves(columns, a, penalty, right, &both));
                    self.merge(a, right, &cost, halves.as_ref());
                }
            }
        }
    }

    #[inline(always)]
    fn merge(&mut self, a: usize, block: usize, cost: &Cells, halves: Option<&[Cells; 2]>) {
        let most = |cells: [&Lane; 2], k: usize| cells[0][k].max(cells[1][k]);
        let none = [[[0; LANES]; 2]; 2];
        let halves = halves.map_or([&none; 2], |[one, other]| [one, other]);
        for side in 0..2 {
            for k in 0..LANES {
                let of_a = halves.map(|half| most([&half[side][0], &half[side][1]], k));
                self.take_in(a, side, cost[side][0][k] + cost[side][1][k], of_a);
                let of_b = halves.map(|half| most([&half[0][side], &half[1][side]], k));
                let stump = cost[0][side][k] + cost[1][side][k];
                self.take_in(block * LANES + k, side, stump, of_b);
            }
        }
    }
}

/// Of two labels, where the gain for one is what the other one costs: the gains in halves by label.
#[inline(always)]
fn halves(columns: &Columns, a: usize, few: Cost, block: usize, both: &[Lane]) -> [Cells; 2] {
    let gains = [0, 1].map(|label| gains(columns, label, a, block, both));
    [0, 1].map(|label| {
        let mut held = gains[label];
        for (x, y) in QUARTERS {
            for k in 0..LANES {
                if gains[1 - label][x][y][k] >= few {
                    held[x][y][k] = 0;
                }
            }
        }
        held
    })
}

/// The gains for a label in each quarter.
#[inline(always)]
fn gains(columns: &Columns, label: usize, a: usize, block: usize, both: &[Lane]) -> Cells {
    let (all, of_a) = (columns.sums.all[label], columns.one(label, a));
    let of_b = &columns.ones_of(block)[label];
    let mut out = [[[0; LANES]; 2]; 2];
    for k in 0..LANES {
        let quarters = quarters(all, of_a, of_b[k], both[label][k]);
        for (x, y) in QUARTERS {
            out[x][y][k] = quarters[x][y];
        }
    }
    out
}

/// What each quarter costs as a leaf: all gains, less the excess, less the largest gain; and more
/// than anything costs, if it has too few rows.
#[inline(always)]
fn costs(columns: &Columns, labels: usize, a: usize, block: usize, both: &[Lane]) -> Cells {
    let (mut cost, mut most) = ([[[0; LANES]; 2]; 2], [[[0; LANES]; 2]; 2]);
    for label in 0..=labels {
        let gains = gains(columns, label, a, block, both);
        for (x, y) in QUARTERS {
            for k in 0..LANES {
                let gain = gains[x][y][k];
                cost[x][y][k] += if label < labels { gain } else { -gain };
                most[x][y][k] = most[x][y][k].max(if label < labels { gain } else { 0 });
            }
        }
    }
    for (x, y) in QUARTERS {
        for k in 0..LANES {
            cost[x][y][k] -= most[x][y][k];
        }
    }
    if columns.sums.min_rows > 0 {
        let rows = gains(columns, labels + 1, a, block, both);
        for (x, y) in QUARTERS {
            for k in 0..LANES {
                if rows[x][y][k] < columns.sums.min_rows {
                    cost[x][y][k] = MUCH;
                }
            }
        }
    }
    cost
}
