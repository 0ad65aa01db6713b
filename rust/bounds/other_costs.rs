//! Other costs: what a search of the same rows proved under other costs bounds them under these.
//!
//! Statement: let the cost of every tree be linear in some costs, as it is in what an error of each
//! class and a leaf cost. If c₁·p₁ + c₂·p₂ ≤ p in every one of them, with c₁, c₂ ≥ 0, then for any
//! rows opt(p) ≥ c₁·opt(p₁) + c₂·opt(p₂).
//!
//! Proof: the best tree under p costs at least as much under what is combined, and that is c₁ times
//! a cost under p₁, which is no less than the optimum there, and likewise for p₂.
//!
//! Invalid between different data or minimum leaf sizes, and if some error costs nothing, because
//! then rows that cost nothing are left out, and sets of rows have other fingerprints. Nor does it
//! hold where costs that no tree avoids (`BitView::unavoidable_cost`) are left out of all costs.

use crate::cost::Cost;

/// The costs of two kinds of errors, and of a leaf.
pub type Costs = [Cost; 3];

/// c₁ and c₂ over a common denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Combination {
    pub shares: [i128; 2],
    pub under: i128,
}

impl Combination {
    /// As much of one alone as no cost forbids.
    pub fn of_one(costs: &Costs, one: &Costs) -> Option<Combination> {
        let shares = costs.iter().zip(one).filter(|(_, p)| **p > 0);
        let share = shares.min_by(|(a, p), (b, q)| {
            (i128::from(**a) * i128::from(**q)).cmp(&(i128::from(**b) * i128::from(**p)))
        });
        let (&most, &cost) = share?;
        Some(Combination { shares: [i128::from(most), 0], under: i128::from(cost) })
    }

    /// The combination of two that has exactly both costs of errors, if there is one and leaves
    /// cost nothing.
    pub fn of_two(costs: &Costs, one: &Costs, other: &Costs) -> Option<Combination> {
        if one[2] + other[2] > 0 {
            return None;
        }
        let [a, b, _] = one.map(i128::from);
        let [c, d, _] = other.map(i128::from);
        let [x, y, _] = costs.map(i128::from);
        let (mut under, mut first, mut second) = (a * d - b * c, x * d - y * c, a * y - b * x);
        if under < 0 {
            (under, first, second) = (-under, -first, -second);
        }
        (under > 0 && first > 0 && second > 0)
            .then_some(Combination { shares: [first, second], under })
    }

    /// What rows cost at least that cost these at least under the other costs.
    pub fn at_least(&self, known: [Cost; 2]) -> Cost {
        let [a, b] = self.shares;
        let sum = a * i128::from(known[0]) + b * i128::from(known[1]);
        sum.div_euclid(self.under) as Cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trees of (2, 3) errors, and of (4, 1), are all there are.
    fn optimum([a, b, leaf]: Costs) -> Cost {
        (2 * a + 3 * b).min(4 * a + b) + leaf
    }

    #[test]
    fn combinations_never_promise_more_than_they_have() {
        let known: [Costs; 3] = [[5, 2, 0], [1, 4, 0], [3, 3, 1]];
        for a in 1..9 {
            for b in 1..9 {
                for leaf in 0..3 {
                    let costs = [a, b, leaf];
                    for one in known {
                        let alone = Combination::of_one(&costs, &one).unwrap();
                        assert!(alone.at_least([optimum(one), 0]) <= optimum(costs));
                        for other in known {
                            let both = Combination::of_two(&costs, &one, &other);
                            let bound = both.map(|c| c.at_least([one, other].map(optimum)));
                            assert!(bound.is_none_or(|bound| bound <= optimum(costs)));
                        }
                    }
                }
            }
        }
    }
}
