//! Short decimals as whole numbers.

use crate::cost::{decimal, lcm};

/// Larger numbers are not told apart from their neighbours' decimals.
const MOST_WHOLE: f64 = 1e15;

/// The numbers over one denominator, if all are short decimals.
pub(super) fn integers(values: &[f64]) -> Option<(Vec<i64>, i64)> {
    if values.iter().all(|&v| v as i64 as f64 == v && v.abs() <= MOST_WHOLE) {
        return Some((values.iter().map(|&v| v as i64).collect(), 1));
    }
    let mut denominator = 1i64;
    for &v in values {
        if v.fract() != 0.0 {
            denominator = lcm(denominator, decimal(v)?.1)?;
            if denominator > 1_000_000 {
                return None;
            }
        }
    }
    let mut out = Vec::with_capacity(values.len());
    for &v in values {
        if v.abs() > MOST_WHOLE {
            return None;
        }
        let (p, q) = if v.fract() == 0.0 { (v as i64, 1) } else { decimal(v)? };
        out.push(p.checked_mul(denominator / q)?);
    }
    Some((out, denominator))
}
