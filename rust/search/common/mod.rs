//! The chassis of the searches: what more than one of them does alike. It knows none of them.
//!
//! - [`set_up`]: the view that a search begins with, and a refusal where there is no room for it.
//! - [`workers`]: how many workers there is room for, and threads that work until all is done.
//! - [`open_work`]: what is still open, the least bound first, while some of it is being tried.
//! - [`shards`]: tables that workers share.
//! - [`sync`]: locks and atomics, which tests replace by those of a schedule explorer.
//!
//! The memory ledger is `run/held.rs`, because others than searches hold memory, too.

mod found;
pub mod open_work;
pub mod set_up;
pub mod shards;
pub mod sync;
pub mod workers;

pub use found::Found;
