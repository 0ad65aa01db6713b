//! Kernels: everything about a node that counting can tell, in one pass.
//!
//! [`look`] has the types, [`bits`] the kernels for nodes of binary columns, and [`ranks`] those
//! for all cuts of continuous ones. Each folder chooses among its kernels in its `mod.rs`, and
//! nobody else does.

pub mod bits;
mod look;
pub mod ranks;

pub use bits::{ByValues, Counts, Kernel};
pub use look::{Ask, BothSides, Lookahead, Side, SplitPrice, Unfinished};
