//! The search itself: a node's best tree, or the proof that none is below what was asked.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};

use super::memo::Memo;
use super::open_intervals::{OpenIntervals, Try};
use crate::bounds::neighbouring_cuts::Edge;
use crate::bounds::{Bound, Decisions, affordable_leaves, equivalent_points, scope};
use crate::cost::Cost;
use crate::kernel::ranks::RankKernel;
use crate::run::{Run, Status};
use crate::tree::Plan;
use crate::view::{Part, RankNode, RankView, Side};

/// What all workers share.
pub struct Shared<'a, 'run, K> {
    pub kernel: &'a K,
    pub view: &'a RankView,
    pub run: &'a Run<'run>,
    pub memo: Mutex<Memo>,
    pub root: Mutex<Option<OpenIntervals>>,
    pub changed: Condvar,
    /// Of the root, for the watcher.
    pub lower: AtomicI64,
    pub upper: AtomicI64,
    /// Trees that cost this or more are of no use.
    pub below: Cost,
    /// The bound that the least costs of points stand for.
    pub least_bound: Bound,
}

/// What is known of a node: lower ≤ optimum ≤ upper = cost of the plan.
#[derive(Debug, Clone)]
pub struct Known {
    pub lower: Cost,
    pub upper: Cost,
    pub plan: Plan,
}

impl Known {
    fn exactly(cost: Cost, plan: Plan) -> Self {
        Known { lower: cost, upper: cost, plan }
    }
}

pub struct Worker<'a, 'run, K: RankKernel> {
    shared: &'a Shared<'a, 'run, K>,
    twos: [K::Two; 2],
    /// Bytes of `twos` that the run knows of.
    told: usize,
    /// How often each bound decided here.
    decided: Decisions,
}

/// What came of looking at a cut.
struct Tried {
    edge: Edge,
    settled: bool,
    found: Option<(Cost, Plan)>,
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl<'a, 'run, K: RankKernel> Worker<'a, 'run, K> {
    pub fn new(shared: &'a Shared<'a, 'run, K>) -> Self {
        Worker { shared, twos: Default::default(), told: 0, decided: Decisions::default() }
    }

    fn stopped(&self) -> bool {
        self.shared.run.check_time().is_some()
    }

    /// The best tree of at most this depth, or a lower bound of at least `below`.
    pub fn solve(&mut self, node: &RankNode, depth: u32, below: Cost) -> Known {
        let kernel = self.shared.kernel;
        let leaf_cost = kernel.leaf_cost();
        let (leaf, floor) = (kernel.leaf(&node.rows), kernel.floor(Part::all(node)));
        self.shared.run.add_nodes(1);
        // Deeper trees than these cost as much as `cap`.
        let cap = below.min(leaf);
        let useful = affordable_leaves::levels(depth, leaf_cost, cap - floor);
        let capped = |lower: Cost| if useful < depth { lower.min(cap) } else { lower };
        self.decided.add_if(leaf == leaf_cost, Some(Bound::Leaf));
        if node.axes.is_empty() || leaf == leaf_cost {
            return Known::exactly(leaf, Plan::Leaf);
        }
        if useful < depth {
            let floorless = affordable_leaves::levels(depth, leaf_cost, cap);
            let by_floor = useful < floorless;
            let why = if by_floor { self.shared.least_bound } else { Bound::AffordableLeaves };
            self.decided.count(why);
        }
        if useful == 0 {
            return Known { lower: capped(leaf), upper: leaf, plan: Plan::Leaf };
        }
        if !self.shared.run.fits(kernel.bytes_for(node)[0] as u64) {
            self.shared.run.stop(Status::MemoryLimit);
            return Known { lower: leaf_cost, upper: leaf, plan: Plan::Leaf };
        }
        let grid = kernel.grid(node);
        let bytes = kernel.grid_bytes(&grid) as i64;
        self.shared.run.add_bytes(bytes);
        let known = match useful {
            1 => {
                let (cost, plan) = kernel.stump(node, &grid);
                self.shared.run.add_kernel_calls(1);
                Known::exactly(cost, plan)
            }
            2 => self.two(node, &grid, below),
            _ => self.deep(node, &grid, useful, below),
        };
        self.shared.run.add_bytes(-bytes);
        Known { lower: capped(known.lower), ..known }
    }

    fn two(&mut self, node: &RankNode, grid: &K::Grid, below: Cost) -> Known {
        let (kernel, run) = (self.shared.kernel, self.shared.run);
        let halt = || run.check_time().is_some();
        let part = Part::all(node);
        let two = &mut self.twos[0];
        run.add_kernel_calls(1);
        kernel.begin(part, grid, two, &halt);
        let by_blocks = kernel.lower(two) >= below.min(kernel.upper(two));
        self.decided.add_if(below > 0 && by_blocks, Some(Bound::Blocks));
        kernel.raise(part, grid, two, below, &halt);
        let (cost, plan) = kernel.plan(part, grid, two);
        self.tell();
        let two = &self.twos[0];
        Known { lower: kernel.lower(two).min(cost), upper: cost, plan }
    }

    fn deep(&mut self, node: &RankNode, grid: &K::Grid, depth: u32, below: Cost) -> Known {
        let key = (self.shared.view.fingerprint(Part::all(node)), depth);
        let mut open_intervals = self.start(node, grid, depth);
        let before = lock(&self.shared.memo).get(key);
        if before < below.min(open_intervals.upper) {
            while !self.stopped()
                && let Some(tried) = open_intervals.take(node, below)
            {
                let target = below.min(open_intervals.upper);
                let outcome = self.attempt(node, grid, depth, &tried, target);
                if let Some((cost, plan)) = outcome.found {
                    open_intervals.offer(cost, plan);
                }
                open_intervals.give(node, &tried, outcome.edge, outcome.settled);
                open_intervals.tell(self.shared.run);
            }
        }
        let closed = open_intervals.take_closed(below.min(open_intervals.upper));
        self.decided.add(Bound::NeighbouringCuts, closed);
        open_intervals.forget(self.shared.run);
        let lower = open_intervals.lower().max(before.min(open_intervals.upper));
        lock(&self.shared.memo).keep(key, lower, self.shared.run);
        Known { lower, upper: open_intervals.upper, plan: open_intervals.plan }
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
        let bytes = self.shared.kernel.grid_bytes(&grid) as i64;
        self.shared.run.add_bytes(bytes);
        self.steps(node, &grid, depth);
        self.shared.run.add_bytes(-bytes);
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
                open_intervals.offer(self.shared.below, Plan::Leaf);
                *root = Some(open_intervals);
            }
            let open_intervals = root.as_mut().expect("begun");
            self.shared.lower.fetch_max(open_intervals.lower(), Ordering::Relaxed);
            self.shared.upper.fetch_min(open_intervals.upper, Ordering::Relaxed);
            if self.stopped() {
                self.shared.changed.notify_all();
                return;
            }
            let Some(tried) = open_intervals.take(node, Cost::MAX) else {
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
            if let Some((cost, plan)) = outcome.found {
                open_intervals.offer(cost, plan);
            }
            open_intervals.give(node, &tried, outcome.edge, outcome.settled);
            open_intervals.tell(self.shared.run);
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

    /// What both sides of a cut cost at least before anything is asked about them.
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
        // The smaller side is cheaper to ask.
        let first = usize::from(parts[1].rows().len() < parts[0].rows().len());
        for side in [first, 1 - first] {
            run.add_kernel_calls(1);
            kernel.begin(parts[side], grid, &mut self.twos[side], &halt);
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
        let (mut side, mut asked) = (first, 0);
        loop {
            let short = target - lower[0] - lower[1];
            if short <= 0 {
                let why = if asked == 0 { Bound::Blocks } else { Bound::Scope };
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
            let below = lower[side] + kernel.share(short, gaps, asked);
            asked += 1;
            kernel.raise(parts[side], grid, &mut self.twos[side], below, &halt);
            lower[side] = lower[side].max(kernel.lower(&self.twos[side]));
            upper[side] = kernel.upper(&self.twos[side]);
            side = 1 - side;
        }
        let closing = tried.closing(target.min(upper[0] + upper[1]));
        for (side, below) in closing.into_iter().enumerate() {
            if lower[side] < below {
                kernel.raise(parts[side], grid, &mut self.twos[side], below, &halt);
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
        self.tell();
        Tried { edge, settled: exact || edge.bound() >= target, found }
    }

    fn attempt_deep(&mut self, node: &RankNode, depth: u32, tried: &Try, target: Cost) -> Tried {
        let cut = tried.edge.cut as u32;
        let parts = [Side::Left, Side::Right].map(|side| {
            let cut = Some((tried.axis, cut, side));
            Part { node, cut }
        });
        let mut lower = self.at_least(&parts, tried);
        let mut known: [Option<Known>; 2] = [None, None];
        let first = usize::from(parts[1].rows().len() < parts[0].rows().len());
        let closing = tried.closing(target);
        for side in [first, 1 - first, first] {
            let solved = known[side].as_ref().is_some_and(|known| known.lower >= known.upper);
            let below = closing[side].max(scope::of_child(target, lower[1 - side]));
            if solved || lower[side] >= below || self.stopped() {
                continue;
            }
            // No child is larger than its parent.
            if !self.shared.run.fits(node.bytes() as u64) {
                self.shared.run.stop(Status::MemoryLimit);
                break;
            }
            let child = RankNode::child(parts[side], self.shared.view);
            let bytes = child.bytes() as i64;
            self.shared.run.add_bytes(bytes);
            let answer = self.solve(&child, depth - 1, below);
            self.shared.run.add_bytes(-bytes);
            lower[side] = lower[side].max(answer.lower);
            known[side] = Some(answer);
        }
        let edge = Edge { cut: tried.edge.cut, left: lower[0], right: lower[1] };
        let mut settled = edge.bound() >= target;
        let solved = |side: &Option<Known>| side.as_ref().is_some_and(|k| k.lower >= k.upper);
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

    /// Tell the run how much the questions have grown.
    fn tell(&mut self) {
        let now = self.twos.iter().map(|two| self.shared.kernel.two_bytes(two)).sum::<usize>();
        self.shared.run.add_bytes(now as i64 - self.told as i64);
        self.told = now;
        if !self.shared.run.fits(0) {
            lock(&self.shared.memo).clear(self.shared.run);
            if !self.shared.run.fits(0) {
                self.shared.run.stop(Status::MemoryLimit);
            }
        }
    }
}

impl<K: RankKernel> Drop for Worker<'_, '_, K> {
    fn drop(&mut self) {
        self.shared.run.add_bytes(-(self.told as i64));
        self.shared.run.add_decisions(&self.decided);
    }
}

fn split(node: &RankNode, tried: &Try, left: Plan, right: Plan) -> Plan {
    let axis = &node.axes[tried.axis];
    Plan::split(axis.feature, axis.cuts[tried.edge.cut as usize], left, right)
}
