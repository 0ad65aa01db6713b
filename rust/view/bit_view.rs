//! The bit view: every cut as one bit of a row, the rows of each class side by side.
//!
//! A row of this view is an *entry*: some of a point's weight in one class. Entries that count
//! alike form a segment, so that a popcount over a segment is a sum. Weights are cut into powers of
//! two: an entry of weight 5 stands in the segments of 4 and of 1.

use super::free_columns::FreeColumns;
use super::nesting::Nesting;
use super::path_context::PathContext;
use super::thirds::Thirds;
use crate::bits::Level;
use crate::cost::Cost;
use crate::ids::FeatureId;

/// The random key of a point; a set of points is known by the XOR of its keys. The first entry of a
/// point carries the key and the others carry 0, so that a set of entries has its points'
/// fingerprint.
pub type Fingerprint = u128;

/// A cut of a feature. In a view it is a question, by its number: whether the rank of a row is
/// above the cut. Bit 1 is the right side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    pub feature: FeatureId,
    pub cut: u32,
}

/// What each entry of a segment adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Segment {
    pub class: u32,
    /// Weight in its class.
    pub weight: i64,
    /// Share of the least cost that any tree has to pay (equivalent points).
    pub least: Cost,
    /// The largest cost any label gives.
    pub worst: Cost,
    pub rows: i64,
}

/// What all views of one problem share.
#[derive(Debug, Clone)]
pub struct BitView {
    /// The cut of each question.
    pub questions: Vec<Cut>,
    pub segments: Vec<Segment>,
    /// Statistics by entry where the task is not one of classes: its cost by label, or its weight,
    /// sums and squares.
    pub n_stats: usize,
    /// Numbers by entry: its statistics, its worst cost, its rows if they matter, and its mass if
    /// questions cost something. 0 for classes.
    pub width: usize,
    /// What every tree pays beside what its leaves pay for entries: weight that a point has in all
    /// classes alike cancels out. So views say what a tree costs beyond it.
    pub unavoidable_cost: Cost,
    /// What questions cost, and which are allowed below which, if that is not nothing, and all.
    pub context: Option<PathContext>,
    /// Whether all rows are here and are counted, because a split makes a difference to rows that
    /// no label is wrong for: they pay for it, or it allows questions below.
    pub all_rows: bool,
    /// Of questions whose rows are summed, not counted; else it knows of none.
    pub nesting: Nesting,
    /// Columns of which any set of values may be asked, where sums by value may be of use.
    pub free: FreeColumns,
    /// Sides of questions that hold those of others: of columns with missing values.
    pub thirds: Thirds,
    pub root: View,
}

/// The entries of one node, compact: only their rows, only the questions that still tell them
/// apart.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Indices into `BitView::questions`, one for each column.
    pub columns: Vec<u32>,
    /// How many rows.
    pub(super) len: usize,
    /// Words in a row: enough for all columns.
    pub stride: usize,
    /// Row-major bits; bits beyond the last column are 0.
    pub bits: Vec<u64>,
    /// One for each row, or none where nobody will ask for fingerprints.
    pub keys: Vec<[u64; 2]>,
    /// Where each segment ends.
    pub ends: Vec<u32>,
    /// `BitView::width` numbers by entry.
    pub costs: Vec<Cost>,
    /// By entry: its value of each free column; or none where they are of no use.
    pub values: Vec<u8>,
}

impl BitView {
    /// Nanoseconds, about, of a look at all trees of depth two: pairs of questions, and 64 rows of
    /// each that are counted at once, or rows one by one that are summed.
    pub fn nanoseconds_of_a_look(&self) -> f64 {
        let pairs = (self.root.columns.len() as f64).powi(2);
        let rows = self.root.len() as f64;
        let counted = if self.width == 0 { rows / 64.0 } else { rows * self.width as f64 };
        pairs * (16.0 + counted)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.root.bytes()
            + self.questions.capacity() * size_of::<Cut>()
            + self.segments.capacity() * size_of::<Segment>()
            + self.context.as_ref().map_or(0, PathContext::bytes)
            + self.nesting.bytes()
            + self.free.bytes()
            + self.thirds.bytes()
    }
}

/// Rows of a pair of questions that are counted while one is added to one number.
const ROWS_COUNTED_AT_ONCE: usize = 800;

/// Likewise, where the numbers of rows are summed.
const ROWS_SUMMED_AT_ONCE: usize = 16;

pub(super) fn from_key(key: Fingerprint) -> [u64; 2] {
    [key as u64, (key >> 64) as u64]
}

fn to_key([low, high]: [u64; 2]) -> Fingerprint {
    Fingerprint::from(low) | Fingerprint::from(high) << 64
}

/// Of all rows and those on the 1 side: both sides.
fn sides([all, ones]: [[u64; 2]; 2]) -> [Fingerprint; 2] {
    let (all, ones) = (to_key(all), to_key(ones));
    [all ^ ones, ones]
}

impl View {
    /// Rows of bits, and the numbers of each.
    #[cfg(test)]
    pub fn of_rows(rows: &[Vec<bool>], costs: Vec<Cost>) -> View {
        let n = rows.first().map_or(0, Vec::len);
        let word =
            |word: &[bool]| word.iter().rev().fold(0, |bits, &bit| bits << 1 | u64::from(bit));
        View {
            columns: (0..n as u32).collect(),
            len: rows.len(),
            stride: n.div_ceil(64),
            bits: rows.iter().flat_map(|row| row.chunks(64).map(word)).collect(),
            costs,
            ..View::default()
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a look by value may take less time than one by question. It adds each row to one
    /// cell of each pair of free columns, while one by question adds many rows to a pair of
    /// questions at once.
    fn gains_by_value(&self) -> bool {
        self.columns.len() >= self.rows_at_once().isqrt() * self.n_values()
    }

    /// How many rows of a pair of questions are counted, or summed, while one is added to a sum by
    /// value.
    pub fn rows_at_once(&self) -> usize {
        if self.costs.is_empty() { ROWS_COUNTED_AT_ONCE } else { ROWS_SUMMED_AT_ONCE }
    }

    /// How many values each row has: one of each free column.
    pub fn n_values(&self) -> usize {
        self.values.len().checked_div(self.len).unwrap_or(0)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bits.capacity() * 8
            + self.keys.capacity() * 16
            + self.costs.capacity() * 8
            + self.values.capacity()
            + (self.columns.capacity() + self.ends.capacity()) * 4
    }

    /// The bytes that a child of this view takes in `into`, beyond what it holds.
    pub fn child_bytes(&self, into: &View) -> usize {
        let more = |needs: usize, has: usize, size: usize| needs.saturating_sub(has) * size;
        more((self.len + 1) * self.stride, into.bits.capacity(), 8)
            + more(self.len + 1, into.keys.capacity(), 16)
            + more(self.costs.len() + self.width(), into.costs.capacity(), 8)
            + more(self.values.len(), into.values.capacity(), 1)
    }

    /// Where a segment's rows are.
    pub fn segment(&self, index: usize) -> std::ops::Range<usize> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        start..self.ends[index] as usize
    }

    /// The fingerprints of the two sides of a column.
    pub fn fingerprints(&self, column: usize, level: Level) -> [Fingerprint; 2] {
        match self.stride {
            0 => [0, 0],
            1 => self.fingerprints_of::<1>(column, level),
            2 => self.fingerprints_of::<2>(column, level),
            3 => self.fingerprints_of::<3>(column, level),
            4 => self.fingerprints_of::<4>(column, level),
            stride => {
                // Rows of any length: the column's word of each.
                let words = self.bits.iter().skip(column / 64).step_by(stride);
                let words: Vec<[u64; 1]> = words.map(|&word| [word]).collect();
                sides(level.xor(&words, &self.keys, (0, column % 64)))
            }
        }
    }

    fn fingerprints_of<const STRIDE: usize>(
        &self,
        column: usize,
        level: Level,
    ) -> [Fingerprint; 2] {
        let rows = self.bits.as_chunks::<STRIDE>().0;
        sides(level.xor(rows, &self.keys, (column / 64, column % 64)))
    }

    /// The key of one row.
    pub fn key(&self, row: usize) -> Fingerprint {
        to_key(self.keys[row])
    }

    /// The keys of all points that have rows here.
    pub fn row_keys(&self) -> impl Iterator<Item = Fingerprint> + '_ {
        self.keys.iter().map(|&key| to_key(key)).filter(|&key| key != 0)
    }

    /// The fingerprint of all rows.
    pub fn fingerprint(&self) -> Fingerprint {
        self.keys.iter().fold(0, |sum, &key| sum ^ to_key(key))
    }

    /// The rows on one side of a column, into `out`, and a mask of the columns that vary there into
    /// `varying`. Columns that are constant stay; keys are left out unless asked for, and so are
    /// values unless a look by value would be of use.
    pub fn child(
        &self,
        (column, side): (usize, usize),
        keys: bool,
        level: Level,
        out: &mut View,
        varying: &mut Vec<u64>,
    ) {
        let to = (column, side == 1);
        let values = keys || self.gains_by_value();
        if !keys && self.costs.is_empty() && (self.values.is_empty() || !values) {
            match self.stride {
                1 => return self.select::<1>(to, level, out, varying),
                2 => return self.select::<2>(to, level, out, varying),
                _ => {}
            }
        }
        match self.stride {
            1 => self.child_of::<1>(column, side == 1, (keys, values), out, varying),
            2 => self.child_of::<2>(column, side == 1, (keys, values), out, varying),
            3 => self.child_of::<3>(column, side == 1, (keys, values), out, varying),
            4 => self.child_of::<4>(column, side == 1, (keys, values), out, varying),
            _ => self.child_of::<0>(column, side == 1, (keys, values), out, varying),
        }
    }

    /// As above, for bits alone, by whole vectors.
    fn select<const STRIDE: usize>(
        &self,
        (column, side): (usize, bool),
        level: Level,
        out: &mut View,
        varying: &mut Vec<u64>,
    ) {
        out.columns.clone_from(&self.columns);
        out.stride = STRIDE;
        out.keys.clear();
        out.costs.clear();
        out.values.clear();
        out.ends.clear();
        out.bits.resize(self.len * STRIDE + 8, 0);
        let (mut any, mut all) = ([0; STRIDE], [u64::MAX; STRIDE]);
        let mut n = 0;
        for segment in 0..self.ends.len() {
            let rows = self.segment(segment);
            let from = &self.bits[rows.start * STRIDE..rows.end * STRIDE];
            let to = &mut out.bits[n * STRIDE..];
            n += level.select(from, (column / 64, column % 64), side, to, &mut any, &mut all);
            out.ends.push(n as u32);
        }
        out.len = n;
        out.bits.truncate(n * STRIDE);
        varying.clear();
        varying.extend(any.iter().zip(&all).map(|(any, all)| any & !all));
    }

    /// How many costs an entry has.
    pub(super) fn width(&self) -> usize {
        self.costs.len().checked_div(self.len).unwrap_or(0)
    }

    /// Whether a row is on a side of a column.
    #[inline(always)]
    fn is_on_side(&self, row: usize, column: usize, side: bool) -> bool {
        (self.bits[row * self.stride + column / 64] >> (column % 64) & 1 == 1) == side
    }

    /// The costs of the rows on a side of a column, `W` of each. Which rows these are is hard to
    /// foresee, so each is written, and the next one overwrites those that do not stay.
    fn take_costs<const W: usize>(&self, column: usize, side: bool, out: &mut Vec<i64>) {
        let (costs, _) = self.costs.as_chunks::<W>();
        let places = (costs.len() + 1) * W;
        out.reserve_exact(places.saturating_sub(out.len()));
        out.resize(places, 0);
        let (to, _) = out.as_chunks_mut::<W>();
        let mut n = 0;
        for (row, costs) in costs.iter().enumerate() {
            to[n] = *costs;
            n += usize::from(self.is_on_side(row, column, side));
        }
        out.truncate(n * W);
    }

    fn take_any_costs(&self, width: usize, column: usize, side: bool, out: &mut Vec<i64>) {
        out.clear();
        for (row, costs) in self.costs.chunks_exact(width).enumerate() {
            if self.is_on_side(row, column, side) {
                out.extend_from_slice(costs);
            }
        }
    }

    /// The rows with the first `n` of their costs alone, without keys and values.
    pub fn with_costs(&self, n: usize) -> View {
        let costs = self.costs.chunks_exact(self.width().max(1)).flat_map(|costs| &costs[..n]);
        View {
            bits: self.bits.clone(),
            stride: self.stride,
            columns: self.columns.clone(),
            ends: self.ends.clone(),
            len: self.len,
            costs: costs.copied().collect(),
            ..View::default()
        }
    }

    /// `STRIDE`: the stride if it is known to the compiler, else 0.
    fn child_of<const STRIDE: usize>(
        &self,
        column: usize,
        side: bool,
        (keys, values): (bool, bool),
        out: &mut View,
        varying: &mut Vec<u64>,
    ) {
        let stride = if STRIDE > 0 { STRIDE } else { self.stride };
        let width = self.width();
        let n_values = if values { self.n_values() } else { 0 };
        out.columns.clear();
        out.columns.extend_from_slice(&self.columns);
        out.stride = stride;
        out.ends.clear();
        match width {
            0 => out.costs.clear(),
            2 => self.take_costs::<2>(column, side, &mut out.costs),
            _ => self.take_any_costs(width, column, side, &mut out.costs),
        }
        out.values.clear();
        // Rows are written whether they stay or not, and the next one overwrites those that do not.
        out.bits.reserve_exact(((self.len + 1) * stride).saturating_sub(out.bits.len()));
        out.bits.resize((self.len + 1) * stride, 0);
        let n_keys = if keys { self.len + 1 } else { 0 };
        out.keys.reserve_exact(n_keys.saturating_sub(out.keys.len()));
        out.keys.resize(n_keys, [0; 2]);
        let mut any = [0u64; STRIDE];
        let mut all = [u64::MAX; STRIDE];
        varying.clear();
        varying.resize(if STRIDE > 0 { 0 } else { 2 * stride }, 0);
        let (word, shift, flip) = (column / 64, column % 64, u64::from(!side));
        let mut n = 0;
        for segment in 0..self.ends.len() {
            for row in self.segment(segment) {
                let bits = &self.bits[row * stride..(row + 1) * stride];
                let take = (bits[word] >> shift & 1) ^ flip;
                let mask = take.wrapping_neg();
                let to = &mut out.bits[n * stride..(n + 1) * stride];
                for w in 0..stride {
                    to[w] = bits[w];
                    if STRIDE > 0 {
                        any[w] |= bits[w] & mask;
                        all[w] &= bits[w] | !mask;
                    } else {
                        varying[w] |= bits[w] & mask;
                        varying[stride + w] |= !bits[w] & mask;
                    }
                }
                if keys {
                    out.keys[n] = self.keys[row];
                }
                if n_values > 0 && take == 1 {
                    out.values.extend_from_slice(&self.values[row * n_values..][..n_values]);
                }
                n += take as usize;
            }
            out.ends.push(n as u32);
        }
        out.len = n;
        out.bits.truncate(n * stride);
        out.keys.truncate(n);
        if STRIDE > 0 {
            varying.extend(any.iter().zip(&all).map(|(any, all)| any & !all));
        } else {
            for w in 0..stride {
                varying[w] &= varying[stride + w];
            }
            varying.truncate(stride);
        }
    }

    /// For every column, the worst loss of the rows that are on side `from.1` of column `from.0`
    /// but not on side `to.1` of column `to.0`, and have the column; and of all such rows.
    pub fn lost(
        &self,
        segments: &[Segment],
        n_stats: usize,
        from: (usize, usize),
        to: (usize, usize),
        by_column: &mut Vec<Cost>,
    ) -> Cost {
        by_column.clear();
        by_column.resize(self.columns.len(), 0);
        let width = self.width();
        let bit = |row: usize, column: usize| {
            (self.bits[row * self.stride + column / 64] >> (column % 64) & 1) as usize
        };
        let mut total = 0;
        for (index, segment) in segments.iter().enumerate() {
            for row in self.segment(index) {
                if bit(row, from.0) != from.1 || bit(row, to.0) == to.1 {
                    continue;
                }
                let worst =
                    if width > 0 { self.costs[row * width + n_stats] } else { segment.worst };
                total += worst;
                for word in 0..self.stride {
                    let mut bits = self.bits[row * self.stride + word];
                    while bits != 0 {
                        by_column[word * 64 + bits.trailing_zeros() as usize] += worst;
                        bits &= bits - 1;
                    }
                }
            }
        }
        total
    }

    /// Keep only the columns of a mask.
    pub fn keep(&mut self, mask: &[u64], level: Level) {
        let kept = |column: usize| mask[column / 64] >> (column % 64) & 1 == 1;
        let mut at = 0;
        self.columns.retain(|_| {
            at += 1;
            kept(at - 1)
        });
        let stride = self.columns.len().div_ceil(64);
        let counts: Vec<usize> = mask.iter().map(|m| m.count_ones() as usize).collect();
        level.run(
            #[inline(always)]
            || {
                let mut row = vec![0u64; stride + 1];
                for r in 0..self.len {
                    row.fill(0);
                    let mut at = 0;
                    for (word, &mask) in mask.iter().enumerate() {
                        let bits = level.compress(self.bits[r * self.stride + word], mask);
                        row[at / 64] |= bits << (at % 64);
                        if at % 64 + counts[word] > 64 {
                            row[at / 64 + 1] |= bits >> (64 - at % 64);
                        }
                        at += counts[word];
                    }
                    // Rows shrink, so writing never overtakes reading.
                    for w in 0..stride {
                        self.bits[r * stride + w] = row[w];
                    }
                }
            },
        );
        self.stride = stride;
        self.bits.truncate(stride * self.len);
    }
}
