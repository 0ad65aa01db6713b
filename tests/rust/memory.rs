//! What a search says it holds, against what it takes from the allocator.
//!
//! One test only: the allocator counts for the whole process.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Duration;

use certree::answer::{Answer, Incumbent, go_on, solve};
use certree::data::{ColumnKind, Points};
use certree::error::Result;
use certree::pareto::{Constrained, LimitInput, Roc};
use certree::posed::{Goal, ProblemInput};
use certree::problem::{Problem, Shape};
use certree::run::{Limits, Run, Status};
use certree::serial::Kind;
use certree::task::ClassInput;
use common::damage::{HEADER, damaged, sealed};
use common::large::{built, noise};
use common::{Loss, Random};

/// What threads, the tree and the clock take beside the search.
const FIXED: i64 = 1 << 20;

struct Counting;

static NOW: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

fn add(bytes: i64) {
    let now = NOW.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(now, Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(-(layout.size() as i64));
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size as i64 - layout.size() as i64);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Search<'a> = &'a dyn Fn(Limits) -> Result<Answer>;

/// The answer, and the most bytes that the search took.
fn measured(search: Search, limits: Limits) -> (Result<Answer>, i64) {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let answer = search(limits);
    (answer, PEAK.load(Relaxed) - before)
}

/// Noise in two groups that has to be answered alike in both, and more limits than one if asked
/// for.
fn limited(n: usize, columns: usize, depth: u32, more: bool) -> Constrained {
    let case = noise(n, columns, 1, 4, 5);
    let Loss::Classes(input) = case.loss else { unreachable!("noise has classes") };
    let costs = vec![0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0];
    let input = ClassInput { n_labels: 2, costs, ..input };
    let limit = |among: &[u32], against: &[u32], most: f64| {
        LimitInput::of_shares("limit".to_string(), 1, among, against, most)
    };
    let mut limits = vec![limit(&[1, 3], &[0, 2], 0.0001)];
    if more {
        limits.push(limit(&[3], &[2], 0.0));
        limits.push(limit(&[0, 1, 2, 3], &[], 0.45));
    }
    let points = Points::new(&case.columns, case.codes, case.rows).unwrap();
    let shape = Shape { max_depth: Some(depth), ..Shape::default() };
    let class_of = vec![0, 0, 1, 1];
    Constrained::new(case.columns, points, &input, class_of, &limits, shape).unwrap()
}

fn ranked(n: usize, columns: usize, depth: u32) -> Roc {
    let case = noise(n, columns, 1, 2, 6);
    let Loss::Classes(input) = case.loss else { unreachable!("noise has classes") };
    let points = Points::new(&case.columns, case.codes, case.rows).unwrap();
    let shape = Shape { max_depth: Some(depth), ..Shape::default() };
    Roc::new(case.columns, points, input.weights, 1, 1.0, 0.0, shape).unwrap()
}

/// However much they promise: each value takes a byte or more, and at most so many in memory.
fn damaged_bytes_take_no_more_than_they_can_hold() {
    const MOST_PER_BYTE: i64 = 64;
    let case = noise(300, 12, 1, 2, 0);
    let Loss::Classes(input) = &case.loss else { unreachable!("noise has classes") };
    let posed = ProblemInput {
        columns: case.columns.clone(),
        points: Points::new(&case.columns, case.codes.clone(), case.rows.clone()).unwrap(),
        goal: Goal::Classes(Arc::new(input.clone())),
        shape: Shape { max_depth: Some(4), ..case.shape },
        constraints: None,
        feature_costs: None,
        path_rules: Vec::new(),
        regrets: None,
        after: Vec::new(),
    };
    let problem = built(case, 0.0, Some(4));
    let limits = Limits { time: Some(Duration::from_millis(20)), ..Limits::default() };
    let (_, known) = go_on(&problem, None, &Run::new(limits, problem.scale, None)).unwrap();
    let search = known.to_bytes(&problem, usize::MAX);
    let posed = posed.to_bytes().unwrap();
    // A saved search begins with the digest of its problem, which would be found.
    type Read<'a> = (Kind, &'a [u8], usize, &'a dyn Fn(&[u8]) -> bool);
    let kinds: [Read; 2] = [
        (Kind::Problem, &posed, HEADER, &|bytes| ProblemInput::from_bytes(bytes).is_ok()),
        (Kind::Search, &search, HEADER + 16, &|bytes| {
            Incumbent::from_bytes(&problem, bytes).is_ok()
        }),
    ];
    let rng = &mut Random::new(5);
    for (kind, bytes, fixed, read) in kinds {
        assert!(read(bytes));
        for _ in 0..300 {
            let body = [&bytes[HEADER..fixed], &damaged(rng, &bytes[fixed..])].concat();
            let broken = sealed(kind, &body);
            let before = NOW.load(Relaxed);
            PEAK.store(before, Relaxed);
            read(&broken);
            let (taken, most) = (PEAK.load(Relaxed) - before, broken.len() as i64 * MOST_PER_BYTE);
            assert!(taken <= most + FIXED, "{kind:?}: {taken} for {} bytes", broken.len());
        }
    }
}

#[test]
fn memory_is_what_it_says_and_limits_are_kept() {
    damaged_bytes_take_no_more_than_they_can_hold();
    let deep = built(noise(3_000, 12, 1, 2, 0), 0.0005, None);
    let shallow = built(noise(4_000, 12, 12, 2, 1), 0.0002, Some(5));
    let wide = built(noise(2_000, 2, 1_500, 2, 2), 0.0002, Some(3));
    let classes = built(noise(2_000, 10, 8, 30, 3), 0.0002, Some(4));
    let (parity, three) = (limited(1_500, 16, 3, false), limited(160, 11, 3, true));
    let mut curves = ranked(100, 12, 4);
    curves.game = false;
    let additive =
        |problem: &Problem, limits| solve(problem, &Run::new(limits, problem.scale, None));
    let under = |of: &Constrained, limits| {
        of.solve(&Run::new(limits, of.scale(), None)).map(|(answer, _)| answer)
    };
    let mut values = noise(100_000, 1, 1, 2, 4);
    values.columns[0].kind = ColumnKind::Category((0..100_000).map(|v| v.to_string()).collect());
    values.codes[0] = (0..100_000).collect();
    let stump = built(values, 0.0, Some(1));
    let mut values = noise(3_000, 6, 8, 2, 7);
    for column in &mut values.columns {
        column.kind = ColumnKind::Sets((0..9).map(|v| v.to_string()).collect());
    }
    let sets = built(values, 0.0, Some(4));
    let searches: [(&str, Search); 9] = [
        ("stump", &|limits| additive(&stump, limits)),
        ("sets", &|limits| additive(&sets, limits)),
        ("deep", &|limits| additive(&deep, limits)),
        ("shallow", &|limits| additive(&shallow, limits)),
        ("wide", &|limits| additive(&wide, limits)),
        ("classes", &|limits| additive(&classes, limits)),
        ("parity", &|limits| under(&parity, limits)),
        ("three limits", &|limits| under(&three, limits)),
        ("curves", &|limits| curves.solve(&Run::new(limits, curves.scale(), None))),
    ];
    let seconds = |seconds| Some(Duration::from_secs_f64(seconds));
    for (name, search) in searches {
        for threads in [1, 3] {
            // A limit that nothing reaches: without one, parts of the problem are searched for good
            // trees beside, which take memory that is not told.
            let memory = Some(u64::MAX);
            let limits = Limits { threads, memory, time: seconds(1.5), ..Limits::default() };
            let (answer, taken) = measured(search, limits);
            let answer = answer.unwrap();
            let told = answer.work.peak_bytes as i64;
            println!(
                "{name}, {threads} threads: {taken} taken, {told} told, {:?}, {} to {}",
                answer.status, answer.lower_bound, answer.objective
            );
            assert!(
                (taken - told).abs() * 10 <= (taken + 10 * FIXED),
                "{taken} taken, {told} told"
            );

            // A third of what it would like: it sheds, or stops and says so.
            let memory = Some(told as u64 / 3);
            let limits = Limits { threads, memory, time: seconds(1.5), ..Limits::default() };
            let (limited, taken) = measured(search, limits);
            let Ok(limited) = limited else {
                println!("  a third is refused");
                continue;
            };
            let most = told / 3;
            println!(
                "  of {most}: {taken} taken, {:?}, {} to {}",
                limited.status, limited.lower_bound, limited.objective
            );
            assert!(taken - FIXED <= most / 10 * 11, "{taken} taken of {most}");
            if answer.status == Status::Optimal {
                assert!(limited.lower_bound <= answer.objective);
                assert!(answer.objective <= limited.objective);
            }
        }
    }
}
