//! What stumps on both sides of a cut lose at least, by their axis: beside the boundaries of
//! blocks, and beside every cut that was looked at.
//!
//! Statement: for cuts a < t < b of one axis, the stumps along an axis g lose on the left of t at
//! least what they lose on the left of a, and what they lose on the left of b less the worst losses
//! between t and b; on the right likewise, turned around.
//!
//! Proof: `bounds::neighbouring_cuts`, with stumps along g as the trees. A leaf counts as a stump
//! with nothing on one side, so a bound is never more than what a leaf loses: without it, a side
//! that g does not split would lose more than a larger one that it does.

use super::unit::Unit;
use crate::kernel::ranks::interval_bound::Edge;

/// A cut with bounds on both sides, and where those by axis are kept.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    pub edge: Edge,
    pub place: Place,
}

#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// This boundary of the axis.
    Boundary(usize),
    /// Among the cuts that were looked at, from here on.
    Looked(usize),
}

/// Two cuts that a third one lies between, and the worst losses from the one to it, and from it to
/// the other. For a cut that is known itself both are this one, with nothing between.
pub struct Around<T> {
    pub places: [Place; 2],
    pub lost: [T; 2],
}

impl<T: Unit> Around<T> {
    pub fn itself(place: Place) -> Self {
        Around { places: [place; 2], lost: [T::default(); 2] }
    }
}

#[derive(Default)]
pub struct Stumped<T> {
    /// By side: along axis g beside boundary j of axis f, at (f·p + g)·width + j. None where they
    /// are not kept.
    boundaries: [Vec<T>; 2],
    /// By cut, then side, then axis.
    looked: Vec<T>,
    /// Axes: p.
    n_axes: usize,
    width: usize,
}

impl<T: Unit> Stumped<T> {
    /// Nothing is known of `n_axes` axes with up to `width` boundaries each. `keeps`: whether what
    /// is learned beside boundaries is kept.
    pub fn begin(&mut self, n_axes: usize, width: usize, keeps: bool) {
        (self.n_axes, self.width) = (n_axes, width);
        for boundaries in &mut self.boundaries {
            boundaries.clear();
            boundaries.resize(if keeps { n_axes * n_axes * width } else { 0 }, T::default());
        }
        self.looked.clear();
    }

    fn at(&self, (f, g): (usize, usize), boundary: usize) -> usize {
        (f * self.n_axes + g) * self.width + boundary
    }

    /// Along axis `g`, by boundary of axis `f` from the `first` on.
    pub fn take_boundaries(
        &mut self,
        side: usize,
        pair: (usize, usize),
        first: usize,
        bounds: &[T],
    ) {
        let at = self.at(pair, first);
        if let Some(known) = self.boundaries[side].get_mut(at..at + bounds.len()) {
            known.copy_from_slice(bounds);
        }
    }

    /// A place for one more cut.
    pub fn place(&mut self) -> Place {
        let at = self.looked.len();
        self.looked.resize(at + 2 * self.n_axes, T::default());
        Place::Looked(at)
    }

    /// Along axis `g`, on one side of a cut of axis `f`: 0 where nothing is kept.
    #[inline(always)]
    pub fn get(&self, side: usize, (f, g): (usize, usize), place: Place) -> T {
        match place {
            Place::Boundary(j) => {
                self.boundaries[side].get(self.at((f, g), j)).copied().unwrap_or_default()
            }
            Place::Looked(at) => self.looked[at + side * self.n_axes + g],
        }
    }

    pub fn set(&mut self, side: usize, (f, g): (usize, usize), place: Place, bound: T) {
        match place {
            Place::Boundary(j) => self.take_boundaries(side, (f, g), j, &[bound]),
            Place::Looked(at) => self.looked[at + side * self.n_axes + g] = bound,
        }
    }

    /// Along axis `g`, on both sides of a cut of axis `f` between two that are known.
    #[inline(always)]
    pub fn between(&self, pair: (usize, usize), around: &Around<T>) -> [T; 2] {
        let ([a, b], [before, after]) = (around.places, around.lost);
        [
            self.get(0, pair, a).max(self.get(0, pair, b) - after),
            self.get(1, pair, b).max(self.get(1, pair, a) - before),
        ]
    }

    pub fn bytes(&self) -> usize {
        let boundaries: usize = self.boundaries.iter().map(Vec::capacity).sum();
        (boundaries + self.looked.capacity()) * size_of::<T>()
    }
}
