//! The writer of a proof takes a checker's steps, and writes a number wherever that has a choice.

use hashbrown::HashMap;

use super::budget::Budget;
use super::look::Node;
use super::numbers::write_number;
use super::oracle::{Oracle, Splits};
use crate::cost::Cost;
use crate::error::{Error, Result};

pub struct Replay<'o, 'a, 'r> {
    oracle: &'o mut Oracle<'a, 'r>,
    /// As the checker has it, by points and budget.
    proved: HashMap<(u128, Budget), Cost>,
    pub lemmas: u64,
    pub shares: Vec<u8>,
}

impl<'o, 'a, 'r> Replay<'o, 'a, 'r> {
    pub fn new(oracle: &'o mut Oracle<'a, 'r>) -> Self {
        Replay { oracle, proved: HashMap::new(), lemmas: 0, shares: Vec::new() }
    }

    fn prove(&mut self, key: u128, budget: Budget, cost: Cost) -> Cost {
        let known = self.proved.entry((key, budget)).or_insert(cost);
        *known = cost.max(*known);
        *known
    }

    fn proved(&self, key: u128, budget: Budget) -> Cost {
        self.proved.get(&(key, budget)).copied().unwrap_or(Cost::MIN)
    }

    /// What points cost that are few levels above their leaves; `node` makes them, if it is not
    /// known.
    fn small(
        &mut self,
        node: impl FnOnce(&Oracle) -> Node,
        key: u128,
        budget: Budget,
    ) -> Result<Cost> {
        self.lemmas += 1;
        let cost = match self.oracle.known(key, budget) {
            (cost, true) => cost,
            _ => self.oracle.small(node(self.oracle), key, budget)?,
        };
        self.prove(key, budget, cost);
        Ok(cost)
    }

    /// Write that these points cost at least `target`, which they do.
    /// What the proof shows of them is that, or more.
    pub fn write(&mut self, mut node: Node, budget: Budget, target: Cost) -> Result<Cost> {
        let key = self.oracle.residual.key(&node);
        let known = self.proved(key, budget);
        if known >= target {
            return Ok(known);
        }
        if budget.is_small() {
            return self.small(|_| node, key, budget);
        }
        self.lemmas += 1;
        let leaf = self.oracle.leaf;
        if let Some(shown) = self.oracle.shown(key, budget).filter(|_| target > 3 * leaf)
            && shown >= target
        {
            return Ok(self.prove(key, budget, shown));
        }
        let one = self.oracle.residual.leaf(&node) + leaf;
        if target <= 2 * leaf {
            return Ok(self.prove(key, budget, one.min(2 * leaf)));
        }
        let columns = self.oracle.residual.columns(&mut node);
        let look = columns.look(leaf, target > 3 * leaf);
        if target <= 3 * leaf {
            let splits = look.leaves.iter().map(|[a, b]| a + b + 2 * leaf);
            return Ok(self.prove(key, budget, splits.fold(one.min(3 * leaf), Cost::min)));
        }
        let mut splits = Splits::of(columns, &look, leaf, budget);
        while let Some(split) = splits.least(target) {
            self.split(&node, &mut splits, split, target)?;
        }
        let worth = splits.worth(one);
        Ok(self.prove(key, budget, worth))
    }

    /// Write that the trees with this split at their root cost enough.
    fn split(
        &mut self,
        node: &Node,
        splits: &mut Splits,
        split: usize,
        target: Cost,
    ) -> Result<()> {
        let (asked, half) = (node.questions[splits.question(split)], splits.half(split));
        let sides = self.oracle.residual.sides(node, asked);
        for side in 0..2 {
            splits.raise((split, side), self.proved(sides[side].0, half[side]), target);
        }
        let first = usize::from(sides[1].1 > sides[0].1);
        for side in [first, 1 - first] {
            let (key, budget) = (sides[side].0, half[side]);
            let counts = budget.is_small() && !budget.is_in_pairs();
            if counts && splits.sum(split) < target && self.proved(key, budget) == Cost::MIN {
                let child = |oracle: &Oracle| oracle.residual.child(node, asked, side);
                let cost = self.small(child, key, budget)?;
                splits.raise((split, side), cost, target);
            }
        }
        let [left, right] = splits.low[split];
        let missing = target - left - right;
        if missing <= 0 {
            return Ok(());
        }
        let to_left = match half.map(Budget::is_small) {
            [true, true] => return Err(no_proof()),
            [true, false] => 0,
            [false, true] => missing,
            [false, false] => {
                let to_left = self.share(node, (asked, sides), [left, right], (half, missing))?;
                let code = match missing - to_left {
                    0 => 0,
                    _ if to_left == 0 => 1,
                    _ => 1 + to_left,
                };
                write_number(code as u64, &mut self.shares);
                to_left
            }
        };
        for (side, needed) in [(0, left + to_left), (1, right + missing - to_left)] {
            if splits.low[split][side] < needed {
                let child = self.oracle.residual.child(node, asked, side);
                let worth = self.write(child, half[side], needed)?;
                splits.raise((split, side), worth, target);
            }
        }
        Ok(())
    }

    /// How much of what is missing the left side is to be shown to cost.
    fn share(
        &mut self,
        node: &Node,
        (asked, sides): (u32, [(u128, usize); 2]),
        low: [Cost; 2],
        (half, missing): ([Budget; 2], Cost),
    ) -> Result<Cost> {
        let mut known = [0, 1].map(|side| self.oracle.known(sides[side].0, half[side]).0);
        let smaller = usize::from(sides[1].1 < sides[0].1);
        let all = |known: [Cost; 2], side: usize| known[side] >= low[side] + missing;
        for side in [1 - smaller, smaller] {
            let enough =
                all(known, 0) || all(known, 1) || known[0] + known[1] >= low[0] + low[1] + missing;
            if !enough {
                let other = known[1 - side].max(low[1 - side]);
                let target = low[0] + low[1] + missing - other;
                let child = self.oracle.residual.child(node, asked, side);
                known[side] = self.oracle.cost(child, half[side], target, 0)?.max(low[side]);
            }
        }
        if all(known, smaller) {
            return Ok(if smaller == 0 { missing } else { 0 });
        }
        if all(known, 1 - smaller) {
            return Ok(if smaller == 1 { missing } else { 0 });
        }
        let to_left = (known[0] - low[0]).clamp(0, missing);
        if known[1].max(low[1]) - low[1] < missing - to_left {
            return Err(no_proof());
        }
        Ok(to_left)
    }
}

/// The writer is asked for what is not true, or there is a defect in it.
pub fn no_proof() -> Error {
    Error::Failed(
        "a tree costs less than is to be proved; this is a defect in certree, please report it with \
         the data"
            .into(),
    )
}
