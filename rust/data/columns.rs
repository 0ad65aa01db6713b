//! The user's columns, as the search knows them: a name, a kind, and the cuts it may be split at.

/// A place to split a number: `x <= threshold` goes left.
///
/// Integers beyond 2^53 have midpoints that no float is, so a threshold may be an integer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    Float(f64),
    Int(i64),
}

#[derive(Debug, Clone, PartialEq)]
pub enum ColumnKind {
    /// Numbers and dates: one ordered feature with these cuts, ascending. A point's code is how
    /// many cuts lie below its value.
    Ordered(Vec<Threshold>),
    /// False goes left. The code is 0 or 1.
    Boolean,
    /// One "is value" feature for each of these values. The code is the value's index; points with
    /// a value that is not asked for have one code beyond.
    Category(Vec<String>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub name: String,
    pub kind: ColumnKind,
}

impl Column {
    /// How many codes the column has.
    pub fn n_codes(&self) -> usize {
        match &self.kind {
            ColumnKind::Ordered(cuts) => cuts.len() + 1,
            ColumnKind::Boolean => 2,
            ColumnKind::Category(values) => values.len() + 1,
        }
    }
}
