//! The judge itself: it must see what is wrong with a wrong answer.

use crate::common::judge::{proved_optimal, tree_is_sound};
use crate::common::problems::{LossKind, Options, ShapeMix};
use crate::common::{Case, random_problem};
use certree::answer::{Answer, solve};
use certree::problem::Problem;
use certree::run::{Limits, Run, Status};
use certree::search::{Found, brute};

/// A case whose best tree has at least two leaves, solved.
fn solved() -> (Case, Problem, Found, Answer) {
    let options =
        Options { loss: LossKind::Accuracy, limits: ShapeMix::Unlimited, ..Options::default() };
    for seed in 0.. {
        let case = random_problem(seed, &options);
        let problem = case.problem().unwrap();
        let found = brute::solve(&problem);
        if found.plan.leaves() > 1 && problem.scale.slack == 0 {
            let run = Run::new(Limits::default(), problem.scale, None);
            let answer = solve(&problem, &run).unwrap();
            return (case, problem, found, answer);
        }
    }
    unreachable!()
}

#[test]
fn a_right_answer_passes() {
    let (case, problem, found, answer) = solved();
    assert_eq!(proved_optimal(&problem, &found, &answer), Ok(()));
    assert_eq!(tree_is_sound(&case, &problem, &answer.tree), Ok(()));
}

#[test]
fn wrong_claims_fail() {
    let (_, problem, found, right) = solved();
    let rejects = |change: &dyn Fn(&mut Answer)| {
        let mut answer = right.clone();
        change(&mut answer);
        assert!(proved_optimal(&problem, &found, &answer).is_err());
    };
    rejects(&|answer| answer.status = Status::TimeLimit);
    rejects(&|answer| answer.objective += 1e-15);
    rejects(&|answer| answer.lower_bound += 1e-15);
    rejects(&|answer| answer.lower_bound -= 1e-15);
    rejects(&|answer| answer.tree.nodes[0].split = None);
    rejects(&|answer| answer.curve.clear());
}

#[test]
fn unsound_trees_fail() {
    let (case, problem, _, right) = solved();
    let mut tree = right.tree.clone();
    tree.nodes[1].rows += 1;
    assert!(tree_is_sound(&case, &problem, &tree).is_err());

    let mut tree = right.tree.clone();
    let last = tree.nodes.last().unwrap().clone();
    tree.nodes.push(last);
    assert!(tree_is_sound(&case, &problem, &tree).is_err());

    let mut strict = case.clone();
    strict.shape.max_leaves = Some(1);
    assert!(tree_is_sound(&strict, &problem, &right.tree).is_err());
    let mut strict = case.clone();
    strict.shape.max_depth = Some(0);
    assert!(tree_is_sound(&strict, &problem, &right.tree).is_err());
    let mut strict = case;
    strict.shape.min_leaf_rows = 100;
    assert!(tree_is_sound(&strict, &problem, &right.tree).is_err());
}
