//! Kernels on ranks: trees of up to two levels over all cuts of a part of a node.
//!
//! A search over intervals asks about parts of a node; a kernel answers with bounds that it
//! tightens as far as it is asked to. To add a kernel: implement [`RankKernel`] for what is known
//! of its rows, and name it in `choice.rs`, which is the only place that chooses.

mod blocks;
mod choice;
mod interval_bound;
mod labels;
mod open_cuts;
mod pair_room;
mod rank_kernel;
mod squares;
mod stumps;
mod sums;

pub use choice::{WithKernel, takes, with_kernel};
pub use interval_bound::Item;
pub use rank_kernel::{RankKernel, RankRows, stump_plan};
pub use stumps::{Stump, stumps};
