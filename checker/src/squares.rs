//! Squared errors of means: what leaves, splits and pairs of splits of some points cost.

use std::ops::Range;

use crate::instance::{Instance, Task};
use crate::sides::{Look, MUCH, QUARTERS};

/// What points cost at most adds up to no more.
const MOST_WORST: i128 = 1 << 59;
/// Sums of gains are at most 2^58, and floats have 53 bits: those of a pair of questions are off by
/// less than half of this, with what is rounded up in each gain.
const ROUGH: f64 = 2048.0;

/// An instance of squares, less what each point costs by itself, which every tree pays.
pub struct Squares<'a> {
    instance: &'a Instance,
    pub unavoidable: i64,
    /// By point: the numbers of the instance, with squares that are so much less.
    numbers: Vec<i64>,
    /// By point: the most that it adds to a leaf whose means are no others than points may have.
    worst: Vec<i64>,
}

impl<'a> Squares<'a> {
    pub fn new(instance: &'a Instance, shifts: &[u32]) -> Result<Squares<'a>, String> {
        let (width, last) = (instance.width(), shifts.len() + 1);
        let (mut numbers, mut unavoidable) = (instance.numbers.clone(), 0);
        for point in numbers.chunks_exact_mut(width) {
            let own = instance.loss(point);
            point[last] -= own;
            unavoidable += own;
        }
        let points = || numbers.chunks_exact(width);
        let sum = |at: usize| points().map(|point| point[at]).sum::<i64>();
        let all: Vec<i64> = (0..width).map(sum).collect();
        // Means of points lie between these.
        let floor = |point: &[i64], at: usize| point[at].div_euclid(point[0]);
        let ceil = |point: &[i64], at: usize| -(-point[at]).div_euclid(point[0]);
        let ends = |at: usize| {
            let lowest = points().map(|point| floor(point, at)).min().unwrap_or(0);
            [lowest, points().map(|point| ceil(point, at)).max().unwrap_or(0)]
        };
        let ends: Vec<[i64; 2]> = (1..last).map(ends).collect();
        let far = ends.iter().flatten().map(|end| i128::from(end.unsigned_abs())).max();
        if far.unwrap_or(0) * i128::from(all[0]) > 1 << 62 {
            return Err("the means of the instance are too large".into());
        }
        // A mean c of a target costs a point c²w - 2cs more than its squares: most at an end.
        let worst = |point: &[i64]| {
            let of_end = |end: i64, at: usize| {
                let [weight, sum, end] = [point[0], point[at], end].map(i128::from);
                -((2 * end * sum - end * end * weight) >> shifts[at - 1])
            };
            let at_most = |at: usize| ends[at - 1].iter().map(|&end| of_end(end, at)).max();
            let worst: i128 = (1..last).filter_map(at_most).sum();
            (i128::from(point[last]) + worst).min(instance.loss(&all).into()) as i64
        };
        let worst: Vec<i64> = points().map(worst).collect();
        if worst.iter().map(|&worst| i128::from(worst)).sum::<i128>() > MOST_WORST {
            return Err("what the points cost at most is too large".into());
        }
        Ok(Squares { instance, unavoidable, numbers, worst })
    }

    fn of(&self, point: u32) -> &[i64] {
        let width = self.instance.width();
        &self.numbers[point as usize * width..][..width]
    }

    /// What points cost as a leaf.
    pub fn leaf<'p>(&self, points: impl Iterator<Item = &'p u32>) -> i64 {
        let mut all = vec![0; self.instance.width()];
        for &point in points {
            all.iter_mut().zip(self.of(point)).for_each(|(sum, number)| *sum += number);
        }
        self.instance.loss(&all)
    }
}

/// The points of a node, and its questions in chains: each of a chain is answered with 1 by points
/// that answer so the one before it, as growing thresholds are. So who knows the last question of
/// each chain that a point answers with 1 knows all its answers.
pub struct Sums<'a> {
    squares: &'a Squares<'a>,
    points: Vec<u32>,
    /// The questions of each chain.
    chains: Vec<Range<usize>>,
    /// By question.
    chain_of: Vec<usize>,
    /// By point and chain: that last question, or the number of all questions if it is none.
    last: Vec<usize>,
}

impl<'a> Sums<'a> {
    /// `bits`: the answers by word of points, then by question, of which there are `n`.
    pub fn new(squares: &'a Squares<'a>, points: &[u32], bits: &[u64], n: usize) -> Sums<'a> {
        let (mut chains, mut chain_of) = (Vec::<Range<usize>>::new(), Vec::new());
        let bits = &bits[..points.len().div_ceil(64) * n];
        for question in 0..n {
            let is_within = |word: &[u64]| word[question] & !word[question - 1] == 0;
            match chains.last_mut() {
                Some(chain) if bits.chunks_exact(n).all(is_within) => chain.end += 1,
                _ => chains.push(question..question + 1),
            }
            chain_of.push(chains.len() - 1);
        }
        let last_of = |point: usize, chain: &Range<usize>| {
            let is_one =
                |&question: &usize| bits[point / 64 * n + question] >> (point % 64) & 1 == 1;
            chain.clone().rev().find(is_one).unwrap_or(n)
        };
        let last_of =
            |point| chains.iter().map(move |chain| (point, chain)).map(|(p, c)| last_of(p, c));
        let last = (0..points.len()).flat_map(last_of).collect();
        Sums { squares, points: points.to_vec(), chains, chain_of, last }
    }

    fn last(&self, place: usize) -> &[usize] {
        &self.last[place * self.chains.len()..][..self.chains.len()]
    }

    fn answer(&self, place: usize, question: usize) -> usize {
        let last = self.last(place)[self.chain_of[question]];
        usize::from(last >= question && last < self.chain_of.len())
    }

    /// From sums by last question: those of all points of answer 1, by question.
    fn add_up(&self, sums: &mut [i64]) {
        for chain in &self.chains {
            for question in chain.clone().rev().skip(1) {
                sums[question] += sums[question + 1];
            }
        }
    }

    /// By question, the sums of a number of points over those of answer 1; and over all.
    fn ones(&self, of: impl Fn(usize) -> i64) -> (Vec<i64>, i64) {
        let (mut sums, mut all) = (vec![0; self.chain_of.len() + 1], 0);
        for place in 0..self.points.len() {
            self.last(place).iter().for_each(|&last| sums[last] += of(place));
            all += of(place);
        }
        self.add_up(&mut sums);
        (sums, all)
    }

    /// As of labels: see there.
    pub fn lost(&self, question: usize, side: usize) -> Vec<[i64; 2]> {
        let is_here = |place: usize| self.answer(place, question) == side;
        let worst = |place: usize| self.squares.worst[self.points[place] as usize];
        let (ones, all) = self.ones(|place| if is_here(place) { worst(place) } else { 0 });
        let (more, all_more) = self.ones(|place| i64::from(!is_here(place)));
        let lost = |lost: i64, more: i64| {
            if self.squares.instance.min_rows > 0 && more > 0 { MUCH } else { lost }
        };
        let both = |q: usize| [lost(ones[q], all_more - more[q]), lost(all - ones[q], more[q])];
        (0..self.chain_of.len()).map(both).collect()
    }

    /// Those that answer 0, and those that answer 1.
    fn split(&self, places: impl Iterator<Item = usize>, question: usize) -> [Vec<usize>; 2] {
        let mut sides = [Vec::new(), Vec::new()];
        places.for_each(|place| sides[self.answer(place, question)].push(place));
        sides
    }

    fn leaf(&self, places: &[usize]) -> i64 {
        self.squares.leaf(places.iter().map(|&place| &self.points[place]))
    }

    pub fn look(&self, pairs: bool) -> Look {
        let n = self.chain_of.len();
        let (mut leaves, mut stumps) = (vec![[0; 2]; n], vec![[0; 2]; n]);
        for (q, best) in self.best_pairs(pairs).iter().enumerate() {
            for (side, here) in self.split(0..self.points.len(), q).iter().enumerate() {
                leaves[q][side] = self.leaf(here);
                let cost = |&other: &usize| {
                    let cells = self.split(here.iter().copied(), other);
                    self.leaf(&cells[0]) + self.leaf(&cells[1])
                };
                let costs = best[side].questions.iter().map(cost);
                stumps[q][side] = costs.fold(leaves[q][side], i64::min);
            }
        }
        Look { leaves, stumps, three_fail: vec![[false; 2]; n] }
    }

    /// By question and side: the questions that part it best, or may.
    fn best_pairs(&self, pairs: bool) -> Vec<[Best; 2]> {
        let (n, instance) = (self.chain_of.len(), self.squares.instance);
        let Task::Squares(shifts) = &instance.task else { return Vec::new() };
        let mut best = vec![[Best::default(), Best::default()]; n];
        // By weight and target; then the rows.
        let number = |at: usize, place: usize| match at > shifts.len() {
            true => instance.rows[self.points[place] as usize],
            false => self.squares.of(self.points[place])[at],
        };
        let entries = shifts.len() + 1 + usize::from(instance.min_rows > 0);
        let scales: Vec<f64> = shifts.iter().map(|&shift| 0.5f64.powi(shift as i32)).collect();
        let ones: Vec<_> = (0..entries).map(|at| self.ones(|place| number(at, place))).collect();
        for (at_chain, chain) in self.chains.iter().enumerate().filter(|_| pairs) {
            let mut by_last = vec![vec![0; n + 1]; entries];
            for a in chain.clone().rev() {
                for place in (0..self.points.len()).filter(|&p| self.last(p)[at_chain] == a) {
                    for (at, sums) in by_last.iter_mut().enumerate() {
                        self.last(place).iter().for_each(|&last| sums[last] += number(at, place));
                    }
                }
                let mut both = by_last.clone();
                both.iter_mut().for_each(|sums| self.add_up(sums));
                for b in chain.start..n {
                    let quarters = |at: usize| {
                        let ((ones, all), both) = (&ones[at], both[at][b]);
                        [[all - ones[a] - ones[b] + both, ones[b] - both], [ones[a] - both, both]]
                    };
                    let mut gains = rough_gains(&scales, quarters);
                    for (x, y) in QUARTERS.into_iter().filter(|_| instance.min_rows > 0) {
                        if quarters(shifts.len() + 1)[x][y] < instance.min_rows {
                            gains[x][y] = f64::NEG_INFINITY;
                        }
                    }
                    for side in [0, 1] {
                        best[a][side].take_in(gains[side][0] + gains[side][1], b);
                        best[b][side].take_in(gains[0][side] + gains[1][side], a);
                    }
                }
            }
        }
        best
    }
}

/// What quarters cost less than their squares, about.
fn rough_gains(scales: &[f64], quarters: impl Fn(usize) -> [[i64; 2]; 2]) -> [[f64; 2]; 2] {
    let (weights, mut gains) = (quarters(0), [[0.0; 2]; 2]);
    for (target, scale) in scales.iter().enumerate() {
        let sums = quarters(target + 1);
        for (x, y) in QUARTERS {
            let (sum, weight) = (sums[x][y] as f64, weights[x][y].max(1) as f64);
            gains[x][y] += sum * sum / weight * scale;
        }
    }
    gains
}

/// Questions whose sums of gains are the largest, as far as floats can tell.
#[derive(Clone)]
struct Best {
    gain: f64,
    questions: Vec<usize>,
}

impl Default for Best {
    fn default() -> Best {
        Best { gain: f64::NEG_INFINITY, questions: Vec::new() }
    }
}

impl Best {
    fn take_in(&mut self, gain: f64, question: usize) {
        if gain > self.gain + ROUGH {
            self.questions.clear();
        }
        if gain >= self.gain - ROUGH && gain > f64::NEG_INFINITY {
            self.questions.push(question);
            self.gain = self.gain.max(gain);
        }
    }
}
