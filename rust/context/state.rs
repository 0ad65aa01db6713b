//! The state of a node: what its path means for the questions below it.

/// A few words, as a context wants them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    pub(super) words: Vec<u64>,
}

impl State {
    /// A random key of the state: 0 of one that is all zeros. Together with the fingerprint of the
    /// rows it names a node.
    pub fn key(&self) -> u128 {
        let words = self.words.iter().enumerate().filter(|(_, word)| **word != 0);
        words.fold(0, |key, (at, &word)| key ^ mixed(at as u64, word))
    }

    pub fn bytes(&self) -> usize {
        self.words.capacity() * 8
    }
}

/// A fixed random key for a word at a place.
fn mixed(at: u64, word: u64) -> u128 {
    let step = |x: u64| {
        let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    };
    let half = |seed: u64| step(step(word ^ seed) ^ (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    u128::from(half(0x243f_6a88_85a3_08d3)) << 64 | u128::from(half(0x1319_8a2e_0370_7344))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_keys_of_their_own() {
        let key = |words: &[u64]| State { words: words.to_vec() }.key();
        assert_eq!(key(&[0, 0]), 0);
        let keys = [key(&[1, 0]), key(&[0, 1]), key(&[1, 1]), key(&[2, 0]), key(&[3, 0])];
        for (at, one) in keys.iter().enumerate() {
            assert!(*one != 0 && !keys[at + 1..].contains(one));
        }
    }
}
