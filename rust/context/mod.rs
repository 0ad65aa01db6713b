//! Path contexts: what may be asked at a node, and at what cost, given what was asked above it.
//!
//! To add one, write one small file with its statement on top, implement [`Context`] in it, and add
//! it to the list below. Nothing else needs to know: the search, the oracle and the checker see
//! only the trait, and [`Product`] combines any of them. [`testing::obeys`] tries the clauses of
//! the contract on random paths. `posed/path_rules.rs` lets users have it.
//!
//! **What a context is not: monotone columns.** "The prediction must not fall when column x rises"
//! cannot be said of a path. It compares leaves of different subtrees: below a split of x at t, an
//! answer on the left may be forbidden because of an answer on the right, which no path to the left
//! knows of. The best tree of a node then depends on more than its rows and what was asked above,
//! so that two subtrees cannot be chosen apart from each other, which all of `search/best_first`
//! rests on. Two ways would be exact, and both are more than a context. One makes a subtree's value
//! a front, in the sense of `search/fronts`: its cost, and for every pair of boxes in the other
//! columns the least and the greatest answer, since only leaves whose boxes meet in the other
//! columns are compared; joining at a split of x drops the combinations whose answers cross, and
//! cost alone dominates nothing. The other carries an interval of allowed answers down the path,
//! splits it at a value m between the two sides of x (left at most m, right at least m), and takes
//! the best m: nodes then have their interval as a part of their key, a leaf costs the best answer
//! within it, which kernels do not know, and the trees are those where *every* leaf on the left of
//! x answers at most what *every* leaf on its right does, which are fewer than the monotone ones. A
//! check of the finished tree by pairs of leaves could tell whether it is monotone, but says
//! nothing of what the best monotone tree is.

mod after;
mod bit_set;
mod contract;
mod feature_costs;
mod first_column;
mod most_columns;
mod product;
mod state;
pub mod testing;
mod together;
mod walk;

pub use after::After;
pub use contract::Context;
pub use feature_costs::FeatureCostContext;
pub use first_column::FirstColumn;
pub use most_columns::MostColumns;
pub use product::Product;
pub use state::State;
pub use together::Together;
pub use walk::Walk;
