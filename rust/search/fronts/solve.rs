//! The root: its splits are shared out among workers, the most promising first.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::Front;
use super::front::{Grown, Made, Split};
use super::memo::Memo;
use super::node::{Alternative, Stopped, Worker, pairs};
use crate::cost::{Cost, INFINITE};
use crate::error::Result;
use crate::problem::Problem;
use crate::run::{Run, Status, on_threads};
use crate::search::set_up;
use crate::tree::Plan;
use crate::view::{BitView, View};

/// What is known before the search.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// The cost of the best tree known, or more than any tree costs.
    pub upper: Cost,
    /// No tree costs less.
    pub lower: Cost,
    /// What is shown for the cost of the best tree while there is none.
    pub shown: Cost,
}

/// A tree better than any that was known.
#[derive(Debug, Clone)]
pub struct Best {
    pub cost: Cost,
    pub plan: Plan,
    /// Of its leaves, from left to right.
    pub labels: Vec<u32>,
}

/// What all workers share.
pub struct Shared<'a, 'run, F: Front> {
    pub problem: &'a Problem,
    pub front: &'a F,
    pub bits: &'a BitView,
    pub run: &'a Run<'run>,
    pub memo: Memo<'a, 'run, F::Value>,
    pub min_rows: i64,
    /// A subtree that is not the whole has fewer.
    pub max_leaves: u32,
    n_classes: usize,
    depth: u32,
    start: Start,
    /// What a whole tree may cost in the relaxation to be better than the best one known.
    budget: AtomicI64,
    best: Mutex<Option<(Cost, Grown)>>,
    root: Mutex<Root>,
    next: AtomicUsize,
}

/// The splits of the root, by bound, and which of them are done.
#[derive(Default)]
struct Root {
    looked: bool,
    splits: Vec<Alternative>,
    done: Vec<bool>,
}

impl<F: Front> Shared<'_, '_, F> {
    /// How many levels of splits a subtree within the budget can have: each adds a leaf.
    pub fn levels(&self, depth: u32, least: Cost, budget: Cost) -> u32 {
        let depth = depth.min(self.max_leaves.saturating_sub(2));
        let leaf_cost = self.problem.leaf_cost;
        match leaf_cost {
            0 => depth,
            _ => depth.min(((budget - least) / leaf_cost - 1).clamp(0, 1 << 30) as u32),
        }
    }

    /// Class weights of a view's rows.
    pub fn weights(&self, view: &View) -> Vec<i64> {
        let mut weights = vec![0; self.n_classes];
        for (index, segment) in self.bits.segments.iter().enumerate() {
            weights[segment.class as usize] += view.segment(index).len() as i64 * segment.weight;
        }
        weights
    }

    /// Whether all that is held is within the memory limit, if need be without the fronts that are known.
    pub fn has_room(&self) -> bool {
        if !self.run.fits(0) {
            self.memo.clear();
        }
        self.run.fits(0)
    }

    fn budget(&self) -> Cost {
        self.budget.load(Ordering::Relaxed)
    }

    fn offer(&self, cost: Cost, tree: impl FnOnce() -> Grown) {
        let mut best = lock(&self.best);
        if cost < best.as_ref().map_or(self.start.upper, |best| best.0) {
            *best = Some((cost, tree()));
            self.budget.fetch_min(self.front.budget(cost), Ordering::Relaxed);
        }
    }

    fn upper(&self) -> Cost {
        lock(&self.best).as_ref().map_or(self.start.upper, |best| best.0)
    }

    fn lower(&self) -> Cost {
        // While somebody looks at the root, nothing more is known.
        let Ok(root) = self.root.try_lock() else { return self.start.lower };
        if !root.looked {
            return self.start.lower;
        }
        let open = root.done.iter().position(|done| !done);
        let open = open.map_or(INFINITE, |split| self.front.at_least(root.splits[split].bound()));
        open.max(self.start.lower).min(self.upper())
    }
}

impl<F: Front> Worker<'_, '_, '_, F> {
    /// Take one split of the root after the other.
    fn work(&mut self) -> std::result::Result<(), Stopped> {
        let shared = self.shared;
        self.look_at_root()?;
        loop {
            let index = shared.next.fetch_add(1, Ordering::Relaxed);
            let Some(split) = lock(&shared.root).splits.get(index).copied() else { return Ok(()) };
            let budget = shared.budget();
            if split.bound() <= budget {
                let question = self.question(split.column);
                let children = self.children(0, &split, shared.depth - 1, budget)?;
                if let Some([left, right]) = children {
                    pairs(&left, &right, budget, |a, b| {
                        let leaves = a.leaves + b.leaves;
                        if a.bound + b.bound > shared.budget() || leaves > shared.max_leaves {
                            return;
                        }
                        let value = shared.front.join(&a.value, &b.value);
                        if let Some(cost) = shared.front.judge(&value, leaves) {
                            let children = [a.tree.clone(), b.tree.clone()];
                            shared.offer(cost, || Made::Split(Split { question, children }).grow());
                        }
                    });
                }
            }
            lock(&shared.root).done[index] = true;
        }
    }

    /// Whoever comes first looks; the others wait.
    fn look_at_root(&mut self) -> std::result::Result<(), Stopped> {
        let shared = self.shared;
        let mut root = lock(&shared.root);
        if root.looked {
            return Ok(());
        }
        let weights = shared.weights(self.root().0);
        shared.front.leaf(&weights, &mut |label, _, value| {
            if let Some(cost) = shared.front.judge(&value, 1) {
                shared.offer(cost, || Made::Leaf(label).grow());
            }
        });
        if shared.depth > 0 && shared.max_leaves > 1 {
            root.splits = self.alternatives(0, shared.depth, shared.budget())?;
            root.done = vec![false; root.splits.len()];
        }
        root.looked = true;
        Ok(())
    }
}

/// The best tree below `start.upper`, if there is one, and a bound that no tree is below. The problem is
/// the relaxation, and the run speaks of the true cost.
pub fn solve<F: Front>(
    problem: &Problem,
    front: &F,
    start: Start,
    run: &Run,
) -> Result<(Option<Best>, Cost)> {
    let report = |lower: Cost, upper: Cost| run.report(lower, upper.min(start.shown).max(lower));
    let halt = || report(start.lower, start.upper).is_some();
    let threads = run.limits().threads.max(1);
    let Some((bits, threads)) = set_up(problem, run, threads, &halt)? else {
        return Ok((None, start.lower));
    };
    let classes = problem.task.structure().classes().expect("a relaxation counts classes");
    let shared = Shared {
        problem,
        front,
        bits: &bits,
        run,
        memo: Memo::new(run),
        min_rows: problem.shape.min_leaf_rows.min(i64::MAX as u64) as i64,
        max_leaves: problem.shape.max_leaves.unwrap_or(u32::MAX),
        n_classes: classes.n_classes(),
        depth: problem.shape.max_depth.unwrap_or(u32::MAX),
        start,
        budget: AtomicI64::new(front.budget(start.upper)),
        best: Mutex::new(None),
        root: Mutex::new(Root::default()),
        next: AtomicUsize::new(0),
    };
    let work = || {
        if Worker::new(&shared).work().is_err() && run.stopped().is_none() {
            run.stop(Status::MemoryLimit);
        }
    };
    let watch = || {
        report(shared.lower(), shared.upper());
    };
    on_threads(threads, work, || run.stop(Status::Interrupted), watch)?;
    let lower = shared.lower();
    shared.memo.clear();
    let best = lock(&shared.best).take().map(|(cost, tree)| {
        let mut labels = Vec::new();
        let plan = tree.plan(&bits.questions, &mut labels);
        Best { cost, plan, labels }
    });
    run.add_bytes(-(bits.bytes() as i64));
    Ok((best, lower))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
