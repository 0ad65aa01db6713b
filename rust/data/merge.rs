//! Merging points that were grouped apart, such as those of the partitions of a table.

use super::codes::Codes;
use super::group::{Digit, Located, locate};
use super::points::Points;
use super::room::Room;
use crate::error::{Error, Result};

/// All points of some lists, where those that have the same codes in the first columns become one,
/// whose rows are theirs together: as many columns as `n_codes` has numbers of codes. `point_of`
/// says of each point, list after list, which one it became.
///
/// The points come in the order of their codes, so that it does not matter how rows were spread
/// over lists, or which lists were merged first.
pub fn merge(parts: &[&Points], n_codes: &[usize], room: &Room) -> Result<Located> {
    if parts.iter().any(|part| part.n_columns() < n_codes.len()) {
        return Err(Error::invalid("points to merge have too few columns"));
    }
    let n_points = parts.iter().map(|part| part.len()).sum();
    if u32::try_from(n_points).is_err() {
        return Err(Error::invalid("more than 2^32 points cannot be merged"));
    }
    let joined: Vec<Codes> = (n_codes.iter().enumerate())
        .map(|(column, &n)| join(parts, column, Codes::is_narrow(n), n_points))
        .collect();
    let digits: Vec<Digit<'_>> = (joined.iter().zip(n_codes))
        .map(|(ranks, &n_codes)| Digit { ranks, code_of: None, n_codes })
        .collect();
    let found = locate(&digits, n_points, room)?;
    let Some(Located { points, point_of }) = found else {
        return Err(Error::invalid("the time was over before points were merged"));
    };
    let mut rows = vec![0u64; points.len()];
    let before = parts.iter().flat_map(|part| part.all_rows());
    for (&point, &own) in point_of.iter().zip(before) {
        let sum = &mut rows[point as usize];
        *sum = (sum.checked_add(own)).ok_or_else(|| Error::invalid("more than 2^64 rows"))?;
    }
    Ok(Located { points: points.with_rows(rows), point_of })
}

/// A column of all lists.
fn join(parts: &[&Points], column: usize, is_narrow: bool, n_points: usize) -> Codes {
    let codes = parts.iter().flat_map(|part| part.codes(column).iter());
    if is_narrow && parts.iter().all(|part| part.codes(column).most().is_none_or(|m| m < 256)) {
        let mut joined = Vec::with_capacity(n_points);
        joined.extend(codes.map(|code| code as u8));
        return Codes::Narrow(joined);
    }
    let mut joined = Vec::with_capacity(n_points);
    joined.extend(codes);
    Codes::Wide(joined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group;

    /// Rows of three columns, and a class.
    fn noise(n_rows: usize, seed: u64) -> [Vec<u32>; 4] {
        let mut state = seed;
        let mut next = |n: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            ((state >> 33) % n) as u32
        };
        [300, 2, 3, 2].map(|n| (0..n_rows).map(|_| next(n)).collect())
    }

    fn located(columns: &[Vec<u32>], rows: std::ops::Range<usize>, n_codes: &[usize]) -> Points {
        let codes: Vec<Codes> =
            columns.iter().map(|column| Codes::new(column[rows.clone()].to_vec())).collect();
        let digits: Vec<Digit<'_>> = (codes.iter().zip(n_codes))
            .map(|(ranks, &n_codes)| Digit { ranks, code_of: None, n_codes })
            .collect();
        locate(&digits, rows.len(), &Room::default()).unwrap().unwrap().points
    }

    fn same(one: &Points, other: &Points) -> bool {
        let codes = |points: &Points| -> Vec<Codes> {
            (0..points.n_columns()).map(|column| points.codes(column).clone()).collect()
        };
        codes(one) == codes(other) && one.all_rows() == other.all_rows()
    }

    #[test]
    fn merged_points_are_those_of_all_rows() {
        let n_codes = [300, 2, 3, 2];
        for seed in 0..20 {
            let columns = noise(997, seed);
            let whole = located(&columns, 0..997, &n_codes);
            let cuts = [0, 1, (seed as usize * 37) % 900, 950, 950, 997];
            let mut ends = cuts.to_vec();
            ends.sort_unstable();
            let parts: Vec<Points> =
                ends.windows(2).map(|ends| located(&columns, ends[0]..ends[1], &n_codes)).collect();
            let all: Vec<&Points> = parts.iter().collect();
            let merged = merge(&all, &n_codes, &Room::default()).unwrap();
            assert!(same(&merged.points, &whole));
            let two =
                |a: &Points, b: &Points| merge(&[a, b], &n_codes, &Room::default()).unwrap().points;
            // In any order, and in any tree of merges.
            let tree = two(&two(&parts[3], &parts[1]), &two(&parts[0], &two(&parts[4], &parts[2])));
            assert!(same(&tree, &whole));
        }
    }

    #[test]
    fn leading_columns_group_as_rows_do() {
        let n_codes = [300, 2, 3, 2];
        let columns = noise(800, 3);
        let whole = located(&columns, 0..800, &n_codes);
        let found = merge(&[&whole], &n_codes[..3], &Room::default()).unwrap();
        let codes: Vec<Codes> = columns[..3].iter().cloned().map(Codes::new).collect();
        let digits: Vec<Digit<'_>> = (codes.iter().zip(&n_codes))
            .map(|(ranks, &n_codes)| Digit { ranks, code_of: None, n_codes })
            .collect();
        let wanted = group(&digits, &columns[3], 2, None, &Room::default()).unwrap().unwrap();
        assert!(same(&found.points, &wanted.points));
        let mut sums = vec![0i64; wanted.weights.len()];
        for (entry, &point) in found.point_of.iter().enumerate() {
            sums[point as usize * 2 + whole.codes(3).get(entry) as usize] +=
                whole.rows(entry) as i64;
        }
        assert_eq!(sums, wanted.weights);
    }

    #[test]
    fn points_of_other_columns_are_refused() {
        let columns = noise(10, 1);
        let few = located(&columns[..2], 0..10, &[300, 2]);
        assert!(merge(&[&few], &[300, 2, 3], &Room::default()).is_err());
        assert!(merge(&[&few], &[2, 2], &Room::default()).is_err());
    }
}
