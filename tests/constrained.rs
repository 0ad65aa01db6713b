//! Limits on sums against the list of all trees and labellings.

mod common;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use certree::error::Error;
use certree::pareto::{Constrained, LimitInput};
use certree::problem::Problem;
use certree::run::{Limits, Run, Status};
use certree::task::ClassInput;
use common::exhaustive::splits;
use common::judge::ensure;
use common::problems::{Options, ShapeMix, random_problem};
use common::{Case, Loss, Random, for_all};

/// A case whose classes are cut by group: class·groups + group.
struct Limited {
    case: Case,
    input: ClassInput,
    class_of: Vec<u32>,
    limits: Vec<LimitInput>,
    /// The limits as fractions.
    fractions: Vec<(i128, i128)>,
}

/// What a tree adds up to: leaves, loss, and for each limit the weight that both sides have with the label.
type Sums = Vec<i64>;

const SHARES: [(f64, i128, i128); 6] =
    [(0.0, 0, 1), (0.01, 1, 100), (0.1, 1, 10), (0.25, 1, 4), (0.5, 1, 2), (1.0, 1, 1)];

fn limited(seed: u64, most: usize) -> Limited {
    let rng = &mut Random::new(seed ^ 0xfa1);
    let limits = rng.pick(&[ShapeMix::Any, ShapeMix::Leaves, ShapeMix::MinRows]);
    let options =
        Options { min_points: 2, max_points: 8, max_columns: 4, limits, ..Options::default() };
    let mut case = random_problem(seed, &options);
    case.shape.max_depth = Some(rng.range(0, 3) as u32);
    let labels = if rng.chance(0.2) { 3 } else { 2 };
    let groups = rng.pick(&[1, 2, 2, 2, 4]);
    let k = labels * groups;
    let mut weights: Vec<f64> = Vec::new();
    for rows in &mut case.rows {
        let own: Vec<usize> =
            (0..k).map(|_| if rng.chance(1.5 / k as f64) { rng.range(1, 3) } else { 0 }).collect();
        *rows = own.iter().sum::<usize>().max(1) as u64;
        weights.extend(own.iter().map(|&w| w as f64));
    }
    if weights.iter().sum::<f64>() == 0.0 {
        weights[0] = 1.0;
    }
    let zero_one = rng.chance(0.6);
    let costs = (0..k * labels)
        .map(|at| match (at / labels / groups == at % labels, zero_one) {
            (right, true) => f64::from(u8::from(!right)),
            (true, false) => rng.below(2) as f64,
            (false, false) => rng.below(5) as f64,
        })
        .collect();
    let input = ClassInput {
        n_classes: k,
        n_labels: labels,
        weights,
        costs,
        class_weights: vec![1.0; k],
        balanced: false,
        leaf_penalty: rng.pick(&[0.0, 0.0, 0.01, 0.05, 0.2]),
    };
    let class_of: Vec<u32> = (0..k as u32).map(|class| class / groups as u32).collect();
    let (mut limits, mut fractions) = (Vec::new(), Vec::new());
    for index in 0..rng.range(1, most) {
        let label = rng.below(labels) as u32;
        let (share, p, q) = rng.pick(&SHARES);
        let classes = 0..k as u32;
        // A capacity, or a difference between groups, of all rows or of one class.
        let only = rng.chance(0.4).then_some(label);
        let bit = rng.below(2);
        let side = |wanted: u32| -> Vec<u32> {
            let group = |class: u32| (class as usize % groups) >> bit & 1;
            (classes.clone())
                .filter(|&c| {
                    group(c) as u32 == wanted && only.is_none_or(|l| class_of[c as usize] == l)
                })
                .collect()
        };
        let (among, against) = if groups == 1 || rng.chance(0.3) {
            (classes.clone().collect(), vec![])
        } else {
            (side(0), side(1))
        };
        limits.push(LimitInput {
            name: format!("limit {index}"),
            label,
            among,
            against,
            most: share,
        });
        fractions.push((p, q));
    }
    Limited { case, input, class_of, limits, fractions }
}

/// Every tree and labelling of a set of points, by what it adds up to.
struct Oracle<'a> {
    limited: &'a Limited,
    problem: &'a Problem,
    memo: HashMap<(u64, u32), HashSet<Sums>>,
}

impl Oracle<'_> {
    fn all(&mut self, set: u64, depth: u32) -> HashSet<Sums> {
        if let Some(known) = self.memo.get(&(set, depth)) {
            return known.clone();
        }
        let input = &self.limited.input;
        let points: Vec<usize> = (0..64).filter(|p| set >> p & 1 == 1).collect();
        let mut found: HashSet<Sums> = (0..input.n_labels)
            .map(|label| {
                let weight = |class: usize| {
                    points
                        .iter()
                        .map(|p| input.weights[p * input.n_classes + class] as i64)
                        .sum::<i64>()
                };
                let loss = (0..input.n_classes)
                    .map(|c| weight(c) * input.costs[c * input.n_labels + label] as i64)
                    .sum();
                let mut sums = vec![1, loss];
                for limit in &self.limited.limits {
                    for side in [&limit.among, &limit.against] {
                        let here = side.iter().map(|&c| weight(c as usize)).sum::<i64>();
                        sums.push(if limit.label as usize == label { here } else { 0 });
                    }
                }
                sums
            })
            .collect();
        let here = if depth > 0 { splits(self.problem, set) } else { Vec::new() };
        for (lefts, rights) in here {
            let (a, b) = (self.all(lefts, depth - 1), self.all(rights, depth - 1));
            for a in &a {
                found.extend(b.iter().map(|b| a.iter().zip(b).map(|(x, y)| x + y).collect()));
            }
        }
        self.memo.insert((set, depth), found.clone());
        found
    }
}

/// By how much the worst limit is broken: a share.
fn violation(limited: &Limited, totals: &[i64], sums: &Sums) -> f64 {
    let mut worst = 0.0f64;
    for (index, (limit, &(p, q))) in limited.limits.iter().zip(&limited.fractions).enumerate() {
        let all = |side: &[u32]| i128::from(side.iter().map(|&c| totals[c as usize]).sum::<i64>());
        let (a, b) = (i128::from(sums[2 + 2 * index]), i128::from(sums[3 + 2 * index]));
        let (n_a, n_b) = (all(&limit.among), all(&limit.against).max(1));
        let apart = if limit.against.is_empty() { a } else { (a * n_b - b * n_a).abs() };
        if apart * q > p * n_a * n_b {
            worst = worst.max(apart as f64 / (n_a * n_b) as f64 - p as f64 / q as f64);
        }
    }
    worst
}

fn check(limited: &Limited, threads: usize, stopped: Option<Duration>) -> Result<(), String> {
    check_with(limited, threads, stopped, true)
}

fn check_with(
    limited: &Limited,
    threads: usize,
    stopped: Option<Duration>,
    prices: bool,
) -> Result<(), String> {
    let Case { columns, codes, rows, shape, .. } = &limited.case;
    let points = certree::data::Points::new(columns, codes.clone(), rows.clone()).unwrap();
    let (input, class_of) = (&limited.input, limited.class_of.clone());
    let totals: Vec<i64> = (0..input.n_classes)
        .map(|c| input.weights.iter().skip(c).step_by(input.n_classes).map(|&w| w as i64).sum())
        .collect();
    let built = Constrained::new(columns.clone(), points, input, class_of, &limited.limits, *shape);
    let empty = limited.limits.iter().any(|limit| {
        let none = |side: &[u32]| side.iter().all(|&c| totals[c as usize] == 0);
        none(&limit.among) || (!limit.against.is_empty() && none(&limit.against))
    });
    let mut constrained = match built {
        Err(Error::Invalid(text)) if empty && text.contains("no row counts") => return Ok(()),
        built => built.map_err(|e| e.to_string())?,
    };
    constrained.prices = prices;
    let n = limited.case.n_points();
    let mut oracle = Oracle { limited, problem: &constrained.problem, memo: HashMap::new() };
    let trees = oracle.all((1 << n) - 1, shape.max_depth.unwrap());
    let total: i64 = totals.iter().sum();
    let objective = |t: &Sums| t[1] as f64 / total as f64 + input.leaf_penalty * t[0] as f64;
    let allowed = |t: &&Sums| shape.max_leaves.is_none_or(|most| t[0] <= i64::from(most));
    let least_violation = trees.iter().filter(allowed).map(|t| violation(limited, &totals, t));
    let least_violation = least_violation.fold(f64::INFINITY, f64::min);
    let kept = trees.iter().filter(allowed).filter(|t| violation(limited, &totals, t) == 0.0);
    let best = kept.map(objective).min_by(f64::total_cmp);

    let time = stopped.or(Some(Duration::from_secs(20)));
    let run = Run::new(Limits { threads, time, ..Limits::default() }, constrained.scale(), None);
    let (answer, attained) = match (constrained.solve(&run), best) {
        (Ok(found), Some(_)) => found,
        (Err(Error::Invalid(text)), None) => {
            let says = format!("the least violation reachable is {least_violation:.6} ");
            return ensure(stopped.is_some() || text.contains(&says), || {
                format!("{text}, but {says}")
            });
        }
        (Err(Error::Invalid(text)), _) if stopped.is_some() && text.contains("was stopped") => {
            return Ok(());
        }
        (Err(error), _) => return Err(error.to_string()),
        (Ok((answer, _)), None) => {
            return Err(format!("found {} where no tree is", answer.objective));
        }
    };
    let best = best.expect("there is a tree");
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
    if stopped.is_none() {
        ensure(answer.status == Status::Optimal, || format!("{:?}", answer.status))?;
        ensure(close(answer.objective, best), || format!("{}, not {best}", answer.objective))?;
    }
    ensure(answer.objective > best - 1e-9 && answer.lower_bound < best + 1e-9, || {
        format!("{} to {}, but {best}", answer.lower_bound, answer.objective)
    })?;
    for (limit, value) in limited.limits.iter().zip(&attained) {
        ensure(value.abs() <= limit.most + 1e-12, || format!("{value} in {}", limit.name))?;
    }
    common::judge::tree_is_sound(&judged(limited), &constrained.problem, &answer.tree).or_else(
        |why| {
            // The judge expects the best label of each leaf.
            if why.contains("label") || why.contains("loss") { Ok(()) } else { Err(why) }
        },
    )
}

fn judged(limited: &Limited) -> Case {
    Case { loss: Loss::Classes(limited.input.clone()), ..limited.case.clone() }
}

#[test]
fn one_limit() {
    for_all(0..6_000, |seed| check(&limited(seed, 1), 1, None));
}

#[test]
fn several_limits() {
    for_all(100_000..104_000, |seed| check(&limited(seed, 3), 1 + seed as usize % 2, None));
}

/// The front search alone, with nothing to prune by.
#[test]
fn without_prices() {
    for_all(300_000..306_000, |seed| {
        check_with(&limited(seed, 1 + seed as usize % 3), 1, None, false)
    });
}

#[test]
fn stopped_searches_bound_the_optimum() {
    for_all(200_000..200_500, |seed| {
        check(&limited(seed, 2), 1, Some(Duration::from_micros(seed % 5 * 60)))
    });
}
