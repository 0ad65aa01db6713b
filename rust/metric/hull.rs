//! Matthews' correlation: what is best lies at a corner of the convex hull of all sums that trees reach.
//!
//! Without a leaf penalty, or among trees of at most so many leaves, the corners are found one by one: the
//! tree that is the furthest below the chord of two of them is another, and if there is none, the chord is an
//! edge. A chord is left alone once the triangle that it closes, with the lines below its two ends, holds
//! nothing better than the best tree.
//!
//! With a leaf penalty, lines with a price on leaves fence all levels at once. What they leave open is
//! enumerated level by level.

use crate::cost::INFINITE;
use crate::error::Result;
use crate::metric::ask::Question;
use crate::metric::fence::BLUR;
use crate::metric::loss::{Errors, Loss, reduced};
use crate::metric::solve::State;

/// How many lines are tried at a level before it is enumerated.
const PRICES: u32 = 4;

/// Prices are integers of about this size.
const FINE: f64 = (1u64 << 20) as f64;

pub fn close(state: &mut State<'_, '_>) -> Result<()> {
    while state.goes_on() {
        let open = state.levels.iter().enumerate().filter(|(_, level)| !level.closed);
        let objective = |leaves: u32, least: f64| least + state.lambda() * f64::from(leaves);
        let (index, level) = open
            .min_by(|(_, a), (_, b)| {
                objective(a.leaves, a.least).total_cmp(&objective(b.leaves, b.least))
            })
            .expect("something is open");
        let leaves = level.leaves;
        if state.lambda() > 0.0 && level.tries < PRICES && leaves > 1 {
            fence_off(state, index)?;
        } else {
            let limit = (state.lambda() > 0.0).then_some(leaves);
            state.levels[index].closed = enumerate(state, leaves, limit)?;
        }
    }
    Ok(())
}

/// A line through the level curve, near the best corner that is left.
fn fence_off(state: &mut State<'_, '_>, index: usize) -> Result<()> {
    let (leaves, before) = (state.levels[index].leaves, state.levels[index].least);
    let touch = on_curve(state.loss(), state.levels[index].corner, state.room(leaves));
    let slope = state.loss().slope(touch);
    let unit = FINE / slope[0].max(slope[1]);
    let weights = slope.map(|s| (s * unit).max(1.0) as i64);
    let penalty = (state.lambda() * unit).min(1e15) as i64;
    state.ask(Question { weights, penalty, max_leaves: None, below: INFINITE })?;
    let level = &mut state.levels[index];
    level.tries = if level.least > before + 1e-6 { level.tries + 1 } else { PRICES };
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

/// weights · errors ≥ bound for all trees.
#[derive(Debug, Clone, Copy)]
struct Support {
    weights: [i64; 2],
    bound: i64,
}

/// Two corners of the hull, and a line below each; more missed on the right.
#[derive(Debug, Clone, Copy)]
struct Chord {
    ends: [Errors; 2],
    below: [Support; 2],
    /// The least loss that the triangle holds.
    least: f64,
}

impl Chord {
    fn new(loss: &Loss, ends: [Errors; 2], below: [Support; 2]) -> Self {
        let least = match meet(&below) {
            Some(corner) => loss.value(corner).min(1.0),
            None => ends.map(|end| loss.of(end)).into_iter().fold(1.0, f64::min),
        };
        Chord { ends, below, least }
    }

    /// Nothing is below the chord but its ends.
    fn is_edge(&self) -> bool {
        let [a, b] = self.ends;
        let [left, right] = self.below;
        a == b || dot(left.weights, b) == left.bound || dot(right.weights, a) == right.bound
    }
}

fn dot(weights: [i64; 2], errors: Errors) -> i64 {
    weights[0] * errors.missed + weights[1] * errors.alarms
}

fn meet(lines: &[Support; 2]) -> Option<[f64; 2]> {
    let [[a, b], [c, d]] = lines.map(|line| line.weights.map(i128::from));
    let [v, w] = lines.map(|line| i128::from(line.bound));
    let under = a * d - b * c;
    (under != 0)
        .then(|| [(v * d - b * w) as f64 / under as f64, (a * w - v * c) as f64 / under as f64])
}

/// Whether all corners that could be better than the best tree were found, among trees within the limit.
fn enumerate(state: &mut State<'_, '_>, leaves: u32, limit: Option<u32>) -> Result<bool> {
    let loss = *state.loss();
    let ends = [
        Errors { missed: 0, alarms: loss.negatives },
        Errors { missed: loss.positives, alarms: 0 },
    ];
    let below = [Support { weights: [1, 0], bound: 0 }, Support { weights: [0, 1], bound: 0 }];
    let mut chords = vec![Chord::new(&loss, ends, below)];
    loop {
        let room = state.room(leaves);
        chords.retain(|chord| !chord.is_edge() && chord.least < room + BLUR);
        let next = (0..chords.len()).min_by(|&a, &b| chords[a].least.total_cmp(&chords[b].least));
        let Some(next) = next else { return Ok(true) };
        if state.run().stopped().is_some() {
            return Ok(false);
        }
        let chord = chords.swap_remove(next);
        let [a, b] = chord.ends;
        let weights = reduced([a.alarms - b.alarms, b.missed - a.missed]);
        let below = dot(weights, a);
        let question = Question { weights, penalty: 0, max_leaves: limit, below };
        let (told, _) = state.ask(question)?;
        if told.lower >= below {
            continue;
        }
        if told.lower < told.upper {
            // Stopped before the corner was proved to be one.
            return Ok(false);
        }
        let (corner, line) = (told.cheapest, Support { weights, bound: told.lower });
        chords.push(Chord::new(&loss, [a, corner], [chord.below[0], line]));
        chords.push(Chord::new(&loss, [corner, b], [line, chord.below[1]]));
    }
}
