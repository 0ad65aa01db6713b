//! F_β, Jaccard and Matthews' correlation under limits on sums, against the list of all trees and
//! labellings.

use std::collections::HashMap;
use std::time::Duration;

use crate::common::judge::ensure;
use crate::common::limited::{Limited, Oracle, Shares, Sums, limited_of, violation};
use crate::common::metrics::{any, loss, ratio};
use crate::common::paths::{PathMix, keeps_rules};
use crate::common::{Case, Random, cases, for_all};
use certree::data::Points;
use certree::error::Error;
use certree::metric::{Metric, MetricInput, Scored};
use certree::problem::Problem;
use certree::run::{Limits, Run, Status};
use certree::task::ClassInput;

/// Missed positives are counted in these in the oracle's loss, and false alarms in ones.
const MISSED: i64 = 1 << 20;

struct Judged {
    limited: Limited,
    metric: Metric,
    positive: usize,
}

fn judged(
    seed: u64,
    metric: impl Fn(&mut Random) -> Metric,
    penalties: &[f64],
    paths: PathMix,
) -> Judged {
    let rng = &mut Random::new(seed ^ 0xf1fa);
    let mut limited = limited_of(seed, 3, Some(2), paths);
    let positive = rng.below(2);
    let k = limited.input.n_classes;
    if rng.chance(0.15) {
        // Most rows may be given neither label: no single leaf is allowed, and correlations are
        // below zero.
        for (label, most) in [(0, (0.5, 1, 2)), (1, (0.75, 3, 4))] {
            let among = (0..k as u32).collect();
            let name = format!("capacity of {label}");
            limited.limits.push(Shares { name, label, among, against: vec![], most: most.0 });
            limited.fractions.push((most.1, most.2));
        }
    }
    let cost = |class: usize, label: usize| match (limited.class_of[class] as usize, label) {
        (class, label) if class == label => 0,
        (class, _) if class == positive => MISSED,
        _ => 1,
    };
    limited.input.costs = (0..2 * k).map(|at| cost(at / 2, at % 2) as f64).collect();
    limited.input.leaf_penalty = rng.pick(penalties);
    Judged { limited, metric: metric(rng), positive }
}

fn check(judged: &Judged, limits: Limits) -> Result<(), String> {
    let Judged { limited, metric, positive } = judged;
    let Case { columns, codes, rows, shape, .. } = &limited.case;
    let points = Points::new(columns, codes.clone(), rows.clone()).unwrap();
    let (input, totals) = (&limited.input, limited.totals());
    let costs = input.costs.iter().map(|&cost| cost.min(1.0)).collect();
    let classes = ClassInput { costs, ..input.clone() };
    let scored = Scored::limited(
        columns.clone(),
        points.clone(),
        &MetricInput { classes, metric: *metric, positive: *positive },
        limited.class_of.clone(),
        &limited.limit_inputs(),
        *shape,
    );
    let of = |class: u32| {
        let own = limited.class_of.iter().zip(&totals).filter(|(c, _)| **c == class);
        own.map(|(_, &total)| total).sum::<i64>() as f64
    };
    let (p, n) = (of(*positive as u32), of(1 - *positive as u32));
    let scored = match scored {
        Err(Error::Invalid(text)) if limited.is_empty() && text.contains("no row counts") => {
            return Ok(());
        }
        Err(Error::Invalid(text)) if p * n == 0.0 && text.contains("weighs anything") => {
            return Ok(());
        }
        scored => scored.map_err(|e| e.to_string())?,
    };
    let scored = match limited.case.context() {
        Some(context) => scored.with_context(context).map_err(|e| e.to_string())?,
        None => scored,
    };
    let problem = Problem::new(columns.clone(), points, input.build().unwrap(), *shape).unwrap();
    let count = limited.case.n_points();
    let mut oracle = Oracle { limited, problem: &problem, memo: HashMap::new() };
    let trees = oracle.all((1 << count) - 1, shape.max_depth.unwrap());
    let objective = |t: &Sums| {
        let (missed, alarms) = ((t[1] / MISSED) as f64, (t[1] % MISSED) as f64);
        loss(*metric, p, n, missed, alarms) + input.leaf_penalty * t[0] as f64
    };
    let allowed = |t: &&Sums| shape.max_leaves.is_none_or(|most| t[0] <= i64::from(most));
    let kept = trees.iter().filter(allowed).filter(|t| violation(limited, &totals, t) == 0.0);
    let best = kept.map(objective).min_by(f64::total_cmp);

    let stopped = limits.gap > 0.0 || limits.time.is_some_and(|t| t < Duration::from_secs(1));
    let run = Run::new(limits, scored.scale(), None);
    let (answer, best) = match (scored.solve(&run), best) {
        (Ok(answer), Some(best)) => (answer, best),
        (Err(Error::Invalid(text)), None) => {
            return ensure(text.contains("the least violation") || stopped, || text);
        }
        (Err(Error::Invalid(text)), _) if stopped && text.contains("was stopped") => return Ok(()),
        (Err(error), _) => return Err(error.to_string()),
        (Ok(answer), None) => return Err(format!("{} where no tree is", answer.objective)),
    };
    let close = |a: f64, b: f64| (a - b).abs() < 1e-11;
    if !stopped {
        ensure(answer.status == Status::Optimal, || format!("{:?}", answer.status))?;
        ensure(close(answer.lower_bound, best), || format!("{} < {best}", answer.lower_bound))?;
    }
    ensure(answer.status != Status::Optimal || close(answer.objective, best), || {
        format!("{} is called optimal, but {best} is", answer.objective)
    })?;
    ensure(answer.objective > best - 1e-11 && answer.lower_bound < best + 1e-11, || {
        format!("{} to {}, but {best}", answer.lower_bound, answer.objective)
    })?;
    ensure(keeps_rules(&limited.case.paths, &answer.tree), || "a path breaks a rule".into())?;
    for (limit, value) in limited.limits.iter().zip(scored.attained(&answer.tree).unwrap()) {
        ensure(value.abs() <= limit.most + 1e-12, || format!("{value} in {}", limit.name))?;
    }
    Ok(())
}

const NONE: PathMix = PathMix::None;

fn unlimited(threads: usize) -> Limits {
    Limits { threads, time: Some(Duration::from_secs(20)), ..Limits::default() }
}

#[test]
fn ratios() {
    for_all(0..cases(250), |seed| {
        check(&judged(seed, ratio, &[0.0, 0.01, 0.05], NONE), unlimited(1))
    });
}

#[test]
fn matthews() {
    let matthews = |_: &mut Random| Metric::Matthews;
    for_all(100_000..100_000 + cases(250), |seed| {
        check(&judged(seed, matthews, &[0.0, 0.01, 0.05], NONE), unlimited(1 + seed as usize % 2))
    });
}

#[test]
fn stopped_searches_bound_the_optimum() {
    for_all(200_000..200_000 + cases(80), |seed| {
        let judged = judged(seed, any, &[0.0, 0.02], NONE);
        let time = Some(Duration::from_micros(seed % 5 * 100));
        check(&judged, Limits { time, ..Limits::default() })?;
        check(&judged, Limits { gap: 0.1, ..Limits::default() })
    });
}

#[test]
fn with_rules_for_paths() {
    for_all(300_000..300_000 + cases(250), |seed| {
        let judged = judged(seed, any, &[0.0, 0.01, 0.05], PathMix::Any);
        check(&judged, unlimited(1 + seed as usize % 2))
    });
}
