//! Dominated sums: a value with limited sums is needless beside a cheaper one that is no nearer to
//! any limit.
//!
//! Statement: let a and b be values of the same rows, a no dearer, and for every limit let a's sum
//! lie between min(b's sum, the first one that is safe above) and max(b's sum, the last one that is
//! safe below), as `limit_reach` has them. Then a serves every tree that b does.
//!
//! Proof: take any rest for which b ∪ rest is allowed. If a's sum is above b's, it is one from
//! which no rest breaks the upper limit, and it cannot break the lower one where b does not; and
//! the other way round.
//!
//! Invalid where a has more leaves than b and their number is limited.

use super::limit_reach::Window;

/// True if a value with the sum `other` keeps the limit wherever one with `sum` does.
#[inline]
pub fn keeps_as_well(window: &Window, sum: i64, other: i64) -> bool {
    (sum.min(window.safe_above)..=sum.max(window.safe_below)).contains(&other)
}

/// Two numbers that are equal if one of two sums keeps the limit wherever the other one does: so
/// only values whose numbers are equal for every limit need be compared. Where no sum can be both
/// in danger above and below, all are 0.
///
/// Proof: let the first sum that is safe above be beyond the last one that is safe below. For a sum
/// between them the interval of the statement is that sum alone; for one that is safe below, it
/// ends where that ends; and for one that is safe above, it begins where that begins.
#[inline]
pub fn alike(window: &Window, sum: i64) -> i64 {
    if window.safe_above <= window.safe_below {
        0
    } else if sum <= window.safe_below {
        i64::MIN
    } else if sum >= window.safe_above {
        i64::MAX
    } else {
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_that_keep_as_well_are_alike() {
        for rest in [(-1, 3), (0, 0), (-9, 9), (-3, 4), (0, 8)] {
            let window = Window::new((-2, 5), rest);
            for sum in -20..20 {
                for other in (-20..20).filter(|&other| keeps_as_well(&window, sum, other)) {
                    assert_eq!(alike(&window, sum), alike(&window, other), "{rest:?}");
                }
            }
        }
    }

    #[test]
    fn whatever_the_rest_is_the_other_sum_keeps_the_limit_too() {
        let (limit, rest) = ((-2, 5), (-1, 3));
        let window = Window::new(limit, rest);
        let kept = |whole: i64| (limit.0..=limit.1).contains(&whole);
        for sum in (-9..12).filter(|&sum| window.allows(sum)) {
            for other in (-9..12).filter(|&other| keeps_as_well(&window, sum, other)) {
                assert!((rest.0..=rest.1).all(|more| !kept(sum + more) || kept(other + more)));
            }
            assert!(keeps_as_well(&window, sum, sum));
        }
    }
}
