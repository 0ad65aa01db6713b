//! Whole fronts of sums in one search: every tree that no other one is better than in two or three
//! sums, such as false negatives, false positives and leaves.
//!
//! A *sum* adds up over rows: so much for each class under each label. What a tree sums up to is
//! its *entry*, and the entries of a node's rows that no other entry dominates are its front. The
//! front of a split joins every entry of one side with every entry of the other, and the front of
//! a node is what is left of all its splits and its leaf. Because all is in whole numbers, equal is
//! equal, and no entry is kept or lost by rounding.
//!
//! Two levels above the leaves, pairs of columns are counted as bits, and the fronts of all splits
//! come from these counts without a view of either side (`two_levels`). Nodes above those search
//! their splits one by one. A split whose sides are like sides that are known is bounded by
//! their fronts, entry by entry (`bounds/similarity.rs`), and is left out where the node's front
//! dominates that (`bounds`). What is left open when the time is up has such a bound, too: so the
//! front of bounds and entries together is a staircase that no tree is below.
//!
//! Reading order: `axes` (what is summed), `entry`, `gather` and `flat` (from candidates to a
//! front), `node`, `two_levels`, `solve` (the root), `extract` (from entries to trees).

mod axes;
mod bounds;
mod entry;
mod extract;
mod flat;
mod gather;
mod known;
mod node;
mod shared;
mod solve;
mod two_levels;

pub use axes::Axes;
pub use entry::{Entry, MOST_SUMS};
pub use solve::{Attained, Found, solve};
