//! ROC curves as values: which of two a whole tree may need, and what a leaf is bounded by.

use std::sync::Arc;

use super::area::Area;
use super::segments::{Curve, Segment, doubled_area, merged};
use super::sums::Relaxed;
use crate::bounds::{Bound, Decisions, dominated_curves};
use crate::cost::{Cost, INFINITE};
use crate::run::Pace;
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

    /// True if `a` is as good as `b` in every tree.
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
        dominated_curves::is_as_good(&a.value, &b.value, unit, room)
    }
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

    fn drop_needless(
        &self,
        weights: &[i64],
        list: &mut Vec<Candidate<Curve>>,
        decided: &mut Decisions,
        pace: &mut Pace,
    ) {
        let rest = self.totals.0 - self.segment(weights).0;
        list.sort_unstable_by_key(|c| (c.bound, c.leaves));
        // Of those that are kept, which come first.
        let mut areas: Vec<i128> = Vec::with_capacity(list.len());
        for at in 0..list.len() {
            let (kept, c) = (&list[..areas.len()], &list[at]);
            let own = doubled_area(&c.value);
            let compared =
                kept.iter().zip(&areas).take_while(|(k, _)| !pace.is_over(k.value.len()));
            let replaced = |(k, &of_k): (_, &i128)| self.replaces(rest, k, c, [of_k, own]);
            if !{ compared }.any(replaced) {
                list.swap(areas.len(), at);
                areas.push(own);
            }
        }
        decided.add(Bound::DominatedCurves, (list.len() - areas.len()) as u64);
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
