//! Floors: what a search says where it takes for granted that no rows cost less than the sum of
//! their floors. Judged by the oracle under the guess: a leaf costs there what its rows do, or
//! their floors if that is more. More cases: `CERTREE_CASES=20000 cargo test --release --test
//! floors`.

use std::sync::Arc;
use std::time::Duration;

use crate::common::floors::guesses;
use crate::common::judge::{ensure, recompute};
use crate::common::large::{built, noise};
use crate::common::problems::{LossKind, Options};
use crate::common::{Case, Loss, Random, Squares as Rows, for_seeds};
use certree::answer::{go_on, solve};
use certree::cost::Cost;
use certree::guess;
use certree::problem::Problem;
use certree::run::{Limits, Run, Status};
use certree::search::{best_first, brute, intervals};
use certree::task::{Leaf, Scaled, Task};

fn limits(threads: usize) -> Limits {
    Limits { threads, time: Some(Duration::from_secs(60)), ..Limits::default() }
}

/// The task as the guess has it: statistics have the floor behind them.
struct Guessed {
    inner: Box<dyn Task>,
    stats: Vec<i64>,
}

impl Guessed {
    fn new(inner: Box<dyn Task>) -> Guessed {
        let of = |p: usize| inner.stats(p).iter().copied().chain([inner.least(p)]);
        Guessed { stats: (0..inner.n_points()).flat_map(of).collect(), inner }
    }
}

impl Task for Guessed {
    fn n_points(&self) -> usize {
        self.inner.n_points()
    }

    fn width(&self) -> usize {
        self.inner.width() + 1
    }

    fn stats(&self, point: usize) -> &[i64] {
        &self.stats[point * self.width()..][..self.width()]
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
        let leaf = self.inner.leaf(&stats[..self.inner.width()]);
        Leaf { cost: leaf.cost.max(stats[self.inner.width()]), ..leaf }
    }

    fn shown(&self, points: &[u32], stats: &[i64]) -> Vec<f64> {
        self.inner.shown(points, stats)
    }
}

/// This problem with another task.
fn with(of: &Problem, task: Box<dyn Task>) -> Problem {
    let scaled = Scaled {
        task,
        leaf_cost: of.leaf_cost,
        scale: of.scale,
        feature_costs: None,
        stated: None,
    };
    Problem::new(of.columns.clone(), of.points.clone(), scaled, of.shape).expect("it was one")
}

/// The task with floors; none where guesses are made otherwise.
fn floored(problem: &Problem, regrets: &[Cost]) -> Option<Box<dyn Task>> {
    let task = problem.task.as_ref();
    let squares =
        task.structure().squares().map(|squares| Box::new(squares.with_floors(regrets)) as _);
    squares.or_else(|| Some(Box::new(task.structure().classes()?.with_floors(regrets)) as _))
}

fn searches_keep_to_floors(case: &Case) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    let rng = &mut Random::new(case.rows.iter().sum::<u64>() * 64 + case.columns.len() as u64);
    let best = brute::solve(&problem).upper;
    let all = |task: &dyn Task| (0..problem.points.len()).map(|p| task.least(p)).sum::<Cost>();
    for (at, regrets) in guesses(&problem, rng).iter().enumerate() {
        let task = || floored(&problem, regrets);
        let (Some(given), Some(guessed)) = (task(), task()) else { return Ok(()) };
        let sum = all(given.as_ref()) - all(problem.task.as_ref());
        // It breaks the contract of tasks, so that no search takes it: only the oracle does.
        let under_guess = Problem { task: Arc::new(Guessed::new(guessed)), ..problem.clone() };
        let under_guess = brute::solve(&under_guess).upper;
        ensure(best <= under_guess && under_guess <= best + sum, || {
            format!("{best} with floors of {sum} is {under_guess}")
        })?;
        let given = with(&problem, given);
        let run = || Run::new(limits(1 + at % 3), problem.scale, None);
        let mut found = vec![(
            "best first",
            best_first::solve(&given, &run(), &best_first::Options::default()),
        )];
        if intervals::applies(&given) {
            let blocks = [None, Some(2), Some(3)][at % 3];
            let options = intervals::Options { blocks, ..Default::default() };
            found.push(("intervals", intervals::solve(&given, &run(), &options)));
        }
        for (search, found) in found {
            let found = found.map_err(|e| e.to_string())?;
            let (lower, upper) = (found.lower, found.upper);
            ensure(lower == upper && best <= upper && upper <= under_guess, || {
                format!(
                    "{search}: {lower} to {upper}, but {best} is best, {under_guess} if guessed"
                )
            })?;
        }
    }
    Ok(())
}

#[test]
fn searches_end_no_higher_than_the_best_under_the_guess() {
    let options = Options { loss: LossKind::Squares, ..Options::default() };
    for_seeds(100, &options, searches_keep_to_floors);
    for loss in [LossKind::Accuracy, LossKind::CostMatrix] {
        for_seeds(60, &Options { loss, ..Options::default() }, searches_keep_to_floors);
    }
}

/// Steps along two of the columns, and noise.
fn steps(n: usize, columns: usize, cuts: usize, penalty: f64, depth: u32, seed: u64) -> Problem {
    let mut case = noise(n, columns, cuts, 2, seed);
    let rng = &mut Random::new(seed ^ 77);
    let level = |p: usize| {
        let (a, b) = (case.codes[0][p] as usize * 3 / cuts, case.codes[1][p] as usize * 2 / cuts);
        ((a * 5) ^ (b * 3)) as f64
    };
    let targets = (0..n).map(|p| level(p) + rng.unit() * 3.0).collect();
    let (n_outputs, per_point, weights) = (1, 1, vec![1; n]);
    let squares = Rows { n_outputs, per_point, targets, weights, leaf_penalty: penalty };
    case.loss = Loss::Squares(squares);
    built(case, penalty, Some(depth))
}

/// By both searches: what is proved with a guess does not contradict what is proved without.
#[test]
fn guesses_agree_with_proofs_of_larger_problems() {
    for (at, (n, cuts, depth)) in
        [(90, 40, 3), (60, 12, 4), (120, 60, 3), (90, 1, 4)].into_iter().enumerate()
    {
        for penalty in [0.0, 0.01] {
            let columns = if cuts == 1 { 10 } else { 4 };
            let problem = steps(n, columns, cuts, penalty, depth, at as u64);
            let run = || Run::new(limits(2), problem.scale, None);
            let best = solve(&problem, &run()).unwrap();
            assert_eq!(best.status, Status::Optimal);
            let rng = &mut Random::new(at as u64);
            for floors in guesses(&problem, rng) {
                let regrets: Vec<f64> =
                    floors.iter().map(|&floor| floor as f64 / problem.scale.units).collect();
                let (answer, known) = guess::solve(&problem, &regrets, &run()).unwrap();
                assert!(answer.lower_bound <= best.objective && best.objective <= answer.objective);
                assert!(matches!(answer.status, Status::Optimal | Status::OptimalGivenGuess));
                let sum: Cost = floors.iter().sum();
                let cost = recompute(&problem, &known.tree);
                assert!(cost <= recompute(&problem, &best.tree) + sum && cost - known.lower <= sum);
                let (done, _) = go_on(&problem, Some(&known), &run()).unwrap();
                assert_eq!((done.status, done.objective), (Status::Optimal, best.objective));
            }
        }
    }
}

/// No floor is more than its point can cost, and all are no more than all points cost as one leaf.
#[test]
fn floors_are_no_more_than_points_can_cost() {
    let problem = steps(50, 3, 20, 0.01, 3, 9);
    let n = problem.points.len();
    let most: Vec<Cost> = (0..n).map(|p| problem.task.worst(p).expect("known")).collect();
    let all = problem.task.leaf(&problem.stats(0..n)).cost;
    let task = floored(&problem, &vec![Cost::MAX / 64; n]).unwrap();
    assert!((0..n).all(|p| task.least(p) <= most[p]));
    assert_eq!((0..n).map(|p| task.least(p)).sum::<Cost>(), all);
    // Then no tree is taken to be better than a leaf: whichever is found, nothing is known of it.
    let run = Run::new(limits(1), problem.scale, None);
    let (answer, known) = guess::solve(&problem, &vec![1.0; n], &run).unwrap();
    assert!(known.upper <= all + problem.leaf_cost);
    assert_eq!((answer.status, known.lower), (Status::OptimalGivenGuess, problem.leaf_cost));
}
