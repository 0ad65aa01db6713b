//! Each bound decides on some small problem, and none where it is switched off or invalid.
//!
//! A new bound needs no case of its own if it decides on one of these, and fails the last test if
//! it decides on none.

use crate::common::floors::guesses;
use crate::common::front_kinds::{Kind, Made, UNIT};
use crate::common::large::noise;
use crate::common::problems::{ColumnMix, LossKind, Options, ShapeMix};
use crate::common::{Case, Loss, Random, Squares, random_problem};
use certree::bounds::{Bound, Decisions};
use certree::data::{Column, Points};
use certree::metric::{Metric, MetricInput, Scored};
use certree::pareto::{Constrained, FrontProblem, LimitInput, Roc, solve_front};
use certree::problem::{Problem, Shape};
use certree::run::{Limits, Run};
use certree::search::{best_first, intervals};
use certree::task::ClassInput;
use certree::{guess, solve};

/// Seeds that are tried until a bound decides.
const SEEDS: std::ops::Range<u64> = 0..300;

fn run(problem: &Problem) -> Run<'static> {
    Run::new(Limits::default(), problem.scale, None)
}

fn options(loss: LossKind, columns: ColumnMix, limits: ShapeMix) -> Options {
    Options { min_points: 12, max_points: 30, loss, columns, limits, ..Options::default() }
}

fn drawn(seed: u64, options: &Options) -> Problem {
    random_problem(seed, options).problem().expect("a random problem")
}

/// What decided a search of single cuts.
fn by_cuts(problem: &Problem, options: &best_first::Options) -> Decisions {
    let run = run(problem);
    best_first::solve(problem, &run, options).expect("a search");
    run.work().bounds
}

fn of_cuts(seed: u64, loss: LossKind, limits: ShapeMix) -> Decisions {
    let problem = drawn(seed, &options(loss, ColumnMix::Any, limits));
    by_cuts(&problem, &best_first::Options::default())
}

fn of_weighed_cuts(seed: u64) -> Decisions {
    of_cuts(seed, LossKind::CostMatrix, ShapeMix::Any)
}

fn of_counted_cuts(seed: u64) -> Decisions {
    of_cuts(seed, LossKind::Accuracy, ShapeMix::Unlimited)
}

fn of_squares(seed: u64) -> Decisions {
    of_cuts(seed, LossKind::Squares, ShapeMix::Unlimited)
}

/// Noise at a depth that a look does not see: similar children, and equal splits.
fn of_deep_cuts(seed: u64) -> Decisions {
    let mut case = noise(40, 6, 3, 2, seed);
    case.shape.max_depth = Some(4);
    by_cuts(&case.problem().expect("noise"), &best_first::Options::default())
}

/// As above, of columns with missing values.
fn of_missing_values(seed: u64) -> Decisions {
    by_cuts(&with_missing_values(seed), &best_first::Options::default())
}

fn with_missing_values(seed: u64) -> Problem {
    let mut case = noise(40, 5, 1, 2, seed);
    let rng = &mut Random::new(seed);
    for (column, codes) in case.columns.iter_mut().zip(&mut case.codes) {
        column.missing = true;
        codes.iter_mut().filter(|_| rng.chance(0.2)).for_each(|code| *code = 2);
    }
    case.shape = depth(3);
    case.problem().expect("noise")
}

/// Two processes search a half of all trees each, the second one after it has heard of the first.
fn of_told(seed: u64) -> Decisions {
    let mut case = noise(40, 6, 3, 2, seed);
    case.shape.max_depth = Some(4);
    let problem = case.problem().expect("noise");
    let half = |rest, told: &best_first::News| {
        let run = run(&problem);
        let part = Some(best_first::Part { rest, of: 2 });
        let options = best_first::Options { part, ..best_first::Options::default() };
        let found = best_first::go_on_told(&problem, &run, &options, Default::default(), told);
        (found.expect("a search").1.expect("its nodes"), run.work().bounds)
    };
    let (mut first, mut second) = (best_first::News::default(), best_first::News::default());
    let (nodes, _) = half(0, &first);
    second.learn(&first.of(&nodes, false)).expect("news");
    half(1, &second).1
}

/// What decided a search over intervals of cuts.
fn by_intervals(problem: &Problem) -> Decisions {
    let run = run(problem);
    intervals::solve(problem, &run, &intervals::Options::default()).expect("a search");
    run.work().bounds
}

/// Noise of six labels, of which a stump serves two.
fn of_intervals_of_labels(seed: u64) -> Decisions {
    let mut case = noise(40, 3, 20, 6, seed);
    case.shape.max_depth = Some(3);
    by_intervals(&case.problem().expect("noise"))
}

fn of_intervals(seed: u64) -> Decisions {
    let mut case = noise(40, 2, 20, 2, seed);
    set_penalty(&mut case, 0.02);
    case.shape.max_depth = Some(3 + (seed % 2) as u32);
    by_intervals(&case.problem().expect("noise"))
}

fn set_penalty(case: &mut Case, penalty: f64) {
    match &mut case.loss {
        Loss::Classes(input) => input.leaf_penalty = penalty,
        Loss::Rows { leaf_penalty, .. } => *leaf_penalty = penalty,
        Loss::Squares(squares) => squares.leaf_penalty = penalty,
    }
}

/// Targets that know nothing of the columns.
fn noisy_targets(n: usize, cuts: usize, seed: u64) -> Case {
    let rng = &mut Random::new(seed);
    let targets = (0..n).map(|_| rng.unit()).collect();
    let squares =
        Squares { n_outputs: 1, per_point: 1, targets, weights: vec![1; n], leaf_penalty: 0.01 };
    Case { loss: Loss::Squares(squares), ..noise(n, 2, cuts, 2, seed) }
}

/// A few rows for each leaf: mostly the best tree without that has them.
fn with_few_rows(seed: u64) -> Decisions {
    let mut case = noisy_targets(90, 60, seed);
    case.shape = Shape { max_depth: Some(2), max_leaves: None, min_leaf_rows: 2 };
    let problem = case.problem().expect("noise");
    solve(&problem, &run(&problem)).expect("a search").work.bounds
}

/// So many rows for each leaf that neighbouring cuts are bounded together.
fn with_many_rows(seed: u64) -> Decisions {
    let mut case = noisy_targets(90, 60, seed);
    case.shape = Shape { max_depth: Some(3), max_leaves: None, min_leaf_rows: 12 };
    by_intervals(&case.problem().expect("noise"))
}

/// What decided a search with the floors of a reference.
fn of_a_guess(seed: u64) -> Decisions {
    let loss = if seed.is_multiple_of(2) { LossKind::CostMatrix } else { LossKind::Squares };
    let problem = drawn(seed, &options(loss, ColumnMix::Any, ShapeMix::Unlimited));
    let regrets = &guesses(&problem, &mut Random::new(seed))[0];
    let regrets: Vec<f64> = regrets.iter().map(|&r| r as f64 / problem.scale.units).collect();
    guess::solve(&problem, &regrets, &run(&problem)).expect("a search").0.work.bounds
}

fn classes(weights: Vec<f64>, leaf_penalty: f64) -> ClassInput {
    ClassInput {
        n_classes: 2,
        n_labels: 2,
        weights,
        costs: vec![0.0, 1.0, 1.0, 0.0],
        class_weights: vec![1.0; 2],
        balanced: false,
        leaf_penalty,
    }
}

/// Noise of two classes: columns, points and weights.
fn two_classes(seed: u64, n: usize) -> (Vec<Column>, Points, Vec<f64>) {
    let Case { columns, codes, rows, loss, .. } = noise(n, 5, 1, 2, seed);
    let Loss::Classes(input) = loss else { unreachable!("noise has classes") };
    let points = Points::new(&columns, codes, rows).expect("points");
    (columns, points, input.weights)
}

fn depth(max_depth: u32) -> Shape {
    Shape { max_depth: Some(max_depth), ..Shape::default() }
}

fn of_metric(seed: u64, metric: Metric, penalty: f64, unit: f64) -> Decisions {
    let (columns, points, weights) = two_classes(seed, 40);
    let weights = weights.iter().enumerate().map(|(at, w)| w * unit.powi(at as i32 % 5)).collect();
    let input = MetricInput { classes: classes(weights, penalty), metric, positive: 1 };
    let scored = Scored::new(columns, points, &input, depth(3)).expect("a metric");
    let run = Run::new(Limits::default(), scored.scale(), None);
    scored.solve(&run).expect("a search").work.bounds
}

fn of_f_beta(seed: u64) -> Decisions {
    of_metric(seed, Metric::FBeta(1.0), 0.01, 1.0)
}

/// Weights that are no short decimals are rounded once, and refined.
fn of_rounded_f_beta(seed: u64) -> Decisions {
    of_metric(seed, Metric::FBeta(1.0), 0.01, 1.000_300_070_011_3)
}

fn of_matthews(seed: u64) -> Decisions {
    of_metric(seed, Metric::Matthews, if seed.is_multiple_of(2) { 0.01 } else { 0.0 }, 1.0)
}

/// Neither label may be given to most rows, so that no single leaf is allowed, and the labels of
/// the only split may be the wrong way round.
fn of_limited_matthews(seed: u64) -> Decisions {
    let Case { columns, codes, rows, loss, .. } = noise(30, 1, 1, 2, seed);
    let Loss::Classes(input) = loss else { unreachable!("noise has classes") };
    let points = Points::new(&columns, codes, rows).expect("points");
    let capacity = |label: u32, most: f64| {
        LimitInput::of_shares(format!("capacity of {label}"), label, &[0, 1], &[], most)
    };
    let limits = [capacity(0, 0.49), capacity(1, 0.9)];
    let input = MetricInput { classes: input, metric: Metric::Matthews, positive: 1 };
    let scored = Scored::limited(columns, points, &input, vec![0, 1], &limits, depth(1));
    let scored = scored.expect("a metric");
    let run = Run::new(Limits::default(), scored.scale(), None);
    // There may be no tree that keeps the limits.
    scored.solve(&run).map_or(Decisions::default(), |answer| answer.work.bounds)
}

/// Two groups whose shares of a label may differ by little; `second`: a capacity beside it.
fn constrained(seed: u64, second: bool) -> Constrained {
    let (columns, points, weights) = two_classes(seed, 40);
    // By class and group: every third point is of the second group.
    let cut = |(at, own): (usize, &[f64])| match at % 3 {
        0 => [0.0, own[0], 0.0, own[1]],
        _ => [own[0], 0.0, own[1], 0.0],
    };
    let weights: Vec<f64> = weights.chunks_exact(2).enumerate().flat_map(cut).collect();
    let input = ClassInput {
        n_classes: 4,
        costs: vec![0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0],
        class_weights: vec![1.0; 4],
        ..classes(weights, 0.01)
    };
    let parity = LimitInput::of_shares("parity".into(), 1, &[0, 2], &[1, 3], 0.02);
    let capacity = LimitInput::of_shares("capacity".into(), 1, &[0, 1, 2, 3], &[], 0.45);
    let limits = if second { vec![parity, capacity] } else { vec![parity] };
    Constrained::new(columns, points, &input, vec![0, 0, 1, 1], &limits, depth(3))
        .expect("a problem with limits")
}

fn by_constraints(constrained: &Constrained) -> Decisions {
    let run = Run::new(Limits::default(), constrained.scale(), None);
    constrained.solve(&run).map_or(Decisions::default(), |(answer, _)| answer.work.bounds)
}

fn of_one_limit(seed: u64) -> Decisions {
    by_constraints(&constrained(seed, false))
}

fn of_two_limits(seed: u64) -> Decisions {
    by_constraints(&constrained(seed, true))
}

fn of_curves(seed: u64) -> Decisions {
    let (columns, points, weights) = two_classes(seed, 40);
    let roc = Roc::new(columns, points, weights, 1, 1.0, 0.01, depth(3)).expect("areas");
    let run = Run::new(Limits::default(), roc.scale(), None);
    roc.solve(&run).expect("a search").work.bounds
}

/// The largest error rate of a group, with the errors of all rows as a relaxation.
fn of_own_front(seed: u64) -> Decisions {
    let (columns, points, _) = two_classes(seed, 24);
    let rng = &mut Random::new(seed);
    let mut task = Made::random(Kind::GroupErrors, points.len(), rng);
    let relaxation = task.relaxation(0, rng);
    let problem = FrontProblem::new(columns, points, task, UNIT, depth(3)).expect("a front");
    let problem = match relaxation {
        Some(relaxation) => problem.with_relaxation(relaxation).expect("a relaxation"),
        None => problem,
    };
    let run = Run::new(Limits::default(), problem.scale(), None);
    solve_front(&problem, &run).expect("a search").answer.work.bounds
}

/// Costs that nobody pays beside costs that are far smaller.
fn of_far_apart_costs(seed: u64) -> Decisions {
    let mut case = noise(16, 4, 1, 2, seed);
    let rng = &mut Random::new(seed);
    let costs = (0..16).flat_map(|point| match point % 4 {
        0 => [0.0, 1e17],
        _ => [rng.unit(), rng.unit()],
    });
    let costs = costs.collect();
    case.loss = Loss::Rows { n_labels: 2, costs, normalizer: 1.0, leaf_penalty: 0.01 };
    case.shape = depth(3);
    let problem = case.problem().expect("costs");
    solve(&problem, &run(&problem)).expect("a search").work.bounds
}

type Draw = fn(u64) -> Decisions;

/// A small problem for each bound.
const CASES: [(Bound, Draw); 32] = [
    (Bound::Leaf, of_weighed_cuts),
    (Bound::EquivalentPoints, of_weighed_cuts),
    (Bound::LookAhead, of_counted_cuts),
    (Bound::ThreeLeaves, of_counted_cuts),
    (Bound::KMeans, of_squares),
    (Bound::ChildSupport, of_counted_cuts),
    (Bound::EqualSplits, of_deep_cuts),
    (Bound::Similarity, of_deep_cuts),
    (Bound::Parts, of_missing_values),
    (Bound::Scope, of_deep_cuts),
    (Bound::Told, of_told),
    (Bound::OtherCosts, of_f_beta),
    (Bound::AffordableLeaves, of_intervals),
    (Bound::NeighbouringCuts, of_intervals),
    (Bound::Blocks, of_intervals),
    (Bound::TwoLabels, of_intervals_of_labels),
    (Bound::Floors, of_a_guess),
    (Bound::FewerLimits, with_few_rows),
    (Bound::FewerRows, with_many_rows),
    (Bound::Completion, of_own_front),
    (Bound::Multipliers, of_one_limit),
    (Bound::Area, of_curves),
    (Bound::Dominance, of_own_front),
    (Bound::LimitReach, of_one_limit),
    (Bound::DominatedSums, of_two_limits),
    (Bound::DominatedCurves, of_curves),
    (Bound::Fence, of_matthews),
    (Bound::RatioLine, of_f_beta),
    (Bound::RatioShortfall, of_rounded_f_beta),
    (Bound::Hull, of_matthews),
    (Bound::FewerMisses, of_limited_matthews),
    (Bound::LossCaps, of_far_apart_costs),
];

#[test]
fn each_bound_decides_on_its_problem() {
    let silent: Vec<&str> = (CASES.iter())
        .filter(|(bound, draw)| !SEEDS.clone().any(|seed| draw(seed).of(*bound) > 0))
        .map(|(bound, _)| bound.name())
        .collect();
    assert!(silent.is_empty(), "these bounds decide on no problem: {silent:?}");
}

/// Runs `draw` on some seeds, where none of the bounds may decide.
fn never(bounds: &[Bound], draw: impl Fn(u64) -> Decisions) {
    for seed in 0..20 {
        let decided = draw(seed);
        for &bound in bounds {
            assert_eq!(decided.of(bound), 0, "seed {seed}: {} in {decided:?}", bound.name());
        }
    }
}

#[test]
fn a_bound_that_is_switched_off_never_decides() {
    let all = best_first::Options::default();
    let off: [(Bound, best_first::Options); 5] = [
        (Bound::EquivalentPoints, best_first::Options { equivalent_points: false, ..all }),
        (Bound::ChildSupport, best_first::Options { child_support: false, ..all }),
        (Bound::Similarity, best_first::Options { similarity: false, ..all }),
        (Bound::ThreeLeaves, best_first::Options { three_leaves: false, ..all }),
        (Bound::KMeans, best_first::Options { k_means: false, ..all }),
    ];
    for (bound, options_off) in off {
        for loss in [LossKind::Accuracy, LossKind::CostMatrix, LossKind::Squares] {
            let options = options(loss, ColumnMix::Any, ShapeMix::Unlimited);
            never(&[bound], |seed| by_cuts(&drawn(seed, &options), &options_off));
        }
    }
    never(&[Bound::Parts], |seed| {
        let off = best_first::Options { parts: false, ..all };
        by_cuts(&with_missing_values(seed), &off)
    });
    never(&[Bound::Multipliers], |seed| {
        let mut constrained = constrained(seed, false);
        constrained.multipliers = false;
        by_constraints(&constrained)
    });
}

/// Bounds of values that are only partly ordered, of metrics, and of guesses.
const OF_OTHERS: [Bound; 16] = [
    Bound::Told,
    Bound::Floors,
    Bound::OtherCosts,
    Bound::Completion,
    Bound::Multipliers,
    Bound::Area,
    Bound::Dominance,
    Bound::LimitReach,
    Bound::DominatedSums,
    Bound::DominatedCurves,
    Bound::Fence,
    Bound::RatioLine,
    Bound::RatioShortfall,
    Bound::Hull,
    Bound::FewerMisses,
    Bound::LossCaps,
];

#[test]
fn additive_searches_use_no_bounds_of_other_goals() {
    never(&OF_OTHERS, of_counted_cuts);
    never(&OF_OTHERS, of_squares);
    never(&OF_OTHERS, of_intervals);
    never(&[Bound::NeighbouringCuts, Bound::Blocks, Bound::TwoLabels], of_deep_cuts);
    never(&[Bound::TwoLabels], of_intervals);
    never(&[Bound::KMeans], of_counted_cuts);
    never(&[Bound::ThreeLeaves], of_squares);
}

/// Where rows pay for questions, or must fill leaves, other trees' rows cannot be moved. Leaves
/// that must be filled only forbid trees: what holds of all trees of three leaves holds of the
/// others.
#[test]
fn a_bound_that_is_invalid_never_decides() {
    let moving = [Bound::ChildSupport, Bound::Similarity, Bound::ThreeLeaves];
    let with_prices = Options {
        prices: true,
        ..options(LossKind::Accuracy, ColumnMix::Any, ShapeMix::Unlimited)
    };
    let all = best_first::Options::default();
    never(&moving, |seed| match drawn(seed, &with_prices) {
        problem if problem.feature_costs.is_some() => by_cuts(&problem, &all),
        _ => Decisions::default(),
    });
    let mut least = options(LossKind::Accuracy, ColumnMix::Any, ShapeMix::MinRows);
    least.min_points = 16;
    never(&[Bound::Similarity], |seed| match drawn(seed, &least) {
        problem if problem.shape.min_leaf_rows > 1 => by_cuts(&problem, &all),
        _ => Decisions::default(),
    });
}

#[test]
fn the_cases_together_reach_every_bound() {
    let listed: Vec<Bound> = CASES.iter().map(|(bound, _)| *bound).collect();
    let draws: Vec<Draw> = CASES.iter().map(|(_, draw)| *draw).collect();
    for &bound in Bound::ALL.iter().filter(|bound| !listed.contains(bound)) {
        let decides = |draw: &Draw| (0..20).any(|seed| draw(seed).of(bound) > 0);
        assert!(draws.iter().any(decides), "{} decides on none of the cases", bound.name());
    }
}

/// The counts of one thread are always those of the same search.
#[test]
fn counts_are_those_of_the_search() {
    for draw in [of_deep_cuts, of_intervals, of_one_limit, of_curves, of_matthews] {
        assert_eq!(draw(3), draw(3));
    }
}

/// The header of every file of bounds says what holds, why, and where it does not.
#[test]
fn every_file_states_proves_and_limits_its_bound() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("rust/bounds");
    for bound in Bound::ALL {
        let file = format!("{}.rs", bound.name());
        let text = std::fs::read_to_string(folder.join(&file)).expect("a file for each bound");
        let lines = text.lines().take_while(|line| line.starts_with("//!"));
        let head: Vec<&str> = lines.map(|line| line[3..].trim()).collect();
        for word in ["Statement:", "Proof:", "Invalid"] {
            assert!(head.iter().any(|line| line.starts_with(word)), "{file} lacks {word}");
        }
    }
    let files = std::fs::read_dir(&folder).expect("rust/bounds").count();
    assert_eq!(files, Bound::ALL.len() + 1, "a file for each bound, and mod.rs");
}
