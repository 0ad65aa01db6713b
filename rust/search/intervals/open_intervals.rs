//! The cuts of a node that may still be best: intervals, and cuts that are not settled, the least
//! bound first.

use std::collections::HashMap;

use super::budget::{Budget, Division};
use crate::bounds::neighbouring_cuts::{Edge, between, closing, weakest};
use crate::cost::{Cost, INFINITE};
use crate::kernel::ranks::Item;
use crate::run::HeapBytes;
use crate::search::common::open_work::{OpenWork, Work};
use crate::tree::Plan;
use crate::view::{Axis, RankNode};

/// The cuts of an interval between two that are known, or one that has been looked at, and the cuts
/// of the interval that it was taken from.
#[derive(Debug, Clone, Copy)]
pub enum Cuts {
    One(Edge, Division, (i64, i64)),
    Between(Edge, Edge, Division),
    /// From the one cut to the other, with bounds on what is left of the first and right of the
    /// last. They hold with a minimum of rows for each leaf that allows for the rows in between.
    Group(Edge, Edge, Division),
}

impl Cuts {
    /// The cut that they begin with.
    pub fn first(&self) -> i64 {
        match self {
            Cuts::One(edge, ..) | Cuts::Between(edge, ..) | Cuts::Group(edge, ..) => edge.cut,
        }
    }
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
    pub division: Division,
    /// What the best tree of the node that is known costs.
    pub upper: Cost,
    /// The first and the last cut, if several are looked at together, or one with a minimum of rows
    /// for each leaf. Then the edge has the bound left of the first and right of the last.
    pub group: Option<(i64, i64)>,
    around: Option<(Edge, Edge)>,
    /// Whether it is looked at for the first time, and leaves an interval on either side.
    is_new: bool,
}

/// What is to be done with a cut that was looked at, and with those around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Nothing for now: it is known, or no tree with it is below the target.
    Settle,
    /// It may still cost less than the target.
    Again,
    /// The leaves of both sides are narrowed down, for it and those around it.
    Divide,
    /// It is looked at with the minimum of rows for each leaf.
    Apart,
    /// So are all cuts of its interval.
    Group,
}

/// Bounds are true at every moment, also while cuts are being looked at.
pub struct OpenIntervals {
    pub(super) work: OpenWork<Item<Cuts>>,
    /// The best bounds on the sides of cuts that intervals begin or end with.
    pub(super) edges: HashMap<(usize, i64, Division), Edge>,
    /// Of the node's tree.
    pub(super) budget: Budget,
    /// The best tree known, and its cost.
    pub upper: Cost,
    pub plan: Plan,
    /// While cuts are looked at without the limits on leaves: what the best tree without them
    /// costs.
    pub relaxed_upper: Option<Cost>,
    /// Intervals that their bound has closed.
    pub(super) closed: u64,
}

/// Worst losses of ranks up to a cut.
fn lost(axis: &Axis, cut: i64) -> Cost {
    if cut < 0 { 0 } else { axis.lost[cut as usize] }
}

impl Try {
    /// All cuts of the interval that this one is taken from.
    pub fn inner(&self) -> Option<(i64, i64)> {
        self.around.filter(|_| self.is_new).map(|(a, b)| (a.cut + 1, b.cut - 1))
    }

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
        budget: Budget,
        (upper, plan): (Cost, Plan),
        leaf_cost: Cost,
        (whole, least): (Cost, Cost),
    ) -> Self {
        let mut open_intervals = OpenIntervals::at_rest(OpenWork::default(), budget, upper);
        open_intervals.plan = plan;
        open_intervals.open_all(node, leaf_cost, (whole, least));
        open_intervals
    }

    /// What a search left behind, whose plan was handed out.
    pub fn at_rest(work: OpenWork<Item<Cuts>>, budget: Budget, upper: Cost) -> OpenIntervals {
        let (edges, plan) = (HashMap::new(), Plan::Leaf);
        OpenIntervals { work, edges, budget, upper, plan, relaxed_upper: None, closed: 0 }
    }

    /// Open all cuts, of which nothing is known but these bounds.
    fn open_all(&mut self, node: &RankNode, leaf_cost: Cost, (whole, least): (Cost, Cost)) {
        let all = self.budget.divisions();
        // With three leaves on two levels, one side is a leaf: there is nothing to bound both with.
        let divisions = match self.budget.depth == 2 && !all.is_one() {
            true => all.halves().to_vec(),
            false => vec![all],
        };
        for (index, axis) in node.axes.iter().enumerate() {
            let last = axis.n_ranks() as i64 - 1;
            let a = Edge { cut: -1, left: leaf_cost, right: whole };
            let b = Edge { cut: last, left: whole, right: leaf_cost };
            for &division in &divisions {
                self.keep(index, a, division);
                self.keep(index, b, division);
                self.push((index, axis), (a, b), division, least);
            }
        }
    }

    /// Open all cuts anew where something is known of some of them, by axis: those that cost at
    /// least `target` are ends of intervals from the start. How many there are.
    pub fn inherit(&mut self, node: &RankNode, known: Vec<Vec<Edge>>, target: Cost) -> u64 {
        let (least, division) = (self.lower(), self.budget.divisions());
        self.work = OpenWork::default();
        self.closed = 0;
        let mut inherited = 0;
        for (index, (axis, known)) in node.axes.iter().zip(known).enumerate() {
            let last = axis.n_ranks() as i64 - 1;
            let [first, last] = [-1, last].map(|cut| self.edges[&(index, cut, division)]);
            let mut before = first;
            for edge in spread(axis, (first, last), known) {
                let is_end = edge.cut == last.cut;
                if !is_end && edge.bound() < target {
                    continue;
                }
                let edge = self.keep(index, edge, division);
                let bound = edge.bound().max(least);
                if !is_end && bound < self.target() {
                    self.queue(bound, index, Cuts::One(edge, division, (edge.cut, edge.cut)));
                } else if !is_end {
                    self.work.settle(bound);
                }
                inherited += u64::from(!is_end);
                self.push((index, axis), (before, edge), division, least);
                before = edge;
            }
        }
        inherited
    }

    /// All has been done without the limits on leaves: begin again with them, from the bound that
    /// came of it. What is known of single cuts is let go, because it would be raised further one
    /// cut at a time, where cuts that are looked at anew close those around them.
    pub fn begin_with_limits(&mut self, node: &RankNode, leaf_cost: Cost) {
        let least = self.lower();
        self.relaxed_upper = None;
        self.work = OpenWork::default();
        self.edges.clear();
        self.open_all(node, leaf_cost, (leaf_cost, least));
    }

    /// A tree without the limits on leaves was found that costs so much.
    pub fn relax(&mut self, found: Option<Cost>) {
        if let (Some(relaxed), Some(found)) = (&mut self.relaxed_upper, found) {
            *relaxed = found.min(*relaxed);
        }
    }

    /// Trees that cost so much or more are of no use now.
    pub fn target(&self) -> Cost {
        self.relaxed_upper.map_or(self.upper, |relaxed| relaxed.min(self.upper))
    }

    fn push(
        &mut self,
        (index, axis): (usize, &Axis),
        (a, b): (Edge, Edge),
        division: Division,
        least: Cost,
    ) {
        if b.cut - a.cut < 2 {
            return;
        }
        let bound = between(&a, &b, lost(axis, b.cut) - lost(axis, a.cut)).max(least);
        if bound < self.target() {
            self.work.push(Item { bound, axis: index, what: Cuts::Between(a, b, division) });
        } else {
            self.closed += 1;
            self.work.settle(bound);
        }
    }

    /// No cut costs less, nor does a leaf.
    pub fn lower(&self) -> Cost {
        self.work.least().unwrap_or(INFINITE).min(self.work.settled()).min(self.upper)
    }

    /// Remember bounds on the sides of a cut, and get the best that are known.
    fn keep(&mut self, axis: usize, edge: Edge, division: Division) -> Edge {
        let known = self.edges.entry((axis, edge.cut, division)).or_insert(edge);
        known.left = known.left.max(edge.left);
        known.right = known.right.max(edge.right);
        *known
    }

    /// The best bounds that are known on the sides of a cut.
    fn known(&self, axis: usize, edge: Edge, division: Division) -> Edge {
        self.edges.get(&(axis, edge.cut, division)).copied().unwrap_or(edge)
    }

    /// The cut to look at next, if any cut may cost less than `target`.
    pub fn take(&mut self, node: &RankNode, target: Cost) -> Option<Try> {
        let (target, upper) = (target.min(self.target()), self.upper);
        loop {
            let Item { bound, axis, what } = self.work.take(target)?;
            let tried = |edge: Edge, division: Division| Try {
                axis,
                edge,
                bound,
                division,
                upper,
                group: None,
                around: None,
                is_new: false,
            };
            match what {
                Cuts::One(edge, division, (first, last)) => {
                    let edge = self.known(axis, edge, division);
                    let end = |cut: i64| self.edges.get(&(axis, cut, division)).copied();
                    let around = end(first).zip(end(last));
                    return Some(Try { around, ..tried(edge, division) });
                }
                Cuts::Group(a, b, division) => {
                    let edge = Edge { cut: a.cut, left: a.left, right: b.right };
                    return Some(Try { group: Some((a.cut, b.cut)), ..tried(edge, division) });
                }
                Cuts::Between(a, b, division) => {
                    let of = &node.axes[axis];
                    let [a, b] = [a, b].map(|edge| self.known(axis, edge, division));
                    let (start, end) = (lost(of, a.cut), lost(of, b.cut));
                    // What was learned of its ends since may have raised the bound.
                    let now = between(&a, &b, end - start);
                    if now > bound {
                        self.work.done(bound);
                        self.push((axis, of), (a, b), division, now);
                        continue;
                    }
                    let least = start + weakest(&a, &b, end - start);
                    let cut = of.lost.partition_point(|&lost| lost < least) as i64;
                    let cut = cut.clamp(a.cut + 1, b.cut - 1);
                    let at = lost(of, cut);
                    let edge = Edge::between(cut, (&a, &b), at - start, end - at);
                    let (around, is_new) = (Some((a, b)), true);
                    return Some(Try { around, is_new, ..tried(edge, division) });
                }
            }
        }
    }

    /// How many intervals bounds have closed since this was asked, if nothing below `target` is
    /// looked for any more.
    pub fn take_closed(&mut self, target: Cost) -> u64 {
        let closed =
            |item: &&Item<Cuts>| item.bound >= target && matches!(item.what, Cuts::Between(..));
        let last = self.work.iter().filter(closed).count();
        std::mem::take(&mut self.closed) + last as u64
    }

    /// Whether all has been done without the limits on leaves, and nothing with them.
    pub fn waits(&self) -> bool {
        let is_done = self.work.least().is_none_or(|least| least >= self.target());
        self.relaxed_upper.is_some() && self.work.is_idle() && is_done
    }

    /// Whether nothing is being looked at.
    pub fn idle(&self) -> bool {
        self.work.is_idle()
    }

    /// Take back a cut with the bounds that came of it, those of its sides and its own, and say
    /// what is to be done.
    pub fn give(&mut self, node: &RankNode, tried: &Try, (edge, bound): (Edge, Cost), then: Then) {
        self.work.done(tried.bound);
        let bound = bound.max(edge.bound()).max(tried.bound);
        let of = (tried.axis, &node.axes[tried.axis]);
        if let Some((first, last)) = tried.group {
            return self.give_group(tried, (first, last), (edge, bound), then);
        }
        let one = tried.division;
        let divisions = if then == Then::Divide { one.halves().to_vec() } else { vec![one] };
        let cuts = tried.around.map_or((edge.cut, edge.cut), |(a, b)| (a.cut, b.cut));
        for &division in &divisions {
            let edge = self.keep(tried.axis, edge, division);
            match then {
                // What was refuted for now may matter when the node is raised further.
                Then::Settle if bound >= self.target() => self.work.settle(bound),
                Then::Settle | Then::Again | Then::Divide => {
                    self.queue(bound, tried.axis, Cuts::One(edge, division, cuts));
                }
                Then::Apart => self.queue(bound, tried.axis, Cuts::Group(edge, edge, division)),
                Then::Group => {
                    let (a, b) = tried.around.unwrap_or((edge, edge));
                    let (first, last) = tried.inner().unwrap_or((edge.cut, edge.cut));
                    let (a, b) = (Edge { cut: first, ..a }, Edge { cut: last, ..b });
                    self.queue(tried.bound, tried.axis, Cuts::Group(a, b, division));
                    return;
                }
            }
            if let Some((a, b)) = tried.around.filter(|_| tried.is_new) {
                self.push(of, (a, edge), division, tried.bound);
                self.push(of, (edge, b), division, tried.bound);
            }
        }
    }

    /// As above, of a group of cuts, which is halved if it is to be looked at again.
    fn give_group(
        &mut self,
        tried: &Try,
        (first, last): (i64, i64),
        (edge, bound): (Edge, Cost),
        then: Then,
    ) {
        if then == Then::Settle && bound >= self.target() {
            return self.work.settle(bound);
        }
        if then == Then::Settle {
            let [a, b] = [first, last].map(|cut| Edge { cut, ..edge });
            return self.queue(bound, tried.axis, Cuts::Group(a, b, tried.division));
        }
        let middle = first + (last - first) / 2;
        for (first, last) in [(first, middle), (middle + 1, last)] {
            if first <= last {
                let [a, b] = [first, last].map(|cut| Edge { cut, ..edge });
                self.queue(bound, tried.axis, Cuts::Group(a, b, tried.division));
            }
        }
    }

    fn queue(&mut self, bound: Cost, axis: usize, what: Cuts) {
        self.work.push(Item { bound, axis, what });
    }

    /// A tree that was found.
    pub fn offer(&mut self, cost: Cost, plan: Plan) {
        if cost < self.upper {
            (self.upper, self.plan) = (cost, plan);
        }
    }
}

/// What is known of cuts of an axis, one edge for each cut and the last one behind them, each with
/// what `bounds::neighbouring_cuts` makes of those around it.
fn spread(axis: &Axis, (first, last): (Edge, Edge), known: Vec<Edge>) -> Vec<Edge> {
    let mut edges = known;
    edges.sort_unstable_by_key(|edge| edge.cut);
    edges.insert(0, first);
    edges.push(last);
    edges.dedup_by(|edge, before| {
        let is_same = edge.cut == before.cut;
        if is_same {
            (before.left, before.right) =
                (before.left.max(edge.left), before.right.max(edge.right));
        }
        is_same
    });
    let lost = |a: &Edge, b: &Edge| lost(axis, b.cut) - lost(axis, a.cut);
    for at in 1..edges.len() {
        let (a, b) = (edges[at - 1], &mut edges[at]);
        b.left = b.left.max(a.left);
        b.right = b.right.max(a.right - lost(&a, b));
    }
    for at in (1..edges.len()).rev() {
        let (b, a) = (edges[at], &mut edges[at - 1]);
        a.right = a.right.max(b.right);
        a.left = a.left.max(b.left - lost(a, &b));
    }
    edges.remove(0);
    edges
}

impl HeapBytes for OpenIntervals {
    fn heap_bytes(&self) -> usize {
        self.work.bytes() + edge_bytes(self.edges.capacity())
    }
}

/// A table is at most seven eighths full and has a byte of its own for each place.
fn edge_bytes(capacity: usize) -> usize {
    (capacity * 8).div_ceil(7) * (size_of::<((usize, i64, Division), Edge)>() + 1)
}
