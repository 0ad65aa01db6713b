//! Features: the ordered axes that the search splits on, each from one column.
//!
//! A column with missing values is ordered twice: with these above all others, and below them. Both
//! are features like any other, so that nothing below this file knows of missing values. The cut
//! between them and the rest, "is missing", belongs to the first.

use super::codes::Codes;
use super::columns::{Column, ColumnKind, right_sets};
use super::points::Points;
use crate::ids::ColumnId;

/// How the codes of a column become ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The code itself. Missing values have the last one.
    Codes,
    /// As above, but for this code, that of missing values: it has the lowest rank.
    MissingLowest(u32),
    /// This code has the rank 1, and all others 0: "is value", or "is missing" of a category.
    Is(u32),
    /// A value's code and that of missing values have the rank 1.
    IsOrMissing([u32; 2]),
    /// The codes of these bits have the rank 1, and all others 0: "in this set".
    In(u64),
}

/// An axis with `cuts` places to split; a point with rank ≤ t goes left of cut t.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    pub column: ColumnId,
    pub order: Order,
    pub cuts: u32,
}

#[derive(Debug, Clone)]
pub struct Features {
    features: Vec<Feature>,
}

impl Features {
    /// Every feature that can split something: columns with one code have none. Those of a column
    /// come one after the other.
    pub fn of(columns: &[Column]) -> Self {
        let mut features = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            let mut add = |order, cuts| {
                if cuts > 0 {
                    features.push(Feature { column: ColumnId::from(index), order, cuts });
                }
            };
            let (n_cuts, missing) = (column.n_cuts(), column.missing_code());
            if let ColumnKind::Category(values) = &column.kind {
                let values = 0..values.len() as u32;
                values.clone().chain(missing).for_each(|code| add(Order::Is(code), 1));
                if let Some(missing) = missing {
                    values.for_each(|code| add(Order::IsOrMissing([code, missing]), 1));
                }
                continue;
            }
            if let ColumnKind::Sets(_) = &column.kind {
                right_sets(column.n_codes()).for_each(|right| add(Order::In(right), 1));
                continue;
            }
            add(Order::Codes, n_cuts + u32::from(column.missing));
            if let Some(missing) = missing {
                add(Order::MissingLowest(missing), n_cuts);
            }
        }
        Features { features }
    }

    pub fn len(&self) -> usize {
        self.features.len()
    }

    pub fn is_empty(&self) -> bool {
        self.features.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Feature> {
        self.features.iter()
    }

    pub fn get(&self, feature: usize) -> Feature {
        self.features[feature]
    }
}

impl Order {
    #[inline(always)]
    pub fn rank(self, code: u32) -> u32 {
        match self {
            Order::Codes => code,
            Order::MissingLowest(missing) => {
                if code == missing {
                    0
                } else {
                    code
                }
            }
            Order::Is(value) => u32::from(code == value),
            Order::IsOrMissing(both) => u32::from(both.contains(&code)),
            Order::In(right) => (right >> code) as u32 & 1,
        }
    }

    /// Whether the question is about values of a category.
    pub fn asks_for_values(self) -> bool {
        match self {
            Order::Is(_) | Order::IsOrMissing(_) | Order::In(_) => true,
            Order::Codes | Order::MissingLowest(_) => false,
        }
    }

    /// Calls `each` with the codes that a question about values of a category asks for.
    pub fn each_value(self, mut each: impl FnMut(u32)) {
        match self {
            Order::Is(value) => each(value),
            Order::IsOrMissing(both) => both.into_iter().for_each(each),
            Order::In(mut right) => {
                while right != 0 {
                    each(right.trailing_zeros());
                    right &= right - 1;
                }
            }
            Order::Codes | Order::MissingLowest(_) => {}
        }
    }
}

impl Feature {
    pub fn rank(&self, points: &Points, point: usize) -> u32 {
        self.order.rank(points.codes(self.column.index()).get(point))
    }

    /// The ranks of these points, in their order.
    pub fn ranks(&self, points: &Points, which: &[u32], out: &mut Vec<u32>) {
        out.clear();
        let codes = points.codes(self.column.index());
        // Most columns have this order, and then nothing is asked for each point.
        match (codes, self.order) {
            (Codes::Narrow(codes), Order::Codes) => {
                out.extend(which.iter().map(|&point| u32::from(codes[point as usize])));
            }
            (Codes::Wide(codes), Order::Codes) => {
                out.extend(which.iter().map(|&point| codes[point as usize]));
            }
            _ => out.extend(which.iter().map(|&point| self.rank(points, point as usize))),
        }
    }

    /// Which of neighbouring points go right of a cut: 1 if so, else 0.
    #[inline(always)]
    pub fn rights(&self, points: &Points, cut: u32, from: usize, out: &mut [u8]) {
        let codes = points.codes(self.column.index());
        // One loop for each order, so that none of them asks which it is.
        match self.order {
            Order::Codes => fill(codes, from, out, |code| code > cut),
            Order::MissingLowest(missing) => {
                fill(codes, from, out, |code| (code > cut) & (code != missing));
            }
            Order::Is(value) => fill(codes, from, out, |code| u32::from(code == value) > cut),
            Order::IsOrMissing([value, missing]) => {
                let is = |code| u32::from((code == value) | (code == missing));
                fill(codes, from, out, |code| is(code) > cut);
            }
            Order::In(right) => fill(codes, from, out, |code| (right >> code) as u32 & 1 > cut),
        }
    }

    /// Whether a point goes left of a cut.
    pub fn goes_left(&self, points: &Points, point: usize, cut: u32) -> bool {
        self.rank(points, point) <= cut
    }
}

#[inline(always)]
fn fill(codes: &Codes, from: usize, out: &mut [u8], is_right: impl Fn(u32) -> bool) {
    let range = from..from + out.len();
    match codes {
        Codes::Narrow(codes) => {
            for (out, &code) in out.iter_mut().zip(&codes[range]) {
                *out = u8::from(is_right(u32::from(code)));
            }
        }
        Codes::Wide(codes) => {
            for (out, &code) in out.iter_mut().zip(&codes[range]) {
                *out = u8::from(is_right(code));
            }
        }
        Codes::Bits(codes) => {
            for (out, point) in out.iter_mut().zip(range) {
                *out = u8::from(is_right(codes.get(point)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Threshold;

    /// By feature: which codes go right of each of its cuts.
    fn rights(kind: ColumnKind, missing: bool) -> Vec<Vec<Vec<u32>>> {
        let column = Column { name: String::new(), kind, missing };
        let n = column.n_codes() as u32;
        let columns = [column];
        let points = Points::new(&columns, vec![(0..n).collect()], vec![1; n as usize]).unwrap();
        let of = |feature: &Feature, cut| -> Vec<u32> {
            let mut right = vec![0; n as usize];
            feature.rights(&points, cut, 0, &mut right);
            let (all, mut ranks) = ((0..n).collect::<Vec<u32>>(), Vec::new());
            feature.ranks(&points, &all, &mut ranks);
            for point in 0..n as usize {
                assert_eq!(right[point] == 0, feature.goes_left(&points, point, cut));
                assert_eq!(right[point] == 0, ranks[point] <= cut);
            }
            (0..n).filter(|&code| right[code as usize] == 1).collect()
        };
        (Features::of(&columns).iter())
            .map(|feature| (0..feature.cuts).map(|cut| of(feature, cut)).collect())
            .collect()
    }

    #[test]
    fn each_cut_stands_with_missing_values_on_either_side_and_is_missing_once() {
        let cuts = ColumnKind::Ordered(vec![Threshold::Float(0.5), Threshold::Float(1.5)]);
        assert_eq!(rights(cuts.clone(), false), [[vec![1, 2], vec![2]]]);
        // Codes 0, 1, 2, and 3 for missing values.
        let above = vec![vec![1, 2, 3], vec![2, 3], vec![3]];
        assert_eq!(rights(cuts, true), [above, vec![vec![1, 2], vec![2]]]);
        assert_eq!(rights(ColumnKind::Ordered(vec![]), true), [[vec![1]]]);
        assert_eq!(rights(ColumnKind::Boolean, true), [vec![vec![1, 2], vec![2]], vec![vec![1]]]);
        // Codes 0 and 1 for values, 2 for others, and 3 for missing values.
        let values = ColumnKind::Category(vec!["a".into(), "b".into()]);
        let asked = [vec![0], vec![1], vec![3], vec![0, 3], vec![1, 3]];
        assert_eq!(rights(values, true), asked.map(|right| vec![right]));
    }

    #[test]
    fn every_way_to_part_the_values_stands_once() {
        // Codes 0, 1 and 2, the last one for missing values where there are any.
        let ways = [vec![1], vec![2], vec![1, 2]].map(|right| vec![right]);
        let sets =
            |values: &[&str]| ColumnKind::Sets(values.iter().map(|v| v.to_string()).collect());
        assert_eq!(rights(sets(&["a", "b", "c"]), false), ways);
        assert_eq!(rights(sets(&["a", "b"]), true), ways);
        assert_eq!(rights(sets(&["a"]), false), Vec::<Vec<Vec<u32>>>::new());
        for n_codes in 2..6u32 {
            let values = (0..n_codes).map(|v| v.to_string()).collect();
            let column =
                Column { name: "a".into(), kind: ColumnKind::Sets(values), missing: false };
            let ways: Vec<u64> = right_sets(n_codes as usize).collect();
            for code in 0..n_codes {
                let place = column.place_of_code(code).unwrap() as usize;
                let (own, all) = (1u64 << code, (1u64 << n_codes) - 1);
                assert!(ways[place] == own || ways[place] == all & !own);
            }
        }
    }
}
