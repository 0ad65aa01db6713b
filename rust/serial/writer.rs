//! Values to bytes.

use super::digest::Digest;

/// Numbers are written in as few bytes as hold them, seven bits in each, the lowest first.
#[derive(Default)]
pub struct Writer {
    bytes: Vec<u8>,
    most: Option<usize>,
    digest: Option<Digest>,
}

/// Bytes that are digested at a time.
const CHUNK: usize = 1 << 12;

impl Writer {
    pub fn new() -> Writer {
        Writer::default()
    }

    /// A writer that keeps at most this many bytes: then it [is full](Writer::is_full), and what it
    /// has is of no use.
    pub fn with_most(bytes: usize) -> Writer {
        Writer { most: Some(bytes), ..Writer::default() }
    }

    /// The digest of what is written, without keeping it.
    pub fn digest(write: impl FnOnce(&mut Writer)) -> u128 {
        let mut out = Writer { digest: Some(Digest::new()), ..Writer::default() };
        write(&mut out);
        let mut digest = out.digest.unwrap_or_default();
        digest.bytes(&out.bytes);
        digest.finish()
    }

    /// Whether there was more to write than the writer may keep.
    pub fn is_full(&self) -> bool {
        self.most.is_some_and(|most| self.bytes.len() > most)
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub fn byte(&mut self, byte: u8) {
        self.raw(&[byte]);
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        if self.is_full() {
            return;
        }
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= CHUNK
            && let Some(digest) = &mut self.digest
        {
            digest.bytes(&self.bytes);
            self.bytes.clear();
        }
    }

    pub fn flag(&mut self, flag: bool) {
        self.byte(u8::from(flag));
    }

    pub fn number(&mut self, number: u64) {
        self.wide(u128::from(number));
    }

    pub fn short(&mut self, number: u32) {
        self.number(u64::from(number));
    }

    pub fn size(&mut self, size: usize) {
        self.number(size as u64);
    }

    fn wide(&mut self, mut number: u128) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    /// A number that may be below 0: small sizes take few bytes.
    pub fn signed(&mut self, number: i64) {
        self.wide_signed(i128::from(number));
    }

    pub fn wide_signed(&mut self, number: i128) {
        self.wide((number << 1 ^ number >> 127) as u128);
    }

    /// A number that is as likely to be large as any other.
    pub fn random(&mut self, number: u128) {
        self.raw(&number.to_le_bytes());
    }

    pub fn float(&mut self, float: f64) {
        self.raw(&float.to_bits().to_le_bytes());
    }

    pub fn text(&mut self, text: &str) {
        self.size(text.len());
        self.raw(text.as_bytes());
    }

    /// How many values there are, and each of them.
    pub fn list<T>(
        &mut self,
        values: impl ExactSizeIterator<Item = T>,
        mut write: impl FnMut(&mut Writer, T),
    ) {
        self.size(values.len());
        values.for_each(|value| write(self, value));
    }

    pub fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Writer, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub fn shorts(&mut self, numbers: &[u32]) {
        self.list(numbers.iter(), |out, &number| out.short(number));
    }

    /// Floats, as whole numbers if that is what they all are: weights mostly are.
    pub fn floats(&mut self, floats: &[f64]) {
        let is_whole =
            |x: &f64| *x == x.trunc() && x.abs() < LARGEST_WHOLE && !is_negative_zero(*x);
        let whole = floats.iter().all(is_whole);
        self.flag(whole);
        match whole {
            true => self.list(floats.iter(), |out, &x| out.signed(x as i64)),
            false => self.list(floats.iter(), |out, &x| out.float(x)),
        }
    }
}

/// All whole numbers below are floats.
const LARGEST_WHOLE: f64 = (1u64 << 53) as f64;

fn is_negative_zero(x: f64) -> bool {
    x == 0.0 && x.is_sign_negative()
}
