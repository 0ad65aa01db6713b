//! The hull's corners one by one: the tree that is the furthest below the chord of two of them is
//! another, and if there is none, the chord is an edge. A chord is left alone once the triangle
//! that it closes, with the lines below its two ends, holds nothing better than the best tree. All
//! in integers, so it comes to an end.

use crate::bounds::Bound;
use crate::bounds::fence::BLUR;
use crate::bounds::hull::{Support, dot, meet};
use crate::error::Result;
use crate::metric::ask::Subproblem;
use crate::metric::loss::{Errors, Loss, reduced};
use crate::metric::state::State;

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
        a == b || left.holds(b) || right.holds(a)
    }
}

/// Whether all corners that could be better than the best tree were found, among trees within the
/// limit.
pub fn enumerate(state: &mut State<'_, '_>, leaves: u32, limit: Option<u32>) -> Result<bool> {
    let loss = *state.loss();
    let ends = [
        Errors { missed: 0, alarms: loss.negatives },
        Errors { missed: loss.positives, alarms: 0 },
    ];
    let below = [Support { weights: [1, 0], bound: 0 }, Support { weights: [0, 1], bound: 0 }];
    let mut chords = vec![Chord::new(&loss, ends, below)];
    loop {
        let room = state.room(leaves);
        let before = chords.len();
        chords.retain(|chord| !chord.is_edge() && chord.least < room + BLUR);
        state.run().add_decided(Bound::Hull, (before - chords.len()) as u64);
        let next = (0..chords.len()).min_by(|&a, &b| chords[a].least.total_cmp(&chords[b].least));
        let Some(next) = next else { return Ok(true) };
        if state.run().stopped().is_some() {
            return Ok(false);
        }
        let chord = chords.swap_remove(next);
        let [a, b] = chord.ends;
        let weights = reduced([a.alarms - b.alarms, b.missed - a.missed]);
        let cutoff = dot(weights, a);
        let (told, _) =
            state.ask(Subproblem { max_leaves: limit, cutoff, ..Subproblem::of(weights) })?;
        if told.lower >= cutoff {
            continue;
        }
        let Some(found) = told.optimum() else {
            // Stopped before the corner was proved to be one.
            return Ok(false);
        };
        let (corner, line) = (found.cheapest, Support { weights, bound: told.lower });
        chords.push(Chord::new(&loss, [a, corner], [chord.below[0], line]));
        chords.push(Chord::new(&loss, [corner, b], [line, chord.below[1]]));
    }
}
