//! What the writer of a proof asks: how much some points cost at least, by a search depth first.
//!
//! Nothing rests on its answers: a wrong one would make a proof that fails.

use hashbrown::HashMap;

use super::budget::Budget;
use super::columns::Look;
use super::look::{Counted, Node, Residual};
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::run::Run;

/// Deeper paths are refused, because the search calls itself.
const DEEPEST: u32 = 20_000;

pub struct Oracle<'a, 'r> {
    pub residual: &'a Residual<'a>,
    pub leaf: Cost,
    /// By points and budget: what they cost at least, and whether that is what they cost.
    known: HashMap<(u128, Budget), (Cost, bool)>,
    /// By points and budget: what one look at pairs shows that they cost, if more than one look is
    /// needed to count it out. Without a limit on leaves that is the same at any depth.
    shown: HashMap<(u128, Option<Budget>), Cost>,
    pub looks: u64,
    run: &'a Run<'r>,
}

/// The splits of some points by question, and then by the way to share leaves between the sides:
/// what both sides of each cost at least.
pub struct Splits<'c> {
    pub columns: Counted<'c>,
    pub halves: Vec<[Budget; 2]>,
    pub low: Vec<[Cost; 2]>,
}

impl<'c> Splits<'c> {
    pub fn of(columns: Counted<'c>, look: &Look, leaf: Cost, budget: Budget) -> Splits<'c> {
        let low = |q: usize, s: usize, half: Budget| {
            let one = look.leaves[q][s] + leaf;
            let two = one.min(look.stumps[q][s] + 2 * leaf);
            let more = if look.three_fail[q][s] { 4 } else { 3 };
            match half.depth {
                Some(0) => one,
                Some(1) => two,
                _ => two.min(more * leaf),
            }
        };
        let halves = budget.halves();
        let ways = |q: usize| halves.iter().map(move |&[a, b]| [low(q, 0, a), low(q, 1, b)]);
        let low = (0..look.leaves.len()).flat_map(ways).collect();
        Splits { columns, halves, low }
    }

    /// Its question's place.
    pub fn question(&self, split: usize) -> usize {
        split / self.halves.len()
    }

    /// What its sides may be.
    pub fn half(&self, split: usize) -> [Budget; 2] {
        self.halves[split % self.halves.len()]
    }

    pub fn sum(&self, split: usize) -> Cost {
        self.low[split][0] + self.low[split][1]
    }

    /// The least of all sums, and of another cost.
    pub fn worth(&self, other: Cost) -> Cost {
        (0..self.low.len()).map(|split| self.sum(split)).fold(other, Cost::min)
    }

    /// The first of the least, if it is below the target.
    pub fn least(&self, target: Cost) -> Option<usize> {
        let least = (0..self.low.len()).min_by_key(|&split| self.sum(split))?;
        (self.sum(least) < target).then_some(least)
    }

    /// A side costs at least so much; then so do the sides of other splits that may have no more
    /// leaves, less the most that points cost which these lack.
    pub fn raise(&mut self, (split, side): (usize, usize), cost: Cost, target: Cost) {
        if cost <= self.low[split][side] {
            return;
        }
        self.low[split][side] = cost;
        let (lost, leaves) =
            (self.columns.lost((self.question(split), side)), self.half(split)[side].leaves);
        for other in 0..self.low.len() {
            if other != split && self.sum(other) < target {
                let (lost, half) = (lost[self.question(other)], self.half(other));
                for there in (0..2).filter(|&there| half[there].leaves <= leaves) {
                    let low = &mut self.low[other][there];
                    *low = (*low).max(cost - lost[there]);
                }
            }
        }
    }
}

impl<'a, 'r> Oracle<'a, 'r> {
    pub fn new(residual: &'a Residual<'a>, run: &'a Run<'r>) -> Self {
        let leaf = residual.instance.leaf;
        Oracle { residual, leaf, known: HashMap::new(), shown: HashMap::new(), looks: 0, run }
    }

    /// What is known of these points already.
    pub fn known(&self, key: u128, budget: Budget) -> (Cost, bool) {
        self.known.get(&(key, budget)).copied().unwrap_or((0, false))
    }

    /// What one look at pairs shows of these points, if one was taken.
    pub fn shown(&self, key: u128, budget: Budget) -> Option<Cost> {
        self.shown.get(&(key, budget.leaves.map(|_| budget))).copied()
    }

    fn keep(&mut self, key: u128, budget: Budget, cost: Cost, exact: bool) -> Cost {
        let known = self.known.entry((key, budget)).or_insert((cost, exact));
        *known = if known.1 { *known } else { (known.0.max(cost), exact) };
        cost
    }

    fn count(&mut self) -> Result<()> {
        self.looks += 1;
        self.run.add_kernel_calls(1);
        match self.looks.is_multiple_of(64) && self.run.stopped().is_some() {
            true => Err(super::instance::stopped()),
            false => Ok(()),
        }
    }

    /// What the best tree costs, of a small budget.
    pub fn small(&mut self, mut node: Node, key: u128, budget: Budget) -> Result<Cost> {
        if let (cost, true) = self.known(key, budget) {
            return Ok(cost);
        }
        self.count()?;
        let leaf = self.leaf;
        let mut best = self.residual.leaf(&node) + leaf;
        if budget.depth > Some(0) {
            let columns = self.residual.columns(&mut node);
            let found = columns.look(0, budget.depth == Some(2));
            best = Splits::of(columns, &found, leaf, budget).worth(best);
        }
        Ok(self.keep(key, budget, best, true))
    }

    /// At least `target` if these points cost that much, else what they cost.
    pub fn cost(&mut self, node: Node, budget: Budget, target: Cost, path: u32) -> Result<Cost> {
        let key = self.residual.key(&node);
        let (low, exact) = self.known(key, budget);
        if exact || low >= target {
            return Ok(low);
        }
        if budget.is_small() {
            return self.small(node, key, budget);
        }
        if path > DEEPEST {
            return Err(Error::invalid("trees are too deep for a proof: set max_depth"));
        }
        self.count()?;
        let mut node = node;
        let leaf = self.leaf;
        let one = self.residual.leaf(&node) + leaf;
        let target = target.min(one);
        if target <= 2 * leaf {
            let cost = one.min(2 * leaf);
            return Ok(self.keep(key, budget, cost, cost == one));
        }
        let columns = self.residual.columns(&mut node);
        let look = columns.look(leaf, target > 3 * leaf);
        let of_two = look.leaves.iter().map(|[a, b]| a + b + 2 * leaf).min().unwrap_or(one);
        if target <= 3 * leaf {
            let cost = of_two.min(one).min(3 * leaf);
            return Ok(self.keep(key, budget, cost, cost == of_two.min(one)));
        }
        let of_stumps = |(a, b): (&[Cost; 2], &[Cost; 2])| {
            let side = |s: usize| (a[s] + leaf).min(b[s] + 2 * leaf);
            side(0) + side(1)
        };
        let of_small = look.leaves.iter().zip(&look.stumps).map(of_stumps).min().unwrap_or(one);
        // No more need be shown than what a tree costs that is known.
        let mut best = one.min(of_small);
        let mut target = target.min(best);
        let mut splits = Splits::of(columns, &look, leaf, budget);
        self.shown.insert((key, budget.leaves.map(|_| budget)), splits.worth(one));
        while let Some(split) = splits.least(target) {
            let (asked, half) = (node.questions[splits.question(split)], splits.half(split));
            let sides = self.residual.sides(&node, asked);
            for (side, of_side) in sides.iter().enumerate() {
                let known = self.known(of_side.0, half[side]).0;
                splits.raise((split, side), known, target);
            }
            // The larger side more often costs enough by itself. Where it has many levels, it takes
            // so many steps that the smaller one is tried before.
            let is_deep = budget.depth.is_none_or(|depth| depth > 4);
            let first = usize::from((sides[1].1 > sides[0].1) != is_deep);
            for side in [first, 1 - first] {
                let needed = target - splits.low[split][1 - side];
                if splits.low[split][side] < needed && !half[side].is_in_pairs() {
                    let child = self.residual.child(&node, asked, side);
                    let cost = self.cost(child, half[side], needed, path + 1)?;
                    splits.raise((split, side), cost, target);
                }
            }
            // If the sum is less, it is what the best tree with this split costs.
            best = best.min(if splits.sum(split) < target { splits.sum(split) } else { best });
            target = target.min(best);
        }
        let least = splits.worth(best);
        Ok(self.keep(key, budget, least, least == best))
    }
}
