//! The best tree for a loss of the confusion matrix.
//!
//! First come good trees: the most accurate one, and then, as long as trees become better, those
//! that slopes of the loss at the best tree favour. Then the plane below all better trees is
//! searched as an additive problem. If the bounds do not meet, fronts are searched.

use super::input::MatrixMetric;
use super::loss::MOST_SUMS;
use super::plane::Plane;
use super::problem::MatrixProblem;
use super::values::Values;
use crate::answer::{Answer, conclude, confirm_paths, exactly};
use crate::bounds::Bound;
use crate::check;
use crate::cost::{Cost, INFINITE};
use crate::error::{Error, Result};
use crate::finish::labelled;
use crate::pareto::{dot, scalar};
use crate::problem::Problem;
use crate::route::Route;
use crate::run::Run;
use crate::search::common::sync::AtomicI64;
use crate::search::fronts::{self, BestTree, Start};
use crate::task::FeatureCosts;
use crate::tree::{Plan, Tree};

/// How many trees are looked for along slopes, and how many planes are searched.
const SLOPES: usize = 8;
const PLANES: usize = 4;

/// All rows cost about this at most along a slope.
const STEEP: f64 = (1u64 << 50) as f64;

impl MatrixProblem {
    /// The best tree; a panic anywhere below is an error.
    pub fn solve(&self, run: &Run) -> Result<Answer> {
        Error::guard(|| match self.loss.adds.len() {
            ..=4 => self.answer::<4>(run),
            5..=6 => self.answer::<6>(run),
            7..=8 => self.answer::<8>(run),
            9..=12 => self.answer::<12>(run),
            13..=20 => self.answer::<20>(run),
            _ => self.answer::<MOST_SUMS>(run),
        })
    }

    fn answer<const N: usize>(&self, run: &Run) -> Result<Answer> {
        let mut search = Search::<N> { of: self, run, best: None, lower: 0 };
        search.begin()?;
        search.follow_slopes(self.errors())?;
        let plane = search.raise_planes()?;
        if search.goes_on() {
            search.fronts(plane)?;
        }
        let Search { best, lower, .. } = search;
        let best = best.expect("a leaf is a tree");
        let tree = labelled(&self.problem, best.plan, &best.labels)?;
        confirm_paths(&self.problem, &tree)?;
        let (loss, spent) = self.confirmed(&tree, best.cost)?;
        let lower = lower.min(best.cost);
        let mut answer = conclude(tree, Route::Fronts, (lower, best.cost), self.scale(), run);
        let penalties = self.leaf_penalty * f64::from(best.labels.len() as u32);
        answer.objective = loss + penalties + spent as f64 / self.units.per_one;
        answer.lower_bound = answer.lower_bound.min(answer.objective);
        exactly::close(&mut answer);
        let size = (answer.objective - self.units.least).max(1.0 / self.units.per_one);
        // A unit for the loss, and one for each leaf.
        let rounded = (best.labels.len() as f64 + 32.0) / self.units.per_one;
        Ok(exactly::ended(answer, rounded.max(exactly::TOLERANCE * size), run))
    }

    /// The share of rows with a wrong label, by class and label.
    fn errors(&self) -> Vec<f64> {
        let k = self.by_class.len();
        let all: f64 = self.loss.totals.iter().map(|&total| total as f64).sum();
        (0..k * k).map(|at| f64::from(u8::from(at / k != at % k)) / all).collect()
    }

    /// The loss of the finished tree, and what its tests cost in units, from the points alone.
    fn confirmed(&self, tree: &Tree, claimed: Cost) -> Result<(f64, Cost)> {
        let k = self.by_class.len();
        let mut sums = vec![0; self.loss.adds.len()];
        let labels = check::labels(tree, &self.problem.columns, &self.problem.points);
        for (point, &label) in labels.iter().enumerate() {
            for (sum, adds) in sums.iter_mut().zip(&self.loss.adds) {
                *sum += dot(self.classes.weights(point), adds, k, label as usize);
            }
        }
        let loss = self.loss.of(&sums);
        let (columns, points) = (&self.problem.columns, &self.problem.points);
        let spent = self.problem.feature_costs.as_ref();
        let spent = spent.map_or(0, |costs| check::spent(tree, columns, points, costs));
        let found = self.units.of(loss) + self.leaf_cost * tree.n_leaves() as Cost + spent;
        check::confirm(claimed, found)?;
        Ok((loss, spent))
    }
}

/// A plane in whole units, and the additive problem that it is.
struct Relaxed {
    costs: Vec<Cost>,
    start: Cost,
    /// The plane itself, by class and label; zeros where there is none.
    slopes: Vec<f64>,
    has_plane: bool,
    problem: Problem,
}

/// The best tree so far, and a bound that no tree is below.
struct Search<'a, 'run, const N: usize> {
    of: &'a MatrixProblem,
    run: &'a Run<'run>,
    best: Option<BestTree>,
    lower: Cost,
}

impl<const N: usize> Search<'_, '_, N> {
    fn upper(&self) -> Cost {
        self.best.as_ref().map_or(INFINITE, |best| best.cost)
    }

    fn goes_on(&self) -> bool {
        self.lower < self.upper() && self.run.stopped().is_none()
    }

    fn values<'v>(&'v self, costs: &'v [Cost], (start, has_plane): (Cost, bool)) -> Values<'v, N> {
        let of = self.of;
        Values {
            loss: &of.loss,
            units: of.units,
            leaf_cost: of.leaf_cost,
            costs,
            start,
            has_plane,
            counts_leaves: of.leaf_cost > 0 || of.problem.shape.max_leaves.is_some(),
            upper: AtomicI64::new(self.upper()),
        }
    }

    /// The best single leaf: its labels are all tried.
    fn begin(&mut self) -> Result<()> {
        let k = self.of.by_class.len();
        for label in 0..k {
            let cost = |at: usize| if at % k == label { 0.0 } else { 1.0 };
            let slopes: Vec<f64> = (0..k * k).map(cost).collect();
            self.label(Plan::Leaf, &slopes)?;
        }
        Ok(())
    }

    /// Keep a tree with good labels, if it is better; whether it is. The labels are those that cost
    /// least along slopes by class and label, and are then changed one by one as long as that
    /// helps.
    fn label(&mut self, plan: Plan, slopes: &[f64]) -> Result<bool> {
        let of = self.of;
        let k = of.by_class.len();
        let leaves = scalar::leaves(&of.problem, &plan);
        let own = |weights: &[i64], label: usize| -> Vec<i64> {
            of.loss.adds.iter().map(|adds| dot(weights, adds, k, label)).collect()
        };
        let slope = |weights: &[i64], label: usize| -> f64 {
            let units = weights.iter().zip(&of.by_class).map(|(w, unit)| (w * unit) as f64);
            units.zip(slopes.iter().skip(label).step_by(k)).map(|(w, slope)| w * slope).sum()
        };
        let cheapest = |weights: &Vec<i64>| {
            let cost = |label: &usize| slope(weights, *label);
            (0..k).min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(0)
        };
        let mut labels: Vec<usize> = leaves.iter().map(cheapest).collect();
        let mut sums = vec![0; of.loss.adds.len()];
        let add = |sums: &mut [i64], more: &[i64], sign: i64| {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += sign * more);
        };
        for (weights, &label) in leaves.iter().zip(&labels) {
            add(&mut sums, &own(weights, label), 1);
        }
        let mut cost = of.units.of(of.loss.of(&sums));
        let mut improves = leaves.len() > 1;
        while improves {
            improves = false;
            for (at, weights) in leaves.iter().enumerate() {
                if self.run.check_time().is_some() {
                    break;
                }
                for label in 0..k {
                    let mut other = sums.clone();
                    add(&mut other, &own(weights, labels[at]), -1);
                    add(&mut other, &own(weights, label), 1);
                    let changed = of.units.of(of.loss.of(&other));
                    if changed < cost {
                        (cost, sums, labels[at], improves) = (changed, other, label, true);
                    }
                }
            }
        }
        if let Some(error) = of.loss.failure() {
            return Err(error);
        }
        let spent = scalar::spent(&of.problem, &plan)?;
        let cost = cost + of.leaf_cost * labels.len() as Cost + spent;
        let is_better = cost < self.upper();
        if is_better {
            let labels = labels.into_iter().map(|label| label as u32).collect();
            self.best = Some(BestTree { cost, plan, labels });
        }
        self.run.report(self.lower.min(self.upper()), self.upper());
        Ok(is_better)
    }

    /// The sums of the best tree.
    fn best_sums(&self) -> Vec<i64> {
        let of = self.of;
        let best = self.best.as_ref().expect("a leaf is a tree");
        let mut sums = vec![0; of.loss.adds.len()];
        for (weights, &label) in scalar::leaves(&of.problem, &best.plan).iter().zip(&best.labels) {
            for (sum, adds) in sums.iter_mut().zip(&of.loss.adds) {
                *sum += dot(weights, adds, of.by_class.len(), label as usize);
            }
        }
        sums
    }

    /// Good trees to begin with, from these costs by class and label on.
    fn follow_slopes(&mut self, mut slopes: Vec<f64>) -> Result<()> {
        for _ in 0..SLOPES {
            if !self.goes_on() {
                return Ok(());
            }
            let problem = self.additive(&slopes)?;
            let found = scalar::solve(&problem, self.run, self.lower, self.upper())?;
            if !self.label(found.plan, &slopes)? {
                return Ok(());
            }
            let Some(next) = Plane::tangent(&self.of.loss, &self.best_sums()) else {
                return Ok(());
            };
            slopes = next;
        }
        Ok(())
    }

    /// An additive problem of these costs by class and label, with the penalty of the loss, in
    /// units of its own.
    fn additive(&self, slopes: &[f64]) -> Result<Problem> {
        let of = self.of;
        let k = of.by_class.len();
        let most = |class: usize| slopes[class * k..][..k].iter().copied().fold(0.0, f64::max);
        let total: f64 = (0..k).map(|class| of.loss.totals[class] as f64 * most(class)).sum();
        let penalty = of.leaf_penalty * of.problem.points.len() as f64;
        let everything = of.problem.feature_costs.as_ref().map_or(0, FeatureCosts::everything);
        let everything = everything as f64 / of.units.per_one;
        let unit = STEEP / (total + penalty + everything).max(f64::MIN_POSITIVE.sqrt());
        let whole = |at: usize| (slopes[at] * of.by_class[at / k] as f64 * unit) as Cost;
        let costs = of.of_all_classes((0..k * k).map(whole).collect());
        let leaf_cost = (of.leaf_penalty * unit) as Cost;
        let shape = of.problem.shape;
        let mut problem = scalar::problem(&of.problem, &of.classes, costs, leaf_cost, shape)?;
        problem.feature_costs = of.problem.feature_costs.as_ref().map(|paid| {
            let times = unit / of.units.per_one;
            let of_class =
                paid.of_class.iter().map(|&mass| (mass as f64 * times) as Cost).collect();
            paid.clone().of_classes(&of.classes, of_class)
        });
        Ok(problem)
    }

    /// The plane below all trees that are better than the best one, which is searched for a bound.
    fn raise_planes(&mut self) -> Result<Option<Relaxed>> {
        if matches!(self.of.loss.metric(), MatrixMetric::Matthews) && self.is_uncorrelated() {
            self.correlate()?;
        }
        for _ in 0..PLANES {
            if !self.goes_on() {
                return Ok(None);
            }
            let Some(relaxed) = self.relaxed()? else { return Ok(None) };
            let (run, upper) = (self.run, self.upper());
            let found = scalar::solve(&relaxed.problem, run, self.lower, upper)?;
            let values = self.values(&relaxed.costs, (relaxed.start, true));
            let bound = fronts::Front::at_least(&values, found.lower);
            self.lower = self.lower.max(bound.min(upper));
            if self.lower >= upper {
                run.decided(Bound::Completion);
            }
            if !self.label(found.plan, &relaxed.slopes)? {
                return Ok(Some(relaxed));
            }
        }
        self.relaxed()
    }

    /// Whether no tree is known that is better than a leaf, which has no correlation.
    fn is_uncorrelated(&self) -> bool {
        self.best.as_ref().is_none_or(|best| best.plan == Plan::Leaf)
    }

    /// Find a tree of positive correlation, or that there is none.
    fn correlate(&mut self) -> Result<()> {
        let of = self.of;
        let k = of.by_class.len();
        let Some((costs, spread)) = Plane::of_correlation(&of.loss.totals) else { return Ok(()) };
        let slopes: Vec<f64> = costs.iter().map(|&cost| cost as f64).collect();
        let costs = (0..k * k).map(|at| costs[at] * of.by_class[at / k]).collect();
        let costs = of.of_all_classes(costs);
        let problem = scalar::problem(&of.problem, &of.classes, costs, 0, of.problem.shape)?;
        let found = scalar::solve(&problem, self.run, self.lower, self.upper())?;
        self.label(found.plan, &slopes)?;
        if self.is_uncorrelated() && found.lower >= spread {
            self.run.decided(Bound::Completion);
            self.lower = self.upper();
        }
        match Plane::tangent(&of.loss, &self.best_sums()) {
            Some(slopes) => self.follow_slopes(slopes),
            None => Ok(()),
        }
    }

    /// The plane for the best tree that is known.
    fn relaxed(&self) -> Result<Option<Relaxed>> {
        let of = self.of;
        // All trees of one leaf are known, and units are rounded down.
        let room = (self.upper() - 2 * of.leaf_cost + 4).max(0) as f64 / of.units.per_one;
        let plane = of.plane.then(|| Plane::new(&of.loss, of.units.least + room)).flatten();
        let Some(Plane { start, costs: slopes }) = plane else { return Ok(None) };
        let k = of.by_class.len();
        let unit = of.units.per_one * (1.0 - 1e-12);
        let whole = |at: usize| (slopes[at] * of.by_class[at / k] as f64 * unit) as Cost;
        let costs: Vec<Cost> = (0..k * k).map(whole).collect();
        let problem = of.with_costs(&costs)?;
        let start = (start * of.units.per_one).floor() as Cost;
        Ok(Some(Relaxed { costs, start, slopes, has_plane: true, problem }))
    }

    /// Look through all values that may be better.
    fn fronts(&mut self, plane: Option<Relaxed>) -> Result<()> {
        let of = self.of;
        if of.has_whole_front() {
            let (found, lower) = of.of_whole_front((self.lower, self.upper()), self.run)?;
            if let Some(error) = of.loss.failure() {
                return Err(error);
            }
            let better = found.filter(|found| found.cost < self.upper());
            self.best = better.or(self.best.take());
            self.lower = self.lower.max(lower.min(self.upper()));
            return Ok(());
        }
        let relaxed = match plane {
            Some(relaxed) => relaxed,
            None => {
                let costs = vec![0; of.by_class.len().pow(2)];
                let problem = of.with_costs(&costs)?;
                Relaxed { costs, start: 0, slopes: Vec::new(), has_plane: false, problem }
            }
        };
        let values = self.values(&relaxed.costs, (relaxed.start, relaxed.has_plane));
        let upper = self.upper();
        let start = Start { upper, lower: self.lower, shown: upper };
        let found = fronts::solve(&relaxed.problem, &values, start, self.run)?;
        if let Some(error) = of.loss.failure() {
            return Err(error);
        }
        self.best = found.0.or(self.best.take());
        self.lower = self.lower.max(found.1);
        Ok(())
    }
}
