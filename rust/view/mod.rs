//! Views: the same points as a kernel wants them.

mod bit_view;
mod entries;
mod layout;
mod questions;

pub use bit_view::{BitView, Key, Question, Segment, View};
pub use layout::Layout;
