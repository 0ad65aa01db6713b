//! From columns to points: frame → columns → cuts → points → views.

mod columns;
mod features;
mod points;

pub use columns::{Column, ColumnKind, Threshold};
pub use features::{Feature, Features};
pub use points::Points;
