//! Bits by machine words. `words` is the only home of `unsafe` in the crate.

mod pairs;
mod portable;
mod words;

pub use pairs::{Best, Pair};
pub use words::{LANES, Lanes, Level, ROWS, call_leaf_cost};
