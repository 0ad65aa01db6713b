//! Start the workers, watch the clock while they work, and collect the answer.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use super::descend::{Shared, Worker};
use super::extract::root_key;
use super::look::Rules;
use super::node::Budget;
use super::table::{Entry, Table, lock};
use crate::bits::Level;
use crate::kernel::Kernel;
use crate::problem::Problem;
use crate::run::Run;
use crate::search::Found;
use crate::view::BitView;

/// Switches for tests and benches: every setting gives the same optimum.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub level: Level,
    pub equivalent_points: bool,
    pub child_support: bool,
    pub similarity: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            level: Level::detect(),
            equivalent_points: true,
            child_support: true,
            similarity: true,
        }
    }
}

/// Paths are as deep as trees, and trees without a depth limit can be deep.
const STACK: usize = 256 << 20;

pub fn solve(problem: &Problem, run: &Run, options: &Options) -> Found {
    let min_rows = problem.shape.min_leaf_rows.min(i64::MAX as u64) as i64;
    let bits =
        BitView::new(&problem.features, &problem.points, problem.task.as_ref(), min_rows > 1);
    run.add_bytes(bits.root.bytes() as i64);
    let rules = Rules {
        leaf_cost: problem.leaf_cost,
        min_rows,
        equivalent_points: options.equivalent_points,
        child_support: options.child_support,
        // A superset's leaves may be large enough where a subset's are not.
        similarity: options.similarity && min_rows <= 1,
    };
    let table = Table::new();
    let budget = Budget::of(&problem.shape);
    let Entry::Open(root) = table.open(root_key(&bits.root, budget), run) else {
        unreachable!("a new table has no solved entries")
    };
    let everything = problem.stats(0..problem.points.len());
    root.lower_to(problem.task.leaf(&everything).cost + problem.leaf_cost);
    let shared = Shared { bits: &bits, table, rules, run, root };
    let make = || {
        let kernel = Kernel::new(shared.bits, problem.task.classes(), options.level);
        Worker::new(&shared, kernel, options.level)
    };

    let threads = run.limits().threads.max(1);
    let running = (Mutex::new(threads), Condvar::new());
    let (plan, upper) = std::thread::scope(|scope| {
        let mut handles = Vec::new();
        for _ in 0..threads {
            let builder = std::thread::Builder::new().name("certree".into()).stack_size(STACK);
            let handle = builder.spawn_scoped(scope, || {
                let _done = Done(&running);
                make().work();
            });
            handles.push(handle.expect("a thread can be started"));
        }
        watch(&shared, &running);
        for handle in handles {
            if let Err(panic) = handle.join() {
                std::panic::resume_unwind(panic);
            }
        }
        let builder = std::thread::Builder::new().name("certree".into()).stack_size(STACK);
        let last =
            builder.spawn_scoped(scope, || make().extract()).expect("a thread can be started");
        last.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    // While bounds moved, the plan may have become better than the root knew.
    let lower = shared.root.lower().min(upper);
    Found { plan, upper, lower }
}

/// Report to the run until all workers are done.
fn watch(shared: &Shared, (running, changed): &(Mutex<usize>, Condvar)) {
    let mut left = lock(running);
    let mut wait = Duration::from_millis(1);
    while *left > 0 {
        let result = changed.wait_timeout(left, wait);
        left = result.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        wait = (wait * 2).min(Duration::from_millis(10));
        if *left > 0 {
            drop(left);
            shared.run.report(shared.root.lower(), shared.root.upper());
            left = lock(running);
        }
    }
}

/// Tells the watcher, even when a worker panics.
struct Done<'a>(&'a (Mutex<usize>, Condvar));

impl Drop for Done<'_> {
    fn drop(&mut self) {
        *lock(&self.0.0) -= 1;
        self.0.1.notify_all();
    }
}
