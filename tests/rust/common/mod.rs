//! Shared by the integration tests: random problems from a seed, and the judge of answers to them.
//!
//! A failure prints its seed and a shrunken case. To run one seed again, alone:
//! `CERTREE_SEED=123 cargo test --test all properties::NAME`.

// `memory.rs` compiles this module for itself and uses a part of it.
#![allow(dead_code)]

pub mod case;
pub mod corpus;
pub mod damage;
pub mod exhaustive;
pub mod floors;
pub mod front_kinds;
pub mod judge;
pub mod large;
pub mod limited;
pub mod metrics;
pub mod naive;
pub mod paths;
pub mod problems;
pub mod random;
pub mod sets;
pub mod shrink;

pub use case::{Case, Loss, Squares};
pub use problems::{Options, random_problem};
pub use random::Random;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// These seeds, unless the environment names one.
fn chosen(seeds: Range<u64>) -> Range<u64> {
    match std::env::var("CERTREE_SEED") {
        Ok(seed) => {
            let seed = seed.parse().expect("CERTREE_SEED is a number");
            seed..seed + 1
        }
        Err(_) => seeds,
    }
}

/// Runs `check` on seeds, for cases of a file's own kind.
pub fn for_all(seeds: Range<u64>, check: impl Fn(u64) -> Result<(), String>) {
    for seed in chosen(seeds) {
        check(seed).unwrap_or_else(|why| panic!("CERTREE_SEED={seed}: {why}"));
    }
}

/// Runs `check` on the cases of `count` seeds. A panic inside counts as a failure of that case.
pub fn for_seeds(
    count: u64,
    options: &Options,
    check: impl Fn(&Case) -> Result<(), String> + Copy,
) {
    let seeds = chosen(0..count);
    for seed in seeds.clone() {
        let case = random_problem(seed, options);
        if let Err(why) = guarded(&case, check) {
            // A case that no longer builds fails too, but for another reason.
            let builds = |case: &Case| case.problem().map(|_| ()).map_err(|e| e.to_string());
            let kind = builds(&case);
            let fails = |case: &Case| builds(case) == kind && guarded(case, check).is_err();
            let small = shrink::shrink(case, fails);
            let why_small = guarded(&small, check).err().unwrap_or_default();
            panic!("CERTREE_SEED={seed}: {why}\nshrunken: {small:#?}\nwhich fails so: {why_small}");
        }
    }
    println!("{} random cases", seeds.end - seeds.start);
}

fn guarded(case: &Case, check: impl Fn(&Case) -> Result<(), String>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| check(case))).unwrap_or_else(|panic| {
        let text = (panic.downcast_ref::<String>().map(String::as_str))
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", text.unwrap_or("?")))
    })
}
