//! Leaves that answer with a mean: squared errors.
//!
//! Values with sums s and weights w gain g(s, w) = s²/w in a leaf (`task/squares.rs`). The best two
//! leaves are neighbours in the order of the means s/w (Fisher; Breiman, Friedman, Olshen and
//! Stone). Proof: with the means of the best leaves held, each value is best in the leaf whose mean
//! is nearer, which depends on its own mean alone; and to move a leaf to its own mean is no worse.
//!
//! A gain is counted in whole numbers, rounded up for each leaf, and so two other leaves may gain
//! one unit more than all neighbours. Where leaves must hold some rows, they may gain more than
//! neighbours that are too small. So what may be better than the best neighbours is gone through,
//! value by value: as long as some values have no leaf yet, those that have one are two values, and
//! the best neighbours among all that there are gain no less than any way to go on.

use std::cmp::Ordering;
use std::ops::{Add, Range};

use super::answers::{Answers, Rows};
use super::both_sides::OfTwoLevels;
use super::partitions::Steps;
use super::tables::Numbers;
use crate::cost::{Cost, INFINITE};
use crate::kernel::bits::bit_kernel::Look;
use crate::kernel::bits::squares::limit;
use crate::kernel::look::{Side, vec_bytes};
use crate::task::Squares;

/// The places of a row's numbers.
const WEIGHT: usize = 0;
const SUM: usize = 1;
const ROWS: usize = 2;
const SQUARES: usize = 3;
const FLOOR: usize = 4;
const WORST: usize = 5;

pub struct Means<'a> {
    task: &'a Squares,
    /// The values of a column in the order of their means.
    values: Vec<Value>,
    /// By column: about the most that two leaves gain.
    most: Vec<f64>,
    ways: Ways,
}

/// What the rows of a value, or of several, add up to.
#[derive(Debug, Clone, Copy, Default)]
struct Value {
    weight: i64,
    sum: i64,
    rows: i64,
}

impl Add for Value {
    type Output = Value;

    fn add(self, more: Value) -> Value {
        Value {
            weight: self.weight + more.weight,
            sum: self.sum + more.sum,
            rows: self.rows + more.rows,
        }
    }
}

impl Value {
    /// By means. What has no weight has a mean of 0.
    fn by_mean(&self, other: &Value) -> Ordering {
        let times = |sum: i64, weight: i64| i128::from(sum) * i128::from(weight.max(1));
        times(self.sum, other.weight).cmp(&times(other.sum, self.weight))
    }

    /// About what these rows gain in one leaf.
    fn gain(&self, factor: f64) -> f64 {
        let sum = self.sum as f64;
        sum * sum * factor / self.weight.max(1) as f64
    }
}

/// The two leaves of neighbours, for each place between two of these values.
fn neighbours(values: &[Value]) -> impl Iterator<Item = [Value; 2]> + '_ {
    let all = values.iter().fold(Value::default(), |sum, value| sum + *value);
    let mut left = Value::default();
    values[..values.len().saturating_sub(1)].iter().map(move |value| {
        left = left + *value;
        let right = Value {
            weight: all.weight - left.weight,
            sum: all.sum - left.sum,
            rows: all.rows - left.rows,
        };
        [left, right]
    })
}

/// The best two leaves so far.
#[derive(Debug, Clone, Copy)]
struct Best {
    gain: Cost,
    /// A gain in floats that is not above this cannot be a larger gain.
    limit: f64,
    /// What no gain is above.
    squares: Cost,
    min_rows: i64,
}

impl Best {
    fn new(gain: Cost, squares: Cost, min_rows: i64) -> Best {
        Best { gain, limit: limit(1, gain, squares), squares, min_rows }
    }

    /// Take in two leaves, if they are large enough.
    fn take(&mut self, task: &Squares, leaves: &[Value; 2]) {
        if self.min_rows > 1 && leaves.iter().any(|leaf| leaf.rows < self.min_rows) {
            return;
        }
        let gain = leaves.iter().map(|leaf| task.gain(0, leaf.sum, leaf.weight)).sum();
        if gain > self.gain {
            *self = Best::new(gain, self.squares, self.min_rows);
        }
    }
}

impl<'a> Means<'a> {
    pub fn new(task: &'a Squares) -> Self {
        Means { task, values: Vec::new(), most: Vec::new(), ways: Ways::default() }
    }

    /// List the values of a column that have rows.
    fn list(&mut self, rows: &Rows, range: &Range<usize>) {
        let [weights, sums] = [WEIGHT, SUM].map(|number| rows.number(number, range));
        let counts = (rows.min_rows > 1).then(|| rows.number(ROWS, range));
        self.values.clear();
        for (at, (&weight, &sum)) in weights.iter().zip(sums).enumerate() {
            let rows = counts.map_or(0, |counts| counts[at]);
            if weight > 0 || rows > 0 {
                self.values.push(Value { weight, sum, rows });
            }
        }
        self.values.sort_unstable_by(Value::by_mean);
    }
}

impl Answers for Means<'_> {
    fn steps(&self) -> Steps {
        Steps { tables: 2, of_cell: 100, of_cell_in_batch: 0 }
    }

    fn fill(&self, look: &Look, out: &mut Numbers) {
        let n = self.task.width();
        out.start(WORST + 1, ROWS, false);
        for numbers in look.view.costs.chunks_exact(look.bits.width.max(1)) {
            // Behind its statistics stand its worst loss, and its rows if they matter.
            let rows = numbers.get(n + 1).copied().unwrap_or(0);
            let floor = self.task.floor(&numbers[..n]);
            out.values.extend([numbers[0], numbers[1], rows, numbers[2], floor, numbers[n]]);
        }
    }

    fn side(&self, sums: &[i64]) -> Side {
        Side {
            leaf: sums[SQUARES] - self.task.gain(0, sums[SUM], sums[WEIGHT]),
            least: sums[FLOOR],
            worst: sums[WORST],
            rows: sums[ROWS],
        }
    }

    fn stump(&mut self, rows: &Rows) -> Cost {
        let (task, factor) = (self.task, self.task.factor(0));
        let squares = rows.all[SQUARES];
        let leaf = task.gain(0, rows.all[SUM], rows.all[WEIGHT]);
        let mut best = Best::new(leaf, squares, rows.min_rows);
        self.most.clear();
        for range in rows.ranges {
            self.list(rows, range);
            let mut most = f64::NEG_INFINITY;
            for leaves in neighbours(&self.values) {
                let gain = leaves[0].gain(factor) + leaves[1].gain(factor);
                most = most.max(gain);
                if gain > best.limit {
                    best.take(task, &leaves);
                }
            }
            self.most.push(most);
        }
        for (at, range) in rows.ranges.iter().enumerate() {
            if self.most[at] > best.limit && range.len() > 2 {
                self.list(rows, range);
                self.ways.find(task, &self.values, &mut best);
            }
        }
        match best.gain > leaf || rows.min_rows <= 1 {
            true => squares - best.gain,
            false => INFINITE,
        }
    }

    fn bytes(&self) -> usize {
        vec_bytes(&self.values) + vec_bytes(&self.most) + self.ways.bytes()
    }
}

impl OfTwoLevels for Means<'_> {}

/// Goes through the ways to part the values of a column.
#[derive(Debug, Default)]
struct Ways {
    /// The values in the order in which they get a leaf.
    order: Vec<usize>,
    /// By value: whether it has a leaf.
    has_leaf: Vec<bool>,
    /// The values that have none, and both leaves, by means.
    open: Vec<Value>,
}

impl Ways {
    /// Take in all that may be better than the best, of values in the order of their means.
    fn find(&mut self, task: &Squares, values: &[Value], best: &mut Best) {
        let factor = task.factor(0);
        let gain = |leaves: [Value; 2]| leaves[0].gain(factor) + leaves[1].gain(factor);
        let gains = neighbours(values).map(gain).enumerate();
        let cut = gains.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(at, _)| at);
        // What is farthest from the best neighbours' border loses most on the other side.
        self.order.clear();
        self.order.extend(0..values.len());
        self.order.sort_by_key(|&at| std::cmp::Reverse((2 * at).abs_diff(2 * cut + 1)));
        self.has_leaf.clear();
        self.has_leaf.resize(values.len(), false);
        self.go_on(task, values, 0, [Value::default(); 2], best);
    }

    fn go_on(
        &mut self,
        task: &Squares,
        values: &[Value],
        depth: usize,
        leaves: [Value; 2],
        best: &mut Best,
    ) {
        let Some(&at) = self.order.get(depth) else {
            best.take(task, &leaves);
            return;
        };
        if self.at_most(task, values, &leaves, best.min_rows) <= best.limit {
            return;
        }
        self.has_leaf[at] = true;
        // Leaves have no names: the first value is in the first one.
        for leaf in 0..if depth == 0 { 1 } else { 2 } {
            let mut leaves = leaves;
            leaves[leaf] = leaves[leaf] + values[at];
            self.go_on(task, values, depth + 1, leaves, best);
        }
        self.has_leaf[at] = false;
    }

    /// About the most that any way to go on gains; nothing where leaves stay too small.
    fn at_most(
        &mut self,
        task: &Squares,
        values: &[Value],
        leaves: &[Value; 2],
        min_rows: i64,
    ) -> f64 {
        self.open.clear();
        let without = values.iter().zip(&self.has_leaf).filter(|(_, has_leaf)| !**has_leaf);
        self.open.extend(without.map(|(value, _)| *value));
        let left: i64 = self.open.iter().map(|value| value.rows).sum();
        let missing: i64 = leaves.iter().map(|leaf| (min_rows - leaf.rows).max(0)).sum();
        if min_rows > 1 && missing > left {
            return f64::NEG_INFINITY;
        }
        for leaf in leaves.iter().filter(|leaf| leaf.weight > 0) {
            let place = self.open.partition_point(|value| value.by_mean(leaf).is_lt());
            self.open.insert(place, *leaf);
        }
        let factor = task.factor(0);
        let gains = neighbours(&self.open);
        gains.map(|of| of[0].gain(factor) + of[1].gain(factor)).fold(f64::NEG_INFINITY, f64::max)
    }

    fn bytes(&self) -> usize {
        vec_bytes(&self.order) + vec_bytes(&self.has_leaf) + vec_bytes(&self.open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::SquaresInput;
    use crate::task::testing::Random;

    /// All ways to part the values.
    fn every(task: &Squares, values: &[Value], min_rows: i64) -> Option<Cost> {
        (1..(1u32 << values.len()) - 1)
            .filter_map(|set| {
                let mut leaves = [Value::default(); 2];
                for (at, value) in values.iter().enumerate() {
                    let leaf = &mut leaves[(set >> at & 1) as usize];
                    *leaf = *leaf + *value;
                }
                let is_large = |leaf: &Value| leaf.rows >= min_rows;
                let gain = |leaf: &Value| task.gain(0, leaf.sum, leaf.weight);
                leaves.iter().all(is_large).then(|| leaves.iter().map(gain).sum())
            })
            .max()
    }

    #[test]
    fn stumps_are_the_best_of_all() {
        let mut random = Random(7);
        let mut below = |n: u64| random.next() % n;
        for round in 0..4_000 {
            // Whole numbers of points and rows: units are a few rows, or tiny beside them.
            let n_points = 2 + below(12) as usize;
            let input = SquaresInput {
                n_outputs: 1,
                // The first two differ: sums of equal targets are 0.
                targets: (0..n_points as u64)
                    .map(|at| (at + below(4) * (at / 2)) as f64 * 0.1)
                    .collect(),
                weights: None,
                given: None,
                points: (0..n_points as u32).collect(),
                n_points,
                leaf_penalty: 0.0,
            };
            let scaled = input.build().expect("small numbers");
            let task = scaled.task.structure().squares().expect("squares").clone();
            let n = 1 + below(7) as usize;
            // Of few points, so that many ways gain nearly the same; sums of units when odd.
            let values: Vec<Value> = (0..n)
                .map(|_| {
                    let (of, times) = (below(n_points as u64) as usize, below(4) as i64);
                    let (weight, sum) = (task.stats(of)[0], task.stats(of)[1]);
                    let small = below(7) as i64 - 3;
                    let sum = if round % 2 == 0 { times * (sum >> 8) } else { small };
                    Value { weight: times * weight, sum: sum * times.min(1), rows: times }
                })
                .collect();
            let squares: Cost = values.iter().map(|v| task.gain(0, v.sum, v.weight)).sum();
            let all = values.iter().fold(Value::default(), |sum, value| sum + *value);
            let min_rows = [1, 2, 5][below(3) as usize];
            let by_cell: Vec<i64> = [|v: &Value| v.weight, |v: &Value| v.sum, |v: &Value| v.rows]
                .iter()
                .flat_map(|number| values.iter().map(number))
                .collect();
            let range = 0..n;
            let rows = Rows {
                all: &[all.weight, all.sum, all.rows, squares, 0, 0],
                by_cell: &by_cell,
                n_cells: n,
                ranges: std::slice::from_ref(&range),
                min_rows,
            };
            let found = Means::new(&task).stump(&rows);
            let leaf = squares - task.gain(0, all.sum, all.weight);
            let best = every(&task, &values, min_rows).map_or(INFINITE, |gain| squares - gain);
            assert_eq!(found.min(leaf), best.min(leaf), "{values:?} {min_rows}");
        }
    }
}
