//! Feature costs in whole parts, stated apart from the context that is tested: from the columns of
//! a path alone.

use certree::task::{FeatureCostInput, FeatureCostList, Price, RowPrices};

use super::Random;

/// Costs are these numbers over `PARTS`.
pub const PARTS: i64 = 20;

#[derive(Debug, Clone, Default)]
pub struct WholeCosts {
    /// By test: its full cost, the discounted one, and its group.
    tests: Vec<(i64, i64, Option<u32>)>,
    /// By column.
    of_column: Vec<Option<usize>>,
    /// By test: how many times its cost a row of each point pays; all of them once if there is
    /// none.
    times: Vec<Option<Vec<i64>>>,
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
        WholeCosts { tests, of_column, times: vec![None; n] }
    }

    /// These costs, of which some differ by row, for so many points.
    pub fn by_row(mut self, rng: &mut Random, n_points: usize) -> WholeCosts {
        for times in &mut self.times {
            let drawn = (0..n_points).map(|_| rng.pick(&[0, 0, 1, 1, 2, 3])).collect();
            *times = rng.chance(0.6).then_some(drawn);
        }
        self
    }

    /// What a unit of weight pays for the one column that a path has more than another.
    pub fn price(&self, path: &[usize], below: &[usize]) -> i64 {
        self.bought(path, below).map_or(0, |(_, price)| price)
    }

    /// As above, by point: a unit of its weight.
    pub fn price_at(&self, path: &[usize], below: &[usize], point: usize) -> i64 {
        let Some((test, price)) = self.bought(path, below) else { return 0 };
        price * self.times[test].as_ref().map_or(1, |times| times[point])
    }

    /// The test that is bought for that column, and its price.
    fn bought(&self, path: &[usize], below: &[usize]) -> Option<(usize, i64)> {
        let new = below.iter().find(|column| !path.contains(column))?;
        let test = self.of_column.get(*new).copied().flatten()?;
        let bought = || path.iter().filter_map(|&column| self.of_column[column]);
        if bought().any(|other| other == test) {
            return None;
        }
        let (full, discounted, group) = self.tests[test];
        let knows = group.is_some() && bought().any(|other| self.tests[other].2 == group);
        Some((test, if knows { discounted } else { full }))
    }

    /// As they are given, where all rows pay alike.
    pub fn list(&self) -> FeatureCostList {
        assert!(self.times.iter().all(Option::is_none), "prices by row are of weights");
        self.list_of(&[], 1)
    }

    /// As they are given. `weights`: by point and class.
    pub fn list_of(&self, weights: &[f64], n_classes: usize) -> FeatureCostList {
        let cost = |whole: i64| whole as f64 / PARTS as f64;
        let mut lists: Vec<Vec<f64>> = Vec::new();
        let mut price = |whole: i64, times: &Option<Vec<i64>>| match times {
            None => Price::Each(cost(whole)),
            Some(times) => {
                // Divided last, so that whole weights pay short decimals.
                let paid = |(at, weight): (usize, &f64)| {
                    weight * (whole * times[at / n_classes]) as f64 / PARTS as f64
                };
                lists.push(weights.iter().enumerate().map(paid).collect());
                Price::ByRow(lists.len() as u32 - 1)
            }
        };
        let tests = self.tests.iter().zip(&self.times);
        let tests = tests.map(|(&(full, discounted, group), times)| FeatureCostInput {
            full: price(full, times),
            discounted: price(discounted, times),
            group,
        });
        let tests = tests.collect();
        let of_column = self.of_column.iter().map(|test| test.map(|test| test as u32)).collect();
        let sums = (0..weights.len()).flat_map(|at| lists.iter().map(move |list| list[at]));
        let by_row = RowPrices { n_lists: lists.len(), n_classes, sums: sums.collect() };
        FeatureCostList { tests, of_column, by_row }
    }

    /// Whether nothing is for sale, so that no path need be known.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }
}
