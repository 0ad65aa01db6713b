//! Tasks that do not keep their contract: found, named, and never a wrong tree.

use certree::cost::{Cost, Scale};
use certree::data::{Column, ColumnKind, Points, Threshold};
use certree::error::Error;
use certree::problem::{Problem, Shape};
use certree::run::{Limits, Run};
use certree::solve;
use certree::task::{Leaf, Scaled, Task, testing};

type LeafCost = fn(&[i64]) -> Cost;

/// Two statistics: how many points there are, and the sum of their squared numbers.
struct Broken {
    stats: Vec<i64>,
    leaf_cost: LeafCost,
    rounding: Cost,
}

const POINTS: usize = 40;

impl Broken {
    fn new(leaf_cost: LeafCost) -> Broken {
        let stats = (0..POINTS as i64).flat_map(|at| [1, (at * 7 % 11).pow(2)]).collect();
        Broken { stats, leaf_cost, rounding: 0 }
    }
}

impl Task for Broken {
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
        Leaf { cost: (self.leaf_cost)(stats), label: 0 }
    }

    fn rounding(&self) -> Cost {
        self.rounding
    }

    fn shown(&self, _points: &[u32], stats: &[i64]) -> Vec<f64> {
        stats.iter().map(|&s| s as f64).collect()
    }
}

/// What comes of a search, with few cuts (on bits) or with many (on ranks).
fn search(task: Broken, many_cuts: bool) -> Result<Cost, Error> {
    let n = if many_cuts { 200 } else { POINTS };
    let cuts: Vec<Threshold> = (0..n as u32 - 1).map(|t| Threshold::Float(f64::from(t))).collect();
    let column = |name: &str| Column {
        name: name.into(),
        kind: ColumnKind::Ordered(cuts.clone()),
        missing: false,
    };
    let columns = vec![column("a"), column("b")];
    let stats: Vec<i64> = task.stats.iter().copied().cycle().take(2 * n).collect();
    let codes = vec![(0..n as u32).collect(), (0..n as u32).map(|at| at * 37 % n as u32).collect()];
    let points = Points::new(&columns, codes, vec![1; n])?;
    let task = Box::new(Broken { stats, ..task });
    let scale = Scale::new(1e6, 0, 0);
    let scaled = Scaled { task, leaf_cost: 3, scale, feature_costs: None, stated: None };
    let shape = Shape { max_depth: Some(3), ..Shape::default() };
    let problem = Problem::new(columns, points, scaled, shape)?;
    let run = Run::new(Limits::default(), scale, None);
    solve(&problem, &run).map(|answer| (answer.objective * scale.units) as Cost)
}

fn refused(leaf_cost: LeafCost, clause: &str) {
    let told = testing::obeys(&Broken::new(leaf_cost)).expect_err("the test of tasks finds it");
    assert!(told.to_string().contains(clause), "{told}");
    for many_cuts in [false, true] {
        let error = search(Broken::new(leaf_cost), many_cuts).expect_err("a search finds it");
        assert!(matches!(error, Error::Task(_)), "{error:?}");
        assert!(error.to_string().contains("the task breaks its contract"), "{error}");
    }
}

#[test]
fn a_good_task_is_searched() {
    for many_cuts in [false, true] {
        search(Broken::new(|s| s[0] * s[1]), many_cuts).expect("it keeps its contract");
    }
}

#[test]
fn losses_below_zero_are_refused() {
    refused(|s| s[1] - 100 * s[0], "a leaf never costs less than 0");
    refused(|s| if s[0] == 3 { -1 } else { s[0] * s[1] }, "a leaf never costs less than 0");
}

#[test]
fn parts_that_cost_more_than_the_whole_are_refused() {
    refused(|s| 1_000_000 / s[0], "dividing a leaf never raises its cost");
    refused(|s| (s[1] as f64).sqrt() as Cost * 50, "dividing a leaf never raises its cost");
}

#[test]
fn rounding_that_is_not_stated_is_found() {
    // Rounding to whole hundreds may raise two parts by a hundred together.
    let rounded: LeafCost = |s| (s[1] + 50) / 100 * 100;
    assert!(testing::obeys(&Broken::new(rounded)).is_err());
    let stated = Broken { rounding: 100, ..Broken::new(rounded) };
    testing::obeys(&stated).expect("it says by how much it rounds");
    search(stated, false).expect("what is stated is charged");
}

#[test]
fn what_overflows_is_refused() {
    for leaf_cost in [(|_| Cost::MAX) as LeafCost, |s| s[1] << 50] {
        assert!(matches!(search(Broken::new(leaf_cost), false), Err(Error::Task(_))));
    }
    let mut task = Broken::new(|s| s[0]);
    task.stats.iter_mut().for_each(|s| *s = i64::MAX / 16);
    assert!(matches!(search(task, false), Err(Error::Task(_))));
}

#[test]
fn statistics_of_the_wrong_width_are_refused() {
    struct Ragged(Broken);
    impl Task for Ragged {
        fn n_points(&self) -> usize {
            self.0.n_points()
        }
        fn width(&self) -> usize {
            2
        }
        fn stats(&self, point: usize) -> &[i64] {
            &self.0.stats(point)[..1 + point % 2]
        }
        fn leaf(&self, stats: &[i64]) -> Leaf {
            self.0.leaf(stats)
        }
        fn shown(&self, points: &[u32], stats: &[i64]) -> Vec<f64> {
            self.0.shown(points, stats)
        }
    }
    let task = Ragged(Broken::new(|s| s[0]));
    assert!(testing::obeys(&task).is_err());
    let columns = vec![Column { name: "a".into(), kind: ColumnKind::Boolean, missing: false }];
    let codes = vec![(0..POINTS as u32).map(|at| at % 2).collect()];
    let points = Points::new(&columns, codes, vec![1; POINTS]).unwrap();
    let scale = Scale::new(1.0, 0, 0);
    let scaled =
        Scaled { task: Box::new(task), leaf_cost: 0, scale, feature_costs: None, stated: None };
    let error = Problem::new(columns, points, scaled, Shape::default()).err().expect("refused");
    assert!(error.to_string().contains("statistics and not 2"), "{error}");
}
