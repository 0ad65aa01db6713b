//! The largest area under the ROC convex hull, or under its part of low false positive rates, less
//! λ for each leaf.
//!
//! Each relaxation (`area`) belongs to a reference curve, and its best tree has a curve of its own.
//! Whoever chooses the curve wants the bound low, whoever chooses the tree wants it high: a game,
//! played by answering the average of all that the other one did. The trees are good ones, and the
//! tightest bound is what the front search gets.

use std::sync::Arc;

use super::area::{Area, shares};
use super::curves::{Curves, Statistics};
use super::refined_area::{self, First};
use super::scalar;
use super::segments::{Segment, curve, sorted};
use super::sums::Relaxed;
use crate::answer::{Answer, conclude, confirm_paths, exactly};
use crate::bounds::Bound;
use crate::check;
use crate::context::Context;
use crate::cost::{Cost, Scale};
use crate::data::{Column, Points};
use crate::error::{Error, Result};
use crate::exact::{Ratio, Total};
use crate::finish::grow;
use crate::problem::{Problem, Shape};
use crate::route::Route;
use crate::run::{Run, Status};
use crate::search::fronts::{self, Start};
use crate::task::{ClassCosts, ClassInput};
use crate::tree::{Plan, Tree};

/// Rounds of the game.
const ROUNDS: usize = 24;

/// It ends when the gap has not become smaller by one part in STEP for so many rounds.
const STALE: usize = 2;
const STEP: Cost = 16;

/// Slopes of a reference: more of them cost time in every look.
const MOST_PIECES: usize = 12;

/// Two classes, and what of the curve counts.
pub struct Roc {
    /// With the loss of accuracy, for what nodes show.
    pub problem: Problem,
    /// Negatives and positives.
    classes: ClassCosts,
    area: Area,
    /// The weights as they were given, by point, if they are rounded.
    weights: Vec<f64>,
    leaf_penalty: f64,
    /// A switch for tests: off, the front search begins with the first relaxation and no tree.
    pub game: bool,
}

impl Roc {
    /// `weights` by point: of both classes, of which `positive` is the number of the positive one.
    /// `most`: the largest false positive rate that counts.
    pub fn new(
        columns: Vec<Column>,
        points: Points,
        weights: Vec<f64>,
        positive: usize,
        most: f64,
        leaf_penalty: f64,
        shape: Shape,
    ) -> Result<Roc> {
        let mut input = ClassInput {
            n_classes: 2,
            n_labels: 2,
            weights,
            costs: vec![0.0, 1.0, 1.0, 0.0],
            class_weights: vec![1.0; 2],
            balanced: false,
            leaf_penalty,
        };
        let problem = Problem::new(columns, points, input.build()?, shape)?;
        if positive == 0 {
            input.weights.chunks_exact_mut(2).for_each(|point| point.swap(0, 1));
        }
        let (classes, area) = exact(&input, most).or_else(|error| rounded(&input, most, error))?;
        let weights = if area.is_rounded { input.weights } else { Vec::new() };
        Ok(Roc { problem, classes, area, weights, leaf_penalty, game: true })
    }

    /// This problem, with trees that keep to a context too.
    pub fn with_context(mut self, context: Arc<dyn Context>) -> Result<Self> {
        self.problem = self.problem.with_context(context)?;
        Ok(self)
    }

    pub fn scale(&self) -> Scale {
        self.area.scale()
    }

    /// A panic anywhere below is an error here.
    pub fn solve(&self, run: &Run) -> Result<Answer> {
        Error::guard(|| self.answer(run))
    }

    fn answer(&self, run: &Run) -> Result<Answer> {
        let Played { mut best, mut lower, relaxed, reference } = self.play(run)?;
        if lower < best.0 && run.stopped().is_none() {
            let front = self.front(&relaxed);
            let problem = self.relaxed_problem(&relaxed)?;
            // Without the game nothing is known.
            let upper = if self.game { best.0 } else { best.0 + 1 };
            let start = Start { upper, lower, shown: upper };
            let (found, proved) = fronts::solve(&problem, &front, start, run)?;
            lower = proved;
            if let Some(found) = found {
                best = (found.cost, found.plan);
            }
        }
        let (cost, plan) = best;
        let tree = grow(&self.problem, plan)?;
        check::confirm(cost, self.recompute(&tree))?;
        let bounds = (lower.min(cost), cost);
        let mut answer = conclude(tree, Route::Fronts, bounds, self.scale(), run);
        let exact = self.real_objective(&answer.tree);
        let same = answer.status == Status::Optimal && self.scale().slack == 0;
        answer.objective = exact.nearest();
        answer.lower_bound = match same {
            true => answer.objective,
            false => answer.lower_bound.min(exact.float_below()),
        };
        exactly::close(&mut answer);
        confirm_paths(&self.problem, &answer.tree)?;
        // Areas are shares of 1.
        let wide = answer.objective - answer.lower_bound > exactly::TOLERANCE;
        if wide && answer.status == Status::Optimal && self.area.is_rounded {
            self.refine(&mut answer, exact, &reference, run)?;
        }
        Ok(exactly::ended(answer, exactly::TOLERANCE, run))
    }

    /// A better tree, or bound, from finer weights.
    fn refine(
        &self,
        answer: &mut Answer,
        exact: Ratio,
        reference: &[Segment],
        run: &Run,
    ) -> Result<()> {
        let first = First {
            area: &self.area,
            weights: &self.weights,
            leaf_penalty: self.leaf_penalty,
            reference,
            tree: &answer.tree,
            lower: answer.lower_bound,
        };
        let refined = refined_area::refine(&self.problem, &first, run)?;
        let Some((tree, lower)) = refined else { return Ok(()) };
        let objective = |tree: Tree| (self.real_objective(&tree), tree);
        let better = tree.map(objective).filter(|(now, _)| *now < exact);
        let exact = match better {
            Some((now, tree)) => {
                confirm_paths(&self.problem, &tree)?;
                answer.tree = tree;
                now
            }
            None => exact,
        };
        answer.objective = exact.nearest();
        answer.lower_bound = answer.lower_bound.max(lower).min(exact.float_below());
        (answer.seconds, answer.work) = (run.seconds(), run.work());
        exactly::close(answer);
        Ok(())
    }

    fn play(&self, run: &Run) -> Result<Played> {
        let whole = vec![self.area.totals];
        let mut best = (self.area.cost(&whole, 1), Plan::Leaf);
        let mut relaxed = (self.area.relax(&whole), whole.clone());
        let mut lower = self.area.leaf_cost;
        let mut bound = Cost::MIN;
        // All segments that were played.
        let mut played: Vec<Segment> = Vec::new();
        let (mut reference, mut stale) = (whole, 0);
        for _ in 0..if self.game { ROUNDS } else { 0 } {
            let tried = self.area.relax(&reference);
            let problem = self.relaxed_problem(&tried)?;
            let gap = best.0 - lower;
            let found = scalar::solve(&problem, run, lower.min(best.0), best.0)?;
            let proved = tried.at_least(found.lower);
            if proved > bound {
                (bound, relaxed) = (proved, (tried, reference.clone()));
                lower = lower.max(proved);
            }
            let leaves = scalar::leaves(&problem, &found.plan);
            let curve = curve(&leaves);
            let cost = self.area.cost(&curve, leaves.len() as u32);
            if cost < best.0 {
                best = (cost, found.plan);
            }
            if lower >= best.0 {
                run.decided(Bound::Area);
            }
            if lower >= best.0 || run.report(lower.min(best.0), best.0).is_some() {
                break;
            }
            stale = if best.0 - lower < gap - gap / STEP { 0 } else { stale + 1 };
            if stale == STALE {
                break;
            }
            played.extend(curve);
            let next = shortened(&played);
            if next == reference {
                break;
            }
            reference = next;
        }
        lower = lower.min(best.0);
        let (relaxed, reference) = relaxed;
        Ok(Played { best, lower, relaxed, reference })
    }

    fn front<'a>(&'a self, relaxed: &'a Relaxed) -> Curves<'a> {
        Curves {
            area: &self.area,
            totals: self.area.totals,
            relaxed,
            n_labels: relaxed.costs.len() / 2,
            statistics: Statistics::Weights,
            few_leaves: self.problem.shape.max_leaves.is_some(),
        }
    }

    fn relaxed_problem(&self, relaxed: &Relaxed) -> Result<Problem> {
        let leaf_cost = self.area.leaf_cost * relaxed.scale;
        let shape = self.problem.shape;
        scalar::problem(&self.problem, &self.classes, relaxed.costs.clone(), leaf_cost, shape)
    }

    /// The objective in the weights as they were given.
    fn real_objective(&self, tree: &Tree) -> Ratio {
        let mut at = vec![None; tree.nodes.len()];
        let leaves = check::leaves(tree, &self.problem.columns, &self.problem.points);
        for (point, leaf) in leaves.into_iter().enumerate() {
            let sums: &mut [Total; 2] = at[leaf].get_or_insert_with(Default::default);
            for (side, sum) in sums.iter_mut().enumerate() {
                match self.weights.get(2 * point + side) {
                    Some(&weight) => sum.add(weight),
                    None => sum.add_whole(self.classes.weights(point)[side], 0),
                }
            }
        }
        let leaves = at.into_iter().flatten().map(|sums| sums.map(|sum| sum.ratio())).collect();
        let penalty = Ratio::written(self.leaf_penalty);
        &self.area.real_loss(leaves) + &(&penalty * &Ratio::from(tree.n_leaves() as i64))
    }

    /// The finished tree's cost, from the points alone.
    fn recompute(&self, tree: &Tree) -> Cost {
        let mut at = vec![vec![0, 0]; tree.nodes.len()];
        let leaves = check::leaves(tree, &self.problem.columns, &self.problem.points);
        for (point, leaf) in leaves.into_iter().enumerate() {
            for (sum, weight) in at[leaf].iter_mut().zip(self.classes.weights(point)) {
                *sum += weight;
            }
        }
        self.area.cost(&curve(&at), tree.n_leaves() as u32)
    }
}

/// What the game finds: the best tree, what is proved, and the relaxation that proves most, with
/// its reference.
struct Played {
    best: (Cost, Plan),
    lower: Cost,
    relaxed: Relaxed,
    reference: Vec<Segment>,
}

/// Weights as integers of one unit.
fn exact(input: &ClassInput, most: f64) -> Result<(ClassCosts, Area)> {
    let scaled = ClassInput { leaf_penalty: 0.0, ..input.clone() }.build()?;
    let exact = |_: &&ClassCosts| scaled.scale.slack == 0;
    let Some(classes) = scaled.task.structure().classes().filter(exact).cloned() else {
        return Err(Error::invalid(
            "areas are compared exactly: round leaf_penalty to a few decimals, and sample weights to \
             be of more equal size",
        ));
    };
    let mut totals = [0, 0];
    for point in 0..classes.n_points() {
        for (total, weight) in totals.iter_mut().zip(classes.weights(point)) {
            *total += weight;
        }
    }
    if totals.contains(&0) {
        return Err(Error::invalid("the area under the curve needs rows of both classes"));
    }
    let area = Area::new((totals[0], totals[1]), most, input.leaf_penalty)?;
    Ok((classes, area))
}

/// The least bits of each class's total that are tried, and the most.
const BITS: (u32, u32) = (12, 26);

/// Weights as shares of their class, on the finest grid that areas can be compared on. If there is
/// none, what the coarsest one lacks.
fn rounded(input: &ClassInput, most: f64, mut error: Error) -> Result<(ClassCosts, Area)> {
    for bits in (BITS.0..=BITS.1).rev() {
        let Some((weights, off)) = shares(&input.weights, bits) else { break };
        match exact(&ClassInput { weights, ..input.clone() }, most) {
            Ok((classes, area)) => return Ok((classes, area.rounded(off))),
            Err(lacks) => error = lacks,
        }
    }
    Err(error)
}

/// The average of curves with not too many slopes: neighbours that together are least become one.
fn shortened(segments: &[Segment]) -> Vec<Segment> {
    let mut curve = sorted(&mut segments.to_vec());
    let triangle = |pair: &[Segment]| {
        let [(n, p), (m, q)] = [pair[0], pair[1]];
        i128::from(p) * i128::from(m) - i128::from(q) * i128::from(n)
    };
    while curve.len() > MOST_PIECES {
        let least = (0..curve.len() - 1).min_by_key(|&at| triangle(&curve[at..at + 2]));
        let at = least.expect("there are two");
        let (n, p) = curve.remove(at + 1);
        curve[at] = (curve[at].0 + n, curve[at].1 + p);
    }
    curve
}
