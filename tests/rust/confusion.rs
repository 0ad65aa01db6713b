//! Losses of the confusion matrix against the list of all trees and labellings.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use crate::common::exhaustive::{Path, splits_below};
use crate::common::judge::ensure;
use crate::common::paths::{PathMix, keeps_rules};
use crate::common::problems::{Options, ShapeMix, random_problem};
use crate::common::whole_costs::{PARTS, WholeCosts};
use crate::common::{Case, Random, cases, for_all};
use certree::confusion::{MatrixInput, MatrixMetric, MatrixProblem, OneClass, OwnLoss};
use certree::data::Points;
use certree::error::Error;
use certree::problem::Problem;
use certree::run::{Limits, Run, Status};
use certree::serial::Writer;
use certree::task::ClassInput;

/// By definition, of weights by class and label.
type Loss = fn(&[f64], usize) -> f64;

struct Judged {
    case: Case,
    input: MatrixInput,
    loss: Loss,
    /// About how far losses are apart.
    size: f64,
    costs: WholeCosts,
}

/// Leaves, weights by class and label, and by class what rows pay for tests.
type Matrix = Vec<i64>;

struct OfMatrix(Loss, usize);

impl OwnLoss for OfMatrix {
    fn loss(&self, matrix: &[f64]) -> f64 {
        (self.0)(matrix, self.1)
    }

    fn failure(&self) -> Option<Error> {
        None
    }

    fn describe(&self, _out: &mut Writer) {}
}

fn total(matrix: &[f64], k: usize, class: usize) -> f64 {
    matrix[class * k..][..k].iter().sum()
}

fn f1(matrix: &[f64], k: usize, class: usize) -> f64 {
    let given: f64 = matrix.iter().skip(class).step_by(k).sum();
    2.0 * matrix[class * k + class] / (total(matrix, k, class) + given)
}

fn macro_f1(matrix: &[f64], k: usize) -> f64 {
    1.0 - (0..k).map(|class| f1(matrix, k, class)).sum::<f64>() / k as f64
}

fn weighted_f1(matrix: &[f64], k: usize) -> f64 {
    let of = |class| total(matrix, k, class) * f1(matrix, k, class);
    1.0 - (0..k).map(of).sum::<f64>() / matrix.iter().sum::<f64>()
}

/// As scikit-learn has it.
fn matthews(matrix: &[f64], k: usize) -> f64 {
    let all: f64 = matrix.iter().sum();
    let right: f64 = (0..k).map(|class| matrix[class * k + class]).sum();
    let given: Vec<f64> = (0..k).map(|label| matrix.iter().skip(label).step_by(k).sum()).collect();
    let of = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let totals: Vec<f64> = (0..k).map(|class| total(matrix, k, class)).collect();
    let under = (all * all - of(&given, &given)) * (all * all - of(&totals, &totals));
    if under < 1e-9 { 1.0 } else { 1.0 - (right * all - of(&given, &totals)) / under.sqrt() }
}

/// Of the second class.
fn f2_of_one(matrix: &[f64], _: usize) -> f64 {
    let hits = 5.0 * matrix[3];
    1.0 - hits / (hits + 4.0 * matrix[2] + matrix[1])
}

fn jaccard_of_one(matrix: &[f64], _: usize) -> f64 {
    1.0 - matrix[3] / (matrix[3] + matrix[2] + matrix[1])
}

/// The worst share of a class that is missed.
fn worst_class(matrix: &[f64], k: usize) -> f64 {
    let missed = |class: usize| 1.0 - matrix[class * k + class] / total(matrix, k, class);
    (0..k).map(missed).fold(0.0, f64::max)
}

/// In a unit of its own, and not above zero.
fn roots(matrix: &[f64], k: usize) -> f64 {
    let cells = (0..k * k).filter(|at| at / k != at % k);
    cells.map(|at| matrix[at].sqrt() * (1 + at) as f64).sum::<f64>() * 100.0 - 5000.0
}

fn judged(seed: u64, paths: PathMix) -> Judged {
    judged_with(seed, (paths, false, false))
}

/// With metrics of one class, too, where tests cost something.
fn judged_with(seed: u64, (paths, has_costs, by_row): (PathMix, bool, bool)) -> Judged {
    let rng = &mut Random::new(seed ^ 0xc0f);
    let limits = rng.pick(&[ShapeMix::Any, ShapeMix::Leaves, ShapeMix::MinRows]);
    let mut case = random_problem(seed, &Options::for_fronts(limits, paths));
    let k = rng.pick(&[2, 3, 3, 4]);
    case.shape.max_depth = Some(rng.range(0, if k == 4 { 2 } else { 3 }) as u32);
    let mut weights: Vec<f64> = Vec::new();
    for rows in &mut case.rows {
        let own: Vec<usize> =
            (0..k).map(|_| if rng.chance(1.6 / k as f64) { rng.range(1, 3) } else { 0 }).collect();
        *rows = own.iter().sum::<usize>().max(1) as u64;
        weights.extend(own.iter().map(|&w| w as f64));
    }
    let losses: [(MatrixMetric, Loss, f64); 5] = [
        (MatrixMetric::MacroF1, macro_f1, 1.0),
        (MatrixMetric::WeightedF1, weighted_f1, 1.0),
        (MatrixMetric::Matthews, matthews, 1.0),
        (MatrixMetric::Own(Arc::new(OfMatrix(worst_class, k))), worst_class, 1.0),
        (MatrixMetric::Own(Arc::new(OfMatrix(roots, k))), roots, 200.0),
    ];
    // The last number is about how far losses are apart.
    let (mut metric, mut loss, size) = losses[rng.below(5)].clone();
    let mut costs = WholeCosts::default();
    if has_costs {
        costs = WholeCosts::random(rng, case.columns.len());
        if by_row {
            costs = costs.by_row(rng, case.n_points());
        }
        if k == 2 && rng.chance(0.7) {
            let one = |b, c, d| MatrixMetric::OfOne(OneClass { class: 1, b, c, d });
            let losses: [(MatrixMetric, Loss); 2] =
                [(one(4.0, 5.0, 1.0), f2_of_one), (one(1.0, 1.0, 0.0), jaccard_of_one)];
            (metric, loss) = losses[rng.below(2)].clone();
        }
    }
    let factors = [1.0, 1.0, 2.0, 0.5];
    let class_weights: Vec<f64> = match rng.chance(0.3) {
        true => (0..k).map(|_| rng.pick(&factors)).collect(),
        false => vec![1.0; k],
    };
    let classes = ClassInput {
        n_classes: k,
        n_labels: k,
        weights,
        costs: (0..k * k).map(|at| f64::from(u8::from(at / k != at % k))).collect(),
        class_weights,
        balanced: rng.chance(0.2),
        leaf_penalty: rng.pick(&[0.0, 0.0, 0.01, 0.05, 0.2]) * size,
    };
    Judged { case, input: MatrixInput { classes, metric }, loss, size, costs }
}

fn all_matrices(
    judged: &Judged,
    problem: &Problem,
    (set, depth, path): (u64, u32, &[usize]),
    memo: &mut HashMap<(u64, u32, Path), HashSet<Matrix>>,
) -> HashSet<Matrix> {
    let key = (set, depth, path.to_vec());
    if let Some(known) = memo.get(&key) {
        return known.clone();
    }
    let ClassInput { n_classes: k, weights, .. } = &judged.input.classes;
    let mut found: HashSet<Matrix> = HashSet::new();
    for label in 0..*k {
        let mut matrix = vec![0; 1 + k * k + k];
        matrix[0] = 1;
        for point in (0..64).filter(|point| set >> point & 1 == 1) {
            for class in 0..*k {
                matrix[1 + class * k + label] += weights[point * k + class] as i64;
            }
        }
        found.insert(matrix);
    }
    let rules = &judged.case.paths;
    let keeps_path = !rules.is_empty() || !judged.costs.is_empty();
    let here = match depth {
        0 => Vec::new(),
        _ => splits_below(problem, set, rules, keeps_path, path),
    };
    for (lefts, rights, below) in here {
        let pays = |class: usize| -> i64 {
            let points = (0..64).filter(|point| set >> point & 1 == 1);
            let paid =
                |p: usize| weights[p * k + class] as i64 * judged.costs.price_at(path, &below, p);
            points.map(paid).sum()
        };
        let a = all_matrices(judged, problem, (lefts, depth - 1, &below), memo);
        let b = all_matrices(judged, problem, (rights, depth - 1, &below), memo);
        for a in &a {
            let mut paid = a.clone();
            (0..*k).for_each(|class| paid[1 + k * k + class] += pays(class));
            let joined = |b: &Matrix| paid.iter().zip(b).map(|(x, y)| x + y).collect::<Matrix>();
            found.extend(b.iter().map(joined));
        }
    }
    memo.insert(key, found.clone());
    found
}

fn check(judged: &Judged, limits: Limits, plane: bool) -> Result<(), String> {
    let Judged { case, input, loss, size, costs } = judged;
    let Case { columns, codes, rows, shape, .. } = case;
    let points = Points::new(columns, codes.clone(), rows.clone()).unwrap();
    let k = input.classes.n_classes;
    let of = |class: usize| input.classes.weights.iter().skip(class).step_by(k).sum::<f64>();
    let given = (input, &costs.list_of(&input.classes.weights, k));
    let built = MatrixProblem::paying(columns.clone(), points.clone(), given, *shape);
    if (0..k).any(|class| of(class) == 0.0) {
        let text = built.err().map(|error| error.to_string()).unwrap_or_default();
        let nothing = text.contains("is not defined") || text.contains("must be positive");
        return ensure(nothing, || text);
    }
    let mut built = built.map_err(|e| e.to_string())?;
    built.plane = plane;
    if let Some(context) = case.context() {
        built = built.with_context(context).map_err(|e| e.to_string())?;
    }
    let scaled = input.classes.build().unwrap();
    let problem = Problem::new(columns.clone(), points, scaled, *shape).unwrap();
    let whole = ((1u64 << case.n_points()) - 1, shape.max_depth.unwrap(), &[][..]);
    let trees = all_matrices(judged, &problem, whole, &mut HashMap::new());
    let factor = |class: usize| match input.classes.balanced {
        true => input.classes.class_weights[class] / of(class),
        false => input.classes.class_weights[class],
    };
    let objective = |tree: &Matrix| {
        let (cells, paid) = tree[1..].split_at(k * k);
        let cells = cells.iter().enumerate();
        let matrix: Vec<f64> = cells.map(|(at, &cell)| cell as f64 * factor(at / k)).collect();
        let weigh = |(class, &x): (usize, &i64)| x as f64 * factor(class);
        let paid: f64 = paid.iter().enumerate().map(weigh).sum();
        let paid = paid / PARTS as f64 / matrix.iter().sum::<f64>();
        loss(&matrix, k) + paid + input.classes.leaf_penalty * tree[0] as f64
    };
    let allowed = |t: &&Matrix| shape.max_leaves.is_none_or(|most| t[0] <= i64::from(most));
    let best = trees.iter().filter(allowed).map(objective).min_by(f64::total_cmp).unwrap();

    let stopped = limits.gap > 0.0 || limits.time.is_some_and(|t| t < Duration::from_secs(1));
    let run = Run::new(limits, built.scale(), None);
    let answer = built.solve(&run).map_err(|e| e.to_string())?;
    let close = |a: f64, b: f64| (a - b).abs() < 5e-11 * size;
    if !stopped {
        ensure(answer.status == Status::Optimal, || format!("{:?}", answer.status))?;
        ensure(close(answer.lower_bound, best), || format!("{} < {best}", answer.lower_bound))?;
    }
    ensure(answer.status != Status::Optimal || close(answer.objective, best), || {
        format!("{} is called optimal, but {best} is", answer.objective)
    })?;
    let (low, high) = (answer.lower_bound, answer.objective);
    ensure(high > best - 5e-11 * size && low < best + 5e-11 * size, || {
        format!("{low} to {high}, but {best}")
    })?;
    ensure(keeps_rules(&case.paths, &answer.tree), || "a path breaks a rule".into())
}

fn unlimited(threads: usize) -> Limits {
    Limits { threads, time: Some(Duration::from_secs(20)), ..Limits::default() }
}

/// `CERTREE_CASES` is for long runs by hand.
#[test]
fn the_best_of_all_matrices() {
    for_all(0..cases(300), |seed| {
        check(&judged(seed, PathMix::None), unlimited(1 + seed as usize % 2), true)
    });
}

#[test]
fn without_a_plane() {
    for_all(100_000..100_000 + cases(100), |seed| {
        check(&judged(seed, PathMix::None), unlimited(1), false)
    });
}

#[test]
fn on_paths() {
    for_all(200_000..200_000 + cases(100), |seed| {
        check(&judged(seed, PathMix::ALL[seed as usize % 5]), unlimited(1), true)
    });
}

#[test]
fn with_feature_costs() {
    for_all(400_000..400_000 + cases(400), |seed| {
        let paths = if seed % 4 == 0 { PathMix::ALL[seed as usize % 5] } else { PathMix::None };
        let time = Duration::from_micros(20 * (seed % 40));
        let limits = match seed % 7 {
            0 => Limits { threads: 1, time: Some(time), ..Limits::default() },
            _ => unlimited(1 + seed as usize % 2),
        };
        // Half of them with prices that differ by row.
        check(&judged_with(seed, (paths, true, seed % 2 == 1)), limits, seed % 5 > 0)
    });
}

#[test]
fn bounds_of_a_search_that_is_stopped_hold() {
    for_all(300_000..300_000 + cases(100), |seed| {
        let time = Duration::from_micros(20 * (seed % 40));
        let limits = Limits { threads: 1, time: Some(time), ..Limits::default() };
        check(&judged(seed, PathMix::None), limits, true)
    });
}

/// More weight is right, and yet the loss is larger.
#[test]
fn a_loss_that_rises_is_refused() {
    let judged = (0..).map(|seed| judged(seed, PathMix::None)).find(|judged| {
        let ClassInput { n_classes: k, weights, .. } = &judged.input.classes;
        (0..*k).all(|class| weights.iter().skip(class).step_by(*k).sum::<f64>() > 0.0)
    });
    let Judged { case, mut input, .. } = judged.unwrap();
    let k = input.classes.n_classes;
    let rises = |matrix: &[f64], k: usize| (0..k).map(|class| matrix[class * k + class]).sum();
    input.metric = MatrixMetric::Own(Arc::new(OfMatrix(rises, k)));
    let points = Points::new(&case.columns, case.codes.clone(), case.rows.clone()).unwrap();
    let text = MatrixProblem::new(case.columns, points, &input, case.shape).err().unwrap();
    assert!(text.to_string().contains("must not rise"), "{text}");
}
