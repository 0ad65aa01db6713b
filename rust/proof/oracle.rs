//! What the writer of a proof asks: how much some points cost at least, by a search depth first.
//!
//! Nothing rests on its answers: a wrong one would make a proof that fails.

use hashbrown::HashMap;

use super::columns::{Columns, Look};
use super::look::{Node, Residual};
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::run::Run;

/// Deeper paths are refused, because the search calls itself.
const DEEPEST: u32 = 20_000;

pub type Depth = Option<u32>;

pub fn below(depth: Depth) -> Depth {
    depth.map(|depth| depth - 1)
}

pub struct Oracle<'a, 'r> {
    pub residual: Residual<'a>,
    pub leaf: Cost,
    /// By points and depth: what they cost at least, and whether that is what they cost.
    known: HashMap<(u128, Depth), (Cost, bool)>,
    /// By points: what one look at pairs shows that they cost, at any depth beyond two.
    shown: HashMap<u128, Cost>,
    pub looks: u64,
    run: &'a Run<'r>,
}

/// The splits of some points: what both sides of each cost at least.
pub struct Splits {
    pub columns: Columns,
    pub low: Vec<[Cost; 2]>,
}

impl Splits {
    pub fn of(columns: Columns, look: &Look, leaf: Cost) -> Splits {
        let low = |q: usize, s: usize| {
            let more = if look.three_fail[q][s] { 4 } else { 3 };
            let known = (look.leaves[q][s] + leaf).min(look.stumps[q][s] + 2 * leaf);
            known.min(more * leaf)
        };
        let low = (0..look.leaves.len()).map(|q| [low(q, 0), low(q, 1)]).collect();
        Splits { columns, low }
    }

    pub fn sum(&self, question: usize) -> Cost {
        self.low[question][0] + self.low[question][1]
    }

    /// The least of all sums, and of another cost.
    pub fn worth(&self, other: Cost) -> Cost {
        (0..self.low.len()).map(|question| self.sum(question)).fold(other, Cost::min)
    }

    /// The first of the least, if it is below the target.
    pub fn least(&self, target: Cost) -> Option<usize> {
        let least = (0..self.low.len()).min_by_key(|&question| self.sum(question))?;
        (self.sum(least) < target).then_some(least)
    }

    /// A side costs at least so much; then so do the sides of other questions, less the most that
    /// points cost which these lack.
    pub fn raise(&mut self, (question, side): (usize, usize), cost: Cost, target: Cost) {
        if cost <= self.low[question][side] {
            return;
        }
        self.low[question][side] = cost;
        for (other, lost) in self.columns.lost((question, side)).into_iter().enumerate() {
            if other != question && self.sum(other) < target {
                let low = &mut self.low[other];
                *low = [low[0].max(cost - lost[0]), low[1].max(cost - lost[1])];
            }
        }
    }
}

impl<'a, 'r> Oracle<'a, 'r> {
    pub fn new(residual: Residual<'a>, run: &'a Run<'r>) -> Self {
        let leaf = residual.instance.leaf;
        Oracle { residual, leaf, known: HashMap::new(), shown: HashMap::new(), looks: 0, run }
    }

    /// What is known of these points already.
    pub fn known(&self, key: u128, depth: Depth) -> (Cost, bool) {
        self.known.get(&(key, depth)).copied().unwrap_or((0, false))
    }

    /// What one look at pairs shows of these points, if one was taken.
    pub fn shown(&self, key: u128) -> Option<Cost> {
        self.shown.get(&key).copied()
    }

    fn keep(&mut self, key: u128, depth: Depth, cost: Cost, exact: bool) -> Cost {
        let known = self.known.entry((key, depth)).or_insert((cost, exact));
        *known = if known.1 { *known } else { (known.0.max(cost), exact) };
        cost
    }

    pub fn is_small(depth: Depth) -> bool {
        depth.is_some_and(|depth| depth <= 2)
    }

    fn count(&mut self) -> Result<()> {
        self.looks += 1;
        self.run.add_kernel_calls(1);
        match self.looks.is_multiple_of(64) && self.run.stopped().is_some() {
            true => Err(super::instance::stopped()),
            false => Ok(()),
        }
    }

    /// What the best tree of depth two costs, or of less depth.
    pub fn small(&mut self, mut node: Node, key: u128, depth: Depth) -> Result<Cost> {
        if let (cost, true) = self.known(key, depth) {
            return Ok(cost);
        }
        self.count()?;
        let leaf = self.leaf;
        let mut best = self.residual.leaf(&node) + leaf;
        if depth > Some(0) {
            let columns = self.residual.columns(&mut node);
            let found = columns.look(0, depth == Some(2));
            for (leaves, stumps) in found.leaves.iter().zip(&found.stumps) {
                let side = |s: usize| match depth {
                    Some(1) => leaves[s] + leaf,
                    _ => (leaves[s] + leaf).min(stumps[s] + 2 * leaf),
                };
                best = best.min(side(0) + side(1));
            }
        }
        Ok(self.keep(key, depth, best, true))
    }

    /// At least `target` if these points cost that much, else what they cost.
    pub fn cost(&mut self, node: Node, depth: Depth, target: Cost, path: u32) -> Result<Cost> {
        let key = self.residual.key(&node);
        let (low, exact) = self.known(key, depth);
        if exact || low >= target {
            return Ok(low);
        }
        if Self::is_small(depth) {
            return self.small(node, key, depth);
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
            return Ok(self.keep(key, depth, cost, cost == one));
        }
        let columns = self.residual.columns(&mut node);
        let look = columns.look(leaf, target > 3 * leaf);
        let of_two = look.leaves.iter().map(|[a, b]| a + b + 2 * leaf).min().unwrap_or(one);
        if target <= 3 * leaf {
            let cost = of_two.min(one).min(3 * leaf);
            return Ok(self.keep(key, depth, cost, cost == of_two.min(one)));
        }
        let of_stumps = |(a, b): (&[Cost; 2], &[Cost; 2])| {
            let side = |s: usize| (a[s] + leaf).min(b[s] + 2 * leaf);
            side(0) + side(1)
        };
        let of_small = look.leaves.iter().zip(&look.stumps).map(of_stumps).min().unwrap_or(one);
        // No more need be shown than what a tree costs that is known.
        let mut best = one.min(of_small);
        let mut target = target.min(best);
        let mut splits = Splits::of(columns, &look, leaf);
        self.shown.insert(key, splits.worth(one));
        while let Some(question) = splits.least(target) {
            let asked = node.questions[question];
            let sides = self.residual.sides(&node, asked);
            for (side, of_side) in sides.iter().enumerate() {
                let known = self.known(of_side.0, below(depth)).0;
                splits.raise((question, side), known, target);
            }
            // The larger side more often costs enough by itself. Where it has many levels, it takes
            // so many steps that the smaller one is tried before.
            let is_deep = below(depth).is_none_or(|depth| depth > 3);
            let first = usize::from((sides[1].1 > sides[0].1) != is_deep);
            for side in [first, 1 - first] {
                let needed = target - splits.low[question][1 - side];
                if splits.low[question][side] < needed {
                    let child = self.residual.child(&node, asked, side);
                    let cost = self.cost(child, below(depth), needed, path + 1)?;
                    splits.raise((question, side), cost, target);
                }
            }
            // If the sum is less, it is what the best tree with this split costs.
            best =
                best.min(if splits.sum(question) < target { splits.sum(question) } else { best });
            target = target.min(best);
        }
        let least = splits.worth(best);
        Ok(self.keep(key, depth, least, least == best))
    }
}
