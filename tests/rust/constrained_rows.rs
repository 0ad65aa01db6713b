//! Costs by row and label under limits on weight, against the list of all trees and labellings.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::common::exhaustive::{Path, splits};
use crate::common::judge::{bounds_the_best, ensure};
use crate::common::paths::{PathMix, keeps_rules};
use crate::common::problems::{Options, ShapeMix, random_problem};
use crate::common::{Case, Random, cases, for_all, sets};
use certree::data::Points;
use certree::error::Error;
use certree::pareto::{Constrained, LimitInput};

use crate::common::limited::Shares;
use certree::problem::Problem;
use certree::run::{Limits, Run};
use certree::task::{CountedInput, FeatureCostList};

/// A share, as a float and as a fraction.
type Share = (f64, i64, i64);

const SHARES: [Share; 5] = [(0.0, 0, 1), (0.1, 1, 10), (0.25, 1, 4), (0.5, 1, 2), (0.8, 4, 5)];

struct Counted {
    case: Case,
    /// Its costs are whole numbers over `unit`.
    input: CountedInput,
    unit: f64,
    limits: Vec<(Shares, Share)>,
}

fn counted(seed: u64, paths: PathMix) -> Counted {
    let rng = &mut Random::new(seed ^ 0xca9);
    let limits = rng.pick(&[ShapeMix::Any, ShapeMix::Leaves, ShapeMix::MinRows]);
    let options = Options::for_fronts(limits, paths);
    let mut case = random_problem(seed, &options);
    case.shape.max_depth = Some(rng.range(0, 3) as u32);
    let (n_labels, n_groups) = (rng.range(1, 4), rng.pick(&[1, 1, 2]));
    let (low, unit) = (rng.pick(&[0, -8]), rng.pick(&[1.0, 3.0, 7.0]));
    let costs: Vec<f64> = (0..case.n_points() * n_labels)
        .map(|_| (low + rng.below(12) as i64) as f64 / unit)
        .collect();
    let mut weights: Vec<f64> = Vec::new();
    for rows in &mut case.rows {
        let own: Vec<usize> = (0..n_groups).map(|_| rng.below(4)).collect();
        *rows = own.iter().sum::<usize>().max(1) as u64;
        weights.extend(own.iter().map(|&w| w as f64));
    }
    // Each group has somebody.
    weights[..n_groups].iter_mut().for_each(|w| *w += 1.0);
    let limits = (0..rng.range(1, 2))
        .map(|index| {
            let share = rng.pick(&SHARES);
            let label = rng.below(n_labels) as u32;
            let (among, against) = match n_groups {
                2 if rng.chance(0.6) => (vec![0], vec![1]),
                n => ((0..n as u32).collect(), vec![]),
            };
            (Shares { name: format!("limit {index}"), label, among, against, most: share.0 }, share)
        })
        .collect();
    let normalizer = weights.iter().sum();
    let leaf_penalty = rng.pick(&[0.0, 0.0, 0.01, 0.1, 0.5]);
    let input = CountedInput {
        n_labels,
        costs,
        error: 0.0,
        normalizer,
        leaf_penalty,
        n_groups,
        weights,
        row_weights: Vec::new(),
        feature_costs: FeatureCostList::default(),
    };
    Counted { case, input, unit, limits }
}

/// What a tree adds up to: leaves, cost, and for each limit the weight that both sides have with
/// the label.
type Sums = Vec<i64>;

struct Oracle<'a> {
    of: &'a Counted,
    problem: &'a Problem,
    memo: HashMap<(u64, u32, Path), HashSet<Sums>>,
}

impl Oracle<'_> {
    fn leaf(&self, set: u64, label: usize) -> Sums {
        let CountedInput { n_labels, n_groups, costs, weights, .. } = &self.of.input;
        let sum = |of: &dyn Fn(usize) -> f64| sets::points(set).map(of).sum::<f64>();
        let cost = sum(&|p| costs[p * n_labels + label] * self.of.unit);
        let mut sums = vec![1, cost.round() as i64];
        for (limit, _) in &self.of.limits {
            for side in [&limit.among, &limit.against] {
                let weight =
                    sum(&|p| side.iter().map(|&g| weights[p * n_groups + g as usize]).sum::<f64>());
                sums.push(if limit.label as usize == label { weight as i64 } else { 0 });
            }
        }
        sums
    }

    fn all(&mut self, set: u64, depth: u32, path: &[usize]) -> HashSet<Sums> {
        let key = (set, depth, path.to_vec());
        if let Some(known) = self.memo.get(&key) {
            return known.clone();
        }
        let labels = 0..self.of.input.n_labels;
        let mut found: HashSet<Sums> = labels.map(|label| self.leaf(set, label)).collect();
        let rules = &self.of.case.paths;
        let here = if depth > 0 { splits(self.problem, set, rules, path) } else { Vec::new() };
        for (lefts, rights, path) in here {
            let (a, b) = (self.all(lefts, depth - 1, &path), self.all(rights, depth - 1, &path));
            for a in &a {
                found.extend(b.iter().map(|b| a.iter().zip(b).map(|(x, y)| x + y).collect()));
            }
        }
        self.memo.insert(key, found.clone());
        found
    }
}

impl Counted {
    fn keeps(&self, sums: &Sums) -> bool {
        let CountedInput { n_groups, weights, .. } = &self.input;
        let all = |side: &[u32]| {
            let of = |&g: &u32| weights.iter().skip(g as usize).step_by(*n_groups).sum::<f64>();
            side.iter().map(of).sum::<f64>() as i64
        };
        self.limits.iter().enumerate().all(|(index, (limit, (_, p, q)))| {
            let (a, b) = (sums[2 + 2 * index], sums[3 + 2 * index]);
            let (n_a, n_b) = (all(&limit.among), all(&limit.against).max(1));
            let apart = if limit.against.is_empty() { a } else { (a * n_b - b * n_a).abs() };
            apart * q <= p * n_a * n_b
        })
    }
}

fn check(seed: u64, paths: PathMix, stopped: Option<Duration>) -> Result<(), String> {
    let of = &counted(seed, paths);
    let Case { columns, codes, rows, shape, .. } = &of.case;
    let points = Points::new(columns, codes.clone(), rows.clone()).unwrap();
    let limits: Vec<LimitInput> = of.limits.iter().map(|(limit, _)| limit.input()).collect();
    // Every third one with weights that are no short decimals: shares and means are the same.
    let unit = if seed % 3 == 1 { 1.0 / 7.0 } else { 1.0 };
    let scaled = |numbers: &[f64]| numbers.iter().map(|x| x * unit).collect();
    let input = CountedInput {
        weights: scaled(&of.input.weights),
        costs: scaled(&of.input.costs),
        normalizer: of.input.normalizer * unit,
        ..of.input.clone()
    };
    let mut constrained = Constrained::by_rows(columns.clone(), points, &input, &limits, *shape)
        .map_err(|e| e.to_string())?;
    if let Some(context) = of.case.context() {
        constrained = constrained.with_context(context).map_err(|e| e.to_string())?;
    }
    constrained.multipliers = !seed.is_multiple_of(4);
    let mut oracle = Oracle { of, problem: &constrained.problem, memo: HashMap::new() };
    let trees = oracle.all((1 << of.case.n_points()) - 1, shape.max_depth.unwrap(), &[]);
    let allowed = |t: &&Sums| shape.max_leaves.is_none_or(|most| t[0] <= i64::from(most));
    let objective = |t: &Sums| {
        t[1] as f64 / of.unit / of.input.normalizer + of.input.leaf_penalty * t[0] as f64
    };
    let kept = trees.iter().filter(allowed).filter(|t| of.keeps(t));
    let best = kept.map(objective).min_by(f64::total_cmp);

    let time = stopped.or(Some(Duration::from_secs(20)));
    let threads = 1 + seed as usize % 2;
    let run = Run::new(Limits { threads, time, ..Limits::default() }, constrained.scale(), None);
    let (answer, attained) = match (constrained.solve(&run), best) {
        (Ok(found), Some(_)) => found,
        (Err(Error::Invalid(text)), None) => {
            return ensure(stopped.is_some() || text.contains("the least violation"), || text);
        }
        (Err(Error::Invalid(text)), _) if stopped.is_some() && text.contains("was stopped") => {
            return Ok(());
        }
        (Err(error), _) => return Err(error.to_string()),
        (Ok((answer, _)), None) => return Err(format!("{} where no tree is", answer.objective)),
    };
    let best = best.expect("there is a tree");
    bounds_the_best(&answer, best, stopped.is_none())?;
    ensure(keeps_rules(&of.case.paths, &answer.tree), || "a path breaks a rule".into())?;
    for (limit, value) in limits.iter().zip(&attained) {
        ensure(value.abs() <= limit.most + if unit == 1.0 { 1e-12 } else { 1e-10 }, || {
            format!("{value} in {}", limit.name)
        })?;
    }
    Ok(())
}

/// `CERTREE_CASES` is for long runs by hand.
#[test]
fn all_trees_and_labellings() {
    for_all(0..cases(600), |seed| check(seed, PathMix::None, None));
}

#[test]
fn stopped_searches_bound_the_optimum() {
    for_all(100_000..100_000 + cases(200), |seed| {
        check(seed, PathMix::None, Some(Duration::from_micros(seed % 5 * 60)))
    });
}

#[test]
fn with_rules_for_paths() {
    for_all(200_000..200_000 + cases(600), |seed| check(seed, PathMix::Any, None));
}
