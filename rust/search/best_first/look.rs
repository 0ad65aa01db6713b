//! What one kernel call proves about a node: bounds on it, and on both children of every split.

use super::budget::{Budget, UNLIMITED};
use crate::bounds::{child_support, equivalent_points, leaf, look_ahead};
use crate::cost::{Cost, INFINITE};
use crate::kernel::{Lookahead, Side, SplitPrice};

/// What the bounds need to know of the problem.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// ℓ: the penalty of a leaf.
    pub leaf_cost: Cost,
    pub min_rows: i64,
    /// Equivalent points, child support, similarity, three leaves, k-means: switches for tests.
    pub equivalent_points: bool,
    pub child_support: bool,
    pub similarity: bool,
    /// Sides hold the sides of other questions and cost what these cost at least.
    pub parts: bool,
    /// By how much dividing a leaf may raise its cost.
    pub rounding: Cost,
    pub three_leaves: bool,
    pub k_means: bool,
    /// Questions cost something.
    pub has_prices: bool,
    /// The least costs of points are a reference's floors.
    pub floors: bool,
    /// A split makes a difference even to rows that no label is wrong for (`BitView::all_rows`).
    pub all_rows: bool,
}

/// lower <= optimum <= upper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub lower: Cost,
    pub upper: Cost,
}

impl Rules {
    pub fn least(&self, side: &Side) -> Cost {
        if self.equivalent_points { side.least } else { 0 }
    }

    /// Whether both sides of a column are large enough to be split off.
    pub fn allows(&self, sides: &[Side; 2]) -> bool {
        let any = self.min_rows <= 1 && !self.all_rows;
        any || sides.iter().all(|side| side.rows >= self.min_rows.max(1))
    }

    /// Whether a split may be of use: a side where nothing can go wrong is as well off anywhere,
    /// unless it pays for what it is asked there, or the split allows questions on the other side.
    fn matters(&self, sides: &[Side; 2]) -> bool {
        self.all_rows || sides.iter().all(|side| side.worst > 0)
    }

    /// Whether both sides may be worth a leaf; if not, there is a tree as good without the split.
    pub fn supports(&self, sides: &[Side; 2]) -> bool {
        let may_pay =
            |side: &Side| child_support::may_pay(side.worst, self.least(side), self.leaf_cost);
        !self.child_support || sides.iter().all(may_pay)
    }

    /// A child of a split and what it pays for that, from its leaf, its best stump, and what trees
    /// of three leaves lose.
    pub fn child(
        &self,
        side: &Side,
        [stump, three]: [Cost; 2],
        price: SplitPrice,
        budget: Budget,
    ) -> Bounds {
        let mut upper = leaf::at_most(side.leaf, self.leaf_cost);
        if budget.allows(1, 2) && stump < INFINITE {
            upper = upper.min(stump + 2 * self.leaf_cost);
        }
        let lower = if budget.depth <= 1 || budget.leaves <= 2 {
            upper
        } else {
            let (least, leaf_cost) = (self.least(side), self.leaf_cost);
            let three = equivalent_points::at_least(least.max(three), 3, leaf_cost) + price.next;
            let known = upper.min(three);
            look_ahead::at_least(known, least + price.next, look_ahead::BEYOND_DEPTH_TWO, leaf_cost)
        };
        Bounds { lower: lower + price.this, upper: upper + price.this }
    }

    /// The node itself, from the best tree of depth two.
    pub fn whole(&self, look: &Lookahead, budget: Budget) -> Bounds {
        let mut upper = leaf::at_most(look.whole.leaf, self.leaf_cost);
        for (column, left_leaves) in self.splits(look, budget) {
            let [a, b] = self.children(look, column, left_leaves, budget);
            upper = upper.min(a.upper + b.upper);
        }
        let lower = if look.at_least > 0 {
            look.at_least.min(upper)
        } else if budget.is_small() {
            upper
        } else {
            let least = self.least(&look.whole) + look.least_price;
            look_ahead::at_least(upper, least, look_ahead::BEYOND_DEPTH_TWO, self.leaf_cost)
        };
        Bounds { lower, upper }
    }

    /// The first split that costs `upper`.
    pub fn best(&self, look: &Lookahead, budget: Budget, upper: Cost) -> Option<(usize, u32)> {
        self.splits(look, budget).find(|&(column, share)| {
            let [a, b] = self.children(look, column, share, budget);
            a.upper + b.upper == upper
        })
    }

    /// Bounds on both children of a split, each with what it pays for it.
    pub fn children(
        &self,
        look: &Lookahead,
        column: usize,
        left_leaves: u32,
        budget: Budget,
    ) -> [Bounds; 2] {
        let budgets = child_budgets(budget, left_leaves);
        let (sides, stumps) = (&look.sides[column], &look.stumps[column]);
        let three = &look.three_leaves[column];
        [0, 1].map(|s| {
            self.child(&sides[s], [stumps[s], three[s]], look.price(column, s), budgets[s])
        })
    }

    /// What the node's rows cost with a child's budget, at least: a child costs that less the worst
    /// loss of its sibling. `lower` is known of the node itself.
    pub fn without_sibling(&self, look: &Lookahead, budget: Budget, lower: Cost) -> Cost {
        if !self.similarity || budget.leaves != UNLIMITED {
            return 0;
        }
        let child = budget.child(UNLIMITED);
        if child.is_small() {
            self.whole(look, child).upper
        } else if child == budget {
            lower
        } else {
            0
        }
    }

    /// How dear splits are listed at first, where work is to go to `target`. Under a depth limit
    /// all splits must be refuted in the end.
    pub fn listed_below(&self, budget: Budget, target: Cost) -> Cost {
        if budget.depth == UNLIMITED { target + self.leaf_cost } else { Cost::MAX }
    }

    /// Every split that is allowed: a column, and the leaves that its 0 side may have.
    pub fn splits<'a>(
        &'a self,
        look: &'a Lookahead,
        budget: Budget,
    ) -> impl Iterator<Item = (usize, u32)> + 'a {
        let n = if budget.depth == 0 { 0 } else { look.sides.len() };
        (0..n)
            .filter(|&column| !look.is_forbidden(column) && self.allows(&look.sides[column]))
            .filter(|&column| self.matters(&look.sides[column]))
            .flat_map(move |column| shares(budget).map(move |share| (column, share)))
    }
}

/// How many leaves the 0 side may have: only limited budgets have several ways to share them. No
/// side is given more than its depth can use, because the other side can then have the rest as
/// well.
fn shares(budget: Budget) -> std::ops::Range<u32> {
    match budget.leaves {
        UNLIMITED => UNLIMITED - 1..UNLIMITED,
        leaves => {
            let side = budget.child(UNLIMITED).most_leaves();
            leaves.saturating_sub(side).max(1)..side.min(leaves - 1) + 1
        }
    }
}

/// The budgets of both children, if the 0 side may have `left_leaves`.
pub fn child_budgets(budget: Budget, left_leaves: u32) -> [Budget; 2] {
    match budget.leaves {
        u32::MAX => [budget.child(u32::MAX); 2],
        leaves => [budget.child(left_leaves), budget.child(leaves - left_leaves)],
    }
}
