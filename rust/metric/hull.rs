//! Matthews' correlation: what is best lies at a corner of the convex hull of all sums that trees
//! reach.
//!
//! Without a leaf penalty, or among trees of at most so many leaves, corners of the polygon that
//! all trees lie in are cut off one by one, until none is better than the best tree. A cut goes
//! through the two points where the corner's sides cross the loss of the best tree: if no tree is
//! below, the corner is gone; else the tree that is furthest below is a corner of the hull, and
//! takes its place with two corners beside it.
//!
//! With a leaf penalty, lines with a penalty on leaves fence all leaf counts at once. Those that
//! they leave open are enumerated one by one.
//!
//! All this is true of any set of trees, so also of those that keep limits. But it speaks of
//! correlations above zero only: where limits may not leave any, see `worse.rs`.

use crate::bounds::Bound;
use crate::bounds::fence::BLUR;
use crate::bounds::hull::{Support, meet};
use crate::error::Result;
use crate::metric::ask::Subproblem;
use crate::metric::chords;
use crate::metric::loss::{Errors, Loss, reduced};
use crate::metric::state::State;
use crate::metric::worse;

/// How many lines are tried for a leaf count before it is enumerated.
const LINES: u32 = 4;

/// Weights of errors are integers of about this size.
const FINE: f64 = (1u64 << 20) as f64;

pub fn close(state: &mut State<'_, '_>) -> Result<()> {
    while state.goes_on() {
        let open = state.counts.iter().enumerate().filter(|(_, count)| !count.closed);
        let objective = |leaves: u32, least: f64| least + state.lambda() * f64::from(leaves);
        let (index, count) = open
            .min_by(|(_, a), (_, b)| {
                objective(a.leaves, a.least).total_cmp(&objective(b.leaves, b.least))
            })
            .expect("something is open");
        let leaves = count.leaves;
        let limit = (state.lambda() > 0.0).then_some(leaves);
        if state.room(leaves) > 1.0 + BLUR && count.tries == 0 {
            worse::close(state, index, limit)?;
        } else if state.lambda() > 0.0 && count.tries < LINES && leaves > 1 {
            fence_off(state, index)?;
        } else {
            state.counts[index].closed = enumerate(state, leaves, limit)?;
        }
    }
    Ok(())
}

/// A line through the level curve, near the best corner that is left.
fn fence_off(state: &mut State<'_, '_>, index: usize) -> Result<()> {
    let (leaves, before) = (state.counts[index].leaves, state.counts[index].least);
    let touch = on_curve(state.loss(), state.counts[index].corner, state.room(leaves));
    let slope = state.loss().slope(touch);
    let unit = FINE / slope[0].max(slope[1]);
    let weights = slope.map(|s| (s * unit).max(1.0) as i64);
    let penalty = (state.lambda() * unit).min(1e15) as i64;
    state.ask(Subproblem { penalty, ..Subproblem::of(weights) })?;
    let count = &mut state.counts[index];
    count.tries = if count.least > before + 1e-6 { count.tries + 1 } else { LINES };
    Ok(())
}

/// The point between a corner and the worst sums where the loss is `value`.
fn on_curve(loss: &Loss, corner: [f64; 2], value: f64) -> [f64; 2] {
    let end = [loss.positives as f64, loss.negatives as f64];
    let at = |share: f64| [0, 1].map(|i| corner[i] + share * (end[i] - corner[i]));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if loss.value(at(middle)) < value {
            low = middle;
        } else {
            high = middle;
        }
    }
    at(low)
}

/// A point of the polygon's edge; a tree, if one is known to be there.
#[derive(Debug, Clone, Copy)]
struct Point {
    at: [f64; 2],
    tree: Option<Errors>,
}

impl Point {
    fn tree(errors: Errors) -> Point {
        Point { at: [errors.missed as f64, errors.alarms as f64], tree: Some(errors) }
    }
}

/// A corner of the polygon, and the other end of either side; more missed on the right.
#[derive(Debug, Clone, Copy)]
struct Corner {
    sides: [Support; 2],
    ends: [Point; 2],
    at: [f64; 2],
    loss: f64,
}

impl Corner {
    /// `None` if there is none, or if it is a tree that is known.
    fn new(loss: &Loss, sides: [Support; 2], ends: [Point; 2]) -> Option<Corner> {
        let known = |end: &Point| end.tree.is_some_and(|t| sides.iter().all(|side| side.holds(t)));
        if ends.iter().any(known) {
            return None;
        }
        let at = meet(&sides)?;
        Some(Corner { sides, ends, at, loss: loss.value(at).min(1.0) })
    }

    /// Where a side leaves what is better than `room`, or its end.
    fn leaves(&self, side: usize, loss: &Loss, room: f64, blur: f64) -> Point {
        let end = self.ends[side];
        if loss.value(end.at) <= room + blur {
            return end;
        }
        let at =
            |share: f64| [0, 1].map(|axis| self.at[axis] + share * (end.at[axis] - self.at[axis]));
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if loss.value(at(middle)) < room + blur {
                low = middle;
            } else {
                high = middle;
            }
        }
        Point { at: at(high), tree: None }
    }
}

/// The line through two points, nearly so where they are not both trees.
fn line_through(points: [Point; 2], fine: f64) -> Support {
    let [p, q] = points;
    if let (Some(a), Some(b)) = (p.tree, q.tree) {
        return Support::through(reduced([a.alarms - b.alarms, b.missed - a.missed]), a);
    }
    let way = [p.at[1] - q.at[1], q.at[0] - p.at[0]].map(|step| step.max(0.0));
    let unit = fine / way[0].max(way[1]).max(f64::MIN_POSITIVE);
    let weights = reduced(way.map(|step| (step * unit).round() as i64));
    match p.tree.or(q.tree) {
        Some(tree) => Support::through(weights, tree),
        None => {
            let at =
                |point: Point| weights[0] as f64 * point.at[0] + weights[1] as f64 * point.at[1];
            Support { weights, bound: at(p).max(at(q)).ceil() as i64 }
        }
    }
}

/// More cuts than this: rounding keeps them from coming to an end, and chords take over.
const MOST_CUTS: usize = 40;

/// Whether nothing better than the best tree is left, among trees within the limit.
fn enumerate(state: &mut State<'_, '_>, leaves: u32, limit: Option<u32>) -> Result<bool> {
    let loss = *state.loss();
    let (p, n) = (loss.positives, loss.negatives);
    // Small enough for the kernel's lanes; cuts are off by their rounding, and meet the level that
    // much later.
    let fine = ((1i64 << 30) as f64 / (p + n) as f64).max(64.0);
    let blur = 4.0 * (p + n) as f64 / (fine * p.min(n) as f64) + 1e-9;
    let ends = [Errors { missed: 0, alarms: n }, Errors { missed: p, alarms: 0 }];
    let sides = [Support { weights: [1, 0], bound: 0 }, Support { weights: [0, 1], bound: 0 }];
    let mut corners: Vec<Corner> =
        Corner::new(&loss, sides, ends.map(Point::tree)).into_iter().collect();
    for _ in 0..if state.scored.cuts { MOST_CUTS } else { 0 } {
        let room = state.room(leaves);
        let before = corners.len();
        corners.retain(|corner| corner.loss < room + BLUR);
        state.run().add_decided(Bound::Hull, (before - corners.len()) as u64);
        let next = (0..corners.len()).min_by(|&a, &b| corners[a].loss.total_cmp(&corners[b].loss));
        let Some(next) = next else { return Ok(true) };
        if state.run().stopped().is_some() {
            return Ok(false);
        }
        let corner = corners.swap_remove(next);
        let points = [0, 1].map(|side| corner.leaves(side, &loss, room, blur));
        let cut = line_through(points, fine);
        let subproblem =
            Subproblem { max_leaves: limit, cutoff: cut.bound, ..Subproblem::of(cut.weights) };
        let (told, _) = state.ask(subproblem)?;
        let [left, right] = corner.sides;
        let mut push = |sides, ends| corners.extend(Corner::new(&loss, sides, ends));
        if told.lower >= cut.bound {
            // Where the cut meets the sides are corners too, each the end of the other's side.
            let end = |side: usize| match points[side].tree {
                Some(tree) if cut.holds(tree) => points[side],
                _ => {
                    let at = meet(&[corner.sides[side], cut]);
                    Point { at: at.unwrap_or(points[side].at), tree: None }
                }
            };
            push([left, cut], [corner.ends[0], end(1)]);
            push([cut, right], [end(0), corner.ends[1]]);
            continue;
        }
        let Some(found) = told.optimum() else {
            // Stopped before the tree was proved to be the furthest below.
            return Ok(false);
        };
        let (tree, line) = (found.cheapest, Support { weights: cut.weights, bound: told.lower });
        push([left, line], [corner.ends[0], Point::tree(tree)]);
        push([line, right], [Point::tree(tree), corner.ends[1]]);
    }
    chords::enumerate(state, leaves, limit)
}
