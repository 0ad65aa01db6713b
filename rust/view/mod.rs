//! Views: the same points as a kernel wants them.

mod bit_view;
mod questions;

pub use bit_view::{BitView, Key, Question, Segment, View};
