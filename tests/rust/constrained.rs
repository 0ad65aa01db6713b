//! Limits on sums against the list of all trees and labellings.

use std::collections::HashMap;
use std::time::Duration;

use crate::common::judge::ensure;
use crate::common::limited::{Limited, Oracle, Sums, limited, violation};
use crate::common::paths::PathMix;
use crate::common::{Case, Loss, cases, for_all};
use certree::error::Error;
use certree::pareto::Constrained;
use certree::run::{Limits, Run, Status};
use certree::task::ClassInput;

const NONE: PathMix = PathMix::None;

fn check(limited: &Limited, threads: usize, stopped: Option<Duration>) -> Result<(), String> {
    check_with(limited, threads, stopped, true, 1.0)
}

fn check_with(
    limited: &Limited,
    threads: usize,
    stopped: Option<Duration>,
    multipliers: bool,
    unit: f64,
) -> Result<(), String> {
    let Case { columns, codes, rows, shape, .. } = &limited.case;
    let points = certree::data::Points::new(columns, codes.clone(), rows.clone()).unwrap();
    let (input, class_of) = (&limited.input, limited.class_of.clone());
    let totals = limited.totals();
    // In another unit nothing changes but what is exact.
    let given = ClassInput {
        weights: input.weights.iter().map(|w| w * unit).collect(),
        class_weights: input.class_weights.iter().map(|w| w * unit).collect(),
        ..input.clone()
    };
    let limits = limited.limit_inputs();
    let built = Constrained::new(columns.clone(), points, &given, class_of, &limits, *shape);
    let mut constrained = match built {
        Err(Error::Invalid(text)) if limited.is_empty() && text.contains("no row counts") => {
            return Ok(());
        }
        built => built.map_err(|e| e.to_string())?,
    };
    if let Some(context) = limited.case.context() {
        constrained = constrained.with_context(context).map_err(|e| e.to_string())?;
    }
    constrained.multipliers = multipliers;
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
            let said = text.split("the least violation reachable is ").nth(1);
            let said = said.and_then(|said| said.split(' ').next()?.parse::<f64>().ok());
            // Six digits, rounded up but for what floats round.
            let (low, high) = (least_violation - 1e-15, least_violation * (1.0 + 3e-5) + 1e-12);
            let right = |said| (low..=high).contains(&said);
            return ensure(stopped.is_some() || said.is_some_and(right), || {
                format!("{text}, but it is {least_violation}")
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
        ensure(value.abs() <= limit.most + if unit == 1.0 { 1e-12 } else { 1e-10 }, || {
            format!("{value} in {}", limit.name)
        })?;
    }
    let judged = Case { loss: Loss::Classes(given), ..limited.case.clone() };
    crate::common::judge::tree_is_sound(&judged, &constrained.problem, &answer.tree).or_else(
        |why| {
            // The judge expects the best label of each leaf.
            if why.contains("label") || why.contains("loss") { Ok(()) } else { Err(why) }
        },
    )
}

#[test]
fn one_limit() {
    for_all(0..cases(1_500), |seed| check(&limited(seed, 1, NONE), 1, None));
}

#[test]
fn several_limits() {
    for_all(100_000..100_000 + cases(1_000), |seed| {
        check(&limited(seed, 3, NONE), 1 + seed as usize % 2, None)
    });
}

/// The front search alone, with nothing to prune by.
#[test]
fn without_multipliers() {
    for_all(300_000..300_000 + cases(1_500), |seed| {
        check_with(&limited(seed, 1 + seed as usize % 3, NONE), 1, None, false, 1.0)
    });
}

/// Weights that are no short decimals. `CERTREE_CASES` is for long runs by hand.
#[test]
fn long_decimals() {
    for_all(400_000..400_000 + cases(600), |seed| {
        let unit = [1.0 / 3.0, 0.123456789, 1e9 / 7.0][seed as usize % 3];
        check_with(
            &limited(seed, 1 + seed as usize % 3, NONE),
            1,
            None,
            !seed.is_multiple_of(4),
            unit,
        )
    });
}

#[test]
fn stopped_searches_bound_the_optimum() {
    for_all(200_000..200_000 + cases(500), |seed| {
        check(&limited(seed, 2, NONE), 1, Some(Duration::from_micros(seed % 5 * 60)))
    });
}

/// Rules for paths: with and without relaxations, any number of threads, and stopped early.
/// `CERTREE_CASES` asks for more.
#[test]
fn with_rules_for_paths() {
    for (at, paths) in PathMix::ALL.into_iter().enumerate() {
        let first = 500_000 + 100_000 * at as u64;
        for_all(first..first + cases(600), |seed| {
            let limited = limited(seed, 1 + seed as usize % 3, paths);
            check_with(&limited, 1 + seed as usize % 2, None, !seed.is_multiple_of(3), 1.0)?;
            let stopped = seed.is_multiple_of(10).then(|| Duration::from_micros(seed % 7 * 60));
            stopped.map_or(Ok(()), |time| check(&limited, 1, Some(time)))
        });
    }
}
