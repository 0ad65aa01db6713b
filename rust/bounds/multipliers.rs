//! Multipliers: an optimum with limits as prices bounds all trees that keep the limits (Lagrange).
//!
//! Statement: for multipliers μ on the sums that are limited, let v be a lower bound on
//! scale·cost + Σ μ·sum over all trees. A tree that keeps the limits costs at least (v − max over
//! allowed sums of Σ μ·sum) / scale.
//!
//! Proof: its sums are allowed, so that Σ μ·sum is at most that maximum; and scale·cost + Σ μ·sum
//! is at least v. Each sum has limits of its own, so that the maximum is taken at one end of each.
//!
//! Invalid for trees that break a limit. Any multipliers are valid; better ones bound more.

use crate::cost::{Cost, INFINITE};

/// The most that a multiplier times a sum from `low` to `high` is.
pub fn most(multiplier: i64, (low, high): (i64, i64)) -> i128 {
    let end = if multiplier > 0 { high } else { low };
    i128::from(multiplier) * i128::from(end)
}

/// Every tree that is allowed costs at least this if the relaxation's cost is at least `bound`;
/// `shift` is what scaled costs are beyond that of the relaxation, at least. Rounded up, because
/// costs are whole.
pub fn at_least(bound: Cost, scale: Cost, shift: i128) -> Cost {
    let least = i128::from(bound) + shift;
    let cost = -((-least).div_euclid(i128::from(scale)));
    cost.clamp(0, i128::from(INFINITE)) as Cost
}

/// An allowed tree that costs at most `cost` costs at most this in the relaxation.
pub fn at_most(cost: Cost, scale: Cost, shift: i128) -> Cost {
    if cost >= INFINITE {
        return INFINITE;
    }
    let most = i128::from(cost) * i128::from(scale) - shift;
    most.clamp(-1, i128::from(INFINITE)) as Cost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_allowed_tree_is_below_its_bound() {
        // Trees as (cost, sum), of which those with a sum from −3 to 4 are allowed.
        let trees = [(9, 0), (6, 4), (2, 7), (4, -5), (8, 3), (7, -3)];
        let limits = (-3, 4);
        for multiplier in -9..10i64 {
            for scale in 1..5i64 {
                let relaxed = |tree: &(i64, i64)| scale * tree.0 + multiplier * tree.1;
                let least = trees.iter().map(relaxed).min().unwrap();
                let shift = -most(multiplier, limits);
                let bound = at_least(least, scale, shift);
                for tree in trees.iter().filter(|tree| (limits.0..=limits.1).contains(&tree.1)) {
                    assert!(tree.0 >= bound);
                    assert!(relaxed(tree) <= at_most(tree.0, scale, shift));
                }
            }
        }
    }
}
