//! A tree that was found without limits, within them: leaves that are too small are joined to their
//! siblings, and splits that save least are taken out of a tree with too many leaves. What is left
//! costs no more than one leaf.

use super::budget::Budget;
use crate::cost::Cost;
use crate::ids::FeatureId;
use crate::kernel::ranks::RankKernel;
use crate::tree::Plan;
use crate::view::{RankNode, RankView};

/// A subtree with the costs of its rows.
struct Subtree {
    /// As one leaf.
    leaf: Cost,
    split: Option<Box<Split>>,
}

struct Split {
    feature: FeatureId,
    cut: u32,
    sides: [Subtree; 2],
}

impl Subtree {
    fn cost(&self) -> Cost {
        match &self.split {
            None => self.leaf,
            Some(split) => split.sides.iter().map(Subtree::cost).sum(),
        }
    }

    fn leaves(&self) -> u32 {
        match &self.split {
            None => 1,
            Some(split) => split.sides.iter().map(Subtree::leaves).sum(),
        }
    }

    /// What taking out the split of two leaves that saves least would cost.
    fn least_saved(&self) -> Option<Cost> {
        let split = self.split.as_ref()?;
        let below = split.sides.iter().filter_map(Subtree::least_saved).min();
        Some(below.unwrap_or_else(|| self.leaf - self.cost()))
    }

    /// Take out one split of two leaves that saves so much. Whether there was one.
    fn take_out(&mut self, saved: Cost) -> bool {
        let Some(split) = &mut self.split else { return false };
        if split.sides.iter().all(|side| side.split.is_none()) {
            let found = self.leaf - split.sides.iter().map(Subtree::cost).sum::<Cost>() == saved;
            if found {
                self.split = None;
            }
            return found;
        }
        split.sides.iter_mut().any(|side| side.take_out(saved))
    }

    /// Take out the splits that do not pay, as what paid below one may be gone.
    fn prune(&mut self) {
        if let Some(split) = &mut self.split {
            split.sides.iter_mut().for_each(Subtree::prune);
        }
        if self.cost() >= self.leaf {
            self.split = None;
        }
    }

    fn plan(self) -> Plan {
        match self.split {
            None => Plan::Leaf,
            Some(split) => {
                let Split { feature, cut, sides: [left, right] } = *split;
                Plan::split(feature, cut, left.plan(), right.plan())
            }
        }
    }
}

/// The plan of a node's tree within its limits, and what it costs.
pub fn kept<K: RankKernel>(
    (kernel, view): (&K, &RankView),
    node: &RankNode,
    (budget, least_rows): (Budget, u64),
    plan: &Plan,
) -> (Cost, Plan) {
    let costs = Costs { kernel, view, node, least_rows };
    let mut tree = costs.subtree(plan, (0..node.len() as u32).collect());
    while tree.leaves() > budget.leaves {
        let saved = tree.least_saved().expect("a tree of several leaves has a split");
        let taken = tree.take_out(saved);
        debug_assert!(taken, "the split that saves least is there");
    }
    tree.prune();
    (tree.cost(), tree.plan())
}

/// What subtrees of a node are costed with.
struct Costs<'a, K> {
    kernel: &'a K,
    view: &'a RankView,
    node: &'a RankNode,
    least_rows: u64,
}

impl<K: RankKernel> Costs<'_, K> {
    fn subtree(&self, plan: &Plan, rows: Vec<u32>) -> Subtree {
        let Plan::Split { feature, cut, left, right } = plan else {
            return Subtree { leaf: self.leaf(&rows), split: None };
        };
        let axis = self.node.axes.iter().find(|axis| axis.feature == *feature);
        let axis = axis.expect("a node's tree splits along its axes");
        let goes_left = |row: &u32| axis.cuts[axis.rank[*row as usize] as usize] <= *cut;
        let (lefts, rights): (Vec<u32>, Vec<u32>) = rows.iter().partition(|&row| goes_left(row));
        match (self.is_enough(&lefts), self.is_enough(&rights)) {
            (true, true) => {
                let sides = [self.subtree(left, lefts), self.subtree(right, rights)];
                let split = Split { feature: *feature, cut: *cut, sides };
                Subtree { leaf: self.leaf(&rows), split: Some(Box::new(split)) }
            }
            (false, false) => Subtree { leaf: self.leaf(&rows), split: None },
            (false, true) => self.subtree(right, rows),
            (true, false) => self.subtree(left, rows),
        }
    }

    /// Rows of the view.
    fn of_view(&self, rows: &[u32]) -> impl Iterator<Item = u32> {
        rows.iter().map(|&row| self.node.rows[row as usize])
    }

    fn leaf(&self, rows: &[u32]) -> Cost {
        self.kernel.leaf(&self.of_view(rows).collect::<Vec<u32>>())
    }

    fn is_enough(&self, rows: &[u32]) -> bool {
        match &self.view.least_rows {
            Some(of) if self.least_rows > 1 => of.count(self.of_view(rows)) >= self.least_rows,
            _ => !rows.is_empty(),
        }
    }
}
