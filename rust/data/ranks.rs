//! Ranks: the distinct values of a column in order, and where each row's value stands among them.
//!
//! Values of all types are compared through keys, 64-bit numbers in the same order.

use std::time::{Duration, Instant};

use hashbrown::HashMap;

use super::codes::{Bits, Codes};
use super::room::Room;
use super::sort::sort;
use crate::error::{Error, Result};

/// A number as a key in the order of its type. Zeros have no sign.
pub trait Value: Copy + PartialEq {
    /// The keys of all values of the type, where there are few: a column of it then has all of them
    /// as its distinct values, present or not.
    const ALL: &[u64] = &[];

    /// The least and the largest key of a number. Keys beyond them are not a number: such a value
    /// is missing.
    const ENDS: (u64, u64) = (0, u64::MAX);

    fn key(self) -> u64;
    fn of(key: u64) -> Self;
}

const SIGN: u64 = 1 << 63;

macro_rules! integers {
    ($($type:ty),*) => {
        $(impl Value for $type {
            fn key(self) -> u64 {
                if <$type>::MIN == 0 { self as u64 } else { self as u64 ^ SIGN }
            }

            fn of(key: u64) -> Self {
                if <$type>::MIN == 0 { key as $type } else { (key ^ SIGN) as $type }
            }
        })*
    };
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);

impl Value for bool {
    const ALL: &[u64] = &[0, 1];

    fn key(self) -> u64 {
        u64::from(self)
    }

    fn of(key: u64) -> Self {
        key != 0
    }
}

macro_rules! floats {
    ($type:ty, $bits:ty) => {
        impl Value for $type {
            // The keys of the infinities.
            const ENDS: (u64, u64) = {
                let (sign, infinity) = (1 << (<$bits>::BITS - 1), <$type>::INFINITY.to_bits());
                (!(infinity | sign) as u64, (infinity | sign) as u64)
            };

            // Below zero, larger bits are smaller numbers.
            fn key(self) -> u64 {
                let sign = 1 << (<$bits>::BITS - 1);
                let bits = (self + 0.0).to_bits();
                u64::from(if bits & sign == 0 { bits | sign } else { !bits })
            }

            fn of(key: u64) -> Self {
                let (key, sign) = (key as $bits, 1 << (<$bits>::BITS - 1));
                <$type>::from_bits(if key & sign != 0 { key ^ sign } else { !key })
            }
        }
    };
}

floats!(f32, u32);
floats!(f64, u64);

/// A column by rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranked {
    /// Of the distinct values, ascending.
    pub keys: Vec<u64>,
    /// The index into `keys` by row; beyond the last one, where values are missing.
    pub ranks: Codes,
    /// Whether any value is missing.
    pub missing: bool,
}

impl Ranked {
    pub fn of<T: Value>(values: &[T]) -> Ranked {
        Self::within(values, 0, &Room::default()).expect("there is room for anything")
    }

    /// The ranks, beside so many bytes that are held already; an error if there is no room.
    fn within<T: Value>(values: &[T], held: usize, room: &Room) -> Result<Ranked> {
        let n = values.len();
        let require = |bytes| room.require(held + n * bytes, || format!("ranking {n} rows"));
        // A byte for each row, at least.
        require(1)?;
        if !T::ALL.is_empty() {
            let ranks = values.iter().map(|value| value.key() as u8).collect();
            return Ok(Ranked::complete(T::ALL.to_vec(), Codes::Narrow(ranks)));
        }
        if let Some(found) = two_valued(values) {
            return Ok(found);
        }
        require(size_of::<u32>())?;
        if let Some(found) = close(values) {
            return Ok(found);
        }
        // Numbers by row, and the ranks that come of them.
        require(2 * size_of::<u32>())?;
        if let Some(found) = few_valued(values) {
            return Ok(found);
        }
        // Sorting takes two copies of the keys with their rows; afterwards there is one key for
        // each distinct value, and its rank for each row.
        require(2 * size_of::<(u64, u32)>() + size_of::<u64>())?;
        Ok(sorted(values))
    }

    fn complete(keys: Vec<u64>, ranks: Codes) -> Ranked {
        Ranked { keys, ranks, missing: false }
    }

    /// A column that is not told apart: one value, of which nothing is known.
    pub fn unread(n_rows: usize) -> Ranked {
        Ranked::complete(Vec::new(), Codes::Bits(Bits::zeros(n_rows)))
    }

    /// With the values that are not a number as missing ones. They stand at both ends.
    fn without_nan<T: Value>(self) -> Ranked {
        let (low, high) = T::ENDS;
        let from = self.keys.partition_point(|&key| key < low);
        let to = self.keys.partition_point(|&key| key <= high);
        if to - from == self.keys.len() {
            return self;
        }
        let (from, to) = (from as u32, to as u32);
        let rank = |rank: u32| if rank < from { to - from } else { rank.min(to) - from };
        let keys = self.keys[from as usize..to as usize].to_vec();
        Ranked { ranks: self.ranks.mapped(keys.len() + 1, |_, old| rank(old)), keys, missing: true }
    }

    /// With some rows' values missing, whatever stands there.
    fn with_missing<T: Value>(self, missing: &[bool]) -> Result<Ranked> {
        if missing.len() != self.ranks.len() {
            return Err(Error::invalid("missing values are not told of each row"));
        }
        // A value that stands only where one is missing is none.
        let mut known = vec![!T::ALL.is_empty(); self.keys.len()];
        match &self.ranks {
            Codes::Narrow(ranks) => mark_known(ranks, missing, &mut known),
            Codes::Wide(ranks) => mark_known(ranks, missing, &mut known),
            Codes::Bits(ranks) => {
                let ranks: Vec<u8> = (0..ranks.len()).map(|row| ranks.get(row) as u8).collect();
                mark_known(&ranks, missing, &mut known);
            }
        }
        if known.iter().all(|&known| known) {
            let last = self.keys.len() as u32;
            let ranks = self.ranks.masked(missing, last);
            return Ok(Ranked { keys: self.keys, ranks, missing: true });
        }
        let mut last = 0;
        let before: Vec<u32> = (known.iter())
            .map(|&known| {
                last += u32::from(known);
                last - u32::from(known)
            })
            .collect();
        let ranks = self.ranks.mapped(last as usize + 1, |row, rank| {
            if missing[row] { last } else { before[rank as usize] }
        });
        let keys = self.keys.into_iter().zip(&known).filter(|(_, known)| **known);
        let keys = keys.map(|(key, _)| key).collect();
        Ok(Ranked { keys, ranks, missing: true })
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<u64>() + self.ranks.bytes()
    }

    /// The weight of the rows of each value; how many they are, without weights.
    pub fn amounts(&self, weights: Option<&[i64]>) -> Result<Vec<i64>> {
        if weights.is_some_and(|weights| weights.len() != self.ranks.len()) {
            return Err(Error::invalid("there is not a weight for each row"));
        }
        let mut amounts = vec![0; self.keys.len() + 1];
        for (row, rank) in self.ranks.iter().enumerate() {
            amounts[rank as usize] += weights.map_or(1, |weights| weights[row]);
        }
        amounts.pop();
        Ok(amounts)
    }

    /// The distinct values, of the type that was ranked.
    pub fn values<T: Value>(&self) -> Vec<T> {
        self.keys.iter().map(|&key| T::of(key)).collect()
    }
}

/// The columns of a table that lies in one piece, by row or by column, beside so many bytes that
/// are held already. Where the time would be over before the next column is ranked, those that are
/// there; an error if there is no room for them. `missing`: which rows have no value; floats that
/// are not a number are missing whatever it says.
pub fn rank_columns<T: Value>(
    values: &[T],
    (n_columns, row_major): (usize, bool),
    missing: Option<&[bool]>,
    held: usize,
    room: &Room,
) -> Result<Vec<Ranked>> {
    let n_rows = (values.len() / n_columns.max(1)).max(1);
    let (mut found, mut held) = (Vec::with_capacity(n_columns), held);
    let mut last = Duration::ZERO;
    let mut rank = |column: &[T], beside: usize| {
        // A column takes about as long as the one before it.
        if room.is_over_in(last) {
            return Ok(false);
        }
        let start = Instant::now();
        let ranked = Ranked::within(column, held + beside, room)?.without_nan::<T>();
        let ranked = match missing {
            Some(missing) => ranked.with_missing::<T>(missing)?,
            None => ranked,
        };
        held += ranked.bytes();
        found.push(ranked);
        last = start.elapsed();
        Ok(true)
    };
    if row_major {
        by_block(values, n_columns, &mut rank)?;
    } else {
        for column in values.chunks_exact(n_rows).take(n_columns) {
            if !rank(column, 0)? {
                break;
            }
        }
    }
    Ok(found)
}

/// Which ranks stand in a row whose value is there; nearly always soon known of all.
fn mark_known<R: Copy + Into<u32>>(ranks: &[R], missing: &[bool], known: &mut [bool]) {
    for (ranks, missing) in ranks.chunks(BLOCK).zip(missing.chunks(BLOCK)) {
        if ranks.len() >= known.len() && known.iter().all(|&known| known) {
            return;
        }
        for (&rank, _) in ranks.iter().zip(missing).filter(|(_, missing)| !**missing) {
            known[rank.into() as usize] = true;
        }
    }
}

/// Columns of which only some values are there; all others are zero.
#[derive(Debug, Clone, Copy)]
pub struct Sparse<'a, T> {
    /// Column after column.
    pub values: &'a [T],
    /// The row of each value, ascending within a column.
    pub rows: &'a [u32],
    /// Where each column starts among them, and the end.
    pub starts: &'a [u64],
    pub n_rows: usize,
}

impl<T: Value + Default> Sparse<'_, T> {
    /// What `rank_columns` says of these columns. Of columns with two values, a bit for each row is
    /// held.
    pub fn rank(&self, held: usize, room: &Room) -> Result<Vec<Ranked>> {
        let n_columns = self.starts.len().saturating_sub(1);
        let (mut found, mut held) = (Vec::with_capacity(n_columns), held);
        let mut last = Duration::ZERO;
        for column in 0..n_columns {
            if room.is_over_in(last) {
                break;
            }
            let start = Instant::now();
            let ranked = self.rank_column(column, held, room)?;
            held += ranked.bytes();
            found.push(ranked);
            last = start.elapsed();
        }
        Ok(found)
    }

    fn rank_column(&self, column: usize, held: usize, room: &Room) -> Result<Ranked> {
        let place = |at: usize| usize::try_from(self.starts[at]).unwrap_or(usize::MAX);
        let range = place(column)..place(column + 1);
        let damaged = || Error::invalid("rows of a sparse column are not in order");
        let values = self.values.get(range.clone()).ok_or_else(damaged)?;
        let rows = self.rows.get(range).ok_or_else(damaged)?;
        let in_order = rows.windows(2).all(|pair| pair[0] < pair[1]);
        if !in_order || rows.last().is_some_and(|&last| last as usize >= self.n_rows) {
            return Err(damaged());
        }
        // What is not there comes last, if anything is not.
        let mut known = values.to_vec();
        known.resize((values.len() + 1).min(self.n_rows), T::default());
        let Ranked { keys, ranks: of, missing } =
            Ranked::within(&known, held, room)?.without_nan::<T>();
        let (n, n_codes) = (self.n_rows, keys.len() + usize::from(missing));
        let other = if values.len() < n { of.get(values.len()) } else { 0 };
        let bytes = if n_codes <= 2 { n / 8 } else { n * size_of::<u32>() };
        room.require(held + of.bytes() + bytes, || format!("ranking {n} rows"))?;
        let places = rows.iter().map(|&row| row as usize).zip(of.iter());
        let ranks = if n_codes <= 2 {
            let mut bits = Bits::all(n, other);
            places.for_each(|(row, rank)| bits.set(row, rank));
            Codes::Bits(bits)
        } else if Codes::is_narrow(n_codes) {
            let mut ranks = vec![other as u8; n];
            places.for_each(|(row, rank)| ranks[row] = rank as u8);
            Codes::Narrow(ranks)
        } else {
            let mut ranks = vec![other; n];
            places.for_each(|(row, rank)| ranks[row] = rank);
            Codes::Wide(ranks)
        };
        Ok(Ranked { keys, ranks, missing })
    }
}

/// The columns of a row-major table, a few at a time, until `rank` says that it is enough: one at a
/// time would fetch each piece of memory once for every column that has a value in it. `rank` is
/// also told how many bytes the columns take.
fn by_block<T: Value>(
    values: &[T],
    n_columns: usize,
    rank: &mut impl FnMut(&[T], usize) -> Result<bool>,
) -> Result<()> {
    const WIDTH: usize = 16;
    let mut buffers: [Vec<T>; WIDTH] = std::array::from_fn(|_| Vec::new());
    for first in (0..n_columns).step_by(WIDTH) {
        let width = WIDTH.min(n_columns - first);
        buffers.iter_mut().for_each(Vec::clear);
        for row in values.chunks_exact(n_columns) {
            for (buffer, &value) in buffers.iter_mut().zip(&row[first..first + width]) {
                buffer.push(value);
            }
        }
        let bytes = buffers.iter().map(|buffer| buffer.capacity() * size_of::<T>()).sum();
        for buffer in &buffers[..width] {
            if !rank(buffer, bytes)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Values between two looks at whether a way fits.
const BLOCK: usize = 1024;

/// Ranks where there are at most two values, as in indicators; else nothing, soon.
fn two_valued<T: Value>(values: &[T]) -> Option<Ranked> {
    let &first = values.first()?;
    let other = values.iter().copied().find(|&value| value != first).unwrap_or(first);
    let (low, high) = if first.key() <= other.key() { (first, other) } else { (other, first) };
    let mut ranks = vec![0u8; values.len()];
    for (ranks, values) in ranks.chunks_mut(BLOCK).zip(values.chunks(BLOCK)) {
        let mut others = false;
        for (rank, &value) in ranks.iter_mut().zip(values) {
            others |= (value != low) & (value != high);
            *rank = u8::from(value != low);
        }
        if others {
            return None;
        }
    }
    let keys = if low == high { vec![low.key()] } else { vec![low.key(), high.key()] };
    Some(Ranked::complete(keys, Codes::Narrow(ranks)))
}

/// Ranks where keys lie so close together that there can be a place for each, as for small
/// integers; else nothing.
fn close<T: Value>(values: &[T]) -> Option<Ranked> {
    const MOST: u64 = 1 << 12;
    let first = values.first()?.key();
    let (mut least, mut most) = (first, first);
    for values in values.chunks(BLOCK) {
        for value in values {
            (least, most) = (least.min(value.key()), most.max(value.key()));
        }
        if most - least >= MOST {
            return None;
        }
    }
    let mut rank_of = vec![0; (most - least) as usize + 1];
    for value in values {
        rank_of[(value.key() - least) as usize] = 1;
    }
    let mut keys = Vec::new();
    for (place, rank) in rank_of.iter_mut().enumerate().filter(|(_, rank)| **rank == 1) {
        *rank = keys.len() as u32;
        keys.push(least + place as u64);
    }
    let ranks = values.iter().map(|value| rank_of[(value.key() - least) as usize]);
    let ranks = match Codes::is_narrow(keys.len()) {
        true => Codes::Narrow(ranks.map(|rank| rank as u8).collect()),
        false => Codes::Wide(ranks.collect()),
    };
    Some(Ranked::complete(keys, ranks))
}

/// Ranks where values repeat often enough for a table of them to stay small; else nothing, soon.
fn few_valued<T: Value>(values: &[T]) -> Option<Ranked> {
    const MOST: usize = 512;
    // Numbered by first appearance, then renumbered in order.
    let mut numbers: HashMap<u64, u32> = HashMap::new();
    let mut keys = Vec::new();
    let mut ranks = Vec::with_capacity(values.len());
    for (row, value) in values.iter().enumerate() {
        let key = value.key();
        let number = *numbers.entry(key).or_insert_with(|| {
            keys.push(key);
            keys.len() as u32 - 1
        });
        ranks.push(number);
        if keys.len() > MOST + row / 16 {
            return None;
        }
    }
    let mut order: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
    sort(&mut order);
    let mut rank_of = vec![0; order.len()];
    for (rank, &(_, number)) in order.iter().enumerate() {
        rank_of[number as usize] = rank as u32;
    }
    for rank in &mut ranks {
        *rank = rank_of[*rank as usize];
    }
    let keys = order.into_iter().map(|(key, _)| key).collect();
    Some(Ranked::complete(keys, Codes::new(ranks)))
}

/// Ranks where most values are met once or twice.
fn sorted<T: Value>(values: &[T]) -> Ranked {
    let mut order: Vec<(u64, u32)> = values.iter().map(|value| value.key()).zip(0..).collect();
    sort(&mut order);
    let mut keys: Vec<u64> = Vec::new();
    let mut ranks = vec![0; order.len()];
    for (key, row) in order {
        if keys.last() != Some(&key) {
            keys.push(key);
        }
        ranks[row as usize] = keys.len() as u32 - 1;
    }
    Ranked::complete(keys, Codes::new(ranks))
}

#[cfg(test)]
mod tests;
