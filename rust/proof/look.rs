//! An instance as it is counted for a proof: gains of points by label, and columns of answers.

use hashbrown::{HashMap, HashSet};

use super::chains::Chains;
use super::columns::{Columns, Look, Run, Segment, Sums};
use super::instance::{Instance, Numbers};
use super::squares::Squares;
use crate::bits::{LANES, Lanes, Level, ROWS};
use crate::cost::Cost;

/// An instance less what each point costs at least, which every tree pays.
pub struct Residual<'a> {
    pub instance: &'a Instance,
    /// 0 where points have no costs by label.
    labels: usize,
    squares: Option<Squares>,
    pub unavoidable: Cost,
    /// It divides all costs that are left.
    unit: Cost,
    segments: Vec<Segment>,
    keys: Vec<u128>,
    level: Level,
}

/// Some points, by segment, and the questions that may tell them apart.
#[derive(Clone)]
pub struct Node {
    pub points: Vec<u32>,
    by_segment: Vec<Vec<u32>>,
    pub questions: Vec<u32>,
}

/// The answers of a node's points by question, and what sums follow from them.
pub enum Counted<'a> {
    Labels(Columns),
    Squares(Chains<'a>),
}

impl Counted<'_> {
    /// `leaf`: what a leaf costs. `pairs`: also count pairs of questions.
    pub fn look(&self, leaf: Cost, pairs: bool) -> Look {
        match self {
            Counted::Labels(columns) => columns.look(leaf, pairs),
            Counted::Squares(chains) => chains.look(pairs),
        }
    }

    /// By question and side: the most that those points cost which are on this side of a question,
    /// but not there; and more than all points cost, where rows matter and some there are not on
    /// this side.
    pub fn lost(&self, side: (usize, usize)) -> Vec<[Cost; 2]> {
        match self {
            Counted::Labels(columns) => columns.lost(side),
            Counted::Squares(chains) => chains.lost(side),
        }
    }
}

/// Numbers that look random, and are the same in each process (splitmix64).
fn key(point: u64) -> u64 {
    let mut z = point.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn greatest_divisor(a: Cost, b: Cost) -> Cost {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

impl<'a> Residual<'a> {
    pub fn new(instance: &'a Instance) -> (Residual<'a>, Node) {
        let (labels, squares) = match &instance.kind {
            Numbers::Labels(labels) => (*labels, None),
            Numbers::Squares(shifts) => (0, Squares::new(shifts, &instance.numbers)),
        };
        let (mut unavoidable, mut unit) = (squares.as_ref().map_or(0, |s| s.unavoidable), 0);
        let costs = || instance.numbers.chunks_exact(instance.kind.width()).map(|p| &p[..labels]);
        for costs in costs() {
            let least = costs.iter().copied().min().unwrap_or(0);
            unavoidable += least;
            unit = costs.iter().fold(unit, |unit, cost| greatest_divisor(unit, cost - least));
        }
        let (mut segments, mut by_segment) = (Vec::new(), Vec::<Vec<u32>>::new());
        let (mut places, mut points) = (HashMap::new(), Vec::new());
        for (point, costs) in costs().enumerate() {
            let most = costs.iter().copied().max().unwrap_or(0);
            let mut gains: Vec<Cost> = costs.iter().map(|cost| most - cost).collect();
            let worst = gains.iter().copied().max().unwrap_or(0);
            // Of squares there are no labels, and each point is in the segment of this.
            let excess = gains.iter().sum::<Cost>() - worst;
            gains.push(if squares.is_some() { 1 } else { excess });
            let mut sums: Vec<Cost> = gains.iter().map(|gain| gain / unit.max(1)).collect();
            sums.extend((instance.min_rows > 0).then_some(instance.rows[point] as Cost));
            for (label, bits) in sums.into_iter().enumerate() {
                for shift in (0..Cost::BITS - 1).filter(|shift| bits >> shift & 1 == 1) {
                    let place = *places.entry((label, shift)).or_insert_with(|| {
                        segments.push(Segment { label, shift });
                        by_segment.push(Vec::new());
                        segments.len() - 1
                    });
                    by_segment[place].push(point as u32);
                }
            }
            if worst > 0 || squares.is_some() || instance.min_rows > 0 {
                points.push(point as u32);
            }
        }
        let keys = (0..instance.len() as u64)
            .map(|point| u128::from(key(2 * point)) << 64 | u128::from(key(2 * point + 1)))
            .collect();
        let questions = (0..instance.questions.len() as u32).collect();
        let level = Level::detect();
        (
            Residual { instance, labels, squares, unavoidable, unit, segments, keys, level },
            Node { points, by_segment, questions },
        )
    }

    fn is_right(&self, point: u32, question: u32) -> bool {
        self.instance.answer(point as usize, question as usize)
    }

    pub fn child(&self, node: &Node, question: u32, side: usize) -> Node {
        // Each point is written, and the next one over it unless it stays: no branch is guessed.
        let keep = |points: &Vec<u32>| {
            let (mut kept, mut n) = (vec![0; points.len()], 0);
            for &point in points {
                kept[n] = point;
                n += usize::from(usize::from(self.is_right(point, question)) == side);
            }
            kept.truncate(n);
            kept
        };
        Node {
            points: keep(&node.points),
            by_segment: node.by_segment.iter().map(keep).collect(),
            questions: node.questions.clone(),
        }
    }

    /// The keys of a node's points that answer 0, and 1, and how many these are.
    pub fn sides(&self, node: &Node, question: u32) -> [(u128, usize); 2] {
        let mut sides = [(0, 0); 2];
        for &point in &node.points {
            let side = &mut sides[usize::from(self.is_right(point, question))];
            *side = (side.0 ^ self.keys[point as usize], side.1 + 1);
        }
        sides
    }

    pub fn key(&self, node: &Node) -> u128 {
        node.points.iter().fold(0, |key, &point| key ^ self.keys[point as usize])
    }

    /// What a node's points cost as one leaf, beside its penalty.
    pub fn leaf(&self, node: &Node) -> Cost {
        if let Some(squares) = &self.squares {
            return squares.leaf(node.points.iter().copied());
        }
        let totals = self.totals(node);
        let (gains, excess) = totals.split_at(self.labels);
        let most = gains.iter().copied().max().unwrap_or(0);
        self.unit * (gains.iter().sum::<Cost>() - excess[0] - most)
    }

    /// The gains of a node's points by label, the excess, and the rows.
    fn totals(&self, node: &Node) -> Vec<Cost> {
        let mut totals = vec![0; self.labels + 2];
        for (segment, points) in self.segments.iter().zip(&node.by_segment) {
            totals[segment.label] += (points.len() as Cost) << segment.shift;
        }
        totals
    }

    /// The answers. The node keeps questions both of whose sides have enough rows, and only the
    /// first of those that part the points alike.
    pub fn columns(&self, node: &mut Node) -> Counted<'_> {
        let mut runs = Vec::new();
        let mut rows: Vec<&[u32]> = Vec::new();
        for (&segment, points) in self.segments.iter().zip(&node.by_segment) {
            let start = rows.len();
            rows.extend(points.chunks(ROWS));
            if rows.len() > start {
                runs.push(Run { segment, start, end: rows.len() });
            }
        }
        let all = self.totals(node);
        let min_rows = self.instance.min_rows as Cost;
        let sums = Sums { labels: self.labels, unit: self.unit, min_rows, all };
        let (bits, kept) = self.distinct(&rows, &runs, &sums, &node.questions);
        node.questions = kept;
        let (n, words) = (node.questions.len(), rows.len());
        match &self.squares {
            Some(squares) => Counted::Squares(Chains::new(
                (squares, &node.points),
                (&self.instance.rows, min_rows),
                (&bits, words, n),
                self.level,
            )),
            None => Counted::Labels(Columns::new(sums, n, words, bits, runs, self.level)),
        }
    }

    /// By block of questions and word: the answers, and the questions that they are of.
    fn distinct(
        &self,
        rows: &[&[u32]],
        runs: &[Run],
        sums: &Sums,
        questions: &[u32],
    ) -> (Vec<Lanes>, Vec<u32>) {
        let words = rows.len();
        let all = self.level.run(
            #[inline(always)]
            || self.transposed(rows, questions),
        );
        let mut marks = self.level.run(
            #[inline(always)]
            || marks(rows, &all),
        );
        if sums.min_rows > 0 {
            let large = all.chunks_exact(words.max(1)).flat_map(|block| {
                sums.of_ones(block, runs, self.level)[sums.labels + 1]
                    .map(|ones| sums.is_large(ones))
            });
            marks.iter_mut().zip(large).for_each(|(mark, large)| *mark = mark.filter(|_| large));
        }
        marks.truncate(questions.len());
        let mut seen = HashSet::with_capacity(questions.len());
        let is_new = marks.into_iter().map(|mark| mark.is_some_and(|mark| seen.insert(mark)));
        let kept: Vec<usize> =
            is_new.enumerate().filter_map(|(place, is_new)| is_new.then_some(place)).collect();
        if kept.len() == questions.len() {
            return (all, questions.to_vec());
        }
        let mut bits = vec![Lanes::ZERO; kept.len().div_ceil(LANES) * words];
        for (at, &place) in kept.iter().enumerate() {
            let from = &all[place / LANES * words..][..words];
            let to = &mut bits[at / LANES * words..][..words];
            for (to, from) in to.iter_mut().zip(from) {
                to.0[at % LANES] = from.0[place % LANES];
            }
        }
        (bits, kept.into_iter().map(|place| questions[place]).collect())
    }

    /// By block of questions and word of rows: the answers.
    #[inline(always)]
    fn transposed(&self, rows: &[&[u32]], questions: &[u32]) -> Vec<Lanes> {
        let (words, stride) = (rows.len(), self.instance.stride);
        let mut out = vec![Lanes::ZERO; questions.len().div_ceil(LANES) * words];
        for (at, row) in rows.iter().enumerate() {
            let mut next = 0;
            while next < questions.len() {
                let word = questions[next] as usize / 64;
                let mut block = [0u64; ROWS];
                for (bits, &point) in block.iter_mut().zip(row.iter()) {
                    *bits = self.instance.answers[point as usize * stride + word];
                }
                let columns = self.level.transpose(&block);
                while next < questions.len() && questions[next] as usize / 64 == word {
                    let column = questions[next] as usize % 64;
                    out[next / LANES * words + at].0[next % LANES] =
                        columns[column / LANES].0[column % LANES];
                    next += 1;
                }
            }
        }
        out
    }
}

/// By question: the same number for those that part the rows alike, or oppositely, and none for one
/// that does not part them. Two others have the same number with a chance of about 2^-64, which
/// would make a proof that fails.
#[inline(always)]
fn marks(rows: &[&[u32]], bits: &[Lanes]) -> Vec<Option<u64>> {
    let mut out = Vec::with_capacity(bits.len() / rows.len().max(1) * LANES);
    for block in bits.chunks_exact(rows.len().max(1)) {
        let flip = block[0].0.map(|word| (word & 1).wrapping_neg());
        let (mut marks, mut any) = ([0u64; LANES], [0u16; LANES]);
        for (row, word) in rows.iter().zip(block) {
            let full = u16::MAX >> (ROWS - row.len());
            for k in 0..LANES {
                let bits = (word.0[k] ^ flip[k]) & full;
                any[k] |= bits;
                let mixed = (marks[k] ^ u64::from(bits)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                marks[k] = mixed ^ mixed >> 32;
            }
        }
        out.extend((0..LANES).map(|k| (any[k] != 0).then_some(marks[k])));
    }
    out
}
