//! The shared graph under a schedule explorer: bounds must hold at every step of every schedule,
//! also while another thread takes back alternatives, entries and nodes.
//!
//! `RUSTFLAGS="--cfg shuttle" cargo test --lib schedules` (with a `--target-dir` of its own).

use shuttle::thread;

use super::budget::{Budget, NodeKey, UNLIMITED};
use super::descend::{Shared, Worker};
use super::table::{Entry, Table};
use super::workers::{Options, share};
use crate::cost::Cost;
use crate::data::{Column, ColumnKind, Points};
use crate::kernel::Kernel;
use crate::problem::{Problem, Shape};
use crate::run::{Account, Limits, Run};
use crate::search::common::sync::Arc;
// A sibling, which only a test may know.
#[cfg(test)]
use crate::search::brute;
use crate::task::ClassInput;
use crate::view::BitView;

/// Every point of four Boolean columns, with classes that no small tree gets right.
fn problem(seed: u64, max_depth: Option<u32>, max_leaves: Option<u32>) -> Problem {
    let columns: Vec<Column> = (0..4)
        .map(|c| Column { name: format!("c{c}"), kind: ColumnKind::Boolean, missing: false })
        .collect();
    let codes = (0..4).map(|c| (0..16).map(|point| point >> c & 1).collect()).collect();
    let points = Points::new(&columns, codes, vec![1; 16]).unwrap();
    let class = |point: u64| (seed >> point & 1) as usize;
    let weights =
        (0..16).flat_map(|p| [0, 1].map(|c| f64::from(u8::from(class(p) == c)))).collect();
    let task = ClassInput {
        n_classes: 2,
        n_labels: 2,
        weights,
        costs: vec![0.0, 1.0, 1.0, 0.0],
        class_weights: vec![1.0; 2],
        balanced: false,
        leaf_penalty: 0.02,
    };
    let shape = Shape { max_depth, max_leaves, min_leaf_rows: 1 };
    Problem::new(columns, points, task.build().unwrap(), shape).unwrap()
}

/// Threads of the explorer live as long as they like.
fn keep<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn worker(
    shared: &'static Shared<'static, 'static>,
    problem: &'static Problem,
    extracts: bool,
) -> Worker<'static, 'static> {
    let level = Options::default().level;
    let kernel = Kernel::new(shared.bits, problem.task.as_ref(), level);
    Worker::new(shared, kernel, level, extracts)
}

/// Bounds do not cross anywhere; the root's hold the optimum, and the cost of a tree is in its
/// upper one.
fn check(shared: &Shared, optimum: Cost) {
    // In this order: the optimum is between any two readings of them.
    assert!(shared.root.lower() <= optimum && optimum <= shared.root.upper());
    shared.table.each_open(|node| {
        let lower = node.lower();
        assert!(lower <= node.upper(), "{:?}: {lower} to {}", node.key, node.upper());
    });
}

fn explore(seed: u64, max_depth: Option<u32>, max_leaves: Option<u32>) {
    let problem = keep(problem(seed, max_depth, max_leaves));
    let optimum = brute::solve(problem).upper;
    let bits = keep(BitView::new(&problem.features, &problem.points, problem.task.as_ref(), false));
    shuttle::check_random(
        move || {
            let run = keep(Run::new(Limits::default(), problem.scale, None));
            let shared = keep(share(problem, bits, run, &Options::default(), 2, Table::new()));
            let mut threads: Vec<_> = (0..2)
                .map(|_| thread::spawn(move || worker(shared, problem, false).work()))
                .collect();
            threads.push(thread::spawn(move || {
                for _ in 0..40 {
                    check(shared, optimum);
                    shared.table.shed_alternatives(usize::MAX, &shared.account);
                    shared.table.shed_solved(&shared.account);
                    shared.table.shed_nodes(usize::MAX, &shared.account);
                    thread::yield_now();
                }
            }));
            for thread in threads {
                thread.join().unwrap();
            }
            check(shared, optimum);
            assert_eq!((shared.root.lower(), shared.root.upper()), (optimum, optimum));
            shared.table.each_open(|node| assert!(node.is_idle(), "{:?} is busy", node.key));
            assert_eq!(worker(shared, problem, true).extract().1, optimum);
        },
        400,
    );
}

#[test]
fn with_a_depth_limit() {
    for seed in [0x1234, 0x6996, 0x9d3b] {
        explore(seed, Some(4), None);
    }
}

#[test]
fn without_a_limit() {
    for seed in [0x2bd4, 0x6a95, 0x9669, 0xd1c7] {
        explore(seed, None, None);
    }
}

#[test]
fn with_a_leaf_limit() {
    explore(0x5ac9, Some(4), Some(6));
}

#[test]
fn a_node_has_one_entry() {
    shuttle::check_random(
        || {
            let problem = keep(problem(0x1234, Some(4), None));
            let run = keep(Run::new(Limits::default(), problem.scale, None));
            let account = keep(Account::new(run, 0));
            let table = Arc::new(Table::new());
            let budget = Budget { depth: UNLIMITED, leaves: UNLIMITED };
            let key = NodeKey { rows: 7, budget };
            let threads: Vec<_> = (0..3)
                .map(|which| {
                    let table = table.clone();
                    thread::spawn(move || match which {
                        0 => table.insert_solved(key, 5, account),
                        _ => {
                            if let Entry::Open(node) = table.open(key, account) {
                                node.raise(3);
                                node.lower_to(9);
                            }
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            match table.get(&key).unwrap() {
                Entry::Solved(value) => assert_eq!(value, 5),
                Entry::Open(node) => assert_eq!((node.lower(), node.upper()), (5, 5)),
            }
            assert_eq!(run.work().nodes, 1);
        },
        500,
    );
}
