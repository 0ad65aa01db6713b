//! From columns to points: frame → columns → cuts → points → views.

mod bit_view;
mod columns;
mod features;
mod points;

pub use bit_view::{BitView, Key, Question, Segment, View};
pub use columns::{Column, ColumnKind, Threshold};
pub use features::{Feature, Features};
pub use points::Points;
