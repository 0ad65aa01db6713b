//! The look of a proof of squared errors: what all splits and all pairs of splits of some points
//! cost. See `docs/proof.md`.

use std::ops::Range;

use super::columns::{Look, MUCH};
use super::squares::{self, Squares, loss};
use crate::bits::{LANES, Lanes, Level, ROWS};
use crate::cost::Cost;

/// Sums of gains are at most 2^58, and floats have 53 bits: those of a pair of questions are off by
/// less than half of this, with what is rounded up in each gain.
const ROUGH: f64 = 2048.0;

/// The points of a node, and its questions in chains: each of a chain is answered with 1 by points
/// that answer so the one before it, as growing thresholds are. So who knows the last question of
/// each chain that a point answers with 1 knows all its answers.
pub struct Chains<'a> {
    squares: &'a Squares,
    points: Vec<u32>,
    /// By place of a point; empty where rows do not matter.
    rows: Vec<i64>,
    min_rows: i64,
    chains: Vec<Range<usize>>,
    /// By question.
    chain_of: Vec<u32>,
    /// By place of a point and chain: that last question, or the number of all questions if it is
    /// none.
    last: Vec<u32>,
    level: Level,
}

impl<'a> Chains<'a> {
    /// `bits`: by block of questions and word of points, as in `columns`; a block has `words`.
    pub fn new(
        (squares, points): (&'a Squares, &[u32]),
        (rows, min_rows): (&[u64], i64),
        (bits, words, n): (&[Lanes], usize, usize),
        level: Level,
    ) -> Chains<'a> {
        let own = points.len().div_ceil(ROWS);
        let column = |question: usize| {
            let block = &bits[question / LANES * words..][..own];
            block.iter().map(move |word| word.0[question % LANES])
        };
        let (mut chains, mut chain_of) = (Vec::<Range<usize>>::new(), Vec::new());
        for question in 0..n {
            let is_within = |before| column(question).zip(column(before)).all(|(a, b)| a & !b == 0);
            match chains.last_mut() {
                Some(chain) if is_within(question - 1) => chain.end += 1,
                _ => chains.push(question..question + 1),
            }
            chain_of.push(chains.len() as u32 - 1);
        }
        let mut last = vec![n as u32; points.len() * chains.len()];
        for (at, chain) in chains.iter().enumerate() {
            for question in chain.clone() {
                let next = question + 1 < chain.end;
                let after = |word: usize| {
                    bits[(question + 1) / LANES * words + word].0[(question + 1) % LANES]
                };
                for (word, ones) in column(question).enumerate() {
                    let mut ends = if next { ones & !after(word) } else { ones };
                    while ends != 0 {
                        let place = word * ROWS + ends.trailing_zeros() as usize;
                        last[place * chains.len() + at] = question as u32;
                        ends &= ends - 1;
                    }
                }
            }
        }
        let of = |&point: &u32| rows[point as usize] as i64;
        let rows = if min_rows > 0 { points.iter().map(of).collect() } else { Vec::new() };
        Chains { squares, points: points.to_vec(), rows, min_rows, chains, chain_of, last, level }
    }

    fn n(&self) -> usize {
        self.chain_of.len()
    }

    fn last(&self, place: usize) -> &[u32] {
        &self.last[place * self.chains.len()..][..self.chains.len()]
    }

    fn answer(&self, place: usize, question: usize) -> usize {
        let last = self.last(place)[self.chain_of[question] as usize] as usize;
        usize::from(last >= question && last < self.n())
    }

    /// Sums over points of answer 1, from sums by last question.
    #[inline(always)]
    fn add_up(&self, sums: &[i64], from: usize, out: &mut [i64]) {
        for chain in self.chains.iter().filter(|chain| chain.start >= from) {
            let mut sum = 0;
            for question in chain.clone().rev() {
                sum += sums[question];
                out[question] = sum;
            }
        }
    }

    /// By question: the sums over points of answer 1; and over all.
    fn ones(&self, of: impl Fn(usize) -> i64) -> (Vec<i64>, i64) {
        let (mut sums, mut all) = (vec![0; self.n() + 1], 0);
        for place in 0..self.points.len() {
            let own = of(place);
            self.last(place).iter().for_each(|&last| sums[last as usize] += own);
            all += own;
        }
        let mut ones = vec![0; self.n()];
        self.add_up(&sums, 0, &mut ones);
        (ones, all)
    }

    /// As of labels: see there.
    pub fn lost(&self, (question, side): (usize, usize)) -> Vec<[Cost; 2]> {
        let here: Vec<bool> =
            (0..self.points.len()).map(|place| self.answer(place, question) == side).collect();
        let worst = |place: usize| self.squares.worst(self.points[place]);
        let (ones, all) = self.ones(|place| if here[place] { worst(place) } else { 0 });
        if self.min_rows == 0 {
            return ones.iter().map(|one| [*one, all - one]).collect();
        }
        let (more, all_more) = self.ones(|place| i64::from(!here[place]));
        let lost = |lost: Cost, more: i64| if more > 0 { MUCH } else { lost };
        let both = |q: usize| [lost(ones[q], all_more - more[q]), lost(all - ones[q], more[q])];
        (0..self.n()).map(both).collect()
    }

    fn number(&self, at: usize, place: usize) -> i64 {
        match at > self.squares.shifts.len() {
            true => self.rows[place],
            false => self.squares.of(self.points[place])[at],
        }
    }

    pub fn look(&self, pairs: bool) -> Look {
        let width = self.squares.shifts.len() + 2;
        let number = |at: usize, place: usize| self.squares.of(self.points[place])[at];
        let ones: Vec<_> = (0..width).map(|at| self.ones(|place| number(at, place))).collect();
        let leaf = |question: usize, side: usize| {
            let own = ones.iter().map(|(ones, all)| [all - ones[question], ones[question]][side]);
            loss(&own.collect::<Vec<_>>(), &self.squares.shifts)
        };
        let leaves: Vec<[Cost; 2]> = (0..self.n()).map(|q| [leaf(q, 0), leaf(q, 1)]).collect();
        let mut stumps = leaves.clone();
        if pairs {
            for (q, best) in self.best_pairs().known.iter().enumerate() {
                for (side, best) in best.iter().enumerate() {
                    let squares = [ones[width - 1].1 - ones[width - 1].0[q], ones[width - 1].0[q]];
                    for (&other, both) in best.questions.iter().zip(best.both.chunks(width - 1)) {
                        let cost = squares[side] - self.gains(&ones, (q, side), other, both);
                        stumps[q][side] = stumps[q][side].min(cost);
                    }
                }
            }
        }
        Look { leaves, stumps, three_fail: vec![[false; 2]; self.n()] }
    }

    /// What the two parts of a side of a question cost less than their squares, if another question
    /// parts it, from the sums of the points that answer 1 to both.
    fn gains(
        &self,
        ones: &[(Vec<i64>, i64)],
        (question, side): (usize, usize),
        other: u32,
        both: &[i64],
    ) -> Cost {
        let cell = |at: usize, cell: usize| {
            let ((ones, all), both) = (&ones[at], both[at]);
            quarters(*all, ones[question], ones[other as usize], both)[2 * side + cell]
        };
        let gain = |target: usize, at: usize| {
            squares::gain(cell(target + 1, at), cell(0, at), self.squares.shifts[target])
        };
        (0..both.len() - 1).map(|target| gain(target, 0) + gain(target, 1)).sum()
    }

    fn best_pairs(&self) -> Best {
        let (n, targets) = (self.n(), self.squares.shifts.len());
        let scales: Vec<f64> =
            self.squares.shifts.iter().map(|&shift| 0.5f64.powi(shift as i32)).collect();
        // Weight and sums by target; then the rows.
        let entries = targets + 1 + usize::from(self.min_rows > 0);
        let ones: Vec<_> =
            (0..entries).map(|at| self.ones(|place| self.number(at, place))).collect();
        let mut best = Best::new(n, targets + 1);
        let mut both = vec![vec![0; n]; entries];
        let mut gains: [Vec<f64>; 4] = std::array::from_fn(|_| vec![0.0; n]);
        for (at_chain, chain) in self.chains.iter().enumerate() {
            let mut by_last = vec![vec![0; n + 1]; entries];
            let mut ending = vec![Vec::new(); chain.len()];
            for place in 0..self.points.len() {
                let last = self.last(place)[at_chain] as usize;
                if last < n {
                    ending[last - chain.start].push(place);
                }
            }
            for a in chain.clone().rev() {
                for &place in &ending[a - chain.start] {
                    for (at, sums) in by_last.iter_mut().enumerate() {
                        let number = self.number(at, place);
                        let later = &self.last(place)[at_chain..];
                        later.iter().for_each(|&last| sums[last as usize] += number);
                    }
                }
                self.level.run(
                    #[inline(always)]
                    || {
                        for (sums, both) in by_last.iter().zip(&mut both) {
                            self.add_up(sums, chain.start, both);
                        }
                        let counted = Counted { ones: &ones, both: &both, a, from: chain.start };
                        counted.gains(&scales, self.min_rows, &mut gains);
                        best.take_in(&counted, &gains);
                    },
                );
            }
        }
        best
    }
}

/// What one question has in common with those from another one on.
struct Counted<'c> {
    /// By entry: by question, and over all.
    ones: &'c [(Vec<i64>, i64)],
    both: &'c [Vec<i64>],
    a: usize,
    from: usize,
}

impl Counted<'_> {
    /// By question: about what the four quarters cost less than their squares, 00, 01, 10 and 11.
    #[inline(always)]
    fn gains(&self, scales: &[f64], min_rows: i64, out: &mut [Vec<f64>; 4]) {
        let from = self.from;
        let n = self.both[0].len() - from;
        let [zero, one, two, three] = out.each_mut().map(|gains| &mut gains[from..][..n]);
        for (target, &scale) in scales.iter().enumerate() {
            let (weights, sums) = (self.entry(0, n), self.entry(target + 1, n));
            for b in 0..n {
                let (weights, sums) = (weights.quarters(b), sums.quarters(b));
                let gain = |at: usize| {
                    let (sum, weight) = (sums[at] as f64, weights[at].max(1) as f64);
                    sum * sum / weight * scale
                };
                let before =
                    if target == 0 { [0.0; 4] } else { [zero[b], one[b], two[b], three[b]] };
                zero[b] = before[0] + gain(0);
                one[b] = before[1] + gain(1);
                two[b] = before[2] + gain(2);
                three[b] = before[3] + gain(3);
            }
        }
        if min_rows > 0 {
            let rows = self.entry(scales.len() + 1, n);
            for b in 0..n {
                let rows = rows.quarters(b);
                for (at, gains) in
                    [&mut *zero, &mut *one, &mut *two, &mut *three].iter_mut().enumerate()
                {
                    gains[b] = if rows[at] < min_rows { f64::NEG_INFINITY } else { gains[b] };
                }
            }
        }
    }

    #[inline(always)]
    fn entry(&self, at: usize, n: usize) -> Entry<'_> {
        let (ones, all) = &self.ones[at];
        let (of_a, from) = (ones[self.a], self.from);
        Entry { of_a, all: *all, ones: &ones[from..][..n], both: &self.both[at][from..][..n] }
    }
}

struct Entry<'c> {
    of_a: i64,
    all: i64,
    ones: &'c [i64],
    both: &'c [i64],
}

impl Entry<'_> {
    #[inline(always)]
    fn quarters(&self, b: usize) -> [i64; 4] {
        quarters(self.all, self.of_a, self.ones[b], self.both[b])
    }
}

/// Sums over the quarters of two questions, 00, 01, 10 and 11, from those over all points, those of
/// answer 1 to either question, and those of answer 1 to both.
#[inline(always)]
fn quarters(all: i64, a: i64, b: i64, both: i64) -> [i64; 4] {
    [all - a - b + both, b - both, a - both, both]
}

/// By question and side: the questions whose sums of gains are the largest, as far as floats can
/// tell.
struct Best {
    /// By side and question: no smaller sum is worth a look.
    least: [Vec<f64>; 2],
    known: Vec<[Others; 2]>,
    /// Weight and targets.
    entries: usize,
}

#[derive(Clone, Default)]
struct Others {
    questions: Vec<u32>,
    /// The weight, and the sum of each target, of points of answer 1 to both.
    both: Vec<i64>,
}

/// Questions of which floats are compared at once.
const CHUNK: usize = 32;

impl Best {
    fn new(n: usize, entries: usize) -> Best {
        let least = [0, 1].map(|_| vec![f64::NEG_INFINITY; n]);
        Best { least, known: vec![Default::default(); n], entries }
    }

    /// Pairs of a question and those from another one on.
    #[inline(always)]
    fn take_in(&mut self, counted: &Counted, [zero, one, two, three]: &[Vec<f64>; 4]) {
        let (a, n) = (counted.a, zero.len());
        for start in (counted.from..n).step_by(CHUNK) {
            let end = n.min(start + CHUNK);
            let own = [0, 1].map(|side| self.least[side][a]);
            let [least_zero, least_one] = &self.least;
            let mut any = false;
            for b in start..end {
                any |= (zero[b] + one[b] >= own[0]) | (two[b] + three[b] >= own[1]);
                any |= zero[b] + two[b] >= least_zero[b];
                any |= one[b] + three[b] >= least_one[b];
            }
            for b in if any { start..end } else { 0..0 } {
                let sums =
                    [zero[b] + one[b], two[b] + three[b], zero[b] + two[b], one[b] + three[b]];
                for side in 0..2 {
                    self.add((a, side), sums[side], b, counted, b);
                    self.add((b, side), sums[2 + side], a, counted, b);
                }
            }
        }
    }

    /// `b`: the question whose points in common with that of `counted` are meant.
    fn add(
        &mut self,
        (question, side): (usize, usize),
        gain: f64,
        other: usize,
        counted: &Counted,
        b: usize,
    ) {
        let least = &mut self.least[side][question];
        if gain == f64::NEG_INFINITY || gain < *least {
            return;
        }
        let known = &mut self.known[question][side];
        if gain > *least + 2.0 * ROUGH {
            *known = Others::default();
        }
        known.questions.push(other as u32);
        known.both.extend(counted.both[..self.entries].iter().map(|both| both[b]));
        *least = least.max(gain - ROUGH);
    }
}
