//! Bits by machine words. `words` is the only home of `unsafe` in the crate.

mod lanes;
mod pairs;
mod portable;
mod words;

pub use lanes::{LANES, Lanes, ROWS};
pub use pairs::{Best, Pair};
pub use words::{Level, call_leaf_cost};
