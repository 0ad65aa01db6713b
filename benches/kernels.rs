//! The depth-two kernel alone, against what the machine can do: `cargo bench --bench kernels`.
//!
//! A plain program, in under a minute. Two limits are measured in the same run as the kernel: a
//! loop of and, popcount and add over registers, and reading a long array. The unit of work is a
//! *pair·row*: one row of one pair of columns. So a register of 512 bits holds 512 of them.
//!
//! - `small` is a call for a node that the look-ahead solves, the other columns are for one that
//!   goes on and wants to know how many rows its columns share.
//! - `limit`: share of the popcount limit that the whole call reaches, in useful pair·rows.
//! - `useful`: share of the counted pair·rows that anybody asked for; the others fill up groups of
//!   16 rows, blocks of 32 columns and the diagonal. Costs by row are added up and not counted:
//!   only a ratio.
//! - `memory`: the speed at which pair loops take in their lanes, over that of reading from memory.
//!   Above 1, the kernel lives off its caches.
//! - Shares of a call: turning rows into lanes, singles, counting pairs, writing down their
//!   overlaps, and evaluation (all the rest). Parts are timed apart, so that they can add up to a
//!   little more or less.

use std::hint::black_box;
use std::time::{Duration, Instant};

use certree::bits::{LANES, Level, ROWS};
use certree::data::{Column, ColumnKind, Points};
use certree::kernel::{Ask, Kernel, Lookahead};
use certree::problem::{Problem, Shape};
use certree::task::{ClassInput, RowCosts};
use certree::view::BitView;

#[derive(Clone, Copy, PartialEq)]
enum Path {
    /// Accuracy: counts stay in 16-bit lanes.
    Narrow,
    /// A cost matrix: 64-bit sums of counts.
    Wide,
    /// Costs by row and label: sums.
    Rows,
}

/// What every call is asked: as nodes with children of their own ask.
const ASK: Ask =
    Ask { min_rows: 1, overlaps: true, stumps: true, leaf_cost: 0, leaves: 0, target: 0 };
const SINGLES: Ask = Ask { stumps: false, ..ASK };
const NO_OVERLAPS: Ask = Ask { overlaps: false, ..ASK };

fn main() {
    let memory = memory_limit();
    println!("reading memory: {:.1} GB/s", memory / 1e9);
    for level in Level::all() {
        let limit = popcount_limit(level);
        println!("\n{level:?}: popcount limit {:.0} billion pair·rows/s", limit / 1e9);
        println!(
            "{:>6} {:>6} {:>7} {:>7} {:>9} {:>9} {:>10} {:>6} {:>7} {:>7}   {:>5} {:>7} {:>5} {:>8} {:>8}",
            "path",
            "rows",
            "columns",
            "classes",
            "µs/small",
            "µs/call",
            "G pair·r/s",
            "limit",
            "useful",
            "memory",
            "fill",
            "singles",
            "pairs",
            "overlaps",
            "evaluate"
        );
        for classes in [2, 5] {
            for rows in [32, 200, 1000, 5000, 20_000] {
                for columns in [16, 64, 128, 288] {
                    bench(level, Path::Narrow, rows, columns, classes, limit, memory);
                }
            }
        }
        for path in [Path::Wide, Path::Rows] {
            for (rows, columns) in [(32, 16), (200, 64), (1000, 64), (5000, 128)] {
                bench(level, path, rows, columns, 2, limit, memory);
            }
        }
    }
}

fn bench(
    level: Level,
    path: Path,
    rows: usize,
    columns: usize,
    classes: usize,
    limit: f64,
    memory: f64,
) {
    let problem = problem(path, rows, columns, classes);
    let never = || false;
    let bits = BitView::new(&problem.features, &problem.points, problem.task.as_ref(), false);
    let view = &bits.root;
    let mut kernel = Kernel::new(&bits, problem.task.as_ref(), level);
    let mut out = Lookahead::default();
    let n = view.columns.len();

    let call = seconds(|| kernel.look(view, ASK, None, &never, &mut out));
    let fill = seconds(|| kernel.fill(view));
    let singles = (seconds(|| kernel.look(view, SINGLES, None, &never, &mut out)) - fill).max(0.0);
    let small = seconds(|| kernel.look(view, NO_OVERLAPS, None, &never, &mut out));
    let overlaps = (call - small).max(0.0);
    kernel.fill(view).expect("room for the lanes");
    let pairs = seconds(|| kernel.sum_pairs(view, ASK));

    let useful = (n * (n - 1) / 2 * view.len()) as f64;
    // Tiles of 4 columns against the 32 of each block from theirs on.
    let tiles: usize = (0..n).step_by(4).map(|i| n.div_ceil(LANES) - i / LANES).sum();
    let groups: usize =
        (0..view.ends.len()).map(|s| view.segment(s).len().div_ceil(ROWS)).sum::<usize>();
    let counted = (tiles * groups * 4 * LANES * ROWS) as f64;
    // A tile reads the lanes of its own columns, and one word of each row group for the others.
    let taken = (tiles * groups * (LANES + 4) * 2) as f64;
    let name = ["narrow", "wide", "rows"][path as usize];
    let share = |part: f64| format!("{:.0}%", 100.0 * part / call);
    println!(
        "{name:>6} {:>6} {n:>7} {classes:>7} {:>9.1} {:>9.1} {:>10.1} {:>6} {:>7} {:>7}   {:>5} {:>7} {:>5} {:>8} {:>8}",
        view.len(),
        small * 1e6,
        call * 1e6,
        useful / call / 1e9,
        format!("{:.0}%", 100.0 * useful / call / limit),
        if path == Path::Rows { "-".into() } else { format!("{:.0}%", 100.0 * useful / counted) },
        if path == Path::Rows { "-".into() } else { format!("{:.1}", taken / pairs / memory) },
        share(fill),
        share(singles),
        share(pairs),
        share(overlaps),
        share((call - fill - singles - pairs - overlaps).max(0.0)),
    );
}

/// The best of several calls, within a budget of time.
fn seconds<T>(mut work: impl FnMut() -> T) -> f64 {
    let budget = Instant::now();
    let mut best = f64::INFINITY;
    let mut calls = 0u32;
    while calls < 3 || (budget.elapsed() < Duration::from_millis(20) && calls < 2000) {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
        calls += 1;
    }
    best
}

/// Pair·rows per second, if all there was to do was and, popcount and add.
fn popcount_limit(level: Level) -> f64 {
    const ROUNDS: usize = 20_000;
    // How many accumulators keep the units busy without spilling depends on the CPU: take the best.
    let rate = |per_round: usize, time: f64| (ROUNDS * per_round * 512) as f64 / time;
    let one = seconds(|| {
        level.run(
            #[inline(always)]
            || spin::<1>(ROUNDS),
        )
    });
    let two = seconds(|| {
        level.run(
            #[inline(always)]
            || spin::<2>(ROUNDS),
        )
    });
    let four = seconds(|| {
        level.run(
            #[inline(always)]
            || spin::<4>(ROUNDS),
        )
    });
    let eight = seconds(|| {
        level.run(
            #[inline(always)]
            || spin::<8>(ROUNDS),
        )
    });
    rate(1, one).max(rate(2, two)).max(rate(4, four)).max(rate(8, eight))
}

/// `N` accumulators of 512 bits. Bytes, which AVX2 counts by nibbles without further sums.
#[inline(always)]
fn spin<const N: usize>(rounds: usize) {
    let mut words = black_box([0x5au8; 64]);
    let step = black_box([0x35u8; 64]);
    let masks = black_box([[0xf3u8; 64]; N]);
    let mut sums = [[0u8; 64]; N];
    for _ in 0..rounds {
        for l in 0..64 {
            words[l] = words[l].wrapping_add(step[l]);
        }
        for (sum, mask) in sums.iter_mut().zip(&masks) {
            for l in 0..64 {
                sum[l] = sum[l].wrapping_add((words[l] & mask[l]).count_ones() as u8);
            }
        }
    }
    black_box(sums);
}

/// Bytes per second when an array is longer than any cache.
fn memory_limit() -> f64 {
    let array = vec![1u64; 32 << 20];
    let level = Level::detect();
    let time = seconds(|| {
        level.run(
            #[inline(always)]
            || black_box(array.iter().fold(0u64, |sum, x| sum ^ x)),
        );
    });
    (array.len() * 8) as f64 / time
}

/// Boolean columns, true for 5% to 60% of the rows, and classes that depend on a few of them.
fn problem(path: Path, rows: usize, columns: usize, n_classes: usize) -> Problem {
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
    };
    let described: Vec<Column> = (0..columns)
        .map(|c| Column { name: format!("c{c}"), kind: ColumnKind::Boolean, missing: false })
        .collect();
    let codes: Vec<Vec<u32>> = (0..columns)
        .map(|c| {
            let share = 5 + 55 * c as u64 / columns as u64;
            (0..rows).map(|_| u32::from(next() % 100 < share)).collect()
        })
        .collect();
    let classes: Vec<usize> = (0..rows)
        .map(|r| {
            let noise = if next() % 10 == 0 { next() as usize } else { 0 };
            let seen = codes.iter().rev().take(4).map(|c| c[r] as usize).sum::<usize>();
            (seen + noise) % n_classes
        })
        .collect();
    let points = Points::new(&described, codes, vec![1; rows]).expect("the points fit");
    let scaled = match path {
        Path::Rows => {
            let costs: Vec<f64> = (classes.iter())
                .flat_map(|&class| (0..n_classes).map(move |k| f64::from(k != class)))
                .collect();
            RowCosts::build(n_classes, &costs, rows as f64, 0.0, None)
        }
        path => ClassInput {
            n_classes,
            n_labels: n_classes,
            weights: (classes.iter())
                .flat_map(|&class| (0..n_classes).map(move |k| f64::from(k == class)))
                .collect(),
            costs: (0..n_classes * n_classes)
                .map(|at| {
                    let (class, label) = (at / n_classes, at % n_classes);
                    let cost = if path == Path::Wide { 1 + class } else { 1 };
                    if class == label { 0.0 } else { cost as f64 }
                })
                .collect(),
            class_weights: vec![1.0; n_classes],
            balanced: false,
            leaf_penalty: 0.0,
        }
        .build(),
    }
    .expect("the task is sound");
    Problem::new(described, points, scaled, Shape::default()).expect("the problem is sound")
}
