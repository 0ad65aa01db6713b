//! The context of a problem's paths, by question: what the questions of a view cost, and which of
//! them are allowed.

use std::sync::Arc;

use crate::context::{Context, FeatureCostContext, Product, State, Walk};
use crate::cost::Cost;
use crate::data::Features;
use crate::ids::ColumnId;
use crate::task::{FeatureCosts, paid};

/// Feature costs and all other contexts of a problem.
#[derive(Debug, Clone)]
pub struct PathContext {
    walk: Walk<Product>,
    /// By question: its column.
    column_of: Vec<ColumnId>,
    pub(super) feature_costs: Option<Arc<FeatureCostContext>>,
    /// Whether there is more than feature costs.
    pub(super) has_rules: bool,
    /// How many masses rows have, by which costs are told (`FeatureCosts::n_masses`).
    pub n_masses: usize,
    /// By class and mass: of a unit of weight. Empty where rows have masses of their own.
    pub of_class: Vec<Cost>,
}

impl PathContext {
    /// `None` where nothing costs anything and everything is allowed. `column_of`: the column of
    /// each question.
    pub fn new(
        costs: Option<&FeatureCosts>,
        context: Option<&Arc<dyn Context>>,
        features: &Features,
        column_of: Vec<ColumnId>,
    ) -> Option<PathContext> {
        if costs.is_none() && context.is_none() {
            return None;
        }
        let columns = features.iter().map(|feature| feature.column.index() + 1);
        let n_columns = columns.max().unwrap_or(0);
        let mut questions = vec![0; n_columns];
        column_of.iter().for_each(|column| questions[column.index()] += 1);
        let feature_costs = costs.map(|costs| Arc::new(FeatureCostContext::new(costs, &questions)));
        // Feature costs come first: their words are the first of a state.
        let first = feature_costs.iter().map(|costs| costs.clone() as Arc<dyn Context>);
        let parts = first.chain(context.cloned()).collect();
        Some(PathContext {
            walk: Walk::new(Product::new(parts, n_columns), &questions),
            column_of,
            feature_costs,
            has_rules: context.is_some(),
            n_masses: costs.map_or(0, |costs| costs.n_masses),
            of_class: costs.map_or_else(Vec::new, |costs| costs.of_class.clone()),
        })
    }

    pub fn bytes(&self) -> usize {
        self.column_of.capacity() * size_of::<ColumnId>()
            + self.feature_costs.as_ref().map_or(0, |costs| costs.bytes())
    }

    pub fn has_prices(&self) -> bool {
        self.feature_costs.is_some()
    }

    /// All prices there are, if questions cost something.
    pub fn prices(&self) -> Option<impl Iterator<Item = Cost> + '_> {
        self.feature_costs.as_ref().map(|costs| costs.all_costs())
    }

    pub(super) fn column(&self, question: u32) -> ColumnId {
        self.column_of[question as usize]
    }

    pub fn start(&self) -> State {
        self.walk.start()
    }

    /// The state below a split by this question.
    pub fn enter(&self, state: &State, question: u32) -> State {
        self.walk.enter(state, self.column(question))
    }

    /// Whether the question may be asked in this state.
    pub fn allows(&self, state: &State, question: u32) -> bool {
        self.walk.allows(state, self.column(question))
    }

    /// What rows pay for a price, if classes have such sums over them.
    pub fn paid_by_classes(&self, sums: &[i64], price: Cost) -> Cost {
        let n = self.n_masses;
        let of_class = self.of_class.chunks_exact(n.max(1));
        paid(n, price, |at| of_class.clone().zip(sums).map(|(mass, sum)| mass[at] * sum).sum())
    }

    /// What the question costs for a unit of mass, whether it is allowed or not.
    pub fn price(&self, state: &State, question: u32) -> Cost {
        let cost = |costs: &Arc<FeatureCostContext>| costs.cost_in(state, self.column(question));
        self.feature_costs.as_ref().map_or(0, cost)
    }

    /// Questions of the same kind that split alike are one question.
    pub fn kind(&self, question: u32) -> u32 {
        self.walk.kind(self.column(question))
    }

    /// Take the questions out of a mask of them that may be asked neither here nor anywhere below.
    pub fn strike(&self, state: &State, questions: &[u32], mask: &mut [u64]) {
        if !self.sheds(state) {
            // Something that is forbidden now may become allowed.
            return;
        }
        for (at, &question) in questions.iter().enumerate() {
            if !self.allows(state, question) {
                mask[at / 64] &= !(1 << (at % 64));
            }
        }
    }

    /// `Context::sheds`.
    pub fn sheds(&self, state: &State) -> bool {
        self.walk.sheds(state)
    }

    /// Whether rows in the state `one` can be sent down every tree that other rows have in the
    /// state `other`. A split of that tree may leave them on one side, where it is no split: then
    /// what it allows below must be allowed in its place.
    pub fn takes_trees_of(&self, one: &State, other: &State) -> bool {
        self.sheds(one) && self.walk.covers(one, other)
    }

    /// Whether no question is forbidden in this state, nor below the next split.
    pub(super) fn is_open(&self, state: &State) -> bool {
        !self.has_rules || self.walk.is_open(state)
    }
}

/// By feature: questions of features of the same class may stand for each other if they split
/// alike.
pub(super) fn alike(
    costs: Option<&FeatureCosts>,
    context: Option<&Arc<dyn Context>>,
    features: &Features,
) -> Vec<u32> {
    // How often columns are asked makes no difference to their kinds.
    let all = PathContext::new(costs, context, features, Vec::new());
    let kind = |column: ColumnId| all.as_ref().map_or(0, |all| all.walk.kind(column));
    features.iter().map(|feature| kind(feature.column)).collect()
}
