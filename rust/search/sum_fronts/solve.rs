//! The root: its splits are shared out among workers.

use std::time::Duration;

use super::axes::Axes;
use super::entry::{Entry, Front, LEAF};
use super::node::Worker;
use super::shared::{Shared, Stopped};
use crate::bounds::dominance;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::run::Run;
use crate::search::common::set_up::set_up_counting;
use crate::search::common::sync::{Mutex, unlocked};
use crate::search::common::workers;
use crate::tree::Plan;

/// A tree of the front.
#[derive(Debug, Clone)]
pub struct Attained {
    pub entry: Entry,
    pub plan: Plan,
    /// The labels of its leaves, from left to right.
    pub labels: Vec<u32>,
}

/// What a search of a front has found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Trees that do not dominate each other, in the order of their entries.
    pub trees: Vec<Attained>,
    /// Where trees may be that were not found: every tree is dominated by one of `trees`, or by one
    /// of these. None if the search is complete.
    pub open: Vec<Entry>,
}

/// The front of all trees of a problem whose task is one of classes. More than `most` trees are an
/// error. `finishing`: what the caller does with each of them takes about so long, and so much of
/// the run's time is kept for that.
pub fn solve(
    problem: &Problem,
    axes: &Axes,
    most: usize,
    finishing: Duration,
    run: &Run,
) -> Result<Found> {
    let report = || run.report(0, 0).is_some();
    let shape = &problem.shape;
    let set_up = set_up_counting(problem, run, shape.min_leaf_rows > 1, &report)?;
    let Some(set_up) = set_up else { return Ok(leaf_alone(problem, axes)) };
    let bits = &set_up.bits;
    let shared = Shared::new(problem, axes, bits, run);
    let depth = shared.depth;
    let watch = || {
        report();
    };
    let (front, open) = if depth < 3 {
        let work = || Worker::new(&shared).front(0, depth);
        match workers::work(run, 1, work, watch)?.pop() {
            Some(Ok(front)) => (front, Vec::new()),
            _ => return Ok(leaf_alone(problem, axes)),
        }
    } else {
        let open = workers::work(run, 1, || Worker::new(&shared).open(0, depth), watch)?.pop();
        let Some(Ok(open)) = open else { return Ok(leaf_alone(problem, axes)) };
        let open = Mutex::new(open);
        let work =
            || -> std::result::Result<(), Stopped> { Worker::new(&shared).splits(0, depth, &open) };
        let watch = || {
            // Whoever holds it will not for long, and the clock does not wait.
            if let Ok(open) = open.try_lock() {
                run.keep_back(finishing.saturating_mul(open.front.entries.len() as u32));
            }
            report();
        };
        workers::work(run, set_up.threads, work, watch)?;
        let mut open = unlocked(open);
        let mut left = open.left_open(&shared);
        if !axes.leaves {
            left.iter_mut().for_each(|bound| bound.leaves = 0);
        }
        (std::mem::take(&mut open.front), left)
    };
    let front = if axes.leaves { front } else { without_leaves(front) };
    if front.entries.len() > most {
        return Err(too_many(front.entries.len(), most));
    }
    let trees = workers::work(run, 1, || trees(&shared, depth, &front), || {})?.pop();
    shared.known.clear();
    Ok(Found { trees: trees.transpose()?.unwrap_or_default(), open })
}

/// The front of sums alone: leaves were counted because they are limited.
fn without_leaves(mut front: Front) -> Front {
    let is_no_worse = |a: &Entry, b: &Entry| a.sums.iter().zip(&b.sums).all(|(a, b)| a <= b);
    // Whatever is found is a front, however long this takes.
    dominance::keep_undominated(&mut front.entries, is_no_worse, |_| false);
    front.entries.sort_unstable_by_key(|e| e.sums);
    front
}

fn trees(shared: &Shared, depth: u32, front: &Front) -> Result<Vec<Attained>> {
    let mut worker = Worker::new(shared);
    worker.finishes = true;
    let trees = worker.trees(0, depth, &front.entries)?;
    let attained = |(entry, (plan, labels))| Attained { entry, plan, labels };
    Ok(front.entries.iter().copied().zip(trees).map(attained).collect())
}

/// All that is known where the run was stopped before its first step.
fn leaf_alone(problem: &Problem, axes: &Axes) -> Found {
    let weights = problem.stats(0..problem.points.len());
    let leaves = u32::from(axes.leaves);
    let front = Front::of_few(axes.leaf_entries(&weights, leaves).collect());
    let label = |entry: &Entry| {
        let mut labels = 0..axes.n_labels();
        labels.find(|&label| axes.leaf(&weights, label) == entry.sums).unwrap_or(0) as u32
    };
    let tree =
        |entry: &Entry| Attained { entry: *entry, plan: Plan::Leaf, labels: vec![label(entry)] };
    let trees = front.entries.iter().map(tree).collect();
    Found { trees, open: vec![Entry { sums: [0; 3], leaves, question: LEAF }] }
}

fn too_many(n: usize, most: usize) -> Error {
    Error::invalid(format!(
        "the front has {n} trees, but at most {most} are asked for: raise max_points, or ask for \
         fewer axes, smaller trees, or weights with fewer digits"
    ))
}
