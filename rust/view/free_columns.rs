//! Free columns: those of which any set of values may be asked.
//!
//! A set of such a column, and the sets of all columns below it, follow from sums by value. So a
//! view has the values of its rows beside the answers to its questions.

use crate::data::{Feature, Features, Order, Points};

/// Fewer sets than these are looked at one by one: no sums by value would be faster.
const FEW_SETS: usize = 32;

/// A question about a free column: its number, and the values on the 1 side as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueSet {
    pub column: u32,
    pub right: u32,
}

/// The free columns of a view. A set of values that is no question of the view splits no rows, or
/// as another question does: each way to part the values of a column is a feature, and a view has
/// the first feature of those that split alike.
#[derive(Debug, Clone, Default)]
pub struct FreeColumns {
    /// By free column: its number in the data, and how many values it has.
    columns: Vec<(u32, u32)>,
    /// By question, if there are free columns.
    of_question: Vec<Option<ValueSet>>,
}

impl FreeColumns {
    /// Of the features of the questions. None are free where there are too few sets to gain by it.
    pub(super) fn of(features: &Features, questions: &[Feature]) -> FreeColumns {
        let mut columns: Vec<(u32, u32)> = Vec::new();
        for feature in features.iter() {
            if let Order::In(right) = feature.order {
                let (column, most) = (feature.column.index() as u32, right.ilog2() + 1);
                match columns.last_mut() {
                    Some((last, n_values)) if *last == column => *n_values = most.max(*n_values),
                    _ => columns.push((column, most)),
                }
            }
        }
        let set_of = |feature: &Feature| {
            let Order::In(right) = feature.order else { return None };
            let column = feature.column.index() as u32;
            let free = columns.iter().position(|&(free, _)| free == column)?;
            Some(ValueSet { column: free as u32, right: right as u32 })
        };
        let of_question: Vec<_> = questions.iter().map(set_of).collect();
        match of_question.iter().flatten().count() {
            ..FEW_SETS => FreeColumns::default(),
            _ => FreeColumns { columns, of_question },
        }
    }

    /// How many columns are free.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// How many values a free column has.
    pub fn n_values(&self, column: usize) -> usize {
        self.columns[column].1 as usize
    }

    /// The set that a question asks for, if it is one of a free column.
    pub fn set_of(&self, question: u32) -> Option<ValueSet> {
        self.of_question.get(question as usize).copied().flatten()
    }

    /// A point's value of each free column.
    pub(super) fn values<'a>(
        &'a self,
        points: &'a Points,
        point: usize,
    ) -> impl Iterator<Item = u8> + 'a {
        self.columns.iter().map(move |&(column, _)| points.codes(column as usize).get(point) as u8)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.columns.capacity() * size_of::<(u32, u32)>()
            + self.of_question.capacity() * size_of::<Option<ValueSet>>()
    }
}
