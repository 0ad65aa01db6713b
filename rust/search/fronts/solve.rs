//! The root: its splits are shared out among workers, the most promising first.

use super::candidates::Candidates;
use super::front::Front;
use super::node_front::{Entry, NodeFront};
use super::shared::{Shared, Start, counts_rows};
use super::stopped::Stopped;
use super::subtree::{Subtree, SubtreeSketch};
use super::worker::{Worker, joined};
use crate::bounds::{Bound, Decisions, completion};
use crate::cost::{Cost, INFINITE};
use crate::error::Result;
use crate::problem::Problem;
use crate::run::{Pace, Run, Status};
use crate::search::common::open_work::{OpenWork, Work};
use crate::search::common::set_up::{SetUp, set_up_counting};
use crate::search::common::sync::lock;
use crate::search::common::workers;
use crate::tree::Plan;
use crate::view::BitView;

/// A whole tree with its cost.
#[derive(Debug, Clone)]
pub struct BestTree {
    pub cost: Cost,
    pub plan: Plan,
    /// The labels of its leaves, from left to right.
    pub labels: Vec<u32>,
}

/// A question of the root, and what all rows pay for it.
#[derive(Clone, Copy)]
struct Question {
    at: u32,
    price: Cost,
}

impl<F: Front> Worker<'_, '_, '_, F> {
    /// Whoever comes first looks at the root, and tells `each` the values of a single leaf; the
    /// others wait.
    fn look_at_root(
        &mut self,
        mut each: impl FnMut(u32, Cost, F::Value),
    ) -> std::result::Result<(), Stopped> {
        let shared = self.shared;
        let mut root = lock(&shared.root);
        if root.looked {
            return Ok(());
        }
        let (sums, leaf_cost) = (self.sums(0), shared.problem.leaf_cost);
        let mut least_bound = INFINITE;
        shared.front.leaf(&sums, &mut |label, bound, value| {
            least_bound = least_bound.min(bound);
            each(label, bound + leaf_cost, value);
        });
        if shared.depth > 0 && shared.max_leaves > 1 {
            let splits = self.alternatives(0, shared.depth, shared.budget())?;
            root.splits = OpenWork::at_rest(splits, INFINITE);
            shared.check_bound(least_bound, self.root_leaf())?;
        }
        root.looked = true;
        Ok(())
    }

    /// Take one split of the root after the other, and tell `each` its question and every pair of
    /// subtrees that is within the budget.
    fn take_splits(
        &mut self,
        mut each: impl FnMut(Question, &Entry<F::Value>, &Entry<F::Value>),
    ) -> std::result::Result<(), Stopped> {
        let shared = self.shared;
        let pace = &mut Pace::new(shared.run);
        loop {
            let Some(split) = lock(&shared.root).splits.take(Cost::MAX) else { return Ok(()) };
            let budget = shared.budget();
            if !completion::is_within(split.bound(), budget) {
                self.decided.count(Bound::Completion);
            } else {
                let question = Question { at: self.question(split.column), price: split.price };
                let children = self.children(0, &split, shared.depth - 1, budget)?;
                if let Some([left, right]) = children {
                    left.pairs(&right, budget - split.price, pace, |a, b| {
                        if a.leaves + b.leaves <= shared.max_leaves {
                            each(question, a, b);
                        }
                    })?;
                }
            }
            lock(&shared.root).splits.done(split.bound());
        }
    }

    /// Look for the best tree.
    fn find_best(&mut self) -> std::result::Result<(), Stopped> {
        let shared = self.shared;
        self.look_at_root(|label, _, value| {
            if let Some(cost) = shared.front.cost(&value, 1) {
                shared.offer(cost, || Subtree::Leaf(label));
            }
        })?;
        self.take_splits(|question, a, b| {
            if a.bound + b.bound + question.price > shared.budget() {
                return;
            }
            let value = shared.join(a, b, question.price);
            if let Some(cost) = shared.front.cost(&value, a.leaves + b.leaves) {
                shared.offer(cost, || joined(question.at, a, b).grow());
            }
        })
    }
}

impl<'w, 'a, 'run, F: Front> Worker<'w, 'a, 'run, F> {
    /// The front of whole trees, as far as this worker sees it. Once the run is stopped it may lack
    /// some.
    fn find_front(&mut self) -> std::result::Result<NodeFront<'a, 'run, F::Value>, Stopped> {
        let shared = self.shared;
        let mut candidates = Candidates::new(shared, self.sums(0));
        let looked = self.look_at_root(|label, bound, value| {
            candidates.push(bound, 1, value, || SubtreeSketch::Leaf(label));
        });
        if looked.is_ok() {
            let _ = self.take_splits(|question, a, b| {
                let value = shared.join(a, b, question.price);
                let (leaves, bound) = (a.leaves + b.leaves, a.bound + b.bound + question.price);
                candidates.push(bound, leaves, value, || joined(question.at, a, b));
            });
        }
        candidates.done(INFINITE, &mut self.decided)
    }
}

/// The view, and how many workers there is room for; `None` if the run was stopped meanwhile.
fn view_for<'a, 'run, F: Front>(
    problem: &Problem,
    front: &F,
    run: &'a Run<'run>,
    halt: &dyn Fn() -> bool,
) -> Result<Option<SetUp<'a, 'run>>> {
    set_up_counting(problem, run, counts_rows(problem, front), halt)
}

/// The best tree below `start.upper`, if there is one, and a bound that no tree is below. The
/// problem is the relaxation, and the run speaks of the true cost.
pub fn solve<F: Front>(
    problem: &Problem,
    front: &F,
    start: Start,
    run: &Run,
) -> Result<(Option<BestTree>, Cost)> {
    run.show_at_most(start.shown);
    let halt = || run.report(start.lower, start.upper).is_some();
    let Some(set_up) = view_for(problem, front, run, &halt)? else {
        return Ok((None, start.lower));
    };
    let bits = &set_up.bits;
    let shared = Shared::new(problem, front, bits, start, run);
    let work = || {
        if Worker::new(&shared).find_best().is_err() && run.stopped().is_none() {
            run.stop(Status::MemoryLimit);
        }
    };
    let watch = || {
        run.report(shared.lower(), shared.upper());
    };
    workers::work(run, set_up.threads, work, watch)?;
    let lower = shared.lower();
    shared.known.clear();
    let best = shared.take_best().map(|(cost, tree)| whole_tree(cost, &tree, bits));
    shared.failure().map_or(Ok((best, lower)), Err)
}

/// Every allowed value of whole trees that no other one makes needless, with its tree. If the run
/// was stopped, some may be missing, and some may be made needless by those.
pub fn whole_front<F: Front>(
    problem: &Problem,
    front: &F,
    run: &Run,
) -> Result<Vec<(F::Value, BestTree)>> {
    // There is no cost to come closer to, so that a gap limit never ends this.
    let report = || run.report(0, 0).is_some();
    let Some(set_up) = view_for(problem, front, run, &report)? else {
        return Ok(Vec::new());
    };
    let bits = &set_up.bits;
    let start = Start { upper: INFINITE, lower: 0, shown: INFINITE };
    let shared = Shared::new(problem, front, bits, start, run);
    let work = || Worker::new(&shared).find_front();
    let watch = || {
        report();
    };
    let fronts = workers::work(run, set_up.threads, work, watch)?;
    shared.known.clear();
    let mut candidates = Candidates::new(&shared, Worker::new(&shared).sums(0));
    for entry in fronts.iter().flatten().flat_map(|front| &front.entries) {
        let sketch = || SubtreeSketch::Grown(entry.tree.clone());
        candidates.push(entry.bound, entry.leaves, entry.value.clone(), sketch);
    }
    let mut decided = Decisions::default();
    let whole = candidates.done(INFINITE, &mut decided);
    run.add_decisions(&decided);
    let entries = whole.iter().flat_map(|whole| &whole.entries).filter_map(|entry| {
        let cost = front.cost(&entry.value, entry.leaves)?;
        Some((entry.value.clone(), whole_tree(cost, &entry.tree, bits)))
    });
    let entries = entries.collect();
    shared.failure().map_or(Ok(entries), Err)
}

fn whole_tree(cost: Cost, tree: &Subtree, bits: &BitView) -> BestTree {
    let mut labels = Vec::new();
    let plan = tree.plan(&bits.questions, &mut labels);
    BestTree { cost, plan, labels }
}
