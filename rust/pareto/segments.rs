//! ROC curves: a subtree's leaves as segments (negatives, positives), the richest in positives
//! first.
//!
//! Two subtrees side by side have the segments of both (a Minkowski sum). How far a curve is above
//! a line of slope s, h(s) of `bounds::area`, adds up over subtrees, and a curve lies on or above
//! another one exactly if its h does for every s.

use std::cmp::Ordering;
use std::sync::Arc;

pub use crate::bounds::area::Segment;

/// Segments by slope, no two of the same.
pub type Curve = Arc<[Segment]>;

/// More positives for each negative come first.
pub fn by_slope(a: &Segment, b: &Segment) -> Ordering {
    let cross = |x: &Segment, y: &Segment| i128::from(x.1) * i128::from(y.0);
    cross(b, a).cmp(&cross(a, b))
}

/// Segments of one slope are one.
pub fn push(curve: &mut Vec<Segment>, segment: Segment) {
    if segment == (0, 0) {
        return;
    }
    match curve.last_mut() {
        Some(last) if by_slope(last, &segment) == Ordering::Equal => {
            *last = (last.0 + segment.0, last.1 + segment.1);
        }
        _ => curve.push(segment),
    }
}

/// The curve of leaves with these class weights.
pub fn curve(leaves: &[Vec<i64>]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = leaves.iter().map(|w| (w[0], w[1])).collect();
    // Nothing has no slope.
    segments.retain(|&segment| segment != (0, 0));
    sorted(&mut segments)
}

/// Any segments as a curve.
pub fn sorted(segments: &mut [Segment]) -> Vec<Segment> {
    segments.sort_by(by_slope);
    let mut curve = Vec::new();
    for &segment in segments.iter() {
        push(&mut curve, segment);
    }
    curve
}

pub fn merged(a: &[Segment], b: &[Segment]) -> Vec<Segment> {
    let mut both = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let first = j == b.len() || (i < a.len() && by_slope(&a[i], &b[j]).is_le());
        push(&mut both, if first { a[i] } else { b[j] });
        if first {
            i += 1;
        } else {
            j += 1;
        }
    }
    both
}

/// Twice the area under a curve.
pub fn doubled_area(curve: &[Segment]) -> i128 {
    let (mut area, mut above) = (0, 0);
    for &(n, p) in curve {
        area += i128::from(n) * (2 * above + i128::from(p));
        above += i128::from(p);
    }
    area
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_sorts_by_slope_and_joins_equal_ones() {
        let a = [(0, 3), (2, 4), (5, 0)];
        let b = [(1, 2), (3, 1)];
        assert_eq!(merged(&a, &b), [(0, 3), (3, 6), (3, 1), (5, 0)]);
        assert_eq!(merged(&a, &b), merged(&b, &a));
        assert_eq!(doubled_area(&[(2, 4)]), 8);
        assert_eq!(doubled_area(&[(0, 4), (2, 0)]), 16);
    }
}
