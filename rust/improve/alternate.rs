//! A better split where both of its subtrees stay what they are.
//!
//! Each point loses something in the one subtree, and something in the other, as long as leaves
//! answer what they do: the split that sends points where they lose least is found in one walk
//! along each feature (tree alternating optimization, Carreira-Perpiñán and Tavallali 2018). Then
//! leaves answer again what is best for their points, so that the cost never rises.

use super::fit::{Room, fitted, parted};
use super::line::{Asked, Line};
use crate::ids::FeatureId;
use crate::problem::Problem;
use crate::task::Structure;
use crate::tree::Plan;

/// A plan whose leaves answer what is best for their points.
enum Answered {
    Leaf(Answer),
    Split(FeatureId, u32, Box<[Answered; 2]>),
}

enum Answer {
    Label(u32),
    /// By output.
    Means(Vec<f64>),
}

impl Answered {
    fn of(of: &Problem, plan: &Plan, points: &[u32]) -> Answered {
        let Plan::Split { feature, cut, left, right } = plan else {
            let stats = of.stats(points.iter().map(|&point| point as usize));
            return Answered::Leaf(match of.task.structure() {
                Structure::Squares(squares) => {
                    let outputs = &stats[1..=squares.n_outputs()];
                    let mean = |&sum: &i64| sum as f64 / (stats[0] as f64).max(1.0);
                    Answer::Means(outputs.iter().map(mean).collect())
                }
                _ => Answer::Label(of.task.leaf(&stats).label),
            });
        };
        let [lefts, rights] = parted(of, (*feature, *cut), points);
        let sides = [Answered::of(of, left, &lefts), Answered::of(of, right, &rights)];
        Answered::Split(*feature, *cut, Box::new(sides))
    }

    /// What a point loses here, up to what it loses under any answer.
    fn loss(&self, of: &Problem, point: u32) -> f64 {
        let point = point as usize;
        match self {
            Answered::Split(feature, cut, sides) => {
                let feature = of.features.get(feature.index());
                let side = usize::from(!feature.goes_left(&of.points, point, *cut));
                sides[side].loss(of, point as u32)
            }
            Answered::Leaf(Answer::Label(label)) => {
                of.labelled().map_or(0.0, |task| task.loss(point, *label) as f64)
            }
            Answered::Leaf(Answer::Means(means)) => {
                let Some(squares) = of.task.structure().squares() else { return 0.0 };
                let stats = squares.stats(point);
                let own = |(o, mean): (usize, &f64)| {
                    let (weight, sum) = (stats[0] as f64, stats[o + 1] as f64);
                    squares.factor(o) * mean * (weight * mean - 2.0 * sum)
                };
                means.iter().enumerate().map(own).sum()
            }
        }
    }
}

/// Whether losses are known by point and answer.
pub fn applies(of: &Problem) -> bool {
    of.labelled().is_some() || of.task.structure().squares().is_some()
}

/// The plan with better splits, from the root down, if there are any.
pub fn alternated(
    of: &Problem,
    plan: &Plan,
    points: &[u32],
    room: Room,
    goes_on: &dyn Fn() -> bool,
) -> Plan {
    let Plan::Split { feature, cut, left, right } = plan else { return Plan::Leaf };
    if !goes_on() {
        return plan.clone();
    }
    let mut split = (*feature, *cut);
    let (mut left, mut right) = ((**left).clone(), (**right).clone());
    if let Some(better) = better(of, split, [&left, &right], points, goes_on) {
        let with = |(feature, cut): (FeatureId, u32)| {
            let plan = Plan::split(feature, cut, left.clone(), right.clone());
            fitted(of, &plan, points, Room { leaves: u32::MAX, ..room })
        };
        let (before, (after, plan)) = (with(split).0, with(better));
        if after < before {
            match plan {
                Plan::Leaf => return Plan::Leaf,
                Plan::Split { feature, cut, left: a, right: b } => {
                    (split, left, right) = ((feature, cut), *a, *b);
                }
            }
        }
    }
    let [lefts, rights] = parted(of, split, points);
    let left = alternated(of, &left, &lefts, room.below(), goes_on);
    let right = alternated(of, &right, &rights, room.below(), goes_on);
    Plan::split(split.0, split.1, left, right)
}

/// Another split at which less is lost.
fn better(
    of: &Problem,
    split: (FeatureId, u32),
    plans: [&Plan; 2],
    points: &[u32],
    goes_on: &dyn Fn() -> bool,
) -> Option<(FeatureId, u32)> {
    let sides = parted(of, split, points);
    let [left, right] = [0, 1].map(|side| Answered::of(of, plans[side], &sides[side]));
    // What a point loses more on the left than on the right.
    let more: Vec<f64> =
        points.iter().map(|&point| left.loss(of, point) - right.loss(of, point)).collect();
    let rows: u64 = points.iter().map(|&point| of.points.rows(point as usize)).sum();
    let least = of.shape.min_leaf_rows.max(1);
    let mut best: Option<(f64, FeatureId, u32)> = None;
    let (mut asked, mut line) = (Asked::default(), Line::default());
    for (index, feature) in of.features.iter().enumerate() {
        if !asked.goes_on(points.len(), goes_on) {
            break;
        }
        line.fill(of, feature, points, (1, &more));
        let (mut sum, mut lefts) = (0.0, 0);
        for (&(rank, own), lost) in line.ranks.iter().zip(&line.sums) {
            sum += lost;
            lefts += own;
            if rows - lefts < least {
                break;
            }
            if own > 0 && lefts >= least && best.is_none_or(|best| sum < best.0) {
                best = Some((sum, FeatureId::from(index), rank));
            }
        }
    }
    best.map(|(_, feature, cut)| (feature, cut)).filter(|&best| best != split)
}
