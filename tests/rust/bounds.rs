//! Every bound's own statement, held against the oracle's optimum on random sets of points.

use crate::common::judge::ensure;
use crate::common::problems::{LossKind, Options, ShapeMix};
use crate::common::sets::{self, optimum};
use crate::common::{Case, Random, for_seeds};
use certree::bounds::{
    child_support, equal_splits, equivalent_points, k_means, leaf, look_ahead, parts, scope,
    similarity, three_leaves,
};
use certree::problem::Problem;
use certree::search::brute::Brute;
use certree::view::Cut;

/// Runs `check` on a few random sets of each random case.
fn for_sets(
    options: &Options,
    check: impl Fn(&Problem, &mut Brute, &mut Random, u64) -> Result<(), String> + Copy,
) {
    for_seeds(1_000, options, |case: &Case| {
        let problem = case.problem().map_err(|e| e.to_string())?;
        let mut oracle = Brute::new(&problem);
        let rng = &mut Random::new(case.n_points() as u64 + 7 * case.codes.len() as u64);
        for _ in 0..6 {
            let set = sets::random(rng, &problem);
            check(&problem, &mut oracle, rng, set)?;
        }
        Ok(())
    });
}

fn small() -> Options {
    Options { max_points: 10, max_columns: 4, ..Options::default() }
}

/// Rows per leaf are not limited: similarity holds for any two sets.
fn any_leaf_size(problem: &Problem) -> bool {
    problem.shape.min_leaf_rows <= 1
}

#[test]
fn leaf_and_equivalent_points() {
    for_sets(&small(), |problem, oracle, rng, set| {
        let (depth, leaves) = sets::random_budget(rng);
        let (cost, plan) = oracle.best(set, depth, leaves);
        let most = leaf::at_most(sets::leaf(problem, set), problem.leaf_cost);
        ensure(cost <= most, || format!("a leaf costs {most}, the optimum {cost}"))?;
        let least = sets::least(problem, set);
        let bound = equivalent_points::at_least(least, plan.leaves().into(), problem.leaf_cost);
        ensure(cost >= bound, || format!("{plan:?} costs {cost}, less than {bound}"))
    });
}

#[test]
fn look_ahead() {
    for_sets(&small(), |problem, oracle, rng, set| {
        let (depth, leaves) = sets::random_budget(rng);
        let (least, cost) = (sets::least(problem, set), optimum(oracle, set, (depth, leaves)));
        let beyond = [(1, look_ahead::BEYOND_DEPTH_ONE), (2, look_ahead::BEYOND_DEPTH_TWO)];
        for (seen, larger) in beyond {
            let known = optimum(oracle, set, (depth.min(seen), leaves));
            let bound = look_ahead::at_least(known, least, larger, problem.leaf_cost);
            ensure(bound <= cost, || format!("seen to depth {seen}: {bound} > {cost}"))?;
        }
        Ok(())
    });
}

/// Class weights of a set, for two classes and one cost of all errors.
fn two_classes(problem: &Problem, set: u64) -> Option<([i64; 2], i64)> {
    let classes = problem.task.structure().classes().filter(|classes| classes.n_classes() == 2)?;
    let weight = |class: usize| sets::points(set).map(|p| classes.weights(p)[class]).sum();
    Some(([weight(0), weight(1)], classes.uniform()?))
}

#[test]
fn three_leaves() {
    let options = Options { loss: LossKind::Accuracy, ..small() };
    for_sets(&options, |problem, oracle, rng, set| {
        let Some((weights, unit)) = two_classes(problem, set) else { return Ok(()) };
        let few = rng.range(1, 4) as i64;
        let mut most = [0; 2];
        for (index, feature) in problem.features.iter().enumerate() {
            for cut in 0..feature.cuts {
                for side in sets::sides(problem, set, Cut { feature: index.into(), cut }) {
                    let (side, _) = two_classes(problem, side).expect("the same problem");
                    for class in (0..2).filter(|&class| side[1 - class] < few) {
                        most[class] = side[class].max(most[class]);
                    }
                }
            }
        }
        let classes = [0, 1].map(|class| (weights[class], most[class]));
        let (known, cost) = (optimum(oracle, set, (1, None)), optimum(oracle, set, (2, Some(3))));
        let bound = known.min(few * unit + 3 * problem.leaf_cost);
        let holds = bound <= cost || !three_leaves::fail(classes, few);
        ensure(holds, || format!("{cost} is less than {bound}, with {classes:?}"))
    });
}

/// A side that cannot pay for its leaf: its sibling's budget is enough for all rows.
fn child_support_holds(
    problem: &Problem,
    oracle: &mut Brute,
    rng: &mut Random,
    set: u64,
) -> Result<(), String> {
    let Some(children) = sets::random_split(rng, problem, set) else { return Ok(()) };
    let (budget, other) = (sets::random_budget(rng), sets::random_budget(rng));
    for side in 0..2 {
        let (small, sibling) = (children[side], children[1 - side]);
        let (worst, least) = (sets::worst(problem, small), sets::least(problem, small));
        if !child_support::may_pay(worst, least, problem.leaf_cost) {
            let split = optimum(oracle, small, other) + optimum(oracle, sibling, budget);
            let without = optimum(oracle, set, budget);
            ensure(without <= split, || format!("{split} with a side of {worst}, {without} not"))?;
        }
    }
    Ok(())
}

#[test]
fn child_support() {
    for_sets(&small(), child_support_holds);
    for_sets(&Options { limits: ShapeMix::MinRows, ..small() }, child_support_holds);
}

/// Two splits whose sides differ in rows that can cost nothing.
#[test]
fn equal_splits() {
    for kind in [LossKind::Any, LossKind::Rows] {
        for_sets(&Options { loss: kind, ..small() }, |problem, oracle, rng, set| {
            // Rows that cost nothing count in a leaf.
            if !any_leaf_size(problem) {
                return Ok(());
            }
            let budgets = [sets::random_budget(rng), sets::random_budget(rng)];
            let splits = [(); 2].map(|()| sets::random_split(rng, problem, set));
            let [Some(one), Some(other)] = splits else { return Ok(()) };
            let lost = [one[0] & !other[0], other[0] & !one[0]];
            if equal_splits::are_equal(lost.map(|set| sets::worst(problem, set))) {
                let mut costs = [one, other].map(|sides| {
                    optimum(oracle, sides[0], budgets[0]) + optimum(oracle, sides[1], budgets[1])
                });
                costs.sort_unstable();
                ensure(costs[0] == costs[1], || format!("{costs:?}: {one:?} and {other:?}"))?;
            }
            Ok(())
        });
    }
}

#[test]
fn scope() {
    for_sets(&small(), |problem, oracle, rng, set| {
        let Some([left, right]) = sets::random_split(rng, problem, set) else { return Ok(()) };
        let budget = sets::random_budget(rng);
        let (a, b) = (optimum(oracle, left, budget), optimum(oracle, right, budget));
        let lower = rng.range(0, b as usize) as i64;
        let needed = scope::of_child(a + b, lower);
        ensure(needed >= a && needed + lower == a + b, || format!("{a} + {b}: {needed}"))
    });
}

#[test]
fn similarity_of_any_two_sets() {
    for_sets(&small(), |problem, oracle, rng, known| {
        let (set, budget) = (sets::random(rng, problem), sets::random_budget(rng));
        // With a minimum leaf size only for a subset.
        let set = if any_leaf_size(problem) || set & known == 0 { set } else { set & known };
        if !any_leaf_size(problem) && set & !known != 0 {
            return Ok(());
        }
        let lost = sets::worst(problem, known & !set);
        let bound = similarity::at_least(optimum(oracle, known, budget), lost);
        let cost = optimum(oracle, set, budget);
        ensure(bound <= cost, || format!("{set:b} costs {cost}, not {bound}, from {known:b}"))
    });
}

#[test]
fn rows_cost_at_least_what_their_parts_cost() {
    for_sets(&small(), |problem, oracle, rng, set| {
        if !any_leaf_size(problem) {
            return Ok(());
        }
        let budget = (rng.below(4) as u32, None);
        // Up to four disjoint sets; what is in none of them makes no difference.
        let mut rest = set;
        let mut parts = Vec::new();
        for _ in 0..rng.range(1, 5) {
            let part = rest & rng.next();
            rest &= !part;
            if part != 0 {
                let (least, lower) = (sets::least(problem, part), optimum(oracle, part, budget));
                parts.push(parts::Part { least, lower });
            }
        }
        let leaves = 1 << budget.0;
        let (leaf_cost, rounding) = (problem.leaf_cost, problem.task.rounding());
        let bound = parts::at_least(parts.iter().copied(), leaves, leaf_cost, rounding);
        let cost = optimum(oracle, set, budget);
        ensure(bound <= cost, || format!("{set:b} costs {cost}, not {bound}, from {parts:?}"))
    });
}

/// Whatever the leaves must hold: children are subsets.
fn parents_bound_children(
    problem: &Problem,
    oracle: &mut Brute,
    rng: &mut Random,
    set: u64,
) -> Result<(), String> {
    let Some(children) = sets::random_split(rng, problem, set) else { return Ok(()) };
    let budget = sets::random_budget(rng);
    let whole = optimum(oracle, set, budget);
    for side in 0..2 {
        let sibling = sets::worst(problem, children[1 - side]);
        let bound = similarity::at_least(whole, sibling);
        let cost = optimum(oracle, children[side], budget);
        ensure(bound <= cost, || format!("side {side} costs {cost}, not {bound}"))?;
    }
    Ok(())
}

#[test]
fn similarity_from_parent_to_child() {
    for_sets(&small(), parents_bound_children);
    for_sets(&Options { limits: ShapeMix::MinRows, ..small() }, parents_bound_children);
}

#[test]
fn siblings_bound_each_other_and_their_alternatives() {
    for_sets(&small(), |problem, oracle, rng, set| {
        let (Some(a), Some(b), Some(split)) = (
            sets::random_split(rng, problem, set),
            sets::random_split(rng, problem, set),
            sets::random_split(rng, problem, set),
        ) else {
            return Ok(());
        };
        if !any_leaf_size(problem) {
            return Ok(());
        }
        let (from, to) = (a[rng.below(2)], b[rng.below(2)]);
        let budget = sets::random_budget(rng);
        // The siblings themselves, then both sides of one split of each.
        for within in [set, split[0], split[1]] {
            let (known, same) = (from & within, to & within);
            if known == 0 || same == 0 {
                continue;
            }
            let lost = sets::worst(problem, known & !same);
            let bound = similarity::at_least(optimum(oracle, known, budget), lost);
            let cost = optimum(oracle, same, budget);
            ensure(bound <= cost, || format!("{same:b} costs {cost}, not {bound}"))?;
        }
        Ok(())
    });
}

fn squared() -> Options {
    Options { loss: LossKind::Squares, ..small() }
}

/// What k-means says of a set.
fn groups(problem: &Problem, set: u64, leaves: u32, target: i64) -> Option<i64> {
    let task = problem.task.structure().squares().expect("a regression");
    let points: Vec<usize> = sets::points(set).collect();
    let stats = |p: usize| problem.task.stats(points[p]);
    let mut scratch = k_means::Scratch::default();
    let trees = (leaves, problem.leaf_cost);
    scratch.at_least(task, (points.len(), stats), trees, target, &|| false)
}

#[test]
fn k_means_bounds_trees() {
    for_sets(&squared(), |problem, oracle, rng, set| {
        let (depth, leaves) = sets::random_budget(rng);
        let (cost, plan) = oracle.best(set, depth, leaves);
        for more in [0, 1, 7] {
            let bound = groups(problem, set, plan.leaves() + more, 0);
            let bound = bound.ok_or("zero is always reached")?;
            ensure(bound <= cost, || format!("{plan:?} costs {cost}, less than {bound}"))?;
            let least = equivalent_points::at_least(0, 1, problem.leaf_cost);
            ensure(bound >= least, || {
                format!("{bound} is less than equivalent points say: {least}")
            })?;
            for target in [bound, bound + 1] {
                let reached = groups(problem, set, plan.leaves() + more, target);
                let right = reached == Some(bound).filter(|&bound| bound >= target);
                ensure(right, || format!("{reached:?} of {bound}, of a target of {target}"))?;
            }
        }
        Ok(())
    });
}

/// The least cost of some points in up to so many groups of any kind, each with its penalty.
fn any_groups(problem: &Problem, points: &[usize], leaves: u32, open: &mut Vec<Vec<i64>>) -> i64 {
    let Some((&point, rest)) = points.split_first() else {
        let costs = open.iter().map(|group| problem.task.leaf(group).cost + problem.leaf_cost);
        return costs.sum();
    };
    let mut least = i64::MAX;
    for group in 0..open.len() + usize::from(open.len() < leaves as usize) {
        if group == open.len() {
            open.push(vec![0; problem.task.width()]);
        }
        let before = open[group].clone();
        open[group].iter_mut().zip(problem.task.stats(point)).for_each(|(sum, s)| *sum += s);
        least = least.min(any_groups(problem, rest, leaves, open));
        open[group] = before;
        if open[group][0] == 0 {
            open.pop();
        }
    }
    least
}

/// No way to put points into groups is cheaper, and with one output the bound is that of the best.
#[test]
fn k_means_is_the_best_of_all_groups() {
    let options = Options { max_points: 7, max_columns: 2, ..squared() };
    for_sets(&options, |problem, _, rng, set| {
        let task = problem.task.structure().squares().ok_or("a regression")?;
        let points: Vec<usize> = sets::points(set).collect();
        let leaves = rng.range(1, 5) as u32;
        let bound = groups(problem, set, leaves, 0).ok_or("zero is always reached")?;
        let least = any_groups(problem, &points, leaves, &mut Vec::new());
        ensure(bound <= least, || format!("groups cost {least}, less than {bound}"))?;
        // A unit for each group, and what floats may be off by.
        let q: i64 = points.iter().map(|&p| problem.task.stats(p)[task.n_outputs() + 1]).sum();
        let off = i64::from(leaves) + 1 + q / (1 << 40);
        ensure(task.n_outputs() > 1 || least - bound <= off, || {
            format!("the best groups cost {least}, far more than {bound}")
        })
    });
}
