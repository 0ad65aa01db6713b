//! Prediction against the obvious way to do it: every type of column, values at the edges of each
//! type, trees of any shape.

use crate::common::Random;
use certree::data::Threshold;
use certree::ids::{ColumnId, TreeNodeId};
use certree::tree::{Node, Router, Split, Test, Tree, Values};

/// Integers and floats as they would be written, without rounding.
#[derive(Debug, Clone, Copy)]
enum Exact {
    Int(i128),
    Float(f64),
}

/// Whether `value <= threshold` in exact arithmetic. NaN is not.
fn at_most(value: Exact, threshold: Threshold) -> bool {
    // Beyond any integer type, and within i128.
    const FAR: f64 = 1e30;
    match (value, threshold) {
        (Exact::Float(v), Threshold::Float(t)) => v <= t,
        (Exact::Int(v), Threshold::Int(t)) => v <= i128::from(t),
        (Exact::Int(v), Threshold::Float(t)) => {
            !t.is_nan() && v <= t.clamp(-FAR, FAR).floor() as i128
        }
        (Exact::Float(v), Threshold::Int(t)) => {
            !v.is_nan() && v.clamp(-FAR, FAR).ceil() as i128 <= i128::from(t)
        }
    }
}

macro_rules! owned {
    ($($kind:ident($type:ty) $exact:expr;)*) => {
        #[derive(Debug)]
        enum Owned {
            $($kind(Vec<$type>),)*
            Bool(Vec<bool>),
        }

        impl Owned {
            fn values(&self) -> Values<'_> {
                match self {
                    $(Owned::$kind(v) => Values::$kind(v),)*
                    Owned::Bool(v) => Values::Bool(v),
                }
            }

            fn goes_left(&self, row: usize, test: &Test) -> bool {
                match (self, test) {
                    $((Owned::$kind(v), Test::AtMost(t)) => at_most($exact(v[row]), *t),)*
                    (Owned::Bool(v), Test::IsTrue | Test::Is(_)) => !v[row],
                    _ => panic!("the test does not fit the column"),
                }
            }
        }
    };
}

owned! {
    F64(f64) Exact::Float;
    F32(f32) |v| Exact::Float(f64::from(v));
    I64(i64) |v| Exact::Int(v as i128);
    I32(i32) |v| Exact::Int(v as i128);
    I16(i16) |v| Exact::Int(v as i128);
    I8(i8) |v| Exact::Int(v as i128);
    U64(u64) |v| Exact::Int(v as i128);
    U32(u32) |v| Exact::Int(v as i128);
    U16(u16) |v| Exact::Int(v as i128);
    U8(u8) |v| Exact::Int(v as i128);
}

fn special_float(rng: &mut Random) -> f64 {
    let big = (1u64 << 53) as f64;
    let special = rng.pick(&[
        0.0,
        -0.0,
        f64::from_bits(1),
        -f64::from_bits(1),
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::from(f32::MAX),
        f64::from(f32::from_bits(1)),
        0.5,
        -0.5,
        1.5,
        127.5,
        128.0,
        255.0,
        65535.5,
        2147483647.5,
        -2147483648.0,
        big,
        big + 2.0,
        i64::MAX as f64,
        i64::MIN as f64,
        1.8446744073709552e19,
        0.1,
    ]);
    match rng.below(5) {
        0 => special.next_up(),
        1 => special.next_down(),
        2 => (rng.unit() - 0.5) * 10f64.powi(rng.below(20) as i32),
        _ => special,
    }
}

fn special_int(rng: &mut Random) -> i64 {
    let base = rng.pick(&[
        0,
        1,
        -1,
        127,
        -128,
        255,
        32767,
        65535,
        -32768,
        1 << 24,
        (1 << 31) - 1,
        -(1 << 31),
        (1 << 32) - 1,
        1 << 53,
        -(1 << 53),
        i64::MAX,
        i64::MIN,
        1 << 62,
    ]);
    base.saturating_add(rng.below(5) as i64 - 2)
}

fn random_column(rng: &mut Random, n: usize) -> Owned {
    macro_rules! ints {
        ($kind:ident, $type:ty) => {
            // Wrapped into the type, so that its own extremes come up.
            Owned::$kind((0..n).map(|_| special_int(rng) as $type).collect())
        };
    }
    match rng.below(12) {
        0 => ints!(I64, i64),
        1 => ints!(I32, i32),
        2 => ints!(I16, i16),
        3 => ints!(I8, i8),
        4 => ints!(U64, u64),
        5 => ints!(U32, u32),
        6 => ints!(U16, u16),
        7 => ints!(U8, u8),
        8 => Owned::F32((0..n).map(|_| special_float(rng) as f32).collect()),
        9 => Owned::Bool((0..n).map(|_| rng.chance(0.5)).collect()),
        _ => Owned::F64(
            (0..n).map(|_| if rng.chance(0.02) { f64::NAN } else { special_float(rng) }).collect(),
        ),
    }
}

/// A random tree with about `splits` splits: bushy, or (`chain`) as deep as it can be.
fn random_tree(rng: &mut Random, columns: &[Owned], splits: usize, chain: bool) -> Tree {
    let mut tree = Tree { nodes: Vec::new() };
    // Nodes to grow, each with its splits and the parent it belongs to: no recursion, to go deep.
    let mut todo: Vec<(usize, Option<(usize, bool)>)> = vec![(splits, None)];
    while let Some((splits, parent)) = todo.pop() {
        let at = tree.nodes.len();
        if let Some((parent, is_left)) = parent {
            let split = tree.nodes[parent].split.as_mut().expect("a parent has a split");
            *(if is_left { &mut split.left } else { &mut split.right }) = TreeNodeId::from(at);
        }
        let mut node = Node { split: None, label: 0, rows: 0, value: Vec::new(), loss: 0.0 };
        if splits > 0 {
            let column = rng.below(columns.len());
            let test = match &columns[column] {
                Owned::Bool(_) if rng.chance(0.5) => Test::IsTrue,
                Owned::Bool(_) => Test::Is("a".into()),
                _ if rng.chance(0.5) => Test::AtMost(Threshold::Int(special_int(rng))),
                _ => Test::AtMost(Threshold::Float(special_float(rng))),
            };
            let root = TreeNodeId(0);
            node.split = Some(Split {
                column: ColumnId::from(column),
                test,
                missing: None,
                left: root,
                right: root,
            });
            let left = if chain { (splits - 1) * rng.below(2) } else { rng.below(splits) };
            todo.push((splits - 1 - left, Some((at, false))));
            todo.push((left, Some((at, true))));
        }
        tree.nodes.push(node);
    }
    tree
}

fn slots(tree: &Tree) -> Vec<usize> {
    tree.nodes.iter().map(|n| n.split.as_ref().map_or(usize::MAX, |s| s.column.index())).collect()
}

fn check(tree: &Tree, columns: &[Owned], n_rows: usize) {
    let arrays: Vec<Values<'_>> = columns.iter().map(Owned::values).collect();
    let leaves = Router::new(tree, &slots(tree)).apply(&arrays, n_rows).unwrap();
    assert_eq!(leaves.len(), n_rows);
    for (row, &leaf) in leaves.iter().enumerate() {
        let mut at = 0;
        while let Some(split) = &tree.nodes[at].split {
            let left = columns[split.column.index()].goes_left(row, &split.test);
            at = if left { split.left } else { split.right }.index();
        }
        assert_eq!(at as u32, leaf, "row {row} of {columns:?} in {tree:?}");
    }
}

#[test]
fn rows_end_where_naive_descent_ends() {
    for seed in 0..20_000 {
        let rng = &mut Random::new(seed);
        let n_rows = rng.below(40);
        let columns: Vec<Owned> =
            (0..rng.range(1, 8)).map(|_| random_column(rng, n_rows)).collect();
        let splits = rng.below(30);
        let tree = random_tree(rng, &columns, splits, false);
        check(&tree, &columns, n_rows);
    }
}

#[test]
fn rows_of_all_blocks_count() {
    for n_rows in [0, 1, 1023, 1024, 1025, 5000] {
        let rng = &mut Random::new(n_rows as u64);
        let columns: Vec<Owned> = (0..6).map(|_| random_column(rng, n_rows)).collect();
        for splits in [0, 1, 15, 400] {
            let tree = random_tree(rng, &columns, splits, false);
            check(&tree, &columns, n_rows);
        }
    }
}

#[test]
fn a_tree_may_be_as_deep_as_it_likes() {
    let rng = &mut Random::new(7);
    let columns: Vec<Owned> = (0..4).map(|_| random_column(rng, 300)).collect();
    let tree = random_tree(rng, &columns, 20_000, true);
    check(&tree, &columns, 300);
}

fn stump(test: Test) -> Tree {
    let leaf = Node { split: None, label: 0, rows: 0, value: Vec::new(), loss: 0.0 };
    let split = Split {
        column: ColumnId(3),
        test,
        missing: None,
        left: TreeNodeId(1),
        right: TreeNodeId(2),
    };
    Tree { nodes: vec![Node { split: Some(split), ..leaf.clone() }, leaf.clone(), leaf] }
}

fn error(tree: &Tree, slots: &[usize], arrays: &[Values<'_>], n_rows: usize) -> String {
    Router::new(tree, slots).apply(arrays, n_rows).unwrap_err().to_string()
}

#[test]
fn numbers_and_booleans_are_not_taken_for_each_other() {
    let at_most = stump(Test::AtMost(Threshold::Float(0.5)));
    let text = error(&at_most, &[0; 3], &[Values::Bool(&[true])], 1);
    assert_eq!(text, "the tree asks column 3 for numbers, but its values are Booleans");
    for test in [Test::IsTrue, Test::Is("a".into())] {
        let text = error(&stump(test), &[0; 3], &[Values::U8(&[1])], 1);
        assert_eq!(text, "the tree asks column 3 for Booleans, but its values are numbers");
    }
}

#[test]
fn what_does_not_fit_together_is_an_error() {
    let tree = stump(Test::IsTrue);
    let two = Values::Bool(&[true, false]);
    assert!(error(&tree, &[0; 3], &[two], 3).contains("one has 2 values, but there are 3 rows"));
    assert!(error(&tree, &[1; 3], &[two], 2).contains("array 1, but only 1 are given"));
    assert!(error(&tree, &[0; 2], &[two], 2).contains("2 slots are given for a tree of 3 nodes"));
    let mut round = tree.clone();
    round.nodes[0].split.as_mut().unwrap().right = TreeNodeId(0);
    assert!(error(&round, &[0; 3], &[two], 2).contains("node 0 has no child 0"));
    let mut short = tree;
    short.nodes.pop();
    assert!(error(&short, &[0; 2], &[two], 2).contains("node 0 has no child 2"));
}
