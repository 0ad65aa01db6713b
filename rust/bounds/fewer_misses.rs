//! Fewer misses: beside a tree that gives the least false alarms, only trees that miss less matter.
//!
//! Statement: let a tree that misses x and gives y false alarms be one that gives the least of all
//! trees that miss at most m. Then no tree that misses from x to m is better than it, and no tree
//! that misses less has a loss below that of (0, y).
//!
//! Proof: a loss grows with either sum. A tree that misses from x to m gives at least y, and so
//! does one that misses less, which misses at least 0.
//!
//! Invalid for losses that fall where a sum grows.

/// The most that a better tree than one that misses so much may miss; none where it misses nothing.
pub fn most_beside(missed: i64) -> Option<i64> {
    (missed > 0).then(|| missed - 1)
}

/// No tree that gives at least so many false alarms has a loss below this.
pub fn at_least(alarms: i64, loss: impl Fn([f64; 2]) -> f64) -> f64 {
    loss([0.0, alarms as f64])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_misses_less_than_nothing() {
        assert_eq!([0, 1, 5].map(most_beside), [None, Some(0), Some(4)]);
    }

    #[test]
    fn a_step_for_each_number_of_misses_finds_the_best() {
        let jaccard = |[x, y]: [f64; 2]| (x + y) / (9.0 + y);
        let trees = [(4, 2), (5, 2), (2, 3), (3, 7), (0, 12), (1, 4)];
        let loss = |&(x, y): &(i64, i64)| jaccard([x as f64, y as f64]);
        let mut best = f64::INFINITY;
        let mut most = Some(9);
        while let Some(missed) = most {
            let few = trees.iter().filter(|tree| tree.0 <= missed);
            let Some(found) = few.min_by_key(|tree| tree.1) else { break };
            assert!(trees.iter().all(|t| t.0 > missed || loss(t) >= at_least(found.1, jaccard)));
            best = best.min(loss(found));
            most = most_beside(found.0);
        }
        assert_eq!(best, trees.iter().map(loss).fold(f64::INFINITY, f64::min));
    }
}
