//! Every level against the portable one, on random words.

use super::*;

/// A fixed stream of words.
fn words(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state ^ state >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

fn lanes(next: &mut impl FnMut() -> u64) -> Lanes {
    Lanes(std::array::from_fn(|_| next() as u16))
}

#[test]
fn levels_agree_on_counts() {
    let mut next = words(1);
    for n in [0, 1, 2, 30, 31, 32, 63, 200, 4095] {
        let left: Vec<Lanes> = (0..n).map(|_| lanes(&mut next)).collect();
        let right: Vec<Lanes> = (0..n).map(|_| lanes(&mut next)).collect();
        for level in Level::all() {
            assert_eq!(level.count_columns(&left), count_columns(&left));
            // Random words share a quarter of their bits: three times that fits.
            for (lane, weight) in [(0, 1), (4, 3), (28, 1)] {
                let mut expected = [Lanes([7; LANES]); 4];
                let mut sums = expected;
                add_pairs(&left, lane, &right, weight, &mut expected);
                level.add_pairs(&left, lane, &right, weight, &mut sums);
                assert_eq!(sums, expected, "{level:?} {n}");
            }
        }
    }
}

#[test]
fn full_words_do_not_overflow() {
    let all = vec![Lanes::MAX; 4095];
    for level in Level::all() {
        let mut sums = [Lanes::ZERO; 4];
        level.add_pairs(&all, 0, &all, 1, &mut sums);
        assert_eq!(sums[3].0[31], 65520);
    }
}

#[test]
fn transpose_moves_every_bit() {
    let mut next = words(2);
    for level in Level::all() {
        for _ in 0..50 {
            let rows: [u64; ROWS] = std::array::from_fn(|_| next());
            let out = level.transpose(&rows);
            for (r, row) in rows.iter().enumerate() {
                for c in 0..64 {
                    let bit = out[c / LANES].0[c % LANES] >> r & 1;
                    assert_eq!(u64::from(bit), row >> c & 1, "{level:?} row {r} column {c}");
                }
            }
        }
    }
}

#[test]
fn levels_select_the_same_rows() {
    fn agree<const STRIDE: usize>(next: &mut impl FnMut() -> u64) {
        for n in [0, 1, 3, 4, 8, 9, 100] {
            let rows: Vec<u64> = (0..n * STRIDE).map(|_| next()).collect();
            for (word, shift, side) in [(0, 0, true), (STRIDE - 1, 63, false), (0, 17, false)] {
                let run = |level: Level| {
                    let mut out = vec![0; n * STRIDE + 8];
                    let (mut any, mut all) = ([0; STRIDE], [u64::MAX; STRIDE]);
                    let at = (word, shift);
                    let kept = level.select(&rows, at, side, &mut out, &mut any, &mut all);
                    out.truncate(kept * STRIDE);
                    (out, any, all)
                };
                let expected = run(Level(Kind::Portable));
                assert!(expected.0.chunks(STRIDE).all(|r| (r[word] >> shift & 1 == 1) == side));
                for level in Level::all() {
                    assert_eq!(run(level), expected, "{level:?} {n} {STRIDE}");
                }
            }
        }
    }
    let mut next = words(4);
    agree::<1>(&mut next);
    agree::<2>(&mut next);
    agree::<3>(&mut next);
}

#[test]
fn compress_agrees() {
    let mut next = words(3);
    for level in Level::all() {
        for _ in 0..200 {
            let (word, mask) = (next(), next() & next());
            assert_eq!(level.compress(word, mask), compress(word, mask));
        }
    }
}

/// Weights of two classes that can be those of a pair of splits, and what is known so far.
fn pair(next: &mut impl FnMut() -> u64) -> (Pair, [Best; 2]) {
    let below = |most: u16, word: u64| (word % (u64::from(most) + 1)) as u16;
    let mut pair =
        Pair { both: [Lanes::ZERO; 2], ones_j: [Lanes::ZERO; 2], one: [0; 2], zero: [0; 2] };
    for class in 0..2 {
        pair.one[class] = next() as u16 % 20_000;
        pair.zero[class] = next() as u16 % 12_000;
        for l in 0..LANES {
            let both = below(pair.one[class], next());
            pair.both[class].0[l] = both;
            pair.ones_j[class].0[l] = both + below(pair.zero[class], next());
        }
    }
    let mut best = || Best { stumps: [lanes(next); 2], halves: [[lanes(next); 2]; 2] };
    (pair, [best(), best()])
}

#[test]
fn levels_agree_on_pairs_of_splits() {
    let mut next = words(5);
    for few in [0, 1, 100, 9000] {
        for _ in 0..50 {
            let (pair, known) = pair(&mut next);
            let mut expected = known;
            let [i, j] = &mut expected;
            two_classes(&pair, few, i, j);
            for level in Level::all() {
                let [mut i, mut j] = known;
                level.two_classes(&pair, few, &mut i, &mut j);
                assert_eq!([i, j], expected, "{level:?} {few}");
            }
        }
    }
}

#[test]
fn levels_agree_on_the_least_and_the_most() {
    let mut next = words(6);
    for _ in 0..200 {
        let lanes = lanes(&mut next);
        for level in Level::all() {
            assert_eq!(Some(&level.least(&lanes)), lanes.0.iter().min());
            assert_eq!(Some(&level.most(&lanes)), lanes.0.iter().max());
        }
    }
}

#[test]
fn levels_agree_on_keys() {
    fn agree<const STRIDE: usize>(next: &mut impl FnMut() -> u64) {
        for n in [0, 1, 3, 4, 5, 8, 100, 131] {
            let rows: Vec<[u64; STRIDE]> =
                (0..n).map(|_| std::array::from_fn(|_| next())).collect();
            let keys: Vec<[u64; 2]> = (0..n).map(|_| [next(), next()]).collect();
            for at in [(0, 0), (STRIDE - 1, 63), (0, 17)] {
                for level in Level::all() {
                    let expected = xor(&rows, &keys, at);
                    assert_eq!(level.xor(&rows, &keys, at), expected, "{level:?} {n}");
                }
            }
        }
    }
    let mut next = words(7);
    agree::<1>(&mut next);
    agree::<3>(&mut next);
}

#[test]
fn a_compiled_function_is_told_how_many_leaves_there_are() {
    use std::sync::atomic::{AtomicI64, Ordering};

    // What it reads and writes through its pointers is tested from Python, where such functions
    // come from.
    static TOLD: AtomicI64 = AtomicI64::new(0);
    extern "C" fn costs(_sums: *const f64, n_leaves: i64, width: i64, _costs: *mut f64) {
        TOLD.store(10 * n_leaves + width, Ordering::Relaxed);
    }
    let address = NonZeroUsize::new(costs as *const () as usize).expect("a function is somewhere");
    call_leaf_cost(address, &[1.0, 2.0, 10.0, 20.0, 100.0, 200.0], &mut [0.0; 2]);
    assert_eq!(TOLD.load(Ordering::Relaxed), 23);
}
