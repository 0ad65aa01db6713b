//! Feature costs: a column is paid for where a path first asks for it, and cheaper once its group
//! is open.
//!
//! `task/feature_costs.rs` says what tests, their costs and groups are. The state holds only what
//! can still make a difference: that a test was bought if it answers other questions than the one
//! that was asked, and that a group was opened if one of its tests is then cheaper. Below a split
//! its own question has one answer only.

use super::bit_set::{has, insert, words_for};
use super::contract::Context;
use super::state::State;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::ids::ColumnId;
use crate::task::{FeatureCost, FeatureCosts};

/// The costs of all tests, as a context.
#[derive(Debug, Clone)]
pub struct FeatureCostContext {
    /// By column: its test; none if it is free.
    of_column: Vec<Option<u32>>,
    /// Groups are numbered from 0.
    tests: Vec<FeatureCost>,
    /// By test: whether it matters below that it was bought.
    lasting: Vec<bool>,
    /// By group: whether it matters that one of its tests was bought.
    shared: Vec<bool>,
    /// `FeatureCosts::is_ordered`.
    pub is_ordered: bool,
}

impl FeatureCostContext {
    /// `questions`: by column, how many different ones there are.
    pub fn new(costs: &FeatureCosts, questions: &[u32]) -> FeatureCostContext {
        let mut names: Vec<u32> = costs.tests.iter().filter_map(|test| test.group).collect();
        names.sort_unstable();
        names.dedup();
        let number = |name: u32| names.partition_point(|&other| other < name) as u32;
        let tests: Vec<FeatureCost> = (costs.tests.iter())
            .map(|test| FeatureCost { group: test.group.map(number), ..*test })
            .collect();
        let mut n_questions = vec![0; tests.len()];
        for (test, questions) in costs.of_column.iter().zip(questions) {
            if let Some(test) = test {
                n_questions[*test as usize] += questions;
            }
        }
        let mut shared = vec![false; names.len()];
        for (test, &questions) in tests.iter().zip(&n_questions) {
            if let Some(group) = test.group {
                shared[group as usize] |= questions > 0 && test.discounted != test.full;
            }
        }
        let lasts = |(test, &questions): (&FeatureCost, &u32)| questions > 1 && test.full > 0;
        let lasting = tests.iter().zip(&n_questions).map(lasts).collect();
        let (of_column, is_ordered) = (costs.of_column.clone(), costs.is_ordered);
        FeatureCostContext { of_column, tests, lasting, shared, is_ordered }
    }

    /// The test of a column, and its cost; `None` if it is free.
    pub fn test(&self, column: ColumnId) -> Option<(u32, &FeatureCost)> {
        let test = self.of_column[column.index()]?;
        Some((test, &self.tests[test as usize]))
    }

    /// All costs there are.
    pub fn all_costs(&self) -> impl Iterator<Item = Cost> + '_ {
        self.tests.iter().flat_map(|test| [test.full, test.discounted])
    }

    pub fn bytes(&self) -> usize {
        self.of_column.capacity() * size_of::<Option<u32>>()
            + self.tests.capacity() * size_of::<FeatureCost>()
    }

    /// The cost of a column in a state whose first words are those of this context.
    pub fn cost_in(&self, state: &State, column: ColumnId) -> Cost {
        self.cost(&state.words, column).unwrap_or(0)
    }

    fn group_bit(&self, group: u32) -> usize {
        self.tests.len() + group as usize
    }
}

impl Context for FeatureCostContext {
    fn cost_after(&self, path: &[ColumnId], column: ColumnId) -> Option<Cost> {
        let Some((test, cost)) = self.test(column) else { return Some(0) };
        let mut bought = path.iter().filter_map(|&column| self.test(column));
        if bought.clone().any(|(other, _)| other == test) {
            return Some(0);
        }
        let opened = cost.group.is_some() && bought.any(|(_, other)| other.group == cost.group);
        Some(if opened { cost.discounted } else { cost.full })
    }

    fn validate(&self, n_columns: usize) -> Result<()> {
        if self.of_column.len() == n_columns {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "tests are given for {} columns, but there are {n_columns}",
            self.of_column.len()
        )))
    }

    fn words(&self) -> usize {
        words_for(self.tests.len() + self.shared.len())
    }

    fn cost(&self, state: &[u64], column: ColumnId) -> Option<Cost> {
        let Some((test, cost)) = self.test(column) else { return Some(0) };
        if has(state, test as usize) {
            return Some(0);
        }
        let opened = cost.group.is_some_and(|group| has(state, self.group_bit(group)));
        Some(if opened { cost.discounted } else { cost.full })
    }

    fn enter(&self, state: &mut [u64], column: ColumnId, _again: bool) {
        let Some((test, cost)) = self.test(column) else { return };
        if self.lasting[test as usize] {
            insert(state, test as usize);
        }
        if let Some(group) = cost.group.filter(|&group| self.shared[group as usize]) {
            insert(state, self.group_bit(group));
        }
    }

    fn kind(&self, column: ColumnId) -> u32 {
        self.of_column[column.index()].map_or(0, |test| test + 1)
    }

    fn is_open(&self, _state: &[u64]) -> bool {
        true
    }

    fn has_costs(&self) -> bool {
        true
    }
}
