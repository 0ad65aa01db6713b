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
    /// Whether values are missing: these have the last code.
    pub missing: bool,
}

impl Column {
    /// How many codes the column has.
    pub fn n_codes(&self) -> usize {
        usize::from(self.missing)
            + match &self.kind {
                ColumnKind::Ordered(cuts) => cuts.len() + 1,
                ColumnKind::Boolean => 2,
                ColumnKind::Category(values) => values.len() + 1,
            }
    }

    /// The code of missing values, if there are any.
    pub fn missing_code(&self) -> Option<u32> {
        self.missing.then(|| self.n_codes() as u32 - 1)
    }

    /// Of a category, the place of the feature that asks for this code, among the column's
    /// features. `None` for the code of values that are not asked for.
    pub fn place_of_code(&self, code: u32) -> Option<u32> {
        let ColumnKind::Category(values) = &self.kind else { return None };
        let n_values = values.len() as u32;
        if self.missing_code() == Some(code) {
            Some(n_values)
        } else {
            (code < n_values).then_some(code)
        }
    }

    /// How many cuts the known values have.
    pub fn n_cuts(&self) -> u32 {
        match &self.kind {
            ColumnKind::Ordered(cuts) => cuts.len() as u32,
            ColumnKind::Boolean => 1,
            ColumnKind::Category(_) => 0,
        }
    }
}
