//! Trees that are drawn, all with the same chance.

use super::count::Count;
use super::curves::Curves;
use super::graph::Child;
use super::listed::Listed;
use crate::cost::Cost;
use crate::tree::Plan;

/// Random words, the same for the same seed.
pub struct Words(pub u64);

impl Words {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }
}

/// The place of the tree with this number, among counts of trees, and its number there.
fn place(counts: &[Count], mut number: Count) -> (usize, Count) {
    for (at, count) in counts.iter().enumerate() {
        match number.minus(count) {
            Some(rest) => number = rest,
            None => return (at, number),
        }
    }
    unreachable!("a number below the sum of all counts is in one of them")
}

pub struct Sampler<'c, 'g> {
    curves: &'c Curves<'g>,
    budget: Cost,
    /// Of the root's leaf, then of each of its splits.
    of_root: Vec<Count>,
    total: Count,
}

impl<'c, 'g> Sampler<'c, 'g> {
    pub fn new(curves: &'c Curves<'g>, budget: Cost) -> Self {
        let (leaf, splits) = curves.of_root(budget);
        let of_root: Vec<Count> = std::iter::once(leaf).chain(splits).collect();
        let mut total = Count::ZERO;
        of_root.iter().for_each(|count| total.add(count));
        Sampler { curves, budget, of_root, total }
    }

    /// A tree; `None` if there is none.
    pub fn draw(&self, words: &mut Words) -> Option<Listed> {
        if self.total.is_zero() {
            return None;
        }
        let mut labels = Vec::new();
        let number = self.total.random_below(&mut || words.next());
        let (at, number) = place(&self.of_root, number);
        let curves = self.curves;
        if at == 0 {
            let costs = curves.as_leaf(0).iter().filter(|entry| entry.cost <= self.budget);
            let costs: Vec<_> = costs.collect();
            let counts: Vec<Count> = costs.iter().map(|entry| entry.count.clone()).collect();
            let (at, number) = place(&counts, number);
            let cost = costs[at].cost;
            self.leaf(Child::Node(0), cost, number, &mut labels);
            return Some(Listed { cost, plan: Plan::Leaf, labels });
        }
        let split = curves.splits_of(0).nth(at - 1)?;
        let (at, _) = place(&curves.by_left(split, self.budget), number);
        let left = &curves.of(split.left)[at];
        let most = curves.graph.max_leaves.unwrap_or(u32::MAX) - left.leaves;
        let fits = |cost: Cost, leaves: u32| cost <= self.budget - left.cost && leaves <= most;
        let rights = curves.of(split.right).iter().filter(|entry| fits(entry.cost, entry.leaves));
        let rights: Vec<_> = rights.collect();
        let counts: Vec<Count> = rights.iter().map(|entry| entry.count.clone()).collect();
        let mut sum = Count::ZERO;
        counts.iter().for_each(|count| sum.add(count));
        let (at, _) = place(&counts, sum.random_below(&mut || words.next()));
        let right = rights[at];
        let (cut, _) = curves.graph.questions[split.question as usize];
        let a = self.tree(split.left, (left.leaves, left.cost), words, &mut labels);
        let b = self.tree(split.right, (right.leaves, right.cost), words, &mut labels);
        let cost = left.cost + right.cost;
        Some(Listed { cost, plan: Plan::split(cut.feature, cut.cut, a, b), labels })
    }

    /// A tree of a child that has exactly these leaves and this cost.
    fn tree(
        &self,
        child: Child,
        (leaves, cost): (u32, Cost),
        words: &mut Words,
        labels: &mut Vec<u32>,
    ) -> Plan {
        let curves = self.curves;
        let answers = curves.graph.answers_of(child).iter().filter(|answer| answer.0 == cost);
        let as_leaf = if leaves <= 1 { answers.count() as u128 } else { 0 };
        // Of each split, by entry of its left side: the entry of its right side that fits.
        let mut ways = vec![(None, Count::from(as_leaf))];
        if let Child::Node(node) = child {
            for split in curves.splits_of(node) {
                let right = curves.of(split.right);
                for a in curves.of(split.left).iter().filter(|a| a.leaves <= leaves) {
                    let wanted = (leaves - a.leaves, cost - a.cost);
                    if let Ok(b) = right.binary_search_by_key(&wanted, |b| (b.leaves, b.cost)) {
                        let count = a.count.times(&right[b].count);
                        ways.push((Some((split, (a.leaves, a.cost), wanted)), count));
                    }
                }
            }
        }
        let counts: Vec<Count> = ways.iter().map(|(_, count)| count.clone()).collect();
        let mut sum = Count::ZERO;
        counts.iter().for_each(|count| sum.add(count));
        let (at, number) = place(&counts, sum.random_below(&mut || words.next()));
        let Some((split, left, right)) = ways[at].0 else {
            self.leaf(child, cost, number, labels);
            return Plan::Leaf;
        };
        let (cut, _) = curves.graph.questions[split.question as usize];
        let left = self.tree(split.left, left, words, labels);
        let right = self.tree(split.right, right, words, labels);
        Plan::split(cut.feature, cut.cut, left, right)
    }

    /// The label of this number among those that cost so much.
    fn leaf(&self, child: Child, cost: Cost, number: Count, labels: &mut Vec<u32>) {
        let answers = self.curves.graph.answers_of(child).iter();
        let same: Vec<u32> = answers.filter(|answer| answer.0 == cost).map(|a| a.1).collect();
        let ones = vec![Count::ONE; same.len()];
        labels.push(same[place(&ones, number).0]);
    }
}
