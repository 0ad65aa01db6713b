//! Bits by machine words. `words` is the only home of `unsafe` in the crate.

mod pairs;
mod words;

pub use pairs::{Best, Pair};
pub use words::{LANES, Lanes, Level, ROWS};
