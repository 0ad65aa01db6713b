//! Bounds by size: of a set of rows, and of both sides of each of its splits.
//!
//! Entry i is of trees with at most i + 1 leaves, so that no entry is above the one before it. A
//! split whose sides have a and b leaves has a + b, so what a split costs with some number of
//! leaves is the least sum over all ways to share them.

use super::budget::Choice;
use crate::bounds::similarity;
use crate::cost::Cost;

/// lower <= optimum <= upper, for each number of leaves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BySize {
    pub lower: Vec<Cost>,
    pub upper: Vec<Cost>,
}

impl BySize {
    /// What trees of so many leaves are asked to cost before nothing more is to be known of them:
    /// the target, or the best tree that is known.
    pub fn goal(&self, target: &[Cost], at: usize) -> Cost {
        target[at].min(self.upper[at])
    }

    pub fn reaches(&self, target: &[Cost]) -> bool {
        (0..self.lower.len()).all(|at| self.lower[at] >= self.goal(target, at))
    }

    /// Take in bounds of the same rows. Bounds may meet but not cross.
    pub fn tighten(&mut self, at: usize, lower: Cost, upper: Cost) {
        self.upper[at] = self.upper[at].min(upper);
        self.lower[at] = self.lower[at].max(lower).min(self.upper[at]);
    }
}

/// The side of a split to work on next, and what is asked of it.
#[derive(Debug)]
pub struct NextSide {
    pub split: usize,
    pub side: usize,
    /// By leaves: raise the side's lower bound to this, or solve it.
    pub target: Vec<Cost>,
}

/// The splits of a node in the order of their questions, with bounds for each side.
#[derive(Debug, Default)]
pub struct Splits {
    /// Leaves that a side can have at most.
    width: usize,
    pub questions: Vec<u32>,
    /// By split, side and leaves.
    lower: Vec<Cost>,
    upper: Vec<Cost>,
    /// Splits that may still be best with some number of leaves.
    open: Vec<bool>,
}

impl Splits {
    pub fn new(width: usize) -> Splits {
        Splits { width, ..Splits::default() }
    }

    /// Add a split, by bounds of side and leaves.
    pub fn push(&mut self, question: u32, bounds: impl Fn(usize, usize) -> (Cost, Cost)) {
        self.questions.push(question);
        self.open.push(true);
        for side in 0..2 {
            for at in 0..self.width {
                let (lower, upper) = bounds(side, at);
                self.lower.push(lower);
                self.upper.push(upper);
            }
        }
    }

    pub fn bytes(&self) -> usize {
        let each = size_of::<u32>() + 1 + 4 * self.width * size_of::<Cost>();
        self.questions.capacity() * each
    }

    fn side(&self, split: usize, side: usize) -> std::ops::Range<usize> {
        let from = (2 * split + side) * self.width;
        from..from + self.width
    }

    pub fn lower(&self, split: usize, side: usize) -> &[Cost] {
        &self.lower[self.side(split, side)]
    }

    pub fn bounds_of(&self, split: usize, side: usize) -> BySize {
        let range = self.side(split, side);
        BySize { lower: self.lower[range.clone()].to_vec(), upper: self.upper[range].to_vec() }
    }

    pub fn tighten(&mut self, split: usize, side: usize, found: &BySize) {
        for (place, at) in self.side(split, side).zip(0..) {
            self.upper[place] = self.upper[place].min(found.upper[at]);
            self.lower[place] = self.lower[place].max(found.lower[at]).min(self.upper[place]);
        }
    }

    /// Raise a side by similarity: other rows cost at least `known`, and `lost` is the most that
    /// those of them can cost which are not here.
    pub fn raise(&mut self, split: usize, side: usize, known: &[Cost], lost: Cost) {
        let range = self.side(split, side);
        // No entry is above the first of its side, or below the last.
        if similarity::at_least(known[0], lost) <= self.lower[range.end - 1] {
            return;
        }
        for (place, &known) in range.zip(known) {
            let lower = similarity::at_least(known, lost).min(self.upper[place]);
            self.lower[place] = self.lower[place].max(lower);
        }
    }

    /// The least sum of both sides with `leaves` together, and the leaves of the 0 side.
    fn least(&self, of: &[Cost], split: usize, leaves: usize) -> (Cost, usize) {
        let [left, right] = [0, 1].map(|side| &of[self.side(split, side)]);
        let shares = leaves.saturating_sub(self.width).max(1)..=self.width.min(leaves - 1);
        let sum = |share: usize| (left[share - 1] + right[leaves - share - 1], share);
        shares.map(sum).min().expect("two sides of at least one leaf share any two leaves")
    }

    /// The leaves that a split can have: two, and no more than both sides or the node may have.
    fn sizes(&self, node: &BySize) -> std::ops::RangeInclusive<usize> {
        2..=node.lower.len().min(2 * self.width)
    }

    /// Lower the node to the best trees that begin with a split, telling of each size for which
    /// that is news what it costs now.
    pub fn lower_to(
        &self,
        split: usize,
        node: &mut BySize,
        mut news: impl FnMut(usize, Cost, Choice),
    ) {
        let mut best = Cost::MAX;
        for leaves in self.sizes(node) {
            let (cost, left) = self.least(&self.upper, split, leaves);
            if cost < best.min(node.upper[leaves - 1]) {
                let choice = Choice { question: self.questions[split], left_leaves: left as u32 };
                best = cost;
                // Whoever may have more leaves may have this tree as well.
                for at in leaves - 1..node.upper.len() {
                    if cost < node.upper[at] {
                        node.upper[at] = cost;
                        news(at, cost, choice);
                    }
                }
            }
        }
    }

    /// Raise the node to the least of its splits, by size.
    pub fn raise_node(&self, node: &mut BySize) {
        for leaves in self.sizes(node) {
            let least = (0..self.questions.len())
                .map(|split| self.least(&self.lower, split, leaves).0)
                .fold(Cost::MAX, Cost::min);
            let at = leaves - 1;
            node.lower[at] = node.lower[at].max(least.min(node.upper[at]));
        }
    }

    /// Whether a split may cost less than the node is to cost at least, with some number of
    /// leaves.
    fn is_below(&self, split: usize, node: &BySize, target: &[Cost]) -> bool {
        self.sizes(node).any(|leaves| {
            let goal = node.goal(target, leaves - 1);
            node.lower[leaves - 1] < goal && self.least(&self.lower, split, leaves).0 < goal
        })
    }

    /// What to do next; none where every split has reached the target. The first one is the split
    /// that looks best with all leaves, because what it is found to cost closes others.
    pub fn next(&mut self, node: &BySize, target: &[Cost]) -> Option<NextSide> {
        loop {
            let split = self.first_open()?;
            if self.is_below(split, node, target) {
                return Some(self.next_side(split, node, target));
            }
            // Later goals are no higher: they fall with the best known trees.
            self.open[split] = false;
        }
    }

    fn first_open(&self) -> Option<usize> {
        let looks = |split: usize| {
            let [left, right] = [0, 1].map(|side| self.side(split, side).end - 1);
            let bound = |at: usize| self.lower[at] + self.upper[at];
            bound(left) + bound(right)
        };
        (0..self.open.len()).filter(|&split| self.open[split]).min_by_key(|&split| looks(split))
    }

    /// The side of a split that lacks more of what it needs.
    fn next_side(&self, split: usize, node: &BySize, target: &[Cost]) -> NextSide {
        let needs = [0, 1].map(|side| self.needs(split, side, node, target));
        let lacks = [0, 1].map(|side| {
            let each = self.side(split, side).zip(&needs[side]);
            each.map(|(place, &need)| (need.min(self.upper[place]) - self.lower[place]).max(0))
                .sum::<Cost>()
        });
        debug_assert!(lacks[0] + lacks[1] > 0, "an open split lacks nothing");
        let side = usize::from(lacks[1] > lacks[0]);
        let [left, right] = needs;
        NextSide { split, side, target: if side == 0 { left } else { right } }
    }

    /// By its leaves, what a side must cost at least so that no size of the node stays below its
    /// goal.
    fn needs(&self, split: usize, side: usize, node: &BySize, target: &[Cost]) -> Vec<Cost> {
        let other = self.lower(split, 1 - side);
        let mut needs = vec![0; self.width];
        for leaves in self.sizes(node) {
            let goal = node.goal(target, leaves - 1);
            if node.lower[leaves - 1] >= goal {
                continue;
            }
            let shares = leaves.saturating_sub(self.width).max(1)..=self.width.min(leaves - 1);
            for own in shares {
                let need = &mut needs[own - 1];
                *need = goal.saturating_sub(other[leaves - own - 1]).max(*need);
            }
        }
        needs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splits(width: usize, sides: &[[Vec<(Cost, Cost)>; 2]]) -> Splits {
        let mut all = Splits::new(width);
        for (question, sides) in sides.iter().enumerate() {
            all.push(question as u32, |side, at| sides[side][at]);
        }
        all
    }

    fn exact(costs: &[Cost]) -> Vec<(Cost, Cost)> {
        costs.iter().map(|&cost| (cost, cost)).collect()
    }

    #[test]
    fn a_split_shares_its_leaves_in_the_best_way() {
        let all = splits(2, &[[exact(&[9, 1]), exact(&[5, 3])]]);
        let mut node = BySize { lower: vec![20, 0, 0, 0], upper: vec![20; 4] };
        let mut news = Vec::new();
        all.lower_to(0, &mut node, |at, _, choice| news.push((at, choice.left_leaves)));
        assert_eq!(node.upper, [20, 14, 6, 4]);
        assert_eq!(news.last(), Some(&(3, 2)));
        all.raise_node(&mut node);
        assert_eq!(node.lower, node.upper);
    }

    #[test]
    fn a_side_is_worked_on_only_while_some_size_needs_it() {
        let unknown = vec![(4, 4), (0, 4)];
        let mut all = splits(2, &[[unknown.clone(), exact(&[3, 1])], [exact(&[6, 6]), unknown]]);
        let node = BySize { lower: vec![9, 0, 0, 0], upper: vec![9, 7, 5, 5] };
        let target = [Cost::MAX; 4];
        let next = all.next(&node, &target).unwrap();
        assert_eq!((next.split, next.side), (0, 0));
        // With two leaves there, three or four in all: 5 less 3, or less 1.
        assert_eq!(next.target[1], 4);
        all.tighten(0, 0, &BySize { lower: vec![4, 4], upper: vec![4, 4] });
        // The other split costs at least 6 for its left side alone.
        assert!(all.next(&node, &target).is_none());
    }
}
