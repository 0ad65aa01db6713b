//! Problems and plans as bytes: they come back as they were, and damage is found.
//!
//! More cases: `CERTREE_CASES=5000 cargo test --release --test all serial`.

use std::sync::Arc;

use crate::common::additive_inputs::any_additive_input;
use crate::common::damage::{HEADER, damaged, sealed};
use crate::common::judge::ensure;
use crate::common::limited::limited;
use crate::common::paths::{PathMix, keeps_path_rules, random_path_rules};
use crate::common::problems::{LossKind, Options};
use crate::common::{Case, Loss, Random, cases, for_all, random_problem};
use certree::answer::Answer;
use certree::confusion::{MatrixInput, MatrixMetric};
use certree::data::Points;
use certree::error::{Error, Result as Built};
use certree::ids::FeatureId;
use certree::metric::{Metric, MetricInput};
use certree::pareto::LimitInput;
use certree::posed::{
    ConstraintInput, Counted, Goal, OwnGoal, PathRule, ProblemInput, RankingAreaInput,
    RowCostInput, path_rules,
};
use certree::run::Limits;
use certree::serial::{self, Kind, Writer};
use certree::task::{ClassInput, Scaled};
use certree::tree::Plan;

/// The columns and points of a case, with a goal.
fn posed(case: &Case, goal: Goal) -> ProblemInput {
    ProblemInput {
        columns: case.columns.clone(),
        points: Points::new(&case.columns, case.codes.clone(), case.rows.clone()).unwrap(),
        goal,
        shape: case.shape,
        constraints: None,
        feature_costs: None,
        path_rules: Vec::new(),
        regrets: None,
        after: Vec::new(),
    }
}

fn weights(rng: &mut Random, n: usize) -> Vec<f64> {
    let whole = rng.chance(0.6);
    let weight = |rng: &mut Random| if whole { rng.below(4) as f64 } else { 3.0 * rng.unit() };
    let mut weights: Vec<f64> = (0..n).map(|_| weight(rng)).collect();
    weights[0] += 1.0;
    weights
}

fn class_input(rng: &mut Random, n: usize, k: usize) -> ClassInput {
    ClassInput {
        n_classes: k,
        n_labels: k,
        weights: weights(rng, n * k),
        costs: (0..k * k).map(|at| f64::from(u8::from(at / k != at % k))).collect(),
        class_weights: vec![1.0; k],
        balanced: false,
        leaf_penalty: rng.pick(&[0.0, 0.01, 0.05]),
    }
}

fn row_costs(case: &Case, n_labels: usize, costs: &[f64], penalty: f64) -> RowCostInput {
    RowCostInput {
        n_labels,
        costs: costs.to_vec(),
        weights: case.row_weights(),
        size: costs.iter().map(|cost| cost.abs()).sum(),
        normalizer: case.rows.iter().sum::<u64>() as f64,
        leaf_penalty: penalty,
    }
}

/// A goal of the loss of a case.
fn goal_of(case: &Case) -> Goal {
    match &case.loss {
        Loss::Classes(input) => Goal::Classes(Arc::new(input.clone())),
        Loss::Rows { n_labels, costs, leaf_penalty, .. } => {
            Goal::RowCosts(Arc::new(row_costs(case, *n_labels, costs, *leaf_penalty)))
        }
        Loss::Squares(squares) => Goal::Squares(Arc::new(squares.input())),
    }
}

/// Any goal, with what it can be combined with; every third one with rules for paths.
pub fn random_input(seed: u64) -> ProblemInput {
    let mut input = random_goal(seed);
    let n = input.columns.len();
    if n > 0 && seed % 3 == 1 {
        input.path_rules = random_path_rules(&mut Random::new(seed ^ 0x9a7), n);
        if path_rules::context(&input.path_rules, &input.columns).is_err() {
            input.path_rules = vec![PathRule::MostColumns(1)];
        }
    }
    input
}

fn random_goal(seed: u64) -> ProblemInput {
    let rng = &mut Random::new(seed ^ 0x5e71a1);
    let prices = rng.chance(0.3);
    let row_prices = prices && seed.is_multiple_of(2);
    let options = Options { prices, row_prices, max_points: 12, ..Options::default() };
    let mut case = random_problem(seed, &options);
    // Values that are only partly ordered take long without a limit of depth.
    let shallow =
        |case: &mut Case| case.shape.max_depth = Some(case.shape.max_depth.unwrap_or(3).min(3));
    let n = case.n_points();
    match seed % 10 {
        0 | 1 => {
            let mut input = posed(&case, goal_of(&case));
            let free = case.prices.tests.is_empty();
            input.feature_costs = (!free).then(|| case.prices.clone());
            if free && rng.chance(0.3) {
                input.regrets = Some((0..n).map(|_| 0.1 * rng.unit()).collect());
            }
            input
        }
        2 => {
            let limited = limited(seed, 2, PathMix::None);
            let limits = limited.limit_inputs();
            let goal = Goal::Classes(Arc::new(limited.input));
            let counted = Counted::Classes { class_of: limited.class_of };
            let constraints = Some(ConstraintInput { limits, counted });
            ProblemInput { constraints, ..posed(&limited.case, goal) }
        }
        3 => {
            shallow(&mut case);
            let costs = weights(rng, 2 * n);
            let goal = Goal::RowCosts(Arc::new(row_costs(&case, 2, &costs, 0.01)));
            let against: &[u32] = if rng.chance(0.5) { &[1] } else { &[] };
            let most = rng.pick(&[0.1, 0.5]);
            let limit = LimitInput {
                is_strict: rng.chance(0.2),
                ..LimitInput::of_shares("one group".into(), 1, &[0], against, most)
            };
            let counted = Counted::Groups { n_groups: 2, weights: weights(rng, 2 * n) };
            let constraints = Some(ConstraintInput { limits: vec![limit], counted });
            ProblemInput { constraints, ..posed(&case, goal) }
        }
        4 => {
            shallow(&mut case);
            let metrics = [MatrixMetric::MacroF1, MatrixMetric::WeightedF1, MatrixMetric::Matthews];
            let metric = metrics[rng.below(3)].clone();
            let k = rng.range(2, 3);
            let classes = class_input(rng, n, k);
            posed(&case, Goal::Matrix(Arc::new(MatrixInput { classes, metric })))
        }
        5 => {
            shallow(&mut case);
            let metric = rng.pick(&[Metric::FBeta(0.5), Metric::Jaccard, Metric::Matthews]);
            let classes = class_input(rng, n, 2);
            let input = MetricInput { classes, metric, positive: rng.below(2) };
            posed(&case, Goal::Metric(Arc::new(input)))
        }
        6 => {
            shallow(&mut case);
            let input = RankingAreaInput {
                weights: weights(rng, 2 * n),
                positive: rng.below(2),
                max_fpr: rng.pick(&[1.0, 0.3]),
                leaf_penalty: 0.02,
            };
            posed(&case, Goal::RankingArea(Arc::new(input)))
        }
        _ => {
            let penalty = rng.pick(&[0.0, 0.01, 0.05]);
            let goal = Goal::Additive(Arc::new(any_additive_input(rng, n, penalty)));
            let costs = case.prices_without_classes();
            let feature_costs = (!costs.tests.is_empty()).then_some(costs);
            ProblemInput { feature_costs, ..posed(&case, goal) }
        }
    }
}

/// All of an answer but how long it took, and what of constraints it attains.
fn solved(input: &ProblemInput) -> Result<(Answer, Vec<f64>), String> {
    let solve = || -> Built<_> {
        let problem = input.build()?;
        let run = problem.run(Limits { threads: 1, ..Limits::default() }, None);
        let (answer, _, attained) = problem.solve(&run, None)?;
        Ok((answer, attained))
    };
    solve().map_err(|error| error.to_string())
}

fn comes_back(seed: u64) -> Result<(), String> {
    let input = random_input(seed);
    let name = input.goal.name();
    let with = |why: &str| format!("{name}: {why}");
    let bytes = input.to_bytes().map_err(|e| e.to_string())?;
    let again = ProblemInput::from_bytes(&bytes).map_err(|e| with(&e.to_string()))?;
    ensure(again.to_bytes().as_ref() == Ok(&bytes), || with("other bytes"))?;
    ensure(again.digest() == input.digest(), || with("another digest"))?;
    match (solved(&input), solved(&again)) {
        (Ok((one, met)), Ok((other, met_again))) => {
            ensure(one.tree == other.tree, || with("another tree"))?;
            ensure(keeps_path_rules(&input, &one.tree), || with("a path breaks a rule"))?;
            ensure(met == met_again, || with("other shares"))?;
            let numbers = |answer: &Answer| {
                let [objective, bound] = [answer.objective, answer.lower_bound].map(f64::to_bits);
                (objective, bound, answer.status, answer.work.nodes, answer.work.kernel_calls)
            };
            ensure(numbers(&one) == numbers(&other), || with("another certificate or work"))
        }
        (one, other) => {
            ensure(one.is_err() && one.err() == other.err(), || with("another outcome"))
        }
    }
}

#[test]
fn problems_come_back_with_their_answers_and_their_work() {
    for_all(0..cases(600), comes_back);
}

#[test]
fn what_is_in_a_problem_is_in_its_digest() {
    let options = Options { loss: LossKind::Accuracy, min_points: 4, ..Options::default() };
    let case = random_problem(3, &options);
    let input = posed(&case, goal_of(&case));
    let changed = |change: &dyn Fn(&mut ProblemInput)| {
        let mut other = input.clone();
        change(&mut other);
        other.digest()
    };
    let Goal::Classes(classes) = &input.goal else { unreachable!("accuracy has classes") };
    let penalty = ClassInput { leaf_penalty: 0.123, ..classes.as_ref().clone() };
    let mut rows = input.points.all_rows().to_vec();
    rows[0] += 1;
    let points = Points::new(&case.columns, case.codes.clone(), rows).unwrap();
    assert_eq!(changed(&|_| {}), input.digest());
    assert_eq!(changed(&|other| other.shape.max_depth = Some(17)), input.digest());
    for change in [
        &|other: &mut ProblemInput| other.goal = Goal::Classes(Arc::new(penalty.clone())),
        &|other: &mut ProblemInput| other.points = points.clone(),
        &|other: &mut ProblemInput| other.columns[0].name.push('x'),
        &|other: &mut ProblemInput| other.path_rules.push(PathRule::MostColumns(1)),
    ] as [&dyn Fn(&mut ProblemInput); 4]
    {
        assert_ne!(changed(change), input.digest());
    }
}

struct Own;

impl OwnGoal for Own {
    fn row_weights(&self) -> &[f64] {
        &[]
    }

    fn build(&self) -> Built<Scaled> {
        Err(Error::invalid("this goal is never built"))
    }

    fn describe(&self, out: &mut Writer) {
        out.number(7);
    }
}

#[test]
fn tasks_that_are_code_are_refused() {
    let case = random_problem(1, &Options::default());
    let error = posed(&case, Goal::Custom(Arc::new(Own))).to_bytes().unwrap_err().to_string();
    assert!(error.contains("a task of your own is code, which cannot be saved"), "{error}");
}

fn random_plan(rng: &mut Random, depth: u32) -> Plan {
    if depth == 0 || rng.chance(0.2) {
        return Plan::Leaf;
    }
    let (feature, cut) = (rng.pick(&[0, 3, 1000, u32::MAX]), rng.pick(&[0, 1, 300, u32::MAX]));
    let (left, right) = (random_plan(rng, depth - 1), random_plan(rng, depth - 1));
    Plan::split(FeatureId(feature), cut, left, right)
}

#[test]
fn plans_come_back() {
    for_all(0..cases(300), |seed| {
        let plan = random_plan(&mut Random::new(seed), seed as u32 % 8);
        let bytes = plan.to_bytes().map_err(|e| e.to_string())?;
        ensure(Plan::from_bytes(&bytes) == Ok(plan), || "another plan".into())
    });
}

#[test]
fn plans_that_are_too_deep_to_walk_are_refused() {
    let chain = |depth: u32| {
        let split = |plan, _| Plan::split(FeatureId(0), 0, Plan::Leaf, plan);
        (0..depth).fold(Plan::Leaf, split)
    };
    assert!(Plan::from_bytes(&chain(1024).to_bytes().unwrap()).is_ok());
    let error = chain(1025).to_bytes().unwrap_err().to_string();
    assert!(error.contains("deeper than 1024"), "{error}");
    let mut out = Writer::new();
    (0..100_000).for_each(|_| [1, 0].into_iter().for_each(|number| out.number(number)));
    let error = Plan::from_bytes(&serial::seal(Kind::Plan, out)).unwrap_err().to_string();
    assert!(error.contains("deeper than 1024"), "{error}");
}

#[test]
fn damage_is_an_error_and_never_a_panic() {
    for_all(0..cases(400), |seed| {
        let rng = &mut Random::new(seed);
        let problem = random_input(seed).to_bytes().map_err(|e| e.to_string())?;
        let plan = random_plan(rng, 5).to_bytes().map_err(|e| e.to_string())?;
        for _ in 0..20 {
            let broken = damaged(rng, &problem);
            let found = ProblemInput::from_bytes(&broken).is_err();
            ensure(found || broken == problem, || "a damaged problem".into())?;
            let broken = damaged(rng, &plan);
            let found = Plan::from_bytes(&broken).is_err();
            ensure(found || broken == plan, || "a damaged plan".into())?;
            // Whoever writes a checksum to it may say anything, but what is read makes sense.
            let broken = sealed(Kind::Problem, &damaged(rng, &problem[HEADER..]));
            if let Ok(input) = ProblemInput::from_bytes(&broken) {
                input.check().map_err(|e| e.to_string())?;
            }
            let _ = Plan::from_bytes(&sealed(Kind::Plan, &damaged(rng, &plan[HEADER..])));
        }
        Ok(())
    });
}

#[test]
fn other_bytes_are_told_apart() {
    let plan = Plan::Leaf.to_bytes().unwrap();
    let says = |bytes: &[u8], text: &str| {
        let error = ProblemInput::from_bytes(bytes).err().expect("no problem").to_string();
        assert!(error.contains(text), "{error}");
    };
    says(b"", "not a problem of certree");
    says(b"certainly something else entirely", "not a problem of certree");
    says(&plan, "these bytes are a plan and not a problem");
    let mut newer = plan.clone();
    newer[4] += 1;
    says(&newer, &format!("version {} of the format", newer[4]));
}
