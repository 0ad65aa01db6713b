//! Cuts that are looked at together, and what becomes of them: those between two others, and
//! boundaries of blocks.

use super::together::{AT_ONCE, Cuts, Lanes};
use super::two::{Question, Two, floor};
use crate::bits::Level;
use crate::cost::Cost;
use crate::kernel::ranks::interval_bound::{Between, Edge};
use crate::kernel::ranks::open_cuts::Known;

/// Fewer cuts between two others are looked at one by one.
const FEWEST_CUTS: usize = 3;

/// Some cuts of an axis.
struct Chosen {
    /// The last ranks left of them, as often as there are lanes.
    cuts: Lanes<u32>,
    n: usize,
    /// How many rows are left of the first of them, and of the last.
    ends: [usize; 2],
}

impl Chosen {
    /// Cuts between two others that are about as many rows apart, and whether these are all; none
    /// if there are few.
    fn between(rows: &[u32], ranks: &[u32], (a, b): (&Edge, &Edge)) -> Option<(Chosen, bool)> {
        let between = Between::new(rows, ranks, a, b)?;
        let rank = |at: usize| ranks[rows[at] as usize];
        let begins_rank = |&at: &usize| rank(at) != rank(at - 1);
        let ends: Vec<usize> =
            (between.range.start + 1..between.range.end).filter(begins_rank).collect();
        if ends.len() < FEWEST_CUTS {
            return None;
        }
        let n = ends.len().min(AT_ONCE);
        let at = |lane: usize| ends[(2 * lane + 1) * ends.len() / (2 * n)];
        let cuts = std::array::from_fn(|lane| rank(at(lane.min(n - 1)) - 1));
        Some((Chosen { cuts, n, ends: [at(0), at(n - 1)] }, n == ends.len()))
    }

    /// These cuts, ascending.
    fn of(cuts: &[u32], rows: &[u32], ranks: &[u32]) -> Chosen {
        let last = cuts.len() - 1;
        let behind = |cut: u32| rows.partition_point(|&row| ranks[row as usize] <= cut);
        let ends = [behind(cuts[0]), behind(cuts[last])];
        Chosen { cuts: std::array::from_fn(|lane| cuts[lane.min(last)]), n: cuts.len(), ends }
    }

    fn view<'a>(&self, rows: &'a [u32], ranks: &'a [u32]) -> Cuts<'a> {
        let [first, last] = self.ends;
        Cuts { cuts: self.cuts, ranks, of_all: &rows[..first], of_some: &rows[first..last] }
    }
}

/// What a look at some cuts found.
struct Looked {
    /// By cut: bounds on both sides.
    edges: Vec<Edge>,
    /// By cut, side and axis: bounds on the stumps along it.
    bounds: Vec<Cost>,
}

impl Two {
    /// Bound cuts between two others together, if there are some; they, and those between them, are
    /// left open as far as they may cost less than what is known. Whether there were some.
    pub(super) fn divide_by_many(
        &mut self,
        question: Question,
        axis: usize,
        (a, b): (Known, Known),
        bound: Cost,
        need: Cost,
    ) -> bool {
        let (rows, ranks) = (&self.lines[axis].rows, &question.part.node.axes[axis].rank);
        let Some((chosen, are_all)) = Chosen::between(rows, ranks, (&a.edge, &b.edge)) else {
            return false;
        };
        let before = vec![[a, b]; chosen.n];
        let looked = self.look_together(question, axis, &chosen, &before, need);
        self.cuts.divide_by_many(axis, (a, b), (&looked.edges, &looked.bounds), are_all, bound);
        true
    }

    /// If a cut is a boundary of which more is known by now than its bound says, or which may be
    /// looked at together with others, then do that, and put it aside again.
    pub(super) fn look_at_boundaries(
        &mut self,
        question: Question,
        axis: usize,
        known: Known,
        bound: Cost,
        need: Cost,
    ) -> bool {
        let grid = question.grid;
        let Some(boundary) = known.boundary().filter(|_| self.units.is_some()) else {
            return false;
        };
        if self.cuts.raise_boundary(axis, boundary, bound, grid) {
            return true;
        }
        let group = (boundary - 1) / AT_ONCE;
        if self.seen[axis] & 1 << group != 0 {
            return false;
        }
        self.seen[axis] |= 1 << group;
        self.line(question, axis);
        let first = 1 + group * AT_ONCE;
        let boundaries = first..(first + AT_ONCE).min(grid.axes[axis].n());
        let cuts: Vec<u32> =
            boundaries.clone().map(|boundary| grid.axes[axis].last[boundary - 1]).collect();
        let ranks = &question.part.node.axes[axis].rank;
        let chosen = Chosen::of(&cuts, &self.lines[axis].rows, ranks);
        let before: Vec<[Known; 2]> =
            boundaries.clone().map(|j| [self.cuts.boundary(axis, j, grid); 2]).collect();
        let looked = self.look_together(question, axis, &chosen, &before, need);
        let bounds = looked.bounds.chunks(2 * grid.axes.len());
        for ((boundary, edge), bounds) in boundaries.zip(&looked.edges).zip(bounds) {
            self.cuts.take_boundary(axis, boundary, edge, bounds);
        }
        self.cuts.open_boundary(axis, boundary, bound, grid);
        true
    }

    /// Bounds on both sides of some cuts. `before`: by cut, what is known of its left side and of
    /// its right side, or of less of them.
    fn look_together(
        &mut self,
        question: Question,
        axis: usize,
        chosen: &Chosen,
        before: &[[Known; 2]],
        need: Cost,
    ) -> Looked {
        let Question { kernel, part, grid } = question;
        let (p, of) = (grid.axes.len(), &part.node.axes[axis]);
        let mut all_bounds = vec![0; before.len() * 2 * p];
        // By axis that matters: what stumps along it cost at least, by side.
        let mut open: Vec<(usize, [Lanes<f32>; 2])> = Vec::with_capacity(p);
        let mut leaves = [[f32::INFINITY; AT_ONCE]; 2];
        for g in 0..p {
            let mut is_open = false;
            for (known, bounds) in before.iter().zip(all_bounds.chunks_mut(2 * p)) {
                let sides = [known[0].edge.left, known[1].edge.right];
                for side in 0..2 {
                    let bound = self.cuts.bound(side, &known[side], axis, g);
                    bounds[side * p + g] = bound;
                    is_open |= bound < need.saturating_sub(sides[1 - side]);
                }
            }
            if is_open {
                self.line(question, g);
                self.by_block(chosen, question, axis, g);
                if open.is_empty() {
                    let units = self.units.as_ref().expect("cuts that are looked at together");
                    leaves = [0, 1].map(|side| self.together.leaf(units, side, &self.rough[g]));
                }
                open.push((g, [0, 1].map(|side| self.together.least(side))));
            }
        }
        let units = self.units.as_ref().expect("cuts that are looked at together");
        let (rough_need, penalty) =
            (units.roughly(self.cuts.upper), units.roughly(kernel.leaf_cost));
        // Stumps on a side matter that cost less than what is needed beside the other side.
        let asked: [Lanes<f32>; 2] = [1, 0].map(|other: usize| {
            std::array::from_fn(|l| {
                let leaf = leaves[other][l] + penalty;
                let stumps = open.iter().map(|(_, least)| least[other][l] + 2.0 * penalty);
                rough_need - stumps.fold(leaf, f32::min) - 2.0 * penalty
            })
        });
        for (g, least) in &mut open {
            let is_enough = |side: usize| (0..AT_ONCE).all(|l| least[side][l] >= asked[side][l]);
            if !(is_enough(0) && is_enough(1)) {
                self.by_block(chosen, question, axis, *g);
                let Two { together, units, lines, rough, .. } = self;
                let units = units.as_ref().expect("cuts that are looked at together");
                let view = chosen.view(&lines[axis].rows, &of.rank);
                Level::detect().run(
                    #[inline(always)]
                    || together.closely(units, &view, (&lines[*g], &rough[*g]), &asked),
                );
                *least = [0, 1].map(|side| self.together.least(side));
            }
        }
        let units = self.units.as_ref().expect("cuts that are looked at together");
        let mut edges = Vec::with_capacity(before.len());
        for (l, (before, bounds)) in before.iter().zip(all_bounds.chunks_mut(2 * p)).enumerate() {
            for (g, least) in &open {
                for (side, least) in least.iter().enumerate() {
                    let bound = &mut bounds[side * p + g];
                    *bound = (*bound).max(floor(units.at_least(least[l])) + 2 * kernel.leaf_cost);
                }
            }
            let sides = [before[0].edge.left, before[1].edge.right];
            let [left, right] = [0, 1].map(|side| {
                let leaf = match open.is_empty() {
                    true => sides[side],
                    false => floor(units.at_least(leaves[side][l])) + kernel.leaf_cost,
                };
                let stumps = bounds[side * p..][..p].iter().copied();
                stumps.fold(leaf, Cost::min).max(sides[side])
            });
            edges.push(Edge { cut: i64::from(chosen.cuts[l]), left, right });
        }
        Looked { edges, bounds: all_bounds }
    }

    /// Bound the stumps along g beside some cuts by its blocks.
    fn by_block(&mut self, chosen: &Chosen, question: Question, axis: usize, g: usize) {
        let ranks = &question.part.node.axes[axis].rank;
        let Two { together, units, rough, lines, .. } = self;
        let units = units.as_ref().expect("cuts that are looked at together");
        let view = chosen.view(&lines[axis].rows, ranks);
        let of_g = (&question.grid.axes[g], &rough[g]);
        Level::detect().run(
            #[inline(always)]
            || together.by_block(units, &view, &rough[axis], of_g),
        );
    }
}
