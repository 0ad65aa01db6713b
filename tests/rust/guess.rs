//! Guessed lower bounds: whatever the reference, what is said of the tree is true, and the search
//! can go on to the proof. More cases: `CERTREE_CASES=20000 cargo test --release --test guess`.

use std::time::Duration;

use crate::common::floors::{guesses, regret};
use crate::common::judge::{bounds_optimum, ensure, proved_optimal, recompute};
use crate::common::large::{built, noise};
use crate::common::paths::PathMix;
use crate::common::problems::{LossKind, Options};
use crate::common::{Case, Random, for_seeds};
use certree::answer::{go_on, solve};
use certree::guess;
use certree::problem::Problem;
use certree::run::{Limits, Run, Status};
use certree::search::brute;

fn limits(threads: usize) -> Limits {
    Limits { threads, time: Some(Duration::from_secs(30)), ..Limits::default() }
}

fn in_objective(problem: &Problem, reference: &[i64]) -> Vec<f64> {
    reference.iter().map(|&units| units as f64 / problem.scale.units).collect()
}

fn holds(case: &Case) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    let oracle = brute::solve(&problem);
    let rng = &mut Random::new(case.rows.iter().sum::<u64>() * 64 + case.columns.len() as u64);
    for (at, reference) in guesses(&problem, rng).into_iter().enumerate() {
        let run = Run::new(limits(1 + at % 3), problem.scale, None);
        let given = in_objective(&problem, &reference);
        let (answer, known) = guess::solve(&problem, &given, &run).map_err(|e| e.to_string())?;
        bounds_optimum(case, &problem, &oracle, &answer)?;
        // Sums of targets are known to 61 binary digits, and nothing refines them.
        let squares = problem.task.structure().squares().is_some();
        let status = match answer.status {
            Status::RoundingLimit if squares => Status::Optimal,
            status => status,
        };
        ensure(matches!(status, Status::Optimal | Status::OptimalGivenGuess), || {
            format!("status is {status:?}")
        })?;
        ensure(
            known.lower <= oracle.upper && recompute(&problem, &known.tree) == known.upper,
            || {
                format!(
                    "{} to {} is known, but the optimum is {}",
                    known.lower, known.upper, oracle.upper
                )
            },
        )?;
        // Theorem 4.3. Where regrets are no numbers of units, each point is forgiven up to a unit's
        // weight more.
        let allowed: i64 = reference.iter().sum();
        let exact =
            problem.task.structure().classes().is_none_or(|classes| classes.uniform().is_some());
        let at_most = oracle.upper + allowed + known_rounding(&problem);
        ensure(!exact || known.upper <= at_most, || {
            format!("{} is more than {} + {allowed}", known.upper, oracle.upper)
        })?;
        ensure((status == Status::Optimal) == (known.lower == known.upper), || {
            format!("{status:?} at {} to {}", known.lower, known.upper)
        })?;

        let run = Run::new(limits(1 + (at + 1) % 3), problem.scale, None);
        let (answer, _) = go_on(&problem, Some(&known), &run).map_err(|e| e.to_string())?;
        proved_optimal(&problem, &oracle, &answer).map_err(|why| format!("gone on: {why}"))?;
    }
    Ok(())
}

/// Labels that are within rounding of a reference's number of units stand for it.
fn known_rounding(problem: &Problem) -> i64 {
    let points = 0..problem.points.len();
    let task = problem.task.as_ref();
    let unit = task.structure().classes().and_then(|classes| classes.uniform()).unwrap_or(0);
    points.map(|p| ((task.worst(p).expect("known") - task.least(p)) >> 30) + unit).sum()
}

#[test]
fn guesses_never_promise_what_is_not_true() {
    for_seeds(120, &Options::default(), holds);
}

#[test]
fn guesses_never_promise_what_is_not_true_of_error_rates() {
    for_seeds(60, &Options { loss: LossKind::Accuracy, ..Options::default() }, holds);
}

#[test]
fn guesses_never_promise_what_is_not_true_where_paths_keep_to_rules() {
    for_seeds(120, &Options { paths: PathMix::Any, ..Options::default() }, holds);
}

/// A reference that is nowhere worse than any tree is no guess.
#[test]
fn a_reference_without_regret_changes_nothing() {
    for_seeds(60, &Options::default(), |case| {
        let problem = case.problem().map_err(|e| e.to_string())?;
        let run = Run::new(limits(1), problem.scale, None);
        let none = vec![0.0; problem.points.len()];
        let (answer, _) = guess::solve(&problem, &none, &run).map_err(|e| e.to_string())?;
        proved_optimal(&problem, &brute::solve(&problem), &answer)
    });
}

/// Larger problems, by both searches: what is proved with a guess does not contradict what is
/// proved without.
#[test]
fn guesses_agree_with_proofs_of_larger_problems() {
    for (at, cuts) in [1, 1, 1, 60, 60, 60].into_iter().enumerate() {
        let columns = if cuts == 1 { 12 } else { 5 };
        let n_classes = 2 + at % 2;
        let case = noise(90, columns, cuts, n_classes, at as u64);
        let shapes = if cuts == 1 {
            [(0.01, Some(3)), (0.03, None)]
        } else {
            [(0.01, Some(3)), (0.02, Some(2))]
        };
        for (penalty, depth) in shapes {
            let problem = built(case.clone(), penalty, depth);
            let run = |limits| Run::new(limits, problem.scale, None);
            let best = solve(&problem, &run(limits(2))).unwrap();
            let rng = &mut Random::new(at as u64);
            let guess = |p: usize| if rng.chance(0.8) { 0 } else { regret(&problem, p, 0) };
            let reference: Vec<i64> = (0..problem.points.len()).map(guess).collect();
            let given = in_objective(&problem, &reference);
            let (answer, known) = guess::solve(&problem, &given, &run(limits(2))).unwrap();
            assert!(answer.lower_bound <= best.objective && best.objective <= answer.objective);
            assert!(matches!(answer.status, Status::Optimal | Status::OptimalGivenGuess));
            let (done, _) = go_on(&problem, Some(&known), &run(limits(2))).unwrap();
            assert_eq!((done.status, done.objective), (Status::Optimal, best.objective));
        }
    }
}

/// A search that is stopped at once, again and again, never loses what is known and comes to the
/// proof.
#[test]
fn searches_that_are_stopped_go_on() {
    let problem = built(noise(80, 10, 1, 2, 3), 0.01, Some(4));
    let best = solve(&problem, &Run::new(limits(1), problem.scale, None)).unwrap();
    let rng = &mut Random::new(5);
    let reference: Vec<f64> = (0..problem.points.len())
        .map(|p| regret(&problem, p, rng.below(2) as u32) as f64 / problem.scale.units)
        .collect();
    let short = |millis| Limits { time: Some(Duration::from_millis(millis)), ..limits(2) };
    let (first, mut known) =
        guess::solve(&problem, &reference, &Run::new(short(0), problem.scale, None)).unwrap();
    assert_eq!(first.status, Status::TimeLimit);
    let mut last = (first.lower_bound, first.objective);
    for attempt in 0.. {
        let run = Run::new(short(1 << attempt), problem.scale, None);
        let (answer, more) = go_on(&problem, Some(&known), &run).unwrap();
        assert!(answer.lower_bound >= last.0 && answer.objective <= last.1);
        last = (answer.lower_bound, answer.objective);
        known = more;
        if answer.status == Status::Optimal {
            break;
        }
    }
    assert_eq!(last.1, best.objective);
}

/// A search in many pieces does hardly more than one in one piece.
#[test]
fn no_node_is_searched_twice() {
    for (case, penalty, depth) in
        [(noise(200, 30, 1, 2, 7), 0.01, Some(5)), (noise(300, 6, 60, 2, 7), 0.005, Some(3))]
    {
        let problem = built(case, penalty, depth);
        // Nothing reaches this limit, but with one no good trees are looked for beside a search, as
        // more of a short time is spent on.
        let limits = Limits { memory: Some(u64::MAX), ..limits(1) };
        let whole = Run::new(limits.clone(), problem.scale, None);
        let best = solve(&problem, &whole).unwrap();
        assert_eq!(best.status, Status::Optimal);
        let (mut known, mut work, mut pieces) = (None, 0, 0);
        let done = loop {
            // A limit that each piece reaches after something is done, however slow the machine.
            let time = Duration::from_secs_f64(0.01 + whole.seconds() / 16.0);
            let short = Limits { time: Some(time), ..limits.clone() };
            let run = Run::new(short, problem.scale, None);
            let (answer, more) = go_on(&problem, known.as_ref(), &run).unwrap();
            known = Some(more);
            (work, pieces) = (work + run.work().kernel_calls, pieces + 1);
            if answer.status == Status::Optimal {
                break answer;
            }
        };
        let once = whole.work().kernel_calls;
        assert_eq!(done.objective, best.objective);
        // Each piece goes down from the root again.
        assert!(work < once + once / 4 + 100 * pieces, "{pieces} pieces, {work} looks, not {once}");
    }
}

#[test]
fn a_reference_that_does_not_fit_is_refused() {
    let problem = built(noise(20, 3, 1, 2, 1), 0.01, Some(2));
    for regrets in
        [vec![0.0; 3], vec![f64::NAN; problem.points.len()], vec![-1.0; problem.points.len()]]
    {
        let run = Run::new(limits(1), problem.scale, None);
        let error = guess::solve(&problem, &regrets, &run).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("regret of at least 0"), "{error}");
    }
}
