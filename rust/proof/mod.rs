//! Proofs that a small program can check (`checker/`, `docs/proof.md`): the
//! problem as an instance of points and questions, and a proof that no tree of it is cheaper.
//!
//! Reading order: [`Instance`] (what is proved of) → `claim` (the tree, and the way to a proof) →
//! `replay` (what is written) → `oracle` (what tells it how to go) → `look` (what both count: of
//! labels in `columns`, of `squares` in `chains`).

mod budget;
mod chains;
mod claim;
mod columns;
mod instance;
mod look;
mod numbers;
mod oracle;
mod replay;
mod squares;

pub use claim::{Claim, Proof};
pub use instance::{Instance, Numbers, refused};
