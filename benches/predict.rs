//! Rows per second through a full tree of depth 4, on one core: `cargo bench --bench predict`.
//!
//! A plain program: the figure wanted is one number per column type, best of several passes.

use std::hint::black_box;
use std::time::Instant;

use certree::data::Threshold;
use certree::ids::{ColumnId, TreeNodeId};
use certree::tree::{Node, Router, Split, Test, Tree, Values};

const ROWS: usize = 4_000_000;
const DEPTH: u32 = 4;

/// Each of the 15 tests reads a column of its own: the most memory that this depth can ask for.
fn full_tree(test: impl Fn(usize) -> Test) -> Tree {
    let mut tree = Tree { nodes: Vec::new() };
    grow(&mut tree, DEPTH, &mut 0, &test);
    tree
}

fn grow(tree: &mut Tree, depth: u32, columns: &mut usize, test: &impl Fn(usize) -> Test) -> usize {
    let at = tree.nodes.len();
    tree.nodes.push(Node { split: None, label: 0, rows: 0, value: Vec::new(), loss: 0.0 });
    if depth > 0 {
        let column = *columns;
        *columns += 1;
        let left = TreeNodeId::from(grow(tree, depth - 1, columns, test));
        let right = TreeNodeId::from(grow(tree, depth - 1, columns, test));
        let split = Split {
            column: ColumnId::from(column),
            test: test(column),
            missing: None,
            left,
            right,
        };
        tree.nodes[at].split = Some(split);
    }
    at
}

fn noise(seed: u64) -> impl Iterator<Item = u64> {
    (0..ROWS as u64).map(move |i| {
        let mut z = (i ^ seed << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        z ^ (z >> 32)
    })
}

fn time(name: &str, tree: &Tree, arrays: &[Values<'_>]) {
    let slots: Vec<usize> = (tree.nodes.iter())
        .map(|n| n.split.as_ref().map_or(0, |s| s.column.index() % arrays.len()))
        .collect();
    let router = Router::new(tree, &slots);
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        let leaves = router.apply(black_box(arrays), ROWS).expect("the columns fit the tree");
        best = best.min(start.elapsed().as_secs_f64());
        black_box(leaves);
    }
    println!("{name:>24}: {:6.1} million rows/s", ROWS as f64 / best / 1e6);
}

fn main() {
    let numeric = full_tree(|_| Test::AtMost(Threshold::Float(0.5)));
    let boolean = full_tree(|_| Test::IsTrue);
    for n_columns in [4, 15] {
        println!("{n_columns} columns");
        let columns = 0..n_columns as u64;
        let floats: Vec<Vec<f64>> = columns
            .clone()
            .map(|c| noise(c).map(|x| x as f64 / u64::MAX as f64).collect())
            .collect();
        let arrays: Vec<_> = floats.iter().map(|v| Values::F64(v)).collect();
        time("f64", &numeric, &arrays);
        drop(floats);
        let floats: Vec<Vec<f32>> = columns
            .clone()
            .map(|c| noise(c).map(|x| x as f32 / u64::MAX as f32).collect())
            .collect();
        let arrays: Vec<_> = floats.iter().map(|v| Values::F32(v)).collect();
        time("f32", &numeric, &arrays);
        drop(floats);
        let ints: Vec<Vec<i64>> =
            columns.clone().map(|c| noise(c).map(|x| (x & 1) as i64).collect()).collect();
        let arrays: Vec<_> = ints.iter().map(|v| Values::I64(v)).collect();
        time("i64", &numeric, &arrays);
        drop(ints);
        let bools: Vec<Vec<bool>> =
            columns.map(|c| noise(c).map(|x| x & 1 == 1).collect()).collect();
        let arrays: Vec<_> = bools.iter().map(|v| Values::Bool(v)).collect();
        time("Boolean", &boolean, &arrays);
    }
}
