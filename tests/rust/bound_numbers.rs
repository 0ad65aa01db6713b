//! Bounds as functions of numbers, on random numbers: none promises more than a trial of everything
//! finds, and where their statement is an equality, neither less.

use crate::common::judge::ensure;
use crate::common::{Random, cases, for_all};
use certree::bounds::area::{Lines, Segment, Whole, lines};
use certree::bounds::dominated_curves::is_as_good;
use certree::bounds::fence::{Fence, Line};
use certree::bounds::neighbouring_cuts::{Edge, between, closing, weakest};
use certree::bounds::other_costs::Combination;
use certree::bounds::{multipliers, ratio_line};
use certree::cost::INFINITE;
use certree::exact::Ratio;

type Outcome = Result<(), String>;

fn for_numbers(check: impl Fn(&mut Random) -> Outcome) {
    for_all(0..cases(3_000), |seed| check(&mut Random::new(seed)));
}

fn whole(rng: &mut Random, low: i64, high: i64) -> i64 {
    low + rng.below((high - low + 1) as usize) as i64
}

#[test]
fn multipliers_bound_trees_that_keep_the_limits() {
    for_numbers(|rng| {
        let (multiplier, scale) = (whole(rng, -9, 9), whole(rng, 1, 4));
        let low = whole(rng, -5, 2);
        let limit = (low, whole(rng, low, 6));
        let relaxed = |(cost, sum): (i64, i64)| scale * cost + multiplier * sum;
        let shift = -multipliers::most(multiplier, limit);
        let bound = |least: i64| multipliers::at_least(least, scale, shift);
        let trees: Vec<_> = (0..4).map(|_| (whole(rng, 0, 30), whole(rng, -5, 6))).collect();
        let least = trees.iter().map(|&tree| relaxed(tree)).min().expect("there are trees");
        for &(cost, sum) in trees.iter().filter(|tree| (limit.0..=limit.1).contains(&tree.1)) {
            ensure(bound(least) <= cost, || format!("{} > {cost}", bound(least)))?;
            let most = multipliers::at_most(cost, scale, shift);
            ensure(relaxed((cost, sum)) <= most, || format!("{cost} at {sum} is above {most}"))?;
        }
        // Of trees whose sum is the one that is charged least for, nothing is lost.
        let end = if multiplier > 0 { limit.1 } else { limit.0 };
        let cost = whole(rng, 0, 30);
        let least = relaxed((cost, end));
        let both = [bound(least), bound(least + 1)];
        ensure(both == [cost, cost + 1], || format!("{both:?} of {cost}"))?;
        let most = multipliers::at_most(cost, scale, shift);
        // Below 0 there is no tree.
        ensure(most == least.max(-1), || format!("{cost}: {most}, not {least}"))?;
        let open = multipliers::at_most(INFINITE, scale, shift.abs() + 1);
        ensure(open == INFINITE, || "no tree is known".to_owned())
    });
}

/// Costs of errors are combined as they are, and hold for any trees.
#[test]
fn combinations_are_what_they_say() {
    for_numbers(|rng| {
        let mut costs = || [whole(rng, 1, 9), whole(rng, 1, 9), whole(rng, 0, 3)];
        let (one, other, any) = (costs(), costs(), costs());
        let trees: Vec<_> = (0..3).map(|_| [0, 0, 1].map(|n| n + whole(rng, 0, 9))).collect();
        let paid = |tree: &[i64; 3], costs: &[i64; 3]| (0..3).map(|i| tree[i] * costs[i]).sum();
        let optimum = |of: &[i64; 3]| -> i64 {
            trees.iter().map(|tree| paid(tree, of)).min().expect("there are trees")
        };
        let part = |of: &Combination, i: usize| {
            of.shares[0] * i128::from(one[i]) + of.shares[1] * i128::from(other[i])
        };
        let alone = Combination::of_one(&any, &one).ok_or("errors cost something")?;
        let left = (0..3).map(|i| i128::from(any[i]) * alone.under - part(&alone, i)).min();
        ensure(left == Some(0), || format!("{alone:?} leaves {left:?} of {any:?}"))?;
        let bound = alone.at_least([optimum(&one), 0]);
        ensure(bound <= optimum(&any), || format!("{bound} of {one:?} for {any:?}"))?;

        let ([mut one, mut other], shares) = ([one, other], [whole(rng, 1, 4), whole(rng, 1, 4)]);
        let leaf = Combination::of_two(&any, &one, &other).is_none() || one[2] + other[2] == 0;
        ensure(leaf, || format!("leaves cost something in {one:?} or {other:?}"))?;
        (one[2], other[2]) = (0, 0);
        let sum: [i64; 3] = std::array::from_fn(|i| shares[0] * one[i] + shares[1] * other[i]);
        let parallel = one[0] * other[1] == one[1] * other[0];
        let both = Combination::of_two(&sum, &one, &other);
        ensure(both.is_none() == parallel, || format!("{both:?} of {one:?} and {other:?}"))?;
        let Some(both) = both else { return Ok(()) };
        let wanted = shares.map(|share| i128::from(share) * both.under);
        ensure(both.shares == wanted, || format!("{both:?}, not {shares:?}"))?;
        let bound = both.at_least([&one, &other].map(optimum));
        ensure(bound <= optimum(&sum), || format!("{bound} of {one:?} and {other:?}"))?;
        let tree = [paid(&trees[0], &one), paid(&trees[0], &other)];
        ensure(both.at_least(tree) == paid(&trees[0], &sum), || "one tree is exact".to_owned())?;
        // Where not both of them are needed, one is enough.
        let beyond: [i64; 3] = std::array::from_fn(|i| shares[0] * one[i] - other[i]);
        let both = Combination::of_two(&beyond, &one, &other);
        ensure(both.is_none(), || format!("{both:?} of {one:?} and {other:?} for {beyond:?}"))
    });
}

/// Corners of a box from 0 that are on the right side of all lines a·x + b·y − c ≥ 0, of all pairs
/// of lines that meet at all.
fn corners([p, n]: [f64; 2], lines: &[[f64; 3]]) -> Vec<[f64; 2]> {
    let sides = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, -p], [0.0, -1.0, -n]];
    let all = [&sides[..], lines].concat();
    let mut found = Vec::new();
    for (i, [a, b, c]) in all.iter().enumerate() {
        for [d, e, f] in &all[i + 1..] {
            let under = a * e - b * d;
            let [x, y] = [(c * e - b * f) / under, (a * f - c * d) / under];
            let inside = |[a, b, c]: &[f64; 3]| a * x + b * y - c >= -1e-9;
            if under != 0.0 && all.iter().all(inside) {
                found.push([x, y]);
            }
        }
    }
    found
}

#[test]
fn the_least_denominator_is_at_a_corner() {
    for_numbers(|rng| {
        let totals = [whole(rng, 1, 9), whole(rng, 1, 9)];
        let weights = [whole(rng, 0, 4), whole(rng, 0, 4)];
        let bound = whole(rng, 1, 30);
        let under = [whole(rng, -3, 3), whole(rng, -3, 3)];
        // More than both totals can take off.
        let ratio = ratio_line::Ratio { top: [1, 1], base: 60, under };
        let least = ratio.least_under(totals, weights, bound);
        let of = |[x, y]: [f64; 2]| 60.0 + under[0] as f64 * x + under[1] as f64 * y;
        for x in 0..=totals[0] {
            for y in 0..=totals[1] {
                let below = weights[0] * x + weights[1] * y < bound;
                let holds = !below || of([x as f64, y as f64]) >= least;
                ensure(holds, || format!("{least} is not the least at {x}, {y}"))?;
            }
        }
        let line = [-weights[0] as f64, -weights[1] as f64, -bound as f64];
        let all = corners(totals.map(|total| total as f64), &[line]);
        let best = all.into_iter().map(of).fold(f64::INFINITY, f64::min);
        ensure((best - least).abs() < 1e-6, || format!("{least}, and {best} at a corner"))
    });
}

#[test]
fn lines_may_also_share_a_factor() {
    for_numbers(|rng| {
        let top = [whole(rng, 1, 6), whole(rng, 1, 6)];
        let base = whole(rng, 10, 40);
        let ratio = ratio_line::Ratio { top, base, under: [-1, 1] };
        let under = whole(rng, 1, 12);
        let level = (i128::from(whole(rng, 1, under)), i128::from(under));
        let (weights, bound, shared) = ratio.line(level).ok_or("small numbers fit")?;
        let is_multiple = |i: usize| {
            let weight = level.1 * i128::from(top[i]) - level.0 * i128::from([-1, 1][i]);
            i128::from(weights[i]) * shared == weight
        };
        ensure(is_multiple(0) && is_multiple(1), || format!("{weights:?} times {shared}"))?;
        for x in 0..8 {
            for y in 0..8 {
                let (top, under) = ratio.parts([x, y]);
                let below = weights[0] * x + weights[1] * y < bound;
                let right = below == (top * level.1 < level.0 * under);
                ensure(right, || format!("{x}, {y} of {ratio:?} at {level:?}"))?;
            }
        }
        Ok(())
    });
}

#[test]
fn fences_leave_their_best_corner() {
    for_numbers(|rng| {
        let totals = [whole(rng, 1, 9), whole(rng, 1, 9)];
        let positives = totals[0] as f64;
        // 1 − F1 and Jaccard's, and what only one sum matters for.
        let losses: [&dyn Fn([f64; 2]) -> f64; 3] = [
            &|[x, y]| (x + y) / (2.0 * positives - x + y),
            &|[x, y]| (x + y) / (positives + y),
            &|[x, _]| 1.0 - x / (2.0 * positives),
        ];
        let loss = losses[rng.below(3)];
        let leaves = rng.range(1, 3) as u32;
        let (mut fence, mut lines) = (Fence::default(), Vec::new());
        for _ in 0..rng.range(1, 4) {
            let weights = [whole(rng, 0, 4), whole(rng, 0, 4)];
            let most = rng.chance(0.3).then(|| rng.range(1, 3) as u32);
            let (penalty, bound) = (whole(rng, 0, 2), whole(rng, 0, 14));
            fence.add(Line { weights, penalty, bound, max_leaves: most });
            if most.is_none_or(|most| leaves <= most) {
                let left = bound - penalty * i64::from(leaves);
                lines.push([weights[0] as f64, weights[1] as f64, left as f64]);
            }
        }
        let (least, at) = fence.least(totals, leaves, loss);
        let totals = totals.map(|total| total as f64);
        let all = corners(totals, &lines);
        if all.is_empty() {
            return Ok(());
        }
        let best = all.into_iter().map(loss).fold(f64::INFINITY, f64::min);
        ensure(least <= best && least > best - 1e-9, || format!("{least}, and {best} at best"))?;
        ensure((loss(at) - best).abs() < 1e-9, || format!("{at:?} does not have {best}"))
    });
}

/// Segments in the order of their slopes, those of one slope as one.
fn ordered(mut all: Vec<Segment>) -> Vec<Segment> {
    let [along, up] = [|s: &Segment| i128::from(s.0), |s: &Segment| i128::from(s.1)];
    all.retain(|s| s.0 + s.1 > 0);
    all.sort_by(|a, b| (up(b) * along(a)).cmp(&(up(a) * along(b))));
    all.dedup_by(|next, last| {
        let same = up(next) * along(last) == up(last) * along(next);
        if same {
            *last = (last.0 + next.0, last.1 + next.1);
        }
        same
    });
    all
}

fn curve(rng: &mut Random, most: i64) -> Vec<Segment> {
    ordered((0..rng.range(1, 4)).map(|_| (whole(rng, 0, most), whole(rng, 0, most))).collect())
}

/// Twice the area under the curve of these leaves.
fn doubled(curves: &[&[Segment]]) -> i128 {
    let (mut above, mut area) = (0, 0);
    for (n, p) in ordered(curves.concat()) {
        area += i128::from(n) * (2 * above + i128::from(p));
        above += i128::from(p);
    }
    area
}

/// Leaves of the same rows: as many negatives and positives as the first ones have.
fn of_same_rows(rng: &mut Random, of: &[Segment]) -> Vec<Segment> {
    let (mut n, mut p) = of.iter().fold((0, 0), |sum, s| (sum.0 + s.0, sum.1 + s.1));
    let mut all = Vec::new();
    for _ in 0..rng.below(3) {
        let part = (whole(rng, 0, n), whole(rng, 0, p));
        (n, p) = (n - part.0, p - part.1);
        all.push(part);
    }
    all.push((n, p));
    ordered(all)
}

#[test]
fn a_curve_that_is_as_good_is_so_in_every_tree() {
    for_numbers(|rng| {
        let a = curve(rng, 9);
        let b = of_same_rows(rng, &a);
        let rest: Vec<Vec<Segment>> = (0..6).map(|_| curve(rng, 9)).collect();
        for rest in rest.iter().filter(|rest| !rest.is_empty()) {
            let negatives: i128 = rest.iter().map(|s| i128::from(s.0)).sum();
            let own = doubled(&[&b]) - doubled(&[&a]);
            let more = doubled(&[&b, rest]) - doubled(&[&a, rest]);
            // In halves, as areas are.
            let room = i128::from(whole(rng, 0, 40));
            if negatives > 0 && is_as_good(&a, &b, 2 * negatives, room) {
                ensure(more <= own + room, || format!("{a:?} beside {b:?} and {rest:?}: {room}"))?;
            }
        }
        Ok(())
    });
}

/// Products may have more than 128 bits.
#[test]
fn curves_of_large_numbers_are_compared_exactly() {
    for_numbers(|rng| {
        let most = 1 << rng.range(3, 45);
        let a = curve(rng, most);
        let b = of_same_rows(rng, &a);
        let digits = rng.range(1, 40);
        let half = |rng: &mut Random| i128::from(whole(rng, 1, 1 << digits));
        let unit = half(rng) * half(rng);
        let height = |curve: &[Segment], slope: &Ratio| {
            let above = curve.iter().map(|&(n, p)| &Ratio::from(p) - &(slope * &Ratio::from(n)));
            above.filter(Ratio::is_positive).fold(Ratio::zero(), |sum, x| &sum + &x)
        };
        let slopes = (a.iter().chain(&b).filter(|s| s.0 > 0))
            .map(|&(n, p)| Ratio::from(p).over(&Ratio::from(n)));
        let pure = |curve: &[Segment]| {
            curve.iter().filter(|s| s.0 == 0).map(|s| i128::from(s.1)).sum::<i128>()
        };
        let steep = Ratio::from(pure(&b) - pure(&a));
        let most = slopes.map(|slope| &height(&b, &slope) - &height(&a, &slope));
        let most = most.chain([steep, Ratio::zero()]).max().expect("there is one");
        let needed = (&most * &Ratio::from(unit)).ceil().ok_or("it fits")?;
        let found = [needed, needed - 1].map(|room| is_as_good(&a, &b, unit, room));
        ensure(found == [true, false], || format!("{found:?} of {a:?}, {b:?}, {unit}"))
    });
}

#[test]
fn lines_are_above_every_curve() {
    for_numbers(|rng| {
        let reference = curve(rng, 9);
        let totals = (whole(rng, 1, 30), whole(rng, 1, 30));
        let own = of_same_rows(rng, &[totals]);
        let unit = 1i128 << rng.range(20, 57);
        let whole = Whole { totals, part: (1, 1), unit };
        let all = i128::from(2 * totals.0) * i128::from(totals.1);
        let bound = |Lines { gains, constant }: &Lines| {
            let leaf = |leaf: &Segment| {
                let of = |(p, n): &(i128, i128)| p * i128::from(leaf.1) - n * i128::from(leaf.0);
                gains.iter().map(of).max().expect("none counts, at least")
            };
            own.iter().map(leaf).sum::<i128>() + constant
        };
        let area = Ratio::from(doubled(&[&own])).over(&Ratio::from(all));
        let area = &area * &Ratio::from(unit);
        if reference.iter().any(|s| s.0 > 0) {
            let found = bound(&lines(&reference, whole));
            ensure(Ratio::from(found) >= area, || format!("{found} for {own:?}"))?;
        }
        // With its own slopes only rounding is left: a unit for each row and step of a piece,
        // and a part of the constant.
        let found = bound(&lines(&own, whole));
        ensure(Ratio::from(found) >= area, || format!("{found} for {own:?} by itself"))?;
        let off = &Ratio::from(found) - &area;
        let most = Ratio::from((unit >> 42) + 5_000);
        ensure(off <= most, || format!("{:e} above {own:?}", off.nearest()))
    });
}

#[test]
fn cuts_between_two_are_bounded_by_the_weakest() {
    for_numbers(|rng| {
        let side = |rng: &mut Random| whole(rng, 0, 20);
        let (left, right) = (side(rng), side(rng));
        let a = Edge { cut: 0, left, right: right + side(rng) };
        let b = Edge { cut: 9, left: left + side(rng), right };
        let lost = 2 * side(rng);
        let at = |before: i64| Edge::between(4, (&a, &b), before, lost - before).bound();
        let least = (0..=lost).map(at).min().expect("there is one");
        // With nothing else known, a cut may lie anywhere; a unit is lost where halves are cut off.
        let bound = between(&a, &b, lost);
        ensure(bound == least, || format!("{bound}, but {least}: {a:?}, {b:?}, {lost}"))?;
        let weakest = at(weakest(&a, &b, lost));
        ensure(weakest == least, || format!("{weakest}, but {least}: {a:?}, {b:?}, {lost}"))?;
        let target = whole(rng, 0, 60);
        let [left, right] = closing(&a, &b, target);
        let middle = Edge { cut: 4, left, right };
        let around = [a.left + middle.right, middle.left + b.right];
        ensure(around == [target; 2], || format!("{around:?} around {middle:?}, not {target}"))
    });
}
