//! What of a node's cuts may still be best: intervals, and cuts that are not settled, the least
//! bound first.

use std::collections::BinaryHeap;

use crate::bounds::neighbouring_cuts::{Edge, between, closing, weakest};
use crate::cost::{Cost, INFINITE};
use crate::kernel::ranks::Item;
use crate::run::Run;
use crate::tree::Plan;
use crate::view::{Axis, RankNode};

/// The cuts of an interval between two that are known, or one that has been looked at.
#[derive(Debug, Clone, Copy)]
pub enum Cuts {
    One(Edge),
    Between(Edge, Edge),
}

/// A cut to look at, and the interval that it is taken from.
#[derive(Debug, Clone, Copy)]
pub struct Try {
    pub axis: usize,
    pub edge: Edge,
    pub bound: Cost,
    around: Option<(Edge, Edge)>,
}

/// Bounds are true at every moment, also while cuts are being looked at.
pub struct OpenIntervals {
    open: BinaryHeap<Item<Cuts>>,
    /// Bounds of what is being looked at.
    trying: Vec<Cost>,
    /// The least bound of what is settled.
    settled: Cost,
    /// The best tree known, and its cost.
    pub upper: Cost,
    pub plan: Plan,
    /// Intervals that their bound has closed.
    closed: u64,
    /// Bytes that the run knows of.
    told: i64,
}

/// Worst losses of ranks up to a cut.
fn lost(axis: &Axis, cut: i64) -> Cost {
    if cut < 0 { 0 } else { axis.lost[cut as usize] }
}

impl Try {
    /// What the left and the right side must cost for no cut between this one and the interval's
    /// ends to be below `target`.
    pub fn closing(&self, target: Cost) -> [Cost; 2] {
        self.around.map_or([0; 2], |(a, b)| closing(&a, &b, target))
    }
}

impl OpenIntervals {
    /// All cuts of a node; `whole` is a lower bound on the node's cost with one level less, `least`
    /// one on any split.
    pub fn new(
        node: &RankNode,
        (upper, plan): (Cost, Plan),
        leaf_cost: Cost,
        (whole, least): (Cost, Cost),
    ) -> Self {
        let mut open_intervals = OpenIntervals {
            open: BinaryHeap::new(),
            trying: Vec::new(),
            settled: INFINITE,
            upper,
            plan,
            closed: 0,
            told: 0,
        };
        for (index, axis) in node.axes.iter().enumerate() {
            let last = axis.n_ranks() as i64 - 1;
            let a = Edge { cut: -1, left: leaf_cost, right: whole };
            let b = Edge { cut: last, left: whole, right: leaf_cost };
            open_intervals.push(index, axis, a, b, least);
        }
        open_intervals
    }

    fn push(&mut self, index: usize, axis: &Axis, a: Edge, b: Edge, least: Cost) {
        if b.cut - a.cut < 2 {
            return;
        }
        let bound = between(&a, &b, lost(axis, b.cut) - lost(axis, a.cut)).max(least);
        if bound < self.upper {
            self.open.push(Item { bound, axis: index, what: Cuts::Between(a, b) });
        } else {
            self.closed += 1;
            self.settled = self.settled.min(bound);
        }
    }

    /// No cut costs less, nor does a leaf.
    pub fn lower(&self) -> Cost {
        let open = self.open.peek().map_or(INFINITE, |item| item.bound);
        let trying = self.trying.iter().copied().min().unwrap_or(INFINITE);
        open.min(trying).min(self.settled).min(self.upper)
    }

    /// What must be looked at next, if anything may be below `below`.
    pub fn take(&mut self, node: &RankNode, below: Cost) -> Option<Try> {
        let first = self.open.peek()?;
        if first.bound >= below.min(self.upper) {
            return None;
        }
        let Item { bound, axis, what } = self.open.pop()?;
        self.trying.push(bound);
        Some(match what {
            Cuts::One(edge) => Try { axis, edge, bound, around: None },
            Cuts::Between(a, b) => {
                let of = &node.axes[axis];
                let (start, end) = (lost(of, a.cut), lost(of, b.cut));
                let least = start + weakest(&a, &b, end - start);
                let cut = of.lost.partition_point(|&lost| lost < least) as i64;
                let cut = cut.clamp(a.cut + 1, b.cut - 1);
                let at = lost(of, cut);
                let edge = Edge::between(cut, (&a, &b), at - start, end - at);
                Try { axis, edge, bound, around: Some((a, b)) }
            }
        })
    }

    /// How many intervals bounds have closed since this was asked, if nothing below `target` is
    /// looked for any more.
    pub fn take_closed(&mut self, target: Cost) -> u64 {
        let closed =
            |item: &&Item<Cuts>| item.bound >= target && matches!(item.what, Cuts::Between(..));
        let last = self.open.iter().filter(closed).count();
        std::mem::take(&mut self.closed) + last as u64
    }

    /// Whether nothing is being looked at.
    pub fn idle(&self) -> bool {
        self.trying.is_empty()
    }

    /// What came of a cut. Unless `settled`, it may still be below what was asked.
    pub fn give(&mut self, node: &RankNode, tried: &Try, edge: Edge, settled: bool) {
        let at = self.trying.iter().position(|&bound| bound == tried.bound);
        self.trying.swap_remove(at.expect("what was taken is given back once"));
        let bound = edge.bound().max(tried.bound);
        if settled {
            self.settled = self.settled.min(bound);
        } else {
            self.open.push(Item { bound, axis: tried.axis, what: Cuts::One(edge) });
        }
        if let Some((a, b)) = tried.around {
            let axis = &node.axes[tried.axis];
            self.push(tried.axis, axis, a, edge, tried.bound);
            self.push(tried.axis, axis, edge, b, tried.bound);
        }
    }

    /// A tree that was found.
    pub fn offer(&mut self, cost: Cost, plan: Plan) {
        if cost < self.upper {
            (self.upper, self.plan) = (cost, plan);
        }
    }

    /// Tell the run how much this has grown.
    pub fn tell(&mut self, run: &Run) {
        let now = (self.open.capacity() * size_of::<Item<Cuts>>()) as i64;
        run.add_bytes(now - self.told);
        self.told = now;
    }

    /// Before this is dropped.
    pub fn forget(&mut self, run: &Run) {
        run.add_bytes(-self.told);
        self.told = 0;
    }
}
