//! Searches. Each takes a problem and a run; none knows its siblings. What they do alike is in
//! [`common`].

pub mod best_first;
pub mod brute;
pub mod common;
pub mod fronts;
pub mod intervals;
pub mod separate;
pub mod stumps;
pub mod sum_fronts;

pub use common::Found;
