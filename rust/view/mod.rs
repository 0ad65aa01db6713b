//! Views: the same points as a kernel wants them.

mod bit_view;
mod entries;
mod fares;
mod layout;
mod questions;
mod rank_view;

pub use bit_view::{BitView, Key, Question, Segment, View};
pub use fares::{Context, Fares, Tariff};
pub use layout::Layout;
pub use rank_view::{Axis, Part, Print, RankNode, RankView, Side};
