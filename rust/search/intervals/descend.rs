//! The search itself: a node's best tree, or the proof that every tree costs at least a target.

use std::ops::Range;
use std::time::Duration;

use super::budget::Budget;
use super::kept::kept;
use super::memo::{self, Memo};
use super::open_intervals::OpenIntervals;
use super::similar::{RowSet, SearchedNode};
use crate::bounds::{Bound, Decisions, affordable_leaves, equivalent_points, fewer_limits};
use crate::cost::Cost;
use crate::kernel::ranks::{RankKernel, Stump, stump_plan, stumps};
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
    /// The root is a part of all cuts, which is searched for so long.
    pub slice: Option<Duration>,
    /// Trees cost so much more than the kernel says.
    pub base: Cost,
    /// The bound that the least costs of points stand for.
    pub least_bound: Bound,
}

pub struct Worker<'w, 'a, 'run, K: RankKernel> {
    pub shared: &'w Shared<'a, 'run, K>,
    pub twos: [K::Two; 2],
    /// The bytes of `twos`.
    held: Held<'a, 'run>,
    /// How often each bound decided here.
    pub decided: Decisions,
}

/// How far the search of a node has come. It can be raised further at any time.
pub struct Begun<'a, 'run, K: RankKernel> {
    /// As one leaf, and at least.
    leaf: Cost,
    floor: Cost,
    grid: Option<K::Grid>,
    open_intervals: Option<Counted<'a, 'run, OpenIntervals>>,
    pub found: Found,
    held: Held<'a, 'run>,
}

/// A node whose cuts are looked at, and what its tree may be.
pub struct Frame<'n, K: RankKernel> {
    pub node: &'n RankNode,
    /// None where no kernel is asked: of depth two with three leaves.
    pub grid: Option<&'n K::Grid>,
    pub budget: Budget,
    /// What every tree of the node costs beside penalties.
    pub floor: Cost,
    /// Rows that each leaf must hold.
    pub least_rows: u64,
}

impl<K: RankKernel> Begun<'_, '_, K> {
    /// Something more is known of the node.
    fn tell(&mut self, Found { lower, upper, plan }: Found) {
        if upper < self.found.upper {
            (self.found.upper, self.found.plan) = (upper, plan);
        }
        self.found.lower = self.found.lower.max(lower).min(self.found.upper);
    }
}

impl<K: RankKernel> Frame<'_, K> {
    /// The levels of a tree that costs less than `target`.
    pub fn reach(&self, leaf_cost: Cost, target: Cost) -> u32 {
        affordable_leaves::levels(self.budget.depth, leaf_cost, target - self.floor)
    }

    /// What the kernel set up for the node.
    pub fn blocks(&self) -> &K::Grid {
        self.grid.expect("kernels are asked about nodes that have blocks")
    }

    /// Whether depth is all that limits the tree.
    pub fn is_plain(&self) -> bool {
        self.budget.is_full() && self.least_rows <= 1
    }
}

impl<'w, 'a, 'run, K: RankKernel> Worker<'w, 'a, 'run, K> {
    pub fn new(shared: &'w Shared<'a, 'run, K>) -> Self {
        let (held, decided) = (Held::new(shared.run), Decisions::default());
        Worker { shared, twos: Default::default(), held, decided }
    }

    pub fn stopped(&self) -> bool {
        self.shared.run.check_time().is_some()
    }

    /// The best tree within a budget, or a lower bound of at least `target`. Where leaves must hold
    /// enough rows, the node has no cut that leaves too few on a side.
    pub fn solve(
        &mut self,
        node: &RankNode,
        budget: Budget,
        target: Cost,
        least_rows: u64,
    ) -> Found {
        let mut begun = self.begin(node);
        self.raise(node, &mut begun, (budget, least_rows), target);
        begun.found
    }

    /// The search of a node before anything is known.
    pub fn begin(&self, node: &RankNode) -> Begun<'a, 'run, K> {
        let kernel = self.shared.kernel;
        let (leaf, floor) = (kernel.leaf(&node.rows), kernel.floor(Part::all(node)));
        self.shared.run.add_nodes(1);
        let found = Found { lower: kernel.leaf_cost(), upper: leaf, plan: Plan::Leaf };
        let held = Held::new(self.shared.run);
        Begun { leaf, floor, grid: None, open_intervals: None, found, held }
    }

    /// Raise the lower bound of a node's best tree to `target`, or find that tree.
    pub fn raise(
        &mut self,
        node: &RankNode,
        begun: &mut Begun<'a, 'run, K>,
        (budget, least_rows): (Budget, u64),
        target: Cost,
    ) {
        let depth = budget.depth;
        let kernel = self.shared.kernel;
        let leaf_cost = kernel.leaf_cost();
        let (leaf, floor) = (begun.leaf, begun.floor);
        if begun.found.lower >= target.min(begun.found.upper) {
            return;
        }
        // Deeper trees than these cost as much as `cap`.
        let cap = target.min(leaf);
        let useful = affordable_leaves::levels(depth, leaf_cost, cap - floor);
        // They have this many leaves.
        let deeper = floor + (Cost::from(useful) + 2) * leaf_cost;
        let capped = |lower: Cost| if useful < depth { lower.min(cap.max(deeper)) } else { lower };
        self.decided.add_if(leaf == leaf_cost, Some(Bound::Leaf));
        if node.axes.is_empty() || leaf == leaf_cost {
            begun.found.lower = leaf;
            return;
        }
        if useful < depth {
            let floorless = affordable_leaves::levels(depth, leaf_cost, cap);
            let by_floor = useful < floorless;
            let why = if by_floor { self.shared.least_bound } else { Bound::AffordableLeaves };
            self.decided.count(why);
        }
        if useful == 0 {
            return begun.tell(Found { lower: capped(leaf), upper: leaf, plan: Plan::Leaf });
        }
        let budget = match useful {
            // What is known of cuts holds for any target, so that it can be raised further.
            3.. => budget.within(affordable_leaves::levels(depth, leaf_cost, leaf - floor)),
            _ => budget.within(useful),
        };
        let needs_grid = budget.depth != 2 || budget.is_full() || least_rows > 1;
        if needs_grid && begun.grid.is_none() {
            if !self.shared.run.fits(kernel.bytes_for(node)[0] as u64) {
                self.shared.run.stop(Status::MemoryLimit);
                return;
            }
            let grid = kernel.grid(node);
            begun.held.set(kernel.grid_bytes(&grid));
            begun.grid = Some(grid);
        }
        let Begun { grid, open_intervals, .. } = begun;
        let grid = grid.as_ref().filter(|_| needs_grid);
        let frame = Frame { node, grid, budget, floor, least_rows };
        let mut known = match budget.depth {
            1 => {
                let (cost, plan) = kernel.stump(node, frame.blocks());
                self.shared.run.add_kernel_calls(1);
                solved(cost, plan)
            }
            2 if frame.is_plain() => self.two(node, frame.blocks(), target),
            _ => self.deep(&frame, open_intervals, target),
        };
        if useful < 3 {
            known.lower = capped(known.lower);
        }
        begun.tell(known);
    }

    fn two(&mut self, node: &RankNode, grid: &K::Grid, target: Cost) -> Found {
        self.two_of(Part::all(node), grid, 0, target)
    }

    /// The best tree of depth two of a part, or a lower bound. `at`: which of the worker's two
    /// subproblems is used.
    pub fn two_of(&mut self, part: Part, grid: &K::Grid, at: usize, target: Cost) -> Found {
        let (kernel, run) = (self.shared.kernel, self.shared.run);
        let halt = || run.check_time().is_some();
        let two = &mut self.twos[at];
        run.add_kernel_calls(1);
        let first_target = if target > 0 { target } else { Cost::MAX };
        kernel.begin(part, grid, two, first_target, &halt);
        let by_blocks = kernel.lower(two) >= target.min(kernel.upper(two));
        self.decided.add_if(target > 0 && by_blocks, Some(Bound::Blocks));
        kernel.raise(part, grid, two, target, &halt);
        if kernel.is_spent(two) && kernel.lower(two) < target {
            kernel.settle(part, grid, two, &halt);
        }
        let (cost, plan) = kernel.plan(part, grid, two);
        let lower = kernel.lower(two).min(cost);
        self.tell(at..at + 1);
        Found { lower, upper: cost, plan }
    }

    fn deep(
        &mut self,
        frame: &Frame<K>,
        begun: &mut Option<Counted<'a, 'run, OpenIntervals>>,
        target: Cost,
    ) -> Found {
        let rows = self.shared.view.fingerprint(Part::all(frame.node));
        let key = memo::key(rows, frame.node.cuts_of, frame.budget);
        // Of two levels kernels know all that limits on leaves leave to say.
        let remembers =
            frame.is_plain() && self.shared.view.least_rows.is_none() && frame.budget.depth > 2;
        let row_set = remembers.then(|| RowSet::of(frame.node, self.shared.view));
        let mut similar = 0;
        if begun.as_ref().is_none_or(|open| open.budget != frame.budget) {
            let mut open = self.start(frame, target);
            if let Some(row_set) = &row_set {
                similar = self.inherit(frame, row_set, &mut open, target);
            }
            *begun = Some(Counted::new(self.shared.run, open));
        }
        let open_intervals = begun.as_mut().expect("begun");
        let before = {
            let memo = lock(&self.shared.memo);
            memo.seen.check(rows, frame.node.rows.iter().map(|&row| u128::from(row) + 1));
            memo.get(key).max(similar)
        };
        if before < target.min(open_intervals.upper) {
            while !self.stopped()
                && let Some(tried) = open_intervals.change(|open| open.take(frame.node, target))
            {
                let own_target = target.min(open_intervals.upper);
                let outcome = self.attempt(frame, &tried, own_target);
                open_intervals.change(|open| outcome.give(open, frame, &tried));
            }
        }
        let closed = open_intervals.change(|open| open.take_closed(target.min(open.upper)));
        self.decided.add(Bound::NeighbouringCuts, closed);
        let lower = open_intervals.lower().max(before.min(open_intervals.upper));
        let searched = row_set.filter(|_| !self.stopped()).map(|row_set| {
            let edges = open_intervals.edges.iter().map(|(&(axis, ..), &edge)| (axis, edge));
            let node = (frame.node, self.shared.view);
            SearchedNode::new(node, (row_set, rows), (frame.budget, lower), edges)
        });
        lock(&self.shared.memo).change(|memo| {
            memo.keep(key, lower, self.shared.run);
            if let Some(searched) = searched {
                memo.keep_node(searched, self.shared.run);
            }
        });
        Found { lower, upper: open_intervals.upper, plan: open_intervals.plan.clone() }
    }

    /// Take over what is known of the cuts of similar nodes, and say what they bound the node by.
    fn inherit(
        &mut self,
        frame: &Frame<K>,
        row_set: &RowSet,
        open: &mut OpenIntervals,
        target: Cost,
    ) -> Cost {
        let (view, node) = (self.shared.view, frame.node);
        let (lower, nodes) =
            lock(&self.shared.memo).searched.most_similar(row_set, frame.budget, view);
        let target = target.min(open.upper);
        self.decided.add_if(lower >= target, Some(Bound::Similarity));
        if lower < target && !nodes.is_empty() {
            let mut edges = vec![Vec::new(); node.axes.len()];
            nodes.iter().for_each(|known| known.say(view, node, row_set, &mut edges));
            let inherited = open.inherit(node, edges, target);
            self.decided.add(Bound::Similarity, inherited);
        }
        lower
    }

    /// What the best tree of depth two says of a node that is deeper, or has other limits.
    fn start(&mut self, frame: &Frame<K>, target: Cost) -> OpenIntervals {
        let (kernel, view) = (self.shared.kernel, self.shared.view);
        let (node, leaf_cost) = (frame.node, kernel.leaf_cost());
        let all = Part::all(node);
        let is_two = frame.budget.depth == 2;
        let stump = is_two.then(|| stumps(kernel, all, view, 1)[0]);
        let known = match (frame.grid, stump) {
            (None, Some(Stump { cost, cut })) => {
                Found { lower: leaf_cost, upper: cost, plan: stump_plan(cut) }
            }
            _ => self.two(node, frame.blocks(), if is_two { target } else { 0 }),
        };
        // With more levels there are at least four leaves.
        let deeper = frame.floor + 4 * leaf_cost;
        let whole = match (frame.budget.depth, stump) {
            (_, Some(stump)) => stump.cost,
            (3, _) => known.lower,
            _ => known.lower.min(deeper),
        };
        let mut least = equivalent_points::at_least(kernel.floor(all), 2, leaf_cost);
        let first = match frame.is_plain() {
            true => (known.upper, known.plan),
            false => kept((kernel, view), node, (frame.budget, frame.least_rows), &known.plan),
        };
        if is_two {
            least = least.max(fewer_limits::at_least(known.lower, first.0));
        }
        OpenIntervals::new(node, frame.budget, first, leaf_cost, (whole, least))
    }

    /// Work on the root with all other workers.
    pub fn work(&mut self, budget: Budget, least_rows: u64) {
        let node = &self.shared.view.root;
        let grid = self.shared.kernel.grid(node);
        let _held = Held::of(self.shared.run, self.shared.kernel.grid_bytes(&grid));
        let floor = self.shared.kernel.floor(Part::all(node));
        self.steps(&Frame { node, grid: Some(&grid), budget, floor, least_rows });
    }

    /// Whether the time of a part is over.
    fn is_over(&self) -> bool {
        self.shared.slice.is_some_and(|slice| self.shared.run.seconds() >= slice.as_secs_f64())
    }

    fn steps(&mut self, frame: &Frame<K>) {
        let (node, grid) = (frame.node, frame.blocks());
        let leaf_cost = self.shared.kernel.leaf_cost();
        let mut is_over = false;
        loop {
            let mut root = lock(&self.shared.root);
            if root.is_none() {
                // The first worker begins; the others wait at the lock.
                // A stump is found soon, so that there is one even if time is short.
                let (cost, stump) = self.shared.kernel.stump(node, grid);
                let mut open_intervals = self.start(frame, Cost::MAX);
                open_intervals.offer(cost, stump);
                // Where few leaves are allowed, trees that may have more of them are ruled out
                // soon, and what they cost bounds the others, which take long.
                if frame.budget.depth > 2 && frame.budget.is_short() {
                    open_intervals.relaxed_upper = Some(open_intervals.upper);
                }
                open_intervals.offer(self.shared.cutoff, Plan::Leaf);
                *root = Some(Counted::new(self.shared.run, open_intervals));
            }
            let open_intervals = root.as_mut().expect("begun");
            let cutoff = self.shared.run.cutoff() - self.shared.base;
            open_intervals.change(|open| open.offer(cutoff, Plan::Leaf));
            self.shared.lower.fetch_max(open_intervals.lower(), Ordering::Relaxed);
            self.shared.upper.fetch_min(open_intervals.upper, Ordering::Relaxed);
            if self.stopped() || is_over {
                self.shared.changed.notify_all();
                return;
            }
            let Some(tried) = open_intervals.change(|open| open.take(node, Cost::MAX)) else {
                if open_intervals.idle() {
                    self.shared.changed.notify_all();
                    // Other parts may not have come so far.
                    if open_intervals.relaxed_upper.is_none() || self.shared.slice.is_some() {
                        return;
                    }
                    open_intervals.change(|open| open.begin_with_limits(node, leaf_cost));
                    continue;
                }
                // What others are looking at may leave something to do.
                let nap = Duration::from_millis(10);
                drop(self.shared.changed.wait_timeout(root, nap));
                is_over = self.is_over();
                continue;
            };
            let is_relaxed = open_intervals.relaxed_upper.is_some();
            let target = self.next_target(frame, tried.bound, open_intervals.target());
            drop(root);
            let (outcome, relaxed) = match is_relaxed {
                true => self.attempt_relaxed(frame, &tried, target),
                false => (self.attempt(frame, &tried, target), None),
            };
            let mut root = lock(&self.shared.root);
            let open_intervals = root.as_mut().expect("begun");
            open_intervals.change(|open| {
                open.relax(relaxed);
                outcome.give(open, frame, &tried);
            });
            self.shared.changed.notify_all();
            // However short a part is searched, it comes further.
            is_over = self.is_over();
        }
    }

    /// How far a cut of the root is raised next, from its bound. Where penalties alone keep trees
    /// from being deep, trees that cost little more than the bound are shallow and soon ruled out,
    /// and a cut is raised no further than the others. Where depth is limited, too, that is so of
    /// three levels only, which kernels know almost by themselves.
    fn next_target(&self, frame: &Frame<K>, bound: Cost, target: Cost) -> Cost {
        let leaf_cost = self.shared.kernel.leaf_cost();
        if leaf_cost == 0 || frame.reach(leaf_cost, target) <= 3 {
            return target;
        }
        if frame.budget.is_limited() {
            let deeper = frame.floor + 5 * leaf_cost;
            return if bound < deeper { target.min(deeper) } else { target };
        }
        target.min(bound + leaf_cost.max((target - bound) / 8))
    }

    /// Count the subproblems, which may have grown, and what decided in them.
    pub fn tell(&mut self, asked: Range<usize>) {
        // What a stop left aside was not decided.
        let decided = self.shared.run.stopped().is_none();
        for two in self.twos[asked].iter().filter(|_| decided) {
            self.decided.add_all(&self.shared.kernel.decided(two));
        }
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
pub fn solved(cost: Cost, plan: Plan) -> Found {
    Found { lower: cost, upper: cost, plan }
}

impl<K: RankKernel> Drop for Worker<'_, '_, '_, K> {
    fn drop(&mut self) {
        self.shared.run.add_decisions(&self.decided);
    }
}
