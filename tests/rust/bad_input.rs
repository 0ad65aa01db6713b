//! What does not make a problem is an error with a text, never a panic.

use crate::common::{Case, Loss};
use certree::data::{Column, ColumnKind, Points, Threshold};
use certree::problem::Shape;
use certree::task::{
    ADDITIVE, AdditiveInput, ClassInput, FeatureCostInput, FeatureCostList, RowCosts,
};

fn classes() -> ClassInput {
    ClassInput {
        n_classes: 2,
        n_labels: 2,
        weights: vec![1.0, 0.0, 0.0, 1.0],
        costs: vec![0.0, 1.0, 1.0, 0.0],
        class_weights: vec![1.0; 2],
        balanced: false,
        leaf_penalty: 0.1,
    }
}

fn two_points() -> Case {
    Case {
        columns: vec![Column { name: "a".into(), kind: ColumnKind::Boolean, missing: false }],
        codes: vec![vec![0, 1]],
        rows: vec![1, 1],
        loss: Loss::Classes(classes()),
        shape: Shape::default(),
        prices: FeatureCostList::default(),
        paths: Vec::new(),
    }
}

fn rejects_classes(change: impl Fn(&mut ClassInput), text: &str) {
    let mut case = two_points();
    let Loss::Classes(input) = &mut case.loss else { unreachable!() };
    change(input);
    let error = case.problem().err().expect(text).to_string();
    assert!(error.contains(text), "{error}");
}

#[test]
fn numbers_that_are_not() {
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        rejects_classes(|input| input.weights[1] = bad, "weights must be finite");
        rejects_classes(|input| input.class_weights[1] = bad, "class weights must be finite");
        rejects_classes(|input| input.leaf_penalty = bad, "leaf_penalty must be finite");
    }
    rejects_classes(|input| input.costs[0] = f64::NAN, "costs must be finite");
    rejects_classes(|input| input.weights = vec![0.0; 4], "total weight must be positive");
    rejects_classes(|input| input.class_weights = vec![0.0; 2], "must be positive");
    assert!(RowCosts::build(2, &[0.0, f64::NAN], 1.0, 0.0, None).is_err());
    assert!(RowCosts::build(2, &[0.0, 1.0], 0.0, 0.0, None).is_err());
    assert!(RowCosts::build(2, &[0.0, 1.0], 1.0, f64::NAN, None).is_err());
    assert!(RowCosts::build(2, &[1e308, -1e308], 1.0, 0.0, None).is_err());
}

#[test]
fn lengths_that_do_not_fit() {
    rejects_classes(|input| input.n_classes = 0, "at least one class");
    rejects_classes(|input| input.costs.truncate(3), "do not make 2 classes and 2 labels");
    rejects_classes(|input| input.class_weights.truncate(1), "do not make");
    rejects_classes(|input| input.weights.truncate(3), "do not make");
    rejects_classes(|input| input.weights.truncate(2), "given for 1 points, but there are 2");
    assert!(RowCosts::build(2, &[0.0; 3], 1.0, 0.0, None).is_err());
    assert!(RowCosts::build(0, &[], 1.0, 0.0, None).is_err());
}

#[test]
fn prices_that_are_none() {
    let rejects = |full: f64, discounted: f64, of_column: &[Option<u32>], text: &str| {
        let mut case = two_points();
        let (full, discounted) = (full.into(), discounted.into());
        let tests = vec![FeatureCostInput { full, discounted, group: Some(0) }];
        case.prices =
            FeatureCostList { tests, of_column: of_column.to_vec(), ..Default::default() };
        let error = case.problem().err().expect(text).to_string();
        assert!(error.contains(text), "{error}");
    };
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        rejects(bad, 0.0, &[Some(0)], "feature costs must be finite and not negative");
        rejects(1.0, bad, &[Some(0)], "feature costs must be finite and not negative");
    }
    rejects(1.0, 1.5, &[Some(0)], "discounted cost 1.5 of test 0 is above its full cost 1");
    rejects(1.0, 0.5, &[Some(1)], "there is no test 1");
    rejects(1.0, 0.5, &[Some(0), None], "tests are given for 2 columns, but there are 1");
}

#[test]
fn points_that_do_not_fit_their_columns() {
    let ordered = |cuts: &[f64]| {
        let cuts = cuts.iter().map(|&t| Threshold::Float(t)).collect();
        vec![Column { name: "x".into(), kind: ColumnKind::Ordered(cuts), missing: false }]
    };
    let error = |columns: &[Column], codes: Vec<Vec<u32>>, rows: Vec<u64>| {
        Points::new(columns, codes, rows).expect_err("bad points").to_string()
    };
    assert_eq!(error(&[], vec![], vec![]), "there are no rows");
    assert!(error(&ordered(&[0.5]), vec![], vec![1]).contains("1 columns are described but 0"));
    assert!(
        error(&ordered(&[0.5]), vec![vec![0]], vec![1, 1]).contains("has 1 codes for 2 points")
    );
    assert!(error(&ordered(&[0.5]), vec![vec![2]], vec![1]).contains("code 2, but only 2 codes"));
    assert!(error(&ordered(&[1.5, 0.5]), vec![vec![0]], vec![1]).contains("not ascending"));
    assert!(error(&ordered(&[f64::NAN]), vec![vec![0]], vec![1]).contains("not a number"));
}

#[test]
fn a_tree_of_no_leaves() {
    let mut case = two_points();
    case.shape.max_leaves = Some(0);
    assert!(case.problem().is_err());
}

#[test]
fn penalties_beyond_all_losses_give_one_leaf() {
    for leaf_penalty in [5.0, 1e6, 1e15, 0.1 + 0.2 + 5.0] {
        let mut case = two_points();
        case.loss = Loss::Classes(ClassInput { leaf_penalty, ..classes() });
        let problem = case.problem().unwrap();
        let found = certree::search::brute::solve(&problem);
        assert_eq!(found.plan.leaves(), 1);
        assert_eq!(problem.scale.objective(found.upper), 0.5 + leaf_penalty);
    }
}

#[test]
fn several_targets_that_are_none() {
    let build = |n_classes: &[f64], weights: &[f64]| {
        let columns = [("n_classes", n_classes), ("weights", weights)];
        let input = AdditiveInput {
            task: ADDITIVE.iter().find(|task| task.name == "targets").expect("there is one"),
            columns: columns.map(|(name, column)| (name.to_owned(), column.to_vec())).into(),
            points: vec![0, 1],
            n_points: 2,
            leaf_penalty: 0.1,
            row_weights: Vec::new(),
        };
        input.build().map(|_| ()).map_err(|e| e.to_string())
    };
    let weights = [1.0, 0.0, 1.0, 0.0, 2.0, 2.0];
    let rejects = |n_classes: &[f64], weights: &[f64], text: &str| {
        let error = build(n_classes, weights).expect_err(text);
        assert!(error.contains(text), "{error}");
    };
    assert_eq!(build(&[2.0, 1.0], &weights), Ok(()), "weights may be 0");
    rejects(&[], &weights, "do not make points of 0 classes");
    rejects(&[3.0, 0.0], &weights, "do not make points of 3 classes");
    rejects(&[2.0, 2.0], &weights, "do not make points of 4 classes");
    rejects(&[2.0, 1.0], &[0.0; 6], "total weight must be positive");
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        rejects(&[2.0, 1.0], &[1.0, bad, 1.0, 0.0, 2.0, 2.0], "must be finite and not negative");
    }
}
