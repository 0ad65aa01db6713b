//! The look of a proof: what the leaf, all splits and all pairs of splits of some points cost.
//!
//! It is plain on purpose, and counts what a checker counts: see `docs/proof.md`.

use hashbrown::{HashMap, HashSet};

use super::instance::Instance;
use crate::bits::Level;
use crate::cost::Cost;

/// Points that have a bit of their cost under a label set: together they cost `weight` each. The
/// label beyond the last one stands for the most that any label costs.
#[derive(Debug, Clone, Copy)]
struct Segment {
    label: usize,
    weight: Cost,
}

/// An instance less what each point costs at least, which every tree pays.
pub struct Residual<'a> {
    pub instance: &'a Instance,
    pub unavoidable: Cost,
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

/// Where the rows of a segment lie in a column.
#[derive(Clone, Copy)]
struct Run {
    segment: Segment,
    start: usize,
    end: usize,
}

/// The answers of a node's points by question, and what is known of its sides.
pub struct Columns {
    words: usize,
    bits: Vec<u64>,
    /// Of labels first.
    runs: Vec<Run>,
    of_labels: usize,
    worst_ones: Vec<Cost>,
    worst: Cost,
    level: Level,
}

/// What both sides of each question cost: as a leaf, and at best with one split.
pub struct Look {
    pub leaves: Vec<[Cost; 2]>,
    pub stumps: Vec<[Cost; 2]>,
    /// Whether no tree of exactly three leaves loses less than a leaf costs.
    pub three_fail: Vec<[bool; 2]>,
}

/// Numbers that look random, and are the same in each process (splitmix64).
fn key(point: u64) -> u64 {
    let mut z = point.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl<'a> Residual<'a> {
    pub fn new(instance: &'a Instance) -> (Residual<'a>, Node) {
        let labels = instance.labels;
        let (mut segments, mut by_segment) = (Vec::new(), Vec::<Vec<u32>>::new());
        let mut places = HashMap::new();
        let (mut unavoidable, mut points) = (0, Vec::new());
        for (point, costs) in instance.costs.chunks_exact(labels).enumerate() {
            let least = costs.iter().copied().min().unwrap_or(0);
            let most = costs.iter().copied().max().unwrap_or(0);
            unavoidable += least;
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
        let mut both: Vec<(Segment, Vec<u32>)> = segments.into_iter().zip(by_segment).collect();
        both.sort_by_key(|(segment, _)| segment.label == labels);
        let (segments, by_segment) = both.into_iter().unzip();
        let keys = (0..instance.len() as u64)
            .map(|point| u128::from(key(2 * point)) << 64 | u128::from(key(2 * point + 1)))
            .collect();
        let questions = (0..instance.questions.len() as u32).collect();
        let level = Level::detect();
        (
            Residual { instance, unavoidable, segments, keys, level },
            Node { points, by_segment, questions },
        )
    }

    fn is_right(&self, point: u32, question: u32) -> bool {
        self.instance.answer(point as usize, question as usize)
    }

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
    pub fn totals(&self, node: &Node) -> Vec<Cost> {
        let mut totals = vec![0; self.instance.labels + 1];
        for (segment, points) in self.segments.iter().zip(&node.by_segment) {
            totals[segment.label] += segment.weight * points.len() as Cost;
        }
        totals.pop();
        totals
    }

    /// The answers, and of questions that part the points alike only the first.
    pub fn columns(&self, node: &mut Node) -> Columns {
        let labels = self.instance.labels;
        let (mut rows, mut runs) = (Vec::new(), Vec::new());
        for (&segment, points) in self.segments.iter().zip(&node.by_segment) {
            let start = rows.len();
            rows.extend(points.chunks(64));
            if rows.len() > start {
                runs.push(Run { segment, start, end: rows.len() });
            }
        }
        let of_labels = runs.iter().filter(|run| run.segment.label < labels).count();
        let words = rows.len();
        let all = self.level.run(
            #[inline(always)]
            || self.transposed(&rows, &node.questions),
        );
        let (mut bits, mut kept, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for (&question, column) in node.questions.iter().zip(all.chunks(words.max(1))) {
            let flip = (column[0] & 1).wrapping_neg();
            let full = rows.iter().map(|row| u64::MAX >> (64 - row.len()));
            let canonical: Vec<u64> =
                column.iter().zip(full).map(|(word, full)| (word ^ flip) & full).collect();
            if canonical.iter().any(|&word| word != 0) && seen.insert(canonical) {
                kept.push(question);
                bits.extend_from_slice(column);
            }
        }
        node.questions = kept;
        let n_rows =
            |run: &Run| rows[run.start..run.end].iter().map(|row| row.len() as Cost).sum::<Cost>();
        let worst = runs[of_labels..].iter().map(|run| run.segment.weight * n_rows(run)).sum();
        let level = self.level;
        let mut columns =
            Columns { words, bits, runs, of_labels, worst_ones: Vec::new(), worst, level };
        columns.worst_ones = (0..node.questions.len())
            .map(|q| columns.weigh(columns.column(q), |column, w| column[w]))
            .collect();
        columns
    }

    /// Answers by question, in words of rows.
    #[inline(always)]
    fn transposed(&self, rows: &[&[u32]], questions: &[u32]) -> Vec<u64> {
        let (words, stride) = (rows.len(), self.instance.stride);
        let mut out = vec![0; questions.len() * words];
        let mut block = [0u64; 64];
        for (at, row) in rows.iter().enumerate() {
            let mut next = 0;
            while next < questions.len() {
                let word = questions[next] as usize / 64;
                block.fill(0);
                for (bits, &point) in block.iter_mut().zip(row.iter()) {
                    *bits = self.instance.answers[point as usize * stride + word];
                }
                transpose(&mut block);
                while next < questions.len() && questions[next] as usize / 64 == word {
                    out[next * words + at] = block[questions[next] as usize % 64];
                    next += 1;
                }
            }
        }
        out
    }
}

/// Rows of a square of bits become columns.
#[inline(always)]
fn transpose(block: &mut [u64; 64]) {
    let (mut width, mut mask) = (32, u64::MAX >> 32);
    while width > 0 {
        let mut row = 0;
        while row < 64 {
            let swapped = (block[row] >> width ^ block[row + width]) & mask;
            block[row + width] ^= swapped;
            block[row] ^= swapped << width;
            row = (row + width + 1) & !width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

impl Columns {
    fn column(&self, question: usize) -> &[u64] {
        &self.bits[question * self.words..(question + 1) * self.words]
    }

    /// The most that rows cost whose bits these are.
    #[inline(always)]
    fn weigh<T: Copy>(&self, of: T, word: impl Fn(T, usize) -> u64) -> Cost {
        let ones =
            |run: &Run| -> u32 { (run.start..run.end).map(|w| word(of, w).count_ones()).sum() };
        let runs = self.runs[self.of_labels..].iter();
        runs.map(|run| run.segment.weight * Cost::from(ones(run))).sum()
    }

    /// By question and side: the most that points cost which are on side `from.1` of a question and
    /// not on that side.
    pub fn lost(&self, from: (usize, usize), to: usize) -> [Cost; 2] {
        let (a, b) = (self.column(from.0), self.column(to));
        let both = self.level.run(
            #[inline(always)]
            || self.weigh((a, b), |(a, b), w| a[w] & b[w]),
        );
        let (own, other) = (self.worst_ones[from.0], self.worst_ones[to]);
        if from.1 == 1 {
            [both, own - both]
        } else {
            [other - both, self.worst - own - other + both]
        }
    }

    /// `pairs`: also count pairs of questions.
    pub fn look(&self, n: usize, totals: &[Cost], leaf: Cost, pairs: bool) -> Look {
        self.level.run(
            #[inline(always)]
            || match totals {
                &[a, b] => self.look_of(n, [a, b], leaf, pairs),
                _ => self.look_of(n, totals.to_vec(), leaf, pairs),
            },
        )
    }

    #[inline(always)]
    fn look_of<T>(&self, n: usize, totals: T, leaf: Cost, pairs: bool) -> Look
    where
        T: AsRef<[Cost]> + AsMut<[Cost]> + Clone,
    {
        let mut both = totals.clone();
        let all = totals.as_ref();
        let labels = all.len();
        let mut ones = vec![0; n * labels];
        for (question, ones) in ones.chunks_exact_mut(labels).enumerate() {
            let column = self.column(question);
            self.count(column, column, ones);
        }
        let own = |q: usize| &ones[q * labels..(q + 1) * labels];
        let sides =
            |q: usize| [least(labels, |l| all[l] - own(q)[l]), least(labels, |l| own(q)[l])];
        let leaves: Vec<[Cost; 2]> = (0..n).map(sides).collect();
        let mut stumps = leaves.clone();
        let halved = labels == 2 && leaf > 0;
        let mut halves = vec![[[0; 2]; 2]; n];
        for a in 0..if pairs { n } else { 0 } {
            for b in a + 1..n {
                self.count(self.column(a), self.column(b), both.as_mut());
                let (one, of_a, of_b) = (both.as_ref(), own(a), own(b));
                let mut cells = [[Cost::MAX; 2]; 2];
                for l in 0..labels {
                    let own = quarters(all[l], of_a[l], of_b[l], one[l]);
                    for (x, y) in QUARTERS {
                        cells[x][y] = cells[x][y].min(own[x][y]);
                    }
                }
                for side in 0..2 {
                    stumps[a][side] = stumps[a][side].min(cells[side][0] + cells[side][1]);
                    stumps[b][side] = stumps[b][side].min(cells[0][side] + cells[1][side]);
                }
                if halved {
                    let own = [0, 1].map(|l| quarters(all[l], of_a[l], of_b[l], one[l]));
                    for (x, y) in QUARTERS {
                        for l in 0..2 {
                            let held = if own[1 - l][x][y] < leaf { own[l][x][y] } else { 0 };
                            halves[a][x][l] = held.max(halves[a][x][l]);
                            halves[b][y][l] = held.max(halves[b][y][l]);
                        }
                    }
                }
            }
        }
        let fails = |q: usize, side: usize| {
            let of = |l: usize| if side == 1 { own(q)[l] } else { all[l] - own(q)[l] };
            pairs && halved && (0..2).all(|l| of(l) >= 2 * halves[q][side][l] + leaf)
        };
        let three_fail = (0..n).map(|q| [fails(q, 0), fails(q, 1)]).collect();
        Look { leaves, stumps, three_fail }
    }

    /// What the points of answer 1 to both cost, by label.
    #[inline(always)]
    fn count(&self, a: &[u64], b: &[u64], out: &mut [Cost]) {
        out.fill(0);
        for Run { segment, start, end } in &self.runs[..self.of_labels] {
            let (a, b) = (&a[*start..*end], &b[*start..*end]);
            let ones: u32 = a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum();
            out[segment.label] += segment.weight * Cost::from(ones);
        }
    }
}

const QUARTERS: [(usize, usize); 4] = [(0, 0), (0, 1), (1, 0), (1, 1)];

/// What points cost by their answers to two questions: from what all, those of answer 1 to either
/// question, and those of answer 1 to both do.
#[inline(always)]
fn quarters(all: Cost, a: Cost, b: Cost, both: Cost) -> [[Cost; 2]; 2] {
    [[all - a - b + both, b - both], [a - both, both]]
}

#[inline(always)]
fn least(n: usize, cost: impl Fn(usize) -> Cost) -> Cost {
    // A plain loop, which the compiler unrolls for two labels.
    let mut best = Cost::MAX;
    for label in 0..n {
        best = best.min(cost(label));
    }
    best
}
