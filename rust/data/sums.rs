//! Real values by row, added up over the rows of each point.

use crate::error::{Error, Result};

/// The sums over each point's rows of values by row and column (`width` of them), each row times its weight.
///
/// Sums are compensated: each is off by no more than two roundings of what was added, in any order of rows.
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
    let mut lost = sums.clone();
    for (row, &point) in point_of.iter().enumerate() {
        let weight = weights.map_or(1.0, |weights| weights[row]);
        for column in 0..width {
            let at = point as usize * width + column;
            let value = weight * values[row * width + column];
            let (sum, next) = (sums[at], sums[at] + value);
            let (large, small) = if sum.abs() >= value.abs() { (sum, value) } else { (value, sum) };
            lost[at] += (large - next) + small;
            sums[at] = next;
        }
    }
    Ok(sums.iter().zip(&lost).map(|(sum, lost)| sum + lost).collect())
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
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(sum_by_point(&[0, 0], 1, &[1.0], 1, None).is_err());
        assert!(sum_by_point(&[0, 1], 1, &[1.0, 2.0], 1, None).is_err());
        assert!(sum_by_point(&[0, 0], 1, &[1.0, 2.0], 1, Some(&[1.0])).is_err());
    }
}
