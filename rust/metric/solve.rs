//! The best tree for a metric: ask additive problems until a fence keeps out all that is better.
//!
//! Without a leaf penalty there is one *level*: trees of any size. With one, there is a level for each number
//! of leaves ℓ: a tree there is better than the best one, of objective U, if its loss is below U − λℓ.

use std::cell::RefCell;

use crate::check;
use crate::cost::{Cost, Scale, decimal};
use crate::data::{Column, Points};
use crate::error::{Error, Result};
use crate::metric::ask::{Asker, Candidate, Question, Told};
use crate::metric::fence::{BLUR, Fence, Line};
use crate::metric::loss::{Errors, Kind, Loss, Metric, TOO_FINE};
use crate::metric::{hull, ratio};
use crate::problem::{Problem, Shape};
use crate::run::{Run, Status};
use crate::solve::{Answer, labelled};
use crate::task::{ClassCosts, ClassInput, Scaled};
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
    classes: ClassCosts,
    positive: usize,
    units: [i64; 2],
    pub(super) loss: Loss,
    /// λ as a fraction.
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
        if (input.classes.n_classes, input.classes.n_labels) != (2, 2) || input.positive > 1 {
            return Err(Error::invalid("this objective is for two classes"));
        }
        let scaled = ClassInput { leaf_penalty: 0.0, ..input.classes.clone() }.build()?;
        let Some(classes) = scaled.task.classes().cloned() else {
            return Err(Error::invalid(TOO_FINE));
        };
        let (positive, negative) = (input.positive, 1 - input.positive);
        let units = [classes.cost(positive, negative), classes.cost(negative, positive)];
        let penalty = decimal(input.classes.leaf_penalty)
            .filter(|&(p, q)| p >= 0 && p.max(q) < 1 << 30)
            .ok_or_else(|| Error::invalid(TOO_FINE))?;
        let scaled = Scaled { leaf_cost: 0, ..scaled };
        let problem = Problem::new(columns, points, scaled, shape)?;
        let totals = problem.stats(0..problem.points.len());
        let weigh = |class: usize, unit: i64| totals[class].checked_mul(unit);
        let (p, n) = (weigh(positive, units[0]), weigh(negative, units[1]));
        let (p, n) = p.zip(n).ok_or_else(|| Error::invalid(TOO_FINE))?;
        if p == 0 || n == 0 {
            let side = if p == 0 { "positive" } else { "negative" };
            return Err(Error::invalid(format!(
                "no row of the {side} class weighs anything, so this objective is not defined"
            )));
        }
        let loss = Loss::new(input.metric, p, n)?;
        Ok(Scored { problem, classes, positive, units, loss, penalty, cuts: true })
    }

    /// The unit of progress.
    pub fn scale(&self) -> Scale {
        Scale { units: UNITS, offset: 0, slack: 0 }
    }

    /// A panic anywhere below is an error here.
    pub fn solve(&self, run: &Run) -> Result<Answer> {
        Error::guard(|| self.answer(run))
    }

    fn answer(&self, run: &Run) -> Result<Answer> {
        let mut state = State::new(self, run);
        for depth in FIRST..self.problem.shape.max_depth.unwrap_or(FIRST + 1) {
            state.begin(depth)?;
        }
        state.note();
        state.close()?;
        let (lower, upper) = (state.lower(), state.upper());
        let proved = state.levels.iter().all(|level| level.closed);
        let Candidate { plan, labels, errors, .. } = state.best;
        let tree = labelled(&self.problem, plan, &labels)?;
        self.confirm(&tree, errors)?;
        let lower_bound = match self.loss.kind {
            Kind::Ratio(_) if proved => upper,
            // Roots are rounded.
            _ => (lower.min(upper) - 16.0 * f64::EPSILON).max(0.0),
        };
        let status = match run.stopped() {
            _ if proved => Status::Optimal,
            Some(status) => status,
            None => Status::Interrupted,
        };
        let [below, above] = [lower_bound, upper].map(|x| (x * UNITS) as Cost);
        Ok(Answer {
            tree,
            objective: upper,
            lower_bound,
            status,
            seconds: run.seconds(),
            work: run.work(),
            curve: run.curve(below, above),
        })
    }

    /// The finished tree adds up to what the search says, from the points alone.
    fn confirm(&self, tree: &Tree, claimed: Errors) -> Result<()> {
        let labels = check::labels(tree, &self.problem.columns, &self.problem.points);
        let mut found = Errors { missed: 0, alarms: 0 };
        for (point, &label) in labels.iter().enumerate() {
            let weights = self.classes.weights(point);
            if label as usize == self.positive {
                found.alarms += weights[1 - self.positive] * self.units[1];
            } else {
                found.missed += weights[self.positive] * self.units[0];
            }
        }
        if found == claimed {
            return Ok(());
        }
        Err(Error::Mismatch { searched: format!("{claimed:?}"), recomputed: format!("{found:?}") })
    }
}

/// Trees with so many leaves; with any number, where leaves cost nothing.
pub struct Level {
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
    pub levels: Vec<Level>,
    /// What to tell the run instead of the bounds here, which are of less deep trees.
    told: Option<(Cost, Cost)>,
}

impl<'a, 'run> State<'a, 'run> {
    fn new(scored: &'a Scored, run: &'a Run<'run>) -> Self {
        let Scored { problem, classes, positive, units, loss, .. } = scored;
        let max_depth = problem.shape.max_depth;
        let asker = Asker {
            problem,
            classes,
            positive: *positive,
            units: *units,
            max_depth,
            run,
            learned: RefCell::default(),
        };
        let leaf = |label: usize, missed: i64, alarms: i64| Candidate {
            plan: Plan::Leaf,
            labels: vec![label as u32],
            errors: Errors { missed, alarms },
            leaves: 1,
        };
        let (yes, no) = (leaf(*positive, 0, loss.negatives), leaf(1 - positive, loss.positives, 0));
        let best = if loss.of(yes.errors) <= loss.of(no.errors) { yes } else { no };
        let mut state =
            State { scored, asker, best, fence: Fence::default(), levels: Vec::new(), told: None };
        let counts = if scored.penalty.0 == 0 { 0..=0 } else { 1..=state.most_leaves() };
        let level =
            |leaves| Level { leaves, closed: false, tries: 0, least: 0.0, corner: [0.0, 0.0] };
        state.levels = counts.map(level).collect();
        state.refresh();
        state
    }

    /// The best tree of a smaller depth takes little time to find, and with a good one there is less to ask.
    fn begin(&mut self, depth: u32) -> Result<()> {
        let mut less = State::new(self.scored, self.run());
        less.asker.max_depth = Some(depth);
        less.best = self.best.clone();
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

    /// What trees of a level may lose to be better than the best one: less than this.
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
        let open = self.levels.iter().filter(|level| !level.closed);
        let least = open.map(|level| level.least + self.lambda() * f64::from(level.leaves));
        least.fold(self.upper(), f64::min)
    }

    /// Ask, and keep what the answer says. Whether the best tree has become better.
    pub fn ask(&mut self, question: Question) -> Result<(Told, bool)> {
        let known = self.known();
        let told = self.asker.ask(&question, known, self.loss())?;
        let Question { weights, penalty, max_leaves, .. } = question;
        self.fence.add(Line { weights, penalty, bound: told.lower, max_leaves });
        let improved = self.is_better(&told.best);
        if improved {
            self.best = told.best.clone();
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
        for index in 0..self.levels.len() {
            let leaves = self.levels[index].leaves;
            if self.levels[index].closed {
                continue;
            }
            let (least, corner) = self.fence.least(self.loss(), leaves);
            let room = self.room(leaves);
            let level = &mut self.levels[index];
            (level.least, level.corner) = (least.max(level.least), corner);
            level.closed = room <= 0.0 || level.least >= room + BLUR;
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
        self.run().stopped().is_none() && self.levels.iter().any(|level| !level.closed)
    }
}
