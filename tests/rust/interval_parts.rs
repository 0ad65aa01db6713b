//! The root's intervals divided by lot among searches that share nothing but the best cost:
//! together they prove what one search does, and at no time is the least of their bounds above the
//! best tree.

use std::time::Duration;

use crate::common::judge::{ensure, recompute, tree_is_sound};
use crate::common::problems::{ColumnMix, LossKind, Options, ShapeMix};
use crate::common::{Case, Random, for_seeds};
use certree::problem::{Problem, Shape};
use certree::run::{Limits, Run};
use certree::search::brute;
use certree::search::intervals::{self, RootPart, SavedSearch};
use certree::serial::{Reader, Writer};
use certree::tree::{Plan, Tree};

/// A part as another process reads it.
fn sent(part: RootPart, problem: &Problem) -> Result<RootPart, String> {
    let bytes = written(&part);
    let again = read(&bytes, problem)?;
    ensure(written(&again) == bytes, || "a part is written otherwise after it was read".into())?;
    ensure(again.waits() == part.waits(), || "a part waits after it was read".into())?;
    Ok(again)
}

fn written(part: &RootPart) -> Vec<u8> {
    let mut out = Writer::new();
    part.write(&mut out);
    out.into_bytes()
}

fn read(bytes: &[u8], problem: &Problem) -> Result<RootPart, String> {
    RootPart::read(&mut Reader::new(bytes), &problem.features).map_err(|e| e.to_string())
}

/// The part in two, or itself.
fn divided(part: RootPart, problem: &Problem) -> Result<Vec<RootPart>, String> {
    let bytes = written(&part);
    Ok(match part.halves() {
        Some(halves) => halves.into(),
        None => vec![read(&bytes, problem)?],
    })
}

/// The best tree that comes of all parts, and its cost.
fn search(problem: &Problem, optimum: i64, rng: &mut Random) -> Result<(Plan, i64), String> {
    let (mut plan, mut upper) = (Plan::Leaf, problem.as_one_leaf());
    let mut known: [SavedSearch; 2] = Default::default();
    let mut parts = vec![(RootPart::default(), 0)];
    for _ in 0..100_000 {
        parts.retain(|(_, lower)| *lower < upper);
        let least = parts.iter().map(|(_, lower)| *lower).min().unwrap_or(upper);
        ensure(least <= optimum && optimum <= upper, || {
            format!("{least} to {upper}, but the optimum is {optimum}")
        })?;
        if parts.is_empty() {
            return Ok((plan, upper));
        }
        let free: Vec<usize> = (0..parts.len()).filter(|&at| !parts[at].0.waits()).collect();
        if free.is_empty() {
            // What is joined is searched at once, because it waits for nobody.
            let joined = RootPart::joined(parts.drain(..).map(|(part, _)| part).collect());
            parts.push((joined.ok_or("parts that wait are joined")?, least));
        }
        let at = if free.is_empty() { 0 } else { rng.pick(&free) };
        let (part, lower) = parts.swap_remove(at);
        if !part.waits() && rng.chance(0.4) {
            parts.extend(divided(part, problem)?.into_iter().map(|half| (half, lower)));
            continue;
        }
        let threads = rng.range(1, 2);
        let saved = &mut known[rng.below(2)];
        let limits = Limits { threads, ..Limits::default() };
        let run = Run::new(limits, problem.scale, None);
        let options = intervals::Options {
            cutoff: upper,
            blocks: rng.pick(&[None, Some(1), Some(2), Some(5)]),
            slice: Some(rng.pick(&[Duration::ZERO, Duration::MAX])),
            ..intervals::Options::default()
        };
        saved.put_root(sent(part, problem)?);
        let (found, mut left) = intervals::go_on(problem, &run, &options, std::mem::take(saved))
            .map_err(|e| e.to_string())?;
        parts.push((left.take_root(), lower.max(found.lower)));
        *saved = left;
        if found.upper < upper {
            (plan, upper) = (found.plan, found.upper);
        }
    }
    Err("parts are searched without an end".into())
}

fn agrees(case: &Case) -> Result<(), String> {
    let mut case = case.clone();
    let Shape { max_depth, max_leaves, .. } = case.shape;
    if case.leaf_penalty() == 0.0 && max_depth.is_none() && max_leaves.is_none() {
        case.shape.max_depth = Some(4);
    }
    let problem = case.problem().map_err(|e| e.to_string())?;
    if !intervals::applies(&problem) {
        return Ok(());
    }
    let optimum = brute::solve(&problem).upper;
    for seed in 0..3 {
        let (plan, upper) = search(&problem, optimum, &mut Random::new(seed))?;
        ensure(upper == optimum, || format!("{upper} is not the optimum {optimum}"))?;
        let tree = Tree::grow(
            &plan,
            &problem.columns,
            &problem.features,
            &problem.points,
            problem.task.as_ref(),
            problem.scale.units,
        );
        tree_is_sound(&case, &problem, &tree)?;
        ensure(recompute(&problem, &tree) == upper, || "the tree costs something else".into())?;
    }
    Ok(())
}

#[test]
fn parts_together_find_the_best_tree() {
    let columns = ColumnMix::Ordered;
    for_seeds(300, &Options { columns, min_points: 6, ..Options::default() }, agrees);
    for_seeds(200, &Options::default(), agrees);
}

#[test]
fn parts_of_every_loss() {
    for loss in [LossKind::Weighted, LossKind::Rows, LossKind::Squares] {
        let columns = ColumnMix::Ordered;
        for_seeds(150, &Options { loss, columns, min_points: 8, ..Options::default() }, agrees);
    }
}

#[test]
fn parts_within_every_limit() {
    for limits in [ShapeMix::Leaves, ShapeMix::MinRows, ShapeMix::Unlimited] {
        let columns = ColumnMix::Ordered;
        for_seeds(200, &Options { limits, columns, min_points: 8, ..Options::default() }, agrees);
    }
}
