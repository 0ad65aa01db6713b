//! Searches that are saved and go on in a new problem: with one thread they take the same steps as
//! in place, and other problems refuse them.
//!
//! More cases: `CERTREE_CASES=2000 cargo test --release --test all saved_searches`.

use std::time::Duration;

use crate::common::damage::{HEADER, damaged, sealed};
use crate::common::judge::ensure;
use crate::common::large::noise;
use crate::common::paths::PathMix;
use crate::common::problems::{ColumnMix, LossKind, Options, ShapeMix};
use crate::common::{Case, Loss, Random, cases, for_all, for_seeds, random_problem};
use certree::answer::{Answer, Incumbent, go_on, solve};
use certree::problem::Problem;
use certree::run::{Limits, Run, Status};
use certree::serial::Kind;

fn run(problem: &Problem, time: Option<Duration>) -> Run<'static> {
    Run::new(Limits { time, threads: 1, ..Limits::default() }, problem.scale, None)
}

fn built(case: &Case) -> Result<Problem, String> {
    case.problem().map_err(|e| e.to_string())
}

/// The answer, in place and after the search was saved.
fn both_ways(case: &Case, stopped: Incumbent, problem: &Problem) -> Result<[Answer; 2], String> {
    let bytes = stopped.to_bytes(problem, usize::MAX);
    let anew = built(case)?;
    let restored = Incumbent::from_bytes(&anew, &bytes).map_err(|e| e.to_string())?;
    ensure(restored.to_bytes(&anew, usize::MAX) == bytes, || "other bytes".into())?;
    let on = |problem: &Problem, known: &Incumbent| {
        let limit = Some(Duration::from_secs(60));
        go_on(problem, Some(known), &run(problem, limit)).map_err(|e| e.to_string())
    };
    Ok([on(problem, &stopped)?.0, on(&anew, &restored)?.0])
}

/// Whether the search was open when it was stopped.
fn goes_on(case: &Case, share: f64) -> Result<bool, String> {
    let problem = built(case)?;
    let whole = solve(&problem, &run(&problem, None)).map_err(|e| e.to_string())?;
    let time = Duration::from_secs_f64(whole.seconds * share);
    let (answer, known) =
        go_on(&problem, None, &run(&problem, Some(time))).map_err(|e| e.to_string())?;
    let open = answer.status != Status::Optimal && answer.work.nodes > 0;
    let [in_place, restored] = both_ways(case, known, &problem)?;
    ensure(in_place.status == whole.status, || format!("in place: {:?}", in_place.status))?;
    ensure(restored.status == whole.status, || format!("restored: {:?}", restored.status))?;
    ensure(restored.objective == whole.objective, || "another objective".into())?;
    ensure(restored.tree == in_place.tree, || "another tree".into())?;
    let work = |answer: &Answer| (answer.work.nodes, answer.work.kernel_calls);
    ensure(work(&restored) == work(&in_place), || {
        format!("restored took {:?}, in place {:?}", work(&restored), work(&in_place))
    })?;
    Ok(open)
}

#[test]
fn small_searches_go_on() {
    for (prices, paths) in [(false, PathMix::None), (true, PathMix::None), (false, PathMix::Any)] {
        let options = Options { prices, paths, ..Options::default() };
        for_seeds(60, &options, |case| goes_on(case, 0.5).map(|_| ()));
    }
}

fn larger(seed: u64) -> Case {
    let rng = &mut Random::new(seed ^ 0x1a46e);
    match seed % 4 {
        // Cuts one by one, with a depth limit and without.
        0 => {
            let mut case = noise(300, 12, 1, 2, seed);
            case.shape.max_depth = Some(4);
            case
        }
        1 => {
            let mut case = noise(150, 10, 1, 3, seed);
            let Loss::Classes(input) = &mut case.loss else { unreachable!("noise has classes") };
            input.leaf_penalty = 0.015;
            case.shape.max_leaves = rng.chance(0.5).then_some(7);
            case
        }
        // Intervals of cuts.
        2 => {
            let mut case = noise(250, 4, 200, 2, seed);
            case.shape.max_depth = Some(3);
            case
        }
        _ => {
            let options = Options {
                min_points: 100,
                max_points: 200,
                max_columns: 8,
                loss: LossKind::Squares,
                columns: ColumnMix::Ordered,
                limits: ShapeMix::Any,
                ..Options::default()
            };
            let mut case = random_problem(seed, &options);
            case.shape.max_depth = Some(3);
            case.shape.max_leaves = None;
            case
        }
    }
}

#[test]
fn larger_searches_take_the_same_steps() {
    let open = std::cell::Cell::new(0);
    for_all(0..cases(24), |seed| {
        let share = 0.2 + 0.6 * Random::new(seed).unit();
        open.set(open.get() + u64::from(goes_on(&larger(seed), share)?));
        Ok(())
    });
    println!("{} searches were open", open.get());
    assert!(std::env::var("CERTREE_SEED").is_ok() || open.get() >= 4, "{} were open", open.get());
}

/// A search of this case that was stopped, and its bytes.
fn stopped(case: &Case) -> (Problem, Vec<u8>) {
    let problem = built(case).unwrap();
    let time = Some(Duration::from_millis(5));
    let (_, known) = go_on(&problem, None, &run(&problem, time)).unwrap();
    let bytes = known.to_bytes(&problem, usize::MAX);
    (problem, bytes)
}

#[test]
fn other_problems_refuse_a_search() {
    let case = larger(0);
    let (problem, bytes) = stopped(&case);
    assert!(Incumbent::from_bytes(&problem, &bytes).is_ok());
    let changes: [&dyn Fn(&mut Case); 5] = [
        &|case| case.shape.max_depth = Some(3),
        &|case| case.shape.min_leaf_rows = 2,
        &|case| case.codes[0][0] ^= 1,
        &|case| case.rows[0] += 1,
        &|case| {
            let Loss::Classes(input) = &mut case.loss else { unreachable!("noise has classes") };
            input.leaf_penalty = 0.001;
        },
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut other = case.clone();
        change(&mut other);
        let error = Incumbent::from_bytes(&built(&other).unwrap(), &bytes).err();
        let text = error.unwrap_or_else(|| panic!("change {at} is not seen")).to_string();
        assert!(text.contains("of another problem"), "{text}");
    }
}

#[test]
fn what_is_too_large_stays_behind() {
    let case = larger(0);
    let problem = built(&case).unwrap();
    let time = Some(Duration::from_millis(20));
    let (answer, known) = go_on(&problem, None, &run(&problem, time)).unwrap();
    let (all, little) = (known.to_bytes(&problem, usize::MAX), known.to_bytes(&problem, 0));
    assert!(little.len() < all.len() && little.len() < 2000, "{} of {}", little.len(), all.len());
    let restored = Incumbent::from_bytes(&problem, &little).unwrap();
    let (better, _) = go_on(&problem, Some(&restored), &run(&problem, None)).unwrap();
    assert!(better.lower_bound >= answer.lower_bound && better.objective <= answer.objective);
    assert_eq!(better.status, Status::Optimal);
}

#[test]
fn damage_is_an_error_and_never_a_panic() {
    for seed in 0..4 {
        let (problem, bytes) = stopped(&larger(seed));
        for_all(0..cases(300), |seed| {
            let rng = &mut Random::new(seed);
            let broken = damaged(rng, &bytes);
            let found = Incumbent::from_bytes(&problem, &broken).is_err();
            ensure(found || broken == bytes, || "a damaged search".into())?;
            // Behind the digest of the problem, which would be found.
            let (digest, rest) = bytes[HEADER..].split_at(16);
            let body = [digest, &damaged(rng, rest)].concat();
            let _ = Incumbent::from_bytes(&problem, &sealed(Kind::Search, &body));
            Ok(())
        });
    }
}
