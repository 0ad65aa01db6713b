//! Sorting numbers with what they belong to, digit by digit: for many numbers that is faster than
//! comparing.

/// Bits of a digit.
const BITS: u32 = 11;
const DIGITS: usize = 1 << BITS;

/// Fewer are sorted faster by comparing.
const FEW: usize = 256;

/// In ascending order. Among equal numbers in the order of the second ones, if they came so.
pub fn sort(pairs: &mut Vec<(u64, u32)>) {
    debug_assert!(pairs.is_sorted_by_key(|&(_, own)| own));
    if pairs.len() < FEW {
        pairs.sort_unstable();
        return;
    }
    // Digits that all numbers share put nothing in order.
    let (any, all) = pairs.iter().fold((0, u64::MAX), |(any, all), &(x, _)| (any | x, all & x));
    let differs = any ^ all;
    let mut sorted = vec![(0, 0); pairs.len()];
    let mut starts = [0usize; DIGITS];
    for shift in (0..u64::BITS).step_by(BITS as usize) {
        let digit = |x: u64| (x >> shift) as usize % DIGITS;
        if digit(differs) == 0 {
            continue;
        }
        starts.fill(0);
        for &(x, _) in pairs.iter() {
            starts[digit(x)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            (sum, *start) = (sum + *start, sum);
        }
        for &pair in pairs.iter() {
            let at = &mut starts[digit(pair.0)];
            sorted[*at] = pair;
            *at += 1;
        }
        std::mem::swap(pairs, &mut sorted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_sort_as_comparing_does() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            state ^ state >> 29
        };
        for mask in [0, 1, 0x7ff, 0x800, 0xff00_0000_0000_00ff, 1 << 63, u64::MAX] {
            for n in [0, 1, FEW - 1, FEW, 3000] {
                let mut found: Vec<(u64, u32)> =
                    (0..n as u32).map(|i| (next() & mask, i)).collect();
                let mut wanted = found.clone();
                wanted.sort();
                sort(&mut found);
                assert_eq!(found, wanted);
            }
        }
    }
}
