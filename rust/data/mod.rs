//! From columns to points: frame → columns → cuts → points → views.

mod codes;
mod columns;
mod decimals;
mod features;
mod group;
mod merge;
mod points;
mod ranks;
mod room;
mod saved;
mod sort;
mod sums;

pub use codes::Codes;
pub use columns::{Column, ColumnKind, Threshold, right_sets};
pub use decimals::shortest;
pub use features::{Feature, Features, Order};
pub use group::{Digit, Grouped, Located, group, locate};
pub use merge::merge;
pub use points::Points;
pub use ranks::{Ranked, Sparse, Value, rank_columns};
pub use room::Room;
pub use sums::{exact_sums_by_point, sum_by_point};
