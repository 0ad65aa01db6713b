//! The cuts of a node that may still be best: intervals, and cuts that are not settled, the least
//! bound first.

use crate::cost::{Cost, INFINITE};
use crate::kernel::ranks::{Edge, Item, between, weakest};
use crate::run::HeapBytes;
use crate::search::common::open_work::{OpenWork, Work};
use crate::tree::Plan;
use crate::view::{Axis, RankNode};

/// The cuts of an interval between two that are known, or one that has been looked at.
#[derive(Debug, Clone, Copy)]
pub enum Cuts {
    One(Edge),
    Between(Edge, Edge),
}

impl Work for Item<Cuts> {
    fn bound(&self) -> Cost {
        self.bound
    }
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
    pub(super) work: OpenWork<Item<Cuts>>,
    /// The best tree known, and its cost.
    pub upper: Cost,
    pub plan: Plan,
}

/// Worst losses of ranks up to a cut.
fn lost(axis: &Axis, cut: i64) -> Cost {
    if cut < 0 { 0 } else { axis.lost[cut as usize] }
}

impl Try {
    /// What the left and the right side must cost for no cut between this one and the interval's
    /// ends to be below `target`.
    pub fn closing(&self, target: Cost) -> [Cost; 2] {
        self.around.map_or([0; 2], |(a, b)| [target - b.right, target - a.left])
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
        let mut open_intervals = OpenIntervals { work: OpenWork::default(), upper, plan };
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
            self.work.push(Item { bound, axis: index, what: Cuts::Between(a, b) });
        } else {
            self.work.settle(bound);
        }
    }

    /// No cut costs less, nor does a leaf.
    pub fn lower(&self) -> Cost {
        self.work.least().unwrap_or(INFINITE).min(self.work.settled()).min(self.upper)
    }

    /// The cut to look at next, if any cut may cost less than `target`.
    pub fn take(&mut self, node: &RankNode, target: Cost) -> Option<Try> {
        let Item { bound, axis, what } = self.work.take(target.min(self.upper))?;
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

    /// Whether nothing is being looked at.
    pub fn idle(&self) -> bool {
        self.work.is_idle()
    }

    /// Take back a cut with the bounds that came of it. Unless `settled`, it may still cost less
    /// than the target.
    pub fn give(&mut self, node: &RankNode, tried: &Try, edge: Edge, settled: bool) {
        self.work.done(tried.bound);
        let bound = edge.bound().max(tried.bound);
        if settled {
            self.work.settle(bound);
        } else {
            self.work.push(Item { bound, axis: tried.axis, what: Cuts::One(edge) });
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
}

impl HeapBytes for OpenIntervals {
    fn heap_bytes(&self) -> usize {
        self.work.bytes()
    }
}
