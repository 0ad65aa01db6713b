//! Fewer misses: trees that miss no more than some weight give at least so many false alarms.
//!
//! Statement: let every tree that misses at most x give at least y false alarms. Then none of them
//! has a loss below that of (0, y). Beside a tree that gives y, only those need be looked at that
//! miss less than it.
//!
//! Proof: a loss grows with either sum. A tree that gives as many false alarms as the one that was
//! found, and misses no less, is no better.
//!
//! Invalid for losses that fall where a sum grows.

/// No tree that gives at least so many false alarms has a loss below this.
pub fn at_least(alarms: i64, loss: impl Fn([f64; 2]) -> f64) -> f64 {
    loss([0.0, alarms as f64])
}

#[cfg(test)]
mod tests {
    #[test]
    fn missing_nothing_is_the_best_case() {
        let jaccard = |[x, y]: [f64; 2]| (x + y) / (9.0 + y);
        let bound = super::at_least(3, jaccard);
        for missed in 0..=9 {
            for alarms in 3..=13 {
                assert!(jaccard([f64::from(missed), f64::from(alarms)]) >= bound);
            }
        }
    }
}
