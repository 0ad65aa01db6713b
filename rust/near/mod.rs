//! All trees that are nearly as good as the best one: how many there are, one after the other,
//! drawn at random, and what they have in common.
//!
//! Reading order: [`Near`] → `build` (the graph of all trees within a budget) → `curves` (how many
//! trees each node has, by cost) → `listed`, `sample`, `queries`.

mod build;
mod count;
mod curves;
mod graph;
mod least;
mod listed;
mod losses;
mod queries;
mod questions;
mod rows;
mod sample;
mod wanted;

use crate::check;
use crate::cost::{Cost, MAX_TOTAL, Scale, decimal};
use crate::error::{Error, Result};
use crate::finish;
use crate::ids::ColumnId;
use crate::problem::Problem;
use crate::run::{Run, on_deep_stack};
use crate::tree::Tree;

pub use count::Count;
use curves::Curves;
use graph::Graph;
pub use listed::{Listed, Listing};
use sample::{Sampler, Words};
pub use wanted::{Alike, LeafAnswers, Wanted};

/// How far from the best tree the others may be.
#[derive(Debug, Clone, Copy)]
pub enum Reach {
    /// As a share of its objective.
    Share(f64),
    /// As a difference of objectives.
    Amount(f64),
    /// So far that there are this many trees.
    Trees(u64),
}

impl Reach {
    /// What trees may cost if the best one costs `least`; `None` if that depends on the trees.
    fn budget(self, least: Cost, scale: &Scale) -> Option<Cost> {
        let whole = (scale.units.fract() == 0.0 && scale.units < 2f64.powi(63))
            .then_some(scale.units as i128);
        let from = i128::from(least) + scale.offset;
        let more = match self {
            Reach::Trees(_) => return None,
            Reach::Share(share) => times(from, share),
            Reach::Amount(amount) => match whole {
                Some(units) => times(units, amount),
                None => (amount * scale.units).floor() as i128,
            },
        };
        Some((i128::from(least) + more.max(0)).min(i128::from(MAX_TOTAL)) as Cost)
    }
}

/// A whole number times a share that is read as a short decimal, rounded down.
fn times(number: i128, share: f64) -> i128 {
    let (over, under) = match decimal(share) {
        Some((over, under)) => (i128::from(over), i128::from(under)),
        None => return (number as f64 * share).floor() as i128,
    };
    match number.checked_mul(over) {
        Some(product) => product.div_euclid(under),
        None => (number as f64 * share).floor() as i128,
    }
}

/// All trees of a problem that are wanted.
pub struct Near {
    problem: Problem,
    graph: Graph,
    wanted: Wanted,
}

impl Near {
    /// Find them, within the limits of the run. If it is stopped, some of them are missing.
    pub fn search(problem: &Problem, wanted: Wanted, run: &Run) -> Result<Near> {
        if problem.feature_costs.is_some() || problem.context.is_some() {
            return Err(Error::invalid(
                "near_optimal does not know feature_costs and path_rules: fit a model without them",
            ));
        }
        let shape = &problem.shape;
        if shape.max_depth.is_none() && shape.max_leaves.is_none() && !problem.has_penalty() {
            return Err(Error::invalid(
                "without any limit on the size of trees, and without a penalty, nearly all trees are \
                 near the best: set max_depth, max_leaf_nodes or leaf_penalty",
            ));
        }
        let graph =
            on_deep_stack(problem.longest_path(), (), |()| build::build(problem, wanted, run))??;
        Ok(Near { problem: problem.clone(), graph, wanted })
    }

    /// Find the trees near the best one, which is `tree`.
    pub fn around(
        problem: &Problem,
        tree: &Tree,
        reach: Reach,
        answers: LeafAnswers,
        alike: Alike,
        run: &Run,
    ) -> Result<Near> {
        let least = finish::cost_of(problem, tree);
        let wanted = |budget| Wanted { budget, answers, alike };
        let n = match (reach.budget(least, &problem.scale), reach) {
            (Some(budget), _) => return Near::search(problem, wanted(budget), run),
            (None, Reach::Trees(n)) => Count::from(u128::from(n)),
            (None, _) => Count::ONE,
        };
        let mut more = (least / 64).max(1);
        loop {
            let budget = (least + more).min(MAX_TOTAL);
            let near = Near::search(problem, wanted(budget), run)?;
            let (count, is_all) = near.count(run);
            if !is_all || budget == MAX_TOTAL {
                return Ok(near);
            }
            if count >= n {
                let curves = Curves::new(&near.graph, None, run);
                let mut costs = curves.curve(0);
                costs.sort_by_key(|entry| entry.cost);
                let mut sum = Count::ZERO;
                let last = costs.iter().find(|entry| {
                    sum.add(&entry.count);
                    sum >= n
                });
                let budget = last.map_or(budget, |entry| entry.cost);
                return Near::search(problem, wanted(budget), run);
            }
            more = more.saturating_mul(2);
        }
    }

    /// Whether no tree is missing.
    pub fn is_complete(&self) -> bool {
        self.graph.is_complete
    }

    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Nodes and splits of the graph.
    pub fn size(&self) -> (usize, usize) {
        (self.graph.nodes.len(), self.graph.splits.len())
    }

    /// What the best tree costs.
    pub fn least(&self) -> Option<Cost> {
        self.graph.nodes.first().map(|root| root.least)
    }

    pub fn budget(&self) -> Cost {
        self.wanted.budget
    }

    /// How many trees there are, and whether that is all; else it is some of them.
    pub fn count(&self, run: &Run) -> (Count, bool) {
        self.count_without(None, run)
    }

    /// How many trees there are without this column.
    pub fn count_without(&self, column: Option<ColumnId>, run: &Run) -> (Count, bool) {
        if self.graph.nodes.is_empty() {
            return (Count::ZERO, false);
        }
        let curves = Curves::new(&self.graph, column, run);
        let is_complete = self.graph.is_complete && curves.is_complete;
        (curves.count(self.wanted.budget), is_complete)
    }

    /// The curves of all nodes, or an error where a limit ended the count of them.
    fn all_curves(&self, run: &Run) -> Result<Curves<'_>> {
        let curves = Curves::new(&self.graph, None, run);
        if curves.is_complete && !self.graph.nodes.is_empty() {
            return Ok(curves);
        }
        Err(Error::invalid(
            "the trees were not counted to the end: raise time_limit or memory_limit, or ask for \
             trees that are nearer",
        ))
    }

    /// How many trees have each cost, if there are at most `most` different costs.
    pub fn by_cost(&self, most: usize, run: &Run) -> Result<Option<Vec<(Cost, Count)>>> {
        let curves = self.all_curves(run)?;
        let mut costs: Vec<(Cost, Count)> = Vec::new();
        let mut entries = curves.curve(0);
        entries.sort_by_key(|entry| entry.cost);
        for entry in entries {
            match costs.last_mut().filter(|last| last.0 == entry.cost) {
                Some(last) => last.1.add(&entry.count),
                None => costs.push((entry.cost, entry.count)),
            }
        }
        Ok((costs.len() <= most).then_some(costs))
    }

    /// The next tree of a listing, the best first.
    pub fn next(&self, listing: &mut Listing) -> Result<Option<(Tree, Cost)>> {
        listing.next(&self.graph).map(|listed| self.grown(listed)).transpose()
    }

    /// Trees that are drawn, all with the same chance; each draw is of all trees.
    pub fn sample(&self, n: usize, seed: u64, run: &Run) -> Result<Vec<(Tree, Cost)>> {
        let curves = self.all_curves(run)?;
        let sampler = Sampler::new(&curves, self.wanted.budget);
        let mut words = Words(seed);
        (0..n).map_while(|_| sampler.draw(&mut words)).map(|listed| self.grown(listed)).collect()
    }

    /// The tree of the fewest leaves.
    pub fn sparsest(&self) -> Result<Option<(Tree, Cost)>> {
        queries::sparsest(&self.graph).map(|listed| self.grown(listed)).transpose()
    }

    /// What the best tree costs that does not ask for a column, if one of the trees does not.
    pub fn least_without(&self, column: ColumnId) -> Option<Cost> {
        queries::least_without(&self.graph, column)
    }

    /// By column: whether any tree asks for it.
    pub fn asked(&self) -> Vec<bool> {
        queries::asked(&self.graph, self.problem.columns.len())
    }

    /// A finished tree, once its cost is recomputed from the points.
    fn grown(&self, listed: Listed) -> Result<(Tree, Cost)> {
        let Listed { cost, plan, labels } = listed;
        let tree = match self.wanted.answers {
            LeafAnswers::Any if self.problem.labelled().is_some() => {
                finish::labelled(&self.problem, plan, &labels)?
            }
            _ => finish::grow(&self.problem, plan)?,
        };
        check::confirm(cost, finish::cost_of(&self.problem, &tree))?;
        Ok((tree, cost))
    }
}
