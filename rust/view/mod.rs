//! Views: the same points as a kernel wants them.

mod bit_view;

pub use bit_view::{BitView, Key, Question, Segment, View};
