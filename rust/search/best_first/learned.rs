//! Lower bounds that searches of the same rows proved under other costs of errors, for
//! `bounds::other_costs`.

use hashbrown::HashMap;

use super::budget::NodeKey;
use super::table::{Fingerprints, Table};
use crate::bounds::other_costs::{Combination, Costs};
use crate::cost::Cost;

/// The costs of two kinds of errors, and of a leaf.
pub type ErrorCosts = Costs;

/// Lower bounds of the nodes that a search came by.
pub struct Learned {
    error_costs: ErrorCosts,
    lower: HashMap<NodeKey, Cost, Fingerprints>,
}

impl Learned {
    pub fn from(error_costs: ErrorCosts, table: &Table) -> Learned {
        let mut lower = HashMap::with_hasher(Fingerprints);
        table.each(|key, entry| {
            lower.insert(*key, entry.lower());
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
    /// Which two are combined, or the one of them twice.
    pairs: Vec<([usize; 2], Combination)>,
}

impl<'a> Hints<'a> {
    pub fn new(error_costs: ErrorCosts, learned: &'a [Learned]) -> Self {
        let mut hints = Hints { learned, pairs: Vec::new() };
        if error_costs[..2].iter().any(|&cost| cost <= 0) {
            return hints;
        }
        for (i, one) in learned.iter().enumerate() {
            let alone = Combination::of_one(&error_costs, &one.error_costs);
            hints.pairs.extend(alone.map(|alone| ([i, i], alone)));
            for (j, other) in learned.iter().enumerate().skip(i + 1) {
                let both = Combination::of_two(&error_costs, &one.error_costs, &other.error_costs);
                hints.pairs.extend(both.map(|both| ([i, j], both)));
            }
        }
        hints
    }

    /// What these rows cost at least.
    pub fn lower(&self, key: &NodeKey) -> Cost {
        let mut best = 0;
        for ([i, j], combination) in &self.pairs {
            let Some(&one) = self.learned[*i].lower.get(key) else { continue };
            let other = match i == j {
                true => 0,
                false => self.learned[*j].lower.get(key).copied().unwrap_or(0),
            };
            best = best.max(combination.at_least([one, other]));
        }
        best
    }
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
