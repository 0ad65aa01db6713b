//! Real values by row, added up over the rows of each point.

use crate::error::{Error, Result};
use crate::exact::{Ratio, Total};

/// The sums over each point's rows of values by row and column (`width` of them), each row times
/// its weight.
///
/// Each is the true sum, rounded once, and so the same in any order of rows, and of partitions of
/// them.
pub fn sum_by_point(
    point_of: &[u32],
    n_points: usize,
    values: &[f64],
    width: usize,
    weights: Option<&[f64]>,
) -> Result<Vec<f64>> {
    let Sums { mut sums, lost, sizes, rows } = added(point_of, n_points, values, width, weights)?;
    let mut unsure = Vec::new();
    for at in 0..sums.len() {
        let n = f64::from(rows[at / width.max(1)]);
        // Each number that was added to what was lost was rounded once, and so was their sum.
        let error = 2.0 * f64::EPSILON * (n * sizes[at] + lost[at].abs());
        let [low, high] = [lost[at] - error, lost[at] + error].map(|lost| sums[at] + lost);
        if low != high && sums[at].is_finite() {
            unsure.push(at);
        }
        sums[at] += lost[at];
    }
    let mut again = Again::of(point_of, values, width, weights);
    for at in unsure {
        sums[at] = again.total(at).nearest();
    }
    Ok(sums)
}

/// As [`sum_by_point`], without any rounding: each sum is that of the numbers in its place of all
/// lists. The first list has the sums rounded once, the second what that left over, and so on.
/// Products of numbers near the least float are cut off there.
pub fn exact_sums_by_point(
    point_of: &[u32],
    n_points: usize,
    values: &[f64],
    width: usize,
    weights: Option<&[f64]>,
) -> Result<Vec<Vec<f64>>> {
    let Sums { sums, lost, sizes, .. } = added(point_of, n_points, values, width, weights)?;
    // Where nothing was lost, the sum is exact.
    let lossy = |&at: &usize| sizes[at] > 0.0 && sums[at].is_finite();
    let unsure: Vec<usize> = (0..lost.len()).filter(lossy).collect();
    let mut lists = vec![sums];
    let mut again = Again::of(point_of, values, width, weights);
    for at in unsure {
        let mut left = again.total(at);
        for place in 0.. {
            let part = left.nearest();
            if place > 0 && part == 0.0 {
                break;
            }
            if place == lists.len() {
                lists.push(vec![0.0; lost.len()]);
            }
            lists[place][at] = part;
            left = &left - &Ratio::stored(part);
        }
    }
    Ok(lists)
}

/// Sums by point and column, with what was lost when they were rounded.
struct Sums {
    sums: Vec<f64>,
    lost: Vec<f64>,
    /// The sizes of all that was lost; 0 where the sum is exact.
    sizes: Vec<f64>,
    /// By point.
    rows: Vec<u32>,
}

/// Products at least this large have an error that is a float.
const LEAST_PRODUCT: f64 = 1e-250;

fn added(
    point_of: &[u32],
    n_points: usize,
    values: &[f64],
    width: usize,
    weights: Option<&[f64]>,
) -> Result<Sums> {
    if values.len() != point_of.len() * width || weights.is_some_and(|w| w.len() != point_of.len())
    {
        return Err(Error::invalid("values, weights and points have different numbers of rows"));
    }
    if point_of.iter().any(|&point| point as usize >= n_points) {
        return Err(Error::invalid(format!("a point is not below {n_points}")));
    }
    let mut sums = vec![0.0f64; n_points * width];
    let (mut lost, mut sizes, mut rows) = (sums.clone(), sums.clone(), vec![0u32; n_points]);
    for (row, &point) in point_of.iter().enumerate() {
        rows[point as usize] += 1;
        for column in 0..width {
            let at = point as usize * width + column;
            let given = values[row * width + column];
            let (value, off, unknown) = match weights {
                None => (given, 0.0, 0.0),
                Some(weights) => product(weights[row], given),
            };
            let (sum, next) = (sums[at], sums[at] + value);
            let (large, small) = if sum.abs() >= value.abs() { (sum, value) } else { (value, sum) };
            let rounded = (large - next) + small;
            lost[at] += rounded + off;
            sizes[at] += rounded.abs() + off.abs() + unknown;
            sums[at] = next;
        }
    }
    Ok(Sums { sums, lost, sizes, rows })
}

/// A product, by how much it is off, and a size of what was lost that allows for an error which is
/// no float.
fn product(a: f64, b: f64) -> (f64, f64, f64) {
    let value = a * b;
    match value.abs() >= LEAST_PRODUCT || a == 0.0 || b == 0.0 {
        true => (value, a.mul_add(b, -value), 0.0),
        false => (value, 0.0, value.abs().max(f64::MIN_POSITIVE) / f64::EPSILON),
    }
}

/// Some sums, without any rounding.
struct Again<'a> {
    point_of: &'a [u32],
    values: &'a [f64],
    width: usize,
    weights: Option<&'a [f64]>,
    /// By point, once somebody asked.
    rows: Vec<u32>,
}

impl<'a> Again<'a> {
    fn of(
        point_of: &'a [u32],
        values: &'a [f64],
        width: usize,
        weights: Option<&'a [f64]>,
    ) -> Again<'a> {
        Again { point_of, values, width, weights, rows: Vec::new() }
    }

    fn total(&mut self, at: usize) -> Ratio {
        let (point_of, width) = (self.point_of, self.width);
        if self.rows.is_empty() {
            self.rows = (0..point_of.len() as u32).collect();
            self.rows.sort_by_key(|&row| point_of[row as usize]);
        }
        let (point, column) = ((at / width) as u32, at % width);
        let first = self.rows.partition_point(|&row| point_of[row as usize] < point);
        let mut total = Total::default();
        for &row in self.rows[first..].iter().take_while(|&&row| point_of[row as usize] == point) {
            let row = row as usize;
            let weight = self.weights.map_or(1.0, |weights| weights[row]);
            total.add_product(weight, self.values[row * width + column]);
        }
        total.ratio()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_lose_nothing_that_matters() {
        let values = [0.25, 1.0, 0.5, -3.0, 0.125, 2.0];
        let sums = sum_by_point(&[1, 0, 1], 2, &values, 2, Some(&[1.0, 2.0, 4.0])).unwrap();
        assert_eq!(sums, [1.0, -6.0, 0.75, 9.0]);
        let ones = [1e16, 1.0, 1.0, -1e16];
        assert_eq!(sum_by_point(&[0; 4], 1, &ones, 1, None).unwrap(), [2.0]);
        let far = [1e30, 1e-30, -1e30, 3e-30];
        assert_eq!(sum_by_point(&[0; 4], 1, &far, 1, None).unwrap(), [4e-30]);
    }

    /// Numbers of many sizes, some of which cancel each other, and weights.
    fn numbers(seed: u64, n: usize) -> Vec<f64> {
        let mut state = seed * 2 + 1;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        let mut drawn = || match (next() * 4.0) as u32 {
            0 => next() - 0.5,
            1 => (next() * 9.0).floor(),
            2 => (next() - 0.5) * ((next() - 0.5) * 200.0).exp2(),
            _ => f64::from((next() * 7.0) as u32) * 0.1,
        };
        (0..n).map(|_| drawn()).collect()
    }

    #[test]
    fn sums_are_the_true_ones_rounded_once_in_any_order_and_division() {
        for seed in 0..300 {
            let n = 1 + seed as usize % 23;
            let (values, weights) = (numbers(seed, 2 * n), numbers(seed + 1000, n));
            let weights: Vec<f64> = weights.iter().map(|w| w.abs()).collect();
            let given = [None, Some(&weights[..])][seed as usize % 2];
            let point_of: Vec<u32> = (0..n as u32).map(|row| row * 7 % 3).collect();
            let sums = sum_by_point(&point_of, 3, &values, 2, given).unwrap();
            let exact = exact_sums_by_point(&point_of, 3, &values, 2, given).unwrap();
            assert_eq!(sums, exact[0]);
            for at in 0..6 {
                let mut total = Total::default();
                for row in (0..n).filter(|&row| point_of[row] as usize == at / 2) {
                    let weight = given.map_or(1.0, |weights| weights[row]);
                    total.add_product(weight, values[row * 2 + at % 2]);
                }
                assert_eq!(sums[at], total.ratio().nearest(), "seed {seed}");
                let parts = exact.iter().map(|list| Ratio::stored(list[at]));
                let all = parts.fold(Ratio::zero(), |sum, part| &sum + &part);
                assert_eq!(all, total.ratio(), "seed {seed}");
            }
            // Two lots by themselves, and then together.
            let middle = n / 2;
            let mut rows = Vec::new();
            for (start, end) in [(0, middle), (middle, n)] {
                let own = given.map(|weights| &weights[start..end]);
                let lot = (&point_of[start..end], &values[2 * start..2 * end]);
                rows.extend(exact_sums_by_point(lot.0, 3, lot.1, 2, own).unwrap().concat());
            }
            let of: Vec<u32> = (0..rows.len() as u32 / 2).map(|row| row % 3).collect();
            assert_eq!(exact_sums_by_point(&of, 3, &rows, 2, None).unwrap(), exact);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(sum_by_point(&[0, 0], 1, &[1.0], 1, None).is_err());
        assert!(sum_by_point(&[0, 1], 1, &[1.0, 2.0], 1, None).is_err());
        assert!(sum_by_point(&[0, 0], 1, &[1.0, 2.0], 1, Some(&[1.0])).is_err());
    }
}
