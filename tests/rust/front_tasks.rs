//! Partly ordered tasks against the list of all trees: the best one, and the whole front, with and
//! without relaxations.
//!
//! More cases: `CERTREE_CASES=5000 cargo test --release --test all front_tasks`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::time::Duration;

use crate::common::exhaustive::{Path, splits};
use crate::common::front_kinds::{KINDS, Kind, Made, UNIT, Value};
use crate::common::judge::ensure;
use crate::common::paths::{PathMix, PathRule, keeps_rules};
use crate::common::problems::{Options, ShapeMix};
use crate::common::{Case, Random, cases, for_all, random_problem};
use crate::front_contract::refused;
use certree::bounds::Decisions;
use certree::check;
use certree::cost::{Cost, INFINITE};
use certree::data::{Column, ColumnKind, Points};
use certree::error::Error;
use certree::pareto::{FrontProblem, solve_front, whole_front};
use certree::problem::{Problem, Shape};
use certree::route::Route;
use certree::run::{Limits, Pace, Run, Status};
use certree::search::fronts::{self, Candidate, Front, Start};
use certree::task::{ClassInput, FrontTask, RowCosts, Scaled, testing};

/// Values of all trees, with their leaves.
type Reached = BTreeSet<(Value, u32)>;

/// The list of all trees: no value is dropped for another one.
struct Oracle<'a, T> {
    problem: &'a Problem,
    task: &'a T,
    rules: &'a [PathRule],
    memo: HashMap<(u64, u32, Path), Reached>,
}

impl<T: FrontTask<Value = Value>> Oracle<'_, T> {
    fn reach(&mut self, set: u64, depth: u32, path: &[usize]) -> Reached {
        let depth = depth.min(set.count_ones() - 1);
        let key = (set, depth, path.to_vec());
        if let Some(known) = self.memo.get(&key) {
            return known.clone();
        }
        let points: Vec<u32> = (0..64).filter(|point| set >> point & 1 == 1).collect();
        let mut found = Reached::new();
        self.task.leaf(&self.task.sum_of(&points), &mut |_, value| {
            found.insert((value, 1));
        });
        if depth > 0 {
            for (left, right, path) in splits(self.problem, set, self.rules, path) {
                let (lefts, rights) =
                    (self.reach(left, depth - 1, &path), self.reach(right, depth - 1, &path));
                for (a, n) in &lefts {
                    for (b, m) in &rights {
                        found.insert((self.task.join(a, b), n + m));
                    }
                }
            }
        }
        self.memo.insert(key, found.clone());
        found
    }

    /// The allowed values of whole trees.
    fn whole(&mut self) -> Reached {
        let shape = self.problem.shape;
        let all = (1 << self.problem.points.len()) - 1;
        let mut found = self.reach(all, shape.max_depth.unwrap_or(u32::MAX), &[]);
        let few = |leaves: u32| shape.max_leaves.is_none_or(|most| leaves <= most);
        found.retain(|(value, leaves)| {
            few(*leaves) && self.task.feasible(value) && self.task.cost(value).is_some()
        });
        found
    }
}

struct Drawn {
    case: Case,
    task: Made,
    leaf_cost: Cost,
}

fn drawn(seed: u64, kind: Kind) -> Drawn {
    drawn_on(seed, kind, PathMix::None)
}

fn drawn_on(seed: u64, kind: Kind, paths: PathMix) -> Drawn {
    let rng = &mut Random::new(seed ^ 0xf407);
    let limits = rng.pick(&[ShapeMix::Any, ShapeMix::Leaves, ShapeMix::MinRows]);
    let options = Options {
        min_points: 2,
        max_points: 7,
        max_columns: 4,
        limits,
        paths,
        ..Options::default()
    };
    let mut case = random_problem(seed, &options);
    case.shape.max_depth = Some(rng.range(0, 3) as u32);
    let task = Made::random(kind, case.n_points(), rng);
    let leaf_cost = rng.pick(&[0, 0, 1, task.total() / 10]);
    Drawn { case, task, leaf_cost }
}

impl Drawn {
    fn points(&self) -> Points {
        let Case { columns, codes, rows, .. } = &self.case;
        Points::new(columns, codes.clone(), rows.clone()).unwrap()
    }

    fn problem(&self, task: Made, relaxation: Option<Scaled>) -> Result<FrontProblem<Made>, Error> {
        let (columns, points) = (self.case.columns.clone(), self.points());
        let problem = FrontProblem::new(columns, points, task, UNIT, self.case.shape)?;
        let problem = problem.with_leaf_cost(self.leaf_cost)?;
        // A context may come before a relaxation or after it.
        let ruled = |problem: FrontProblem<Made>, now: bool| match self.case.context() {
            Some(context) if now => problem.with_context(context),
            _ => Ok(problem),
        };
        let first = self.case.n_points().is_multiple_of(2);
        let problem = ruled(problem, first)?;
        let problem = match relaxation {
            Some(relaxation) => problem.with_relaxation(relaxation)?,
            None => problem,
        };
        ruled(problem, !first)
    }

    fn oracle(&self) -> Reached {
        let problem = self.case.problem().unwrap();
        let (task, rules) = (&self.task, &self.case.paths);
        Oracle { problem: &problem, task, rules, memo: HashMap::new() }.whole()
    }

    fn cost(&self, (value, leaves): &(Value, u32)) -> Cost {
        self.task.cost(value).unwrap() + self.leaf_cost * Cost::from(*leaves)
    }
}

fn run(threads: usize) -> Run<'static> {
    let time = Some(Duration::from_secs(60));
    Run::new(Limits { threads, time, ..Limits::default() }, UNIT, None)
}

fn best_agrees(
    drawn: &Drawn,
    problem: &FrontProblem<Made>,
    best: Option<Cost>,
    threads: usize,
) -> Result<(), String> {
    let found = solve_front(problem, &run(threads));
    let Some(best) = best else {
        let refused = |e: &Error| e.to_string().contains("allows no tree");
        return ensure(found.as_ref().is_err_and(refused), || "a tree was found".into());
    };
    let found = found.map_err(|e| e.to_string())?;
    let answer = &found.answer;
    ensure(answer.objective == best as f64, || format!("truth {best} got {}", answer.objective))?;
    ensure(answer.status == Status::Optimal && answer.lower_bound == best as f64, || {
        format!("truth {best} got {:?}, lower {}", answer.status, answer.lower_bound)
    })?;
    ensure(answer.route == Route::Fronts, || format!("{:?}", answer.route))?;
    let leaves = answer.tree.n_leaves() as u32;
    let shape = drawn.case.shape;
    ensure(shape.max_leaves.is_none_or(|most| leaves <= most), || format!("{leaves} leaves"))?;
    ensure(keeps_rules(&drawn.case.paths, &answer.tree), || "a path breaks a rule".into())?;
    ensure(drawn.cost(&(found.value.clone(), leaves)) == best, || "another value".into())?;
    let labels = check::labels(&answer.tree, &drawn.case.columns, &drawn.points());
    ensure(labels.len() == drawn.case.n_points(), || "a point has no label".into())
}

/// The oracle's values without those that another one dominates, and the search's, are the same.
fn front_agrees(
    drawn: &Drawn,
    problem: &FrontProblem<Made>,
    all: &Reached,
    threads: usize,
) -> Result<(), String> {
    let whole = whole_front(problem, &run(threads)).map_err(|e| e.to_string())?;
    ensure(whole.status == Status::Optimal, || format!("{:?}", whole.status))?;
    let counts = drawn.leaf_cost > 0;
    let key = |(value, leaves): &(Value, u32)| (value.clone(), if counts { *leaves } else { 0 });
    let dominated = |b: &(Value, u32)| {
        all.iter()
            .map(key)
            .any(|a| a != key(b) && drawn.task.no_worse(&a.0, &b.0) && (!counts || a.1 <= b.1))
    };
    let wanted: Reached = all.iter().filter(|b| !dominated(b)).map(key).collect();
    let mut found: Vec<(Value, u32)> = Vec::new();
    for tree in &whole.trees {
        let leaves = tree.tree.n_leaves() as u32;
        found.push(key(&(tree.value.clone(), leaves)));
        let cost = drawn.cost(&(tree.value.clone(), leaves));
        ensure(tree.objective == cost as f64, || format!("{} is no {cost}", tree.objective))?;
    }
    let n = found.len();
    let found: Reached = found.into_iter().collect();
    ensure(found == wanted && n == wanted.len(), || format!("{found:?} is not {wanted:?}"))
}

fn agrees(seed: u64, kind: Kind) -> Result<(), String> {
    agrees_on(seed, kind, PathMix::None)
}

fn agrees_on(seed: u64, kind: Kind, paths: PathMix) -> Result<(), String> {
    let drawn = drawn_on(seed, kind, paths);
    testing::obeys_front(&drawn.task).map_err(|e| e.to_string())?;
    let all = drawn.oracle();
    let best = all.iter().map(|reached| drawn.cost(reached)).min();
    let problem = drawn.problem(drawn.task.clone(), None).map_err(|e| e.to_string())?;
    for threads in [1, 3] {
        best_agrees(&drawn, &problem, best, threads)?;
        front_agrees(&drawn, &problem, &all, threads)?;
    }
    let rng = &mut Random::new(seed);
    for which in 0..5 {
        let mut task = drawn.task.clone();
        let Some(relaxation) = task.relaxation(which, rng) else { continue };
        let problem = drawn.problem(task, Some(relaxation));
        let problem = problem.map_err(|e| format!("relaxation {which}: {e}"))?;
        for threads in [1, 2] {
            best_agrees(&drawn, &problem, best, threads)
                .map_err(|e| format!("relaxation {which}: {e}"))?;
        }
    }
    Ok(())
}

#[test]
fn minimax_group_errors() {
    for_all(0..cases(500), |seed| agrees(seed, Kind::GroupErrors));
}

#[test]
fn false_positives_and_negatives() {
    for_all(0..cases(500), |seed| agrees(seed, Kind::TwoErrors));
}

#[test]
fn losses_under_a_cap() {
    for_all(0..cases(500), |seed| agrees(seed, Kind::Capped));
}

#[test]
fn spreads() {
    for_all(0..cases(500), |seed| agrees(seed, Kind::Spread));
}

#[test]
fn any_front_with_rules_for_paths() {
    for (at, kind) in KINDS.into_iter().enumerate() {
        let first = 100_000 + 100_000 * at as u64;
        for_all(first..first + cases(500), |seed| {
            let paths = PathMix::ALL[seed as usize % PathMix::ALL.len()];
            agrees_on(seed, kind, paths)
        });
    }
}

/// A front over a relaxation that somebody else wrote, straight on the search: nothing is ever
/// needless.
struct Bare {
    /// Labels and their loss for a unit of each statistic.
    losses: Vec<Vec<Cost>>,
}

impl Bare {
    fn loss(&self, label: usize, sums: &[i64]) -> Cost {
        self.losses[label].iter().zip(sums).map(|(loss, sum)| loss * sum).sum()
    }
}

impl Front for Bare {
    type Value = Vec<Cost>;

    fn leaf(&self, sums: &[i64], push: &mut dyn FnMut(u32, Cost, Vec<Cost>)) {
        for label in 0..self.losses.len() {
            let loss = self.loss(label, sums);
            let mut by_label = vec![0; self.losses.len()];
            by_label[label] = loss;
            push(label as u32, loss, by_label);
        }
    }

    fn join(&self, a: &Vec<Cost>, b: &Vec<Cost>) -> Vec<Cost> {
        a.iter().zip(b).map(|(a, b)| a + b).collect()
    }

    fn drop_needless(
        &self,
        _sums: &[i64],
        _list: &mut Vec<Candidate<Vec<Cost>>>,
        _decided: &mut Decisions,
        _pace: &mut Pace,
    ) {
    }

    /// The dearest label counts twice: no less than all losses.
    fn cost(&self, value: &Vec<Cost>, _leaves: u32) -> Option<Cost> {
        Some(value.iter().sum::<Cost>() + value.iter().max()?)
    }

    fn budget(&self, upper: Cost) -> Cost {
        upper - 1
    }

    fn at_least(&self, bound: Cost) -> Cost {
        bound
    }
}

/// The best tree of a bare front is that of the list of all trees.
fn bare_agrees(problem: &Problem, bare: &Bare) -> Result<(), String> {
    /// A bare front as the oracle takes it.
    struct Listed<'a>(&'a Problem, &'a Bare);
    impl FrontTask for Listed<'_> {
        type Value = Vec<Cost>;
        fn n_points(&self) -> usize {
            self.0.points.len()
        }
        fn width(&self) -> usize {
            self.0.task.width()
        }
        fn stats(&self, point: usize) -> &[i64] {
            self.0.task.stats(point)
        }
        fn leaf(&self, sums: &[i64], push: &mut dyn FnMut(u32, Vec<Cost>)) {
            self.1.leaf(sums, &mut |label, _, value| push(label, value));
        }
        fn join(&self, a: &Vec<Cost>, b: &Vec<Cost>) -> Vec<Cost> {
            self.1.join(a, b)
        }
        fn no_worse(&self, a: &Vec<Cost>, b: &Vec<Cost>) -> bool {
            a == b
        }
        fn cost(&self, value: &Vec<Cost>) -> Option<Cost> {
            self.1.cost(value, 0)
        }
    }
    let listed = Listed(problem, bare);
    let all = Oracle { problem, task: &listed, rules: &[], memo: HashMap::new() }.whole();
    let truth = all.iter().filter_map(|(value, _)| listed.cost(value)).min().unwrap();
    let start = Start { upper: INFINITE, lower: 0, shown: truth };
    let (best, lower) = fronts::solve(problem, bare, start, &run(1)).map_err(|e| e.to_string())?;
    let cost = best.map(|best| best.cost);
    ensure((cost, lower) == (Some(truth), truth), || {
        format!("truth {truth} got {cost:?}, lower {lower}")
    })
}

#[test]
fn relaxations_with_weight_in_every_class() {
    for_all(0..cases(300), |seed| {
        let Drawn { case, task, .. } = drawn(seed, Kind::TwoErrors);
        let input = ClassInput {
            n_classes: 2,
            n_labels: 2,
            weights: task.stats.iter().map(|&s| s as f64).collect(),
            costs: vec![0.0, 1.0, 1.0, 0.0],
            class_weights: vec![1.0; 2],
            balanced: false,
            leaf_penalty: 0.0,
        };
        let Ok(scaled) = input.build() else { return Ok(()) };
        let points = Points::new(&case.columns, case.codes, case.rows).unwrap();
        let problem = Problem::new(case.columns, points, scaled, case.shape).unwrap();
        let classes = problem.task.structure().classes().expect("whole weights").clone();
        let loss = |label: usize| (0..2).map(|class| classes.cost(class, label)).collect();
        bare_agrees(&problem, &Bare { losses: vec![loss(0), loss(1)] })
    });
}

#[test]
fn relaxations_by_rows() {
    for_all(0..cases(300), |seed| {
        let Drawn { case, task, .. } = drawn(seed, Kind::Capped);
        let costs: Vec<f64> =
            (task.stats.chunks(4)).flat_map(|s| s[..3].iter().map(|&s| s as f64)).collect();
        let scaled = RowCosts::build(3, &costs, 1.0, 0.0, None).unwrap();
        let points = Points::new(&case.columns, case.codes, case.rows).unwrap();
        let problem = Problem::new(case.columns, points, scaled, case.shape).unwrap();
        let losses = (0..3).map(|label| (0..3).map(|l| Cost::from(l == label)).collect());
        bare_agrees(&problem, &Bare { losses: losses.collect() })
    });
}

/// Limits and threads on more rows: whatever ends a search, what it says holds.
#[test]
fn stopped_searches_say_what_is_true() {
    for seed in 0..20 {
        let rng = &mut Random::new(seed);
        let n = 40;
        let column =
            |c| Column { name: format!("c{c}"), kind: ColumnKind::Boolean, missing: false };
        let columns: Vec<Column> = (0..6).map(column).collect();
        let codes: Vec<Vec<u32>> =
            (0..6).map(|_| (0..n).map(|_| rng.below(2) as u32).collect()).collect();
        let points = Points::new(&columns, codes, vec![1; n]).unwrap();
        let mut task = Made::random(Kind::GroupErrors, n, rng);
        let relaxation = task.relaxation(2, rng).filter(|_| seed % 2 == 0);
        let shape = Shape { max_depth: Some(3), ..Shape::default() };
        let problem = FrontProblem::new(columns, points, task, UNIT, shape).unwrap();
        let problem = match relaxation {
            Some(relaxation) => problem.with_relaxation(relaxation).unwrap(),
            None => problem,
        };
        let best = solve_front(&problem, &run(2)).unwrap().answer;
        assert_eq!(best.status, Status::Optimal);
        for limits in [
            Limits { time: Some(Duration::from_micros(300)), ..Limits::default() },
            Limits { memory: Some(300_000), ..Limits::default() },
            Limits { memory: Some(3_000_000), threads: 2, ..Limits::default() },
            Limits { gap: best.objective / 3.0, threads: 2, ..Limits::default() },
        ] {
            let found =
                solve_front(&problem, &Run::new(limits.clone(), UNIT, None)).unwrap().answer;
            assert!(found.lower_bound <= best.objective, "{seed}: {limits:?}");
            assert!(found.objective >= best.objective, "{seed}: {limits:?}");
            let whole = whole_front(&problem, &Run::new(limits, UNIT, None)).unwrap();
            let least = whole.trees.first().map(|tree| tree.objective);
            assert!(least.is_none_or(|least| least >= best.objective));
            assert!(whole.status != Status::Optimal || least == Some(best.objective));
        }
    }
}

#[test]
fn relaxations_that_do_not_bound_are_refused() {
    let rng = &mut Random::new(5);
    for kind in [Kind::TwoErrors, Kind::GroupErrors, Kind::Capped] {
        for which in [2, 3] {
            let case =
                || (0..).map(|seed| drawn(seed, kind)).find(|d| d.task.total() > 30).unwrap();
            // A bound by label that is below the relaxation's best answer.
            let drawn = case();
            let mut task = drawn.task.clone();
            let relaxation = task.relaxation(2, rng).unwrap();
            let low = Low { of: task, by: 1 };
            refused(low_problem(&drawn, low, relaxation), "a leaf's bound is at least");
            // Costs that are said to be higher than they are.
            let mut task = drawn.task.clone();
            let relaxation = task.relaxation(which, rng).unwrap();
            let claims = Claims { of: task, by: 1_000_000 };
            refused(claims_problem(&drawn, claims, relaxation), "in the relaxation");
        }
    }
}

macro_rules! passed_on {
    ($name:ident, $bound:expr, $at_least:expr) => {
        struct $name {
            of: Made,
            by: Cost,
        }

        impl FrontTask for $name {
            type Value = Value;
            fn n_points(&self) -> usize {
                self.of.n_points()
            }
            fn width(&self) -> usize {
                self.of.width
            }
            fn stats(&self, point: usize) -> &[i64] {
                self.of.stats(point)
            }
            fn leaf(&self, sums: &[i64], push: &mut dyn FnMut(u32, Value)) {
                self.of.leaf(sums, push)
            }
            fn join(&self, a: &Value, b: &Value) -> Value {
                self.of.join(a, b)
            }
            fn no_worse(&self, a: &Value, b: &Value) -> bool {
                self.of.no_worse(a, b)
            }
            fn cost(&self, value: &Value) -> Option<Cost> {
                self.of.cost(value)
            }
            fn bound(&self, sums: &[i64], label: u32, value: &Value) -> Option<Cost> {
                $bound(self, sums, label, value)
            }
            fn at_least(&self, bound: Cost) -> Cost {
                $at_least(self, bound)
            }
            fn budget(&self, upper: Cost) -> Cost {
                self.of.budget(upper)
            }
        }
    };
}

passed_on!(Low, |own: &Low, _: &[i64], _, _: &Value| Some(-own.by), |own: &Low, bound| own
    .of
    .at_least(bound));
passed_on!(
    Claims,
    |own: &Claims, sums: &[i64], label, value: &Value| own.of.bound(sums, label, value),
    |own: &Claims, bound| own.of.at_least(bound) + own.by
);

fn low_problem(drawn: &Drawn, task: Low, relaxed: Scaled) -> Result<FrontProblem<Low>, Error> {
    let (columns, points) = (drawn.case.columns.clone(), drawn.points());
    FrontProblem::new(columns, points, task, UNIT, drawn.case.shape)?.with_relaxation(relaxed)
}

fn claims_problem(
    drawn: &Drawn,
    task: Claims,
    relaxed: Scaled,
) -> Result<FrontProblem<Claims>, Error> {
    let (columns, points) = (drawn.case.columns.clone(), drawn.points());
    FrontProblem::new(columns, points, task, UNIT, drawn.case.shape)?.with_relaxation(relaxed)
}

#[test]
fn progress_is_told_and_a_run_can_be_interrupted() {
    let seen = Mutex::new(0);
    let drawn = (0..).map(|seed| drawn(seed, Kind::TwoErrors)).find(|d| d.case.n_points() > 5);
    let drawn = drawn.unwrap();
    let pulse = |_: &_| {
        *seen.lock().unwrap() += 1;
        false
    };
    let problem = drawn.problem(drawn.task.clone(), None).unwrap();
    let run = Run::new(Limits::default(), UNIT, Some(Box::new(pulse)));
    std::thread::sleep(Duration::from_millis(60));
    let found = solve_front(&problem, &run).unwrap().answer;
    assert!(found.lower_bound <= found.objective);
    assert_eq!(*seen.lock().unwrap(), 1);
}
