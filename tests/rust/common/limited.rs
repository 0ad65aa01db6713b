//! Random limits on sums over classes that are cut by group, and the list of all trees and
//! labellings.

use std::collections::{HashMap, HashSet};

use certree::pareto::LimitInput;
use certree::problem::Problem;
use certree::task::ClassInput;

use super::exhaustive::{Path, splits};
use super::paths::PathMix;
use super::problems::{Options, ShapeMix, random_problem};
use super::{Case, Random};

/// A case whose classes are cut by group: class·groups + group.
pub struct Limited {
    pub case: Case,
    pub input: ClassInput,
    pub class_of: Vec<u32>,
    pub limits: Vec<Shares>,
    /// The limits as fractions.
    pub fractions: Vec<(i128, i128)>,
}

/// A limit on a share of rows with a label, or on a difference of two.
#[derive(Debug, Clone)]
pub struct Shares {
    pub name: String,
    pub label: u32,
    pub among: Vec<u32>,
    pub against: Vec<u32>,
    pub most: f64,
}

impl Shares {
    pub fn input(&self) -> LimitInput {
        LimitInput::of_shares(self.name.clone(), self.label, &self.among, &self.against, self.most)
    }
}

/// What a tree adds up to: leaves, loss, and for each limit the weight that both sides have with
/// the label.
pub type Sums = Vec<i64>;

const SHARES: [(f64, i128, i128); 6] =
    [(0.0, 0, 1), (0.01, 1, 100), (0.1, 1, 10), (0.25, 1, 4), (0.5, 1, 2), (1.0, 1, 1)];

pub fn limited(seed: u64, most: usize, paths: PathMix) -> Limited {
    limited_of(seed, most, None, paths)
}

/// Of so many labels, or any number.
pub fn limited_of(seed: u64, most: usize, labels: Option<usize>, paths: PathMix) -> Limited {
    let rng = &mut Random::new(seed ^ 0xfa1);
    let limits = rng.pick(&[ShapeMix::Any, ShapeMix::Leaves, ShapeMix::MinRows]);
    let options = Options::for_fronts(limits, paths);
    let mut case = random_problem(seed, &options);
    case.shape.max_depth = Some(rng.range(0, 3) as u32);
    let any = if rng.chance(0.2) { 3 } else { 2 };
    let labels = labels.unwrap_or(any);
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
        let name = format!("limit {index}");
        limits.push(Shares { name, label, among, against, most: share });
        fractions.push((p, q));
    }
    Limited { case, input, class_of, limits, fractions }
}

/// Every tree and labelling of a set of points, by what it adds up to.
pub struct Oracle<'a> {
    pub limited: &'a Limited,
    pub problem: &'a Problem,
    pub memo: HashMap<(u64, u32, Path), HashSet<Sums>>,
}

impl Oracle<'_> {
    pub fn all(&mut self, set: u64, depth: u32) -> HashSet<Sums> {
        self.below(set, depth, &[])
    }

    fn below(&mut self, set: u64, depth: u32, path: &[usize]) -> HashSet<Sums> {
        let key = (set, depth, path.to_vec());
        if let Some(known) = self.memo.get(&key) {
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
        let rules = &self.limited.case.paths;
        let here = if depth > 0 { splits(self.problem, set, rules, path) } else { Vec::new() };
        for (lefts, rights, path) in here {
            let (a, b) =
                (self.below(lefts, depth - 1, &path), self.below(rights, depth - 1, &path));
            for a in &a {
                found.extend(b.iter().map(|b| a.iter().zip(b).map(|(x, y)| x + y).collect()));
            }
        }
        self.memo.insert(key, found.clone());
        found
    }
}

/// By how much the worst limit is broken: a share.
pub fn violation(limited: &Limited, totals: &[i64], sums: &Sums) -> f64 {
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

impl Limited {
    /// By class: the weight of all rows.
    pub fn totals(&self) -> Vec<i64> {
        let of = |c: usize| self.input.weights.iter().skip(c).step_by(self.input.n_classes);
        (0..self.input.n_classes).map(|c| of(c).map(|&w| w as i64).sum()).collect()
    }

    /// The limits as the core takes them.
    pub fn limit_inputs(&self) -> Vec<LimitInput> {
        self.limits.iter().map(Shares::input).collect()
    }

    /// Whether no row counts on a side of some limit.
    pub fn is_empty(&self) -> bool {
        let totals = self.totals();
        let none = |side: &[u32]| side.iter().all(|&c| totals[c as usize] == 0);
        let empty = |l: &Shares| none(&l.among) || (!l.against.is_empty() && none(&l.against));
        self.limits.iter().any(empty)
    }
}
