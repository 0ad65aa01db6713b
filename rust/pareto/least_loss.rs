//! The search for the least loss + λ · leaves under limits on sums.
//!
//! First the best multipliers make the relaxation's bound as large as possible. They are found one
//! limit at a time, because the bound is concave in each multiplier, and each solve tells its
//! slope. If the bound and the best tree that is found on the way do not meet, fronts are searched.

use super::constrained::{Attained, Constrained, MOST_LIMITS};
use super::limits::{Limit, dot};
use super::multipliers::Dual;
use super::scalar;
use super::sums::{Relaxed, Sums};
use crate::answer::exactly::settle;
use crate::answer::{Answer, conclude, confirm_paths};
use crate::bounds::Bound;
use crate::check;
use crate::cost::{Cost, INFINITE};
use crate::error::{Error, Result};
use crate::finish::labelled;
use crate::route::Route;
use crate::run::Run;
use crate::search::fronts::{self, BestTree, Start};

impl Constrained {
    /// The best tree that keeps the limits, and what it attains. It is an error if there is none,
    /// and a panic anywhere below is one, too.
    pub fn solve(&self, run: &Run) -> Result<(Answer, Attained)> {
        Error::guard(|| {
            let (best, lower) = self.best_below(INFINITE, run)?;
            let best = self.require(best, run)?;
            let tree = labelled(&self.problem, best.plan, &best.labels)?;
            let (columns, points) = (&self.problem.columns, &self.problem.points);
            let task = self.problem.task.as_ref();
            let cost = check::recompute(&tree, columns, points, task, self.problem.leaf_cost);
            check::confirm(best.cost, cost)?;
            confirm_paths(&self.problem, &tree)?;
            let attained = self.attained(&tree)?;
            let bounds = (lower.min(best.cost), best.cost);
            let answer = conclude(tree, Route::Fronts, bounds, self.problem.scale, run);
            Ok((settle(&self.problem, answer, run), attained))
        })
    }

    /// The best tree that keeps the limits and costs less than `cutoff`, if there is one, and a
    /// lower bound on all that keep them, which need not exceed `cutoff`.
    pub(crate) fn best_below(&self, cutoff: Cost, run: &Run) -> Result<(Option<BestTree>, Cost)> {
        match self.limits.len() {
            0 | 1 => self.search::<1>(cutoff, run),
            2 => self.search::<2>(cutoff, run),
            3 | 4 => self.search::<4>(cutoff, run),
            _ => self.search::<{ MOST_LIMITS + 1 }>(cutoff, run),
        }
    }

    fn search<const N: usize>(&self, cutoff: Cost, run: &Run) -> Result<(Option<BestTree>, Cost)> {
        // Costs are whole steps.
        let cutoff = match cutoff < INFINITE {
            true => (cutoff + self.step - 1) / self.step * self.step,
            false => cutoff,
        };
        let mut dual = Dual::<N>::new(self, cutoff, run);
        if self.multipliers {
            dual.climb()?;
        } else {
            dual.best = None;
        }
        let upper = dual.upper();
        let (lower, best, relaxed) = (dual.lower, dual.best, dual.relaxed);
        if self.multipliers && lower >= upper {
            run.decided(Bound::Multipliers);
        }
        if lower >= upper || run.stopped().is_some() {
            return Ok((best, lower));
        }
        let front = self.front::<N>(&self.limits, &relaxed);
        let problem = self.relaxed_problem(&relaxed)?;
        let start = Start { upper, lower, shown: self.worst };
        let (found, proved) = fronts::solve(&problem, &front, start, run)?;
        Ok((found.or(best), proved))
    }

    /// The tree that was found, or the reason why there is none.
    pub(crate) fn require(&self, found: Option<BestTree>, run: &Run) -> Result<BestTree> {
        if let Some(best) = found {
            return Ok(best);
        }
        Err(match run.stopped() {
            None => match self.limits.len() {
                0 | 1 => self.infeasible::<1>(run)?,
                2 => self.infeasible::<2>(run)?,
                3 | 4 => self.infeasible::<4>(run)?,
                _ => self.infeasible::<MOST_LIMITS>(run)?,
            },
            Some(status) => Error::invalid(format!(
                "the search was stopped ({}) before it found a tree that meets the constraints: \
                 {}; allow more time, or loosen them",
                status.name(),
                self.names()
            )),
        })
    }

    fn names(&self) -> String {
        self.limits.iter().map(|limit| limit.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// No tree keeps the limits: by how much must they be broken? Each round looks for a tree that
    /// breaks them less than the last one did, until there is none.
    fn infeasible<const N: usize>(&self, run: &Run) -> Result<Error> {
        let zero = Relaxed { scale: 1, costs: vec![0; self.costs.len()], offset: 0, most: 0 };
        let costs = vec![0; self.costs.len()];
        let mut problem = self.relaxed_problem(&zero)?;
        problem.leaf_cost = 0;
        // The labels of the best single leaf to begin with.
        let n_labels = self.classes.n_labels();
        let leaf_sums = |label| -> Vec<i64> {
            self.limits.iter().map(|l| dot(&self.totals, &l.adds, n_labels, label)).collect()
        };
        let leaves = (0..n_labels).map(leaf_sums).map(|sums| (self.violation(&sums), sums));
        let best_leaf = leaves.min_by(|a, b| a.0.total_cmp(&b.0));
        let (mut least, mut least_sums) = best_leaf.expect("there is a label");
        loop {
            let limits: Vec<Limit> = self.limits.iter().map(|l| l.violated_below(least)).collect();
            let front =
                Sums::<N> { costs: &costs, leaf_cost: 0, step: 1, ..self.front(&limits, &zero) };
            let (found, _) = fronts::solve(
                &problem,
                &front,
                Start { upper: INFINITE, lower: 0, shown: 0 },
                run,
            )?;
            let Some(found) = found else { break };
            let mut plan_sums = vec![0; self.limits.len()];
            for (weights, &label) in scalar::leaves(&problem, &found.plan).iter().zip(&found.labels)
            {
                for (sum, limit) in plan_sums.iter_mut().zip(&self.limits) {
                    *sum += dot(weights, &limit.adds, n_labels, label as usize);
                }
            }
            (least, least_sums) = (self.violation(&plan_sums), plan_sums);
        }
        let reach = if run.stopped().is_some() { "found so far" } else { "reachable" };
        Ok(Error::invalid(format!(
            "no tree within these limits meets the constraints: the least violation {reach} \
             is {} (beyond {}); loosen the constraints by that much, or allow larger trees",
            self.enough(least, &least_sums),
            self.names()
        )))
    }

    /// A number of few digits, by which the limits allow these sums if they are loosened.
    fn enough(&self, violation: f64, sums: &[i64]) -> f64 {
        let mut shown = rounded_up(violation);
        let allowed = |shown| {
            let mut pairs = self.limits.iter().zip(sums);
            pairs.all(|(limit, &sum)| limit.loosened(shown).excess(sum) == 0)
        };
        // A limit and what is added to it are rounded once more where they are added.
        for _ in 0..2 {
            shown = if allowed(shown) { shown } else { rounded_up(shown * (1.0 + 1e-5)) };
        }
        shown
    }

    fn violation(&self, sums: &[i64]) -> f64 {
        let each = self.limits.iter().zip(sums).map(|(limit, &sum)| limit.violation(sum));
        each.fold(0.0, f64::max)
    }
}

/// A number of six digits that is no less.
fn rounded_up(x: f64) -> f64 {
    let text = format!("{x:.5e}");
    let (near, exponent) = (text.parse().unwrap_or(x), text.split('e').nth(1));
    let exponent: i32 = exponent.and_then(|digits| digits.parse().ok()).unwrap_or(0);
    let step = 10f64.powi(exponent - 5);
    if near >= x { near } else { format!("{:.5e}", x + step / 2.0).parse().unwrap_or(x) }
}

#[cfg(test)]
mod tests {
    use super::rounded_up;

    #[test]
    fn no_digit_is_lost_downwards() {
        assert_eq!(rounded_up(0.25), 0.25);
        assert_eq!(rounded_up(1.0 / 3.0), 0.333334);
        assert_eq!(rounded_up(1.234561e-9), 1.23457e-9);
        assert_eq!(rounded_up(0.99999949), 1.0);
    }
}
