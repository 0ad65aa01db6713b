//! The look: what the leaf, all splits and all pairs of splits of some points cost.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use crate::instance::{Instance, Task};
use crate::sides::{Look, MUCH, QUARTERS};
use crate::squares::{Squares, Sums};

/// Points whose gain for a label has this bit, counted in the residual's unit. The *gain* of a
/// point for a label is what it costs less under that label than under its worst one. A label
/// beyond the last one stands for the excess: what the gains of a point add up to beyond its worst
/// cost; and one beyond that for rows, where they matter.
#[derive(Clone, Copy)]
struct Segment {
    label: usize,
    shift: u32,
}

/// An instance less what each point costs at least, which every tree pays.
pub struct Residual<'a> {
    instance: &'a Instance,
    /// 0 where points have no costs by label.
    labels: usize,
    pub unavoidable: i64,
    /// It divides all costs that are left.
    unit: i64,
    segments: Vec<Segment>,
    /// Random keys of points, drawn when the proof is there already.
    keys: Vec<u128>,
    /// Where points have no costs by label.
    squares: Option<Squares<'a>>,
}

/// Some points, by segment, and the questions that may tell them apart.
pub struct Node {
    points: Vec<u32>,
    by_segment: Vec<Vec<u32>>,
    pub questions: Vec<u32>,
}

/// The answers of a node's points, and what sums follow from them.
pub struct Columns<'a> {
    unit: i64,
    labels: usize,
    min_rows: i64,
    /// Questions.
    n: usize,
    /// By word of points, then by question.
    bits: Vec<u64>,
    /// The segment of each word.
    segments: Vec<Segment>,
    /// By label, the excess, and the rows: the sums of all points.
    all: Vec<i64>,
    /// By label, the excess, and the rows, then by question: the sums of the points of answer 1.
    ones: Vec<i64>,
    squares: Option<Sums<'a>>,
}

fn greatest_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

impl<'a> Residual<'a> {
    pub fn new(instance: &'a Instance) -> Result<(Residual<'a>, Node), String> {
        let (labels, squares) = match &instance.task {
            Task::Labels(labels) => (*labels, None),
            Task::Squares(shifts) => (0, Some(Squares::new(instance, shifts)?)),
        };
        let (mut unavoidable, mut unit) = (squares.as_ref().map_or(0, |s| s.unavoidable), 0);
        let costs = || instance.points().map(|numbers| &numbers[..labels]);
        for costs in costs() {
            let least = costs.iter().copied().min().unwrap_or(0);
            unavoidable += least;
            unit = costs.iter().fold(unit, |unit, cost| greatest_divisor(unit, cost - least));
        }
        let unit = unit.max(1);
        let (mut segments, mut by_segment) = (Vec::new(), Vec::<Vec<u32>>::new());
        let (mut places, mut points) = (HashMap::new(), Vec::new());
        for (point, costs) in costs().enumerate() {
            let most = costs.iter().copied().max().unwrap_or(0);
            let mut gains: Vec<i64> = costs.iter().map(|cost| most - cost).collect();
            let worst = gains.iter().copied().max().unwrap_or(0);
            // Of squares there are no labels, and each point is in the segment of this.
            let excess = gains.iter().sum::<i64>() - worst;
            gains.push(if squares.is_some() { unit } else { excess });
            let mut sums: Vec<i64> = gains.iter().map(|gain| gain / unit).collect();
            sums.extend(instance.rows.get(point));
            for (label, bits) in sums.into_iter().enumerate() {
                for shift in (0..63).filter(|shift| bits >> shift & 1 == 1) {
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
        let draw = [RandomState::new(), RandomState::new()];
        let key = |point| draw.iter().fold(0, |key, d| key << 64 | u128::from(d.hash_one(point)));
        let keys = (0..instance.points).map(key).collect();
        let questions = (0..instance.questions as u32).collect();
        let root = Node { points, by_segment, questions };
        Ok((Residual { instance, labels, unavoidable, unit, segments, keys, squares }, root))
    }

    /// The points of a node that answer a question so.
    pub fn child(&self, node: &Node, question: u32, side: usize) -> Node {
        let is_there = |&point: &u32| usize::from(self.instance.answer(point, question)) == side;
        let keep = |points: &Vec<u32>| points.iter().copied().filter(is_there).collect();
        let by_segment = node.by_segment.iter().map(keep).collect();
        Node { points: keep(&node.points), by_segment, questions: node.questions.clone() }
    }

    /// The keys of a node's points that answer 0, and 1, and how many these are.
    pub fn sides(&self, node: &Node, question: u32) -> [(u128, usize); 2] {
        let mut sides = [(0, 0); 2];
        for &point in &node.points {
            let side = &mut sides[usize::from(self.instance.answer(point, question))];
            *side = (side.0 ^ self.keys[point as usize], side.1 + 1);
        }
        sides
    }

    pub fn key(&self, node: &Node) -> u128 {
        node.points.iter().fold(0, |key, &point| key ^ self.keys[point as usize])
    }

    /// What a node's points cost as one leaf, beside its penalty.
    pub fn leaf(&self, node: &Node) -> i64 {
        match &self.squares {
            Some(squares) => squares.leaf(node.points.iter()),
            None => self.unit * loss(&self.totals(node)[..=self.labels]),
        }
    }

    fn totals(&self, node: &Node) -> Vec<i64> {
        let mut totals = vec![0; self.labels + 2];
        for (segment, points) in self.segments.iter().zip(&node.by_segment) {
            totals[segment.label] += (points.len() as i64) << segment.shift;
        }
        totals
    }

    /// The answers. The node keeps questions both of whose sides have enough rows, and only the
    /// first of those that part the points alike.
    pub fn columns(&self, node: &mut Node) -> Columns<'_> {
        let (mut rows, mut segments) = (Vec::new(), Vec::new());
        for (&segment, points) in self.segments.iter().zip(&node.by_segment) {
            rows.extend(points.chunks(64));
            segments.resize(rows.len(), segment);
        }
        let word = |question: u32, row: &[u32]| {
            let answers = row.iter().rev().map(|&point| self.instance.answer(point, question));
            answers.fold(0, |word, answer| word << 1 | u64::from(answer))
        };
        let words = |&question: &u32| rows.iter().map(move |row| word(question, row));
        let columns: Vec<u64> = node.questions.iter().flat_map(words).collect();
        // Of a question and its opposite, the one that the first point answers with 0.
        let mut canonical = columns.clone();
        for column in canonical.chunks_mut(rows.len().max(1)) {
            let flip = (column[0] & 1).wrapping_neg();
            for (word, row) in column.iter_mut().zip(&rows) {
                *word = (*word ^ flip) & u64::MAX >> (64 - row.len());
            }
        }
        let mut seen = HashSet::new();
        let (labels, unit, min_rows) = (self.labels, self.unit, self.instance.min_rows);
        let all = self.totals(node);
        let tells = |column: &[u64]| {
            let of = |(word, segment): (&u64, &Segment)| match segment.label > labels {
                true => i64::from(word.count_ones()) << segment.shift,
                false => 0,
            };
            let rows: i64 = column.iter().zip(&segments).map(of).sum();
            let is_large = rows >= min_rows && all[labels + 1] - rows >= min_rows;
            is_large && column.iter().any(|&word| word != 0)
        };
        let is_new = canonical.chunks(rows.len().max(1)).map(|c| tells(c) && seen.insert(c));
        let kept: Vec<usize> =
            is_new.enumerate().filter(|&(_, is_new)| is_new).map(|(place, _)| place).collect();
        let mut bits = Vec::with_capacity(rows.len() * kept.len());
        for word in 0..rows.len() {
            bits.extend(kept.iter().map(|place| columns[place * rows.len() + word]));
        }
        node.questions = kept.iter().map(|&place| node.questions[place]).collect();
        let (n, ones) = (kept.len(), vec![0; all.len() * kept.len()]);
        let sums = |squares| Sums::new(squares, &node.points, &bits, n);
        let squares = self.squares.as_ref().map(sums);
        let mut columns = Columns { unit, labels, min_rows, n, bits, segments, all, ones, squares };
        let mut ones = std::mem::take(&mut columns.ones);
        columns.count(None, 0, &mut ones);
        Columns { ones, ..columns }
    }
}

/// What points lose as one leaf, whose gains by label and excess are these: they cost their worst
/// less the largest gain.
fn loss(gains: &[i64]) -> i64 {
    let Some((excess, gains)) = gains.split_last() else { return 0 };
    gains.iter().sum::<i64>() - excess - gains.iter().copied().max().unwrap_or(0)
}

impl Columns<'_> {
    /// The sums of a label over the quarters of two questions, by the sums of the points of answer
    /// 1 to `a` and to each question.
    fn quarters(&self, label: usize, a: usize, b: usize, both: &[i64]) -> [[i64; 2]; 2] {
        let (at_a, at_b) = (label * self.n + a, label * self.n + b);
        let (of_a, of_b, both) = (self.ones[at_a], self.ones[at_b], both[at_b]);
        [[self.all[label] - of_a - of_b + both, of_b - both], [of_a - both, both]]
    }

    /// By label, the excess, and the rows, then by question from the `from`th one: the sums of the
    /// points that answer 1, and also answer 1 to question `a` where it is given.
    fn count(&self, a: Option<usize>, from: usize, out: &mut [i64]) {
        out.fill(0);
        for (word, segment) in self.segments.iter().enumerate() {
            let answers = &self.bits[word * self.n..(word + 1) * self.n];
            let of_a = a.map_or(u64::MAX, |a| answers[a]);
            let start = segment.label * self.n;
            let sums = out[start + from..start + self.n].iter_mut();
            for (sum, answer) in sums.zip(&answers[from..]) {
                *sum += i64::from((of_a & answer).count_ones()) << segment.shift;
            }
        }
    }

    /// By question and side: the most that those points cost which are on side `side` of question
    /// `a`, but not there; and more than all points cost, where rows matter and some there are not
    /// on that side.
    pub fn lost(&self, a: usize, side: usize) -> Vec<[i64; 2]> {
        if let Some(squares) = &self.squares {
            return squares.lost(a, side);
        }
        let mut both = vec![0; self.ones.len()];
        self.count(Some(a), 0, &mut both);
        let lost = |b: usize, there: usize| {
            let sum = |label: usize| self.quarters(label, a, b, &both)[side][1 - there];
            // What points cost at their worst: their gains less the excess.
            let worst = (0..self.labels).map(sum).sum::<i64>() - sum(self.labels);
            let more_rows = || self.quarters(self.labels + 1, a, b, &both)[1 - side][there];
            if self.min_rows > 0 && more_rows() > 0 { MUCH } else { self.unit * worst }
        };
        (0..self.n).map(|b| [lost(b, 0), lost(b, 1)]).collect()
    }

    /// `pairs`: also count pairs of questions. `leaf`: what a leaf costs.
    pub fn look(&self, leaf: i64, pairs: bool) -> Look {
        if let Some(squares) = &self.squares {
            return squares.look(pairs);
        }
        let (n, labels) = (self.n, self.labels);
        // All is counted in units, and a leaf is worth this many of them, rounded up.
        let few = leaf / self.unit + i64::from(leaf % self.unit > 0);
        let side = |sums: &mut dyn Iterator<Item = i64>| loss(&sums.collect::<Vec<_>>());
        let of = |q: usize| self.ones.iter().skip(q).step_by(n).take(labels + 1);
        let both_sides = |q: usize| {
            let zeros = &mut self.all.iter().zip(of(q)).map(|(all, one)| all - one);
            [side(zeros), side(&mut of(q).copied())]
        };
        let leaves: Vec<[i64; 2]> = (0..n).map(both_sides).collect();
        let mut stumps = leaves.clone();
        // By side and label: the largest gain in a half where the other gain is less than a leaf.
        let mut halves = vec![[[0; 2]; 2]; n];
        let halved = labels == 2 && leaf > 0;
        let mut both = vec![0; self.ones.len()];
        for a in 0..if pairs { n } else { 0 } {
            self.count(Some(a), a + 1, &mut both);
            let (mut own, mut own_halves) = (stumps[a], halves[a]);
            for b in a + 1..n {
                let gains = |label: usize| self.quarters(label, a, b, &both);
                let (mut most, mut cost) = ([[0; 2]; 2], gains(labels).map(|row| row.map(|e| -e)));
                for gains in (0..labels).map(gains) {
                    for (x, y) in QUARTERS {
                        cost[x][y] += gains[x][y];
                        most[x][y] = gains[x][y].max(most[x][y]);
                    }
                }
                let rows = if self.min_rows > 0 { gains(labels + 1) } else { [[0; 2]; 2] };
                for (x, y) in QUARTERS {
                    let is_small = rows[x][y] < self.min_rows;
                    cost[x][y] = if is_small { MUCH } else { cost[x][y] - most[x][y] };
                }
                let of_b = &mut stumps[b];
                for side in [0, 1] {
                    own[side] = own[side].min(cost[side][0] + cost[side][1]);
                    of_b[side] = of_b[side].min(cost[0][side] + cost[1][side]);
                }
                if halved {
                    let (gains, of_b) = ([gains(0), gains(1)], &mut halves[b]);
                    for (x, y) in QUARTERS {
                        for label in [0, 1] {
                            let is_half = gains[1 - label][x][y] < few;
                            let half = if is_half { gains[label][x][y] } else { 0 };
                            own_halves[x][label] = half.max(own_halves[x][label]);
                            of_b[y][label] = half.max(of_b[y][label]);
                        }
                    }
                }
            }
            (stumps[a], halves[a]) = (own, own_halves);
        }
        let fails = |q: usize, side: usize, label: usize| {
            let one = self.ones[label * n + q];
            let gain = if side == 1 { one } else { self.all[label] - one };
            self.unit * (gain - 2 * halves[q][side][label]) >= leaf
        };
        let fails = |q, side| pairs && halved && fails(q, side, 0) && fails(q, side, 1);
        let three_fail = (0..n).map(|q| [fails(q, 0), fails(q, 1)]).collect();
        let in_all = |costs: Vec<[i64; 2]>| {
            costs.iter().map(|both| both.map(|cost| self.unit * cost)).collect()
        };
        Look { leaves: in_all(leaves), stumps: in_all(stumps), three_fail }
    }
}
