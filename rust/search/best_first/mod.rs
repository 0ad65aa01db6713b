//! Best-first search over AND/OR nodes: exact for every task whose cost is a sum over rows.
//!
//! A node is a set of rows and a budget. Its answer is a leaf or the best of its alternatives, each
//! a split with two children. Reading order: [`node`] → [`look`] (what one kernel call proves) →
//! [`alternatives`] → [`descend`] (the main loop) → [`expand`] → [`siblings`] and [`parts`] (what
//! sides tell of others) → [`room`] → [`extract`] → [`workers`]; and [`sizes`], which bounds trees
//! of all sizes at once.

mod alternatives;
mod both_sides;
mod budget;
mod by_size;
mod decided;
mod descend;
mod expand;
mod extract;
mod frame;
mod learned;
mod look;
mod news;
mod node;
mod parts;
mod proved;
mod room;
mod saved;
#[cfg(all(test, shuttle))]
mod schedules;
mod siblings;
mod sizes;
mod table;
mod ties;
mod workers;

pub use budget::Budget;
pub use frame::Part;
pub use learned::{ErrorCosts, Hints, Learned};
pub use news::News;
pub use table::Table;
pub use workers::{Options, go_on, go_on_told, solve, solve_with};
