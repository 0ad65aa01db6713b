//! Integer costs against exact arithmetic: what a cost in units stands for, and that no reported
//! lower bound is above the truth. Numbers are drawn as fractions of a power of two, so that sums
//! of their products are exact in 128 bits.

use std::cmp::Ordering;

use crate::common::Random;
use certree::cost::{Cost, Scale};
use certree::task::{ClassInput, RowCosts, Scaled};

/// A fraction with a positive denominator.
#[derive(Debug, Clone, Copy)]
struct Fraction(i128, i128);

/// How a finite float compares with a fraction, exactly.
fn compare(x: f64, Fraction(p, q): Fraction) -> Ordering {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let mantissa = (bits & ((1 << 52) - 1)) | if exponent > 0 { 1 << 52 } else { 0 };
    let shift = exponent.max(1) - 1075;
    let mantissa = if x < 0.0 { -i128::from(mantissa) } else { i128::from(mantissa) };
    // x = mantissa · 2^shift; compare mantissa · q with p · 2^−shift. The numbers drawn leave room.
    let left = mantissa.checked_mul(q).expect("room for the product");
    if shift >= 0 {
        return left.checked_mul(1 << shift).expect("room").cmp(&p);
    }
    match (p == 0, 1i128.checked_shl(-shift as u32).and_then(|power| p.checked_mul(power))) {
        (true, _) => left.cmp(&0),
        (_, Some(right)) if -shift < 126 => left.cmp(&right),
        // p · 2^−shift is larger than any product above, on p's side.
        _ => 0.cmp(&p),
    }
}

fn close(x: f64, Fraction(p, q): Fraction, magnitude: f64) -> bool {
    (x - p as f64 / q as f64).abs() <= 1e-13 * magnitude
}

/// A number of `bits` bits over 2^`bits`, now and then at an end.
fn dyadic(rng: &mut Random, bits: u32) -> i64 {
    match rng.below(10) {
        0 => 0,
        1 => 1,
        2 => (1 << bits) - 1,
        _ => (rng.next() % (1 << bits)) as i64,
    }
}

fn float(numerator: i64, bits: u32) -> f64 {
    numerator as f64 / (1u64 << bits) as f64
}

/// Every tree's value lies in what its cost says; `labels` and `leaves` stand for a tree.
fn check(scaled: &Scaled, cost: Cost, truth: Fraction, magnitude: f64) {
    let scale = &scaled.scale;
    let lower = scale.lower(cost);
    assert!(compare(lower, truth).is_le(), "{lower:e} is above {truth:?}: {scale:?}");
    assert!(close(lower, truth, magnitude), "{lower:e} is far from {truth:?}: {scale:?}");
    let objective = scale.objective(cost);
    assert!(close(objective, truth, magnitude), "{objective:e} is not {truth:?}: {scale:?}");
}

#[test]
fn class_costs_stand_for_the_objective() {
    let mut exact = 0;
    for seed in 0..20_000 {
        let rng = &mut Random::new(seed);
        let (n, k, l) = (rng.range(1, 12), rng.range(1, 4), rng.range(1, 4));
        let whole = rng.chance(0.4);
        let weight_bits = if whole { 0 } else { rng.pick(&[3, 16, 24]) };
        let most = if whole { rng.pick(&[1u64, 1000, 1 << 30]) } else { 0 };
        let weights: Vec<i64> = (0..n * k)
            .map(|_| match whole {
                true => (rng.next() % (most + 1)) as i64,
                false => dyadic(rng, weight_bits),
            })
            .collect();
        let total: i64 = weights.iter().sum();
        if total == 0 {
            continue;
        }
        let cost_bits = rng.pick(&[0, 0, 4, 10]);
        let costs: Vec<i64> = (0..k * l)
            .map(|_| rng.below(1 << (cost_bits + 2)) as i64 - (1 << (cost_bits + 1)))
            .collect();
        // At most 16 bits: more are more than 17 digits, and then the shortest decimal of the
        // float, which is what counts, is another number.
        let penalty_bits = rng.pick(&[2, 10, 16]);
        let penalty = dyadic(rng, penalty_bits);
        let scaled = ClassInput {
            n_classes: k,
            n_labels: l,
            weights: weights.iter().map(|&w| float(w, weight_bits)).collect(),
            costs: costs.iter().map(|&c| float(c, cost_bits)).collect(),
            class_weights: vec![1.0; k],
            balanced: false,
            leaf_penalty: float(penalty, penalty_bits),
        }
        .build()
        .unwrap();
        exact += u64::from(scaled.scale.slack == 0);
        for _ in 0..5 {
            let leaves = rng.range(1, n) as i64;
            let mut cost = leaves * scaled.leaf_cost;
            let mut loss = 0i128;
            for point in 0..n {
                let label = rng.below(l);
                cost +=
                    scaled.task.structure().labelled().expect("labels").loss(point, label as u32);
                for class in 0..k {
                    loss += i128::from(weights[point * k + class])
                        * i128::from(costs[class * l + label]);
                }
            }
            // loss / (2^cost_bits · total) + penalty · leaves / 2^penalty_bits
            let below = i128::from(total) << cost_bits;
            let truth = Fraction(
                (loss << penalty_bits) + i128::from(penalty * leaves) * below,
                below << penalty_bits,
            );
            check(&scaled, cost, truth, 2.0 + leaves as f64);
            if scaled.scale.slack == 0 {
                same_fraction(&scaled.scale, cost, truth);
            }
        }
    }
    assert!(exact > 5_000, "only {exact} cases took the exact path");
}

/// Without rounding, cost and objective are the same number, not just close.
fn same_fraction(scale: &Scale, cost: Cost, Fraction(p, q): Fraction) {
    let (units, cost) = (scale.units as i128, i128::from(cost) + scale.offset);
    if scale.units >= 2f64.powi(53) {
        return; // The float may not be the integer that it stands for.
    }
    if let (Some(a), Some(b)) = (cost.checked_mul(q), p.checked_mul(units)) {
        assert_eq!(a, b, "{cost} / {units} is not {p} / {q}");
    }
}

#[test]
fn row_costs_stand_for_the_objective() {
    for seed in 0..20_000 {
        let rng = &mut Random::new(seed);
        let (n, l) = (rng.range(1, 12), rng.range(1, 4));
        let bits = rng.pick(&[0, 4, 30]);
        // A shift that all labels of all points share leaves the regrets alone, but not the
        // objective.
        let shift = rng.pick(&[0, 0, -1, 1000, -(1 << 20)]) << bits;
        let costs: Vec<i64> = (0..n * l).map(|_| dyadic(rng, bits) + shift).collect();
        let penalty_bits = rng.pick(&[2, 10, 30]);
        let penalty = dyadic(rng, penalty_bits);
        let normalizer = rng.pick(&[1, n as i64, 1000]);
        let scaled = RowCosts::build(
            l,
            &costs.iter().map(|&c| float(c, bits)).collect::<Vec<_>>(),
            normalizer as f64,
            float(penalty, penalty_bits),
            None,
        )
        .unwrap();
        for _ in 0..5 {
            let leaves = rng.range(1, n) as i64;
            let mut cost = leaves * scaled.leaf_cost;
            let mut loss = 0i128;
            for point in 0..n {
                let label = rng.below(l);
                cost +=
                    scaled.task.structure().labelled().expect("labels").loss(point, label as u32);
                loss += i128::from(costs[point * l + label]);
            }
            let below = i128::from(normalizer) << bits;
            let truth = Fraction(
                (loss << penalty_bits) + i128::from(penalty * leaves) * below,
                below << penalty_bits,
            );
            let magnitude = float(shift.abs(), bits) * n as f64 + n as f64 + leaves as f64;
            check(&scaled, cost, truth, magnitude);
        }
    }
}

/// Numbers beyond 2^53, where sums of floats cancel.
#[test]
fn lower_is_below_the_exact_quotient() {
    for seed in 0..200_000 {
        let rng = &mut Random::new(seed);
        let mut number = |most_bits: usize| (rng.next() >> (64 - rng.range(1, most_bits))) as i64;
        let units = (number(52)).max(1);
        let (bound, offset, slack) = (number(60), number(60), number(20) / 2);
        let offset = i128::from(if seed % 2 == 0 { offset } else { -offset });
        let scale = Scale::new(units as f64, offset, slack);
        let least = i128::from((bound - slack).max(0)) + offset;
        let truth = Fraction(least, i128::from(units));
        assert!(compare(scale.lower(bound), truth).is_le(), "{scale:?} at {bound}");
        assert!(scale.lower(bound) <= scale.objective(bound), "{scale:?} at {bound}");
        assert!(scale.lower(bound) <= scale.lower(bound + 1), "{scale:?} at {bound}");
    }
}

#[test]
fn floats_compare_with_fractions() {
    assert!(compare(0.5, Fraction(1, 2)).is_eq());
    assert!(compare(0.5f64.next_up(), Fraction(1, 2)).is_gt());
    assert!(compare(1.0 / 3.0, Fraction(1, 3)).is_lt());
    assert!(compare(-1.0 / 3.0, Fraction(-1, 3)).is_gt());
    assert!(compare(0.0, Fraction(0, 3)).is_eq());
    assert!(compare(1e-300, Fraction(0, 3)).is_gt());
    assert!(compare(1e-300, Fraction(1, 3)).is_lt());
    assert!(compare(-1e-300, Fraction(-1, 3)).is_gt());
    assert!(compare(3e9, Fraction(3_000_000_000, 1)).is_eq());
    assert!(compare(1e17, Fraction(99_999_999_999_999_999, 1)).is_gt());
}
