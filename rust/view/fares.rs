//! What questions cost: by what was bought above, which is a node's context.
//!
//! A context says only what can still make a difference: that a test was bought if it answers other questions than
//! the one that was asked, and that a group was opened if one of its tests is then cheaper. Below a split its own
//! question has one answer only.

use super::{Key, Question};
use crate::cost::Cost;
use crate::data::Features;
use crate::ids::ColumnId;
use crate::task::{Price, TestCosts};

/// The prices of all questions.
#[derive(Debug, Clone)]
pub struct Fares {
    /// By question: its test; none if it is free.
    test_of: Vec<Option<u32>>,
    /// Groups are numbered from 0.
    tests: Vec<Price>,
    /// By test: whether it matters below that it was bought.
    lasting: Vec<bool>,
    /// By group: whether it matters that one of its tests was bought.
    shared: Vec<bool>,
    /// By class: the mass of a unit of weight. Empty where rows have masses of their own.
    pub of_class: Vec<Cost>,
}

/// What was bought: a bit for each test, and then for each group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    bits: Vec<u64>,
}

/// What the columns of one view cost in one context. Lists by column are in whole blocks of `LANES`.
#[derive(Debug, Default)]
pub struct Tariff {
    /// The price now.
    pub now: Vec<Cost>,
    /// The price once another test of its group is bought.
    pub later: Vec<Cost>,
    /// Its test and its group: below zero where there is none.
    pub test: Vec<i64>,
    pub group: Vec<i64>,
    /// By column: the least price of another question once this one was asked.
    pub next: Vec<Cost>,
    /// The least price of all.
    pub least: Cost,
    /// Each test: its first column here, and how many there are.
    distinct: Vec<(usize, u32)>,
}

/// As many columns as kernels take at a time.
const BLOCK: usize = crate::bits::LANES;

impl Fares {
    pub fn new(costs: &TestCosts, features: &Features, questions: &[Question]) -> Fares {
        let test = |column: ColumnId| costs.of_column[column.index()];
        let test_of: Vec<Option<u32>> = (questions.iter())
            .map(|question| test(features.get(question.feature.index()).column))
            .collect();
        let mut names: Vec<u32> = costs.tests.iter().filter_map(|price| price.group).collect();
        names.sort_unstable();
        names.dedup();
        let number = |name: u32| names.partition_point(|&other| other < name) as u32;
        let tests: Vec<Price> = (costs.tests.iter())
            .map(|price| Price { group: price.group.map(number), ..*price })
            .collect();
        let mut asked = vec![0; tests.len()];
        test_of.iter().flatten().for_each(|&test| asked[test as usize] += 1);
        let mut shared = vec![false; names.len()];
        for (price, &asked) in tests.iter().zip(&asked) {
            if let Some(group) = price.group {
                shared[group as usize] |= asked > 0 && price.discounted < price.full;
            }
        }
        let lasts = |(price, &asked): (&Price, &u32)| asked > 1 && price.full > 0;
        let lasting = tests.iter().zip(&asked).map(lasts).collect();
        Fares { test_of, tests, lasting, shared, of_class: costs.of_class.clone() }
    }

    pub fn bytes(&self) -> usize {
        self.test_of.capacity() * size_of::<Option<u32>>()
            + self.tests.capacity() * size_of::<Price>()
    }

    /// All prices there are.
    pub fn prices(&self) -> impl Iterator<Item = Cost> + '_ {
        self.tests.iter().flat_map(|price| [price.full, price.discounted])
    }

    fn group_bit(&self, group: u32) -> usize {
        self.tests.len() + group as usize
    }

    fn price(&self, context: &Context, test: usize) -> Cost {
        let price = &self.tests[test];
        if context.has(test) {
            return 0;
        }
        let opened = price.group.is_some_and(|group| context.has(self.group_bit(group)));
        if opened { price.discounted } else { price.full }
    }

    /// The context below a split by this question.
    pub fn buy(&self, context: &Context, question: u32) -> Context {
        let mut after = context.clone();
        let Some(test) = self.test_of[question as usize] else { return after };
        if self.lasting[test as usize] {
            after.set(test as usize);
        }
        let group = self.tests[test as usize].group;
        if let Some(group) = group.filter(|&group| self.shared[group as usize]) {
            after.set(self.group_bit(group));
        }
        after
    }

    /// The prices of a view's columns.
    pub fn tariff(&self, context: &Context, questions: &[u32], out: &mut Tariff) {
        out.clear(questions.len());
        for (at, &question) in questions.iter().enumerate() {
            if let Some(test) = self.test_of[question as usize] {
                let price = &self.tests[test as usize];
                out.now[at] = self.price(context, test as usize);
                out.later[at] = out.now[at].min(price.discounted);
                out.test[at] = i64::from(test);
                out.group[at] = price.group.map_or(-1, i64::from);
            }
        }
        out.least = out.now[..questions.len()].iter().copied().min().unwrap_or(0);
        out.find_next(questions.len());
    }
}

impl Tariff {
    fn clear(&mut self, n: usize) {
        let n = n.next_multiple_of(BLOCK);
        for prices in [&mut self.now, &mut self.later, &mut self.next] {
            prices.clear();
            prices.resize(n, 0);
        }
        for names in [&mut self.test, &mut self.group] {
            names.clear();
            names.resize(n, -1);
        }
        self.distinct.clear();
    }

    fn find_next(&mut self, n: usize) {
        for at in 0..n {
            let same = |(first, _): &&mut (usize, u32)| self.test[*first] == self.test[at];
            match self.distinct.iter_mut().rev().find(same) {
                Some((_, count)) => *count += 1,
                None => self.distinct.push((at, 1)),
            }
        }
        for &(first, count) in &self.distinct {
            let others = self.distinct.iter().filter(|&&(other, _)| other != first);
            let least = others.map(|&(other, _)| self.after(first, other)).min().unwrap_or(0);
            self.next[first] = if count > 1 { 0 } else { least };
        }
    }

    /// The price of column `then` once column `first` was asked.
    pub fn after(&self, first: usize, then: usize) -> Cost {
        if self.test[first] == self.test[then] {
            0
        } else if self.group[first] == self.group[then] && self.group[first] >= 0 {
            self.later[then]
        } else {
            self.now[then]
        }
    }

    pub fn bytes(&self) -> usize {
        (self.now.capacity() + self.later.capacity() + self.next.capacity()) * size_of::<Cost>()
            + (self.test.capacity() + self.group.capacity()) * size_of::<i64>()
            + self.distinct.capacity() * size_of::<(usize, u32)>()
    }
}

impl Context {
    fn has(&self, bit: usize) -> bool {
        self.bits.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    fn set(&mut self, bit: usize) {
        if self.bits.len() <= bit / 64 {
            self.bits.resize(bit / 64 + 1, 0);
        }
        self.bits[bit / 64] |= 1 << (bit % 64);
    }

    /// A random key of the context: 0 of the empty one. Together with the fingerprint of the rows it names a node.
    pub fn key(&self) -> Key {
        let mut key = 0;
        for (at, &word) in self.bits.iter().enumerate().filter(|(_, word)| **word != 0) {
            let mut rest = word;
            while rest != 0 {
                key ^= mixed(at as u64 * 64 + u64::from(rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
        key
    }

    pub fn bytes(&self) -> usize {
        self.bits.capacity() * 8
    }
}

/// A fixed random key for a number.
fn mixed(x: u64) -> Key {
    let half = |seed: u64| {
        let x = (x + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed;
        let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    };
    Key::from(half(0x243f_6a88_85a3_08d3)) << 64 | Key::from(half(0x1319_8a2e_0370_7344))
}
