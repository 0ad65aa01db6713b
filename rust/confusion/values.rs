//! The front of a loss of the confusion matrix: a value is the sums that the loss depends
//! on, and what tests cost.

use hashbrown::HashMap;

use super::loss::MatrixLoss;
use crate::bounds::{Bound, Decisions};
use crate::cost::{Cost, INFINITE, MAX_TOTAL};
use crate::error::Error;
use crate::pareto::dot;
use crate::run::Pace;
use crate::search::common::sync::{AtomicI64, Ordering};
use crate::search::fronts::{Candidate, Front};

#[derive(Debug, Clone)]
pub struct Value<const N: usize> {
    pub sums: [i64; N],
    /// What tests cost.
    pub paid: Cost,
}

pub struct Values<'a, const N: usize> {
    pub loss: &'a MatrixLoss,
    pub units: Units,
    pub leaf_cost: Cost,
    /// Costs of the plane by class and label, its start, and whether there is one.
    pub costs: &'a [Cost],
    pub start: Cost,
    pub has_plane: bool,
    /// True if leaves cost something or are limited.
    pub counts_leaves: bool,
    /// The cost of the best tree there is.
    pub upper: AtomicI64,
}

/// How losses are whole numbers, rounded down.
#[derive(Debug, Clone, Copy)]
pub struct Units {
    pub per_one: f64,
    /// The least loss, which is 0 units.
    pub least: f64,
}

/// A bound is so many units too low, for what floats round.
const ROUNDED: Cost = 8;

impl Units {
    pub fn of(&self, loss: f64) -> Cost {
        let units = (loss - self.least) * self.per_one;
        // Not a number once the user's code has failed, which ends the search.
        if units.is_nan() { MAX_TOTAL } else { units.clamp(0.0, MAX_TOTAL as f64) as Cost }
    }
}

impl<const N: usize> Values<'_, N> {
    fn n_sums(&self) -> usize {
        self.loss.adds.len()
    }

    fn total(&self, value: &Value<N>, leaves: u32) -> Cost {
        let loss = self.units.of(self.loss.of(&value.sums[..self.n_sums()]));
        loss + value.paid + self.leaf_cost * Cost::from(leaves)
    }

    fn is_no_worse(&self, a: &Candidate<Value<N>>, b: &Candidate<Value<N>>) -> bool {
        let n_falling = self.loss.n_falling;
        (!self.counts_leaves || a.leaves <= b.leaves)
            && a.value.paid <= b.value.paid
            && a.value.sums[..n_falling].iter().zip(&b.value.sums).all(|(a, b)| a <= b)
    }

    /// Of values whose last sums are equal, those that no other one is better than.
    fn keep_undominated(&self, list: &mut Vec<Candidate<Value<N>>>, pace: &mut Pace) {
        let (n_falling, n_sums) = (self.loss.n_falling, self.n_sums());
        let errors = |value: &Value<N>| value.sums[..n_falling].iter().sum::<i64>();
        list.sort_unstable_by_key(|c| (errors(&c.value), c.leaves, c.value.paid));
        let mut alike: HashMap<[i64; N], Vec<u32>> = HashMap::new();
        let mut kept: Vec<Candidate<Value<N>>> = Vec::with_capacity(list.len());
        for candidate in list.drain(..) {
            let mut key = [0; N];
            key[n_falling..n_sums].copy_from_slice(&candidate.value.sums[n_falling..n_sums]);
            let places = alike.entry(key).or_default();
            let mut compared = places.iter().take_while(|_| !pace.is_over(1));
            if compared.any(|&at| self.is_no_worse(&kept[at as usize], &candidate)) {
                continue;
            }
            places.push(kept.len() as u32);
            kept.push(candidate);
        }
        *list = kept;
    }
}

impl<const N: usize> Front for Values<'_, N> {
    type Value = Value<N>;

    fn leaf(&self, weights: &[i64], push: &mut dyn FnMut(u32, Cost, Value<N>)) {
        let k = self.loss.n_classes();
        for label in 0..k {
            let mut sums = [0; N];
            for (sum, adds) in sums.iter_mut().zip(&self.loss.adds) {
                *sum = dot(&weights[..k], adds, k, label);
            }
            let bound = dot(&weights[..k], self.costs, k, label);
            push(label as u32, bound, Value { sums, paid: 0 });
        }
    }

    fn leaf_bound(&self, weights: &[i64]) -> Cost {
        let k = self.loss.n_classes();
        (0..k).map(|label| dot(&weights[..k], self.costs, k, label)).min().unwrap_or(0)
    }

    fn join(&self, a: &Value<N>, b: &Value<N>) -> Value<N> {
        let sums = std::array::from_fn(|at| a.sums[at] + b.sums[at]);
        Value { sums, paid: a.paid + b.paid }
    }

    /// The plane is in the units of the loss.
    fn pay(&self, value: Value<N>, price: Cost) -> Value<N> {
        Value { paid: value.paid + price, ..value }
    }

    fn drop_needless(
        &self,
        _weights: &[i64],
        list: &mut Vec<Candidate<Value<N>>>,
        decided: &mut Decisions,
        pace: &mut Pace,
    ) {
        let before = list.len();
        self.keep_undominated(list, pace);
        decided.add(Bound::Dominance, (before - list.len()) as u64);
        if self.loss.n_falling < self.n_sums() {
            return;
        }
        // All other rows may be answered right at best, and have a leaf of their own.
        let (before, upper) = (list.len(), self.upper.load(Ordering::Relaxed));
        list.retain(|c| self.total(&c.value, c.leaves) < upper);
        decided.add(Bound::Completion, (before - list.len()) as u64);
    }

    fn cost(&self, value: &Value<N>, leaves: u32) -> Option<Cost> {
        let cost = self.total(value, leaves);
        self.upper.fetch_min(cost, Ordering::Relaxed);
        Some(cost)
    }

    fn budget(&self, upper: Cost) -> Cost {
        match self.has_plane && upper < INFINITE {
            true => (upper - self.start + ROUNDED).clamp(-1, INFINITE),
            false if upper >= INFINITE => INFINITE,
            // Without a plane a bound has the penalties and what tests cost alone.
            false => upper - 1,
        }
    }

    fn at_least(&self, bound: Cost) -> Cost {
        match self.has_plane && bound < INFINITE {
            true => (bound + self.start - ROUNDED).max(0),
            false => bound,
        }
    }

    fn has_relaxation(&self) -> bool {
        self.has_plane
    }

    fn scratch_bytes(&self, len: usize) -> usize {
        len * (2 * size_of::<Candidate<Value<N>>>() + size_of::<([i64; N], Vec<u32>)>())
    }

    fn failure(&self) -> Option<Error> {
        self.loss.failure()
    }
}
