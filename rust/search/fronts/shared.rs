//! The state that all workers of one search share.

use std::sync::OnceLock;

use super::alternative::Alternative;
use super::front::Front;
use super::known_fronts::KnownFronts;
use super::node_front::Entry;
use super::statistics::n_statistics;
use super::stopped::Stopped;
use super::subtree::Subtree;
use crate::bounds::affordable_leaves;
use crate::cost::{Cost, INFINITE};
use crate::error::Error;
use crate::kernel::Unfinished;
use crate::problem::{Problem, Shape};
use crate::run::{Run, Status};
use crate::search::common::open_work::OpenWork;
use crate::search::common::sync::{AtomicI64, Mutex, Ordering, lock};
use crate::view::BitView;

/// The bounds that are known before the search.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// The cost of the best tree known, or more than any tree costs.
    pub upper: Cost,
    /// No tree costs less.
    pub lower: Cost,
    /// The cost that is shown for the best tree while there is none.
    pub shown: Cost,
}

pub struct Shared<'a, 'run, F: Front> {
    pub problem: &'a Problem,
    pub front: &'a F,
    pub bits: &'a BitView,
    pub run: &'a Run<'run>,
    pub known: KnownFronts<'a, 'run, F::Value>,
    pub min_rows: i64,
    /// True if the view says how many rows of the data each of its rows stands for.
    pub count_rows: bool,
    /// A subtree that is not the whole tree has fewer.
    pub max_leaves: u32,
    pub n_statistics: usize,
    pub depth: u32,
    pub root: Mutex<Root>,
    start: Start,
    /// The most that a whole tree may cost in the relaxation to be better than the best one known.
    budget: AtomicI64,
    best: Mutex<Option<(Cost, Subtree)>>,
    broken: OnceLock<Error>,
}

/// The splits of the root that are not done.
#[derive(Default)]
pub struct Root {
    pub looked: bool,
    pub splits: OpenWork<Alternative>,
}

/// True if the view must count rows: for a minimum of rows, or to hold points that the relaxation
/// could leave out.
pub fn counts_rows<F: Front>(problem: &Problem, front: &F) -> bool {
    problem.shape.min_leaf_rows > 1 || front.needs_every_point()
}

impl<'a, 'run, F: Front> Shared<'a, 'run, F> {
    pub fn new(
        problem: &'a Problem,
        front: &'a F,
        bits: &'a BitView,
        start: Start,
        run: &'a Run<'run>,
    ) -> Self {
        let Shape { max_depth, max_leaves, min_leaf_rows } = problem.shape;
        Shared {
            problem,
            front,
            bits,
            run,
            known: KnownFronts::new(run),
            min_rows: min_leaf_rows.min(i64::MAX as u64) as i64,
            count_rows: counts_rows(problem, front),
            max_leaves: max_leaves.unwrap_or(u32::MAX),
            n_statistics: n_statistics(problem, bits),
            depth: max_depth.unwrap_or(u32::MAX),
            root: Mutex::new(Root::default()),
            start,
            budget: AtomicI64::new(front.budget(start.upper)),
            best: Mutex::new(None),
            broken: OnceLock::new(),
        }
    }

    /// How many levels of splits a subtree within the budget can have: each adds a leaf.
    pub fn levels(&self, depth: u32, least: Cost, budget: Cost) -> u32 {
        let depth = self.most_levels(depth);
        match self.problem.leaf_cost {
            0 => depth,
            leaf_cost => affordable_leaves::levels(depth, leaf_cost, budget - least + 1),
        }
    }

    /// How many levels of splits a subtree can have, whatever its leaves cost.
    pub fn most_levels(&self, depth: u32) -> u32 {
        depth.min(self.max_leaves.saturating_sub(2))
    }

    /// True if all that is held is within the memory limit, if need be without the fronts that are
    /// known.
    pub fn has_room(&self) -> bool {
        if !self.run.fits(0) {
            self.known.clear();
        }
        self.run.fits(0)
    }

    /// What rows with these sums pay for this price of a question.
    pub fn paid_by(&self, sums: &[i64], price: Cost) -> Cost {
        let context = self.bits.context.as_ref().filter(|_| price != 0);
        context.map_or(0, |context| context.paid_by_classes(sums, price))
    }

    /// The value of a split of this price.
    pub fn join(&self, a: &Entry<F::Value>, b: &Entry<F::Value>, price: Cost) -> F::Value {
        self.paid(self.front.join(&a.value, &b.value), price)
    }

    /// A value, with what the question at its root costs.
    pub fn paid(&self, value: F::Value, price: Cost) -> F::Value {
        if price == 0 { value } else { self.front.pay(value, price) }
    }

    pub fn budget(&self) -> Cost {
        self.budget.load(Ordering::Relaxed)
    }

    /// Keep a whole tree if it is the best so far.
    pub fn offer(&self, cost: Cost, tree: impl FnOnce() -> Subtree) {
        let mut best = lock(&self.best);
        if cost < best.as_ref().map_or(self.start.upper, |best| best.0) {
            *best = Some((cost, tree()));
            self.budget.fetch_min(self.front.budget(cost), Ordering::Relaxed);
        }
    }

    /// The best tree that was found, at the end.
    pub fn take_best(&self) -> Option<(Cost, Subtree)> {
        lock(&self.best).take()
    }

    pub fn upper(&self) -> Cost {
        lock(&self.best).as_ref().map_or(self.start.upper, |best| best.0)
    }

    pub fn lower(&self) -> Cost {
        // While somebody looks at the root, nothing more is known.
        let Ok(root) = self.root.try_lock() else { return self.start.lower };
        if !root.looked {
            return self.start.lower;
        }
        let open = root.splits.least().map_or(INFINITE, |bound| self.front.at_least(bound));
        open.max(self.start.lower).min(self.upper())
    }

    /// End the search because a kernel did not come to its end.
    pub fn give_up(&self, why: Unfinished) -> Stopped {
        match why {
            Unfinished::NoMemory => self.run.stop(Status::MemoryLimit),
            // Whoever asked to stop has said why, and `failure` knows the clause that is broken.
            Unfinished::Stopped | Unfinished::TaskFailed => self.run.stop(Status::Interrupted),
        }
        Stopped
    }

    /// A leaf's values must not be bounded by less than the relaxation costs there.
    pub fn check_bound(&self, bound: Cost, relaxed: Cost) -> Result<(), Stopped> {
        if bound >= relaxed {
            return Ok(());
        }
        let _ = self.broken.set(Error::task(format!(
            "a leaf's bound is at least what the relaxation's best answer costs there, but a leaf has \
             a bound of {bound} and costs {relaxed} in the relaxation"
        )));
        self.run.stop(Status::Interrupted);
        Err(Stopped)
    }

    /// The clause that the task, or its relaxation, was seen to break.
    pub fn failure(&self) -> Option<Error> {
        let own = || self.broken.get().cloned();
        own().or_else(|| self.front.failure()).or_else(|| self.problem.task.failure())
    }
}
