//! Ranks beside the values that they stand for.

use super::*;

fn check<T: Value + PartialOrd + std::fmt::Debug>(values: &[T]) {
    let mut distinct = values.to_vec();
    distinct.sort_by(|a, b| a.partial_cmp(b).unwrap());
    distinct.dedup();
    for found in [Some(Ranked::of(values)), close(values), few_valued(values), Some(sorted(values))]
        .into_iter()
        .flatten()
    {
        assert_eq!(found.values::<T>(), distinct);
        let back: Vec<T> = found.ranks.iter().map(|r| distinct[r as usize]).collect();
        assert_eq!(back, values);
    }
    for n_columns in 1..40 {
        let rows = values.len() / n_columns;
        let table = &values[..rows * n_columns];
        if rows == 0 {
            continue;
        }
        let found = rank_columns(table, (n_columns, true), None, 0, &Room::default()).unwrap();
        for (column, found) in found.iter().enumerate() {
            let own: Vec<T> = table.iter().skip(column).step_by(n_columns).copied().collect();
            assert_eq!(found, &Ranked::of(&own));
        }
    }
}

#[test]
fn ranks_keep_the_order_of_every_type() {
    check(&[1.5, -2.0, 1.5, 0.0, -0.0, f64::MAX, f64::MIN, 5e-324, -5e-324, f64::INFINITY]);
    check(&[1.5f32, -2.0, f32::NEG_INFINITY, 1e-45, -1e-45, 0.0]);
    check(&[0.0, -0.0, 0.0]);
    check(&[1.0, 0.0, 1.0]);
    check(&[i64::MIN, -1, 0, 1, i64::MAX]);
    check(&[i8::MIN, -1, 0, 1, i8::MAX]);
    check(&[u64::MAX, 0, 1 << 63]);
    check(&[u8::MAX, 0, 7, 7]);
    check(&[true, false, true]);
    assert_eq!(Ranked::of(&[true, true]).values::<bool>(), [false, true]);
    assert_eq!(Ranked::of(&[true, true]).ranks, Codes::Narrow(vec![1, 1]));
    check(&(0..1000).map(|i| i * 7919 % 997).collect::<Vec<i32>>());
    check(&(0..5000).map(|i| f64::from(i * 7919 % 4999) - 0.3).collect::<Vec<f64>>());
}

#[test]
fn ranking_ends_where_there_is_no_room_or_time() {
    let values: Vec<f64> = (0..20_000).map(|i| f64::from(i * 7919 % 4999)).collect();
    for row_major in [false, true] {
        let rank = |room| rank_columns(&values, (4, row_major), None, 0, &room);
        let bytes = rank(Room::default()).unwrap().iter().map(Ranked::bytes).sum::<usize>();
        assert!(rank(Room::new(Some(bytes as u64 / 2), None)).is_err());
        let some = rank(Room::new(Some(bytes as u64 + 1_000_000), None)).unwrap();
        assert_eq!(some.len(), 4);
        assert_eq!(rank(Room::new(None, Some(Duration::ZERO))).unwrap().len(), 0);
    }
}

#[test]
fn values_that_are_not_numbers_are_missing() {
    let infinite = f64::INFINITY;
    for values in [[f64::NAN, f64::NAN, 1.0, 2.0], [1.0, -f64::NAN, infinite, -infinite]] {
        let known: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
        let found = rank_columns(&values, (1, false), None, 0, &Room::default()).unwrap();
        let [found] = &found[..] else { panic!("there is one column") };
        let wanted = Ranked::of(&known);
        assert!(found.missing && found.values::<f64>() == wanted.values::<f64>());
        for (&value, rank) in values.iter().zip(found.ranks.iter()) {
            assert_eq!(found.values::<f64>().get(rank as usize).is_none(), value.is_nan());
        }
        assert_eq!(found.amounts(None).unwrap(), [1, 1, 1][..known.len()]);
    }
}

#[test]
fn sparse_columns_are_ranked_as_dense_ones() {
    // By column, row and value: two values, none, all, many, and one that is not a number.
    let columns: [Vec<(u32, f64)>; 5] = [
        vec![(1, 1.0), (64, 1.0)],
        vec![],
        (0..70).map(|row| (row, -1.0)).collect(),
        (0..60).map(|row| (row, f64::from(row * 37 % 41) - 20.0)).collect(),
        vec![(3, f64::NAN), (4, -2.0), (9, 0.0)],
    ];
    let (mut values, mut rows, mut starts) = (Vec::new(), Vec::new(), vec![0]);
    for column in &columns {
        rows.extend(column.iter().map(|&(row, _)| row));
        values.extend(column.iter().map(|&(_, value)| value));
        starts.push(values.len() as u64);
    }
    let sparse = Sparse { values: &values, rows: &rows, starts: &starts, n_rows: 70 };
    let found = sparse.rank(0, &Room::default()).unwrap();
    assert_eq!(found.len(), columns.len());
    for (found, column) in found.iter().zip(&columns) {
        let mut dense = vec![0.0; 70];
        column.iter().for_each(|&(row, value)| dense[row as usize] = value);
        let wanted = rank_columns(&dense, (1, false), None, 0, &Room::default()).unwrap();
        assert_eq!((&found.keys, found.missing), (&wanted[0].keys, wanted[0].missing));
        assert!(found.ranks.iter().eq(wanted[0].ranks.iter()));
        assert_eq!(found.ranks.most(), wanted[0].ranks.most());
    }
    assert!(matches!(found[0].ranks, Codes::Bits(_)));
    // Rows must rise, and be there.
    let rank = |rows: &[u32], n_rows| {
        Sparse { values: &[1.0, 2.0], rows, starts: &[0, 2], n_rows }.rank(0, &Room::default())
    };
    assert!(rank(&[1, 1], 5).is_err() && rank(&[1, 5], 5).is_err() && rank(&[1, 4], 5).is_ok());
}

#[test]
fn rows_without_a_value_have_the_rank_beyond_the_last() {
    let rank = |values: &[i32], missing: &[bool]| {
        rank_columns(values, (1, false), Some(missing), 0, &Room::default())
    };
    let found = rank(&[7, 5, 5, 7], &[false, true, false, false]).unwrap().remove(0);
    assert_eq!((found.keys.len(), found.missing), (2, true));
    assert_eq!(found.ranks, Codes::Narrow(vec![1, 2, 0, 1]));
    let found = rank(&[0, 0], &[true, true]).unwrap().remove(0);
    assert_eq!((found.keys.len(), found.ranks), (0, Codes::Narrow(vec![0, 0])));
    // What stands only where a value is missing is no value.
    let found = rank(&[7, 6, 5, 7], &[false, true, false, false]).unwrap().remove(0);
    assert_eq!((found.values::<i32>(), found.ranks), (vec![5, 7], Codes::Narrow(vec![1, 2, 0, 1])));
    assert!(rank(&[0, 0], &[true]).is_err());
}

#[test]
fn missing_values_leave_the_ranks_of_the_others() {
    fn check<T: Value + PartialEq + std::fmt::Debug>(values: &[T], missing: &[bool]) {
        let found = rank_columns(values, (1, false), Some(missing), 0, &Room::default());
        let found = found.unwrap().remove(0);
        let known: Vec<T> =
            values.iter().zip(missing).filter(|(_, gone)| !**gone).map(|(v, _)| *v).collect();
        let wanted = if known.is_empty() { Vec::new() } else { Ranked::of(&known).values::<T>() };
        assert!(found.missing && (found.values::<T>() == wanted || !T::ALL.is_empty()));
        for ((value, gone), rank) in values.iter().zip(missing).zip(found.ranks.iter()) {
            let own = found.values::<T>().get(rank as usize).copied();
            assert_eq!(own, (!gone).then_some(*value));
        }
        assert_eq!(found.ranks, Codes::new(found.ranks.iter().collect()));
    }
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) % below
    };
    for n_values in [1, 2, 3, 100, 255, 256, 257, 5000] {
        for one_in in [1, 2, 10, 3000] {
            let missing: Vec<bool> = (0..3000).map(|_| next(one_in) == 0).collect();
            let values: Vec<i64> = (0..3000).map(|_| next(n_values) as i64).collect();
            check(&values, &missing);
            check(&values.iter().map(|&v| v as f64 / 8.0).collect::<Vec<_>>(), &missing);
            check(&values.iter().map(|&v| v as u8).collect::<Vec<_>>(), &missing);
            check(&values.iter().map(|&v| v % 2 == 0).collect::<Vec<_>>(), &missing);
        }
    }
}
