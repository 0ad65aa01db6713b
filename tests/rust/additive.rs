//! Tasks of which nothing is known but what leaves cost: every search against the oracle.
//!
//! More cases: `CERTREE_CASES=5000 cargo test --release --test all additive`.

use std::collections::HashMap;
use std::time::Duration;

use crate::common::additive_inputs::{additive_input, any_additive_input};
use crate::common::judge::{ensure, proved_optimal, tree_is_sound};
use crate::common::naive;
use crate::common::paths::PathMix;
use crate::common::problems::Options;
use crate::common::{Case, Random, for_seeds, sets};
use certree::bits::Level;
use certree::check;
use certree::cost::{Cost, INFINITE, Scale};
use certree::data::Points;
use certree::error::Result;
use certree::exact::Ratio;
use certree::kernel::{Ask, Kernel, Lookahead};
use certree::problem::Problem;
use certree::run::{Limits, Run};
use certree::search::{best_first, brute, intervals};
use certree::solve;
use certree::task::{ADDITIVE, AdditiveInput, Leaf, Scaled, Task, testing};
use certree::tree::Tree;
use certree::view::{BitView, Cut};

/// What a made-up task does with its two sums.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// (Σ a)².
    Square,
    /// Σ a · Σ b.
    Product,
    /// Σ a · Σ b / (Σ a + Σ b), rounded down: rounding raises parts by less than one unit each.
    Harmonic,
    /// Σ |a| − |Σ a|: of numbers with signs.
    Cancelled,
}

struct MadeUp {
    kind: Kind,
    stats: Vec<i64>,
    knows_worst: bool,
}

impl MadeUp {
    fn new(rng: &mut Random, n: usize) -> MadeUp {
        let kind = rng.pick(&[Kind::Square, Kind::Product, Kind::Harmonic, Kind::Cancelled]);
        let large = rng.pick(&[1, 4, 1000]);
        let mut stats = Vec::new();
        for _ in 0..n {
            let (a, b) = (rng.below(large + 1) as i64, rng.below(large + 1) as i64);
            stats.extend(match kind {
                Kind::Cancelled => [a - b, (a - b).abs()],
                _ => [a, b],
            });
        }
        MadeUp { kind, stats, knows_worst: rng.chance(0.5) }
    }
}

impl Task for MadeUp {
    fn n_points(&self) -> usize {
        self.stats.len() / 2
    }

    fn width(&self) -> usize {
        2
    }

    fn stats(&self, point: usize) -> &[i64] {
        &self.stats[2 * point..][..2]
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
        let [a, b] = [stats[0], stats[1]];
        let cost = match self.kind {
            Kind::Square => a * a,
            Kind::Product => a * b,
            Kind::Harmonic => {
                if a + b > 0 {
                    a * b / (a + b)
                } else {
                    0
                }
            }
            Kind::Cancelled => b - a.abs(),
        };
        Leaf { cost, label: 0 }
    }

    fn rounding(&self) -> Cost {
        if matches!(self.kind, Kind::Harmonic) { 1 } else { 0 }
    }

    fn worst(&self, point: usize) -> Option<Cost> {
        // A number cancels no more than itself twice.
        let known = matches!(self.kind, Kind::Cancelled) && self.knows_worst;
        known.then(|| 2 * self.stats(point)[1])
    }

    fn shown(&self, _points: &[u32], stats: &[i64]) -> Vec<f64> {
        stats.iter().map(|&s| s as f64).collect()
    }
}

fn made_up(case: &Case, rng: &mut Random) -> Result<Scaled> {
    let task = MadeUp::new(rng, case.n_points());
    testing::obeys(&task)?;
    let all: Vec<u32> = (0..case.n_points() as u32).collect();
    let whole = task.leaf(&task.sum_of(&all)).cost;
    let leaf_cost = rng.pick(&[0, 1, whole / 20, whole / 5]);
    let scale = Scale::new(whole.max(1) as f64, 0, 0);
    Ok(Scaled { task: Box::new(task), leaf_cost, scale, feature_costs: None, stated: None })
}

fn penalty(rng: &mut Random) -> f64 {
    rng.pick(&[0.0, 0.01, 0.05, 0.1, 0.013_722_191_3, 0.3])
}

/// An input of a task of the registry, each of which gets its turn.
fn listed(case: &Case, rng: &mut Random) -> Result<Scaled> {
    let penalty = penalty(rng);
    any_additive_input(rng, case.n_points(), penalty).build()
}

fn agrees(
    case: &Case,
    build: impl Fn(&Case, &mut Random) -> Result<Scaled>,
) -> std::result::Result<(), String> {
    let seed =
        case.rows.iter().sum::<u64>() * 977 + case.columns.len() as u64 + case.n_points() as u64;
    let rng = &mut Random::new(seed);
    let scaled = build(case, rng).map_err(|e| format!("does not build: {e}"))?;
    testing::obeys(scaled.task.as_ref()).map_err(|e| e.to_string())?;
    let weights: Vec<Ratio> = case.rows.iter().map(|&rows| Ratio::from(rows as i64)).collect();
    let scaled =
        scaled.paying(&case.prices_without_classes(), &weights).map_err(|e| e.to_string())?;
    testing::obeys(scaled.task.as_ref()).map_err(|e| e.to_string())?;
    let points = Points::new(&case.columns, case.codes.clone(), case.rows.clone());
    let points = points.map_err(|e| e.to_string())?;
    let problem = Problem::new(case.columns.clone(), points, scaled, case.shape);
    let problem = problem.and_then(|problem| case.on_paths(problem)).map_err(|e| e.to_string())?;
    let oracle = brute::solve(&problem);
    for threads in [1, 3] {
        let limits = Limits { threads, time: Some(Duration::from_secs(30)), ..Limits::default() };
        let run = || Run::new(limits.clone(), problem.scale, None);
        let answer = solve(&problem, &run()).map_err(|e| e.to_string())?;
        proved_optimal(&problem, &oracle, &answer)?;
        tree_is_sound(case, &problem, &answer.tree)?;
        pays_the_mean(case, &problem, &answer.tree)?;
        for switches in 0..8 {
            let on = |bit: u32| switches >> bit & 1 == 1;
            let options = best_first::Options {
                equivalent_points: on(0),
                child_support: on(1),
                similarity: on(2),
                parts: on(0) != on(1),
                ..best_first::Options::default()
            };
            let found = best_first::solve(&problem, &run(), &options).map_err(|e| e.to_string())?;
            ensure((found.lower, found.upper) == (oracle.upper, oracle.upper), || {
                format!("{options:?}: {} to {}, not {}", found.lower, found.upper, oracle.upper)
            })?;
        }
        for (blocks, room_for_pairs) in
            [(None, None), (Some(2), None), (Some(2), Some(0)), (Some(3), Some(1 << 12))]
        {
            // Deeper trees take this search long on columns of few cuts, which are not given to it.
            let shallow = case.shape.max_depth.is_some_and(|depth| depth <= 4);
            if shallow && intervals::applies(&problem) {
                let options = intervals::Options {
                    blocks,
                    room_for_pairs,
                    together: room_for_pairs.is_none(),
                    ..intervals::Options::default()
                };
                let found =
                    intervals::solve(&problem, &run(), &options).map_err(|e| e.to_string())?;
                ensure((found.lower, found.upper) == (oracle.upper, oracle.upper), || {
                    format!(
                        "{blocks:?} blocks: {} to {}, not {}",
                        found.lower, found.upper, oracle.upper
                    )
                })?;
            }
        }
    }
    Ok(())
}

/// What a tree costs beside its leaves is the mean of what rows pay for columns, up to a unit for
/// each payment.
fn pays_the_mean(case: &Case, problem: &Problem, tree: &Tree) -> std::result::Result<(), String> {
    let Some(costs) = &problem.feature_costs else { return Ok(()) };
    let weights: Vec<f64> = case.rows.iter().map(|&rows| rows as f64).collect();
    let factors = vec![1.0; case.prices.by_row.n_classes];
    let mean = naive::paid_by(case, tree, &weights, &factors) / weights.iter().sum::<f64>();
    let spent = check::spent(tree, &problem.columns, &problem.points, costs);
    let spent = spent as f64 / problem.scale.units;
    let most = (costs.tests.len() * problem.points.len()) as f64 / problem.scale.units;
    ensure(spent <= mean + 1e-12 * mean && mean <= spent + most + 1e-12 * mean, || {
        format!("rows pay {spent}, not {mean}")
    })
}

#[test]
fn made_up_tasks() {
    for_seeds(600, &Options::default(), |case| agrees(case, made_up));
}

#[test]
fn every_task_of_the_registry() {
    for (task, listed) in ADDITIVE.iter().enumerate() {
        for_seeds(300, &Options::default(), |case| {
            agrees(case, |case, rng| {
                let penalty = penalty(rng);
                additive_input(rng, task, case.n_points(), penalty).build()
            })
            .map_err(|why| format!("{}: {why}", listed.name))
        });
    }
}

#[test]
fn the_registry_says_what_its_tasks_are() {
    let mut names: Vec<&str> = ADDITIVE.iter().map(|task| task.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ADDITIVE.len(), "two tasks have one name");
    let rng = &mut Random::new(3);
    for (number, task) in ADDITIVE.iter().enumerate() {
        assert!(task.words.split(' ').count() > 3, "{} has no words", task.name);
        let mut input = additive_input(rng, number, 5, 0.01);
        let said = |input: &AdditiveInput| input.build().err().map(|error| error.to_string());
        assert_eq!(said(&input), None);
        input.n_points += 1;
        assert!(said(&input).is_some(), "{} has a point without numbers", task.name);
        input.n_points -= 1;
        input.columns.insert("tragets".into(), vec![1.0]);
        assert!(said(&input).is_some_and(|said| said.contains("and not tragets")));
        for column in input.columns.values_mut() {
            column[0] = f64::NAN;
        }
        input.columns.remove("tragets");
        assert!(said(&input).is_some(), "{} takes what is no number", task.name);
    }
}

/// Rules for paths with tasks that are sums, and with tasks that are counts.
#[test]
fn any_task_with_rules_for_paths() {
    let options = Options { paths: PathMix::Any, max_points: 10, ..Options::default() };
    for_seeds(600, &options, |case| agrees(case, made_up));
    for_seeds(900, &options, |case| agrees(case, listed));
}

/// Rows that pay for columns, with sums and with counts, alone and with rules for paths.
#[test]
fn any_task_with_feature_costs() {
    let paying = Options { prices: true, max_points: 12, ..Options::default() };
    for_seeds(300, &paying, |case| agrees(case, made_up));
    let by_row = Options { row_prices: true, ..paying.clone() };
    for_seeds(300, &by_row, |case| agrees(case, made_up));
    for_seeds(900, &by_row, |case| agrees(case, listed));
    for (task, listed) in ADDITIVE.iter().enumerate() {
        for_seeds(150, &paying, |case| {
            agrees(case, |case, rng| {
                let penalty = penalty(rng);
                additive_input(rng, task, case.n_points(), penalty).build()
            })
            .map_err(|why| format!("{}: {why}", listed.name))
        });
    }
    let ruled = Options { paths: PathMix::Any, max_points: 10, ..paying };
    for_seeds(200, &ruled, |case| agrees(case, made_up));
    for_seeds(300, &ruled, |case| agrees(case, listed));
}

/// What some points cost as the best tree of so many levels, by what a tree is.
fn best(
    problem: &Problem,
    questions: &[Cut],
    (set, levels): (u64, usize),
    known: &mut HashMap<(u64, usize), Cost>,
) -> Cost {
    if let Some(&cost) = known.get(&(set, levels)) {
        return cost;
    }
    let allowed = sets::rows(problem, set) >= problem.shape.min_leaf_rows || is_free(problem);
    let leaf = sets::leaf(problem, set) + problem.leaf_cost;
    let mut least = if allowed { leaf } else { INFINITE };
    for &question in questions.iter().filter(|_| levels > 0) {
        let sides = sets::sides(problem, set, question);
        let [a, b] = sides.map(|side| best(problem, questions, (side, levels - 1), known));
        least = least.min(a + b);
    }
    known.insert((set, levels), least);
    least
}

fn is_free(problem: &Problem) -> bool {
    problem.shape.min_leaf_rows <= 1
}

/// What a kernel says of both sides of all columns at once, on every instruction set.
fn both_sides_are_best(
    case: &Case,
    build: impl Fn(&Case, &mut Random) -> Result<Scaled>,
) -> std::result::Result<(), String> {
    let rng = &mut Random::new(case.rows.iter().sum::<u64>() * 31 + case.columns.len() as u64);
    let scaled = build(case, rng).map_err(|e| format!("does not build: {e}"))?;
    let points = Points::new(&case.columns, case.codes.clone(), case.rows.clone());
    let points = points.map_err(|e| e.to_string())?;
    let problem = Problem::new(case.columns.clone(), points, scaled, case.shape);
    let problem = problem.map_err(|e| e.to_string())?;
    let task = problem.task.as_ref();
    let bits = BitView::new(&problem.features, &problem.points, task, !is_free(&problem));
    let everything = task.sum_of(&(0..task.n_points() as u32).collect::<Vec<_>>());
    let questions: Vec<Cut> =
        bits.root.columns.iter().map(|&question| bits.questions[question as usize]).collect();
    let min_rows = problem.shape.min_leaf_rows as i64;
    let ask = Ask { min_rows, leaf_cost: problem.leaf_cost, ..Ask::default() };
    let mut known = HashMap::new();
    for levels in [3, 4, 5].into_iter().filter(|_| (2..9).contains(&questions.len())) {
        let should: Vec<[Cost; 2]> = (questions.iter())
            .map(|&question| sets::sides(&problem, sets::all(&problem), question))
            .map(|sides| {
                sides.map(|side| best(&problem, &questions, (side, levels - 1), &mut known))
            })
            .collect();
        for level in Level::all() {
            let mut kernel = Kernel::new(&bits, task, level);
            let (mut look, stumps) = (Lookahead::default(), Ask { stumps: true, ..ask });
            kernel.look(&bits.root, stumps, None, &|| false, &mut look).expect("nobody stops it");
            let knows_how = kernel.bytes_for_both_sides(&bits.root, ask, levels).is_some();
            // Sets of five columns are gone through by rough losses alone.
            let is_rough = task.rough().is_some() && min_rows <= 1;
            ensure(knows_how || levels == 5 && !is_rough, || "it does not".into())?;
            if !knows_how {
                continue;
            }
            let found = kernel.both_sides(&bits.root, ask, levels, &|| false, &look);
            let found = found.expect("nobody stops it").expect("it knows how");
            // What is rough is never above the truth, and hardly below it.
            let slack = if found.are_exact { 0 } else { problem.task.leaf(&everything).cost >> 12 };
            let close = |found: Cost, should: Cost| found <= should && should - found <= slack;
            let pairs = found.costs.as_flattened().iter().zip(should.as_flattened());
            ensure(pairs.clone().all(|(&found, &should)| close(found, should)), || {
                format!("{level:?}, {levels} levels: {found:?}, not {should:?}")
            })?;
        }
    }
    Ok(())
}

#[test]
fn both_sides_of_all_columns_at_once() {
    let options = Options { max_points: 12, ..Options::default() };
    for_seeds(200, &options, |case| both_sides_are_best(case, made_up));
    for_seeds(600, &options, |case| both_sides_are_best(case, listed));
}
