//! Sets of small numbers as bits of words, which is how states hold them.

/// Words for `n` bits.
pub fn words_for(n: usize) -> usize {
    n.div_ceil(64)
}

pub fn has(words: &[u64], bit: usize) -> bool {
    words[bit / 64] >> (bit % 64) & 1 == 1
}

pub fn insert(words: &mut [u64], bit: usize) {
    words[bit / 64] |= 1 << (bit % 64);
}

/// Whether all bits of `small` are in `large`.
pub fn contains(large: &[u64], small: &[u64]) -> bool {
    large.iter().zip(small).all(|(large, small)| small & !large == 0)
}
