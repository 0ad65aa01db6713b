//! Views: the same points as a kernel wants them.

mod bit_view;
mod entries;
mod free_columns;
mod layout;
mod nesting;
mod offer;
mod path_context;
mod questions;
mod rank_view;
mod seen_rows;
mod subset;
mod thirds;

pub use bit_view::{BitView, Cut, Fingerprint, Segment, View};
pub use free_columns::{FreeColumns, ValueSet};
pub use layout::{Layout, Paths};
pub use nesting::Nesting;
pub use offer::{Bans, Offer};
pub use path_context::PathContext;
pub use rank_view::{Axis, LeastRows, Missing, Part, RankNode, RankView};
pub use seen_rows::SeenRows;
pub use thirds::{SideOf, Thirds, Three, other_sides};
