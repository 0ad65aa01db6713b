//! The best tree for a metric: ask additive problems until a fence keeps out all that is better.
//!
//! Without a leaf penalty there is one *leaf count*, for trees of any size. With one, there is a
//! leaf count for each number of leaves ℓ: a tree there is better than the best one, of objective
//! U, if its loss is below U − λℓ.

use std::cell::RefCell;

use crate::answer::{Answer, exactly};
use crate::check;
use crate::cost::{Cost, INFINITE, Scale, decimal};
use crate::data::{Column, Points};
use crate::error::{Error, Result};
use crate::exact::Ratio;
use crate::finish::labelled;
use crate::metric::ask::{Asker, Candidate, Lessons, Subproblem, Told};
use crate::metric::fence::{BLUR, Fence, Line};
use crate::metric::hull;
use crate::metric::loss::{Errors, Kind, Loss, Metric, TOO_FINE};
use crate::metric::ratio;
use crate::metric::refined::{Given, refine};
use crate::metric::rounded::Rounded;
use crate::pareto::{Attained, Constrained, Limit, LimitInput, scalar};
use crate::problem::{Problem, Shape};
use crate::route::Route;
use crate::run::{Run, Status};
use crate::task::{ClassCosts, ClassInput, Grouped, Scaled};
use crate::tree::{Plan, Tree};

pub struct MetricInput {
    /// Two classes, and costs of 1 for errors.
    pub classes: ClassInput,
    pub metric: Metric,
    /// Which of the classes is the positive one.
    pub positive: usize,
}

/// Data and a metric.
pub struct Scored {
    pub(super) problem: Problem,
    pub(super) classes: ClassCosts,
    /// The label.
    pub(super) positive: usize,
    /// By class: 0 of positives, 1 of negatives.
    pub(super) side: Vec<usize>,
    /// What a unit of weight of a missed positive and of a false alarm counts.
    pub(super) units: [i64; 2],
    pub(super) loss: Loss,
    pub(super) limited: Option<Constrained>,
    rounded: Option<(Rounded, Given)>,
    pub(super) leaf_penalty: f64,
    /// The same as a fraction.
    penalty: (i64, i64),
    /// A switch for tests: off, corners of the hull are found by chords alone.
    pub cuts: bool,
}

/// The depth of the first trees that are looked for, to begin with a good one.
const FIRST: u32 = 2;

/// Units in an objective of 1, for progress.
const UNITS: f64 = (1u64 << 52) as f64;

impl Scored {
    pub fn new(
        columns: Vec<Column>,
        points: Points,
        input: &MetricInput,
        shape: Shape,
    ) -> Result<Self> {
        let exact = Self::of(columns.clone(), points.clone(), input, vec![0, 1], None, shape);
        let error = match exact {
            Err(error) => error,
            exact => return exact,
        };
        let Some(rounded) = Rounded::new(input) else { return Err(error) };
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

    /// The same under limits on sums. `class_of`: which of the two classes each class is, cut by
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

    fn of(
        columns: Vec<Column>,
        points: Points,
        input: &MetricInput,
        class_of: Vec<u32>,
        limits: Option<&[LimitInput]>,
        shape: Shape,
    ) -> Result<Self> {
        let two = class_of.contains(&0) && class_of.contains(&1) && class_of.iter().all(|&c| c < 2);
        let n_classes = input.classes.n_classes;
        if !two || (n_classes, input.classes.n_labels) != (class_of.len(), 2) || input.positive > 1
        {
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
        let side: Vec<usize> =
            class_of.iter().map(|&class| usize::from(class as usize != positive)).collect();
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
            leaf_penalty: input.classes.leaf_penalty,
            penalty,
            cuts: true,
        })
    }

    /// The unit of progress.
    pub fn scale(&self) -> Scale {
        let off = self.rounded.as_ref().map_or(0.0, |(rounded, _)| rounded.off);
        Scale { units: UNITS, offset: 0, slack: (off * UNITS).ceil() as Cost }
    }

    /// A panic anywhere below is an error here.
    pub fn solve(&self, run: &Run) -> Result<Answer> {
        Error::guard(|| self.answer(run))
    }

    fn answer(&self, run: &Run) -> Result<Answer> {
        let mut state = State::new(self, self.first(run)?, run);
        for depth in FIRST..self.problem.shape.max_depth.unwrap_or(FIRST + 1) {
            state.begin(depth)?;
        }
        state.note();
        state.close()?;
        let (lower, upper) = (state.lower(), state.upper());
        let proved = state.counts.iter().all(|count| count.closed);
        let Candidate { plan, labels, errors, .. } = state.best;
        let tree = labelled(&self.problem, plan, &labels)?;
        self.confirm(&tree, errors)?;
        self.attained(&tree)?;
        let known = match self.loss.kind {
            Kind::Ratio(_) if proved => upper,
            // Roots are rounded.
            _ => (lower.min(upper) - 16.0 * f64::EPSILON).max(0.0),
        };
        let status = match run.stopped() {
            _ if proved => Status::Optimal,
            Some(status) => status,
            None => Status::Interrupted,
        };
        let [below, above] = [known, upper].map(|x| (x * UNITS) as Cost);
        let curve = run.curve(below, above);
        let (tree, objective, lower_bound) = match &self.rounded {
            None => {
                let loss = self.loss.exactly(errors);
                let leaves = Ratio::from(tree.n_leaves() as i64);
                let exact = &loss + &(&Ratio::written(self.leaf_penalty) * &leaves);
                let objective = exact.nearest();
                let same = proved && matches!(self.loss.kind, Kind::Ratio(_));
                (tree, objective, if same { objective } else { known.min(objective) })
            }
            Some((rounded, given)) => {
                let known = (known - rounded.off).max(0.0);
                let refined = refine(self, given, tree, (known, proved), run)?;
                (refined.tree, refined.objective.nearest(), refined.lower)
            }
        };
        let mut answer = Answer {
            tree,
            route: Route::WeightedErrors,
            objective,
            lower_bound,
            status,
            seconds: run.seconds(),
            work: run.work(),
            curve,
        };
        exactly::close(&mut answer);
        // Losses are shares of 1.
        Ok(exactly::ended(answer, exactly::TOLERANCE, run))
    }

    /// A tree to begin with: a leaf, if one is allowed.
    fn first(&self, run: &Run) -> Result<Candidate> {
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
            sums[side] += weight * self.units[side];
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
    fn confirm(&self, tree: &Tree, claimed: Errors) -> Result<()> {
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

/// Trees with so many leaves; with any number, where leaves cost nothing.
pub struct LeafCount {
    pub leaves: u32,
    /// No tree here is better than the best one.
    pub closed: bool,
    /// How often something was tried here that did not close it.
    pub tries: u32,
    /// No loss here is less, and where that may be.
    pub least: f64,
    pub corner: [f64; 2],
}

pub struct State<'a, 'run> {
    pub scored: &'a Scored,
    asker: Asker<'a, 'run>,
    pub best: Candidate,
    pub fence: Fence,
    pub counts: Vec<LeafCount>,
    /// What to tell the run instead of the bounds here, which are of less deep trees.
    told: Option<(Cost, Cost)>,
}

impl<'a, 'run> State<'a, 'run> {
    fn new(scored: &'a Scored, best: Candidate, run: &'a Run<'run>) -> Self {
        let max_depth = scored.problem.shape.max_depth;
        let lessons = RefCell::new(Lessons::new(run));
        let asker = Asker { scored, max_depth, run, lessons };
        let mut state =
            State { scored, asker, best, fence: Fence::default(), counts: Vec::new(), told: None };
        let leaves = if scored.penalty.0 == 0 { 0..=0 } else { 1..=state.most_leaves() };
        let count =
            |leaves| LeafCount { leaves, closed: false, tries: 0, least: 0.0, corner: [0.0, 0.0] };
        state.counts = leaves.map(count).collect();
        state.refresh();
        state
    }

    /// The best tree of a smaller depth takes little time to find, and with a good one there is
    /// less to ask.
    fn begin(&mut self, depth: u32) -> Result<()> {
        let mut less = State::new(self.scored, self.best.clone(), self.run());
        less.asker.max_depth = Some(depth);
        less.told = Some(self.known());
        less.refresh();
        less.close()?;
        self.best = less.best;
        self.refresh();
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        match self.loss().kind {
            Kind::Ratio(ratio) => ratio::close(self, &ratio),
            Kind::Matthews => hull::close(self),
        }
    }

    /// Trees with more leaves cost more than the best one by these alone.
    fn most_leaves(&self) -> u32 {
        let shape = &self.scored.problem.shape;
        let affordable = (self.upper() / self.lambda()).min(1e9) as u32 + 1;
        let deep = shape.max_depth.filter(|&depth| depth < 31).map_or(u32::MAX, |d| 1 << d);
        let points = self.scored.problem.points.len() as u32;
        affordable.min(deep).min(points).min(shape.max_leaves.unwrap_or(u32::MAX)).max(1)
    }

    pub fn run(&self) -> &'a Run<'run> {
        self.asker.run
    }

    pub fn loss(&self) -> &'a Loss {
        &self.scored.loss
    }

    pub fn lambda(&self) -> f64 {
        self.scored.penalty.0 as f64 / self.scored.penalty.1 as f64
    }

    /// Trees of a leaf count are better than the best one if they lose less than this.
    pub fn room(&self, leaves: u32) -> f64 {
        self.upper() - self.lambda() * f64::from(leaves)
    }

    /// The same of a ratio, as a fraction.
    pub fn exact_room(&self, ratio: &super::loss::Ratio, leaves: u32) -> (i128, i128) {
        let (top, under) = ratio.parts(self.best.errors);
        let (p, q) = (i128::from(self.scored.penalty.0), i128::from(self.scored.penalty.1));
        let more = i128::from(self.best.leaves) - i128::from(leaves);
        let (top, under) =
            if p == 0 { (top, under) } else { (top * q + p * more * under, under * q) };
        let shared = super::loss::gcd_wide(top, under);
        (top / shared, under / shared)
    }

    pub fn upper(&self) -> f64 {
        self.objective(&self.best)
    }

    fn objective(&self, candidate: &Candidate) -> f64 {
        self.loss().of(candidate.errors) + self.lambda() * f64::from(candidate.leaves)
    }

    pub fn lower(&self) -> f64 {
        let open = self.counts.iter().filter(|count| !count.closed);
        let least = open.map(|count| count.least + self.lambda() * f64::from(count.leaves));
        least.fold(self.upper(), f64::min)
    }

    /// Ask, and keep what the answer says. Whether the best tree has become better.
    pub fn ask(&mut self, subproblem: Subproblem) -> Result<(Told, bool)> {
        let known = self.known();
        let told = self.asker.ask(&subproblem, known)?;
        let Subproblem { weights, penalty, max_leaves, most_missed, .. } = subproblem;
        // Where there is no tree at all there is no line, and what is told of some trees is no line
        // for all.
        if most_missed.is_none() && told.lower < INFINITE {
            self.fence.add(Line { weights, penalty, bound: told.lower, max_leaves });
        }
        let better = told.found.as_ref().filter(|found| self.is_better(&found.best));
        let improved = better.is_some();
        if let Some(better) = better {
            self.best = better.best.clone();
        }
        self.refresh();
        self.note();
        Ok((told, improved))
    }

    fn is_better(&self, candidate: &Candidate) -> bool {
        let Kind::Ratio(ratio) = self.loss().kind else {
            return self.objective(candidate) < self.upper();
        };
        // Its ratio is less than what is left for so many leaves.
        let (top, under) = ratio.parts(candidate.errors);
        let (room_top, room_under) = self.exact_room(&ratio, candidate.leaves);
        top * room_under < room_top * under
    }

    /// Close what the fence and the best tree leave no room for.
    fn refresh(&mut self) {
        for index in 0..self.counts.len() {
            let leaves = self.counts[index].leaves;
            if self.counts[index].closed {
                continue;
            }
            let (least, corner) = self.fence.least(self.loss(), leaves);
            let room = self.room(leaves);
            let count = &mut self.counts[index];
            (count.least, count.corner) = (least.max(count.least), corner);
            count.closed = room <= 0.0 || count.least >= room + BLUR;
        }
    }

    /// The known bounds, for progress.
    fn known(&self) -> (Cost, Cost) {
        if let Some(told) = self.told {
            return told;
        }
        ((self.lower() * UNITS) as Cost, (self.upper() * UNITS).ceil() as Cost)
    }

    /// Tell the run what is known.
    pub fn note(&self) {
        let (lower, upper) = self.known();
        self.run().report(lower, upper);
    }

    /// Whether there is more to do, and time for it.
    pub fn goes_on(&self) -> bool {
        self.run().stopped().is_none() && self.counts.iter().any(|count| !count.closed)
    }
}
