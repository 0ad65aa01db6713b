//! Data and a metric, in whole units.

use std::sync::Arc;

use super::advice::too_fine;
use super::candidate::Candidate;
use super::given::Given;
use super::input::MetricInput;
use super::loss::{Errors, Kind, Loss, Metric, TOO_FINE};
use super::rounded::{Rounded, has_room};
use crate::check;
use crate::context::Context;
use crate::cost::{Cost, INFINITE, Scale, decimal};
use crate::data::{Column, Points};
use crate::error::{Error, Result};
use crate::pareto::{Attained, Constrained, Limit, LimitInput, scalar};
use crate::problem::{Problem, Shape};
use crate::run::Run;
use crate::task::{ClassCosts, ClassInput, Grouped, Scaled};
use crate::tree::{Plan, Tree};

/// Data and a metric.
pub struct Scored {
    pub(super) problem: Problem,
    pub(super) classes: ClassCosts,
    /// The label.
    pub(super) positive: usize,
    /// By class: 0 of positives, 1 of negatives, or none for sums that are limited.
    pub(super) side: Vec<usize>,
    /// What a unit of weight of a missed positive and of a false alarm counts.
    pub(super) units: [i64; 2],
    pub(super) loss: Loss,
    pub(super) limited: Option<Constrained>,
    pub(super) rounded: Option<(Rounded, Given)>,
    metric: Metric,
    pub(super) leaf_penalty: f64,
    /// As above, as a fraction.
    pub(super) penalty: (i64, i64),
    /// A switch for tests: off, corners of the hull are found by chords alone.
    pub cuts: bool,
}

/// Of neither positives nor negatives.
pub(super) const NO_SIDE: usize = 2;

/// Units in an objective of 1, for progress.
pub(super) const UNITS: f64 = (1u64 << 52) as f64;

impl Scored {
    pub fn new(
        columns: Vec<Column>,
        points: Points,
        input: &MetricInput,
        shape: Shape,
    ) -> Result<Self> {
        let of = |input: &MetricInput| {
            Self::of(columns.clone(), points.clone(), input, vec![0, 1], None, shape)
        };
        let error = match of(input) {
            Err(error) => error,
            exact => return exact,
        };
        let Some(rounded) = Rounded::new(input) else {
            let fits = |metric, leaf_penalty| {
                let classes = ClassInput { leaf_penalty, ..input.classes.clone() };
                let other = MetricInput { classes, metric, positive: input.positive };
                of(&other).is_ok_and(|exact| exact.has_room(metric, leaf_penalty))
                    || Rounded::new(&other).is_some()
            };
            let is_known = error != Error::invalid(TOO_FINE);
            let advice = || too_fine(input.metric, input.classes.leaf_penalty, fits);
            return Err(if is_known { error } else { advice() });
        };
        let classes = vec![0, 1];
        let mut scored = Self::of(
            columns.clone(),
            points.clone(),
            &rounded.input,
            classes.clone(),
            None,
            shape,
        )?;
        // Nodes show weights as they are given.
        let weights = input.classes.weights.clone();
        let task = Box::new(Grouped::showing(scored.classes.clone(), classes, weights));
        let scale = scored.problem.scale;
        let scaled = Scaled { task, leaf_cost: 0, scale, feature_costs: None, stated: None };
        scored.problem = Problem::new(columns, points, scaled, shape)?;
        scored.rounded = Some((rounded, Given::new(input)));
        Ok(scored)
    }

    /// What to say where lines turn out to have no room.
    pub(super) fn too_fine(&self) -> Error {
        too_fine(self.metric, self.leaf_penalty, |metric, penalty| self.has_room(metric, penalty))
    }

    /// Whether there surely is room for all lines of these weights.
    fn has_room(&self, metric: Metric, leaf_penalty: f64) -> bool {
        let [positives, negatives] = self.loss.totals();
        let Ok(loss) = Loss::new(metric, positives, negatives) else { return false };
        match loss.kind {
            Kind::Ratio(_) => decimal(leaf_penalty)
                .is_some_and(|penalty| has_room(&loss, penalty, self.problem.points.len())),
            Kind::Matthews => true,
        }
    }

    /// As above, under limits on sums. `class_of`: which of the two classes each class is, cut by
    /// group.
    pub fn limited(
        columns: Vec<Column>,
        points: Points,
        input: &MetricInput,
        class_of: Vec<u32>,
        limits: &[LimitInput],
        shape: Shape,
    ) -> Result<Self> {
        Self::of(columns, points, input, class_of, Some(limits), shape)
    }

    /// This problem, with trees that keep to a context too.
    pub fn with_context(mut self, context: Arc<dyn Context>) -> Result<Self> {
        self.problem = self.problem.with_context(context.clone())?;
        let limited = self.limited.map(|limited| limited.with_context(context));
        self.limited = limited.transpose()?;
        Ok(self)
    }

    fn of(
        columns: Vec<Column>,
        points: Points,
        input: &MetricInput,
        class_of: Vec<u32>,
        limits: Option<&[LimitInput]>,
        shape: Shape,
    ) -> Result<Self> {
        let two = class_of.contains(&0) && class_of.contains(&1) && class_of.iter().all(|&c| c < 2);
        let (n_classes, n_labels) = (input.classes.n_classes, input.classes.n_labels);
        let is_fit =
            n_classes == class_of.len() || (limits.is_some() && n_classes > class_of.len());
        if !two || !is_fit || n_labels != 2 || input.positive > 1 {
            return Err(Error::invalid("this objective is for two classes"));
        }
        let classes_input = ClassInput { leaf_penalty: 0.0, ..input.classes.clone() };
        let scaled = classes_input.build()?;
        let classes =
            scaled.task.structure().classes().filter(|_| scaled.scale.slack == 0).cloned();
        let Some(classes) = classes else {
            return Err(Error::invalid(TOO_FINE));
        };
        let limited = limits.map(|limits| {
            let (columns, points, class_of) = (columns.clone(), points.clone(), class_of.clone());
            Constrained::new(columns, points, &classes_input, class_of, limits, shape)
        });
        let limited = limited.transpose()?;
        let positive = input.positive;
        let mut side: Vec<usize> =
            class_of.iter().map(|&class| usize::from(class as usize != positive)).collect();
        side.resize(n_classes, NO_SIDE);
        let error = |wanted: usize| {
            let class = side.iter().position(|&side| side == wanted).unwrap_or(0);
            classes.cost(class, if wanted == 0 { 1 - positive } else { positive })
        };
        let units = [error(0), error(1)];
        let penalty = decimal(input.classes.leaf_penalty)
            .filter(|&(p, q)| p >= 0 && p.max(q) < 1 << 30)
            .ok_or_else(|| Error::invalid(TOO_FINE))?;
        let task = Box::new(Grouped::new(classes.clone(), class_of));
        let scaled = Scaled { task, ..scaled };
        let problem = Problem::new(columns, points, scaled, shape)?;
        let totals = problem.stats(0..problem.points.len());
        let weigh = |wanted: usize| {
            let of = totals.iter().zip(&side).filter(|(_, side)| **side == wanted);
            of.map(|(total, _)| *total).sum::<i64>().checked_mul(units[wanted])
        };
        let (p, n) = weigh(0).zip(weigh(1)).ok_or_else(|| Error::invalid(TOO_FINE))?;
        if p == 0 || n == 0 {
            let side = if p == 0 { "positive" } else { "negative" };
            return Err(Error::invalid(format!(
                "no row of the {side} class weighs anything, so this objective is not defined"
            )));
        }
        let loss = Loss::new(input.metric, p, n)?;
        Ok(Scored {
            problem,
            classes,
            positive,
            side,
            units,
            loss,
            limited,
            rounded: None,
            metric: input.metric,
            leaf_penalty: input.classes.leaf_penalty,
            penalty,
            cuts: true,
        })
    }

    /// The unit of progress.
    pub fn scale(&self) -> Scale {
        let off = self.rounded.as_ref().map_or(0.0, |(rounded, _)| rounded.off);
        Scale::new(UNITS, 0, (off * UNITS).ceil() as Cost)
    }

    /// A tree to begin with: a leaf, if one is allowed.
    pub(super) fn first(&self, run: &Run) -> Result<Candidate> {
        let keeps = |label: &u32| self.limited.as_ref().is_none_or(|l| l.allows(*label as usize));
        let leaves = (0..2).filter(keeps).map(|label| self.candidate(Plan::Leaf, vec![label]));
        let loss = |leaf: &Candidate| self.loss.of(leaf.errors);
        if let Some(leaf) = leaves.min_by(|a, b| loss(a).total_cmp(&loss(b))) {
            return Ok(leaf);
        }
        let limited = self.limited.as_ref().expect("without limits a leaf is allowed");
        // Of its loss nothing is known yet.
        run.show_at_most((2.0 * UNITS) as Cost);
        let shown = |_: &_| run.report(0, INFINITE).is_none();
        let part = run.part(limited.scale(), Box::new(shown));
        let found = limited.best_below(INFINITE, &part);
        run.absorb(&part);
        let best = limited.require(found?.0, run)?;
        Ok(self.candidate(best.plan, best.labels))
    }

    /// A tree with these labels.
    pub(super) fn candidate(&self, plan: Plan, labels: Vec<u32>) -> Candidate {
        let sides = self.leaves(&plan);
        let mut errors = Errors { missed: 0, alarms: 0 };
        for (&label, [positives, negatives]) in labels.iter().zip(sides) {
            match label as usize == self.positive {
                true => errors.alarms += negatives,
                false => errors.missed += positives,
            }
        }
        Candidate { plan, errors, leaves: labels.len() as u32, labels }
    }

    /// Positives and negatives of each leaf in units, from left to right.
    pub(super) fn leaves(&self, plan: &Plan) -> Vec<[i64; 2]> {
        scalar::leaves(&self.problem, plan).iter().map(|weights| self.by_side(weights)).collect()
    }

    fn by_side(&self, weights: &[i64]) -> [i64; 2] {
        let mut sums = [0; 2];
        for (&side, &weight) in self.side.iter().zip(weights) {
            if let Some(sum) = sums.get_mut(side) {
                *sum += weight * self.units[side];
            }
        }
        sums
    }

    /// A limit on the sum of missed positives.
    pub(super) fn missed_at_most(&self, most: i64) -> Limit {
        let add = |(class, label): (usize, usize)| {
            let missed = self.side[class] == 0 && label != self.positive;
            if missed { self.units[0] } else { 0 }
        };
        let adds = (0..2 * self.side.len()).map(|at| add((at / 2, at % 2))).collect();
        Limit::at_most("missed positives", adds, most, self.loss.positives)
    }

    /// What each limit's share, or difference of shares, is in the finished tree.
    pub fn attained(&self, tree: &Tree) -> Result<Attained> {
        self.limited.as_ref().map_or(Ok(Vec::new()), |limited| limited.attained(tree))
    }

    /// The finished tree adds up to what the search says, from the points alone.
    pub(super) fn confirm(&self, tree: &Tree, claimed: Errors) -> Result<()> {
        let labels = check::labels(tree, &self.problem.columns, &self.problem.points);
        let mut found = Errors { missed: 0, alarms: 0 };
        for (point, &label) in labels.iter().enumerate() {
            let [positives, negatives] = self.by_side(self.classes.weights(point));
            if label as usize == self.positive {
                found.alarms += negatives;
            } else {
                found.missed += positives;
            }
        }
        if found == claimed {
            return Ok(());
        }
        Err(Error::Mismatch { searched: format!("{claimed:?}"), recomputed: format!("{found:?}") })
    }
}
