//! Features: the ordered axes that the search splits on, each from one column.

use super::codes::Codes;
use super::columns::{Column, ColumnKind};
use super::points::Points;
use crate::ids::ColumnId;

/// An axis with `cuts` places to split; a point with rank ≤ t goes left of cut t.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    pub column: ColumnId,
    /// For a category: the value that this feature asks for (rank 1) against all others (rank 0).
    pub value: Option<u32>,
    pub cuts: u32,
}

#[derive(Debug, Clone)]
pub struct Features {
    features: Vec<Feature>,
}

impl Features {
    /// Every feature that can split something: columns with one code have none.
    pub fn of(columns: &[Column]) -> Self {
        let mut features = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            let column_id = ColumnId::from(index);
            match &column.kind {
                ColumnKind::Ordered(cuts) if cuts.is_empty() => {}
                ColumnKind::Ordered(cuts) => features.push(Feature {
                    column: column_id,
                    value: None,
                    cuts: cuts.len() as u32,
                }),
                ColumnKind::Boolean => {
                    features.push(Feature { column: column_id, value: None, cuts: 1 })
                }
                ColumnKind::Category(values) => {
                    for value in 0..values.len() as u32 {
                        features.push(Feature { column: column_id, value: Some(value), cuts: 1 });
                    }
                }
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

impl Feature {
    pub fn rank(&self, points: &Points, point: usize) -> u32 {
        let code = points.codes(self.column.index()).get(point);
        match self.value {
            Some(value) => u32::from(code == value),
            None => code,
        }
    }

    /// Which of neighbouring points go right of a cut: 1 if so, else 0.
    #[inline(always)]
    pub fn rights(&self, points: &Points, cut: u32, from: usize, out: &mut [u8]) {
        let range = from..from + out.len();
        match (points.codes(self.column.index()), self.value) {
            (Codes::Narrow(codes), None) => {
                for (out, &code) in out.iter_mut().zip(&codes[range]) {
                    *out = u8::from(u32::from(code) > cut);
                }
            }
            (Codes::Wide(codes), None) => {
                for (out, &code) in out.iter_mut().zip(&codes[range]) {
                    *out = u8::from(code > cut);
                }
            }
            (Codes::Narrow(codes), Some(value)) => {
                for (out, &code) in out.iter_mut().zip(&codes[range]) {
                    *out = u8::from(u32::from(u32::from(code) == value) > cut);
                }
            }
            (Codes::Wide(codes), Some(value)) => {
                for (out, &code) in out.iter_mut().zip(&codes[range]) {
                    *out = u8::from(u32::from(code == value) > cut);
                }
            }
        }
    }

    /// Whether a point goes left of a cut.
    pub fn goes_left(&self, points: &Points, point: usize, cut: u32) -> bool {
        self.rank(points, point) <= cut
    }
}
