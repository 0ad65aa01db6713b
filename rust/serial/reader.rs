//! Bytes to values, or an error.

use super::damaged::damaged;
use crate::error::{Error, Result};

/// What is left to read.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes }
    }

    /// An error unless all was read.
    pub fn finish(&self) -> Result<()> {
        match self.bytes.len() {
            0 => Ok(()),
            more => Err(damaged(&format!("there are {more} bytes too many"))),
        }
    }

    pub fn byte(&mut self) -> Result<u8> {
        let (&byte, rest) = self.bytes.split_first().ok_or_else(ended)?;
        self.bytes = rest;
        Ok(byte)
    }

    pub fn flag(&mut self) -> Result<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(damaged(&format!("{other} is neither yes nor no"))),
        }
    }

    pub fn number(&mut self) -> Result<u64> {
        u64::try_from(self.wide()?).map_err(|_| too_large())
    }

    /// A number of 32 bits.
    pub fn short(&mut self) -> Result<u32> {
        u32::try_from(self.wide()?).map_err(|_| too_large())
    }

    pub fn size(&mut self) -> Result<usize> {
        usize::try_from(self.wide()?).map_err(|_| too_large())
    }

    /// A number that is below `end`.
    pub fn below(&mut self, end: usize, what: &str) -> Result<u32> {
        let number = self.short()?;
        match (number as usize) < end {
            true => Ok(number),
            false => Err(damaged(&format!("there is no {what} {number}"))),
        }
    }

    fn wide(&mut self) -> Result<u128> {
        let (mut number, mut shift) = (0u128, 0);
        loop {
            let byte = self.byte()?;
            let bits = u128::from(byte & 0x7f);
            if shift >= 128 || bits << shift >> shift != bits {
                return Err(too_large());
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
            shift += 7;
        }
    }

    pub fn signed(&mut self) -> Result<i64> {
        i64::try_from(self.wide_signed()?).map_err(|_| too_large())
    }

    pub fn wide_signed(&mut self) -> Result<i128> {
        let number = self.wide()?;
        Ok((number >> 1) as i128 ^ -((number & 1) as i128))
    }

    pub fn random(&mut self) -> Result<u128> {
        Ok(u128::from_le_bytes(self.array()?))
    }

    pub fn float(&mut self) -> Result<f64> {
        Ok(f64::from_bits(u64::from_le_bytes(self.array()?)))
    }

    pub fn text(&mut self) -> Result<String> {
        let n = self.size()?;
        let text = std::str::from_utf8(self.raw(n)?).map_err(|_| damaged("a text is no UTF-8"))?;
        Ok(text.to_owned())
    }

    pub fn raw(&mut self, n: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.bytes.split_at_checked(n).ok_or_else(ended)?;
        self.bytes = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.raw(N)?.try_into().map_err(|_| ended())
    }

    /// A list. Every value takes at least one byte, and there is room for no more values at first
    /// than would fill as many bytes as are left.
    pub fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let n = self.size()?;
        if n > self.bytes.len() {
            return Err(ended());
        }
        let mut list = Vec::with_capacity(n.min(self.bytes.len() / size_of::<T>().max(1)));
        for _ in 0..n {
            list.push(read(self)?);
        }
        Ok(list)
    }

    pub fn shorts(&mut self) -> Result<Vec<u32>> {
        self.list(Reader::short)
    }

    pub fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        if self.flag()? { read(self).map(Some) } else { Ok(None) }
    }

    pub fn floats(&mut self) -> Result<Vec<f64>> {
        match self.flag()? {
            true => self.list(|from| Ok(from.signed()? as f64)),
            false => self.list(Reader::float),
        }
    }
}

fn ended() -> Error {
    damaged("they end too early")
}

fn too_large() -> Error {
    damaged("a number is too large")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serial::Writer;

    #[test]
    fn numbers_of_any_size_come_back() {
        let mut out = Writer::new();
        let wide: Vec<i128> =
            (0..128).flat_map(|bit| [1i128 << bit, -(1i128 << (bit / 2))]).collect();
        let edges = [0, 1, -1, i128::MAX, i128::MIN];
        wide.iter().chain(&edges).for_each(|&number| out.wide_signed(number));
        out.number(u64::MAX);
        out.signed(i64::MIN);
        out.floats(&[0.0, -3.0, 9007199254740991.0]);
        out.floats(&[0.0, -0.0, f64::INFINITY, 0.1]);
        let bytes = out.into_bytes();
        let mut from = Reader::new(&bytes);
        for number in wide.iter().chain(&edges) {
            assert_eq!(from.wide_signed().unwrap(), *number);
        }
        assert_eq!(from.number().unwrap(), u64::MAX);
        assert_eq!(from.signed().unwrap(), i64::MIN);
        assert_eq!(from.floats().unwrap(), [0.0, -3.0, 9007199254740991.0]);
        let floats = from.floats().unwrap();
        assert_eq!(
            floats.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
            [0.0f64.to_bits(), (-0.0f64).to_bits(), f64::INFINITY.to_bits(), 0.1f64.to_bits()]
        );
        from.finish().unwrap();
    }

    #[test]
    fn what_is_no_value_is_an_error() {
        for bytes in [&[0xff; 30][..], &[0x80; 3], &[]] {
            assert!(Reader::new(bytes).wide().is_err());
        }
        assert!(Reader::new(&[2]).flag().is_err());
        assert!(Reader::new(&[2, 0xff, 0xfe]).text().is_err());
        // A list of 2^62 values in nine bytes.
        let mut out = Writer::new();
        out.number(1 << 62);
        assert!(Reader::new(&out.into_bytes()).list(Reader::byte).is_err());
    }
}
