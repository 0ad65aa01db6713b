//! Bits by machine words. `words` is the only home of `unsafe` in the crate.

mod words;

pub use words::{LANES, Lanes, Level, ROWS};
