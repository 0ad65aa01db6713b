//! Lower bounds that searches of the same rows proved under other costs of errors.
//!
//! Let the cost of every tree be linear in some costs p, as it is in the costs of an error of each
//! class and of a leaf. If c₁·p₁ + c₂·p₂ ≤ p in every one of them, with c₁, c₂ ≥ 0, then for any
//! rows opt(p) ≥ c₁·opt(p₁) + c₂·opt(p₂): the best tree under p costs at least as much under what
//! is combined, and that is c₁ times a cost under p₁, which is no less than the optimum there, and
//! likewise for p₂.
//!
//! Not valid between different data, minimum leaf sizes, or if one of the costs is 0: then rows
//! that cost nothing are left out, and sets of rows have other fingerprints. Nor where
//! `BitView::unavoidable_cost` is left out of all costs.

use hashbrown::HashMap;

use super::budget::NodeKey;
use super::table::{Entry, Fingerprints, Table};
use crate::cost::Cost;

/// The costs of two kinds of errors, and of a leaf.
pub type ErrorCosts = [Cost; 3];

/// Lower bounds of the nodes that a search came by.
pub struct Learned {
    error_costs: ErrorCosts,
    lower: HashMap<NodeKey, Cost, Fingerprints>,
}

impl Learned {
    pub fn from(error_costs: ErrorCosts, table: &Table) -> Learned {
        let mut lower = HashMap::with_hasher(Fingerprints);
        table.each(|key, entry| {
            let bound = match entry {
                Entry::Solved(value) => *value,
                Entry::Open(node) => node.lower(),
            };
            lower.insert(*key, bound);
        });
        Learned { error_costs, lower }
    }

    pub fn bytes(&self) -> u64 {
        self.lower.allocation_size() as u64
    }
}

/// Bounds for a search under other costs of errors.
#[derive(Default)]
pub struct Hints<'a> {
    learned: &'a [Learned],
    /// Combinations: which two, what of each, over a common denominator.
    pairs: Vec<([usize; 2], [i128; 2], i128)>,
}

impl<'a> Hints<'a> {
    pub fn new(error_costs: ErrorCosts, learned: &'a [Learned]) -> Self {
        let mut hints = Hints { learned, pairs: Vec::new() };
        if error_costs[..2].iter().any(|&cost| cost <= 0) {
            return hints;
        }
        for (i, one) in learned.iter().enumerate() {
            // As much of one alone as no cost forbids.
            let shares = error_costs.iter().zip(&one.error_costs).filter(|(_, p)| **p > 0);
            let share = shares.min_by(|(a, p), (b, q)| {
                (i128::from(**a) * i128::from(**q)).cmp(&(i128::from(**b) * i128::from(**p)))
            });
            if let Some((&most, &cost)) = share {
                hints.pairs.push(([i, i], [i128::from(most), 0], i128::from(cost)));
            }
            for (j, other) in learned.iter().enumerate().skip(i + 1) {
                hints.pairs.extend(between(&error_costs, i, one, j, other));
            }
        }
        hints
    }

    /// What these rows cost at least.
    pub fn lower(&self, key: &NodeKey) -> Cost {
        let mut best = 0;
        for ([i, j], [a, b], under) in &self.pairs {
            let Some(&one) = self.learned[*i].lower.get(key) else { continue };
            let other =
                if *b > 0 { self.learned[*j].lower.get(key).copied().unwrap_or(0) } else { 0 };
            let bound = (a * i128::from(one) + b * i128::from(other)).div_euclid(*under);
            best = best.max(bound as Cost);
        }
        best
    }
}

/// The combination of two that has exactly both costs of errors, if there is one and leaves cost
/// nothing.
fn between(
    error_costs: &ErrorCosts,
    i: usize,
    one: &Learned,
    j: usize,
    other: &Learned,
) -> Option<([usize; 2], [i128; 2], i128)> {
    if one.error_costs[2] + other.error_costs[2] > 0 {
        return None;
    }
    let [a, b, _] = one.error_costs.map(i128::from);
    let [c, d, _] = other.error_costs.map(i128::from);
    let [x, y, _] = error_costs.map(i128::from);
    let (mut under, mut first, mut second) = (a * d - b * c, x * d - y * c, a * y - b * x);
    if under < 0 {
        (under, first, second) = (-under, -first, -second);
    }
    (under > 0 && first > 0 && second > 0).then_some(([i, j], [first, second], under))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::best_first::Budget;

    fn learned(error_costs: ErrorCosts, bound: Cost) -> Learned {
        let key = NodeKey { rows: 7, budget: Budget { depth: 2, leaves: 4 } };
        Learned { error_costs, lower: [(key, bound)].into_iter().collect() }
    }

    #[test]
    fn combinations_never_promise_more_than_they_have() {
        let key = NodeKey { rows: 7, budget: Budget { depth: 2, leaves: 4 } };
        // One tree of (2, 3) errors and one of (4, 1) are all there is.
        let optimum =
            |[a, b, leaf]: ErrorCosts| [2 * a + 3 * b, 4 * a + b].into_iter().min().unwrap() + leaf;
        let known: Vec<Learned> = [[5, 2, 0], [1, 4, 0], [3, 3, 1]]
            .map(|error_costs| learned(error_costs, optimum(error_costs)))
            .into();
        for a in 1..9 {
            for b in 1..9 {
                for leaf in 0..3 {
                    let error_costs = [a, b, leaf];
                    let hint = Hints::new(error_costs, &known).lower(&key);
                    assert!(hint <= optimum(error_costs), "{error_costs:?}: {hint}");
                    if error_costs[..2] == [5, 2] || error_costs[..2] == [1, 4] {
                        assert_eq!(hint, optimum([a, b, 0]));
                    }
                }
            }
        }
        assert_eq!(Hints::new([0, 1, 0], &known).lower(&key), 0);
    }
}
