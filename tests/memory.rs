//! What a search says it holds, against what it takes from the allocator.
//!
//! One test only: the allocator counts for the whole process.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Duration;

use certree::problem::Problem;
use certree::run::{Limits, Run, Status};
use certree::solve::{Answer, solve};
use common::large::{built, noise};

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

/// The answer, and the most bytes that the search took.
fn measured(problem: &Problem, limits: Limits) -> (Answer, i64) {
    let run = Run::new(limits, problem.scale, None);
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let answer = solve(problem, &run).unwrap();
    (answer, PEAK.load(Relaxed) - before)
}

#[test]
fn memory_is_what_it_says_and_limits_are_kept() {
    let deep = built(noise(3_000, 12, 1, 2, 0), 0.0005, None);
    let shallow = built(noise(4_000, 12, 12, 2, 1), 0.0002, Some(5));
    let wide = built(noise(2_000, 2, 1_500, 2, 2), 0.0002, Some(3));
    let classes = built(noise(2_000, 10, 8, 30, 3), 0.0002, Some(4));
    let seconds = |seconds| Some(Duration::from_secs_f64(seconds));
    for (name, problem) in
        [("deep", &deep), ("shallow", &shallow), ("wide", &wide), ("classes", &classes)]
    {
        for threads in [1, 3] {
            let limits = Limits { threads, time: seconds(1.5), ..Limits::default() };
            let (answer, taken) = measured(problem, limits);
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
            let run = Run::new(limits.clone(), problem.scale, None);
            if solve(problem, &run).is_err() {
                println!("  a third is refused");
                continue;
            }
            let (limited, taken) = measured(problem, limits);
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
