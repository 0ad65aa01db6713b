//! Best-first search over AND/OR nodes: exact for every task whose cost is a sum over rows.
//!
//! A node is a set of rows and a budget. Its answer is a leaf or the best of its alternatives, each
//! a split with two children. Reading order: [`node`] → [`look`] (what one kernel call proves) →
//! [`alternatives`] → [`descend`] (the main loop) → [`expand`] → [`siblings`] → [`room`] →
//! [`extract`] → [`workers`].

mod alternatives;
mod budget;
mod descend;
mod expand;
mod extract;
mod frame;
mod learned;
mod look;
mod node;
mod proved;
mod room;
mod saved;
#[cfg(all(test, shuttle))]
mod schedules;
mod siblings;
mod table;
mod ties;
mod workers;

pub use budget::Budget;
pub use learned::{ErrorCosts, Hints, Learned};
pub use table::Table;
pub use workers::{Options, go_on, solve, solve_with};
