//! The look: what the leaf, all splits and all pairs of splits of some points cost.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use crate::instance::Instance;

/// Points that have a bit of their cost under a label set: together they cost `weight` each.
/// A label beyond the last one stands for the most that any label costs.
struct Segment {
    label: usize,
    weight: i64,
}

/// An instance less what each point costs at least, which every tree pays.
pub struct Residual<'a> {
    pub instance: &'a Instance,
    pub unavoidable: i64,
    segments: Vec<Segment>,
    /// Random keys of points, drawn when the proof is there already.
    keys: Vec<u128>,
}

/// Some points, by segment, and the questions that may tell them apart.
#[derive(Clone)]
pub struct Node {
    pub points: Vec<u32>,
    by_segment: Vec<Vec<u32>>,
    pub questions: Vec<u32>,
}

/// The answers of a node's points by question, in words by segment.
pub struct Columns {
    words: usize,
    /// Words of the segments of labels, which come first.
    label_words: usize,
    bits: Vec<u64>,
    /// By word: what a bit of it weighs, and its label.
    of_word: Vec<(usize, i64)>,
    /// By question: the most that its points of answer 1 cost; and all points.
    worst_ones: Vec<i64>,
    worst: i64,
}

impl<'a> Residual<'a> {
    pub fn new(instance: &'a Instance) -> (Residual<'a>, Node) {
        let labels = instance.labels;
        let mut segments = Vec::new();
        let mut by_segment: Vec<Vec<u32>> = Vec::new();
        let mut places: HashMap<(usize, i64), usize> = HashMap::new();
        let (mut unavoidable, mut points) = (0, Vec::new());
        for (point, costs) in instance.costs.chunks_exact(labels).enumerate() {
            let least = costs.iter().copied().min().unwrap_or(0);
            unavoidable += least;
            let most = costs.iter().copied().max().unwrap_or(0);
            if most > least {
                points.push(point as u32);
            }
            for (label, cost) in costs.iter().chain([&most]).enumerate() {
                let mut left = cost - least;
                while left > 0 {
                    let weight = left & left.wrapping_neg();
                    left -= weight;
                    let place = *places.entry((label, weight)).or_insert_with(|| {
                        segments.push(Segment { label, weight });
                        by_segment.push(Vec::new());
                        segments.len() - 1
                    });
                    by_segment[place].push(point as u32);
                }
            }
        }
        let mut order: Vec<usize> = (0..segments.len()).collect();
        order.sort_by_key(|&place| segments[place].label == labels);
        let segments = order.iter().map(|&place| Segment { ..segments[place] }).collect();
        let by_segment = order.iter().map(|&place| by_segment[place].clone()).collect();
        let draw = [RandomState::new(), RandomState::new()];
        let key = |point| draw.iter().fold(0, |key, d| key << 64 | u128::from(d.hash_one(point)));
        let keys = (0..instance.points).map(key).collect();
        let questions = (0..instance.questions as u32).collect();
        (Residual { instance, unavoidable, segments, keys }, Node { points, by_segment, questions })
    }

    fn is_right(&self, point: u32, question: u32) -> bool {
        self.instance.answer(point as usize, question as usize)
    }

    /// The points of a node that answer a question so.
    pub fn child(&self, node: &Node, question: u32, side: usize) -> Node {
        let keep = |points: &Vec<u32>| {
            let own = points.iter().copied();
            own.filter(|&point| usize::from(self.is_right(point, question)) == side).collect()
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

    /// What a node's points cost under each label.
    pub fn totals(&self, node: &Node) -> Vec<i64> {
        let mut totals = vec![0; self.instance.labels + 1];
        for (segment, points) in self.segments.iter().zip(&node.by_segment) {
            totals[segment.label] += segment.weight * points.len() as i64;
        }
        totals.pop();
        totals
    }

    /// The answers, and of questions that part the points alike only the first.
    pub fn columns(&self, node: &mut Node) -> Columns {
        let labels = self.instance.labels;
        let (mut rows, mut of_word, mut label_words) = (Vec::new(), Vec::new(), 0);
        for (segment, points) in self.segments.iter().zip(&node.by_segment) {
            for chunk in points.chunks(64) {
                rows.push(chunk);
                of_word.push((segment.label, segment.weight));
                label_words += usize::from(segment.label < labels);
            }
        }
        let words = rows.len();
        let (mut bits, mut kept, mut worst_ones) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        let answers = self.answers(&rows, &node.questions);
        for (&question, column) in node.questions.iter().zip(answers.chunks(words.max(1))) {
            // Of a question and its opposite, the one that the first point answers with 0.
            let flip = column.first().map_or(0, |word| (word & 1).wrapping_neg());
            let full = |row: &&[u32]| u64::MAX >> (64 - row.len());
            let canonical = column.iter().zip(&rows).map(|(word, row)| (word ^ flip) & full(row));
            let canonical: Vec<u64> = canonical.collect();
            if canonical.iter().all(|&word| word == 0) || !seen.insert(canonical) {
                continue;
            }
            let weigh = |(word, of): (&u64, &(usize, i64))| of.1 * i64::from(word.count_ones());
            let worst = column.iter().zip(&of_word).skip(label_words).map(weigh).sum();
            kept.push(question);
            worst_ones.push(worst);
            bits.extend_from_slice(column);
        }
        node.questions = kept;
        let worst = rows.iter().zip(&of_word).skip(label_words);
        let worst = worst.map(|(row, of)| of.1 * row.len() as i64).sum();
        Columns { words, label_words, bits, of_word, worst_ones, worst }
    }
}

impl Residual<'_> {
    /// The answers to each question, in words of rows.
    fn answers(&self, rows: &[&[u32]], questions: &[u32]) -> Vec<u64> {
        let Instance { stride, answers, .. } = self.instance;
        let mut out = vec![0; questions.len() * rows.len()];
        for (at, row) in rows.iter().enumerate() {
            let mut next = 0;
            while let Some(&first) = questions.get(next) {
                let word = first as usize / 64;
                let mut block = [0; 64];
                for (bits, &point) in block.iter_mut().zip(*row) {
                    *bits = answers[point as usize * stride + word];
                }
                transpose(&mut block);
                while questions.get(next).is_some_and(|&q| q as usize / 64 == word) {
                    out[next * rows.len() + at] = block[questions[next] as usize % 64];
                    next += 1;
                }
            }
        }
        out
    }
}

/// The rows of a square of bits become its columns: halves are swapped, then halves of these.
fn transpose(block: &mut [u64; 64]) {
    for width in [32, 16, 8, 4, 2, 1] {
        let mask = (0..64).filter(|bit| bit & width == 0).fold(0, |mask, bit| mask | 1u64 << bit);
        for row in (0..64).filter(|row| row & width == 0) {
            let swapped = (block[row] >> width ^ block[row + width]) & mask;
            block[row + width] ^= swapped;
            block[row] ^= swapped << width;
        }
    }
}

impl Columns {
    fn column(&self, question: usize) -> &[u64] {
        &self.bits[question * self.words..(question + 1) * self.words]
    }

    /// The most that points cost which are on side `from.1` of one question, but not on side `to.1`
    /// of another.
    pub fn lost(&self, from: (usize, usize), to: (usize, usize)) -> i64 {
        let flip = |side: usize| if side == 1 { 0 } else { u64::MAX };
        let (a, b) = (self.column(from.0), self.column(to.0));
        let both: i64 = (self.label_words..self.words)
            .map(|w| {
                // Bits beyond a segment's end are 0: answers 0 are counted as what is not 1.
                let ones = i64::from((a[w] & (b[w] ^ flip(1 - to.1))).count_ones());
                self.of_word[w].1 * ones
            })
            .sum();
        // `both` are those of answer 1 to `from` that are lost; the others follow from the sums.
        if from.1 == 1 {
            return both;
        }
        let lost =
            if to.1 == 1 { self.worst - self.worst_ones[to.0] } else { self.worst_ones[to.0] };
        lost - both
    }

    /// What the points of answer 1 to a question, and to another where it is given, cost by label.
    fn count(&self, a: usize, b: Option<usize>, out: &mut [i64]) {
        out.fill(0);
        let a = self.column(a);
        let b = b.map(|b| self.column(b));
        for (w, &(label, weight)) in self.of_word[..self.label_words].iter().enumerate() {
            let word = b.map_or(a[w], |b| a[w] & b[w]);
            out[label] += weight * i64::from(word.count_ones());
        }
    }
}

/// What both sides of each question cost: as a leaf, and at best with one split. Penalties of
/// leaves are left out.
pub struct Look {
    pub leaves: Vec<[i64; 2]>,
    pub stumps: Vec<[i64; 2]>,
    /// Whether no tree of exactly three leaves on the side loses less than a leaf costs.
    pub three_fail: Vec<[bool; 2]>,
}

fn least(costs: impl Iterator<Item = i64>) -> i64 {
    costs.min().unwrap_or(0)
}

/// `pairs`: also count pairs of questions.
pub fn look(columns: &Columns, n: usize, totals: &[i64], leaf: i64, pairs: bool) -> Look {
    let labels = totals.len();
    let mut ones = vec![0; n * labels];
    for (question, ones) in ones.chunks_exact_mut(labels).enumerate() {
        columns.count(question, None, ones);
    }
    let own = |q: usize| &ones[q * labels..(q + 1) * labels];
    let sides = |q: usize| {
        [
            least(own(q).iter().zip(totals).map(|(one, all)| all - one)),
            least(own(q).iter().copied()),
        ]
    };
    let leaves: Vec<[i64; 2]> = (0..n).map(sides).collect();
    let mut stumps = leaves.clone();
    // By side and label: the most of its cost in a half, where the other label costs less than a leaf.
    let mut halves = vec![[[0i64; 2]; 2]; n];
    let mut both = vec![0; labels];
    for a in 0..if pairs { n } else { 0 } {
        for b in a + 1..n {
            columns.count(a, Some(b), &mut both);
            let cell = |x: usize, y: usize, l: usize| {
                let (one_a, one_b, one) = (own(a)[l], own(b)[l], both[l]);
                match (x, y) {
                    (1, 1) => one,
                    (1, _) => one_a - one,
                    (_, 1) => one_b - one,
                    _ => totals[l] - one_a - one_b + one,
                }
            };
            let loss = |x, y| least((0..labels).map(|l| cell(x, y, l)));
            let cells = [[loss(0, 0), loss(0, 1)], [loss(1, 0), loss(1, 1)]];
            for side in 0..2 {
                stumps[a][side] = stumps[a][side].min(cells[side][0] + cells[side][1]);
                stumps[b][side] = stumps[b][side].min(cells[0][side] + cells[1][side]);
            }
            if labels == 2 && leaf > 0 {
                for (x, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    for (l, _) in totals.iter().enumerate() {
                        if cell(x, y, 1 - l) < leaf {
                            halves[a][x][l] = halves[a][x][l].max(cell(x, y, l));
                            halves[b][y][l] = halves[b][y][l].max(cell(x, y, l));
                        }
                    }
                }
            }
        }
    }
    let fails = |q: usize, side: usize| {
        let of = |l: usize| if side == 1 { own(q)[l] } else { totals[l] - own(q)[l] };
        labels == 2 && leaf > 0 && (0..2).all(|l| of(l) >= 2 * halves[q][side][l] + leaf)
    };
    let three_fail = (0..n).map(|q| [pairs && fails(q, 0), pairs && fails(q, 1)]).collect();
    Look { leaves, stumps, three_fail }
}
