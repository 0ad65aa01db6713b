//! Start the workers, watch the clock while they work, and collect the answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::budget::Budget;
use super::descend::{Shared, Worker};
use super::extract::root_key;
use super::learned::{Hints, Learned, Prices};
use super::look::Rules;
use super::sync::AtomicU32;
use super::table::{Entry, Table};
use crate::bits::Level;
use crate::bounds::{Bound, floors};
use crate::cost::{Cost, INFINITE};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::problem::Problem;
use crate::run::{Run, Status, on_threads};
use crate::search::{Found, set_up};
use crate::tree::Plan;
use crate::view::BitView;

/// Switches for tests and benches: every setting gives the same optimum.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub level: Level,
    pub equivalent_points: bool,
    pub child_support: bool,
    pub similarity: bool,
    pub three_leaves: bool,
    pub k_means: bool,
    /// Not a switch: trees that cost this or more are of no use.
    pub below: Cost,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            level: Level::detect(),
            equivalent_points: true,
            child_support: true,
            similarity: true,
            three_leaves: true,
            k_means: true,
            below: INFINITE,
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
    let (found, table, _) = search(problem, run, options, table, Hints::default(), None)?;
    if found.lower < found.upper {
        table.iter().for_each(|table| table.rest(run));
    }
    Ok((found, table))
}

/// The same with what was learned under other prices, and, for these `prices`, what is learned now.
pub fn solve_with(
    problem: &Problem,
    run: &Run,
    options: &Options,
    hints: Hints<'_>,
    prices: Option<Prices>,
) -> Result<(Found, Option<Learned>)> {
    let (found, _, learned) = search(problem, run, options, Table::new(), hints, prices)?;
    Ok((found, learned))
}

fn search(
    problem: &Problem,
    run: &Run,
    options: &Options,
    table: Table,
    hints: Hints<'_>,
    prices: Option<Prices>,
) -> Result<(Found, Option<Table>, Option<Learned>)> {
    let leaf = leaf(problem);
    let threads = run.limits().threads.max(1);
    let halt = || run.report(problem.leaf_cost, leaf).is_some();
    let (bits, threads) = match set_up(problem, run, threads, &halt)? {
        Some(ready) => ready,
        None => {
            let found = Found { plan: Plan::Leaf, upper: leaf, lower: problem.leaf_cost };
            return Ok((found, Some(table), None));
        }
    };
    // What is unavoidable is left out of costs, which are then not linear in prices.
    let (hints, prices) =
        if bits.unavoidable_cost == 0 { (hints, prices) } else { (Hints::default(), None) };
    let mut shared = share(problem, &bits, run, options, threads, table);
    let hint = hints.lower(&shared.root.key).min(shared.root.upper());
    if hint > shared.root.lower() && hint >= shared.root.upper() {
        run.decided(Bound::OtherCosts);
    }
    shared.root.raise(hint);
    shared.hints = hints;
    let make = |extracts| {
        let kernel = Kernel::new(shared.bits, problem.task.as_ref(), options.level);
        Worker::new(&shared, kernel, options.level, extracts)
    };
    let report = || {
        run.report(
            shared.root.lower() + bits.unavoidable_cost,
            shared.root.upper() + bits.unavoidable_cost,
        );
    };
    let stop = || run.stop(Status::Interrupted);
    on_threads(threads, || make(false).work(), stop, report)?;
    if !shared.root.solved() {
        // Unless something else stopped them, all workers have retired.
        run.stop(Status::MemoryLimit);
    }

    let grace = Grace::new(&shared);
    let mut plans = on_threads(
        1,
        || make(true).extract(),
        stop,
        || {
            report();
            grace.check();
        },
    )?;
    let (plan, upper) = plans.pop().expect("one thread gives one plan");
    // While bounds moved, the plan may have become better than the root knew.
    let lower = shared.root.lower().min(upper);
    run.add_bytes(-(bits.bytes() as i64));
    let learned = prices.map(|prices| Learned::from(prices, &shared.table));
    let found =
        Found { plan, upper: upper + bits.unavoidable_cost, lower: lower + bits.unavoidable_cost };
    Ok((found, Some(shared.table), learned))
}

/// What the whole problem costs as one leaf.
fn leaf(problem: &Problem) -> Cost {
    let everything = problem.stats(0..problem.points.len());
    problem.task.leaf(&everything).cost + problem.leaf_cost
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
    let rules = Rules {
        leaf_cost: problem.leaf_cost,
        min_rows,
        equivalent_points: options.equivalent_points,
        // Where rows pay for questions, it is not all the same which other tree they are sent to.
        child_support: options.child_support && !has_prices,
        // A superset's leaves may be large enough where a subset's are not.
        similarity: options.similarity && min_rows <= 1 && !has_prices,
        three_leaves: options.three_leaves && !has_prices,
        k_means: options.k_means,
        has_prices,
        floors: floors::are_in(problem.task.as_ref()),
        all_rows: bits.all_rows,
    };
    run.add_bytes(table.bytes());
    let Entry::Open(root) = table.open(root_key(&bits.root, Budget::of(&problem.shape)), run)
    else {
        unreachable!("the look-ahead solves children alone")
    };
    root.raise(problem.leaf_cost);
    root.lower_to(leaf(problem).min(options.below) - bits.unavoidable_cost);
    let (workers, cut_short) = (AtomicU32::new(threads as u32), AtomicBool::new(false));
    let hints = Hints::default();
    Shared { bits, table, rules, run, root, workers, cut_short, hints }
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
