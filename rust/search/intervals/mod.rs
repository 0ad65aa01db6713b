//! Exact search over all cuts of continuous features: best-first over intervals of cuts.
//!
//! A node's alternatives are a feature and an interval of its cuts, with one bound for all of them;
//! the interval with the least is cut in two where the bound is weakest. Reading order: [`budget`]
//! (what a tree may be) → [`open_intervals`] (what of a node is open) → [`descend`] (the main loop)
//! → [`attempt`] (one cut) and [`sides`]; the last two levels are `kernel/ranks`, where nothing but
//! depth limits them. [`parts`] divides the root among processes.

mod attempt;
mod budget;
mod descend;
mod kept;
mod memo;
mod open_intervals;
mod parts;
mod saved;
mod sides;
mod similar;

use std::time::Duration;

use crate::bits::Level;
use crate::bounds::{Bound, affordable_leaves, floors};
use crate::cost::{Cost, INFINITE};
use crate::error::Result;
use crate::kernel::ranks::{RankKernel, RankRows, WithKernel, takes, with_kernel};
use crate::problem::{Problem, Shape};
use crate::run::{Counted, HeapBytes, Held, Run};
use crate::search::common::Found;
use crate::search::common::set_up::too_large;
use crate::search::common::sync::{AtomicI64, Condvar, Mutex, Ordering, unlocked};
use crate::search::common::workers::{self, with_room};
use crate::tree::Plan;
use crate::view::{LeastRows, Part, RankView};
use budget::Budget;
use descend::{Shared, Worker};
use memo::Memo;
use open_intervals::OpenIntervals;
pub use parts::RootPart;

/// What a look takes, about, for each row and pair of columns.
const NANOSECONDS_OF_A_ROW: f64 = 10.0;

/// Whether this search can take the problem. Its kernels choose labels or means, and know of no
/// feature costs, which bounds of neighbouring cuts would not survive. Something must limit depth.
pub fn applies(problem: &Problem) -> bool {
    // A minimum of rows limits nothing here, because each leaf may be as small as it says.
    let Shape { max_depth, max_leaves, min_leaf_rows: _ } = problem.shape;
    let is_limited = max_depth.is_some() || max_leaves.is_some() || problem.has_penalty();
    takes(problem.task.as_ref())
        && problem.feature_costs.is_none()
        && problem.context.is_none()
        && is_limited
}

/// Switches for tests and benches: every setting gives the same optimum.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub level: Level,
    /// Blocks that the kernel puts the cuts of a feature into; `None`: as many as pay.
    pub blocks: Option<usize>,
    /// Bytes that a subproblem may take for what it knows by pair of features; `None`: as many as
    /// there is room for.
    pub room_for_pairs: Option<usize>,
    /// Whether kernels may look at neighbouring cuts together.
    pub together: bool,
    /// Not a switch: trees that cost this or more are of no use. Where there is no other, any plan
    /// is found, with this as its cost.
    pub cutoff: Cost,
    /// Not a switch: what was saved is a part of the root, which is searched for so long. A cut
    /// that was begun is looked at to its end.
    pub slice: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            level: Level::detect(),
            blocks: None,
            room_for_pairs: None,
            together: true,
            cutoff: INFINITE,
            slice: None,
        }
    }
}

/// All that a search leaves behind for one that goes on, which has to know the tree already.
#[derive(Default)]
pub struct SavedSearch {
    open_intervals: Option<OpenIntervals>,
    memo: Memo,
}

impl SavedSearch {
    /// All that is known of the root.
    pub fn take_root(&mut self) -> RootPart {
        RootPart(self.open_intervals.take())
    }

    pub fn put_root(&mut self, part: RootPart) {
        self.open_intervals = part.0;
    }
}

impl HeapBytes for SavedSearch {
    fn heap_bytes(&self) -> usize {
        self.open_intervals.as_ref().map_or(0, OpenIntervals::heap_bytes) + self.memo.heap_bytes()
    }
}

pub fn solve(problem: &Problem, run: &Run, options: &Options) -> Result<Found> {
    Ok(go_on(problem, run, options, SavedSearch::default())?.0)
}

/// Go on from what an earlier search of this very problem left behind, if anything, and leave
/// behind what is known then.
pub fn go_on(
    problem: &Problem,
    run: &Run,
    options: &Options,
    saved: SavedSearch,
) -> Result<(Found, SavedSearch)> {
    let Options { cutoff, slice, room_for_pairs, together, .. } = *options;
    let work = Work { problem, run, cutoff, slice, saved, room_for_pairs, together };
    work.reserve(problem.points.len(), 0)?;
    if run.check_time().is_some() {
        // To set up takes long where there are many rows, and nothing would come of it.
        let leaf = problem.as_one_leaf();
        let found = Found { plan: Plan::Leaf, upper: leaf, lower: problem.leaf_cost.min(leaf) };
        return Ok((found, work.saved));
    }
    with_kernel(problem, options.blocks, options.level, work)
}

/// A search that waits for its kernel.
struct Work<'a, 'run> {
    problem: &'a Problem,
    run: &'a Run<'run>,
    cutoff: Cost,
    slice: Option<Duration>,
    saved: SavedSearch,
    room_for_pairs: Option<usize>,
    together: bool,
}

/// Fewer features have room, and the machine is not asked how much it has.
const FEW_FEATURES: usize = 64;

impl Work<'_, '_> {
    /// An error if a view of so many rows, beside what is held, is more than there is room for.
    fn reserve(&self, rows: usize, held: usize) -> Result<()> {
        let bytes = (RankView::bytes_for(&self.problem.features, rows) + held) as u64;
        match self.run.fits(bytes) {
            true => Ok(()),
            false => Err(too_large(self.problem, self.run, self.run.bytes() + bytes)),
        }
    }
}

impl WithKernel for Work<'_, '_> {
    type Output = (Found, SavedSearch);

    fn prepare(&mut self, rows: &RankRows) -> Result<()> {
        self.reserve(rows.points.len(), rows.bytes)
    }

    /// Half of the memory that is left, shared among the subproblems, of which a worker has one for
    /// each side.
    fn room_for_pairs(&self) -> usize {
        let left = || match self.problem.features.len() < FEW_FEATURES {
            true => usize::MAX,
            false => {
                let left = self.run.memory().saturating_sub(self.run.bytes());
                let subproblems = 2 * self.run.limits().threads.max(1) as u64;
                usize::try_from(left / 2 / subproblems).unwrap_or(usize::MAX)
            }
        };
        self.room_for_pairs.unwrap_or_else(left)
    }

    fn together(&self) -> bool {
        self.together
    }

    fn run<K: RankKernel>(self, rows: RankRows, kernel: &K) -> Result<(Found, SavedSearch)> {
        let Work { problem, run, cutoff, slice, saved, .. } = self;
        let RankRows { points, worst, base, bytes } = rows;
        let min_rows = problem.shape.min_leaf_rows;
        let view = RankView::new(&problem.features, &problem.points, min_rows, &points, worst);
        let _held = Held::of(run, view.bytes() + bytes);
        let given = (cutoff - base, slice, saved);
        let (mut found, saved) = with(problem, &view, kernel, run, given)?;
        found.lower += base;
        found.upper += base;
        Ok((found, saved))
    }
}

/// Search with a kernel; costs are the kernel's.
fn with<K: RankKernel>(
    problem: &Problem,
    view: &RankView,
    kernel: &K,
    run: &Run,
    (cutoff, slice, saved): (Cost, Option<Duration>, SavedSearch),
) -> Result<(Found, SavedSearch)> {
    let leaf = kernel.leaf(&view.root.rows);
    let depth = problem.shape.max_depth.unwrap_or(u32::MAX).min(view.root.len() as u32);
    let room = leaf - kernel.floor(Part::all(&view.root));
    let useful = affordable_leaves::levels(depth, kernel.leaf_cost(), room);
    if useful < depth {
        run.decided(Bound::AffordableLeaves);
    }
    let budget = Budget::tight(useful, problem.shape.max_leaves.unwrap_or(u32::MAX));
    let least_rows = view.least_rows.as_ref().map_or(1, LeastRows::least);
    let is_limited = !budget.is_full() || least_rows > 1;
    let deep = budget.depth >= 2 + u32::from(!is_limited) && !view.root.axes.is_empty();
    let threads = if deep { run.limits().threads } else { 1 };
    // A worker has the root's grid, a subproblem for each side, and the nodes on its way.
    let [grid, two] = kernel.bytes_for(&view.root).map(|bytes| bytes as u64);
    let levels = u64::from((budget.depth + u32::from(is_limited)).saturating_sub(3).min(2));
    let nodes = (view.root.bytes() as u64 + grid) * levels;
    let worker = grid + 2 * two + nodes;
    let Some(threads) = with_room(run, threads, 0, worker) else {
        return Err(too_large(problem, run, run.bytes() + worker));
    };
    // Without the tree that was found, what was closed because of it would have to be opened again.
    let same = |open: &OpenIntervals| open.budget == budget && cutoff <= open.upper;
    let root = saved.open_intervals.filter(same).map(|mut open| {
        open.offer(cutoff, Plan::Leaf);
        if open.waits() {
            open.begin_with_limits(&view.root, kernel.leaf_cost());
        }
        Counted::new(run, open)
    });
    let base = problem.as_one_leaf() - leaf;
    let shared = Shared {
        base,
        kernel,
        view,
        run,
        memo: Mutex::new(Counted::new(run, saved.memo)),
        root: Mutex::new(root),
        changed: Condvar::new(),
        lower: AtomicI64::new(kernel.leaf_cost()),
        upper: AtomicI64::new(leaf.min(cutoff)),
        cutoff,
        slice,
        least_bound: match floors::are_in(problem.task.as_ref()) {
            true => Bound::Floors,
            false => Bound::EquivalentPoints,
        },
    };
    let work = || {
        let mut worker = Worker::new(&shared);
        if deep {
            worker.work(budget, least_rows);
            return None;
        }
        Some(worker.solve(&view.root, budget, Cost::MAX, least_rows))
    };
    let report = || {
        let (lower, upper) =
            (shared.lower.load(Ordering::Relaxed), shared.upper.load(Ordering::Relaxed));
        run.report(lower + base, upper + base);
    };
    let pairs = (view.root.axes.len() as f64).powi(2);
    let look = pairs * view.root.len() as f64 * NANOSECONDS_OF_A_ROW;
    let known: Option<Found> = match threads {
        1 => workers::work_alone(run, workers::is_small(problem, look), work, report)?,
        _ => workers::work(run, threads, work, report)?.pop().flatten(),
    };
    let Shared { root, memo, .. } = shared;
    let mut open_intervals = unlocked(root).map(Counted::into_inner);
    let memo = unlocked(memo).into_inner();
    let found = match (&mut open_intervals, known) {
        (Some(open_intervals), _) => {
            let closed = open_intervals.take_closed(open_intervals.upper);
            run.add_decided(Bound::NeighbouringCuts, closed);
            let plan = std::mem::take(&mut open_intervals.plan);
            Found { lower: open_intervals.lower(), upper: open_intervals.upper, plan }
        }
        (None, Some(known)) => {
            Found { lower: known.lower.min(known.upper), upper: known.upper, plan: known.plan }
        }
        (None, None) => Found { lower: kernel.leaf_cost(), upper: leaf, plan: Plan::Leaf },
    };
    Ok((found, SavedSearch { open_intervals, memo }))
}
