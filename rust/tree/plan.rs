//! A tree as a search finds it: features and cuts, nothing else.

use crate::ids::FeatureId;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Plan {
    #[default]
    Leaf,
    Split {
        feature: FeatureId,
        cut: u32,
        left: Box<Plan>,
        right: Box<Plan>,
    },
}

impl Plan {
    pub fn split(feature: FeatureId, cut: u32, left: Plan, right: Plan) -> Self {
        Plan::Split { feature, cut, left: Box::new(left), right: Box::new(right) }
    }

    pub fn leaves(&self) -> u32 {
        match self {
            Plan::Leaf => 1,
            Plan::Split { left, right, .. } => left.leaves() + right.leaves(),
        }
    }

    pub fn depth(&self) -> u32 {
        match self {
            Plan::Leaf => 0,
            Plan::Split { left, right, .. } => 1 + left.depth().max(right.depth()),
        }
    }
}
