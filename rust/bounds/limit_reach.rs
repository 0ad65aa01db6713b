//! Limit reach: a sum that the rest of the rows cannot bring back within its limit belongs to no
//! allowed tree.
//!
//! Statement: let low ≤ sum ≤ high be required of a whole tree, and let the rows outside a node add
//! from `least` to `most`. A value of the node whose sum is below low − `most` or above high −
//! `least` is in no allowed tree. From high − `most` down a sum cannot break the upper limit any
//! more, and from low − `least` up not the lower one.
//!
//! Proof: the whole sum is the node's and what the rest adds, which lies between `least` and
//! `most`.
//!
//! Invalid where the range of what rows can add is too narrow; it may be too wide.

/// Where the sums of a node's values lie, for one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Sums up to here cannot break the upper limit, from here on not the lower one.
    pub safe_below: i64,
    pub safe_above: i64,
    /// Outside, every tree breaks the limit.
    pub least: i64,
    pub most: i64,
}

impl Window {
    /// For a limit from `low` to `high` and rows outside that add from `least` to `most`.
    pub fn new((low, high): (i64, i64), (least, most): (i64, i64)) -> Window {
        Window {
            safe_below: high - most,
            safe_above: low - least,
            least: low - most,
            most: high - least,
        }
    }

    /// True if some rest may bring the sum within the limit.
    pub fn allows(&self, sum: i64) -> bool {
        (self.least..=self.most).contains(&sum)
    }
}

#[cfg(test)]
mod tests {
    use super::Window;

    #[test]
    fn a_sum_is_allowed_exactly_if_some_rest_repairs_it() {
        let (limit, rest) = ((-2, 5), (-1, 3));
        let window = Window::new(limit, rest);
        for sum in -20..20 {
            let whole = (rest.0..=rest.1).map(|more| sum + more);
            let kept = |whole: i64| (limit.0..=limit.1).contains(&whole);
            assert_eq!(window.allows(sum), whole.clone().any(kept));
            assert_eq!(sum <= window.safe_below, whole.clone().all(|whole| whole <= limit.1));
            assert_eq!(sum >= window.safe_above, whole.clone().all(|whole| whole >= limit.0));
        }
    }
}
