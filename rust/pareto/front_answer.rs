//! The best tree of a partly ordered task, and its whole front: searched, and recomputed from the
//! points.

use super::first_labels::best_labels;
use super::front_problem::FrontProblem;
use super::scalar;
use crate::answer::{Answer, conclude, confirm_paths};
use crate::bounds::Bound;
use crate::check;
use crate::cost::{Cost, INFINITE, MAX_TOTAL};
use crate::error::{Error, Result};
use crate::finish::labelled;
use crate::route::Route;
use crate::run::{Run, Status};
use crate::search::fronts::{self, BestTree, Front, Start};
use crate::task::FrontTask;
use crate::tree::{Plan, Tree};

/// A tree of a partly ordered task. Its leaves have the labels that were chosen.
#[derive(Debug, Clone)]
pub struct FrontAnswer<V> {
    pub answer: Answer,
    /// The value of the whole tree.
    pub value: V,
}

/// All values of whole trees that no other one dominates.
#[derive(Debug, Clone)]
pub struct WholeFront<V> {
    /// The lowest cost first.
    pub trees: Vec<FrontTree<V>>,
    /// `Optimal` if these are all. Otherwise the run was stopped: some may be missing, and some may
    /// be dominated by those that are missing.
    pub status: Status,
}

/// One value of a whole front.
#[derive(Debug, Clone)]
pub struct FrontTree<V> {
    pub tree: Tree,
    pub value: V,
    pub objective: f64,
}

/// The best tree: of the lowest cost, leaf penalties included. Its cost is recomputed from the
/// points by the task's own `leaf` and `join`. It is an error if no tree is allowed, and a panic
/// anywhere below is one, too.
pub fn solve_front<T: FrontTask + 'static>(
    problem: &FrontProblem<T>,
    run: &Run,
) -> Result<FrontAnswer<T::Value>> {
    Error::guard(|| {
        let (mut best, mut lower) = first_tree(problem, run)?;
        let upper = best.as_ref().map_or(INFINITE, |best| best.cost);
        if lower >= upper && problem.relaxed.is_some() {
            run.decided(Bound::Completion);
        }
        if lower < upper && run.stopped().is_none() {
            let start = Start { upper, lower, shown: upper.min(MAX_TOTAL) };
            let (found, proved) = fronts::solve(problem.searched(), &problem.front(), start, run)?;
            (best, lower) = (found.or(best), proved);
        }
        let best = best.ok_or_else(|| none_allowed(run))?;
        if lower > best.cost {
            return Err(not_below(best.cost, lower));
        }
        let cost = best.cost;
        let (tree, value) = confirmed(problem, best)?;
        confirm_bound(problem, &tree, cost)?;
        let answer = conclude(tree, Route::Fronts, (lower, cost), problem.scale(), run);
        Ok(FrontAnswer { answer, value })
    })
}

/// All allowed values of whole trees that no other one dominates, each with a tree that has it.
/// Where leaves cost something, a value of fewer leaves is dominated by no value of more. Each tree
/// is recomputed from the points.
pub fn whole_front<T: FrontTask + 'static>(
    problem: &FrontProblem<T>,
    run: &Run,
) -> Result<WholeFront<T::Value>> {
    Error::guard(|| {
        // A relaxation tells which trees are not the best; the others are asked for here, too.
        let front = problem.free_front();
        let mut found = fronts::whole_front(&problem.free, &front, run)?;
        found.sort_by_key(|(_, best)| (best.cost, best.labels.len()));
        let dominates = |(a, tree): &(T::Value, BestTree), (b, other): &(T::Value, BestTree)| {
            (problem.leaf_cost == 0 || tree.labels.len() <= other.labels.len())
                && problem.task.no_worse(a, b)
        };
        let mut kept: Vec<(T::Value, BestTree)> = Vec::new();
        for new in found {
            if !kept.iter().any(|known| dominates(known, &new)) {
                kept.retain(|known| !dominates(&new, known));
                kept.push(new);
            }
        }
        let tree = |(_, best): (T::Value, BestTree)| {
            let objective = problem.scale().objective(best.cost);
            let (tree, value) = confirmed(problem, best)?;
            Ok(FrontTree { tree, value, objective })
        };
        let trees = kept.into_iter().map(tree).collect::<Result<_>>()?;
        Ok(WholeFront { trees, status: run.stopped().unwrap_or(Status::Optimal) })
    })
}

/// A good tree to begin with, if one is found, and a bound that no tree is below: a single leaf, or
/// the relaxation's best tree with its best labels.
fn first_tree<T: FrontTask + 'static>(
    problem: &FrontProblem<T>,
    run: &Run,
) -> Result<(Option<BestTree>, Cost)> {
    let front = problem.front();
    let label = |plan: Plan| {
        let leaves = scalar::leaves(problem.searched(), &plan);
        let (cost, labels) = best_labels(&front, &leaves, run)?;
        Some(BestTree { cost, plan, labels })
    };
    let mut best = label(Plan::Leaf);
    let mut lower = problem.leaf_cost;
    if let Some(relaxed) = &problem.relaxed {
        let upper = best.as_ref().map_or(INFINITE, |best| best.cost);
        run.show_at_most(MAX_TOTAL);
        let found = scalar::solve(&relaxed.problem, run, lower.min(upper), upper)?;
        lower = lower.max(front.at_least(found.lower));
        let other = label(found.plan);
        best = best.into_iter().chain(other).min_by_key(|best| best.cost);
    }
    front.failure().map_or(Ok((best, lower)), Err)
}

/// The finished tree, if it costs what the search said, and its value.
fn confirmed<T: FrontTask>(problem: &FrontProblem<T>, best: BestTree) -> Result<(Tree, T::Value)> {
    let tree = labelled(&problem.free, best.plan, &best.labels)?;
    confirm_paths(&problem.free, &tree)?;
    let (columns, points) = (&problem.free.columns, &problem.free.points);
    let penalties = problem.leaf_cost * tree.n_leaves() as Cost;
    let claimed = best.cost - penalties;
    let value = check::confirm_front(claimed, &tree, columns, points, problem.task.as_ref())?;
    Ok((tree, value))
}

/// An error if the relaxation claims that the finished tree costs more than it does, or does not
/// allow it.
fn confirm_bound<T: FrontTask + 'static>(
    problem: &FrontProblem<T>,
    tree: &Tree,
    cost: Cost,
) -> Result<()> {
    if problem.relaxed.is_none() {
        return Ok(());
    }
    let (searched, front) = (problem.searched(), problem.front());
    let mut held = vec![Vec::new(); tree.nodes.len()];
    let leaves = check::leaves(tree, &searched.columns, &searched.points);
    for (point, leaf) in leaves.into_iter().enumerate() {
        held[leaf].push(point);
    }
    let mut bound = 0;
    for (node, points) in tree.nodes.iter().zip(held).filter(|(node, _)| node.split.is_none()) {
        let sums = searched.stats(points);
        front.leaf(&sums, &mut |label, own, _| {
            if label == node.label {
                bound += own + searched.leaf_cost;
            }
        });
    }
    let least = front.at_least(bound);
    if least > cost {
        return Err(not_below(cost, least));
    }
    let most = front.budget(cost + 1);
    if bound > most {
        return Err(Error::task(format!(
            "a tree that costs less than `upper` is within `budget(upper)` in the relaxation, but \
             one that costs {cost} is {} beyond it",
            bound - most
        )));
    }
    Ok(())
}

fn not_below(cost: Cost, claimed: Cost) -> Error {
    Error::task(format!(
        "a relaxation bounds the cost of every tree from below, but it claims at least {claimed} \
         for a tree that costs {cost}"
    ))
}

fn none_allowed(run: &Run) -> Error {
    match run.stopped() {
        None => Error::invalid(
            "the task allows no tree within these limits; loosen them, or what the task allows",
        ),
        Some(status) => Error::invalid(format!(
            "the search was stopped ({}) before it found a tree that the task allows; give it \
             more time or memory",
            status.name()
        )),
    }
}
