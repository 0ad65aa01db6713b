//! Feature costs in whole parts, stated apart from the context that is tested: from the columns of
//! a path alone.

use certree::task::{FeatureCostInput, FeatureCostList};

use super::Random;

/// Costs are these numbers over `PARTS`.
pub const PARTS: i64 = 20;

#[derive(Debug, Clone, Default)]
pub struct WholeCosts {
    /// By test: its full cost, the discounted one, and its group.
    tests: Vec<(i64, i64, Option<u32>)>,
    /// By column.
    of_column: Vec<Option<usize>>,
}

impl WholeCosts {
    /// For so many columns: free ones, tests of several columns, groups.
    pub fn random(rng: &mut Random, n: usize) -> WholeCosts {
        let (most, n_groups) = (rng.pick(&[2, 4, 10, 30]), rng.below(3));
        let mut test = || {
            let full = rng.below(most + 1) as i64;
            let discounted = full * rng.pick(&[0, 1, 2]) / 2;
            let group = (n_groups > 0 && rng.chance(0.6)).then(|| rng.below(n_groups) as u32);
            (full, discounted, group)
        };
        let tests = (0..n).map(|_| test()).collect();
        let own = rng.chance(0.5);
        let of_column = (0..n)
            .map(|column| rng.chance(0.9).then(|| if own { column } else { rng.below(n) }))
            .collect();
        WholeCosts { tests, of_column }
    }

    /// What a unit of weight pays for the one column that a path has more than another.
    pub fn price(&self, path: &[usize], below: &[usize]) -> i64 {
        let Some(new) = below.iter().find(|column| !path.contains(column)) else { return 0 };
        let Some(test) = self.of_column.get(*new).copied().flatten() else { return 0 };
        let bought = || path.iter().filter_map(|&column| self.of_column[column]);
        if bought().any(|other| other == test) {
            return 0;
        }
        let (full, discounted, group) = self.tests[test];
        let knows = group.is_some() && bought().any(|other| self.tests[other].2 == group);
        if knows { discounted } else { full }
    }

    /// As they are given.
    pub fn list(&self) -> FeatureCostList {
        let cost = |whole: i64| whole as f64 / PARTS as f64;
        let tests = self.tests.iter().map(|&(full, discounted, group)| FeatureCostInput {
            full: cost(full),
            discounted: cost(discounted),
            group,
        });
        let of_column = self.of_column.iter().map(|test| test.map(|test| test as u32));
        FeatureCostList { tests: tests.collect(), of_column: of_column.collect() }
    }

    /// Whether nothing is for sale, so that no path need be known.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }
}
