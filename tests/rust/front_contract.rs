//! Partly ordered tasks that break their contract: each is refused, and told which clause it
//! breaks.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::common::Random;
use crate::common::front_kinds::{KINDS, Made, UNIT};
use certree::cost::Cost;
use certree::data::{Column, ColumnKind, Points};
use certree::error::Error;
use certree::pareto::{FrontProblem, solve_front, whole_front};
use certree::problem::Shape;
use certree::run::{Limits, Run};
use certree::task::{FrontTask, testing};

/// A task on two Boolean columns and four points, made of any functions.
struct Loose {
    stats: Vec<Vec<i64>>,
    leaf: fn(&[i64]) -> i64,
    join: fn(i64, i64) -> i64,
    no_worse: fn(i64, i64) -> bool,
    feasible: fn(i64) -> bool,
    /// How often a leaf was asked for.
    leaves_costed: AtomicI64,
    drift: i64,
    /// True if it gives its label to two values.
    twice: bool,
}

impl Default for Loose {
    fn default() -> Loose {
        Loose {
            stats: vec![vec![1], vec![2], vec![3], vec![4]],
            leaf: |sums| sums[0],
            join: |a, b| a + b,
            no_worse: |a, b| a <= b,
            feasible: |_| true,
            leaves_costed: AtomicI64::new(0),
            drift: 0,
            twice: false,
        }
    }
}

impl FrontTask for Loose {
    type Value = i64;

    fn n_points(&self) -> usize {
        4
    }

    fn width(&self) -> usize {
        1
    }

    fn stats(&self, point: usize) -> &[i64] {
        &self.stats[point]
    }

    fn leaf(&self, sums: &[i64], push: &mut dyn FnMut(u32, i64)) {
        let times = self.leaves_costed.fetch_add(1, Ordering::Relaxed);
        push(0, (self.leaf)(sums) + self.drift * times);
        if self.twice {
            push(0, (self.leaf)(sums) + 1);
        }
    }

    fn join(&self, a: &i64, b: &i64) -> i64 {
        (self.join)(*a, *b)
    }

    fn no_worse(&self, a: &i64, b: &i64) -> bool {
        (self.no_worse)(*a, *b)
    }

    fn cost(&self, value: &i64) -> Option<Cost> {
        Some(*value)
    }

    fn feasible(&self, value: &i64) -> bool {
        (self.feasible)(*value)
    }
}

fn run() -> Run<'static> {
    Run::new(Limits::default(), UNIT, None)
}

fn loose(task: Loose, depth: u32) -> Result<FrontProblem<Loose>, Error> {
    let column =
        |name: &str| Column { name: name.into(), kind: ColumnKind::Boolean, missing: false };
    let columns = vec![column("a"), column("b")];
    let codes = vec![vec![0, 0, 1, 1], vec![0, 1, 0, 1]];
    let points = Points::new(&columns, codes, vec![1; 4])?;
    let shape = Shape { max_depth: Some(depth), ..Shape::default() };
    FrontProblem::new(columns, points, task, UNIT, shape)
}

pub fn refused<T>(found: Result<T, Error>, clause: &str) {
    let Err(error) = found else { panic!("not refused: {clause}") };
    assert!(matches!(error, Error::Task(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains(clause), "{text}");
    assert!(!text.contains("defect in certree"), "{text}");
}

#[test]
fn tasks_that_break_a_clause_are_told_which() {
    let obeys = |task: Loose| testing::obeys_front(&task);
    assert_eq!(obeys(Loose::default()), Ok(()));
    let task = || Loose::default();
    refused(obeys(Loose { join: |a, b| a - b, ..task() }), "commutative");
    refused(obeys(Loose { join: |a, b| (a + b) / 2, ..task() }), "associative");
    refused(obeys(Loose { no_worse: |a, b| a < b, ..task() }), "no worse than itself");
    let squared = || Loose { leaf: |sums| sums[0] * sums[0], ..task() };
    assert_eq!(obeys(squared()), Ok(()));
    refused(obeys(Loose { no_worse: |a, b| a % 3 <= b % 3, ..squared() }), "preserves dominance");
    refused(obeys(Loose { feasible: |a| a > 5, ..task() }), "stays so when it is joined");
    refused(obeys(Loose { no_worse: |_, _| true, ..squared() }), "costs no more");
    refused(obeys(Loose { leaf: |sums| sums[0] - 7, ..task() }), "costs at least 0");
    refused(obeys(Loose { stats: vec![vec![1, 2]; 4], ..task() }), "`width` statistics");
    refused(obeys(Loose { twice: true, ..task() }), "different labels");
    for task in KINDS.map(|kind| Made::random(kind, 9, &mut Random::new(3))) {
        assert_eq!(testing::obeys_front(&task), Ok(()));
    }
}

#[test]
fn answers_of_broken_tasks_blame_the_task() {
    let solved = |task, depth| solve_front(&loose(task, depth)?, &run());
    let sound = solved(Loose::default(), 2).unwrap();
    assert_eq!((sound.value, sound.answer.objective), (10, 10.0));
    // Each time a leaf is asked for, it is worth something else.
    refused(solved(Loose { drift: 1, ..Loose::default() }, 1), "the same each time");
    // Splits pay, and the order in which they are joined matters.
    let ordered =
        || Loose { leaf: |sums| sums[0] * sums[0], join: |a, b| a + 2 * b, ..Loose::default() };
    refused(solved(ordered(), 2), "associative and commutative");
    refused(solved(Loose { leaf: |sums| sums[0] - 20, ..Loose::default() }, 2), "at least 0");
    refused(solved(Loose { twice: true, ..Loose::default() }, 2), "different labels");
    refused(loose(Loose { stats: vec![vec![1, 2]; 4], ..Loose::default() }, 2), "`width`");
    let whole = |task| whole_front(&loose(task, 2)?, &run());
    assert_eq!(whole(Loose::default()).unwrap().trees.len(), 1);
    refused(whole(ordered()), "associative and commutative");
}
