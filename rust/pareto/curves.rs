//! ROC curves as values: which of two a whole tree may need, and what a leaf is bounded by.

use std::sync::Arc;

use super::area::Area;
use super::segments::{Curve, Segment, doubled_area, height, merged};
use super::sums::Relaxed;
use crate::cost::{Cost, INFINITE};
use crate::search::fronts::{Candidate, Front};

/// Curves as values for the front search, with a relaxation that bounds them.
pub struct Curves<'a> {
    pub area: &'a Area,
    /// Weight of all negatives and positives.
    pub totals: Segment,
    pub relaxed: &'a Relaxed,
    pub n_labels: usize,
    pub statistics: Statistics,
    /// True if the number of leaves is limited.
    pub few_leaves: bool,
}

/// What the relaxation sums over rows.
#[derive(Debug, Clone, Copy)]
pub enum Statistics {
    /// Negatives and positives.
    Weights,
    /// Losses by label, and then by three labels that no leaf takes: the largest loss of each point
    /// with its negatives, with its positives, and alone.
    Losses,
}

impl Curves<'_> {
    /// Negatives and positives of rows with these sums.
    fn segment(&self, sums: &[i64]) -> Segment {
        match (self.statistics, &sums[self.n_labels.min(sums.len())..]) {
            (Statistics::Losses, [negatives, positives, least]) => {
                (negatives - least, positives - least)
            }
            _ => (sums[0], sums[1]),
        }
    }

    /// True if `a` is as good as `b` in every tree. Whatever segments the rest has, b instead of a
    /// gains an area of at most its own gain, and the rest's negatives times the most by which h of
    /// b is larger; or, of a part of the area, all negatives times that.
    fn replaces(
        &self,
        rest: i64,
        a: &Candidate<Curve>,
        b: &Candidate<Curve>,
        [own_a, own_b]: [i128; 2],
    ) -> bool {
        if self.few_leaves && a.leaves > b.leaves {
            return false;
        }
        let saved = i128::from(self.area.leaf_cost) * (i128::from(b.leaves) - i128::from(a.leaves));
        let (unit, room) = match (self.area.whole_unit(), self.area.doubled_area_of(saved)) {
            (Some(unit), _) => (2 * unit * i128::from(rest), saved - unit * (own_b - own_a)),
            (None, Some(saved)) => (2 * i128::from(rest), saved - (own_b - own_a)),
            (None, None) => (i128::from(self.area.units), saved * i128::from(self.totals.1)),
        };
        if room < 0 {
            return false;
        }
        let breaks = a.value.iter().chain(b.value.iter()).filter(|s| s.0 > 0);
        let mut breaks = breaks.map(|&s| (s, height(&b.value, s) - height(&a.value, s)));
        // Beyond all slopes only what is purely positive is left.
        let pure = |curve: &Curve| curve.first().filter(|s| s.0 == 0).map_or(0, |s| s.1);
        let steep = i128::from(pure(&b.value) - pure(&a.value));
        steep.max(0) * unit <= room
            && breaks.all(|((n, _), more)| is_within([more.max(0), unit], [room, i128::from(n)]))
    }
}

/// Whether a · b ≤ c · d; none of them is below 0.
fn is_within([a, b]: [i128; 2], [c, d]: [i128; 2]) -> bool {
    match (a.checked_mul(b), c.checked_mul(d)) {
        (Some(left), Some(right)) => left <= right,
        (left, right) if left.is_some() != right.is_some() => left.is_some(),
        _ => product(a, b) <= product(c, d),
    }
}

/// a · b, as its upper and lower 128 bits; neither is below 0.
fn product(a: i128, b: i128) -> [u128; 2] {
    let halves = |x: i128| [x as u128 >> 64, x as u128 & u128::from(u64::MAX)];
    let ([a1, a0], [b1, b0]) = (halves(a), halves(b));
    // Both are below 2⁶³ · 2⁶⁴, and so their sum fits.
    let middle = a1 * b0 + a0 * b1;
    let (low, carry) = (a0 * b0).overflowing_add(middle << 64);
    [a1 * b1 + (middle >> 64) + u128::from(carry), low]
}

impl Front for Curves<'_> {
    type Value = Curve;

    fn leaf(&self, weights: &[i64], push: &mut dyn FnMut(u32, Cost, Curve)) {
        push(0, self.leaf_bound(weights), Arc::new([self.segment(weights)]));
    }

    fn leaf_bound(&self, weights: &[i64]) -> Cost {
        if let Statistics::Losses = self.statistics {
            return weights[..self.n_labels].iter().copied().min().unwrap_or(0);
        }
        let (negative, positive) = self.relaxed.costs.split_at(self.n_labels);
        let costs = negative.iter().zip(positive);
        costs.map(|(n, p)| n * weights[0] + p * weights[1]).min().unwrap_or(0)
    }

    fn join(&self, a: &Curve, b: &Curve) -> Curve {
        merged(a, b).into()
    }

    fn drop_needless(&self, weights: &[i64], list: &mut Vec<Candidate<Curve>>) {
        let rest = self.totals.0 - self.segment(weights).0;
        list.sort_unstable_by_key(|c| (c.bound, c.leaves));
        // Of those that are kept, which come first.
        let mut areas: Vec<i128> = Vec::with_capacity(list.len());
        for at in 0..list.len() {
            let (kept, c) = (&list[..areas.len()], &list[at]);
            let own = doubled_area(&c.value);
            let replaced = |(k, &of_k): (_, &i128)| self.replaces(rest, k, c, [of_k, own]);
            if !kept.iter().zip(&areas).any(replaced) {
                list.swap(areas.len(), at);
                areas.push(own);
            }
        }
        list.truncate(areas.len());
    }

    fn cost(&self, value: &Curve, leaves: u32) -> Option<Cost> {
        Some(self.area.cost(value, leaves))
    }

    fn budget(&self, upper: Cost) -> Cost {
        self.relaxed.at_most(if upper >= INFINITE { upper } else { upper - 1 })
    }

    fn at_least(&self, bound: Cost) -> Cost {
        self.relaxed.at_least(bound)
    }

    /// A row without weight changes no curve.
    fn needs_every_point(&self) -> bool {
        false
    }

    fn scratch_bytes(&self, len: usize) -> usize {
        len * size_of::<i128>()
    }

    fn value_bytes(&self, value: &Curve) -> usize {
        16 + value.len() * size_of::<Segment>()
    }
}
