//! Whole numbers and fractions of any size, to say exactly what a tree costs in the numbers that
//! the caller gave.
//!
//! Searches count in `i64` units (`cost.rs`). Nothing here is on their path: fractions are for the
//! few numbers that make a unit, and for the objective of the finished tree.

mod natural;
mod ratio;
mod total;

pub use natural::Natural;
pub use ratio::{Ratio, whole};
pub use total::Total;
