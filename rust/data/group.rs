//! Grouping rows into points: rows that no split can tell apart, counted by class.
//!
//! The codes of a row become the digits of one long number, first column first, so that equal rows
//! have equal numbers and points come in the order of their codes, whatever the order of rows.

use std::ops::Range;
use std::time::Duration;

use hashbrown::HashTable;

use super::codes::{Bits, Codes};
use super::points::Points;
use super::room::Room;
use super::sort::sort;
use crate::bits::Level;
use crate::error::{Error, Result};

/// A column of the rows to be grouped.
#[derive(Debug, Clone, Copy)]
pub struct Digit<'a> {
    pub ranks: &'a Codes,
    /// The code of each rank, ascending; none where ranks are the codes.
    pub code_of: Option<&'a [u32]>,
    pub n_codes: usize,
}

/// Rows at a time: few enough to stay close by while the columns pass.
const BLOCK: usize = 1024;

#[derive(Debug, Clone)]
pub struct Grouped {
    pub points: Points,
    /// Weight by point and class; rows where no weights are given.
    pub weights: Vec<i64>,
}

/// Points with their weights. `classes` and `weights` are by row. An error if there is no room for
/// them, and `None` if the time is over.
pub fn group(
    digits: &[Digit<'_>],
    classes: &[u32],
    n_classes: usize,
    weights: Option<&[i64]>,
    room: &Room,
) -> Result<Option<Grouped>> {
    if weights.is_some_and(|weights| weights.len() != classes.len()) {
        return Err(Error::invalid("classes and weights have different numbers of rows"));
    }
    if classes.iter().any(|&class| class as usize >= n_classes) {
        return Err(Error::invalid(format!("a class is not below {n_classes}")));
    }
    let Some(Located { points, point_of }) = locate(digits, classes.len(), room)? else {
        return Ok(None);
    };
    // The sums, and the copies of them in which weights are handed on.
    let bytes = 3 * points.len() * n_classes * size_of::<i64>() + size_of_val(classes);
    room.require(bytes, || {
        format!("the weight of {n_classes} classes in {} groups of equal rows", points.len())
    })?;
    let mut sums = vec![0i64; points.len() * n_classes];
    for (row, (&point, &class)) in point_of.iter().zip(classes).enumerate() {
        sums[point as usize * n_classes + class as usize] += weights.map_or(1, |w| w[row]);
    }
    Ok(Some(Grouped { points, weights: sums }))
}

#[derive(Debug, Clone)]
pub struct Located {
    pub points: Points,
    /// By row.
    pub point_of: Vec<u32>,
}

/// The points, and which of them each row belongs to. An error if there is no room for them, and
/// `None` if the time is over.
pub fn locate(digits: &[Digit<'_>], n_rows: usize, room: &Room) -> Result<Option<Located>> {
    check(digits, n_rows)?;
    let (places, words) = places(digits);
    let level = Level::detect();
    let by_row = n_rows * (words * size_of::<u64>() + 2 * size_of::<u32>());
    room.require(by_row, || format!("grouping {n_rows} rows by {} columns", digits.len()))?;
    let of = level.run(
        #[inline(always)]
        || numbers(digits, &places, words, n_rows, room),
    );
    let Some(of) = of else { return Ok(None) };
    let numbers = Numbers { words, of };
    let found = match words {
        // No column tells rows apart.
        0 => Some((vec![0; n_rows], vec![0; n_rows.min(1)])),
        _ => numbers.marked(bits(digits)).or_else(|| numbers.hashed(n_rows, room)),
    };
    let Some((point_of, first)) = found else { return Ok(None) };
    let code = |digit: &Digit<'_>| if Codes::is_narrow(digit.n_codes) { 1 } else { 4 };
    let by_point = first.len() * (12 + digits.iter().map(code).sum::<usize>());
    room.require(by_row + by_point, || format!("{} groups of equal rows", first.len()))?;
    let mut rows = vec![0u64; first.len()];
    for &point in &point_of {
        rows[point as usize] += 1;
    }
    let codes = level.run(
        #[inline(always)]
        || numbers.codes(digits, &places, &first),
    );
    Ok(Some(Located { points: Points::grouped(codes, rows), point_of }))
}

fn check(digits: &[Digit<'_>], n_rows: usize) -> Result<()> {
    if u32::try_from(n_rows).is_err() {
        return Err(Error::invalid("more than 2^32 rows cannot be grouped in memory"));
    }
    if digits.iter().any(|digit| digit.ranks.len() != n_rows) {
        return Err(Error::invalid("columns have different numbers of rows"));
    }
    let fits = |digit: &Digit<'_>| {
        let Some(most) = digit.ranks.most() else { return true };
        match digit.code_of {
            None => (most as usize) < digit.n_codes,
            Some(codes) => {
                (most as usize) < codes.len()
                    && codes.iter().all(|&code| (code as usize) < digit.n_codes)
            }
        }
    };
    if !digits.iter().all(fits) {
        return Err(Error::invalid("a code is not below the number of codes"));
    }
    Ok(())
}

/// Where a column's code stands in a row's number.
#[derive(Debug, Clone, Copy)]
struct Place {
    word: usize,
    shift: u32,
}

/// The place of each column, none for those with one code, and how many words a number has.
fn places(digits: &[Digit<'_>]) -> (Vec<Option<Place>>, usize) {
    let (mut words, mut room) = (0, 0);
    let places = (digits.iter())
        .map(|digit| {
            let bits = width(digit.n_codes);
            if bits == 0 {
                return None;
            }
            if bits > room {
                (words, room) = (words + 1, u64::BITS);
            }
            room -= bits;
            Some(Place { word: words - 1, shift: room })
        })
        .collect();
    (places, words)
}

/// How many bits the codes of a row take.
fn bits(digits: &[Digit<'_>]) -> u32 {
    digits.iter().map(|digit| width(digit.n_codes)).sum()
}

fn width(n_codes: usize) -> u32 {
    usize::BITS - n_codes.saturating_sub(1).leading_zeros()
}

/// The number of each row: `words` words, the most significant first; nothing if the time is over.
#[inline(always)]
fn numbers(
    digits: &[Digit<'_>],
    places: &[Option<Place>],
    words: usize,
    n_rows: usize,
    room: &Room,
) -> Option<Vec<u64>> {
    let mut numbers = vec![0u64; words * n_rows];
    let mut word = [0u64; BLOCK];
    for start in (0..n_rows).step_by(BLOCK) {
        if room.is_over_in(Duration::ZERO) {
            return None;
        }
        let rows = start..n_rows.min(start + BLOCK);
        let mut placed = digits.iter().zip(places).peekable();
        for at in 0..words {
            word.fill(0);
            while let Some((digit, place)) = placed.next_if(|(_, p)| p.is_none_or(|p| p.word == at))
            {
                let Some(place) = place else { continue };
                add(&mut word[..rows.len()], digit, rows.clone(), place.shift);
            }
            for (row, &word) in rows.clone().zip(&word) {
                numbers[row * words + at] = word;
            }
        }
    }
    Some(numbers)
}

#[inline(always)]
fn add(word: &mut [u64], digit: &Digit<'_>, rows: Range<usize>, shift: u32) {
    match (digit.ranks, digit.code_of) {
        (Codes::Narrow(ranks), None) => {
            for (word, &rank) in word.iter_mut().zip(&ranks[rows]) {
                *word |= u64::from(rank) << shift;
            }
        }
        (Codes::Wide(ranks), None) => {
            for (word, &rank) in word.iter_mut().zip(&ranks[rows]) {
                *word |= u64::from(rank) << shift;
            }
        }
        (Codes::Bits(ranks), None) => {
            for (word, row) in word.iter_mut().zip(rows) {
                *word |= u64::from(ranks.get(row)) << shift;
            }
        }
        (ranks, Some(code_of)) => {
            for (word, row) in word.iter_mut().zip(rows) {
                *word |= u64::from(code_of[ranks.get(row) as usize]) << shift;
            }
        }
    }
}

struct Numbers {
    words: usize,
    /// By row.
    of: Vec<u64>,
}

impl Numbers {
    fn row(&self, row: u32) -> &[u64] {
        &self.of[row as usize * self.words..][..self.words]
    }

    /// Which of the distinct numbers, in order, each row has, and a row of each: by marking those
    /// that there are among all of so many bits, where that is not far more than rows.
    fn marked(&self, bits: u32) -> Option<(Vec<u32>, Vec<u32>)> {
        // The marks take at most twice the room of the numbers.
        if self.words != 1 || bits >= u64::BITS || 1 << bits > self.of.len() << 7 {
            return None;
        }
        let low = u64::BITS - bits;
        let mut marks = vec![0u64; 1 << bits.saturating_sub(6)];
        for &number in &self.of {
            let at = number >> low;
            marks[(at >> 6) as usize] |= 1 << (at & 63);
        }
        let mut count = 0u32;
        let before: Vec<u32> = (marks.iter())
            .map(|word| {
                count += word.count_ones();
                count - word.count_ones()
            })
            .collect();
        let mut first = vec![0; count as usize];
        let point_of = (self.of.iter().enumerate())
            .map(|(row, &number)| {
                let (word, bit) = (((number >> low) >> 6) as usize, number >> low & 63);
                let point = before[word] + (marks[word] & ((1 << bit) - 1)).count_ones();
                first[point as usize] = row as u32;
                point
            })
            .collect();
        Some((point_of, first))
    }

    /// As above, by a table of those that there are; nothing if the time is over.
    fn hashed(&self, n_rows: usize, room: &Room) -> Option<(Vec<u32>, Vec<u32>)> {
        let (mut point_of, first) = self.distinct(n_rows, room)?;
        let order = self.order(&first);
        let mut place_of = vec![0; order.len()];
        for (place, &point) in order.iter().enumerate() {
            place_of[point as usize] = place as u32;
        }
        for point in &mut point_of {
            *point = place_of[*point as usize];
        }
        Some((point_of, order.iter().map(|&point| first[point as usize]).collect()))
    }

    /// The distinct numbers in the order of appearance: which of them each row has, and the first
    /// row of each.
    fn distinct(&self, n_rows: usize, room: &Room) -> Option<(Vec<u32>, Vec<u32>)> {
        // Growing would hash again; beyond this it hardly matters.
        let mut table: HashTable<u32> = HashTable::with_capacity(n_rows.min(1 << 16));
        let mut first: Vec<u32> = Vec::new();
        let point_of: Option<Vec<u32>> = (0..n_rows as u32)
            .map(|row| {
                if (row as usize).is_multiple_of(BLOCK) && room.is_over_in(Duration::ZERO) {
                    return None;
                }
                let number = self.row(row);
                let found = table.entry(
                    hash(number),
                    |&point| self.row(first[point as usize]) == number,
                    |&point| hash(self.row(first[point as usize])),
                );
                let point = found.or_insert_with(|| {
                    first.push(row);
                    first.len() as u32 - 1
                });
                Some(*point.get())
            })
            .collect();
        Some((point_of?, first))
    }

    /// The points, given their first rows, in the order of their numbers.
    fn order(&self, first: &[u32]) -> Vec<u32> {
        let head = |&row: &u32| self.row(row).first().copied().unwrap_or(0);
        let mut order: Vec<(u64, u32)> = first.iter().map(head).zip(0..).collect();
        sort(&mut order);
        self.sort_equal(&mut order, first, 1);
        order.into_iter().map(|(_, point)| point).collect()
    }

    /// Sort points that are equal up to a word. One word lies beside each point, so that there is
    /// no look at the table for each comparison.
    fn sort(&self, points: &mut [(u64, u32)], first: &[u32], word: usize) {
        if word >= self.words {
            return;
        }
        for (head, point) in points.iter_mut() {
            *head = self.row(first[*point as usize])[word];
        }
        points.sort_unstable();
        self.sort_equal(points, first, word + 1);
    }

    /// Sort those by a word whose words before it are equal.
    fn sort_equal(&self, points: &mut [(u64, u32)], first: &[u32], word: usize) {
        for equal in points.chunk_by_mut(|a, b| a.0 == b.0) {
            if equal.len() > 1 {
                self.sort(equal, first, word);
            }
        }
    }

    /// The codes of each column in some rows.
    #[inline(always)]
    fn codes(&self, digits: &[Digit<'_>], places: &[Option<Place>], rows: &[u32]) -> Vec<Codes> {
        let mut codes: Vec<Codes> = (digits.iter())
            .map(|digit| {
                if matches!(digit.ranks, Codes::Bits(_)) && digit.n_codes <= 2 {
                    Codes::Bits(Bits::zeros(rows.len()))
                } else if Codes::is_narrow(digit.n_codes) {
                    Codes::Narrow(vec![0; rows.len()])
                } else {
                    Codes::Wide(vec![0; rows.len()])
                }
            })
            .collect();
        let mut word = [0u64; BLOCK];
        for (block, rows) in rows.chunks(BLOCK).enumerate() {
            let points = block * BLOCK..block * BLOCK + rows.len();
            let word = &mut word[..rows.len()];
            let mut columns = codes.iter_mut().zip(digits).zip(places).peekable();
            for at in 0..self.words {
                for (word, &row) in word.iter_mut().zip(rows) {
                    *word = self.of[row as usize * self.words + at];
                }
                while let Some(((codes, digit), place)) =
                    columns.next_if(|(_, p)| p.is_none_or(|p| p.word == at))
                {
                    let Some(place) = place else { continue };
                    let mask = digit.n_codes.next_power_of_two() as u64 - 1;
                    take(word, codes, points.clone(), place.shift, mask);
                }
            }
        }
        codes
    }
}

#[inline(always)]
fn take(word: &[u64], codes: &mut Codes, points: Range<usize>, shift: u32, mask: u64) {
    match codes {
        Codes::Narrow(codes) => {
            for (code, word) in codes[points].iter_mut().zip(word) {
                *code = (word >> shift & mask) as u8;
            }
        }
        Codes::Wide(codes) => {
            for (code, word) in codes[points].iter_mut().zip(word) {
                *code = (word >> shift & mask) as u32;
            }
        }
        Codes::Bits(codes) => {
            for (point, word) in points.zip(word) {
                codes.set(point, (word >> shift & mask) as u32);
            }
        }
    }
}

fn hash(number: &[u64]) -> u64 {
    let mixed = number.iter().fold(0x243f_6a88_85a3_08d3u64, |hash, word| {
        (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    // The table takes its place from the low bits, which the product mixed least.
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Rows of codes below `n_codes`, by column.
    fn noise(n_rows: usize, n_codes: &[usize]) -> Vec<Vec<u32>> {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            state >> 33
        };
        n_codes.iter().map(|&n| (0..n_rows).map(|_| (next() % n as u64) as u32).collect()).collect()
    }

    #[test]
    fn points_are_the_rows_counted_in_order() {
        for n_codes in [
            vec![],
            vec![1, 1],
            vec![2, 3, 1, 2],
            vec![2; 200],
            vec![70_000, 300, 2, 9],
            vec![250, 3],
        ] {
            for n_rows in [1, 5, 300, 3000] {
                let columns = noise(n_rows, &n_codes);
                let classes = noise(n_rows, &[3]).remove(0);
                let weights: Vec<i64> = classes.iter().map(|&c| i64::from(c) * 5 + 1).collect();
                let mut wanted: BTreeMap<Vec<u32>, (u64, Vec<i64>)> = BTreeMap::new();
                for row in 0..n_rows {
                    let codes = columns.iter().map(|column| column[row]).collect();
                    let (rows, sums) = wanted.entry(codes).or_insert((0, vec![0; 3]));
                    *rows += 1;
                    sums[classes[row] as usize] += weights[row];
                }
                let ranks: Vec<Codes> = columns.iter().cloned().map(Codes::new).collect();
                let digits: Vec<Digit<'_>> = (ranks.iter().zip(&n_codes))
                    .map(|(ranks, &n_codes)| Digit { ranks, code_of: None, n_codes })
                    .collect();
                let (places, words) = places(&digits);
                let room = Room::default();
                let of = numbers(&digits, &places, words, n_rows, &room).unwrap();
                let numbers = Numbers { words, of };
                if let Some((point_of, first)) = numbers.marked(bits(&digits)) {
                    let (wanted, rows) = numbers.hashed(n_rows, &room).unwrap();
                    assert_eq!(point_of, wanted);
                    let of = |rows: Vec<u32>| rows.into_iter().map(|row| numbers.of[row as usize]);
                    assert!(of(first).eq(of(rows)));
                }
                let found = group(&digits, &classes, 3, Some(&weights), &room).unwrap().unwrap();
                assert_eq!(found.points.len(), wanted.len());
                for (point, (codes, (rows, sums))) in wanted.iter().enumerate() {
                    let own: Vec<u32> =
                        (0..columns.len()).map(|c| found.points.codes(c).get(point)).collect();
                    assert_eq!(&own, codes);
                    assert_eq!(found.points.rows(point), *rows);
                    assert_eq!(&found.weights[point * 3..][..3], sums);
                }
            }
        }
    }

    #[test]
    fn ranks_are_read_through_their_codes() {
        let ranks = Codes::new(vec![0, 1, 2, 3]);
        let digit = Digit { ranks: &ranks, code_of: Some(&[0, 0, 1, 1]), n_codes: 2 };
        let found = group(&[digit], &[0, 0, 0, 1], 2, None, &Room::default()).unwrap().unwrap();
        assert_eq!(found.points.codes(0), &Codes::Narrow(vec![0, 1]));
        assert_eq!(found.weights, [2, 0, 1, 1]);
        assert_eq!(locate(&[digit], 4, &Room::default()).unwrap().unwrap().point_of, [0, 0, 1, 1]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let ranks = Codes::new(vec![0, 1, 2]);
        let digit = Digit { ranks: &ranks, code_of: None, n_codes: 3 };
        let of = |digit: Digit, classes: &[u32], weights: Option<&[i64]>| {
            group(&[digit], classes, 1, weights, &Room::default())
        };
        assert!(of(digit, &[0, 0, 0], None).is_ok());
        assert!(of(digit, &[0, 0], None).is_err());
        assert!(of(digit, &[0, 0, 1], None).is_err());
        assert!(of(digit, &[0, 0, 0], Some(&[1])).is_err());
        assert!(of(Digit { n_codes: 2, ..digit }, &[0, 0, 0], None).is_err());
        assert!(of(Digit { code_of: Some(&[0, 0]), ..digit }, &[0, 0, 0], None).is_err());
        assert!(of(Digit { code_of: Some(&[0, 0, 3]), ..digit }, &[0; 3], None).is_err());
    }

    #[test]
    fn grouping_ends_where_there_is_no_room_or_time() {
        let ranks = Codes::new((0..5_000).collect());
        let digit = Digit { ranks: &ranks, code_of: None, n_codes: 5_000 };
        let of = |bytes, time| group(&[digit], &[0; 5_000], 40, None, &Room::new(bytes, time));
        assert!(of(Some(10_000_000), None).unwrap().is_some());
        assert!(of(Some(1_000_000), None).is_err());
        assert!(of(Some(1_000), None).is_err());
        assert!(of(None, Some(Duration::ZERO)).unwrap().is_none());
    }
}
