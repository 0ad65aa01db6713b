//! Two classes: the loss is a function of two sums, what is missed of either, and the whole front
//! of these has a search of its own that is much faster.
//!
//! Every tree is dominated by one of the front, or, where the search was stopped, by one of the
//! entries that it leaves open: so none costs less than the least of them.

use std::time::Duration;

use super::problem::MatrixProblem;
use crate::cost::{Cost, INFINITE};
use crate::error::Result;
use crate::pareto::scalar;
use crate::run::Run;
use crate::search::fronts::BestTree;
use crate::search::sum_fronts::{self, Axes, Entry};

/// Class and label of both kinds of errors, in a matrix of two classes.
const CELLS: [usize; 2] = [1, 2];

impl MatrixProblem {
    /// Whether the loss is searched as a front of two sums.
    pub(super) fn has_whole_front(&self) -> bool {
        let shape = &self.problem.shape;
        let is_limited = shape.max_depth.is_some() || shape.max_leaves.is_some();
        let k = self.by_class.len();
        // That search knows no prices.
        let is_free = self.problem.feature_costs.is_none();
        self.whole_front
            && is_free
            && k == 2
            && self.loss.n_falling == self.loss.adds.len()
            && is_limited
    }

    /// The best tree, and what no tree costs less than. `known`: the bounds there are, for
    /// progress.
    pub(super) fn of_whole_front(
        &self,
        known: (Cost, Cost),
        run: &Run,
    ) -> Result<(Option<BestTree>, Cost)> {
        let problem = &self.problem;
        let searched = scalar::problem(problem, &self.classes, vec![0; 4], 0, problem.shape)?;
        let weights = problem.stats(0..problem.points.len());
        // The smaller sum comes first, because a table of it is smaller.
        let mut cells = CELLS;
        cells.sort_by_key(|&cell| weights[cell / 2]);
        let cost = |cell: usize| (0..4).map(|at| i64::from(at == cell)).collect();
        let axes = Axes::new((2, 2), cells.map(cost).into(), self.leaf_cost > 0, &weights)?;
        let pulse = |_: &_| run.report(known.0, known.1).is_none();
        let inner = run.part(searched.scale, Box::new(pulse));
        let found = sum_fronts::solve(&searched, &axes, usize::MAX, Duration::ZERO, &inner);
        run.absorb(&inner);
        let found = found?;
        let total = |entry: &Entry, leaves: u32| {
            let mut matrix = [weights[0], 0, 0, weights[1]];
            for (&cell, &errors) in cells.iter().zip(&entry.sums) {
                let class = cell / 2;
                matrix[cell] = errors;
                matrix[3 * class] -= errors;
            }
            let of = |adds: &Vec<i64>| adds.iter().zip(&matrix).map(|(add, m)| add * m).sum();
            let sums: Vec<i64> = self.loss.adds.iter().map(of).collect();
            self.units.of(self.loss.of(&sums)) + self.leaf_cost * Cost::from(leaves)
        };
        let mut best: Option<BestTree> = None;
        for tree in found.trees {
            let cost = total(&tree.entry, tree.labels.len() as u32);
            if best.as_ref().is_none_or(|best| cost < best.cost) {
                best = Some(BestTree { cost, plan: tree.plan, labels: tree.labels });
            }
        }
        let open = found.open.iter().map(|entry| total(entry, entry.leaves.max(1)));
        let least = best.as_ref().map_or(INFINITE, |best| best.cost);
        Ok((best, open.fold(least, Cost::min)))
    }
}
