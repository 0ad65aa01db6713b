//! From a problem to an answer: choose the search, run it, check what it says.

pub mod exactly;
pub mod relax;

use std::sync::Mutex;

use crate::check;
use crate::cost::{Cost, INFINITE, Scale};
use crate::error::{Error, Result};
use crate::problem::{Problem, Shape};
use crate::run::{Moment, Run, Status, Work, on_threads};
use crate::search::best_first::{self, Options};
use crate::search::{Found, intervals, separate};
use crate::tree::{Plan, Split, Tree};

/// A tree and what is known about it.
#[derive(Debug, Clone)]
pub struct Answer {
    pub tree: Tree,
    /// What the tree costs in the numbers that the caller gave, to the nearest float.
    pub objective: f64,
    /// No tree has a lower objective.
    pub lower_bound: f64,
    pub status: Status,
    pub seconds: f64,
    pub work: Work,
    pub curve: Vec<Moment>,
}

/// A tree and what is proved of the best one, for a search that goes on.
pub struct Known {
    pub tree: Tree,
    pub upper: Cost,
    /// No tree costs less.
    pub lower: Cost,
    /// Whoever goes on first takes it.
    rest: Mutex<Option<Rest>>,
}

/// What a search leaves behind: no node is searched twice.
pub enum Rest {
    Nodes(best_first::Table),
    Cuts(intervals::Rest),
}

impl Known {
    pub fn new(tree: Tree, (lower, upper): (Cost, Cost), rest: Option<Rest>) -> Known {
        Known { tree, upper, lower: lower.min(upper), rest: Mutex::new(rest) }
    }

    /// A tree of this very problem that was found elsewhere, and what no tree's objective is below.
    pub fn of_tree(problem: &Problem, tree: Tree, lower_bound: f64) -> Result<Known> {
        let fits = |split: &Split| split.column.index() < problem.columns.len();
        if !tree.nodes.iter().filter_map(|node| node.split.as_ref()).all(fits)
            || !is_allowed(problem, &tree)
        {
            return Err(Error::invalid("the tree to go on from is none of this problem"));
        }
        let upper = cost_of(problem, &tree);
        Ok(Known::new(tree, (problem.scale.cost_above(lower_bound), upper), None))
    }

    /// What is known of smaller trees: that none costs less, and all of the nodes.
    fn of_smaller_trees(&self) -> Known {
        Known::new(self.tree.clone(), (self.lower, INFINITE), self.take())
    }

    fn take(&self) -> Option<Rest> {
        self.rest.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }
}

/// A panic anywhere below is an error here.
pub fn solve(problem: &Problem, run: &Run) -> Result<Answer> {
    Ok(go_on(problem, None, run)?.0)
}

/// Search until the tree that is known is proved to be the best, or a better one is, within the
/// run's limits.
pub fn go_on(problem: &Problem, known: Option<&Known>, run: &Run) -> Result<(Answer, Known)> {
    Error::guard(|| {
        let below = known.map_or(INFINITE, |known| known.upper);
        let searched = search_on(problem, run, below, known.and_then(Known::take));
        // A task that failed explains whatever came of it.
        problem.task.failure().map_or(Ok(()), Err)?;
        let (found, rest) = searched?;
        let lower = known.map_or(found.lower, |known| known.lower.max(found.lower));
        let known = match known {
            Some(known) if found.upper >= known.upper => {
                Known::new(known.tree.clone(), (lower, known.upper), rest)
            }
            _ => {
                let tree = grow(problem, found.plan)?;
                problem.task.failure().map_or(Ok(()), Err)?;
                confirm(problem, &tree, found.upper)?;
                Known::new(tree, (lower, found.upper), rest)
            }
        };
        let bounds = (known.lower, known.upper);
        let answer = conclude(known.tree.clone(), bounds, problem.scale, run);
        Ok((exactly::settle_finely(problem, answer, run)?, known))
    })
}

/// The best tree of at most so many leaves, from a search that allowed more: what it proved of
/// nodes holds here too.
pub fn with_most_leaves(
    problem: &Problem,
    most: u32,
    known: &Known,
    run: &Run,
) -> Result<(Problem, Answer, Known)> {
    let smaller = problem.with_most_leaves(most);
    let (answer, known) = go_on(&smaller, Some(&known.of_smaller_trees()), run)?;
    Ok((smaller, answer, known))
}

/// The search for a problem. Trees that cost `below` or more are of no use: where there is no
/// other, the plan is any, and costs no less.
pub fn search(problem: &Problem, run: &Run, below: Cost) -> Result<Found> {
    Ok(search_on(problem, run, below, None)?.0)
}

/// The same from what an earlier search left behind, of this very problem or of the same with more
/// leaves.
fn search_on(
    problem: &Problem,
    run: &Run,
    below: Cost,
    rest: Option<Rest>,
) -> Result<(Found, Option<Rest>)> {
    if separate::applies(problem) {
        Ok((separate::solve(problem, run), None))
    } else if takes_intervals(problem) {
        let options = intervals::Options { below, ..Default::default() };
        let rest = match rest {
            Some(Rest::Cuts(rest)) => rest,
            _ => Default::default(),
        };
        let (found, rest) = intervals::go_on(problem, run, &options, rest)?;
        Ok((found, Some(Rest::Cuts(rest))))
    } else if takes_relaxation(problem) {
        let (found, table) = relax::solve(problem, run, below, nodes(rest))?;
        Ok((found, table.map(Rest::Nodes)))
    } else {
        let options = Options { below, ..Default::default() };
        let table = nodes(rest).unwrap_or_default();
        let (found, table) = best_first::go_on(problem, run, &options, table)?;
        Ok((found, table.map(Rest::Nodes)))
    }
}

fn nodes(rest: Option<Rest>) -> Option<best_first::Table> {
    match rest {
        Some(Rest::Nodes(table)) => Some(table),
        _ => None,
    }
}

/// Whether that is the search that looks at every cut as a question of its own.
pub fn takes_best_first(problem: &Problem) -> bool {
    !separate::applies(problem) && !takes_intervals(problem) && !takes_relaxation(problem)
}

fn takes_intervals(problem: &Problem) -> bool {
    intervals::applies(problem) && has_many_cuts(problem)
}

fn takes_relaxation(problem: &Problem) -> bool {
    !intervals::applies(problem) && relax::applies(problem) && has_many_cuts(problem)
}

/// An error unless the tree costs what the search said.
pub fn confirm(problem: &Problem, tree: &Tree, claimed: Cost) -> Result<()> {
    check::confirm(claimed, cost_of(problem, tree))?;
    problem.context.as_ref().map_or(Ok(()), |context| check::allowed(tree, context.as_ref()))
}

/// True if the shape allows the tree: its depth, its leaves, and the rows in each leaf of a split.
fn is_allowed(problem: &Problem, tree: &Tree) -> bool {
    let Shape { max_depth, max_leaves, min_leaf_rows } = problem.shape;
    let mut depths = vec![0u32; tree.nodes.len()];
    for (at, node) in tree.nodes.iter().enumerate() {
        if let Some(split) = &node.split {
            depths[split.left.index()] = depths[at] + 1;
            depths[split.right.index()] = depths[at] + 1;
        }
    }
    let mut rows = vec![0; tree.nodes.len()];
    for (point, leaf) in
        check::leaves(tree, &problem.columns, &problem.points).into_iter().enumerate()
    {
        rows[leaf] += problem.points.rows(point);
    }
    let is_full = |at: usize| tree.nodes[at].split.is_some() || rows[at] >= min_leaf_rows;
    max_depth.is_none_or(|most| depths.iter().all(|&depth| depth <= most))
        && max_leaves.is_none_or(|most| tree.n_leaves() <= most as usize)
        && (tree.nodes.len() == 1 || (0..tree.nodes.len()).all(is_full))
}

/// The cost of the tree by its own tests and labels.
fn cost_of(problem: &Problem, tree: &Tree) -> Cost {
    let (points, task) = (&problem.points, problem.task.as_ref());
    let cost = check::recompute(tree, &problem.columns, points, task, problem.leaf_cost);
    let spent = |costs| check::spent(tree, &problem.columns, points, costs);
    cost + problem.feature_costs.as_ref().map_or(0, spent)
}

/// On a stack that is deep enough for any tree: plans are walked, and dropped, by recursion.
pub fn on_deep_stack<I: Send, T: Send>(input: I, work: impl Fn(I) -> T + Sync) -> Result<T> {
    let input = Mutex::new(Some(input));
    let take = || input.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
    let mut results = on_threads(1, || take().map(&work), || {}, || {})?;
    Ok(results.pop().flatten().expect("one thread takes the one input"))
}

/// The plan as a tree.
pub fn grow(problem: &Problem, plan: Plan) -> Result<Tree> {
    let (columns, features) = (&problem.columns, &problem.features);
    let (points, task) = (&problem.points, problem.task.as_ref());
    let units = problem.scale.units;
    let tree =
        on_deep_stack(plan, |plan| Tree::grow(&plan, columns, features, points, task, units))?;
    debug_assert!(adds_up(&tree), "both sides of a split have its rows together");
    Ok(tree)
}

fn adds_up(tree: &Tree) -> bool {
    let sides = |split: &Split| [split.left, split.right].map(|side| tree.nodes[side.index()].rows);
    let splits = tree.nodes.iter().filter_map(|node| Some((node.rows, node.split.as_ref()?)));
    splits.into_iter().all(|(all, split)| sides(split).into_iter().sum::<u64>() == all)
}

/// The plan as a tree whose leaves answer these labels, from left to right.
pub fn labelled(problem: &Problem, plan: Plan, labels: &[u32]) -> Result<Tree> {
    let mut tree = grow(problem, plan)?;
    let task = problem.task.as_ref();
    let mut losses = vec![0; tree.nodes.len()];
    let leaves: Vec<usize> =
        (0..tree.nodes.len()).filter(|&node| tree.nodes[node].split.is_none()).collect();
    for (&node, &label) in leaves.iter().zip(labels) {
        tree.nodes[node].label = label;
    }
    for (point, leaf) in
        check::leaves(&tree, &problem.columns, &problem.points).into_iter().enumerate()
    {
        losses[leaf] += task.cost(&[point as u32], tree.nodes[leaf].label);
    }
    for node in leaves {
        tree.nodes[node].loss = losses[node] as f64 / problem.scale.units;
    }
    Ok(tree)
}

/// A tree with what was proved of its cost.
pub fn conclude(tree: Tree, (lower, upper): (Cost, Cost), scale: Scale, run: &Run) -> Answer {
    let objective = scale.objective(upper);
    let proved = lower == upper;
    let lower_bound =
        if proved && scale.slack == 0 { objective } else { scale.lower(lower).min(objective) };
    let status = match run.stopped() {
        _ if proved => Status::Optimal,
        Some(status) => status,
        None => Status::Interrupted,
    };
    Answer {
        tree,
        objective,
        lower_bound,
        status,
        seconds: run.seconds(),
        work: run.work(),
        curve: run.curve(lower, upper),
    }
}

/// Whether the search over intervals costs less than the one that looks at every cut as a question
/// of its own: the latter's kernel counts all pairs of cuts, the former's a few blocks of each
/// feature. `benches/views.rs` has both; see `docs/decisions/choice-of-view.md`.
fn has_many_cuts(problem: &Problem) -> bool {
    let cuts: usize = problem.features.iter().map(|feature| feature.cuts as usize).sum();
    let each = |least: usize| cuts >= least * problem.features.len();
    match problem.task.structure().n_labels() {
        0 => cuts >= 96 && each(16),
        // Without pair matrices all is slower.
        _ if cuts >= 4096 => each(16),
        2 => cuts >= 512 && each(96),
        _ => cuts >= 512 && each(192),
    }
}
