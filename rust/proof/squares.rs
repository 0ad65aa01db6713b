//! Squared errors as a proof counts them: points less what each costs by itself, and what each
//! costs at most.

use crate::cost::Cost;
use crate::task;

/// What points cost at most adds up to no more.
const MOST_WORST: i128 = 1 << 59;

/// An instance of squares, less what every tree pays.
pub struct Squares {
    pub shifts: Vec<u32>,
    pub unavoidable: Cost,
    /// By point: weight, sum by target, squares.
    numbers: Vec<i64>,
    /// By point: the most that it adds to a leaf whose means are no others than points may have.
    worst: Vec<Cost>,
}

/// ⌈s²/w/2^shift⌉.
pub fn gain(sum: i64, weight: i64, shift: u32) -> Cost {
    task::gain(sum, weight, shift as i32)
}

/// What a leaf of points with these numbers costs.
pub fn loss(numbers: &[i64], shifts: &[u32]) -> Cost {
    let gains = shifts.iter().zip(&numbers[1..]).map(|(&shift, &s)| gain(s, numbers[0], shift));
    numbers[shifts.len() + 1] - gains.sum::<Cost>()
}

impl Squares {
    /// None if the numbers are too large for a checker.
    pub fn new(shifts: &[u32], numbers: &[i64]) -> Option<Squares> {
        let (width, last) = (shifts.len() + 2, shifts.len() + 1);
        let (mut numbers, mut unavoidable) = (numbers.to_vec(), 0);
        for point in numbers.chunks_exact_mut(width) {
            let own = loss(point, shifts);
            point[last] -= own;
            unavoidable += own;
        }
        let points = || numbers.chunks_exact(width);
        let all: Vec<i64> =
            (0..width).map(|at| points().map(|point| point[at]).sum::<i64>()).collect();
        // Whole numbers that the means of points lie between.
        let ends = |at: usize| {
            let floor = points().map(|point| point[at].div_euclid(point[0])).min().unwrap_or(0);
            let ceil = points().map(|point| -(-point[at]).div_euclid(point[0])).max().unwrap_or(0);
            [floor, ceil]
        };
        let ends: Vec<[i64; 2]> = (1..last).map(ends).collect();
        let far = ends.iter().flatten().map(|end| i128::from(end.unsigned_abs())).max();
        if far.unwrap_or(0) * i128::from(all[0]) > 1 << 62 {
            return None;
        }
        let everything = i128::from(loss(&all, shifts));
        // A mean c of a target costs a point c²w - 2cs more than its squares: most at an end.
        let worst = |point: &[i64]| {
            let of_end = |end: i64, at: usize| {
                let [weight, sum, end] = [point[0], point[at], end].map(i128::from);
                -((2 * end * sum - end * end * weight) >> shifts[at - 1])
            };
            let at_most = |at: usize| ends[at - 1].iter().map(|&end| of_end(end, at)).max();
            let worst: i128 = (1..last).filter_map(at_most).sum();
            (i128::from(point[last]) + worst).min(everything) as Cost
        };
        let worst: Vec<Cost> = points().map(worst).collect();
        let is_fit = worst.iter().map(|&worst| i128::from(worst)).sum::<i128>() <= MOST_WORST;
        is_fit.then(|| Squares { shifts: shifts.to_vec(), unavoidable, numbers, worst })
    }

    pub fn of(&self, point: u32) -> &[i64] {
        let width = self.shifts.len() + 2;
        &self.numbers[point as usize * width..][..width]
    }

    pub fn worst(&self, point: u32) -> Cost {
        self.worst[point as usize]
    }

    /// What points cost as a leaf.
    pub fn leaf(&self, points: impl Iterator<Item = u32>) -> Cost {
        let mut all = vec![0; self.shifts.len() + 2];
        for point in points {
            all.iter_mut().zip(self.of(point)).for_each(|(sum, number)| *sum += number);
        }
        loss(&all, &self.shifts)
    }
}
