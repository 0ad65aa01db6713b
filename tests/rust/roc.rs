//! Areas under ROC curves against the list of all trees.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use crate::common::exhaustive::{Path, splits};
use crate::common::judge::ensure;
use crate::common::paths::{PathMix, keeps_rules};
use crate::common::problems::{Options, ShapeMix, random_problem};
use crate::common::{Case, Random, cases, for_all};
use certree::data::Points;
use certree::pareto::Roc;
use certree::problem::Problem;
use certree::run::{Limits, Run, Status};

struct Ranking {
    case: Case,
    weights: Vec<f64>,
    most: f64,
    penalty: f64,
}

fn ranking(seed: u64, paths: PathMix) -> Ranking {
    let rng = &mut Random::new(seed ^ 0x70c);
    let limits =
        rng.pick(&[ShapeMix::Any, ShapeMix::Leaves, ShapeMix::MinRows, ShapeMix::Unlimited]);
    let options = Options::for_fronts(limits, paths);
    let mut case = random_problem(seed, &options);
    let penalty = rng.pick(&[0.0, 0.001, 0.01, 0.02, 0.05, 0.1]);
    if penalty == 0.0 || rng.chance(0.6) {
        case.shape.max_depth = Some(rng.range(0, 3) as u32);
    } else {
        case.shape.max_depth = None;
    }
    let mut weights = Vec::new();
    for rows in &mut case.rows {
        let own = [0, 0].map(|_| if rng.chance(0.7) { rng.range(1, 4) } else { 0 });
        *rows = own.iter().sum::<usize>().max(1) as u64;
        weights.extend(own.map(|w| w as f64));
    }
    let most = if rng.chance(0.5) { 1.0 } else { rng.pick(&[0.05, 0.1, 0.2, 0.5, 0.9]) };
    Ranking { case, weights, most, penalty }
}

/// The leaves of a tree: (negatives, positives), in order.
type Leaves = Vec<(i64, i64)>;

fn all_trees(
    ranking: &Ranking,
    problem: &Problem,
    (set, depth): (u64, u32),
    path: &[usize],
    memo: &mut HashMap<(u64, u32, Path), BTreeSet<Leaves>>,
) -> BTreeSet<Leaves> {
    let points: Vec<usize> = (0..64).filter(|p| set >> p & 1 == 1).collect();
    let depth = depth.min(points.len() as u32 - 1);
    let key = (set, depth, path.to_vec());
    if let Some(known) = memo.get(&key) {
        return known.clone();
    }
    let sum = |class: usize| points.iter().map(|p| ranking.weights[2 * p + class] as i64).sum();
    let mut found = BTreeSet::from([vec![(sum(0), sum(1))]]);
    let rules = &ranking.case.paths;
    let here = if depth > 0 { splits(problem, set, rules, path) } else { Vec::new() };
    for (lefts, rights, path) in here {
        let a = all_trees(ranking, problem, (lefts, depth - 1), &path, memo);
        let b = all_trees(ranking, problem, (rights, depth - 1), &path, memo);
        for a in &a {
            for b in &b {
                let mut both = [&a[..], &b[..]].concat();
                both.sort_unstable();
                found.insert(both);
            }
        }
    }
    memo.insert(key, found.clone());
    found
}

/// 1 − the share of the area, in plain floats.
fn loss(leaves: &Leaves, most: f64) -> f64 {
    let mut leaves: Vec<_> = leaves.iter().map(|&(n, p)| (n as f64, p as f64)).collect();
    let share = |l: &(f64, f64)| if l.0 + l.1 > 0.0 { l.1 / (l.0 + l.1) } else { 0.0 };
    leaves.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let (negatives, positives) =
        leaves.iter().fold((0.0, 0.0), |sum, l| (sum.0 + l.0, sum.1 + l.1));
    let (mut x, mut y, mut area) = (0.0, 0.0, 0.0);
    for (n, p) in leaves {
        let (dx, dy) = (n / negatives, p / positives);
        let width = (most - x).clamp(0.0, dx);
        if dx > 0.0 {
            area += width * y + width * width / dx * dy / 2.0;
        }
        (x, y) = (x + dx, y + dy);
    }
    1.0 - area / most
}

fn check(seed: u64, threads: usize, game: bool, time: Option<Duration>) -> Result<(), String> {
    check_in(1.0, seed, threads, game, time)
}

/// With weights in another unit: nothing changes but what is exact.
fn check_in(
    unit: f64,
    seed: u64,
    threads: usize,
    game: bool,
    time: Option<Duration>,
) -> Result<(), String> {
    check_on(PathMix::None, unit, seed, threads, game, time)
}

fn check_on(
    paths: PathMix,
    unit: f64,
    seed: u64,
    threads: usize,
    game: bool,
    time: Option<Duration>,
) -> Result<(), String> {
    let ranking = ranking(seed, paths);
    let Case { columns, codes, rows, shape, .. } = &ranking.case;
    let points = Points::new(columns, codes.clone(), rows.clone()).unwrap();
    let (weights, most, penalty) = (ranking.weights.clone(), ranking.most, ranking.penalty);
    // The class of the positives may be the first or the second.
    let positive = usize::from(!seed.is_multiple_of(3));
    let mut given: Vec<f64> = weights.iter().map(|w| w * unit).collect();
    if positive == 0 {
        given.chunks_exact_mut(2).for_each(|point| point.swap(0, 1));
    }
    let total = |class: usize| weights.iter().skip(class).step_by(2).sum::<f64>();
    let one_class = total(0) == 0.0 || total(1) == 0.0;
    let mut roc = match Roc::new(columns.clone(), points, given, positive, most, penalty, *shape) {
        Err(_) if one_class => return Ok(()),
        roc => roc.map_err(|e| e.to_string())?,
    };
    if let Some(context) = ranking.case.context() {
        roc = roc.with_context(context).map_err(|e| e.to_string())?;
    }
    roc.game = game;
    let all = (1 << ranking.case.n_points()) - 1;
    let depth = shape.max_depth.unwrap_or(u32::MAX);
    let trees = all_trees(&ranking, &roc.problem, (all, depth), &[], &mut HashMap::new());
    let best = (trees.iter())
        .filter(|t| shape.max_leaves.is_none_or(|most| t.len() <= most as usize))
        .map(|t| loss(t, most) + penalty * t.len() as f64)
        .min_by(f64::total_cmp)
        .expect("there is a tree");
    let stopped = time.is_some();
    let time = time.or(Some(Duration::from_secs(20)));
    let run = Run::new(Limits { threads, time, ..Limits::default() }, roc.scale(), None);
    let answer = roc.solve(&run).map_err(|e| e.to_string())?;
    let says = || format!("{} to {}, but {best}", answer.lower_bound, answer.objective);
    if !stopped {
        ensure(answer.status == Status::Optimal, || format!("{:?}", answer.status))?;
        ensure((answer.objective - best).abs() < 1e-9, says)?;
        ensure((answer.lower_bound - best).abs() < 1e-9, says)?;
    }
    // The objective is the tree's own in any unit, and the lower bound is one.
    ensure(answer.objective > best - 1e-9 && answer.lower_bound < best + 1e-9, says)?;
    ensure(keeps_rules(&ranking.case.paths, &answer.tree), || "a path breaks a rule".into())?;
    let shape_holds = answer
        .tree
        .leaves()
        .all(|leaf| answer.tree.n_leaves() == 1 || leaf.rows >= shape.min_leaf_rows);
    ensure(shape_holds, || "a leaf has too few rows".into())?;
    ensure(shape.max_leaves.is_none_or(|most| answer.tree.n_leaves() <= most as usize), || {
        "too many leaves".into()
    })
}

#[test]
fn areas() {
    for_all(0..cases(1_250), |seed| {
        check(seed, 1 + usize::from(seed.is_multiple_of(7)), true, None)
    });
}

/// The front search alone, with a poor relaxation and no tree.
#[test]
fn without_the_game() {
    for_all(10_000..10_000 + cases(1_250), |seed| check(seed, 1, false, None));
}

/// `CERTREE_CASES` is for long runs by hand.
#[test]
fn long_decimals() {
    for_all(30_000..30_000 + cases(500), |seed| {
        let unit = [1.0 / 3.0, 0.123456789, 1e9 / 7.0][seed as usize % 3];
        let time = seed.is_multiple_of(8).then(|| Duration::from_micros(seed % 5 * 60));
        check_in(unit, seed, 1, !seed.is_multiple_of(3), time)
    });
}

#[test]
fn stopped_searches_bound_the_optimum() {
    for_all(20_000..20_000 + cases(500), |seed| {
        check(seed, 1, true, Some(Duration::from_micros(seed % 5 * 60)))
    });
}

/// A split may set a point apart that weighs nothing, because the rules allow others below it.
#[test]
fn leaves_that_weigh_nothing_are_no_part_of_a_curve() {
    check_on(PathMix::First, 1.0, 400_663, 2, true, None).unwrap();
}

/// Rules for paths. `CERTREE_CASES` asks for more.
#[test]
fn with_rules_for_paths() {
    for (at, paths) in PathMix::ALL.into_iter().enumerate() {
        let first = 100_000 + 100_000 * at as u64;
        for_all(first..first + cases(500), |seed| {
            let unit = [1.0, 1.0, 1.0 / 3.0][seed as usize % 3];
            check_on(paths, unit, seed, 1 + seed as usize % 2, !seed.is_multiple_of(4), None)
        });
    }
}
