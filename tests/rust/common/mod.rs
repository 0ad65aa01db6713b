//! Shared by the integration tests: random problems from a seed, and the judge of answers to them.
//!
//! A failure prints its seed and a shrunken case. To run one seed again, alone:
//! `CERTREE_SEED=123 cargo test --test all properties::NAME`. Many more cases of any of them:
//! `CERTREE_CASES=20000 cargo test --release --test all properties`, and in parts
//! `CERTREE_SEED=20000..40000` and so on.

// `memory.rs` compiles this module for itself and uses a part of it.
#![allow(dead_code)]

pub mod additive_inputs;
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
pub mod whole_costs;

pub use case::{Case, Loss, Squares};
pub use problems::{Options, random_problem};
pub use random::Random;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How many random cases there are of a kind: so many, or what `CERTREE_CASES` says, which is for
/// long runs by hand. A mistake shows in a few hundred cases of its kind (`tests/mutants.py`), and
/// every change waits for all of them, so the usual numbers are small.
pub fn cases(usual: u64) -> u64 {
    let asked = std::env::var("CERTREE_CASES").ok();
    asked.map_or(usual, |count| count.parse().expect("CERTREE_CASES is a number"))
}

/// These seeds, unless the environment names one, or a range of them.
fn chosen(seeds: Range<u64>) -> Range<u64> {
    let Ok(asked) = std::env::var("CERTREE_SEED") else { return seeds };
    let seed = |text: &str| text.parse::<u64>().expect("CERTREE_SEED is a number or a range");
    match asked.split_once("..") {
        Some((first, end)) => seed(first)..seed(end),
        None => seed(&asked)..seed(&asked) + 1,
    }
}

/// Runs `check` on seeds, for cases of a file's own kind.
pub fn for_all(seeds: Range<u64>, check: impl Fn(u64) -> Result<(), String>) {
    for seed in chosen(seeds) {
        check(seed).unwrap_or_else(|why| panic!("CERTREE_SEED={seed}: {why}"));
    }
}

/// Runs `check` on so many random cases, or as many as `CERTREE_CASES` says. A panic inside counts
/// as a failure of that case.
pub fn for_seeds(
    usual: u64,
    options: &Options,
    check: impl Fn(&Case) -> Result<(), String> + Copy,
) {
    let seeds = chosen(0..cases(usual));
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
