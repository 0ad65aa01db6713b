//! Ratio shortfall: how far a ratio can be below the best one known, if a line was missed by a
//! little.
//!
//! Statement: let U be an objective A / D + λk that is known, and let no tree of k leaves have A −
//! (U − λk)·D below −s. Then none has an objective below U − s / D₀, if D is at least D₀ > 0.
//!
//! Proof: A / D − (U − λk) ≥ −s / D ≥ −s / D₀.
//!
//! Invalid where the denominator may be 0 or less.

use crate::exact::Ratio;

/// What no objective is below.
pub fn at_least(objective: &Ratio, short: Ratio, denominator: &Ratio) -> Ratio {
    objective - &short.max(Ratio::zero()).over(denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_no_further_below_than_their_lines() {
        let known = Ratio::from(1).over(&Ratio::from(2));
        // A tree of 3 / 8 is 3 − 4 = −1 below the line of a half, and denominators are 4 or more.
        let bound = at_least(&known, Ratio::from(1), &Ratio::from(4));
        assert!(bound <= Ratio::from(3).over(&Ratio::from(8)));
        assert!(at_least(&known, Ratio::from(-1), &Ratio::from(4)) == known);
    }
}
