//! Dominated curves: a ROC curve is needless beside one that is as good in every tree.
//!
//! Statement: let a and b be curves of the same rows and N' the negatives of the rest. If what a
//! saves by its leaves is at least what b alone has more area than a, plus N' times the most by
//! which h of b is larger than h of a (`area`), then a is as good as b in every tree. For a part of
//! the area, all negatives times that are enough.
//!
//! Proof: whatever segments the rest has, with b instead of a the area grows by at most b's own
//! gain, and by the difference of h at the slope of each segment, times its negatives. h of b less
//! h of a is piecewise linear between the slopes of both, so that the most is at one of these, or
//! beyond all of them, where only positives count that are pure.
//!
//! Invalid where a has more leaves than b and their number is limited.

use super::area::{Segment, height};

/// True if no slope raises the area of `b` over that of `a` by more than `room`, both in units of
/// which a height of 1 has `unit` for all the negatives that count.
pub fn is_as_good(a: &[Segment], b: &[Segment], unit: i128, room: i128) -> bool {
    if room < 0 {
        return false;
    }
    let breaks = a.iter().chain(b).filter(|s| s.0 > 0);
    let mut breaks = breaks.map(|&s| (s, height(b, s) - height(a, s)));
    // Beyond all slopes only what is purely positive is left.
    let pure = |curve: &[Segment]| curve.first().filter(|s| s.0 == 0).map_or(0, |s| s.1);
    let steep = i128::from(pure(b) - pure(a));
    steep.max(0) * unit <= room
        && breaks.all(|((n, _), more)| is_within([more.max(0), unit], [room, i128::from(n)]))
}

/// Whether a · b ≤ c · d; none of them is below 0.
fn is_within([a, b]: [i128; 2], [c, d]: [i128; 2]) -> bool {
    match (a.checked_mul(b), c.checked_mul(d)) {
        (Some(left), Some(right)) => left <= right,
        (left, right) if left.is_some() != right.is_some() => left.is_some(),
        _ => product(a, b) <= product(c, d),
    }
}

/// a · b, as its upper and lower 128 bits; neither is below 0.
fn product(a: i128, b: i128) -> [u128; 2] {
    let halves = |x: i128| [x as u128 >> 64, x as u128 & u128::from(u64::MAX)];
    let ([a1, a0], [b1, b0]) = (halves(a), halves(b));
    // Both are below 2⁶³ · 2⁶⁴, and so their sum fits.
    let middle = a1 * b0 + a0 * b1;
    let (low, carry) = (a0 * b0).overflowing_add(middle << 64);
    [a1 * b1 + (middle >> 64) + u128::from(carry), low]
}

#[cfg(test)]
mod tests {
    use super::is_as_good;

    #[test]
    fn a_curve_above_another_one_replaces_it() {
        let (low, high) = ([(4, 4)], [(1, 3), (3, 1)]);
        assert!(is_as_good(&high, &low, 7, 0));
        assert!(!is_as_good(&low, &high, 7, 0));
        // The largest difference of heights is 2 − 0, where the slope is 1: 3 − 1 of the first
        // segment.
        assert!(is_as_good(&low, &high, 7, 14) && !is_as_good(&low, &high, 7, 13));
        assert!(!is_as_good(&high, &low, 7, -1), "it costs more by itself");
    }
}
