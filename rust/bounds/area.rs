//! Area: lines above every curve bound the area under it.
//!
//! Statement: let h(s) = Σ over a tree's leaves of max(0, p − s·n), with p positives and n
//! negatives in a leaf. For decreasing slopes s(x), the area under its ROC curve up to m is at most
//! ∫ (h(s(x)) + s(x)·x) dx for x from 0 to m.
//!
//! Proof: the curve is nowhere above h(s) + s·x, since h(s) is how far it is above a line of slope
//! s. With the slopes of the tree's own curve it is equal. h adds up over leaves: a leaf chooses,
//! as a label, from which slope on it counts as positive. So the bound is additive, and its
//! optimum bounds all trees.
//!
//! Invalid for areas that are not under the convex hull, which is the curve of a tree whose leaves
//! are ordered by their share of positives.

use crate::cost::gcd;

/// Negatives and positives.
pub type Segment = (i64, i64);

/// n · h(p / n) of a curve for a slope given as a segment.
#[inline]
pub fn height(curve: &[Segment], (n, p): Segment) -> i128 {
    let (n, p) = (i128::from(n), i128::from(p));
    let above = |s: &&Segment| n * i128::from(s.1) > p * i128::from(s.0);
    curve.iter().take_while(above).map(|s| n * i128::from(s.1) - p * i128::from(s.0)).sum()
}

/// A bound in whole numbers: what a leaf gains for each positive and loses for each negative, by
/// the first line in which it counts as positive, from none to all; and what comes to that.
pub struct Lines {
    pub gains: Vec<(i128, i128)>,
    pub constant: i128,
}

/// What is bounded: the weights of all negatives and positives, the part p/q of the negatives that
/// counts, and in how many units an area of N · P · p is expressed.
#[derive(Debug, Clone, Copy)]
pub struct Whole {
    pub totals: Segment,
    pub part: (i64, i64),
    pub unit: i128,
}

/// The bound for the slopes of a curve of any size, which is stretched over all negatives. Rounded
/// up.
pub fn lines(reference: &[Segment], whole: Whole) -> Lines {
    let (p, q) = (i128::from(whole.part.0), i128::from(whole.part.1));
    let (negatives, positives) = (i128::from(whole.totals.0), i128::from(whole.totals.1));
    let size: i128 = reference.iter().map(|s| i128::from(s.0)).sum::<i128>().max(1);
    let (unit, norm) = (whole.unit, p * negatives * positives);
    let (mut pieces, mut taken, mut constant) = (Vec::new(), 0, 0.0);
    for &(n, rise) in reference.iter().filter(|s| s.0 > 0) {
        // From `taken` to `end` in parts of size·q, stretched over all negatives.
        let full = p * size;
        let end = (taken + i128::from(n) * q).min(full);
        if end == taken {
            break;
        }
        let common = i128::from(gcd(n, rise));
        let (run, rise) = (i128::from(n) / common, i128::from(rise) / common);
        let times = divided_up(unit * (end - taken) * negatives, norm * size * q * run);
        let at = |place: i128| place as f64 * negatives as f64 / (size * q) as f64;
        let (x0, x1) = (at(taken), at(end));
        constant += rise as f64 / run as f64 * (x1 * x1 - x0 * x0) / 2.0;
        pieces.push((times * run, times * rise));
        taken = end;
    }
    // Rounded up by more than all of the steps above round.
    let constant = constant * (unit as f64 / norm as f64) * (1.0 + (-44f64).exp2());
    // By the first piece that a leaf counts in: from the steepest, which means all, to none.
    let mut gains = vec![(0, 0)];
    for &(per_positive, per_negative) in pieces.iter().rev() {
        let &(p, n) = gains.last().expect("there is one");
        gains.push((p + per_positive, n + per_negative));
    }
    Lines { gains, constant: constant.ceil() as i128 }
}

/// a / b, rounded up; both positive.
fn divided_up(a: i128, b: i128) -> i128 {
    (a + b - 1) / b
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice the area under a curve.
    fn doubled(curve: &[Segment]) -> i128 {
        let (mut area, mut above) = (0, 0);
        for &(n, p) in curve {
            area += i128::from(n) * (2 * above + i128::from(p));
            above += i128::from(p);
        }
        area
    }

    #[test]
    fn no_curve_has_a_larger_area_than_lines_allow() {
        let curves: [&[Segment]; 5] = [
            &[(6, 8)],
            &[(0, 8), (6, 0)],
            &[(1, 4), (2, 3), (3, 1)],
            &[(2, 6), (4, 2)],
            &[(3, 7), (3, 1)],
        ];
        let unit = 1 << 30;
        for reference in curves {
            let Lines { gains, constant } =
                lines(reference, Whole { totals: (6, 8), part: (1, 1), unit });
            for curve in curves {
                let gain = |leaf: &Segment| {
                    let of =
                        |(p, n): &(i128, i128)| p * i128::from(leaf.1) - n * i128::from(leaf.0);
                    gains.iter().map(of).max().unwrap()
                };
                let bound = curve.iter().map(gain).sum::<i128>() + constant;
                let area = doubled(curve) * unit / (2 * 6 * 8);
                assert!(bound >= area, "{curve:?} has more than {reference:?} allows");
                assert!(
                    curve != reference || bound - area < unit >> 20,
                    "its own slopes are tight"
                );
            }
        }
    }
}
