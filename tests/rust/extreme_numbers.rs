//! Numbers as large and as small as floats can be, in any goal: an answer whose bounds are finite
//! and do not cross, or an error about the input. Never a panic, and never an endless loop.
//!
//! More cases: `CERTREE_CASES=20000 cargo test --release --test all extreme_numbers`.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::common::judge::ensure;
use crate::common::{Random, cases, for_all};
use crate::serial::random_input;
use certree::error::{Error, Result as Built};
use certree::posed::{Goal, ProblemInput};
use certree::run::Limits;
use certree::task::ClassInput;

/// Far more than any of these small problems needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A number of any size.
fn extreme(rng: &mut Random) -> f64 {
    match rng.below(4) {
        0 => rng.pick(&[f64::MAX, 1e308, 1e200, f64::MIN_POSITIVE, 5e-324, 1e-308]),
        1 => 10f64.powf(600.0 * rng.unit() - 300.0),
        2 => 10f64.powf(60.0 * rng.unit() - 30.0),
        _ => rng.unit(),
    }
}

/// All numbers of a class goal, and its penalty.
fn of_classes(input: &mut ClassInput) -> (Vec<&mut f64>, &mut f64) {
    let ClassInput { weights, costs, class_weights, leaf_penalty, .. } = input;
    (weights.iter_mut().chain(costs).chain(class_weights).collect(), leaf_penalty)
}

/// An input that nobody else has.
fn own<T>(input: &mut Arc<T>) -> &mut T {
    Arc::get_mut(input).expect("the case was just made")
}

/// All numbers of a goal, and its penalty.
fn numbers(goal: &mut Goal) -> (Vec<&mut f64>, &mut f64) {
    match goal {
        Goal::Classes(input) => of_classes(own(input)),
        Goal::RowCosts(input) => {
            let input = own(input);
            let more = [&mut input.size, &mut input.normalizer];
            let all = input.costs.iter_mut().chain(&mut input.weights).chain(more);
            (all.collect(), &mut input.leaf_penalty)
        }
        Goal::Squares(input) => {
            let input = own(input);
            (input.targets.iter_mut().collect(), &mut input.leaf_penalty)
        }
        Goal::Metric(input) => of_classes(&mut own(input).classes),
        Goal::Matrix(input) => of_classes(&mut own(input).classes),
        Goal::RankingArea(input) => {
            let input = own(input);
            let all = input.weights.iter_mut().chain([&mut input.max_fpr]);
            (all.collect(), &mut input.leaf_penalty)
        }
        Goal::Additive(input) => {
            let input = own(input);
            // What counts classes or cuts is not of any size.
            let counts = ["n_classes", "n_cuts", "balanced"];
            let columns = input.columns.iter_mut();
            let sized = columns.filter(|(name, _)| !counts.contains(&name.as_str()));
            (sized.flat_map(|(_, column)| column).collect(), &mut input.leaf_penalty)
        }
        Goal::Custom(_) => unreachable!("no case has a task of its own"),
    }
}

/// A problem in which the penalty, one number, or most of them are of any size.
fn extreme_input(seed: u64) -> ProblemInput {
    let rng = &mut Random::new(seed ^ 0xe87);
    let mut input = random_input(seed);
    let (mut all, penalty) = numbers(&mut input.goal);
    match rng.below(3) {
        0 => *penalty = extreme(rng),
        1 => {
            let at = rng.below(all.len());
            *all[at] = extreme(rng);
        }
        _ => {
            for number in all {
                *number = if rng.chance(0.7) { extreme(rng) } else { *number };
            }
        }
    }
    if let Some(costs) = input.feature_costs.as_mut().filter(|_| rng.chance(0.5)) {
        for test in &mut costs.tests {
            let full = extreme(rng);
            (test.full, test.discounted) = (full.into(), full.min(extreme(rng)).into());
        }
        for paid in &mut costs.by_row.sums {
            *paid = if rng.chance(0.5) { extreme(rng) } else { *paid };
        }
    }
    input
}

fn answered(input: &ProblemInput) -> Built<(f64, f64)> {
    Error::guard(|| {
        let problem = input.build()?;
        let limits = Limits { threads: 1, time: Some(Duration::from_secs(1)), ..Limits::default() };
        let (answer, ..) = problem.solve(&problem.run(limits, None), None)?;
        Ok((answer.lower_bound, answer.objective))
    })
}

fn is_answered_or_refused(seed: u64) -> Result<(), String> {
    let input = extreme_input(seed);
    let name = input.goal.name();
    let (done, found) = channel();
    std::thread::spawn(move || done.send(answered(&input)));
    match found.recv_timeout(PATIENCE) {
        Err(_) => Err(format!("{name} does not end")),
        Ok(Err(Error::Invalid(_))) => Ok(()),
        Ok(Err(error)) => Err(format!("{name}: {error}")),
        Ok(Ok((lower, upper))) => {
            ensure(upper.is_finite() && lower.is_finite() && lower <= upper, || {
                format!("{name}: between {lower:e} and {upper:e}")
            })
        }
    }
}

#[test]
fn numbers_of_any_size_are_answered_or_refused() {
    for_all(0..cases(600), is_answered_or_refused);
}
