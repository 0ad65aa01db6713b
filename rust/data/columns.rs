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
    /// One "in this set" feature for each way to part these values, and missing ones if there are
    /// any, into two. The code is the value's index.
    Sets(Vec<String>),
}

/// The most codes of a column of sets: with one more it would offer twice as many ways to part
/// them.
pub const MOST_IN_SETS: usize = 20;

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
                ColumnKind::Sets(values) => values.len(),
            }
    }

    /// The code of missing values, if there are any.
    pub fn missing_code(&self) -> Option<u32> {
        self.missing.then(|| self.n_codes() as u32 - 1)
    }

    /// Of a category, the place of the feature that asks for this code alone, among the column's
    /// features. `None` for the code of values that are not asked for.
    pub fn place_of_code(&self, code: u32) -> Option<u32> {
        let n_values = match &self.kind {
            ColumnKind::Category(values) => values.len() as u32,
            ColumnKind::Sets(_) => return place_of_one(self.n_codes(), code),
            _ => return None,
        };
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
            ColumnKind::Category(_) | ColumnKind::Sets(_) => 0,
        }
    }

    /// Whether questions are about single values, or sets of them, and not about their order.
    pub fn has_no_order(&self) -> bool {
        matches!(self.kind, ColumnKind::Category(_) | ColumnKind::Sets(_))
    }
}

/// The ways to part so many codes into two, each once: as bits, the codes that go right. The first
/// code always goes left.
pub fn right_sets(n_codes: usize) -> impl Iterator<Item = u64> {
    let n_ways = 1u64 << n_codes.saturating_sub(1).min(MOST_IN_SETS);
    (1..n_ways).map(|others| others << 1)
}

/// The place among `right_sets` of the set that parts one code from all others.
fn place_of_one(n_codes: usize, code: u32) -> Option<u32> {
    let others = match code.checked_sub(1) {
        Some(bit) => 1u64 << bit,
        None => (1u64 << n_codes.saturating_sub(1)) - 1,
    };
    (n_codes > 1).then(|| others as u32 - 1)
}
