//! Codes: small numbers, one for each row or point, in as few bytes as hold them.

/// Most columns have few codes, and a search reads them all: a byte each is four times less to
/// move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Codes {
    Narrow(Vec<u8>),
    Wide(Vec<u32>),
    /// Codes 0 and 1, where a table is too sparse for a byte each.
    Bits(Bits),
}

/// So many bits, in words; beyond the last one they are 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bits {
    len: usize,
    words: Vec<u64>,
}

impl Bits {
    pub fn zeros(len: usize) -> Bits {
        Bits::all(len, 0)
    }

    /// So many of one code.
    pub fn all(len: usize, code: u32) -> Bits {
        let mut words = vec![u64::from(code).wrapping_neg(); len.div_ceil(64)];
        if let Some(last) = words.last_mut().filter(|_| !len.is_multiple_of(64)) {
            *last &= (1 << (len % 64)) - 1;
        }
        Bits { len, words }
    }

    /// `None` unless there are so many bits and none beyond them.
    pub fn of_words(len: usize, words: Vec<u64>) -> Option<Bits> {
        let used = len % 64;
        let beyond = words.last().filter(|_| used > 0).map_or(0, |last| last >> used);
        (words.len() == len.div_ceil(64) && beyond == 0).then_some(Bits { len, words })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn words(&self) -> &[u64] {
        &self.words
    }

    #[inline]
    pub fn get(&self, index: usize) -> u32 {
        (self.words[index / 64] >> (index % 64)) as u32 & 1
    }

    #[inline]
    pub fn set(&mut self, index: usize, code: u32) {
        let bit = 1 << (index % 64);
        let word = &mut self.words[index / 64];
        *word = if code == 1 { *word | bit } else { *word & !bit };
    }
}

impl Codes {
    /// Whether codes below `n_codes` fit in a byte.
    pub fn is_narrow(n_codes: usize) -> bool {
        n_codes <= 256
    }

    pub fn new(codes: Vec<u32>) -> Codes {
        match codes.iter().max() {
            Some(&most) if !Codes::is_narrow(most as usize + 1) => Codes::Wide(codes),
            _ => Codes::Narrow(codes.into_iter().map(|code| code as u8).collect()),
        }
    }

    /// What becomes of each code, by its place: codes below `n_codes`.
    pub fn mapped(self, n_codes: usize, new: impl Fn(usize, u32) -> u32) -> Codes {
        match self {
            Codes::Narrow(mut codes) if Codes::is_narrow(n_codes) => {
                for (place, code) in codes.iter_mut().enumerate() {
                    *code = new(place, u32::from(*code)) as u8;
                }
                Codes::Narrow(codes)
            }
            Codes::Wide(mut codes) if !Codes::is_narrow(n_codes) => {
                for (place, code) in codes.iter_mut().enumerate() {
                    *code = new(place, *code);
                }
                Codes::Wide(codes)
            }
            codes => Codes::new(codes.iter().enumerate().map(|(at, code)| new(at, code)).collect()),
        }
    }

    /// With another code, which is the largest, in some places.
    pub fn masked(self, masked: &[bool], code: u32) -> Codes {
        // Without branches, because there is no pattern to guess, and many codes at a time.
        match self {
            Codes::Narrow(mut codes) if Codes::is_narrow(code as usize + 1) => {
                for (old, &masked) in codes.iter_mut().zip(masked) {
                    let all = u8::from(masked).wrapping_neg();
                    *old = (*old & !all) | (code as u8 & all);
                }
                Codes::Narrow(codes)
            }
            Codes::Wide(mut codes) if !Codes::is_narrow(code as usize + 1) => {
                for (old, &masked) in codes.iter_mut().zip(masked) {
                    let all = u32::from(masked).wrapping_neg();
                    *old = (*old & !all) | (code & all);
                }
                Codes::Wide(codes)
            }
            codes => codes.mapped(code as usize + 1, |at, old| if masked[at] { code } else { old }),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Codes::Narrow(codes) => codes.len(),
            Codes::Wide(codes) => codes.len(),
            Codes::Bits(codes) => codes.len,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        match self {
            Codes::Narrow(codes) => codes.capacity(),
            Codes::Wide(codes) => codes.capacity() * size_of::<u32>(),
            Codes::Bits(codes) => codes.words.capacity() * size_of::<u64>(),
        }
    }

    #[inline]
    pub fn get(&self, index: usize) -> u32 {
        match self {
            Codes::Narrow(codes) => u32::from(codes[index]),
            Codes::Wide(codes) => codes[index],
            Codes::Bits(codes) => codes.get(index),
        }
    }

    /// The largest code.
    pub fn most(&self) -> Option<u32> {
        match self {
            // A fold, which takes many codes at a time where `max` takes one.
            Codes::Narrow(codes) if !codes.is_empty() => {
                Some(u32::from(codes.iter().fold(0, |most, &code| code.max(most))))
            }
            Codes::Narrow(_) => None,
            Codes::Wide(codes) => codes.iter().max().copied(),
            Codes::Bits(codes) if codes.len > 0 => {
                Some(u32::from(codes.words.iter().any(|&word| word != 0)))
            }
            Codes::Bits(_) => None,
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let (narrow, wide, bits): (&[u8], &[u32], _) = match self {
            Codes::Narrow(codes) => (codes, &[], None),
            Codes::Wide(codes) => (&[], codes, None),
            Codes::Bits(codes) => (&[], &[], Some(codes)),
        };
        let bits = bits.into_iter().flat_map(|bits| (0..bits.len).map(|at| bits.get(at)));
        narrow.iter().map(|&code| u32::from(code)).chain(wide.iter().copied()).chain(bits)
    }
}
