//! The front of a task with limits on sums: a value is the true loss and one sum for each limit.
//!
//! The amount that rows outside a node can still add to a sum lies in a known range, so that some
//! sums are hopeless (`bounds::limit_reach`), and others are alike (`bounds::dominated_sums`).

use hashbrown::HashMap;

use super::limits::{Limit, dot, range};
use crate::bounds::limit_reach::Window;
use crate::bounds::{Bound, Decisions, dominated_sums, multipliers};
use crate::cost::{Cost, INFINITE};
use crate::run::Pace;
use crate::search::fronts::{Candidate, Front, PlaceByKey};

#[derive(Debug, Clone, Copy)]
pub struct Value<const N: usize> {
    /// Without leaf penalties, and with what tests cost.
    pub loss: Cost,
    pub sums: [i64; N],
}

pub struct Sums<'a, const N: usize> {
    pub n_labels: usize,
    /// By class: the weight of all rows.
    pub totals: &'a [i64],
    /// True costs by class and label, and λ.
    pub costs: &'a [Cost],
    pub leaf_cost: Cost,
    /// At most N.
    pub limits: &'a [Limit],
    pub relaxed: &'a Relaxed,
    /// Every tree costs a multiple of this.
    pub step: Cost,
    /// How sums are one number, if that fits.
    pub packing: Option<[(i64, i64); N]>,
    /// True if the number of leaves is limited.
    pub few_leaves: bool,
}

/// The relaxation: `scale` · loss + Σ multipliers · sum, less what every tree pays there.
#[derive(Debug, Clone)]
pub struct Relaxed {
    pub scale: Cost,
    /// By class and label; the least of each class is zero.
    pub costs: Vec<Cost>,
    /// The cost that was taken off, over all rows.
    pub offset: i128,
    /// Σ multipliers · sum is at most this while the limits hold.
    pub most: i128,
}

impl Relaxed {
    /// `scale · cost ≥ bound + offset − most` for every tree that keeps the limits.
    pub fn at_least(&self, bound: Cost) -> Cost {
        multipliers::at_least(bound, self.scale, self.offset - self.most)
    }

    /// A tree that keeps the limits and costs at most `cost` has at most this bound.
    pub fn at_most(&self, cost: Cost) -> Cost {
        multipliers::at_most(cost, self.scale, self.offset - self.most)
    }
}

impl<const N: usize> Sums<'_, N> {
    fn total(&self, c: &Candidate<Value<N>>) -> Cost {
        c.value.loss + self.leaf_cost * Cost::from(c.leaves)
    }

    fn windows(&self, weights: &[i64]) -> Vec<Window> {
        let rest: Vec<i64> = self.totals.iter().zip(weights).map(|(all, own)| all - own).collect();
        (self.limits.iter())
            .map(|limit| {
                let rest = range(limit, self.n_labels, &rest);
                Window::new((limit.low, limit.high), rest)
            })
            .collect()
    }

    /// One limit: a value is superfluous if a cheaper one lies in an interval around it, from its
    /// own sum or the first one that is safe above, to its own or the last one that is safe below.
    fn drop_by_one_limit(&self, window: &Window, list: &mut Vec<Candidate<Value<N>>>) {
        let (above, below) = (window.safe_above, window.safe_below);
        let mut keep = vec![false; list.len()];
        let mut places = PlaceByKey::with_room(list.len());
        for (index, c) in list.iter().enumerate() {
            let known = places.place_of(c.value.sums[0], index as u32);
            let other = *known as usize;
            if other == index || self.total(c) < self.total(&list[other]) {
                keep[other] = false;
                keep[index] = true;
                *known = index as u32;
            }
        }
        // Sums that may break either limit are all needed; the others by sum.
        let safe = |sum: &i64| *sum <= below || *sum >= above;
        let mut order: Vec<(i64, Cost, u32)> = Vec::with_capacity(list.len());
        order.extend(
            (list.iter().enumerate())
                .filter(|(index, c)| keep[*index] && safe(&c.value.sums[0]))
                .map(|(index, c)| (c.value.sums[0], self.total(c), index as u32)),
        );
        order.sort_unstable();
        // Up to the last that is safe below, from there down; then from the first that is safe
        // above up.
        let mut least = Cost::MAX;
        for &(_, total, index) in order.iter().rev().filter(|(sum, ..)| *sum <= below) {
            keep[index as usize] = total < least;
            least = least.min(total);
        }
        least = Cost::MAX;
        for &(sum, total, index) in order.iter().filter(|(sum, ..)| *sum >= above) {
            // Safe on both sides, it must be the cheapest from both.
            let kept = (sum > below || keep[index as usize]) && total < least;
            keep[index as usize] = kept;
            // A value that was dropped was so because of another one, which drops these too.
            least = if kept { total } else { least };
        }
        let mut index = 0;
        list.retain(|_| {
            index += 1;
            keep[index - 1]
        });
    }

    /// Several limits: the cheapest first, each is compared with those whose sums are alike.
    fn drop_by_many_limits(
        &self,
        windows: &[Window],
        list: &mut Vec<Candidate<Value<N>>>,
        pace: &mut Pace,
    ) {
        let mut kept: Vec<Kept<N>> = Vec::with_capacity(list.len());
        let mut last: HashMap<[i64; N], u32> = HashMap::new();
        last.reserve(list.len());
        list.retain(|c| {
            let mut key = [0; N];
            for ((key, window), &sum) in key.iter_mut().zip(windows).zip(&c.value.sums) {
                *key = dominated_sums::alike(window, sum);
            }
            let keeps = |other: &Kept<N>| {
                let sums = c.value.sums.iter().zip(&other.sums);
                (!self.few_leaves || other.leaves <= c.leaves)
                    && windows.iter().zip(sums).all(|(window, (&sum, &other))| {
                        dominated_sums::keeps_as_well(window, sum, other)
                    })
            };
            let first = last.get(&key).copied();
            let mut place = first;
            while let Some(other) = place.map(|place| &kept[place as usize]) {
                if pace.is_over(1) {
                    break;
                }
                if keeps(other) {
                    return false;
                }
                place = other.before;
            }
            last.insert(key, kept.len() as u32);
            kept.push(Kept { sums: c.value.sums, leaves: c.leaves, before: first });
            true
        });
    }
}

/// A value that is needed, and the one before it whose sums are alike.
struct Kept<const N: usize> {
    sums: [i64; N],
    leaves: u32,
    before: Option<u32>,
}

/// How sums of several limits are one number, which tells all of them apart, if it fits: the least
/// sum of each, and what it is multiplied by.
pub fn packing<const N: usize>(
    limits: &[Limit],
    n_labels: usize,
    totals: &[i64],
) -> Option<[(i64, i64); N]> {
    let mut packing = [(0, 0); N];
    let mut times = 1i64;
    for (own, limit) in packing.iter_mut().zip(limits) {
        // Any rows of a class add from here to there, or nothing.
        let (mut least, mut most) = (0i64, 0i64);
        for (adds, &total) in limit.adds.chunks_exact(n_labels).zip(totals) {
            least += total * adds.iter().min().copied().unwrap_or(0).min(0);
            most += total * adds.iter().max().copied().unwrap_or(0).max(0);
        }
        *own = (least, times);
        times = times.checked_mul(most.checked_sub(least)?.checked_add(1)?)?;
    }
    Some(packing)
}

impl<const N: usize> Front for Sums<'_, N> {
    type Value = Value<N>;

    fn leaf(&self, weights: &[i64], push: &mut dyn FnMut(u32, Cost, Value<N>)) {
        for label in 0..self.n_labels {
            let loss = dot(weights, self.costs, self.n_labels, label);
            let bound = dot(weights, &self.relaxed.costs, self.n_labels, label);
            let mut sums = [0; N];
            for (sum, limit) in sums.iter_mut().zip(self.limits) {
                *sum = dot(weights, &limit.adds, self.n_labels, label);
            }
            push(label as u32, bound, Value { loss, sums });
        }
    }

    fn leaf_bound(&self, weights: &[i64]) -> Cost {
        let bound = |label| dot(weights, &self.relaxed.costs, self.n_labels, label);
        (0..self.n_labels).map(bound).min().unwrap_or(0)
    }

    fn join(&self, a: &Value<N>, b: &Value<N>) -> Value<N> {
        let mut sums = a.sums;
        for (sum, more) in sums.iter_mut().zip(b.sums) {
            *sum += more;
        }
        Value { loss: a.loss + b.loss, sums }
    }

    fn pay(&self, value: Value<N>, price: Cost) -> Value<N> {
        // Feature costs are as many times finer in the relaxation as losses are.
        debug_assert_eq!(price % self.relaxed.scale, 0, "prices are whole in units of losses");
        Value { loss: value.loss + price / self.relaxed.scale, ..value }
    }

    /// Values with equal sums, where the number of leaves is only a part of the cost.
    fn interchangeable(&self, value: &Value<N>, leaves: u32) -> Option<(i64, Cost)> {
        let packing = self.packing.as_ref().filter(|_| !self.few_leaves)?;
        let sums = packing.iter().zip(&value.sums);
        let key = sums.map(|((least, times), sum)| (sum - least) * times).sum();
        Some((key, value.loss + self.leaf_cost * Cost::from(leaves)))
    }

    fn drop_needless(
        &self,
        weights: &[i64],
        list: &mut Vec<Candidate<Value<N>>>,
        decided: &mut Decisions,
        pace: &mut Pace,
    ) {
        let (windows, before) = (self.windows(weights), list.len());
        list.retain(|c| windows.iter().zip(&c.value.sums).all(|(window, &sum)| window.allows(sum)));
        let within = list.len();
        decided.add(Bound::LimitReach, (before - within) as u64);
        match &windows[..] {
            [window] if !self.few_leaves => self.drop_by_one_limit(window, list),
            windows => {
                list.sort_unstable_by_key(|c| (self.total(c), c.leaves));
                self.drop_by_many_limits(windows, list, pace);
            }
        }
        decided.add(Bound::DominatedSums, (within - list.len()) as u64);
    }

    fn cost(&self, value: &Value<N>, leaves: u32) -> Option<Cost> {
        let keeps = |(limit, &sum): (&Limit, &i64)| limit.excess(sum) == 0;
        let allowed = self.limits.iter().zip(&value.sums).all(keeps);
        allowed.then(|| value.loss + self.leaf_cost * Cost::from(leaves))
    }

    fn budget(&self, upper: Cost) -> Cost {
        self.relaxed.at_most(if upper >= INFINITE { upper } else { upper - self.step })
    }

    fn at_least(&self, bound: Cost) -> Cost {
        let cost = self.relaxed.at_least(bound);
        // A sum of steps.
        (cost + self.step - 1) / self.step * self.step
    }

    /// A row without weight adds nothing to any sum.
    fn needs_every_point(&self) -> bool {
        false
    }

    fn scratch_bytes(&self, len: usize) -> usize {
        match self.limits.len() {
            1 if !self.few_leaves => {
                PlaceByKey::bytes_for(len) + len * (1 + size_of::<(i64, Cost, u32)>())
            }
            // A table that is at most as good as half empty, and what it points to.
            _ => len * (size_of::<Kept<N>>() + 3 * size_of::<([i64; N], u32)>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_any_rows_are_told_apart() {
        // Of a single label: rows of one class add 3, of the other they take 5 off.
        let limit = |adds: &[i64]| Limit::at_most("sum", adds.to_vec(), 0, 1);
        let limits = [limit(&[3, -5]), limit(&[1, 2])];
        let packing = packing::<2>(&limits, 1, &[4, 3]).unwrap();
        let mut known = std::collections::HashMap::new();
        for a in 0..5 {
            for b in 0..4 {
                let sums = [3 * a - 5 * b, a + 2 * b];
                let parts = packing.iter().zip(&sums);
                let key: i64 = parts.map(|((least, times), sum)| (sum - least) * times).sum();
                assert_eq!(*known.entry(key).or_insert(sums), sums);
            }
        }
    }
}
