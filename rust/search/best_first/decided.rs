//! Which bound decided: the last one without which a node, or a split, would have stayed open.

use super::alternatives::Weakest;
use super::budget::Budget;
use super::frame::Frame;
use super::look::{Bounds, Rules, child_budgets};
use crate::bounds::{Bound, look_ahead};
use crate::cost::Cost;
use crate::kernel::Side;

impl Rules {
    /// The bound that the least costs of points stand for.
    fn least_bound(&self) -> Bound {
        if self.floors { Bound::Floors } else { Bound::EquivalentPoints }
    }

    /// The bound by which a look proves that a node costs `goal`; none where it sees every tree.
    pub fn why_node(
        &self,
        frame: &Frame,
        budget: Budget,
        found: Bounds,
        goal: Cost,
    ) -> Option<Bound> {
        let look = &frame.look;
        if look.at_least > 0 {
            // Entries with numbers of their own are those of squared errors.
            let has_numbers = !frame.view.costs.is_empty();
            return Some(if has_numbers { Bound::KMeans } else { Bound::ThreeLeaves });
        }
        if budget.is_small() || found.lower < goal {
            return None;
        }
        let (least, leaves) = (look.least_price, look_ahead::BEYOND_DEPTH_TWO);
        let without = look_ahead::at_least(found.upper, least, leaves, self.leaf_cost);
        Some(if without >= goal { Bound::LookAhead } else { self.least_bound() })
    }

    /// The bound by which a look, or similarity beyond what it looks like, proves that a split
    /// costs `goal`; none where the look sees all trees of both children.
    pub fn why_split(
        &self,
        frame: &Frame,
        budget: Budget,
        weak: &Weakest,
        goal: Cost,
    ) -> Option<Bound> {
        let split = &weak.split;
        if weak.looks < goal {
            return Some(Bound::Similarity);
        }
        let budgets = child_budgets(budget, split.left_leaves);
        if budgets.iter().all(|budget| budget.depth <= 1 || budget.leaves <= 2) {
            return None;
        }
        let (look, column) = (&frame.look, frame.column(split.question));
        // The sum of both children, by what is left out.
        let sum = |has_least: bool| -> Cost {
            let child = |side: usize| {
                let of = look.sides[column][side];
                let least = if has_least { of.least } else { 0 };
                let (stump, price) = (look.stumps[column][side], look.price(column, side));
                self.child(&Side { least, ..of }, [stump, 0], price, budgets[side]).lower
            };
            child(0) + child(1)
        };
        Some(match (sum(false) >= goal, sum(true) >= goal) {
            (true, _) => Bound::LookAhead,
            (false, true) => self.least_bound(),
            (false, false) => Bound::ThreeLeaves,
        })
    }
}
