//! Start the workers, watch the clock while they work, and collect the answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::budget::Budget;
use super::descend::{Shared, Worker};
use super::extract::root_key;
use super::frame::Part;
use super::learned::{ErrorCosts, Hints, Learned};
use super::look::Rules;
use super::news::News;
use super::table::{Entry, Table};
use crate::bits::Level;
use crate::bounds::{Bound, floors};
use crate::cost::{Cost, INFINITE};
use crate::error::Result;
use crate::kernel::{ByValues, Kernel};
use crate::problem::Problem;
use crate::run::{Account, HeapBytes, Run, Status};
use crate::search::common::Found;
use crate::search::common::set_up::{SetUp, set_up};
use crate::search::common::sync::AtomicU32;
use crate::search::common::workers;
use crate::tree::Plan;
use crate::view::BitView;

/// Switches for tests and benches: every setting gives the same optimum.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub level: Level,
    pub equivalent_points: bool,
    pub child_support: bool,
    pub similarity: bool,
    pub parts: bool,
    pub three_leaves: bool,
    pub k_means: bool,
    pub by_values: ByValues,
    /// Not a switch: trees that cost this or more are of no use.
    pub cutoff: Cost,
    /// Not a switch either: only trees that begin with a question of this part are searched, and
    /// the lower bound is of these alone.
    pub part: Option<Part>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            level: Level::detect(),
            equivalent_points: true,
            child_support: true,
            similarity: true,
            parts: true,
            three_leaves: true,
            k_means: true,
            by_values: ByValues::default(),
            cutoff: INFINITE,
            part: None,
        }
    }
}

pub fn solve(problem: &Problem, run: &Run, options: &Options) -> Result<Found> {
    Ok(go_on(problem, run, options, Table::new())?.0)
}

/// Go on from a table that an earlier search left behind, of this very problem or of the same with
/// another limit of leaves, or from a new one. What is known at the end is left behind again.
pub fn go_on(
    problem: &Problem,
    run: &Run,
    options: &Options,
    table: Table,
) -> Result<(Found, Option<Table>)> {
    let (found, table, _) = search(problem, run, options, table, Earlier::default())?;
    Ok((found, table))
}

/// [`go_on`] with what other processes proved of the same nodes.
pub fn go_on_told(
    problem: &Problem,
    run: &Run,
    options: &Options,
    table: Table,
    told: &News,
) -> Result<(Found, Option<Table>)> {
    let earlier = Earlier { told: Some(told), ..Earlier::default() };
    let (found, table, _) = search(problem, run, options, table, earlier)?;
    Ok((found, table))
}

/// The answer of [`solve`], with all that was learned under other costs of errors. For these
/// `error_costs`, a search learns too, and gives that back.
pub fn solve_with(
    problem: &Problem,
    run: &Run,
    options: &Options,
    hints: Hints<'_>,
    error_costs: Option<ErrorCosts>,
) -> Result<(Found, Option<Learned>)> {
    let earlier = Earlier { hints, error_costs, told: None };
    let (found, _, learned) = search(problem, run, options, Table::new(), earlier)?;
    Ok((found, learned))
}

/// What other searches of the same rows proved, and whether this one learns for others, too.
#[derive(Default)]
struct Earlier<'a> {
    hints: Hints<'a>,
    error_costs: Option<ErrorCosts>,
    told: Option<&'a News>,
}

fn search(
    problem: &Problem,
    run: &Run,
    options: &Options,
    table: Table,
    Earlier { hints, error_costs, told }: Earlier<'_>,
) -> Result<(Found, Option<Table>, Option<Learned>)> {
    let leaf = problem.as_one_leaf();
    let halt = || run.report(problem.leaf_cost, leaf).is_some();
    let SetUp { bits, threads, held: _held } = match set_up(problem, run, &halt)? {
        Some(ready) => ready,
        None => {
            let found = Found { plan: Plan::Leaf, upper: leaf, lower: problem.leaf_cost };
            return Ok((found, Some(table), None));
        }
    };
    // The unavoidable cost is left out of costs, which are then not linear in those of errors.
    let (hints, error_costs) =
        if bits.unavoidable_cost == 0 { (hints, error_costs) } else { (Hints::default(), None) };
    if options.part.is_some() {
        // Another part, or all trees, had another bound. What is known of nodes below holds for
        // all.
        table.forget(&root_key(&bits.root, Budget::of(&problem.shape)));
    }
    let mut shared = share(problem, &bits, run, options, threads, table);
    let hint = hints.lower(&shared.root.key).min(shared.root.upper());
    if hint > shared.root.lower() && hint >= shared.root.upper() {
        run.decided(Bound::OtherCosts);
    }
    shared.root.raise(hint);
    shared.hints = hints;
    shared.told = told;
    let make = |extracts| {
        let task = problem.task.as_ref();
        let kernel = Kernel::with(shared.bits, task, options.level, options.by_values);
        Worker::new(&shared, kernel, options.level, extracts)
    };
    let report = || {
        // Cutoffs that were found meanwhile.
        shared.root.lower_to(run.cutoff() - bits.unavoidable_cost);
        run.report(
            shared.root.lower() + bits.unavoidable_cost,
            shared.root.upper() + bits.unavoidable_cost,
        );
    };
    let is_small = threads == 1 && workers::is_small(problem, bits.nanoseconds_of_a_look());
    keep_time_to_write_down(&bits, Budget::of(&problem.shape), run, || make(true));
    if run.limits().all_sizes && threads == 1 {
        workers::work_alone(run, is_small, || make(false).bound_all_sizes(), report)?;
    }
    match threads {
        1 => workers::work_alone(run, is_small, || make(false).work(), report)?,
        _ => workers::work(run, threads, || make(false).work(), report).map(drop)?,
    }
    if !shared.root.solved() {
        // Unless something else stopped them, all workers have retired.
        run.stop(Status::MemoryLimit);
    }

    let grace = Grace::new(&shared);
    let watch = || {
        report();
        grace.check();
    };
    let (plan, upper) = workers::work_alone(run, is_small, || make(true).extract(), watch)?;
    run.keep_back(Duration::ZERO);
    // While bounds moved, the plan may have become better than the root knew.
    let lower = shared.root.lower().min(upper);
    // The next part comes soon.
    if lower < upper && options.part.is_none() {
        shared.table.rest(&shared.account);
    }
    let learned = error_costs.map(|costs| Learned::from(costs, &shared.table));
    let found =
        Found { plan, upper: upper + bits.unavoidable_cost, lower: lower + bits.unavoidable_cost };
    Ok((found, Some(shared.table), learned))
}

/// A root of so many bytes takes a time to look at that a limit of time notices.
const LARGE: usize = 16 << 20;

/// Extraction looks at the rows of each node of the tree, if only at single splits. Of a large
/// problem that may take a good part of the limit: keep as much of it as the root takes for each.
fn keep_time_to_write_down<'a, 'run: 'a>(
    bits: &BitView,
    budget: Budget,
    run: &Run,
    worker: impl Fn() -> Worker<'a, 'run>,
) {
    if run.limits().time.is_none() || bits.root.bytes() < LARGE {
        return;
    }
    let start = Instant::now();
    let mut worker = worker();
    let mut root = worker.take_frame(0);
    worker.glance(&mut root);
    worker.put_frame(0, root);
    drop(worker);
    // Nodes below depth two hold too few of the rows to count.
    let nodes = 2 << budget.depth.min(2);
    run.keep_back(start.elapsed() * nodes);
}

/// A graph with its root; if it is new, with nothing else.
pub fn share<'a, 'run>(
    problem: &Problem,
    bits: &'a BitView,
    run: &'a Run<'run>,
    options: &Options,
    threads: usize,
    table: Table,
) -> Shared<'a, 'run> {
    let min_rows = problem.shape.min_leaf_rows.min(i64::MAX as u64) as i64;
    let has_prices = problem.feature_costs.is_some();
    let floors = floors::are_in(problem.task.as_ref());
    let rules = Rules {
        leaf_cost: problem.leaf_cost,
        min_rows,
        equivalent_points: options.equivalent_points,
        // Where rows pay for questions, it is not all the same which other tree they are sent to.
        child_support: options.child_support && !has_prices,
        // A superset's leaves may be large enough where a subset's are not.
        similarity: options.similarity && min_rows <= 1 && !has_prices,
        // Parts of a leaf hold less rows than it.
        parts: options.parts
            && min_rows <= 1
            && bits.context.is_none()
            && !bits.thirds.is_empty()
            && !floors,
        rounding: problem.task.rounding(),
        three_leaves: options.three_leaves && !has_prices,
        k_means: options.k_means,
        has_prices,
        floors,
        all_rows: bits.all_rows,
    };
    let account = Account::new(run, table.heap_bytes());
    let Entry::Open(root) = table.open(root_key(&bits.root, Budget::of(&problem.shape)), &account)
    else {
        unreachable!("the look-ahead solves children alone")
    };
    root.raise(problem.leaf_cost);
    root.lower_to(problem.as_one_leaf().min(options.cutoff) - bits.unavoidable_cost);
    let (workers, cut_short) = (AtomicU32::new(threads as u32), AtomicBool::new(false));
    let (hints, told, part) = (Hints::default(), None, options.part);
    Shared { bits, table, rules, run, account, root, workers, cut_short, hints, told, part }
}

/// How long extraction may look again at what the search has seen, once something ended the search.
struct Grace<'a, 'b, 'run> {
    shared: &'a Shared<'b, 'run>,
    start: Instant,
    most: Duration,
}

impl<'a, 'b, 'run> Grace<'a, 'b, 'run> {
    fn new(shared: &'a Shared<'b, 'run>) -> Self {
        let most = Duration::from_secs_f64(0.05 + shared.run.seconds() / 20.0);
        Grace { shared, start: Instant::now(), most }
    }

    /// A search that was not stopped takes the time it needs to write down its optimum.
    fn check(&self) {
        if self.shared.run.stopped().is_some() && self.start.elapsed() >= self.most {
            self.shared.cut_short.store(true, Ordering::Relaxed);
        }
    }
}
