//! Which trees are near-optimal ones.

use crate::cost::Cost;

/// What a leaf may answer: the best label or number for its rows, or any label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafAnswers {
    Best,
    Any,
}

/// Whether questions that part a node's rows alike make one tree, or one tree each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alike {
    Once,
    Each,
}

/// Which trees are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// What they may cost, in the problem's units.
    pub budget: Cost,
    pub answers: LeafAnswers,
    pub alike: Alike,
}
