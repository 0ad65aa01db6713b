//! Linear limits of every kind (sums with prices, several groups, ratios, lower limits, rates of
//! errors) against the list of all trees and labellings, as classes and as costs by row.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::common::exhaustive::{Path, splits_below};
use crate::common::judge::{bounds_the_best, ensure};
use crate::common::limited::limited_of;
use crate::common::paths::PathMix;
use crate::common::whole_costs::{PARTS, WholeCosts};
use crate::common::{Case, Random, cases, for_all, sets};
use certree::data::Points;
use certree::error::Error;
use certree::pareto::{Constrained, LimitInput, Term};
use certree::problem::Problem;
use certree::run::{Limits, Run};
use certree::task::{ClassInput, CountedInput};

/// A number as a fraction.
type Fraction = (i128, i128);

/// A term: the weight of `counts` over that of `of`, times a fraction.
#[derive(Debug, Clone)]
struct Part {
    counts: Vec<(u32, u32)>,
    of: Vec<u32>,
    factor: Fraction,
}

#[derive(Debug, Clone)]
struct Linear {
    name: String,
    parts: Vec<Part>,
    least: Option<Fraction>,
    most: Option<Fraction>,
}

struct Limited {
    case: Case,
    /// Its last classes are sums, which cost nothing.
    input: ClassInput,
    class_of: Vec<u32>,
    limits: Vec<Linear>,
    costs: WholeCosts,
}

fn float((p, q): Fraction) -> f64 {
    p as f64 / q as f64
}

fn random(seed: u64, paths: PathMix, has_costs: bool) -> Limited {
    let rng = &mut Random::new(seed ^ 0x51f);
    let base = limited_of(seed, 1, None, paths);
    let (k, labels) = (base.input.n_classes, base.input.n_labels);
    let n_sums = rng.below(3);
    let n_classes = k + n_sums;
    let mut weights = Vec::new();
    for own in base.input.weights.chunks_exact(k) {
        weights.extend(own);
        let weighs = own.iter().sum::<f64>() > 0.0;
        weights.extend((0..n_sums).map(|_| if weighs { rng.below(6) as f64 } else { 0.0 }));
    }
    let mut input = ClassInput { n_classes, weights, ..base.input };
    input.costs.resize(n_classes * labels, 0.0);
    input.class_weights.resize(n_classes, 0.0);
    let n_columns = base.case.columns.len();
    let (limits, case, class_of) = (vec![], base.case, base.class_of);
    let costs = match has_costs {
        true => {
            let draw = &mut Random::new(seed ^ 0xc057);
            let costs = WholeCosts::random(draw, n_columns);
            // Half of them have prices that differ by row.
            if draw.chance(0.5) { costs.by_row(draw, case.n_points()) } else { costs }
        }
        false => WholeCosts::default(),
    };
    let mut limited = Limited { case, input, class_of, limits, costs };
    for index in 0..rng.range(1, 3) {
        let linear = limited.linear(rng, index, k / labels);
        limited.limits.push(linear);
    }
    limited
}

impl Limited {
    fn linear(&self, rng: &mut Random, index: usize, groups: usize) -> Linear {
        let name = format!("limit {index}");
        let k = self.class_of.len();
        let labels = self.input.n_labels;
        let label = rng.below(labels) as u32;
        if self.input.n_classes > k && rng.chance(0.5) {
            // One sum, or the difference of two.
            let sum = |at: usize, factor| Part {
                counts: vec![((k + at) as u32, label)],
                of: vec![],
                factor,
            };
            let mut parts = vec![sum(0, rng.pick(&[(1, 1), (1, 1), (1, 2), (-3, 1)]))];
            if self.input.n_classes > k + 1 && rng.chance(0.5) {
                parts.push(sum(1, rng.pick(&[(1, 1), (-1, 1)])));
            }
            let (a, b) = (rng.below(30) as i128 - 8, rng.below(12) as i128);
            let least = rng.chance(0.6).then_some((a, 1));
            let most = (least.is_none() || rng.chance(0.4)).then_some((a + b, 1));
            return Linear { name, parts, least, most };
        }
        // Classes of a group, or of several; all or those of one true class.
        let only = rng.chance(0.3).then_some(label);
        let wrong = rng.chance(0.2);
        let part = |of_groups: &[usize], factor| {
            let classes = (0..k as u32).filter(|&c| {
                let own = only.is_none_or(|only| self.class_of[c as usize] == only);
                own && of_groups.contains(&(c as usize % groups))
            });
            let of: Vec<u32> = classes.collect();
            let counts = match wrong {
                true => (of.iter())
                    .flat_map(|&c| (0..labels as u32).map(move |l| (c, l)))
                    .filter(|&(c, l)| self.class_of[c as usize] != l)
                    .collect(),
                false => of.iter().map(|&c| (c, label)).collect(),
            };
            Part { counts, of, factor }
        };
        let all: Vec<usize> = (0..groups).collect();
        let (a, b) = (rng.below(groups), rng.below(groups));
        let share = rng.pick(&[(0, 1), (1, 100), (1, 10), (1, 4), (1, 2)]);
        if a == b {
            let (least, most) = match rng.chance(0.5) {
                true => (Some(share), None),
                false => (None, Some(share)),
            };
            return Linear { name, parts: vec![part(&all, (1, 1))], least, most };
        }
        let rest: Vec<usize> = all.iter().copied().filter(|&g| g != a).collect();
        let other = if rng.chance(0.3) { &rest[..] } else { &[b][..] };
        if rng.chance(0.5) {
            let ratio = rng.pick(&[(-4, 5), (-1, 2), (-1, 1)]);
            let parts = vec![part(&[a], (1, 1)), part(other, ratio)];
            return Linear { name, parts, least: Some((0, 1)), most: None };
        }
        let parts = vec![part(&[a], (1, 1)), part(other, (-1, 1))];
        Linear { name, parts, least: Some((-share.0, share.1)), most: Some(share) }
    }

    /// The limits where all weights are given times `unit`.
    fn inputs(&self, unit: f64) -> Vec<LimitInput> {
        let input = |limit: &Linear| {
            let is_sum = limit.parts.iter().all(|part| part.of.is_empty());
            let bound = |x: Option<Fraction>, none: f64| {
                x.map_or(none, |x| float(x) * if is_sum { unit } else { 1.0 })
            };
            let term = |part: &Part| Term {
                counts: part.counts.clone(),
                of: part.of.clone(),
                factor: float(part.factor),
            };
            LimitInput {
                name: limit.name.clone(),
                terms: limit.parts.iter().map(term).collect(),
                least: bound(limit.least, f64::NEG_INFINITY),
                most: bound(limit.most, f64::INFINITY),
                is_strict: false,
            }
        };
        self.limits.iter().map(input).collect()
    }

    fn weight(&self, class: u32, points: impl Iterator<Item = usize>) -> i64 {
        let k = self.input.n_classes;
        points.map(|p| self.input.weights[p * k + class as usize] as i64).sum()
    }

    fn whole(&self, part: &Part) -> i128 {
        if part.of.is_empty() {
            return 1;
        }
        let n = self.case.n_points();
        part.of.iter().map(|&class| i128::from(self.weight(class, 0..n))).sum()
    }

    fn is_empty(&self) -> bool {
        self.limits.iter().flat_map(|limit| &limit.parts).any(|part| self.whole(part) == 0)
    }

    /// By limit how far these sums, one for each part, are beyond it.
    fn violations(&self, sums: &[i64]) -> Vec<f64> {
        let mut at = 0;
        let violation = |limit: &Linear| {
            let (mut p, mut q) = (0i128, 1i128);
            for part in &limit.parts {
                let (r, s) = (part.factor.0 * i128::from(sums[at]), part.factor.1);
                at += 1;
                let s = s * self.whole(part);
                (p, q) = (p * s + r * q, q * s);
            }
            let above = limit.most.map(|(r, s)| (p * s - r * q, q * s));
            let below = limit.least.map(|(r, s)| (r * q - p * s, q * s));
            let beyond = [above, below].into_iter().flatten().map(float).fold(0.0, f64::max);
            // Zero is exact: the numerator is.
            if beyond > 0.0 { beyond } else { 0.0 }
        };
        self.limits.iter().map(violation).collect()
    }

    /// Leaves, loss in parts with what tests cost, and a sum for each part, of every tree.
    fn all(
        &self,
        problem: &Problem,
        memo: &mut HashMap<(u64, u32, Path), HashSet<Vec<i64>>>,
        (set, depth): (u64, u32),
        path: &[usize],
    ) -> HashSet<Vec<i64>> {
        let key = (set, depth, path.to_vec());
        if let Some(known) = memo.get(&key) {
            return known.clone();
        }
        let labels = self.input.n_labels;
        let leaf = |label: usize| -> Vec<i64> {
            let weight = |class: u32| self.weight(class, sets::points(set));
            let cost = |c: u32| self.input.costs[c as usize * labels + label] as i64;
            let classes = 0..self.input.n_classes as u32;
            let loss = classes.map(|c| weight(c) * cost(c) * PARTS).sum();
            let sum = |part: &Part| {
                let here = part.counts.iter().filter(|count| count.1 as usize == label);
                here.map(|&(class, _)| weight(class)).sum()
            };
            let parts = self.limits.iter().flat_map(|limit| &limit.parts);
            [1, loss].into_iter().chain(parts.map(sum)).collect()
        };
        let mut found: HashSet<Vec<i64>> = (0..labels).map(leaf).collect();
        let rules = &self.case.paths;
        let keeps_path = !rules.is_empty() || !self.costs.is_empty();
        let here = match depth {
            0 => Vec::new(),
            _ => splits_below(problem, set, rules, keeps_path, path),
        };
        for (lefts, rights, below) in here {
            let price: i64 = sets::points(set)
                .map(|p| self.row_weight([p].into_iter()) * self.costs.price_at(path, &below, p))
                .sum();
            let a = self.all(problem, memo, (lefts, depth - 1), &below);
            let b = self.all(problem, memo, (rights, depth - 1), &below);
            for a in &a {
                let mut paid = a.clone();
                paid[1] += price;
                found.extend(b.iter().map(|b| paid.iter().zip(b).map(|(x, y)| x + y).collect()));
            }
        }
        memo.insert(key, found.clone());
        found
    }

    fn build(&self, by_rows: bool, unit: f64) -> certree::error::Result<Constrained> {
        let Case { columns, codes, rows, shape, .. } = &self.case;
        let points = Points::new(columns, codes.clone(), rows.clone())?;
        let weights: Vec<f64> = self.input.weights.iter().map(|w| w * unit).collect();
        let limits = self.inputs(unit);
        let problem = if by_rows {
            let (k, l) = (self.input.n_classes, self.input.n_labels);
            let cost = |point: &[f64], label: usize| -> f64 {
                (0..k).map(|c| point[c] * self.input.costs[c * l + label]).sum()
            };
            let each = |point: &'_ [f64]| (0..l).map(|label| cost(point, label)).collect();
            let costs = weights.chunks_exact(k).flat_map::<Vec<f64>, _>(each).collect();
            let row_weights: Vec<f64> = (0..self.case.n_points())
                .map(|point| self.row_weight([point].into_iter()) as f64 * unit)
                .collect();
            let counted = CountedInput {
                n_labels: l,
                costs,
                error: 0.0,
                normalizer: self.total() as f64 * unit,
                leaf_penalty: self.input.leaf_penalty,
                n_groups: k,
                feature_costs: self.costs.list_of(&row_weights, 1),
                row_weights,
                weights,
            };
            Constrained::by_rows(columns.clone(), points, &counted, &limits, *shape)
        } else {
            let class_weights = self.input.class_weights.iter().map(|w| w * unit).collect();
            let costs = self.costs.list_of(&weights, self.input.n_classes);
            let input = ClassInput { weights, class_weights, ..self.input.clone() };
            let class_of = self.class_of.clone();
            let input = (&input, &costs);
            Constrained::paying(columns.clone(), points, input, class_of, &limits, *shape)
        }?;
        match self.case.context() {
            Some(context) => problem.with_context(context),
            None => Ok(problem),
        }
    }

    fn total(&self) -> i64 {
        self.row_weight(0..self.case.n_points())
    }

    /// Without sums.
    fn row_weight(&self, points: impl Iterator<Item = usize> + Clone) -> i64 {
        let classes = 0..self.class_of.len() as u32;
        classes.map(|class| self.weight(class, points.clone())).sum()
    }
}

/// What the error says after these words.
fn number_after(text: &str, words: &str) -> Option<f64> {
    let rest = text.split(words).nth(1)?;
    let end = |c: char| c == ' ' || c == ';';
    rest.split(end).next()?.trim_end_matches('.').parse().ok()
}

fn check(seed: u64, paths: PathMix, stopped: Option<Duration>) -> Result<(), String> {
    check_with(seed, (paths, false), stopped)
}

fn check_with(
    seed: u64,
    (paths, has_costs): (PathMix, bool),
    stopped: Option<Duration>,
) -> Result<(), String> {
    let limited = &random(seed, paths, has_costs);
    let by_rows = seed.is_multiple_of(3);
    let unit = if seed.is_multiple_of(5) { [1.0 / 3.0, 1e9 / 7.0][seed as usize % 2] } else { 1.0 };
    let mut constrained = match limited.build(by_rows, unit) {
        Err(Error::Invalid(text)) if limited.is_empty() && text.contains("no row counts") => {
            return Ok(());
        }
        built => built.map_err(|e| e.to_string())?,
    };
    constrained.multipliers = !seed.is_multiple_of(4);
    let shape = limited.case.shape;
    let everything = ((1 << limited.case.n_points()) - 1, shape.max_depth.unwrap());
    let trees = limited.all(&constrained.problem, &mut HashMap::new(), everything, &[]);
    let allowed = |t: &&Vec<i64>| shape.max_leaves.is_none_or(|most| t[0] <= i64::from(most));
    let total = (limited.total() * PARTS) as f64;
    let objective = |t: &[i64]| t[1] as f64 / total + limited.input.leaf_penalty * t[0] as f64;
    let beyond: Vec<(f64, Vec<f64>)> = (trees.iter().filter(allowed))
        .map(|tree| (objective(tree), limited.violations(&tree[2..])))
        .collect();
    let kept = beyond.iter().filter(|(_, beyond)| beyond.iter().all(|&by| by == 0.0));
    let best = kept.map(|tree| tree.0).min_by(f64::total_cmp);

    let time = stopped.or(Some(Duration::from_secs(20)));
    let threads = 1 + seed as usize % 2;
    let run = Run::new(Limits { threads, time, ..Limits::default() }, constrained.scale(), None);
    let (answer, attained) = match (constrained.solve(&run), best) {
        (Ok(found), Some(_)) => found,
        (Err(Error::Invalid(text)), None) => {
            if stopped.is_some() || unit != 1.0 {
                return Ok(());
            }
            return says_how_much(&text, &beyond);
        }
        (Err(Error::Invalid(text)), _) if stopped.is_some() && text.contains("was stopped") => {
            return Ok(());
        }
        (Err(error), _) => return Err(error.to_string()),
        (Ok((answer, _)), None) => return Err(format!("{} where no tree is", answer.objective)),
    };
    let best = best.expect("there is a tree");
    bounds_the_best(&answer, best, stopped.is_none())?;
    for (limit, value) in limited.inputs(unit).iter().zip(&attained) {
        let room = 1e-9 * (1.0 + limit.most.abs().min(limit.least.abs()));
        ensure(*value <= limit.most + room && *value >= limit.least - room, || {
            format!("{value} in {limit:?}")
        })?;
    }
    Ok(())
}

/// The least violation of the worst limit, and of each with the others kept.
fn says_how_much(text: &str, beyond: &[(f64, Vec<f64>)]) -> Result<(), String> {
    let near = |said: Option<f64>, least: f64| {
        // Six digits, rounded up but for what floats round.
        let (low, high) = (least - 1e-12, least * (1.0 + 3e-5) + 1e-12);
        ensure(said.is_some_and(|said| (low..=high).contains(&said)), || {
            format!("{text}, but it is {least}, not {said:?}")
        })
    };
    let worst = beyond.iter().map(|(_, by)| by.iter().copied().fold(0.0, f64::max));
    near(
        number_after(text, "the least violation reachable is "),
        worst.fold(f64::INFINITY, f64::min),
    )?;
    let n = beyond[0].1.len();
    for at in (0..n).filter(|_| n > 1) {
        let others = |by: &[f64]| by.iter().enumerate().all(|(i, &by)| i == at || by == 0.0);
        let alone = beyond.iter().filter(|(_, by)| others(by)).map(|(_, by)| by[at]);
        match alone.min_by(f64::total_cmp) {
            Some(least) => near(number_after(text, &format!("limit {at}: at least ")), least)?,
            None => ensure(text.contains(&format!("limit {at}: no amount")), || text.into())?,
        }
    }
    Ok(())
}

#[test]
fn all_trees_and_labellings() {
    for_all(0..cases(600), |seed| check(seed, PathMix::None, None));
}

#[test]
fn with_rules_for_paths() {
    for_all(500_000..500_000 + cases(200), |seed| {
        check(seed, PathMix::ALL[seed as usize % PathMix::ALL.len()], None)
    });
}

/// Where columns cost something, alone and with rules for paths.
#[test]
fn with_feature_costs() {
    for_all(900_000..900_000 + cases(300), |seed| {
        let mix = PathMix::ALL[seed as usize % PathMix::ALL.len()];
        let paths = if seed.is_multiple_of(3) { mix } else { PathMix::None };
        let stopped = seed.is_multiple_of(11).then(|| Duration::from_micros(seed % 5 * 60));
        check_with(seed, (paths, true), stopped)
    });
}

#[test]
fn stopped_searches_bound_the_optimum() {
    for_all(700_000..700_000 + cases(200), |seed| {
        check(seed, PathMix::None, Some(Duration::from_micros(seed % 5 * 60)))
    });
}
