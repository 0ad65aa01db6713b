//! All trees near the best one, against a list of all trees that there are.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::judge::ensure;
use crate::common::problems::{ColumnMix, LossKind, Options};
use crate::common::{Case, Random, for_seeds};
use certree::check;
use certree::cost::Cost;
use certree::finish;
use certree::ids::{ColumnId, FeatureId, Side};
use certree::near::{Alike, Count, LeafAnswers, Listing, Near, Wanted};
use certree::problem::Problem;
use certree::run::{Limits, Run};
use certree::tree::{Plan, Test, Tree};

/// More trees than these are not listed by the oracle.
const MOST: usize = 4_000;

type Labelled = (Plan, Vec<u32>);

/// Every tree for these points, with every answer of its leaves that is wanted. `None`: too many.
fn all(
    problem: &Problem,
    points: &[u32],
    depth: u32,
    answers: LeafAnswers,
) -> Option<Vec<Labelled>> {
    let labels = match (answers, problem.labelled()) {
        (LeafAnswers::Any, Some(task)) => task.n_labels() as u32,
        _ => 1,
    };
    let mut found: Vec<Labelled> = (0..labels).map(|label| (Plan::Leaf, vec![label])).collect();
    let features = problem.features.iter().enumerate().filter(|_| depth > 0);
    for (index, feature) in features {
        for cut in 0..feature.cuts {
            let goes_left = |&point: &u32| feature.goes_left(&problem.points, point as usize, cut);
            let (left, right): (Vec<u32>, Vec<u32>) = points.iter().partition(|p| goes_left(p));
            let rows = |side: &[u32]| side.iter().map(|&p| problem.points.rows(p as usize)).sum();
            let small = |side: &[u32]| {
                let rows: u64 = rows(side);
                side.is_empty() || rows < problem.shape.min_leaf_rows
            };
            if small(&left) || small(&right) {
                continue;
            }
            let lefts = all(problem, &left, depth - 1, answers)?;
            let rights = all(problem, &right, depth - 1, answers)?;
            if found.len() + lefts.len() * rights.len() > MOST {
                return None;
            }
            for (a, labels) in &lefts {
                for (b, more) in &rights {
                    let plan = Plan::split(FeatureId::from(index), cut, a.clone(), b.clone());
                    found.push((plan, [&labels[..], more].concat()));
                }
            }
        }
    }
    Some(found)
}

/// How a plan parts the points, whatever it asks.
fn parts(problem: &Problem, plan: &Plan, points: &[u32], labels: &mut &[u32]) -> String {
    let Plan::Split { feature, cut, left, right } = plan else {
        let label = labels[0];
        *labels = &labels[1..];
        return format!("{points:?}{label}");
    };
    let feature = problem.features.get(feature.index());
    let goes_left = |&point: &u32| feature.goes_left(&problem.points, point as usize, *cut);
    let (lefts, rights): (Vec<u32>, Vec<u32>) = points.iter().partition(|p| goes_left(p));
    let mut sides = [parts(problem, left, &lefts, labels), parts(problem, right, &rights, labels)];
    sides.sort();
    format!("({})", sides.join(" "))
}

fn columns(tree: &Tree) -> BTreeSet<u32> {
    tree.nodes.iter().filter_map(|node| Some(node.split.as_ref()?.column.0)).collect()
}

/// A tree in words that do not depend on how it is drawn: the first of two sets goes left, and
/// nothing is said of missing values where none is.
fn text(problem: &Problem, tree: &Tree) -> String {
    let leaves = check::leaves(tree, &problem.columns, &problem.points);
    text_of(problem, tree, 0, &leaves).0
}

/// The words of a node, and its points.
fn text_of(problem: &Problem, tree: &Tree, at: usize, leaves: &[usize]) -> (String, Vec<usize>) {
    let node = &tree.nodes[at];
    let Some(split) = &node.split else {
        let points = (0..leaves.len()).filter(|&point| leaves[point] == at).collect();
        return (node.label.to_string(), points);
    };
    let children = [split.left, split.right];
    let [(mut left, a), (mut right, b)] =
        children.map(|child| text_of(problem, tree, child.index(), leaves));
    let points = [a, b].concat();
    let code = problem.columns[split.column.index()].missing_code();
    let codes = problem.points.codes(split.column.index());
    let any = code.is_some_and(|code| points.iter().any(|&point| codes.get(point) == code));
    let (mut test, mut missing) = (split.test.clone(), split.missing.filter(|_| any));
    if let Test::In { left: a, right: b } = &split.test
        && b < a
    {
        test = Test::In { left: b.clone(), right: a.clone() };
        std::mem::swap(&mut left, &mut right);
        missing = missing.map(|side| if side == Side::Left { Side::Right } else { Side::Left });
    }
    (format!("({:?} {test:?} {missing:?} {left} {right})", split.column), points)
}

struct Oracle {
    /// By tree as text: the tree and its cost.
    trees: BTreeMap<String, (Tree, Cost)>,
    /// By its parts: what it costs.
    parts: BTreeMap<String, Cost>,
}

impl Oracle {
    fn new(problem: &Problem, answers: LeafAnswers) -> Option<Oracle> {
        let points: Vec<u32> = (0..problem.points.len() as u32).collect();
        let depth = problem.shape.max_depth.unwrap_or(points.len() as u32);
        let mut oracle = Oracle { trees: BTreeMap::new(), parts: BTreeMap::new() };
        let most = problem.shape.max_leaves.unwrap_or(u32::MAX);
        for (plan, labels) in all(problem, &points, depth, answers)? {
            if plan.leaves() > most {
                continue;
            }
            let parts = parts(problem, &plan, &points, &mut &labels[..]);
            let is_any = answers == LeafAnswers::Any && problem.labelled().is_some();
            let tree = match is_any {
                true => finish::labelled(problem, plan, &labels),
                false => finish::grow(problem, plan),
            };
            let tree = tree.expect("plans grow");
            let cost = finish::cost_of(problem, &tree);
            oracle.parts.insert(parts, cost);
            oracle.trees.insert(text(problem, &tree), (tree, cost));
        }
        Some(oracle)
    }

    fn within(&self, budget: Cost) -> BTreeMap<&str, &(Tree, Cost)> {
        let fits = |(_, (_, cost)): &(&String, &(Tree, Cost))| *cost <= budget;
        self.trees.iter().filter(fits).map(|(text, tree)| (&text[..], tree)).collect()
    }
}

fn run(problem: &Problem) -> Run<'static> {
    Run::new(Limits::default(), problem.scale, None)
}

fn number(count: &Count) -> u128 {
    let mut bytes = [0; 16];
    let found = count.to_bytes();
    bytes[..found.len()].copy_from_slice(&found);
    u128::from_le_bytes(bytes)
}

fn counts(found: (Count, bool), n: usize, what: &str) -> Result<(), String> {
    let told = number(&found.0);
    ensure(found.1 && told == n as u128, || format!("{told} {what}, not {n}"))
}

fn agrees(case: &Case, rng: &mut Random) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    let answers = rng.pick(&[LeafAnswers::Best, LeafAnswers::Any]);
    let Some(oracle) = Oracle::new(&problem, answers) else { return Ok(()) };
    let costs: Vec<Cost> = oracle.trees.values().map(|(_, cost)| *cost).collect();
    let least = costs.iter().copied().min().expect("a leaf is a tree");
    let some = rng.pick(&costs);
    let budget = rng.pick(&[least, some, some, least + problem.leaf_cost]);
    let trees = oracle.within(budget);
    let wanted = |alike| Wanted { budget, answers, alike };
    let search = |alike| Near::search(&problem, wanted(alike), &run(&problem));
    if !problem.has_penalty()
        && problem.shape.max_depth.is_none()
        && problem.shape.max_leaves.is_none()
    {
        return ensure(search(Alike::Each).is_err(), || "trees of any size are listed".into());
    }
    let near = search(Alike::Each).map_err(|e| e.to_string())?;
    ensure(near.least() == Some(least), || format!("{:?}, not {least}", near.least()))?;
    counts(near.count(&run(&problem)), trees.len(), "trees")?;
    let parts = oracle.parts.values().filter(|cost| **cost <= budget).count();
    let once = search(Alike::Once).map_err(|e| e.to_string())?;
    counts(once.count(&run(&problem)), parts, "ways to part the points")?;
    lists(&near, &trees)?;
    draws(&near, &trees)?;
    knows_columns(&problem, &near, &trees)?;
    let leaves = |tree: &Tree| tree.n_leaves();
    let fewest = trees.values().map(|(tree, cost)| (leaves(tree), *cost)).min();
    let sparsest = near.sparsest().map_err(|e| e.to_string())?;
    let sparsest = sparsest.map(|(tree, cost)| (leaves(&tree), cost));
    ensure(fewest == sparsest, || format!("{sparsest:?} and not {fewest:?} leaves and cost"))
}

fn lists(near: &Near, trees: &BTreeMap<&str, &(Tree, Cost)>) -> Result<(), String> {
    let (mut listing, mut last) = (Listing::default(), Cost::MIN);
    let mut listed = BTreeSet::new();
    while let Some((tree, cost)) = near.next(&mut listing).map_err(|e| e.to_string())? {
        let text = text(near.problem(), &tree);
        ensure(cost >= last, || format!("{cost} comes after {last}"))?;
        ensure(trees.get(&text[..]).is_some_and(|known| known.1 == cost), || {
            format!("{text} of cost {cost} is none of the trees")
        })?;
        ensure(listed.insert(text.clone()), || format!("{text} comes twice"))?;
        last = cost;
    }
    ensure(listed.len() == trees.len(), || format!("{} of {} trees", listed.len(), trees.len()))
}

fn draws(near: &Near, trees: &BTreeMap<&str, &(Tree, Cost)>) -> Result<(), String> {
    let drawn = near.sample(8, 7, &run(near.problem())).map_err(|e| e.to_string())?;
    ensure(drawn.len() == 8, || format!("{} trees are drawn", drawn.len()))?;
    drawn.iter().try_for_each(|(tree, cost)| {
        let text = text(near.problem(), tree);
        ensure(trees.get(&text[..]).is_some_and(|known| known.1 == *cost), || {
            format!("{text} is drawn, and none of the trees")
        })
    })
}

fn knows_columns(
    problem: &Problem,
    near: &Near,
    trees: &BTreeMap<&str, &(Tree, Cost)>,
) -> Result<(), String> {
    for (column, asked) in near.asked().into_iter().enumerate() {
        let column = column as u32;
        let without = trees.values().filter(|(tree, _)| !columns(tree).contains(&column));
        let costs: Vec<Cost> = without.map(|(_, cost)| *cost).collect();
        let found = near.least_without(ColumnId(column));
        ensure(found == costs.iter().copied().min(), || {
            format!("{found:?} without column {column}, not {:?}", costs.iter().min())
        })?;
        let counted = near.count_without(Some(ColumnId(column)), &run(problem));
        counts(counted, costs.len(), "trees without a column")?;
        let any = trees.values().any(|(tree, _)| columns(tree).contains(&column));
        // Under a limit of leaves a split may be in no tree that keeps to it.
        let fits = if problem.shape.max_leaves.is_some() { asked || !any } else { asked == any };
        ensure(fits, || format!("asked for column {column}: {asked}, not {any}"))?;
    }
    Ok(())
}

/// A few values of some columns are missing.
fn with_missing(case: &Case, rng: &mut Random) -> Case {
    let mut case = case.clone();
    for (column, codes) in case.columns.iter_mut().zip(&mut case.codes) {
        if rng.chance(0.3) && !column.missing {
            column.missing = true;
            let code = column.missing_code().expect("values are missing");
            codes.iter_mut().filter(|_| rng.chance(0.3)).for_each(|at| *at = code);
        }
    }
    case
}

fn of(case: &Case) -> Result<(), String> {
    let seed = case.rows.iter().sum::<u64>() * 31 + case.codes.iter().flatten().sum::<u32>() as u64;
    let rng = &mut Random::new(seed);
    let mut case = with_missing(case, rng);
    if rng.chance(0.8) {
        case.shape.max_depth = Some(rng.range(0, 3) as u32);
    }
    agrees(&case, rng)
}

fn small() -> Options {
    Options { max_points: 9, max_columns: 3, ..Options::default() }
}

#[test]
fn all_trees_of_any_problem() {
    for_seeds(300, &small(), of);
}

#[test]
fn all_trees_on_boolean_columns() {
    let options = Options { columns: ColumnMix::Boolean, max_columns: 4, ..small() };
    for_seeds(150, &options, of);
}

#[test]
fn all_trees_on_sets_of_values() {
    for_seeds(150, &Options { columns: ColumnMix::Sets, ..small() }, of);
}

#[test]
fn all_trees_of_costs_by_row() {
    for_seeds(150, &Options { loss: LossKind::Rows, ..small() }, of);
}

#[test]
fn all_trees_of_squared_errors() {
    for_seeds(150, &Options { loss: LossKind::Squares, ..small() }, of);
}
