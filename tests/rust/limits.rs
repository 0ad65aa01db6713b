//! Limits and faults: whatever ends a search, the bounds are right and the tree is worth what it
//! says.

use std::time::{Duration, Instant};

use crate::common::judge::recompute;
use crate::common::large::{built, noise};
use crate::common::{Loss, Options, Random, random_problem};
use certree::answer::{Answer, solve};
use certree::data::{ColumnKind, Threshold};
use certree::error::Error;
use certree::problem::Problem;
use certree::run::{Limits, Progress, Pulse, Run, Status};

fn limited(problem: &Problem, limits: Limits) -> Answer {
    watched(problem, limits, Box::new(|_: &Progress| true))
}

fn watched(problem: &Problem, limits: Limits, pulse: Pulse) -> Answer {
    let run = Run::new(limits, problem.scale, Some(pulse));
    let answer = solve(problem, &run).expect("a limit is no error");
    check(problem, &answer);
    answer
}

/// The tree costs what is said, the curve tightens and ends at the final bounds.
fn check(problem: &Problem, answer: &Answer) {
    // Units may be rounded; the objective is that of the caller's own numbers.
    let of_units = problem.scale.objective(recompute(problem, &answer.tree));
    let exact = certree::answer::exactly::objective(problem, &answer.tree);
    assert_eq!(exact.map_or(of_units, |exact| exact.nearest()), answer.objective);
    assert!(answer.lower_bound <= answer.objective);
    let curve = &answer.curve;
    assert!(curve.len() <= 600, "the curve has {} moments", curve.len());
    assert!(curve.windows(2).all(|m| m[0].upper >= m[1].upper && m[0].lower <= m[1].lower));
    assert!(curve.windows(2).all(|m| m[0].seconds <= m[1].seconds));
    assert_eq!(curve.last().unwrap().upper, answer.objective);
    assert!(curve.iter().all(|m| m.upper < 1e6), "infinity is shown: {curve:?}");
}

fn seconds(seconds: f64) -> Limits {
    Limits { time: Some(Duration::from_secs_f64(seconds)), ..Limits::default() }
}

/// Two numbers that are different in every row: as many cuts as rows, and the pairs of them are
/// billions. Intervals of cuts are searched; but every cut is a question if a leaf must hold more
/// than one row.
fn many_cuts(min_leaf_rows: u64) -> Problem {
    let mut case = noise(10_000, 2, 9_999, 2, 0);
    let rng = &mut Random::new(1);
    for codes in &mut case.codes {
        *codes = (0..10_000).collect();
        for at in (1..codes.len()).rev() {
            codes.swap(at, rng.below(at + 1));
        }
    }
    case.shape.min_leaf_rows = min_leaf_rows;
    built(case, 0.0001, Some(4))
}

#[test]
fn the_clock_is_kept_inside_one_look() {
    for (min_leaf_rows, threads) in [(1, 1), (1, 4), (2, 1), (2, 4)] {
        let problem = many_cuts(min_leaf_rows);
        let start = Instant::now();
        let answer = limited(&problem, Limits { threads, ..seconds(0.3) });
        assert_eq!(answer.status, Status::TimeLimit);
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
        assert!(answer.tree.n_leaves() > 1, "{min_leaf_rows} {threads}: a stump needs no pairs");
    }
}

#[test]
fn an_interrupt_is_kept_inside_one_look() {
    for min_leaf_rows in [1, 2] {
        let (problem, start) = (many_cuts(min_leaf_rows), Instant::now());
        let answer = watched(&problem, Limits::default(), Box::new(|p| p.seconds < 0.2));
        assert_eq!(answer.status, Status::Interrupted);
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    }
}

#[test]
fn what_does_not_fit_is_refused_before_it_is_made() {
    for (min_leaf_rows, memory) in [(1, 500_000), (1, 1_000_000), (2, 1_000_000)] {
        let (problem, start) = (many_cuts(min_leaf_rows), Instant::now());
        let limits = Limits { memory: Some(memory), ..Limits::default() };
        let run = Run::new(limits, problem.scale, None);
        let error = solve(&problem, &run).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Invalid(_)), "{text}");
        let has = format!("memory_limit allows {memory}");
        for part in ["10000 rows", "19998 cuts", &has, "thresholds="] {
            assert!(text.contains(part), "{text}");
        }
        assert!(run.work().peak_bytes < memory);
        assert!(start.elapsed() < Duration::from_secs(2));
    }
}

/// Little more than what a search begins with, and no time to find out how much it will need.
#[test]
fn writing_down_the_tree_keeps_the_memory_limit() {
    let millions = [(1, 4), (1, 8), (1, 20), (2, 112), (2, 120), (2, 140)];
    for (min_leaf_rows, memory) in millions.map(|(rows, memory)| (rows, memory * 1_000_000)) {
        let problem = many_cuts(min_leaf_rows);
        let limits = Limits { memory: Some(memory), ..seconds(0.3) };
        let run = Run::new(limits, problem.scale, None);
        let answer = solve(&problem, &run).unwrap();
        check(&problem, &answer);
        let peak = answer.work.peak_bytes;
        assert!(peak <= memory / 10 * 11, "{peak} of {memory}");
        assert!(answer.tree.n_leaves() > 1);
    }
}

#[test]
fn no_time_at_all_gives_a_leaf_and_a_true_gap() {
    for (n, penalty) in [(1, 0.0), (50, 0.0), (500, 0.01)] {
        let problem = built(noise(n, 5, 3, 2, 0), penalty, Some(3));
        let best = limited(&problem, Limits::default());
        assert_eq!(best.status, Status::Optimal);
        let answer = limited(&problem, seconds(0.0));
        assert!(answer.lower_bound <= best.objective && best.objective <= answer.objective);
        let right = if answer.gap() == 0.0 { Status::Optimal } else { Status::TimeLimit };
        assert_eq!(answer.status, right);
    }
}

trait Gap {
    fn gap(&self) -> f64;
}

impl Gap for Answer {
    fn gap(&self) -> f64 {
        self.objective - self.lower_bound
    }
}

/// A problem of some size, of any kind of loss and limit.
fn middling(seed: u64) -> Problem {
    let options =
        Options { min_points: 100, max_points: 400, max_columns: 16, ..Options::default() };
    let mut case = random_problem(seed, &options);
    case.shape.max_depth = Some(case.shape.max_depth.unwrap_or(4).max(3));
    case.shape.max_leaves = case.shape.max_leaves.map(|leaves| leaves.min(6));
    case.problem().unwrap()
}

#[test]
fn bounds_hold_whenever_a_search_is_stopped() {
    let mut stopped = 0;
    for seed in 0..240 {
        let problem = middling(seed);
        let best = limited(&problem, seconds(0.5));
        // Nothing to stop, or nothing to compare with.
        if best.status != Status::Optimal || best.seconds < 0.001 {
            continue;
        }
        let rng = &mut Random::new(seed);
        for _ in 0..8 {
            let limits = Limits { threads: rng.range(1, 3), ..seconds(best.seconds * rng.unit()) };
            let answer = limited(&problem, limits);
            stopped += usize::from(answer.status == Status::TimeLimit);
            let bounds = |of: &Answer| (of.lower_bound, of.objective);
            let told = format!("seed {seed}: {:?}, {:?}", bounds(&best), bounds(&answer));
            assert!(answer.lower_bound <= best.objective, "{told}");
            // Of trees that cost the same in the search's units, another one may be an ulp better.
            assert!(best.lower_bound <= answer.objective, "{told}");
        }
    }
    assert!(stopped > 50, "only {stopped} searches were stopped");
}

#[test]
fn gap_limits_are_kept() {
    for seed in 0..40 {
        let problem = middling(seed);
        let best = limited(&problem, seconds(0.5));
        if best.status != Status::Optimal {
            continue;
        }
        for gap in [0.01, 0.1].map(|gap| gap * best.objective.abs()) {
            let answer = limited(&problem, Limits { gap, ..Limits::default() });
            assert!(answer.gap() <= gap * (1.0 + 1e-9) + 1e-12);
            // As above.
            assert!(answer.lower_bound <= best.objective);
            assert!(best.lower_bound <= answer.objective);
        }
    }
}

/// Every route to an answer, and a gap that each comes to long before its proof.
fn routes() -> Vec<(&'static str, Problem)> {
    let few_leaves = {
        let mut case = noise(2_000, 3, 400, 2, 3);
        case.shape.max_leaves = Some(5);
        built(case, 0.001, Some(4))
    };
    let large_leaves = {
        let mut case = noise(2_000, 3, 400, 2, 4);
        case.shape.min_leaf_rows = 7;
        built(case, 0.0, Some(3))
    };
    vec![
        ("cuts one by one", built(noise(2_000, 12, 12, 2, 1), 0.0002, Some(5))),
        ("intervals", built(noise(2_000, 3, 400, 2, 2), 0.0002, Some(4))),
        ("few leaves", few_leaves),
        ("large leaves", large_leaves),
        ("one split", built(noise(2_000, 3, 400, 2, 5), 0.0, Some(1))),
    ]
}

#[test]
fn gap_limits_end_every_route() {
    for (name, problem) in routes() {
        for threads in [1, 3] {
            let limits = Limits { gap: 0.4, threads, ..seconds(60.0) };
            let answer = limited(&problem, limits);
            assert!(answer.gap() <= 0.4, "{name}: {} of a gap", answer.gap());
            let by_gap = [Status::GapLimit, Status::Optimal].contains(&answer.status);
            assert!(by_gap, "{name}: {:?}", answer.status);
        }
    }
}

/// Several phases tell bounds of their own, and none of them may take back what another has proved.
#[test]
fn bounds_that_are_told_never_loosen() {
    for (name, problem) in routes() {
        for threads in [1, 3] {
            let mut told: Vec<Progress> = Vec::new();
            let (send, receive) = std::sync::mpsc::channel();
            let pulse = Box::new(move |progress: &Progress| send.send(*progress).is_ok());
            let answer = watched(&problem, Limits { threads, ..seconds(0.7) }, pulse);
            told.extend(receive.try_iter());
            for pair in told.windows(2) {
                assert!(pair[0].lower_bound <= pair[1].lower_bound, "{name}: {pair:?}");
                assert!(pair[0].objective >= pair[1].objective, "{name}: {pair:?}");
            }
            let last = told.last().map_or(f64::MIN, |progress| progress.lower_bound);
            assert!(last <= answer.lower_bound, "{name}: {last} was told");
        }
    }
}

#[test]
fn what_is_held_already_counts() {
    let problem = built(noise(50, 2, 1, 2, 0), 0.0, Some(1));
    let limits = Limits { memory: Some(1_000), held: 900, ..Limits::default() };
    let run = Run::new(limits, problem.scale, None);
    assert!(run.fits(100) && !run.fits(101));
    let part = run.part(problem.scale, Box::new(|_: &Progress| true));
    assert!(part.fits(100) && !part.fits(101));
}

/// A column of as many categories, or cuts, as rows: the work grows with rows, not with their
/// square, and memory, too.
#[test]
fn one_split_of_many_values_takes_no_pairs() {
    let n = 200_000;
    let values = (0..n).map(|value| value.to_string()).collect();
    let cuts = (0..n - 1).map(|cut| Threshold::Float(cut as f64)).collect();
    for kind in [ColumnKind::Category(values), ColumnKind::Ordered(cuts)] {
        let mut case = noise(n, 1, 1, 2, 0);
        case.columns[0].kind = kind;
        case.codes[0] = (0..n as u32).collect();
        let problem = built(case, 0.0, Some(1));
        let start = Instant::now();
        let limits = Limits { memory: Some(64_000_000), ..seconds(60.0) };
        let answer = limited(&problem, limits);
        assert_eq!((answer.status, answer.tree.n_leaves()), (Status::Optimal, 2));
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}

#[test]
fn more_threads_than_processors() {
    let problem = built(noise(300, 8, 3, 2, 0), 0.002, Some(4));
    let one = limited(&problem, Limits::default());
    let many = limited(&problem, Limits { threads: 64, ..Limits::default() });
    assert_eq!((one.status, many.status), (Status::Optimal, Status::Optimal));
    assert_eq!(one.objective, many.objective);
}

#[test]
fn a_thousand_columns() {
    let problem = built(noise(200, 1000, 1, 2, 0), 0.001, Some(3));
    let answer = limited(&problem, seconds(1.0));
    assert!(answer.tree.n_leaves() > 1);
}

#[test]
fn five_hundred_classes() {
    let problem = built(noise(2000, 6, 3, 500, 0), 0.0001, Some(3));
    let answer = limited(&problem, seconds(2.0));
    assert!(answer.objective < 1.0);
}

#[test]
fn one_point() {
    for penalty in [0.0, 0.1] {
        let problem = built(noise(1, 3, 2, 1, 0), penalty, None);
        let answer = limited(&problem, Limits { threads: 4, ..Limits::default() });
        assert_eq!((answer.status, answer.tree.n_leaves()), (Status::Optimal, 1));
        assert_eq!((answer.objective, answer.lower_bound), (penalty, penalty));
    }
}

/// Without penalty and limits, every tree that tells points apart is optimal, and none is below it.
#[test]
fn nothing_to_pay_and_nothing_limited() {
    for (n, columns, cuts) in [(3_000, 3, 400), (500, 12, 1), (4_000, 2, 15)] {
        let problem = built(noise(n, columns, cuts, 3, 5), 0.0, None);
        let answer = limited(&problem, seconds(20.0));
        assert_eq!((answer.status, answer.gap()), (Status::Optimal, 0.0));
        let stopped = limited(&problem, seconds(0.0));
        assert!((stopped.lower_bound - answer.lower_bound).abs() < 1e-12);
        assert!(stopped.tree.n_leaves() == 1 && stopped.gap() > 0.0);
    }
}

/// Values of a category can only be peeled off one by one, and so can alternating classes.
#[test]
fn trees_as_deep_as_there_are_points() {
    let n = 3_000;
    let mut case = noise(n, 1, n - 1, 2, 0);
    case.codes[0] = (0..n as u32).collect();
    if let Loss::Classes(input) = &mut case.loss {
        input.weights = (0..2 * n).map(|at| f64::from(at / 2 % 2 == at % 2)).collect();
    }
    let alternating = built(case.clone(), 0.0, None);
    let answer = limited(&alternating, Limits::default());
    assert_eq!((answer.objective, answer.tree.n_leaves()), (0.0, n));

    case.columns[0].kind = ColumnKind::Category((0..n).map(|value| value.to_string()).collect());
    let peeled = built(case, 0.0, None);
    let answer = limited(&peeled, Limits::default());
    assert_eq!((answer.objective, answer.tree.n_leaves()), (0.0, n / 2 + 1));
}
