//! The search itself: a node's best tree, or the proof that every tree costs at least a target.

use super::memo::Memo;
use super::open_intervals::{OpenIntervals, Try};
use crate::bounds::neighbouring_cuts::Edge;
use crate::bounds::{Bound, Decisions, affordable_leaves, equivalent_points, scope};
use crate::cost::Cost;
use crate::ids::Side;
use crate::kernel::ranks::RankKernel;
use crate::run::{Counted, Held, Run, Status};
use crate::search::common::Found;
use crate::search::common::sync::{AtomicI64, Condvar, Mutex, Ordering, lock};
use crate::tree::Plan;
use crate::view::{Part, RankNode, RankView};

/// What all workers share.
pub struct Shared<'a, 'run, K> {
    pub kernel: &'a K,
    pub view: &'a RankView,
    pub run: &'a Run<'run>,
    pub memo: Mutex<Counted<'a, 'run, Memo>>,
    pub root: Mutex<Option<Counted<'a, 'run, OpenIntervals>>>,
    pub changed: Condvar,
    /// Of the root, for the watcher.
    pub lower: AtomicI64,
    pub upper: AtomicI64,
    /// Trees that cost this or more are of no use.
    pub cutoff: Cost,
    /// Trees cost so much more than the kernel says.
    pub base: Cost,
    /// The bound that the least costs of points stand for.
    pub least_bound: Bound,
}

pub struct Worker<'w, 'a, 'run, K: RankKernel> {
    shared: &'w Shared<'a, 'run, K>,
    twos: [K::Two; 2],
    /// The bytes of `twos`.
    held: Held<'a, 'run>,
    /// How often each bound decided here.
    decided: Decisions,
}

/// What came of looking at a cut.
struct Tried {
    edge: Edge,
    settled: bool,
    found: Option<(Cost, Plan)>,
}

impl Tried {
    /// Take this in as what came of the cut.
    fn give(self, open: &mut OpenIntervals, node: &RankNode, tried: &Try) {
        if let Some((cost, plan)) = self.found {
            open.offer(cost, plan);
        }
        open.give(node, tried, self.edge, self.settled);
    }
}

impl<'w, 'a, 'run, K: RankKernel> Worker<'w, 'a, 'run, K> {
    pub fn new(shared: &'w Shared<'a, 'run, K>) -> Self {
        let (held, decided) = (Held::new(shared.run), Decisions::default());
        Worker { shared, twos: Default::default(), held, decided }
    }

    fn stopped(&self) -> bool {
        self.shared.run.check_time().is_some()
    }

    /// The best tree of at most this depth, or a lower bound of at least `target`.
    pub fn solve(&mut self, node: &RankNode, depth: u32, target: Cost) -> Found {
        let kernel = self.shared.kernel;
        let leaf_cost = kernel.leaf_cost();
        let (leaf, floor) = (kernel.leaf(&node.rows), kernel.floor(Part::all(node)));
        self.shared.run.add_nodes(1);
        // Deeper trees than these cost as much as `cap`.
        let cap = target.min(leaf);
        let useful = affordable_leaves::levels(depth, leaf_cost, cap - floor);
        let capped = |lower: Cost| if useful < depth { lower.min(cap) } else { lower };
        self.decided.add_if(leaf == leaf_cost, Some(Bound::Leaf));
        if node.axes.is_empty() || leaf == leaf_cost {
            return solved(leaf, Plan::Leaf);
        }
        if useful < depth {
            let floorless = affordable_leaves::levels(depth, leaf_cost, cap);
            let by_floor = useful < floorless;
            let why = if by_floor { self.shared.least_bound } else { Bound::AffordableLeaves };
            self.decided.count(why);
        }
        if useful == 0 {
            return Found { lower: capped(leaf), upper: leaf, plan: Plan::Leaf };
        }
        if !self.shared.run.fits(kernel.bytes_for(node)[0] as u64) {
            self.shared.run.stop(Status::MemoryLimit);
            return Found { lower: leaf_cost, upper: leaf, plan: Plan::Leaf };
        }
        let grid = kernel.grid(node);
        let _held = Held::of(self.shared.run, kernel.grid_bytes(&grid));
        let known = match useful {
            1 => {
                let (cost, plan) = kernel.stump(node, &grid);
                self.shared.run.add_kernel_calls(1);
                solved(cost, plan)
            }
            2 => self.two(node, &grid, target),
            _ => self.deep(node, &grid, useful, target),
        };
        Found { lower: capped(known.lower), ..known }
    }

    fn two(&mut self, node: &RankNode, grid: &K::Grid, target: Cost) -> Found {
        let (kernel, run) = (self.shared.kernel, self.shared.run);
        let halt = || run.check_time().is_some();
        let part = Part::all(node);
        let two = &mut self.twos[0];
        run.add_kernel_calls(1);
        let first_target = if target > 0 { target } else { Cost::MAX };
        kernel.begin(part, grid, two, first_target, &halt);
        let by_blocks = kernel.lower(two) >= target.min(kernel.upper(two));
        self.decided.add_if(target > 0 && by_blocks, Some(Bound::Blocks));
        kernel.raise(part, grid, two, target, &halt);
        let (cost, plan) = kernel.plan(part, grid, two);
        self.tell(1);
        let two = &self.twos[0];
        Found { lower: kernel.lower(two).min(cost), upper: cost, plan }
    }

    fn deep(&mut self, node: &RankNode, grid: &K::Grid, depth: u32, target: Cost) -> Found {
        let key = (self.shared.view.fingerprint(Part::all(node)), depth);
        let mut open_intervals = Counted::new(self.shared.run, self.start(node, grid, depth));
        let before = {
            let memo = lock(&self.shared.memo);
            memo.seen.check(key.0, node.rows.iter().map(|&row| u128::from(row) + 1));
            memo.get(key)
        };
        if before < target.min(open_intervals.upper) {
            while !self.stopped()
                && let Some(tried) = open_intervals.change(|open| open.take(node, target))
            {
                let own_target = target.min(open_intervals.upper);
                let outcome = self.attempt(node, grid, depth, &tried, own_target);
                open_intervals.change(|open| outcome.give(open, node, &tried));
            }
        }
        let mut open_intervals = open_intervals.into_inner();
        let closed = open_intervals.take_closed(target.min(open_intervals.upper));
        self.decided.add(Bound::NeighbouringCuts, closed);
        let lower = open_intervals.lower().max(before.min(open_intervals.upper));
        lock(&self.shared.memo).change(|memo| memo.keep(key, lower, self.shared.run));
        Found { lower, upper: open_intervals.upper, plan: open_intervals.plan }
    }

    /// What the best tree of depth two says of a deeper node.
    fn start(&mut self, node: &RankNode, grid: &K::Grid, depth: u32) -> OpenIntervals {
        let leaf_cost = self.shared.kernel.leaf_cost();
        let known = self.two(node, grid, 0);
        let whole = if depth == 3 { known.lower } else { leaf_cost };
        let floor = self.shared.kernel.floor(Part::all(node));
        let least = equivalent_points::at_least(floor, 2, leaf_cost);
        OpenIntervals::new(node, (known.upper, known.plan), leaf_cost, (whole, least))
    }

    /// Work on the root with all other workers.
    pub fn work(&mut self, depth: u32) {
        let node = &self.shared.view.root;
        let grid = self.shared.kernel.grid(node);
        let _held = Held::of(self.shared.run, self.shared.kernel.grid_bytes(&grid));
        self.steps(node, &grid, depth);
    }

    fn steps(&mut self, node: &RankNode, grid: &K::Grid, depth: u32) {
        loop {
            let mut root = lock(&self.shared.root);
            if root.is_none() {
                // The first worker begins; the others wait at the lock.
                // A stump is found soon, so that there is one even if time is short.
                let (cost, stump) = self.shared.kernel.stump(node, grid);
                let mut open_intervals = self.start(node, grid, depth);
                open_intervals.offer(cost, stump);
                open_intervals.offer(self.shared.cutoff, Plan::Leaf);
                *root = Some(Counted::new(self.shared.run, open_intervals));
            }
            let open_intervals = root.as_mut().expect("begun");
            let cutoff = self.shared.run.cutoff() - self.shared.base;
            open_intervals.change(|open| open.offer(cutoff, Plan::Leaf));
            self.shared.lower.fetch_max(open_intervals.lower(), Ordering::Relaxed);
            self.shared.upper.fetch_min(open_intervals.upper, Ordering::Relaxed);
            if self.stopped() {
                self.shared.changed.notify_all();
                return;
            }
            let Some(tried) = open_intervals.change(|open| open.take(node, Cost::MAX)) else {
                if open_intervals.idle() {
                    self.shared.changed.notify_all();
                    return;
                }
                // What others are looking at may leave something to do.
                let nap = std::time::Duration::from_millis(10);
                drop(self.shared.changed.wait_timeout(root, nap));
                continue;
            };
            let target = open_intervals.upper;
            drop(root);
            let outcome = self.attempt(node, grid, depth, &tried, target);
            let mut root = lock(&self.shared.root);
            let open_intervals = root.as_mut().expect("begun");
            open_intervals.change(|open| outcome.give(open, node, &tried));
            self.shared.changed.notify_all();
        }
    }

    /// Look at one cut until both sides cost at least `target` or are solved.
    fn attempt(
        &mut self,
        node: &RankNode,
        grid: &K::Grid,
        depth: u32,
        tried: &Try,
        target: Cost,
    ) -> Tried {
        if depth == 3 {
            self.attempt_two(node, grid, tried, target)
        } else {
            self.attempt_deep(node, depth, tried, target)
        }
    }

    /// Lower bounds on both sides of a cut before the kernel looks at them.
    fn at_least(&self, parts: &[Part; 2], tried: &Try) -> [Cost; 2] {
        let kernel = self.shared.kernel;
        let [left, right] = parts
            .map(|part| equivalent_points::at_least(kernel.floor(part), 1, kernel.leaf_cost()));
        [tried.edge.left.max(left), tried.edge.right.max(right)]
    }

    fn attempt_two(
        &mut self,
        node: &RankNode,
        grid: &K::Grid,
        tried: &Try,
        mut target: Cost,
    ) -> Tried {
        let (kernel, run) = (self.shared.kernel, self.shared.run);
        let halt = || run.check_time().is_some();
        let cut = tried.edge.cut as u32;
        let parts = [Side::Left, Side::Right].map(|side| {
            let cut = Some((tried.axis, cut, side));
            Part { node, cut }
        });
        let mut lower = self.at_least(&parts, tried);
        let mut upper = [Cost::MAX / 4; 2];
        let closing = tried.closing(target);
        // The smaller side is cheaper to ask.
        let first = usize::from(parts[1].rows().len() < parts[0].rows().len());
        for side in [first, 1 - first] {
            run.add_kernel_calls(1);
            let own_target = scope::of_child(target, lower[1 - side]).max(closing[side]);
            kernel.begin(parts[side], grid, &mut self.twos[side], own_target, &halt);
            lower[side] = lower[side].max(kernel.lower(&self.twos[side]));
            upper[side] = kernel.upper(&self.twos[side]);
        }
        let mut found = None;
        if upper[0] + upper[1] < target {
            let (a, left) = kernel.plan(parts[0], grid, &mut self.twos[0]);
            let (b, right) = kernel.plan(parts[1], grid, &mut self.twos[1]);
            target = a + b;
            found = Some((a + b, split(node, tried, left, right)));
        }
        let (mut side, mut raises) = (first, 0);
        loop {
            let short = target - lower[0] - lower[1];
            if short <= 0 {
                let why = if raises == 0 { Bound::Blocks } else { Bound::Scope };
                let exact = lower[0] >= upper[0] && lower[1] >= upper[1];
                self.decided.add_if(!exact, Some(why));
                break;
            }
            if halt() {
                break;
            }
            if lower[side] >= upper[side] {
                side = 1 - side;
            }
            if lower[side] >= upper[side] {
                break;
            }
            let gaps = [side, 1 - side].map(|side| upper[side] - lower[side]);
            let own_target = lower[side] + kernel.share(short, gaps, raises);
            raises += 1;
            kernel.raise(parts[side], grid, &mut self.twos[side], own_target, &halt);
            lower[side] = lower[side].max(kernel.lower(&self.twos[side]));
            upper[side] = kernel.upper(&self.twos[side]);
            side = 1 - side;
        }
        let closing = tried.closing(target.min(upper[0] + upper[1]));
        for (side, own_target) in closing.into_iter().enumerate() {
            if lower[side] < own_target {
                kernel.raise(parts[side], grid, &mut self.twos[side], own_target, &halt);
                lower[side] = lower[side].max(kernel.lower(&self.twos[side]));
                upper[side] = kernel.upper(&self.twos[side]);
            }
        }
        if upper[0] + upper[1] < target {
            let (a, left) = kernel.plan(parts[0], grid, &mut self.twos[0]);
            let (b, right) = kernel.plan(parts[1], grid, &mut self.twos[1]);
            found = Some((a + b, split(node, tried, left, right)));
        }
        // Bounds from neighbours may be above what this part's own search has found.
        let edge = Edge { cut: tried.edge.cut, left: lower[0], right: lower[1] };
        let exact = lower[0] >= upper[0] && lower[1] >= upper[1];
        self.tell(2);
        Tried { edge, settled: exact || edge.bound() >= target, found }
    }

    fn attempt_deep(&mut self, node: &RankNode, depth: u32, tried: &Try, target: Cost) -> Tried {
        let cut = tried.edge.cut as u32;
        let parts = [Side::Left, Side::Right].map(|side| {
            let cut = Some((tried.axis, cut, side));
            Part { node, cut }
        });
        let mut lower = self.at_least(&parts, tried);
        let mut known: [Option<Found>; 2] = [None, None];
        let first = usize::from(parts[1].rows().len() < parts[0].rows().len());
        let closing = tried.closing(target);
        for side in [first, 1 - first, first] {
            let solved = known[side].as_ref().is_some_and(|known| known.lower >= known.upper);
            let own_target = closing[side].max(scope::of_child(target, lower[1 - side]));
            if solved || lower[side] >= own_target || self.stopped() {
                continue;
            }
            // No child is larger than its parent.
            if !self.shared.run.fits(node.bytes() as u64) {
                self.shared.run.stop(Status::MemoryLimit);
                break;
            }
            let child = RankNode::child(parts[side], self.shared.view);
            let _held = Held::of(self.shared.run, child.bytes());
            let answer = self.solve(&child, depth - 1, own_target);
            lower[side] = lower[side].max(answer.lower);
            known[side] = Some(answer);
        }
        let edge = Edge { cut: tried.edge.cut, left: lower[0], right: lower[1] };
        let mut settled = edge.bound() >= target;
        let solved = |side: &Option<Found>| side.as_ref().is_some_and(|k| k.lower >= k.upper);
        let exact = known.iter().all(solved);
        self.decided.add_if(settled && !exact, Some(Bound::Scope));
        settled |= exact;
        let mut found = None;
        if let [Some(left), Some(right)] = known {
            let cost = left.upper + right.upper;
            if cost < target {
                found = Some((cost, split(node, tried, left.plan, right.plan)));
            }
        }
        Tried { edge, settled, found }
    }

    /// Count the subproblems, which may have grown, and what they spared.
    fn tell(&mut self, asked: usize) {
        let spared = self.twos[..asked].iter().map(|two| self.shared.kernel.spared(two)).sum();
        self.decided.add(Bound::TwoLabels, spared);
        self.held.set(self.twos.iter().map(|two| self.shared.kernel.two_bytes(two)).sum());
        if !self.shared.run.fits(0) {
            lock(&self.shared.memo).change(Memo::clear);
            if !self.shared.run.fits(0) {
                self.shared.run.stop(Status::MemoryLimit);
            }
        }
    }
}

/// A node whose best tree is known.
fn solved(cost: Cost, plan: Plan) -> Found {
    Found { lower: cost, upper: cost, plan }
}

impl<K: RankKernel> Drop for Worker<'_, '_, '_, K> {
    fn drop(&mut self) {
        self.shared.run.add_decisions(&self.decided);
    }
}

fn split(node: &RankNode, tried: &Try, left: Plan, right: Plan) -> Plan {
    let axis = &node.axes[tried.axis];
    Plan::split(axis.feature, axis.cuts[tried.edge.cut as usize], left, right)
}
