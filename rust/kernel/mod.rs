//! Kernels: everything about a node that counting can tell, in one pass.

mod depth_one;
mod depth_two;
mod glance;
mod lanes;
mod narrow;
mod paying;
mod prints;
pub mod ranks;
mod rows;
mod skewed;
mod squares;
mod wide;

pub use depth_one::Counts;
pub use depth_two::{Ask, Fee, Kernel, Lookahead, Side, Unfinished};
