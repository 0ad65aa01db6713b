//! Squared errors against exact rational arithmetic: what a tree truly costs, from the targets as
//! given.
//!
//! Every float is a whole number of 2^-1074, so sums of squares are big integers. Here is just as
//! much arithmetic on those as it takes.

use crate::common::problems::{LossKind, Options};
use crate::common::{Case, Loss, Random, Squares, for_seeds, sets};
use certree::cost::Cost;
use certree::task::{SquaresInput, Task};

/// A signed integer of any size: base 2^32, lowest digit first.
#[derive(Debug, Clone, Default, PartialEq)]
struct Big {
    negative: bool,
    digits: Vec<u32>,
}

impl Big {
    /// x · 2^shift, where that is whole.
    fn of(x: f64, shift: i32) -> Big {
        if x == 0.0 {
            return Big::default();
        }
        let (bits, raw) = (x.abs().to_bits() & ((1 << 52) - 1), (x.to_bits() >> 52 & 2047) as i32);
        let (mantissa, exponent) =
            if raw == 0 { (bits, -1074) } else { (bits | 1 << 52, raw - 1075) };
        let places = exponent + shift;
        let (mantissa, places) = match places {
            0.. => (mantissa, places as usize),
            _ => {
                let lost = -places as u32;
                assert!(lost < 64 && mantissa.trailing_zeros() >= lost, "{x:e} is not whole");
                (mantissa >> lost, 0)
            }
        };
        let mut digits = vec![0; places / 32];
        let spread = u128::from(mantissa) << (places % 32);
        digits.extend((0..4).map(|d| (spread >> (32 * d)) as u32));
        Big { negative: x < 0.0, digits }.trimmed()
    }

    fn trimmed(mut self) -> Big {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        self.negative &= !self.digits.is_empty();
        self
    }

    fn whole(x: i128) -> Big {
        let size = x.unsigned_abs();
        Big { negative: x < 0, digits: (0..4).map(|d| (size >> (32 * d)) as u32).collect() }
            .trimmed()
    }

    fn larger(&self, other: &Big) -> bool {
        let (a, b) = (&self.digits, &other.digits);
        (a.len(), a.iter().rev().collect::<Vec<_>>()) > (b.len(), b.iter().rev().collect())
    }

    fn plus(&self, other: &Big) -> Big {
        if self.negative == other.negative {
            let (mut digits, mut carry) = (Vec::new(), 0u64);
            for at in 0..self.digits.len().max(other.digits.len()) + 1 {
                let digit = |x: &Big| u64::from(*x.digits.get(at).unwrap_or(&0));
                carry += digit(self) + digit(other);
                digits.push(carry as u32);
                carry >>= 32;
            }
            return Big { negative: self.negative, digits }.trimmed();
        }
        let (large, small) = if other.larger(self) { (other, self) } else { (self, other) };
        let (mut digits, mut borrow) = (Vec::new(), 0i64);
        for at in 0..large.digits.len() {
            let digit = |x: &Big| i64::from(*x.digits.get(at).unwrap_or(&0));
            borrow += digit(large) - digit(small);
            digits.push(borrow as u32);
            borrow >>= 32;
        }
        Big { negative: large.negative, digits }.trimmed()
    }

    fn minus(&self, other: &Big) -> Big {
        self.plus(&Big { negative: !other.negative, digits: other.digits.clone() }.trimmed())
    }

    fn times(&self, other: &Big) -> Big {
        let mut digits = vec![0u32; self.digits.len() + other.digits.len() + 1];
        for (i, &a) in self.digits.iter().enumerate() {
            let mut carry = 0u64;
            for (j, &b) in other.digits.iter().enumerate() {
                carry += u64::from(a) * u64::from(b) + u64::from(digits[i + j]);
                digits[i + j] = carry as u32;
                carry >>= 32;
            }
            digits[i + other.digits.len()] = carry as u32;
        }
        Big { negative: self.negative != other.negative, digits }.trimmed()
    }
}

/// a / b with b > 0.
#[derive(Debug, Clone)]
struct Ratio(Big, Big);

impl Ratio {
    fn plus(&self, other: &Ratio) -> Ratio {
        Ratio(self.0.times(&other.1).plus(&other.0.times(&self.1)), self.1.times(&other.1))
    }

    fn at_most(&self, other: &Ratio) -> bool {
        let difference = other.0.times(&self.1).minus(&self.0.times(&other.1));
        !difference.negative
    }

    fn of(x: f64) -> Ratio {
        Ratio(Big::of(x, 1100), Big::of(1.0, 1100))
    }
}

/// Σ w·(y − mean)² of some points, in units of 4^-shift.
fn squared_errors(squares: &Squares, points: &[u32], shift: i32) -> Ratio {
    let mut all = Ratio(Big::default(), Big::whole(1));
    for output in 0..squares.n_outputs {
        let (mut sum, mut square, mut weight) = (Big::default(), Big::default(), 0i128);
        for row in points.iter().flat_map(|&p| squares.rows(p as usize)) {
            let w = Big::whole(squares.weights[row].into());
            let y = Big::of(squares.targets[row * squares.n_outputs + output], shift);
            weight += i128::from(squares.weights[row]);
            square = square.plus(&w.times(&y).times(&y));
            sum = sum.plus(&w.times(&y));
        }
        let weight = Big::whole(weight);
        all = all.plus(&Ratio(square.times(&weight).minus(&sum.times(&sum)), weight));
    }
    all
}

/// A few leaves that hold all points.
fn leaves(rng: &mut Random, n_points: usize) -> Vec<Vec<u32>> {
    let n = rng.range(1, 5);
    let mut leaves = vec![Vec::new(); n];
    (0..n_points as u32).for_each(|p| leaves[rng.below(n)].push(p));
    leaves.retain(|leaf| !leaf.is_empty());
    leaves
}

fn check(case: &Case) -> Result<(), String> {
    let Loss::Squares(squares) = &case.loss else { unreachable!() };
    let problem = case.problem().map_err(|e| e.to_string())?;
    let (task, scale) = (problem.task.as_ref(), problem.scale);
    // Fine enough for every target of the generator.
    let shift = 500;
    let all: Vec<u32> = (0..case.n_points() as u32).collect();
    let root = squared_errors(squares, &all, shift);
    let rng = &mut Random::new(case.n_points() as u64);
    for _ in 0..4 {
        let leaves = leaves(rng, case.n_points());
        let cost: Cost = leaves.iter().map(|leaf| task.cost(leaf, 0)).sum();
        let sum = |leaf: &Vec<u32>| squared_errors(squares, leaf, shift);
        let loss = leaves.iter().map(sum).reduce(|a, b| a.plus(&b)).unwrap();
        // loss / root, if there is anything to lose.
        let loss = match root.0.digits.is_empty() {
            true => Ratio::of(0.0),
            false => Ratio(loss.0.times(&root.1), loss.1.times(&root.0)),
        };
        let lower = match scale.slack {
            0 => scale.lower(cost),
            _ => scale.lower(cost).min(scale.objective(cost)),
        };
        if !Ratio::of(lower).at_most(&loss) {
            return Err(format!("lower bound {lower} is above the true loss of {leaves:?}"));
        }
        let off = (leaves.len() * (squares.n_outputs + 1) + 2) as f64 + 2.0 * scale.slack as f64;
        let upper = scale.objective(cost) + off / scale.units + 1e-15;
        if !loss.at_most(&Ratio::of(upper)) {
            return Err(format!("{upper} is below the true loss of {leaves:?}"));
        }
        let stats = problem.stats(leaves[0].iter().map(|&p| p as usize));
        means_are_true(squares, &leaves[0], &task.shown(&leaves[0], &stats))?;
    }
    Ok(())
}

/// Within a step of the true mean.
fn means_are_true(squares: &Squares, points: &[u32], means: &[f64]) -> Result<(), String> {
    for (output, &mean) in means.iter().enumerate() {
        let (mut sum, mut weight) = (Big::default(), Big::default());
        for row in points.iter().flat_map(|&p| squares.rows(p as usize)) {
            let w = Big::whole(squares.weights[row].into());
            let y = Big::of(squares.targets[row * squares.n_outputs + output], 1100);
            sum = sum.plus(&w.times(&y));
            weight = weight.plus(&w);
        }
        let truth = Ratio(sum, weight.times(&Big::of(1.0, 1100)));
        let near = Ratio::of(mean.next_down()).at_most(&truth)
            && truth.at_most(&Ratio::of(mean.next_up()));
        if !near {
            return Err(format!("{mean} is not the mean of output {output} of {points:?}"));
        }
    }
    Ok(())
}

#[test]
fn bounds_are_below_and_objectives_near_the_exact_loss() {
    let options = Options { loss: LossKind::Squares, ..Options::default() };
    for_seeds(1_000, &options, check);
}

/// cost(A ∪ B) ≥ cost(A) + cost(B) ≥ 0, in integers.
#[test]
fn joining_leaves_never_saves() {
    let options = Options { loss: LossKind::Squares, ..Options::default() };
    for_seeds(1_000, &options, |case| {
        let problem = case.problem().map_err(|e| e.to_string())?;
        let rng = &mut Random::new(case.n_points() as u64 + 1);
        for _ in 0..10 {
            let set = sets::random(rng, &problem);
            let part = set & rng.next();
            let [whole, a, b] = [set, part, set & !part].map(|set| sets::leaf(&problem, set));
            if part != 0 && part != set && (whole < a + b || a < 0 || b < 0) {
                return Err(format!("{whole} is less than {a} + {b}"));
            }
            let points: Vec<u32> = sets::points(set).map(|p| p as u32).collect();
            if problem.task.cost(&points, 0) != whole {
                return Err("a leaf costs something else point by point".into());
            }
        }
        Ok(())
    });
}

fn build(targets: Vec<f64>, leaf_penalty: f64) -> certree::error::Result<certree::task::Scaled> {
    let n_points = targets.len();
    let points = (0..n_points as u32).collect();
    SquaresInput {
        n_outputs: 1,
        targets,
        weights: None,
        given: None,
        points,
        n_points,
        leaf_penalty,
    }
    .build()
}

/// Sums of the task's statistics.
fn whole(task: &dyn Task) -> Vec<i64> {
    let mut sum = vec![0; task.width()];
    for point in 0..task.n_points() {
        sum.iter_mut().zip(task.stats(point)).for_each(|(sum, s)| *sum += s);
    }
    sum
}

#[test]
fn a_large_mean_loses_nothing() {
    let near = |mean: f64| -> Vec<f64> { (0..64).map(|i| mean + f64::from(i) / 64.0).collect() };
    let (far, plain) = (build(near(1e9), 0.01).unwrap(), build(near(0.0), 0.01).unwrap());
    assert_eq!((far.scale.slack, plain.scale.slack), (0, 0));
    let cost = |points: std::ops::Range<u32>, scaled: &certree::task::Scaled| {
        let points: Vec<u32> = points.collect();
        scaled.scale.objective(scaled.task.cost(&points, 0))
    };
    for middle in [0, 1, 17, 32, 63] {
        let (a, b) = (cost(0..middle, &far), cost(0..middle, &plain));
        assert!((a - b).abs() < 1e-15, "{a} and {b}");
    }
    let points: Vec<u32> = (0..64).collect();
    let means = far.task.shown(&points, &whole(far.task.as_ref()));
    assert_eq!(means, [1e9 + 0.4921875]);
}

#[test]
fn constant_targets_cost_only_their_leaves() {
    for value in [0.0, -7.25, 1e300, 5e-324] {
        for penalty in [0.01, 3.0] {
            let scaled = build(vec![value; 9], penalty).unwrap();
            assert_eq!(scaled.task.leaf(&whole(scaled.task.as_ref())).cost, 0);
            let objective = scaled.scale.objective(scaled.leaf_cost);
            assert!((objective - penalty).abs() < 1e-15, "{objective}");
            let points: Vec<u32> = (0..9).collect();
            assert_eq!(scaled.task.shown(&points, &[9, 0, 0]), [value]);
        }
    }
}

#[test]
fn targets_at_the_ends_of_what_floats_hold() {
    for size in [1e-320, 5e-324, 1e-162, 1e154, 1e307] {
        let targets: Vec<f64> = [0.0, 4.0, 1.0, 5.0, 17.0].map(|y| y * size).to_vec();
        let scaled = build(targets, 0.01).unwrap();
        let all = scaled.task.leaf(&whole(scaled.task.as_ref())).cost;
        let loss = scaled.scale.objective(all);
        assert!((loss - 1.0).abs() < 1e-15, "{size:e}: {loss}");
        let pair = scaled.scale.objective(scaled.task.cost(&[0, 1], 0));
        let true_pair = if size < 1e-323 { pair } else { 8.0 / 181.2 };
        assert!((pair - true_pair).abs() < 1e-3, "{size:e}: {pair}");
    }
}

#[test]
fn what_cannot_be_a_target_is_refused() {
    for bad in [f64::NAN, f64::INFINITY] {
        let error = build(vec![1.0, bad], 0.01).err().unwrap().to_string();
        assert!(error.contains("finite"), "{error}");
    }
    assert!(build(vec![1.0, 2.0], -1.0).is_err());
    let input = SquaresInput {
        n_outputs: 1,
        targets: vec![1.0, 2.0],
        weights: Some(vec![1, 0]),
        given: None,
        points: vec![0, 0],
        n_points: 1,
        leaf_penalty: 0.0,
    };
    assert!(input.build().is_err());
    assert!(SquaresInput { weights: None, n_points: 2, ..input }.build().is_err());
}
