//! All Rust tests but one, in one crate: what they share is compiled once.
//!
//! `memory.rs` is a crate of its own because it counts every allocation of its process.

mod common;

mod additive;
mod bad_input;
mod bounds;
mod broken_tasks;
mod confusion;
mod constrained;
mod constrained_rows;
mod contexts;
mod corpus;
mod cycles;
mod decided;
mod engine;
mod exactness;
mod extreme_numbers;
mod feature_costs;
mod floors;
mod front_contract;
mod front_tasks;
mod fronts_larger;
mod good_trees;
mod guess;
mod incumbents;
mod intervals;
mod judge_rejects;
mod larger;
mod layering;
mod learned;
mod least_rows;
mod limits;
mod linear_limits;
mod lookahead;
mod many_labels;
mod metrics;
mod metrics_limited;
mod near;
mod oracle;
mod path_rules;
mod properties;
mod roc;
mod router;
mod routes;
mod row_costs;
mod same_tree;
mod saved_searches;
mod scaling;
mod serial;
mod smaller;
mod squares;
mod stumps;
mod sum_fronts;
mod three_leaves;
