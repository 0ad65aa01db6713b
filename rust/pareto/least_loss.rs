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
use crate::finish::{cost_of, labelled};
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
            check::confirm(best.cost, cost_of(&self.problem, &tree))?;
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
            5..=9 => self.search::<9>(cutoff, run),
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
                5..=9 => self.infeasible::<9>(run)?,
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

    /// No tree keeps the limits: by how much must they be broken, all together, and each alone
    /// while the others are kept?
    fn infeasible<const N: usize>(&self, run: &Run) -> Result<Error> {
        let (all, sums) = self.least_violation::<N>(None, run)?.expect("each limit may be broken");
        let reach = if run.stopped().is_some() { "found so far" } else { "reachable" };
        let mut text = format!(
            "no tree within these limits meets the constraints: the least violation {reach} \
             is {} (beyond {}); loosen the constraints by that much, or allow larger trees",
            self.enough(all, &sums),
            self.names()
        );
        // There may be twenty, and each takes a search of its own.
        for (at, limit) in self.limits.iter().enumerate() {
            if self.limits.len() == 1 || run.stopped().is_some() {
                break;
            }
            let least = match self.least_violation::<N>(Some(at), run)? {
                Some((least, sums)) => format!("at least {}", self.enough(least, &sums)),
                None if run.stopped().is_some() => break,
                None => "no amount is enough".to_string(),
            };
            let opening = if at == 0 { ". With all others kept, beyond " } else { "; beyond " };
            text.push_str(&format!("{opening}{}: {least}", limit.name));
        }
        Ok(Error::invalid(text))
    }

    /// The least by which the worst limit is broken; or one alone, where trees can keep all others.
    /// Each round looks for a tree that breaks less than the last one did, until there is none.
    fn least_violation<const N: usize>(
        &self,
        alone: Option<usize>,
        run: &Run,
    ) -> Result<Option<(f64, Vec<i64>)>> {
        let zero = Relaxed { scale: 1, costs: vec![0; self.costs.len()], offset: 0, most: 0 };
        let costs = vec![0; self.costs.len()];
        let mut problem = self.relaxed_problem(&zero)?;
        problem.leaf_cost = 0;
        problem.feature_costs = None;
        let n_labels = self.classes.n_labels();
        let violation = |sums: &[i64]| match alone {
            None => self.violation(sums),
            Some(at) => self.limits[at].violation(sums[at]),
        };
        // The labels of the best single leaf to begin with.
        let leaf = |label| -> Vec<i64> {
            self.limits.iter().map(|l| dot(&self.totals, &l.adds, n_labels, label)).collect()
        };
        let keeps_others = |sums: &Vec<i64>| {
            let mut pairs = self.limits.iter().zip(sums).enumerate();
            pairs.all(|(at, (limit, &sum))| alone.is_none_or(|a| a == at || limit.excess(sum) == 0))
        };
        let leaves = (0..n_labels).map(leaf).filter(keeps_others);
        let leaves = leaves.map(|sums| (violation(&sums), sums));
        let mut best = leaves.min_by(|a, b| a.0.total_cmp(&b.0));
        loop {
            let loosened = |(at, limit): (usize, &Limit)| match &best {
                _ if alone.is_some_and(|alone| alone != at) => limit.clone(),
                None => limit.unlimited(),
                Some((least, _)) => limit.violated_below(*least),
            };
            let limits: Vec<Limit> = self.limits.iter().enumerate().map(loosened).collect();
            let front =
                Sums::<N> { costs: &costs, leaf_cost: 0, step: 1, ..self.front(&limits, &zero) };
            let start = Start { upper: INFINITE, lower: 0, shown: 0 };
            let (found, _) = fronts::solve(&problem, &front, start, run)?;
            let Some(found) = found else { return Ok(best) };
            let mut sums = vec![0; self.limits.len()];
            for (weights, &label) in scalar::leaves(&problem, &found.plan).iter().zip(&found.labels)
            {
                for (sum, limit) in sums.iter_mut().zip(&self.limits) {
                    *sum += dot(weights, &limit.adds, n_labels, label as usize);
                }
            }
            best = Some((violation(&sums), sums));
        }
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
