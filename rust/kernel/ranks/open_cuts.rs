//! The cuts that may still be at the root of a part's best tree of two levels, and what is known of
//! the best trees of one level beside each.

use std::collections::BinaryHeap;

use super::blocks::Grid;
use super::interval_bound::{Between, Edge, Item, between};
use crate::bounds::{Bound, Decisions};
use crate::cost::{Cost, INFINITE};
use crate::tree::Plan;
use crate::view::Axis;

#[derive(Default)]
pub struct OpenCuts {
    /// What the best tree of two levels costs at least.
    pub lower: Cost,
    pub upper: Cost,
    /// A tree that costs `upper`.
    pub plan: Plan,
    /// By side, axis and boundary: what the best trees of one level cost at least before it, and
    /// behind it.
    ends: [Vec<Vec<Cost>>; 2],
    /// By side: bounds on the stump along axis g beside boundary j of axis f, at (f·p + g)·width +
    /// j. None where they are not kept.
    by: [Vec<Cost>; 2],
    /// Axes: p.
    n_axes: usize,
    width: usize,
    /// Bounds on the stumps along each axis beside the cuts that were looked at: on the left, then
    /// on the right.
    kept: Vec<Cost>,
    /// All cuts that may still be below `upper`.
    open: BinaryHeap<Item<Cuts>>,
    /// What dropped the others.
    decided: Decisions,
}

/// One cut whose sides are not known exactly, or the cuts between two.
#[derive(Debug)]
pub enum Cuts {
    One(Known),
    Between(Known, Known),
}

impl Cuts {
    /// What bounds them: the cuts beside them, or blocks along other axes.
    fn bound(&self) -> Bound {
        match self {
            Cuts::One(_) => Bound::Blocks,
            Cuts::Between(..) => Bound::NeighbouringCuts,
        }
    }
}

/// A cut with bounds on both sides, and where those by axis are kept.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    pub edge: Edge,
    place: Place,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    /// In `by`: the cut is this boundary.
    Boundary(usize),
    /// In `kept`, from here on.
    Kept(usize),
}

/// What a look at a cut found.
pub struct Look {
    /// The cut, and what was known of its sides before.
    pub edge: Edge,
    /// The cut before it, or the cut itself.
    pub around: Known,
    /// Where its bounds by axis are kept.
    pub room: usize,
    /// By side: what its best tree of one level costs, if it was found, or at least.
    pub costs: [Cost; 2],
    pub found: [bool; 2],
    /// The side that all rows are on, if they are.
    pub whole: Option<usize>,
}

impl Known {
    /// The boundary that the cut is, if it is one.
    pub fn boundary(&self) -> Option<usize> {
        match self.place {
            Place::Boundary(boundary) => Some(boundary),
            Place::Kept(_) => None,
        }
    }
}

impl OpenCuts {
    /// Begin with a leaf that costs `upper`.
    pub fn start(&mut self, lower: Cost, upper: Cost) {
        self.plan = Plan::Leaf;
        self.upper = upper;
        self.lower = lower.min(upper);
        self.open.clear();
        self.kept.clear();
        self.decided = Decisions::default();
    }

    /// How often each bound dropped a cut, or the cuts between two, or left them aside up to now.
    pub fn decided(&self) -> Decisions {
        let mut decided = self.decided;
        self.open.iter().for_each(|item| decided.count(item.what.bound()));
        decided
    }

    /// Forget what was known beside boundaries. `keeps`: whether what is known by pair of axes is
    /// kept from now on.
    pub fn forget(&mut self, grid: &Grid, keeps: bool) {
        let p = grid.axes.len();
        self.n_axes = p;
        self.width = grid.axes.iter().map(|axis| axis.n() + 1).max().unwrap_or(1);
        for side in 0..2 {
            self.by[side].clear();
            self.by[side].resize(if keeps { p * p * self.width } else { 0 }, INFINITE);
            self.ends[side].clear();
            self.ends[side].extend(grid.axes.iter().map(|axis| vec![INFINITE; axis.n() + 1]));
        }
    }

    /// By boundary of axis f: what the best trees of one level on a side of it cost at least.
    pub fn ends(&mut self, side: usize, f: usize) -> &mut [Cost] {
        &mut self.ends[side][f]
    }

    /// A bound on the stumps along g on one side of boundary j of f.
    pub fn take_stumps(&mut self, side: usize, (f, g): (usize, usize), j: usize, bound: Cost) {
        if let Some(by) = self.by[side].get_mut((f * self.n_axes + g) * self.width + j) {
            *by = bound;
        }
        let end = &mut self.ends[side][f][j];
        *end = bound.min(*end);
    }

    /// Open all cuts of all axes.
    pub fn open_all(&mut self, grid: &Grid) {
        for (f, axis) in grid.axes.iter().enumerate() {
            for j in 1..axis.n() {
                let known = self.boundary(f, j, grid);
                self.push(f, Cuts::One(known), 0);
            }
            for block in (0..axis.n()).filter(|&block| axis.open[block]) {
                let (a, b) = (self.boundary(f, block, grid), self.boundary(f, block + 1, grid));
                self.push(f, Cuts::Between(a, b), 0);
            }
        }
        self.settle();
    }

    pub fn boundary(&self, f: usize, j: usize, grid: &Grid) -> Known {
        let (left, right) = (self.ends[0][f][j], self.ends[1][f][j]);
        let edge = Edge { cut: grid.axes[f].cut(j), left, right };
        Known { edge, place: Place::Boundary(j) }
    }

    /// A bound on the stumps along g on one side of a cut of f.
    pub fn bound(&self, side: usize, known: &Known, f: usize, g: usize) -> Cost {
        match known.place {
            Place::Boundary(j) => {
                let at = (f * self.n_axes + g) * self.width + j;
                self.by[side].get(at).copied().unwrap_or(0)
            }
            Place::Kept(at) => self.kept[at + side * self.n_axes + g],
        }
    }

    /// Room for bounds by side and axis beside one more cut.
    pub fn room(&mut self) -> usize {
        let at = self.kept.len();
        self.kept.resize(at + 2 * self.n_axes, 0);
        at
    }

    /// The bound in a room on the stumps along an axis on one side.
    pub fn kept(&mut self, room: usize, side: usize, axis: usize) -> &mut Cost {
        &mut self.kept[room + side * self.n_axes + axis]
    }

    fn push(&mut self, axis: usize, what: Cuts, least: Cost) {
        let bound = match &what {
            Cuts::One(known) => known.edge.bound(),
            // What the rows between can lose is far more than they do lose, or not known: only
            // what is before and behind both tells something.
            Cuts::Between(a, b) => between(&a.edge, &b.edge, INFINITE),
        };
        let bound = bound.max(least);
        match bound < self.upper {
            true => self.open.push(Item { bound, axis, what }),
            false => self.decided.count(what.bound()),
        }
    }

    /// The cuts with the least bound.
    pub fn pop(&mut self) -> Option<Item<Cuts>> {
        self.open.pop()
    }

    /// The best tree costs at least what any open cut does.
    pub fn settle(&mut self) {
        let open = self.open.peek().map_or(INFINITE, |item| item.bound);
        self.lower = self.lower.max(open.min(self.upper));
    }

    /// Take in what a look at a cut left open: `now` in place of what was `known`.
    pub fn update(&mut self, axis: usize, (known, now): (&Known, Known), exact: bool, bound: Cost) {
        if let Place::Boundary(j) = known.place {
            self.ends[0][axis][j] = now.edge.left;
            self.ends[1][axis][j] = now.edge.right;
        }
        if !exact {
            self.push(axis, Cuts::One(now), bound);
        }
    }

    /// Two cuts with what has become known of them since they were put aside. None if cuts between
    /// them have a larger bound by now: they were put aside again.
    pub fn refresh(
        &mut self,
        axis: usize,
        (mut a, mut b): (Known, Known),
        bound: Cost,
        grid: &Grid,
    ) -> Option<(Known, Known)> {
        for known in [&mut a, &mut b] {
            if let Place::Boundary(j) = known.place {
                *known = self.boundary(axis, j, grid);
            }
        }
        if between(&a.edge, &b.edge, INFINITE) > bound {
            self.push(axis, Cuts::Between(a, b), bound);
            return None;
        }
        Some((a, b))
    }

    /// Take in what a look at a cut between two others left open: the cut, and those beside it.
    pub fn divide(
        &mut self,
        axis: usize,
        (a, now, b): (Known, Known, Known),
        exact: bool,
        bound: Cost,
    ) {
        if !exact {
            self.push(axis, Cuts::One(now), bound);
        }
        self.push(axis, Cuts::Between(a, now), bound);
        self.push(axis, Cuts::Between(now, b), bound);
    }

    /// What became known of a boundary of axis f: bounds on both sides, and those on the stumps by
    /// side and axis.
    pub fn take_boundary(&mut self, f: usize, boundary: usize, edge: &Edge, bounds: &[Cost]) {
        let p = self.n_axes;
        for (side, bound) in [edge.left, edge.right].into_iter().enumerate() {
            let end = &mut self.ends[side][f][boundary];
            *end = (*end).max(bound);
            for (g, &bound) in bounds[side * p..][..p].iter().enumerate() {
                if let Some(by) = self.by[side].get_mut((f * p + g) * self.width + boundary) {
                    *by = (*by).max(bound);
                }
            }
        }
    }

    /// Put a boundary aside again with what is known of it now.
    pub fn open_boundary(&mut self, f: usize, boundary: usize, bound: Cost, grid: &Grid) {
        let known = self.boundary(f, boundary, grid);
        self.push(f, Cuts::One(known), bound);
    }

    /// As above, if more is known of it than a bound. Whether that was so.
    pub fn raise_boundary(&mut self, f: usize, boundary: usize, bound: Cost, grid: &Grid) -> bool {
        let is_more = self.boundary(f, boundary, grid).edge.bound() > bound;
        if is_more {
            self.open_boundary(f, boundary, bound, grid);
        }
        is_more
    }

    /// As `divide`, of many cuts, none of which is known exactly. `edges` and `bounds`: as above,
    /// by cut. `are_all`: there are no others between.
    pub fn divide_by_many(
        &mut self,
        axis: usize,
        (a, b): (Known, Known),
        (edges, bounds): (&[Edge], &[Cost]),
        are_all: bool,
        bound: Cost,
    ) {
        let mut before = a;
        for (&edge, bounds) in edges.iter().zip(bounds.chunks(2 * self.n_axes)) {
            // Bounds by axis are of no use where nothing is left to look at.
            if are_all && edge.bound().max(bound) >= self.upper {
                self.decided.count(Bound::Blocks);
                continue;
            }
            let known = Known { edge, place: Place::Kept(self.kept.len()) };
            self.kept.extend_from_slice(bounds);
            self.push(axis, Cuts::One(known), bound);
            if !are_all {
                self.push(axis, Cuts::Between(before, known), bound);
            }
            before = known;
        }
        if !are_all {
            self.push(axis, Cuts::Between(before, b), bound);
        }
    }

    /// Keep the tree of a cut if it is the best, and say what is known of both sides, and whether
    /// that is exact. `plan`: the tree that was found on a side.
    pub fn conclude(
        &mut self,
        axis: &Axis,
        look: Look,
        plan: impl Fn(usize) -> Plan,
    ) -> (Known, bool) {
        let Look { edge, costs, found, .. } = look;
        // With nothing on one side this is no split, but the other side's tree.
        if let Some(whole) = look.whole {
            if found[whole] && costs[whole] < self.upper {
                (self.upper, self.plan) = (costs[whole], plan(whole));
            }
            return (Known { edge, place: look.around.place }, true);
        }
        let exact = found[0] && found[1];
        let cost = costs[0] + costs[1];
        if exact && cost < self.upper {
            self.upper = cost;
            self.plan = Plan::split(axis.feature, axis.cuts[edge.cut as usize], plan(0), plan(1));
        }
        let edge =
            Edge { cut: edge.cut, left: costs[0].max(edge.left), right: costs[1].max(edge.right) };
        (Known { edge, place: Place::Kept(look.room) }, exact)
    }

    pub fn bytes(&self) -> usize {
        self.ends.iter().flatten().map(|ends| 8 * ends.capacity()).sum::<usize>()
            + self.by.iter().map(|by| 8 * by.capacity()).sum::<usize>()
            + self.open.capacity() * size_of::<Item<Cuts>>()
            + 8 * self.kept.capacity()
    }
}

/// The cut in the middle of the rows between two cuts, if there is one. `rows`: in the order of the
/// axis; `ranks`: by row.
pub fn middle(rows: &[u32], ranks: &[u32], (a, b): (&Known, &Known)) -> Option<Edge> {
    let rows = Between::new(rows, ranks, &a.edge, &b.edge)?;
    let cut = rows.cut((rows.range.start + rows.range.end - 1) / 2);
    Some(Edge { cut, left: a.edge.left, right: b.edge.right })
}
