//! Word kernels on plain integers, for CPUs without vector units that help: `words` chooses.

/// The XOR of the keys of all rows, and of those that have bit `shift` of word `word`.
pub fn xor<const STRIDE: usize>(
    rows: &[[u64; STRIDE]],
    keys: &[[u64; 2]],
    (word, shift): (usize, usize),
) -> [[u64; 2]; 2] {
    let [mut all, mut ones] = [[0; 2]; 2];
    for (row, key) in rows.iter().zip(keys) {
        let mask = (row[word] >> shift & 1).wrapping_neg();
        for half in 0..2 {
            all[half] ^= key[half];
            ones[half] ^= key[half] & mask;
        }
    }
    [all, ones]
}

/// The bits of `word` that `mask` selects, side by side at the low end.
pub fn compress(word: u64, mut mask: u64) -> u64 {
    let mut out = 0;
    let mut at = 0;
    while mask != 0 {
        let bit = mask & mask.wrapping_neg();
        out |= u64::from(word & bit != 0) << at;
        at += 1;
        mask ^= bit;
    }
    out
}
