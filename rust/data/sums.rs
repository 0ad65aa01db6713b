//! Real values by row, added up over the rows of each point.

use crate::error::{Error, Result};
use crate::exact::Total;

/// The sums over each point's rows of values by row and column (`width` of them), each row times
/// its weight.
///
/// Each is the true sum, rounded once or twice, in any order of rows: where numbers cancel each
/// other so far that floats lose too much, the sum is made again without any rounding.
pub fn sum_by_point(
    point_of: &[u32],
    n_points: usize,
    values: &[f64],
    width: usize,
    weights: Option<&[f64]>,
) -> Result<Vec<f64>> {
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
        let weight = weights.map_or(1.0, |weights| weights[row]);
        rows[point as usize] += 1;
        for column in 0..width {
            let at = point as usize * width + column;
            let value = weight * values[row * width + column];
            let (sum, next) = (sums[at], sums[at] + value);
            let (large, small) = if sum.abs() >= value.abs() { (sum, value) } else { (value, sum) };
            lost[at] += (large - next) + small;
            sums[at] = next;
            sizes[at] += value.abs();
        }
    }
    sums.iter_mut().zip(&lost).for_each(|(sum, lost)| *sum += lost);
    // Products are rounded, and so is what was lost.
    let unsure = |at: usize| {
        rows[at / width] > 1 && sizes[at] * CANCELLED > sums[at].abs() && sizes[at].is_finite()
    };
    let again: Vec<usize> = (0..sums.len()).filter(|&at| unsure(at)).collect();
    sum_again(&again, point_of, (values, width), weights, &mut sums);
    Ok(sums)
}

/// Where a sum is less than this part of what was added, products that are rounded are no longer
/// nothing beside it.
const CANCELLED: f64 = 0.5;

/// Some sums, without any rounding but the last.
fn sum_again(
    places: &[usize],
    point_of: &[u32],
    (values, width): (&[f64], usize),
    weights: Option<&[f64]>,
    sums: &mut [f64],
) {
    if places.is_empty() {
        return;
    }
    let mut rows: Vec<u32> = (0..point_of.len() as u32).collect();
    rows.sort_by_key(|&row| point_of[row as usize]);
    for &at in places {
        let (point, column) = ((at / width) as u32, at % width);
        let first = rows.partition_point(|&row| point_of[row as usize] < point);
        let mut total = Total::default();
        for &row in rows[first..].iter().take_while(|&&row| point_of[row as usize] == point) {
            let row = row as usize;
            let weight = weights.map_or(1.0, |weights| weights[row]);
            total.add_product(weight, values[row * width + column]);
        }
        sums[at] = total.ratio().nearest();
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

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(sum_by_point(&[0, 0], 1, &[1.0], 1, None).is_err());
        assert!(sum_by_point(&[0, 1], 1, &[1.0, 2.0], 1, None).is_err());
        assert!(sum_by_point(&[0, 0], 1, &[1.0, 2.0], 1, Some(&[1.0])).is_err());
    }
}
