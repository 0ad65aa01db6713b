//! A digest of numbers and names: equal on every machine for equal data, and different where one of
//! them differs.

/// Two independent chains of multiplications, of 64 bits each. It is no secret: it finds changes by
/// accident.
pub struct Digest([u64; 2]);

const START: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344];
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];

impl Default for Digest {
    fn default() -> Self {
        Digest::new()
    }
}

impl Digest {
    pub fn new() -> Digest {
        Digest(START)
    }

    /// The digest of some bytes alone.
    pub fn of(bytes: &[u8]) -> u128 {
        let mut digest = Digest::new();
        digest.bytes(bytes);
        digest.finish()
    }

    pub fn word(&mut self, word: u64) {
        for (chain, factor) in self.0.iter_mut().zip(FACTORS) {
            let product = u128::from(chain.rotate_left(23) ^ word) * u128::from(factor);
            // Both halves, because the upper bits of a word reach only the upper half.
            *chain = (product as u64 ^ (product >> 64) as u64).wrapping_add(factor);
        }
    }

    /// Numbers, after how many there are, so that neighbouring lists cannot be confused.
    pub fn words(&mut self, words: impl ExactSizeIterator<Item = u64>) {
        self.word(words.len() as u64);
        words.for_each(|word| self.word(word));
    }

    pub fn floats(&mut self, values: &[f64]) {
        self.words(values.iter().map(|value| value.to_bits()));
    }

    /// Eight at a time, because most codes of points are bytes, and there are many.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for eight in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..eight.len()].copy_from_slice(eight);
            self.word(u64::from_le_bytes(word));
        }
    }

    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub fn finish(self) -> u128 {
        u128::from(self.0[0]) << 64 | u128::from(self.0[1])
    }
}
