//! Sums of some rows over columns: 16 of these at a time, and several numbers of each row.

/// Columns at a time: their sums stay in registers.
pub const PAIRS: usize = 16;
pub type Part = [i64; PAIRS];

/// Statistics summed in one pass over the rows.
const TOGETHER: usize = 4;

/// Add each number of the listed rows to the columns, of 16, that they have. `values` are by
/// number, in the order of `listed`; `words` are by row.
#[inline(always)]
pub fn sum_all(listed: &[u32], words: &[u16], values: &[i64], sums: &mut [Part]) {
    let n = listed.len();
    for (first, sums) in sums.chunks_mut(TOGETHER).enumerate() {
        let of = |s: usize| &values[(first * TOGETHER + s) * n..][..n];
        match sums {
            [a] => add(listed, words, [of(0)], [a]),
            [a, b] => add(listed, words, [of(0), of(1)], [a, b]),
            [a, b, c] => add(listed, words, [of(0), of(1), of(2)], [a, b, c]),
            [a, b, c, d] => add(listed, words, [of(0), of(1), of(2), of(3)], [a, b, c, d]),
            _ => unreachable!("chunks are of {TOGETHER} at most"),
        }
    }
}

#[inline(always)]
fn add<const N: usize>(listed: &[u32], words: &[u16], values: [&[i64]; N], sums: [&mut Part; N]) {
    // Apart from where they go, so that they stay in registers.
    let mut more = [[0; PAIRS]; N];
    let values = values.map(|values| &values[..listed.len()]);
    for (at, &row) in listed.iter().enumerate() {
        let word = words[row as usize];
        for s in 0..N {
            let value = values[s][at];
            for l in 0..PAIRS {
                more[s][l] += if word & (1 << l) != 0 { value } else { 0 };
            }
        }
    }
    for (sum, more) in sums.into_iter().zip(&more) {
        for (sum, more) in sum.iter_mut().zip(more) {
            *sum += more;
        }
    }
}
