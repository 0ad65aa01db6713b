//! The second search: for tasks whose values are only partly ordered.
//!
//! A *value* is what a subtree contributes: sums under constraints, errors by group, or a ROC
//! curve. The values that a node can reach are its *front*, without those that another one makes
//! needless, whatever the rest of the tree does. A front of a split joins every value of one side
//! with every value of the other.
//!
//! A *relaxation* keeps fronts small: an additive task with the same rows, whose cost says of every
//! tree how good it can be at best. The problem that this search is given is the relaxation; each
//! value carries its cost in it, its *bound*. A whole tree better than the best one known costs at
//! most some budget there; a node's budget is that less the least that the rest costs; nothing
//! beyond it is built. The closer the relaxation is to the truth, the less there is to search: the
//! caller finds a good one first, and a good tree. A relaxation that costs nothing is valid, too.
//!
//! Reading order: `front` (the contract), `subtree`, `node_front` (the values of a node), `worker`
//! (one node), `solve` (the root). `shared` has what workers share, and `statistics` sums over
//! rows.

mod alternative;
mod candidates;
mod front;
mod known_fronts;
mod node_front;
mod place_by_key;
mod shared;
mod solve;
mod statistics;
mod stopped;
mod subtree;
mod worker;

pub use front::{Candidate, Front};
pub use place_by_key::PlaceByKey;
pub use shared::Start;
pub use solve::{BestTree, solve, whole_front};
pub use subtree::SubtreeSketch;
